"""Rules: a call that looks like the left side of one is rewritten to the right side, in all that stands after it.

The parts of a term are rewritten before it, the first rule that fits is taken, and what it makes is rewritten again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import frozen

from adjoint.languages.ks.text.typed_terms import Maker, reads
from diff.lam.term.binding import binder, mapped, renamed, substitute
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, Lam, Let, Lit, Name, Var, below, fresh, variables
from hilbert.base.term import driven, postorder

if TYPE_CHECKING:
    from collections.abc import Hashable

    from adjoint.languages.ks.text.resolution import Resolution
    from diff.lam.term.binding import Pass
    from diff.lam.term.term_error import Place

MOST = 10_000
"""The applications of rules in one definition, beyond the number of its terms, before they are given up."""


@final
@frozen(eq=False)
class Rule:
    """left = right, for all values of the variables."""

    name: str
    variables: tuple[Var, ...]
    left: AnyTerm
    right: AnyTerm
    place: Place

    @property
    def bound(self) -> list[Var]:
        """The variables that the left side binds."""
        patterns = [p for e in postorder(self.left, below) if (p := binder(e)) is not None]
        return [x for p in patterns for x in variables(p)]


@final
class Rules:
    """The rules so far; they match up to names, and functions by what they stand for."""

    def __init__(self, scope: Resolution) -> None:
        self.make = Maker(scope)
        self.of_head: dict[Hashable, list[Rule]] = {}
        self.count = 0

    def add(self, rule: Rule) -> None:
        """Take a rule in; raises TermError where it rewrites all, or what it makes is not known."""
        if not isinstance(rule.left, App) or not isinstance(rule.left.function, Name):
            raise TermError("syntax", "the left side of a rule is the call of a function by name", rule.left.place)
        read = reads(rule.left)
        for x in rule.variables:
            if x.number in reads(rule.right) - read:
                raise TermError("unbound", f"{x.name} is not on the left side of this rule", rule.right.place)
        self.of_head.setdefault(self.head(rule.left.function), []).append(rule)

    def head(self, name: Name) -> Hashable:
        """The key of the function that a name stands for."""
        callee = self.make.scope.callees.get((name.name, name.at[0])) if name.at else None
        return (name.name, name.at) if callee is None else callee.identity

    def rewritten(self, term: AnyTerm) -> AnyTerm:
        """The term as the rules have it; raises TermError where they do not end."""
        if not self.of_head:
            return term
        self.count = MOST + len(postorder(term, below))
        made: AnyTerm = driven(self._of(term, {}, None))
        return made

    def _of(self, term: AnyTerm, done: dict[int, tuple[AnyTerm, AnyTerm]], place: Place | None) -> Pass:
        """`done` has each term, by its identity, with what it is rewritten to; `place` is where that was written."""
        for node in postorder(term, lambda e: [] if id(e) in done else below(e)):
            if id(node) in done:
                continue

            def part(one: AnyTerm, node: AnyTerm = node) -> AnyTerm | None:
                return done[id(one)][1] if one is not node and id(one) in done else None

            made = mapped(node, part)
            rule, values = self._first(made)
            if rule is not None:
                self.count -= 1
                at = place or node.place
                if self.count < 0:
                    what = f"the rule {rule.name} at {rule.place} is applied again and again to what rules made"
                    raise TermError("limit", f"rules do not end here: {what}", at)
                made = yield self._of(_instance(rule, values), done, at)
            done[id(node)], done[id(made)] = (node, made), (made, made)
        return done[id(term)][1]

    def _first(self, e: AnyTerm) -> tuple[Rule | None, dict[int, AnyTerm]]:
        if isinstance(e, App) and isinstance(e.function, Name):
            for rule in self.of_head.get(self.head(e.function), ()):
                values = self._match(rule, e)
                if values is not None:
                    return rule, values
        return None, {}

    def _match(self, rule: Rule, e: AnyTerm) -> dict[int, AnyTerm] | None:
        """The values of a rule's variables, in the order that they are met, where its left side is this term."""
        own = {x.number for x in rule.variables}
        values: dict[int, AnyTerm] = {}
        bound: dict[int, int] = {}
        stack: list[tuple[AnyTerm, AnyTerm]] = [(rule.left, e)]
        while stack:
            a, b = stack.pop()
            match a, b:
                case Var(_, number), _ if number in values:
                    stack.append((values[number], b))
                case Var(_, number, ty), _ if number in own:
                    if _is_function(b) or self.make.type(b) is not ty:
                        return None
                    values[number] = b
                case Var(), Var():
                    if bound.get(a.number, a.number) != b.number:
                        return None
                case Name(), Name() if self.head(a) != self.head(b):
                    return None
                case Lit(), Lit() if a != b:
                    return None
                case _ if type(a) is not type(b) or len(below(a)) != len(below(b)):
                    return None
                case _:  # the same node: its parts, and what it binds
                    xs, ys = (variables(p) if (p := binder(one)) is not None else () for one in (a, b))
                    if [x.type for x in xs] != [y.type for y in ys]:
                        return None
                    bound.update({x.number: y.number for x, y in zip(xs, ys, strict=True)})
                    stack.extend(reversed(list(zip(below(a), below(b), strict=True))))
        inner = {bound[x.number] for x in rule.bound} if bound else set[int]()
        return None if inner and any(reads(v) & inner for v in values.values()) else values


def _is_function(e: AnyTerm) -> bool:
    return isinstance(e, Name) and bool(e.at)


def _instance(rule: Rule, values: dict[int, AnyTerm]) -> AnyTerm:
    """The right side at values: what is no variable, number or function is bound by a let."""
    plain, lets = dict[int, AnyTerm](), list[tuple[Var, AnyTerm]]()
    types = {x.number: x for x in rule.variables}
    for number, value in values.items():
        if isinstance(value, (Var, Lit, Lam)):
            plain[number] = value
        else:
            x = types[number]
            lets.append((fresh(x.name, x.type), value))
            plain[number] = lets[-1][0]
    made = substitute(renamed(rule.right), plain)
    for x, value in reversed(lets):
        made = Let(x, value, made, place=value.place)
    return made
