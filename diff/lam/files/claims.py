r"""Claims of a text: `value`, `type`, `taylor`, `grad` and `error`, each found true, or false with what was found.

>>> report = run(r'''
... def twice f u = f (f u)
... type twice = (a -> a) -> a -> a
... taylor (1,2) twice sin at <1, 1, 0> = <0.7456241416656, 0.3600394890896, -0.7783957884181>
... value twice (\x. x + 1) 1 = 4
... ''', "page.lam")
>>> print(report)
page.lam:3: ok
page.lam:4: ok
page.lam:5: fails: found 3
2 of 3 claims hold
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, final, get_args

import numpy as np
from attrs import frozen

from diff.derive.affine import derivative
from diff.lam.files.linking import nodes
from diff.lam.files.module import Module
from diff.lam.run.closeness import agree
from diff.lam.run.evaluate import evaluate
from diff.lam.run.taylor_macro import Taylor
from diff.lam.run.translate import program
from diff.lam.show.show_values import show_value
from diff.lam.term.inductive import instance
from diff.lam.term.lam_values import Value, filled, nested, opened, shape_of, stacked
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import App, Pullbacks
from diff.lam.term.type_parts import rebuilt
from diff.lam.term.types import REAL, Arrow, Param, Ty, Unknown, space_of, unknown
from diff.lam.term.unify import Unifier
from diff.lam.text.items import Claim
from hilbert import SpaceError, Vec
from hilbert.base.lazy import uncollected
from hilbert.displayed import Displayed
from hilbert.errors import shown as said
from linmap import matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.terms import AnyTerm


@final
@frozen
class Result(Displayed):
    """The place of a claim, and the value that was found instead if the claim does not hold; None if it does."""

    file: str
    line: int
    found: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {'ok' if self.found is None else f'fails: found {self.found}'}"


@final
@frozen
class ClaimsReport(Displayed):
    """The claims of a text in order."""

    results: tuple[Result, ...]

    @property
    def holds(self) -> bool:
        """Tell if all claims hold."""
        return all(result.found is None for result in self.results)

    def __str__(self) -> str:
        held = sum(result.found is None for result in self.results)
        return "\n".join([*map(str, self.results), f"{held} of {len(self.results)} claims hold"])


Rule: TypeAlias = "Callable[[Module, Claim], str | None]"
"""Runs a claim: None if it holds, else what was found."""


def run(text: str, file: str = "<text>", rules: Mapping[str, Rule] | None = None) -> ClaimsReport:
    """The claims of a text; `rules` adds kinds of claims. Raises TermError for a mistake outside of them."""
    if rules is not None and not isinstance(rules, Mapping):
        raise TermError("type", f"run(text, file, rules) takes rules by the words of claims, not {said(rules)}")
    known = {**RULES, **(rules or {})}
    module = Module()
    claimed = module.claimed(module.reader.read(text, file))
    return ClaimsReport(tuple(result_of(names, claim, known) for names, claim in claimed))


def result_of(module: Module, claim: Claim, rules: Mapping[str, Rule]) -> Result:
    """The result of one claim."""
    rule = rules.get(claim.word)
    if rule is None:
        found: str | None = f"no rule for `{claim.word}`: pullbacks are not reduced by this command"
    else:
        try:
            with uncollected():
                found = rule(module, claim)
        except TermError as error:
            found = f"error {error.code}: {error}"
        except SpaceError as error:  # of the library, which knows no places
            found = f"error: {error}"
    return Result(claim.place.file, claim.place.line, found)


# --- the kinds of claims ---


def _compared(found: Value, due: Value) -> str | None:
    """None if two values agree to rounding, else the first as text."""
    return None if agree(found, due) else show_value(found)


def _value(module: Module, claim: Claim) -> str | None:
    """value t = s."""
    left, right = claim.terms
    term, ty = module.checked(left)
    due, _ = module.checked(right, ty)
    return _compared(evaluate(term), evaluate(due))


def _type(module: Module, claim: Claim) -> str | None:
    """type t = σ: σ is what t is, or an instance of it."""
    found, count = module.general(claim.terms[0])
    assert claim.type is not None
    return None if _is_instance(found, count, claim.type) else str(found)


def _is_instance(general: Ty, count: int, due: Ty) -> bool:
    """Tell if a type is the general one at some types; its own variables stand for themselves."""
    rigid: dict[Any, Ty] = {}

    def leaf(ty: Ty) -> Ty:
        return rigid.setdefault(ty, Param(len(rigid))) if isinstance(ty, Unknown) else ty

    try:
        Unifier().unify(instance(general, [unknown() for _ in range(count)]), rebuilt(due, leaf), None)
    except TermError:
        return False
    return True


def _taylor(module: Module, claim: Claim) -> str | None:
    """taylor (k,R) t at u₁ … uₙ = w: D_(k,R)(t) at jets."""
    orders = claim.orders
    assert orders is not None
    macro = Taylor(orders.listed) if orders.listed else Taylor.of(orders.k, orders.order)
    term, ty = module.checked(claim.terms[0])
    jets = macro.term(term)
    for jet in claim.terms[1:-1]:
        if not isinstance(ty, Arrow):
            raise TermError("type", f"a term of type {ty} takes no further jet", jet.place)
        arg, _ = module.checked(jet, macro.type(ty.dom))
        jets, ty = App(jets, arg), ty.cod
    due, _ = module.checked(claim.terms[-1], macro.type(ty))
    return _compared(evaluate(jets), evaluate(due))


def _grad(module: Module, claim: Claim) -> str | None:
    """grad t at v = w: the gradient of t at v, in the shape of v."""
    function, at, due = claim.terms
    term, ty = module.checked(function)
    if not isinstance(ty, Arrow) or ty.cod is not REAL:
        raise TermError("type", f"a gradient is of a function into real, not of type {ty}", function.place)
    point, _ = module.checked(at, ty.dom)
    expected, _ = module.checked(due, ty.dom)
    return _compared(gradient(term, evaluate(point)), evaluate(expected))


def gradient(term: AnyTerm, at: Value) -> Value:
    """The gradient of a closed function into ℝ at a value: the row of its derivative, in the shape of the value."""
    shape, leaves = shape_of(stacked(at))
    p = program(term, at)
    point = leaves[0] if len(leaves) == 1 else Vec(p.dom, tuple(part for leaf in leaves for part in leaf.leaves))
    row = matrix(derivative(p)(point), "array").reshape(-1)
    ends = np.cumsum([leaf.space.dim for leaf in leaves])
    rows = np.split(row, ends[:-1])
    return opened(filled(shape, iter([leaf.space.unflat(one) for leaf, one in zip(leaves, rows, strict=True)])))


def shown(term: AnyTerm) -> str:
    """The value of a term as text."""
    return show_value(evaluate(term))


def moves(term: AnyTerm) -> bool:
    """Tell if a former of the language of pullbacks stands in a term."""
    return any(isinstance(node, get_args(Pullbacks)) for node in nodes(term))


def refused(module: Module, claim: Claim, found: Callable[[AnyTerm], str] = shown) -> str | None:
    """error CODE : what is refused with this code, when it is checked or evaluated, or made a program on vectors."""
    item = claim.refused
    try:
        if isinstance(item, TermError):
            raise item
        if item is not None:
            module.copy().add(item)
            return "no error"
        if not claim.terms:
            return "no error"
        term, ty = module.checked(claim.terms[0])
        text = found(term)
        dom = space_of(ty.dom) if isinstance(ty, Arrow) and not moves(term) else None
        if dom is not None:  # what is refused when the shape is known and the numbers are not
            program(term, nested(dom, dom.zeros()))
    except TermError as error:
        return None if error.code == claim.code else f"error {error.code}: {error}"
    return f"no error but {text}"


RULES: dict[str, Rule] = {"value": _value, "type": _type, "taylor": _taylor, "grad": _grad, "error": refused}
"""The claims that need no adjoint."""
