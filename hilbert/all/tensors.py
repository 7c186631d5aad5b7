"""Vectors of V ⊗ W as sums of products of small factors."""

from hilbert import Compression, TensorProduct, compress, formal, from_factors, rank
from linmap import linear, tensor, universal

__all__ = [
    "Compression",
    "TensorProduct",
    "compress",
    "formal",
    "from_factors",
    "linear",
    "rank",
    "tensor",
    "universal",
]
