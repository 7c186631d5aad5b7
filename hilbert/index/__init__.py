"""Index sets and positions in them; a leaf (the dtype and axes of one array); a spec (the labels of a contraction)."""
