"""A term as a program: the discrete part of the value at hand is fixed, the vectors in it are the program's arguments.

Functions, tuples, constructors and folds are gone: the evaluator runs once on the expressions of a traced function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.lam.run.evaluate import call, evaluate
from diff.lam.term.lam_values import Closure, DiscreteShape, Native, Value, filled, shape_of, spaces_of, stacked
from diff.lam.term.term_error import TermError
from diff.trace.expr import const
from diff.trace.trace import fun
from hilbert import SpaceError, Vec
from hilbert.base.once import once
from hilbert.errors import raised_for

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm
    from diff.terms.program import AnyProgram


def program(term: AnyTerm, at: Value) -> AnyProgram:
    """The program of a closed function on the leaves of its argument, for all arguments of the shape of `at`.

    Its domain is the direct sum of the spaces of the leaves (that space, if there is one), its codomain of those of the
    result. The vectors of a list whose elements have one shape are one leaf, and a fold over it is a loop. Made once
    for each shape. Raises TermError `type` for an argument without leaves and results with functions.
    """
    return at_shape(term, shape_of(stacked(at))[0])[0]


@once
def at_shape(term: AnyTerm, shape: DiscreteShape) -> tuple[AnyProgram, DiscreteShape]:
    """The program for arguments of a shape, and the discrete shape of its results."""
    spaces = spaces_of(shape)
    if not spaces:
        raise TermError("type", "a program takes at least one vector, and the value at hand holds none", term.place)
    shapes: list[DiscreteShape] = []

    def body(*leaves: Any) -> Any:
        result = call(evaluate(term), filled(shape, iter(leaves)))
        if isinstance(result, (Closure, Native)):
            raise TermError("type", "the result is a function: take its argument as one more argument", term.place)
        out, values = shape_of(result)
        shapes.append(out)
        constants = [const(v) if isinstance(v, Vec) else v for v in values]
        return constants[0] if len(constants) == 1 else tuple(constants)

    try:
        traced: Any = fun(*spaces)(body)
    except SpaceError as error:
        first = raised_for(error)
        if isinstance(first, TermError):  # its place is in the term, not here
            raise first from None
        raise
    return traced, shapes[0]
