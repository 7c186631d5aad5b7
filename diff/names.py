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
from typing import Any, get_args

import diff
import hilbert
import linmap
from diff.terms import nodes
from diff.terms.elementwise import Binary, Comparison, Primitive
from diff.terms.program import Program
from diff.terms.user_operation import custom
from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
from hilbert.base.repr_names import named
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.control import branch, equation_step, loop, while_loop
from hilbert.program.line import bundle, choice, operation
from hilbert.program.line.constant import filled
from hilbert.program.line.external import external
from hilbert.program.line.line import Line, Step
from hilbert.relation import FORMS
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc
from linmap.term.nodes import Node
from linmap.term.user_maps import own

NAMES: dict[str, Any] = {
    **{cls.__name__: cls for cls in get_args(Node)},
    **{name: getattr(module, name) for module in (hilbert, linmap, diff) for name in module.__all__},
    **{form.__name__: form for form in FORMS},
    **{cls.__name__: cls for cls in (Arc, Binary, Bundle, Comparison, ConjugateGradients, Entry)},
    **{cls.__name__: cls for cls in (Leaf, Line, Primitive, Program, Ref, Spec, Step)},
    "branch": branch,
    "bundle": bundle,
    "choice": choice,
    "custom": custom,
    "equation_step": equation_step,
    "external": external,
    "filled": filled,
    "inf": math.inf,
    "loop": loop,
    "named": named,
    "operation": operation,
    "own": own,
    "nodes": nodes,
    "nan": math.nan,
    "while_loop": while_loop,
    "wire": wire,
}
"""For `eval(repr(f), NAMES | {"Pixel": Pixel})`."""
