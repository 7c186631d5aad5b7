"""Tracing: `fun` runs a Python function on expressions; the file and line of each step, for errors."""
