"""Vectors of V ⊗ W as sums of rank-one terms: made, compressed, printed (paper §2.2)."""
