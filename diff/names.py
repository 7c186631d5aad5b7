"""The names that the `repr` of a term uses; tag classes are the user's own.

>>> from hilbert import Fin, R
>>> from diff import derivative, fun, sin
>>> class Pixel: ...
>>> f = fun(R ** Fin(Pixel, 3))(lambda x: sin(x) @ x)
>>> eval(repr(derivative(f)), NAMES | {"Pixel": Pixel}) == derivative(f)
True
"""

from __future__ import annotations

import math
from typing import Any

import diff
import hilbert
import linmap
from diff.term import Binary, Comparison, Literal, Primitive, Step
from hilbert.relation import (
    Agreement,
    Composition,
    Converse,
    Full,
    Graph,
    Identity,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
)
from hilbert.repr_names import named
from hilbert.space import Leaf
from hilbert.spec import Spec
from linmap.net import wire
from linmap.term.datum import Ref, filled
from linmap.term.nodes import Arc, Cast, Closed, Net, Unitary

NAMES: dict[str, Any] = {
    **{name: getattr(module, name) for module in (hilbert, linmap, diff) for name in module.__all__},
    **{cls.__name__: cls for cls in (Agreement, Composition, Converse, Full, Graph, Identity, Inclusion, Order)},
    **{cls.__name__: cls for cls in (Pairs, Partial, ProductRelation, Rotation, Sliding, SumRelation, Window)},
    **{cls.__name__: cls for cls in (Arc, Binary, Cast, Closed, Comparison, Leaf, Literal, Net, Primitive)},
    **{cls.__name__: cls for cls in (Ref, Spec, Step, Unitary)},
    "filled": filled,
    "inf": math.inf,
    "named": named,
    "nan": math.nan,
    "wire": wire,
}
"""For `eval(repr(f), NAMES | {"Pixel": Pixel})`."""
