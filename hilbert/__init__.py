"""Index sets, relations, spaces, discrete types, vectors and the abstract map (paper §2)."""

import hilbert.arrays.libraries.relation_counts  # attaches degrees and pictures to relations
import hilbert.map.attached  # noqa: F401 - attaches tensors and matrix products to vectors
from hilbert.errors import SpaceError
from hilbert.index.index import Anonymous, Coproduct, Fin, Index, Labelled, Product, Unit
from hilbert.index.lens import Lens
from hilbert.map.map import Map
from hilbert.map.record import Part, Record
from hilbert.map.vector_files import load, save
from hilbert.relation.relation import Relation
from hilbert.space.direct_sum import DirectSum, direct_sum
from hilbert.space.leafwise import fan_in, initial
from hilbert.space.space import (
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
from hilbert.space.vector import Vec
from hilbert.tensors.compression import Compression, compress
from hilbert.tensors.rank_one_sums import rank
from hilbert.tensors.tensors import formal, from_factors

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
