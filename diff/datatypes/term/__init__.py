"""`@term`: a Python function on data is run once on symbols in place of the data, and becomes a term."""
