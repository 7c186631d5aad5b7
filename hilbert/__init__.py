"""Index sets, relations, spaces, discrete types, vectors and the abstract map (paper §2)."""

from typing import TYPE_CHECKING

from hilbert.base.lazy import later, lazy

if TYPE_CHECKING:
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
    from hilbert.tensors.formal_tensors import formal, from_factors
    from hilbert.tensors.rank_one_sums import rank

__version__ = "0.1.0"

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)

later("Bundle", "hilbert.space.direct_sum")
later("Labelled", "hilbert.map.attached")
later("Relation", "hilbert.relation.relation_operators", "hilbert.arrays.libraries.relation_counts")
later("Solve", "hilbert.program.transform.run_linear_system")
later("Vec", "hilbert.map.attached")
