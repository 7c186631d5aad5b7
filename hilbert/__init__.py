"""Index sets, relations, spaces, discrete types, vectors and the abstract map (paper §2)."""

import hilbert.arrays.counting  # attaches degrees and pictures to relations
import hilbert.operators  # noqa: F401 - attaches tensors and matrix products to vectors
from hilbert.biproduct import DirectSum, direct_sum
from hilbert.errors import SpaceError
from hilbert.formal.compression import Compression, compress
from hilbert.formal.rank_one_sums import rank
from hilbert.formal.tensors import formal, from_factors
from hilbert.index import Anonymous, Coproduct, Fin, Index, Labelled, Product, Unit
from hilbert.leafwise import fan_in, initial
from hilbert.lens import Lens
from hilbert.map import Map
from hilbert.record import Part, Record
from hilbert.relation.base import Relation
from hilbert.saved import load, save
from hilbert.space import (
    R32,
    Bool,
    Boolean,
    Copower,
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
)
from hilbert.vector import Vec

__all__ = [
    "R32",
    "Anonymous",
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
    "Lens",
    "Map",
    "Matrix",
    "Part",
    "Product",
    "R",
    "Record",
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
    "fan_in",
    "formal",
    "from_factors",
    "initial",
    "load",
    "rank",
    "save",
]
