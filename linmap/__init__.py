"""The language of linear maps: terms, application, simplification, printing (paper §3.1–3.3)."""

from typing import TYPE_CHECKING

from hilbert.base.lazy import later, lazy

if TYPE_CHECKING:
    from linmap.contraction import Contraction
    from linmap.laws import measure
    from linmap.laws.explain import Explanation, explain
    from linmap.laws.simplify import simplify
    from linmap.matrices.made.cost import Cost, cost
    from linmap.matrices.made.diagonal_entries import diagonal, gram, trace
    from linmap.matrices.made.linear_tensors import linear, tensor, universal
    from linmap.matrices.made.matrix import matrix
    from linmap.matrices.made.matrix_plans import factors, linear_operator
    from linmap.matrices.pattern_facts import PatternFacts, pattern
    from linmap.matrices.structure.structure import structure
    from linmap.net.equal import equal
    from linmap.relational import (
        concatenate,
        crop,
        cumsum,
        differences,
        flip,
        from_scipy,
        gather,
        group_by,
        pad,
        permute,
        pool,
        reshape,
        roll,
        segment_sum,
        sparse,
        windows,
    )
    from linmap.relational.fourier import fft, ifft
    from linmap.term.linear_map import LinMap
    from linmap.term.maps import (
        add,
        cast,
        compose,
        delta,
        dup,
        fork,
        identity,
        inject,
        join,
        parallel,
        project,
        red,
        rep,
        scale,
        section,
        total,
        zero,
    )
    from linmap.term.user_maps import linear_map
    from linmap.unitary import (
        curry,
        pack,
        split,
        stack,
        transpose,
        uncurry,
        unpack,
        unstack,
        unzip_parts,
        zip_parts,
    )

if TYPE_CHECKING:  # what declared methods mean
    from linmap.matrices.made.matrix_plans import places as MatrixShape__places
    from linmap.matrices.made.systems import compared as Explanation_systems
    from linmap.matrices.structure.structure_plot import plot as MatrixShape_plot
    from linmap.net.apply import run as LinMap__runner
    from linmap.printing.show import show as LinMap___str__
    from linmap.printing.term_repr import spell as LinMap___repr__
    from linmap.term.nodes import composition as LinMap__compose
    from linmap.term.nodes import copower as LinMap__copower
    from linmap.term.nodes import fork_of as LinMap__fork
    from linmap.term.nodes import multiple as LinMap__scaled
    from linmap.term.nodes import parallel_of as LinMap__parallel
    from linmap.term.nodes import sum_of as LinMap__sum

__all__ = [
    "Contraction",
    "Cost",
    "Explanation",
    "LinMap",
    "PatternFacts",
    "add",
    "cast",
    "compose",
    "concatenate",
    "cost",
    "crop",
    "cumsum",
    "curry",
    "delta",
    "diagonal",
    "differences",
    "dup",
    "equal",
    "explain",
    "factors",
    "fft",
    "flip",
    "fork",
    "from_scipy",
    "gather",
    "gram",
    "group_by",
    "identity",
    "ifft",
    "inject",
    "join",
    "linear",
    "linear_map",
    "linear_operator",
    "matrix",
    "measure",
    "pack",
    "pad",
    "parallel",
    "pattern",
    "permute",
    "pool",
    "project",
    "red",
    "rep",
    "reshape",
    "roll",
    "scale",
    "section",
    "segment_sum",
    "simplify",
    "sparse",
    "split",
    "stack",
    "structure",
    "tensor",
    "total",
    "trace",
    "transpose",
    "uncurry",
    "universal",
    "unpack",
    "unstack",
    "unzip_parts",
    "windows",
    "zero",
    "zip_parts",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)

later("laws", "linmap.laws.all_laws")
