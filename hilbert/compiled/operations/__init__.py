"""Loops of the operations that have a family of forms: reductions, contractions, functions along axes."""
