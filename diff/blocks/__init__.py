"""Functions that run block by block along an index set."""
