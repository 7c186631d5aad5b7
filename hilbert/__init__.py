"""Index sets, relations, spaces, discrete types, vectors and the abstract map (paper §2)."""

import hilbert.arrays.counting  # attaches degrees and pictures to relations
import hilbert.operators  # noqa: F401 - attaches tensors and matrix products to vectors
from hilbert.errors import SpaceError
from hilbert.formal.compression import Compression, compress
from hilbert.formal.rank_one_sums import rank
from hilbert.formal.tensors import formal, from_factors
from hilbert.index import Coproduct, Fin, Index, Labelled, Product, Unit
from hilbert.map import Map
from hilbert.relation.base import Relation
from hilbert.space import (
    R32,
    Bool,
    Boolean,
    Copower,
    DirectSum,
    Discrete,
    Elements,
    Field,
    Integers,
    Matrix,
    R,
    Scalar,
    Space,
    TensorProduct,
    Type,
    Vector,
    Z,
    Zero,
    direct_sum,
)
from hilbert.vector import Vec

__all__ = [
    "R32",
    "Bool",
    "Boolean",
    "Compression",
    "Copower",
    "Coproduct",
    "DirectSum",
    "Discrete",
    "Elements",
    "Field",
    "Fin",
    "Index",
    "Integers",
    "Labelled",
    "Map",
    "Matrix",
    "Product",
    "R",
    "Relation",
    "Scalar",
    "Space",
    "SpaceError",
    "TensorProduct",
    "Type",
    "Unit",
    "Vec",
    "Vector",
    "Z",
    "Zero",
    "compress",
    "direct_sum",
    "formal",
    "from_factors",
    "rank",
]
