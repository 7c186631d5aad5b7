"""The laws of functions, and the simplification of derivatives."""
