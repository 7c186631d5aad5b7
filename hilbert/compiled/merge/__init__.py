"""Merging: loops by their dependences, buffers that lose axes, marks of loops whose rounds do not meet."""
