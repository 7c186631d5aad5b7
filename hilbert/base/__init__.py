"""Shared by all terms: equality and pickling by a flat table, caches, methods attached from above, numpy's names."""
