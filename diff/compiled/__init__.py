"""Programs that run as machine code."""
