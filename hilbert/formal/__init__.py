"""Formal tensors: elements of V ⊗ W kept as sums of products of small factors (paper §2.2)."""
