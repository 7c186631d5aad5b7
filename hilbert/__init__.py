"""Typed Hilbert spaces: index sets, spaces, vectors and the abstract map."""
