"""Relations R ⊆ X × Y as symbolic objects, closed under transpose (paper §2.1, §2.2.3).

>>> from hilbert import Fin
>>> X, Y = Fin.of(4), Fin.of(2)
>>> R = function(X, Y, [0, 1, 1, 0])
>>> [p.tolist() for p in R.holds()]
[[0, 1, 2, 3], [0, 1, 1, 0]]
>>> R.T.T == R
True
>>> print(R.picture())
█··█
·██·
"""

from hilbert.relation.base import Function, Prepared, Table, table
from hilbert.relation.combine import Composition, ProductRelation, SumRelation
from hilbert.relation.forms import (
    Agreement,
    Converse,
    Full,
    Graph,
    Identity,
    Inclusion,
    Order,
    Pairs,
    Partial,
    Rotation,
    Sliding,
    Window,
)
from hilbert.relation.keys import by_key, by_keys, labels
from hilbert.relation.make import (
    agreement,
    band,
    columns,
    equality,
    full,
    function,
    geq,
    greater,
    leq,
    less,
    pairs,
    partial,
    reversal,
    rotation,
    run,
    shift,
    sliding,
    window,
)

__all__ = [
    "Agreement",
    "Composition",
    "Converse",
    "Full",
    "Function",
    "Graph",
    "Identity",
    "Inclusion",
    "Order",
    "Pairs",
    "Partial",
    "Prepared",
    "ProductRelation",
    "Rotation",
    "Sliding",
    "SumRelation",
    "Table",
    "Window",
    "agreement",
    "band",
    "by_key",
    "by_keys",
    "columns",
    "equality",
    "full",
    "function",
    "geq",
    "greater",
    "labels",
    "leq",
    "less",
    "pairs",
    "partial",
    "reversal",
    "rotation",
    "run",
    "shift",
    "sliding",
    "table",
    "window",
]
