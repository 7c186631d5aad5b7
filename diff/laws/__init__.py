"""The laws of functions, and of derivatives; the engine that applies laws is `linmap.laws.engine`."""
