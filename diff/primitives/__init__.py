"""The open table of primitives: its rows, the rows of their slopes, and values of special functions."""
