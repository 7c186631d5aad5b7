"""`@term`: a Python function on data, run on symbols, becomes a term and a program."""
