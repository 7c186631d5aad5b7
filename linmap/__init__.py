"""The language of linear maps: terms, application, simplification, printing (paper §3.1–3.3)."""

from linmap.contraction import Contraction
from linmap.laws import measure
from linmap.laws.explain import Explanation, explain
from linmap.laws.simplify import simplify
from linmap.matrices.cost import Cost, cost
from linmap.matrices.diagonal import diagonal, gram, trace
from linmap.matrices.forms import factors
from linmap.matrices.matrix import matrix
from linmap.matrices.structure import structure
from linmap.matrices.tensors import linear, tensor, universal
from linmap.net.equal import equal
from linmap.own import linear_map
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
from linmap.term.base import LinMap
from linmap.term.maps import (
    add,
    cast,
    compose,
    delta,
    dot,
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
from linmap.unitary import curry, split, stack, transpose, uncurry, unstack, unzip_parts, zip_parts

__all__ = [
    "Contraction",
    "Cost",
    "Explanation",
    "LinMap",
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
    "dot",
    "dup",
    "equal",
    "explain",
    "factors",
    "flip",
    "fork",
    "from_scipy",
    "gather",
    "gram",
    "group_by",
    "identity",
    "inject",
    "join",
    "linear",
    "linear_map",
    "matrix",
    "measure",
    "pad",
    "parallel",
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
    "unstack",
    "unzip_parts",
    "windows",
    "zero",
    "zip_parts",
]
