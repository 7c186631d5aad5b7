"""Index sets, relations, spaces, discrete types, vectors and the abstract map (paper §2)."""

from typing import TYPE_CHECKING

from hilbert.base.lazy import lazy

if TYPE_CHECKING:
    from hilbert.errors import SpaceError
    from hilbert.index.axis import Axis
    from hilbert.index.index import Anonymous, Coproduct, Fin, Index, Labelled, Product, Unit
    from hilbert.map.map import Map
    from hilbert.map.record import Part, Record
    from hilbert.map.vector_files import load, save
    from hilbert.relation.relation import Relation
    from hilbert.space.direct_sum import DirectSum, direct_sum
    from hilbert.space.leafwise import fan_in, initial
    from hilbert.space.parts import Lens
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

if TYPE_CHECKING:  # what declared methods mean
    from hilbert.arrays.libraries.relation_counts import degrees as Relation_degrees
    from hilbert.arrays.libraries.relation_counts import spy as Relation_plot
    from hilbert.arrays.libraries.relation_counts import text as Relation_picture
    from hilbert.display.display_methods import html as Displayed__repr_html_
    from hilbert.display.display_methods import latex as Displayed__repr_latex_
    from hilbert.display.display_methods import pretty as Displayed__repr_pretty_
    from hilbert.display.display_methods import rich as Displayed___rich_repr__
    from hilbert.map.matrix_product import transpose as Vec__transposed
    from hilbert.map.vector_operations import elements_at as Labelled_at
    from hilbert.map.vector_operations import matrix_product as Vec___matmul__
    from hilbert.map.vector_operations import norm as Vec_norm
    from hilbert.map.vector_operations import zip_apart as Vec__zip_apart
    from hilbert.program.transform.loops_of_linear_system import loops as Solve_loops
    from hilbert.program.transform.run_linear_system import solver as Solve_bind
    from hilbert.relation.relation_operators import composed as Relation___matmul__
    from hilbert.relation.relation_operators import disjoint as Relation___add__
    from hilbert.relation.relation_operators import product as Relation___mul__
    from hilbert.space.direct_sum import sum_of_bundle as Bundle_direct_sum
    from hilbert.space.elements import basis as Type_basis
    from hilbert.space.elements import full as Type_full
    from hilbert.space.elements import ones as Type_ones
    from hilbert.space.elements import random as Type__random
    from hilbert.space.elements import unflat as Type_unflat
    from hilbert.space.elements import vec as Type_vec
    from hilbert.space.elements import zeros as Type_zeros
    from hilbert.space.leafwise import map_leaves as Vec_map_leaves
    from hilbert.space.leafwise import moved as Vec_moved
    from hilbert.tensors.formal_tensors import tensor_product as Vec_tensor
    from hilbert.tensors.tensor_text import source as Vec__tensor_source
    from hilbert.tensors.tensor_text import text as Vec__tensor_text

__version__ = "0.1.0"

__all__ = [
    "R32",
    "Anonymous",
    "Axis",
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
