"""Taylor coefficients of the slots of a program: the five cases of Theorem 4.1, coefficient by coefficient.

With v = Σ_α v_α t^α, truncated to a down-closed set of α (Griewank and Walther, ch. 13):

    K_w      v_0 = w, and 0 above
    ⋄        v_α = Σ_{γ ≤ α} u_γ ⋄ w_{α−γ}                          Leibniz
    +        v_α = u_α + w_α
    linear   v_α = h(u_α)
    p        v_α = 1/αᵢ · Σ_{γ ≤ α} γᵢ u_γ·w_{α−γ},   w = p'(u, v)      the row of the table, no more

A row gives p' as an expression in the argument and the value. Its steps are coefficients of more slots, shared where
they are the same (sin with cos), and needed for one order less: so all is found in order, and nothing recurs.
A coefficient is a slot of the line under construction, or None where it is 0.

A *family* of directions is an axis of the coefficients of order 1, 2, …; what has order 0 is shared. Where it is
`collapsed`, the coefficients of the highest order are summed over the family: they enter linearly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

from diff.jets.multiindex import Alpha
from diff.jets.series_families import at_basis, summed
from diff.jets.series_of_control import chosen, unpacked
from diff.jets.series_orders import Orders
from diff.jets.series_rules import Euler, coefficients
from diff.jets.series_support import SeriesSupports, is_zero
from diff.jets.taylor_series import Coefficients, PartialDerivative, Results
from diff.terms.elementwise import Elementwise
from diff.terms.program import as_program
from diff.terms.user_operation import Custom
from hilbert.index.spec import Spec
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from diff.terms.program import AnyProgram, Operation
    from hilbert.index.index import Index
    from hilbert.program.line.constant import Const
    from hilbert.program.line.line import Line, Step
    from linmap.net.support import Support


NO_SUPPORTS: Mapping[int, Support] = {}


@final
class Series(Orders):
    """The coefficients of a program's slots in the line that `out` builds, as far as some slots need them.

    `given[i, α]` is that of input i, and `basis` such a slot where it is the identity, a family over its own axes;
    `where` has the supports of inputs that do not vary everywhere.
    """

    def __init__(
        self,
        p: AnyProgram,
        out: Builder,
        alphas: Iterable[Alpha],
        given: Coefficients,
        *,
        fed: tuple[int, ...] = (),
        family: tuple[Index, ...] = (),
        collapsed: bool = False,
        basis: int | None = None,
        where: Mapping[int, Support] = NO_SUPPORTS,
    ) -> None:
        super().__init__(p, alphas, {k for k, alpha in given if any(alpha)}, fed)
        self.out, self.family, self.basis = out, family, basis
        self.collapsed = collapsed
        self.top = len(self.levels) - 1 if collapsed else len(self.levels)
        self.bodies: dict[tuple[int, int], Results] = {}
        self.ruled: dict[tuple[int, Alpha], dict[int, int | None]] = {}
        self.inverses: dict[int, Any] = {}
        self.known: dict[tuple[int, Alpha], int | None] = dict(given)
        self.supports = SeriesSupports(self, where)
        self._find()

    def output(self, k: int, alpha: Alpha) -> int:
        """The slot of a coefficient of leaf k of the result."""
        return self.at(self.outputs[k], alpha)

    def has(self, k: int, alpha: Alpha) -> bool:
        """Tell if a coefficient of leaf k of the result is there, and not 0."""
        return self.known.get((self.outputs[k], alpha)) is not None

    def mask_of(self, k: int) -> Const | int | None:
        """The mask outside of which leaf k of the result has no coefficients but its value; None for no mask."""
        return self.supports.mask(self.outputs[k])

    def at(self, slot: int, alpha: Alpha) -> int:
        """The slot of a coefficient, one of zeros where it is 0."""
        found = self.known.get((slot, alpha))
        if found is not None:
            return found
        leaf = self.src.slots[slot]
        return self.out.number(0.0, leaf.under(self.family) if self.varies(alpha) else leaf)

    def of_body(
        self, body: Line, out: Builder, alphas: Sequence[Alpha], given: Coefficients, where: Mapping[int, Support]
    ) -> Series:
        """The series of the body of a step, for the same directions; summed over them in the same highest order."""
        is_collapsed = self.collapsed and sum(alphas[-1]) == len(self.levels) - 1
        body_of = as_program(body)
        return Series(body_of, out, alphas, given, family=self.family, collapsed=is_collapsed, where=where)

    # --- the coefficients ---

    def _find(self) -> None:
        """Find all coefficients that are needed: group by group, in a group order by order."""
        for slots in self.groups():
            for order, alphas in enumerate(self.levels):
                for slot in slots:
                    if self.need[slot] >= order:
                        for alpha in alphas:
                            if (slot, alpha) not in self.known:
                                self.known[slot, alpha] = self.coefficient(slot, alpha)

    def coefficient(self, slot: int, alpha: Alpha) -> int | None:
        """The coefficient of a slot; those below and before it are known."""
        b = self.out
        if slot < self.src.arity:
            return self._input(slot, alpha)
        step = self.src.steps[slot - self.src.arity]
        args = step.args
        operation: Operation = step.operation
        if isinstance(operation, Unpack) and args[0] not in self.rules and self.need[args[0]]:
            return unpacked(self, operation.k, args[0], alpha)
        if not any(alpha):
            return None if slot in self.linear else b.step(operation, tuple([self.value(a) for a in args]))
        if isinstance(operation, Euler):
            return self.scaled(float(alpha[operation.i]), self.known.get((args[0], alpha)))
        ruled = args[0] if isinstance(operation, Unpack) else slot
        if ruled in self.rules:  # a bundle itself is unpacked
            return self._of_rule(ruled, alpha).get(slot)
        if isinstance(operation, (Loop, Cond)):
            return None
        match operation:
            case Literal():  # K_w
                return None
            case Contract(spec):  # ⋄
                return self._product(spec, args[0], args[1], alpha)
            case Add():
                return self.total(self.known.get((a, alpha)) for a in args)
            case Keep():  # what is kept is the value
                return self.known[args[0], alpha]
            case Elementwise():
                return self._chain(slot, step, alpha)
            case Scale() | Reduce() | Move() | Cast() | External() as linear:
                u = None if is_zero(linear) else self.known[args[0], alpha]
                more = len(self.family) if self.varies(alpha) else 0
                return None if u is None else b.apply(linear.lifted(more), u)
            case Choose():
                return chosen(self, args[0], (args[1], args[2]), alpha)
            case Fill(_, when):  # what is filled is never seen
                return chosen(self, args[0], (args[1], None) if when else (None, args[1]), alpha)
            case Pack() | Unpack():  # what does not move
                return None
            case While() | Implicit() | Solve() | Custom() | Along() | AnyLane():  # it has a rule, which came before
                raise self.no_jet(slot, operation)
            case _:
                assert_never(operation)

    def _of_rule(self, slot: int, alpha: Alpha) -> dict[int, int | None]:
        """The coefficients of the results of a step that has a rule."""
        if (slot, alpha) not in self.ruled:
            self.ruled[slot, alpha] = coefficients(self, slot, alpha)
        return self.ruled[slot, alpha]

    def value(self, slot: int) -> int:
        """The slot of the coefficient of order 0."""
        found = self.known[slot, (0,) * len(self.levels[0][0])]
        assert found is not None  # the value of an input is given, or is the number 0
        return found

    def _input(self, slot: int, alpha: Alpha) -> int | None:
        """The coefficient of an input: 0 if it is not given; x_{n+1} = f(x)_n/(n+1) of a solution of x' = f(x)."""
        if not any(alpha):
            return self.out.number(0.0, self.src.slots[slot])
        if not self.fed:
            return None
        (n,) = alpha
        return self.scaled(1.0 / n, self.known[self.fed[slot], (n - 1,)])

    def total(self, terms: Iterable[int | None]) -> int | None:
        """A sum, of which None is 0."""
        total: int | None = None
        for term in terms:
            if term is not None:
                total = term if total is None else self.out.add(total, term)
        return total

    def scaled(self, k: float, term: int | None) -> int | None:
        """k · x, of which None is 0."""
        return None if term is None else self.out.scale(k, term)

    def _product(self, spec: Spec, u: int, w: int, alpha: Alpha) -> int | None:
        """Σ_{γ ≤ α} u_γ ⋄ w_{α−γ}; of u ⋄ u, where ⋄ is symmetric, half of it twice."""
        if u == w and spec == spec.mirrored:
            return self._square(spec, u, alpha, self.pairs(alpha))
        return self.total(self._term(spec, u, gamma, w, delta) for gamma, delta in self.pairs(alpha))

    def _square(self, spec: Spec, u: int, alpha: Alpha, some: Iterable[tuple[Alpha, Alpha]]) -> int | None:
        """Σ u_γ ⋄ u_δ over pairs that come with (δ, γ) for each (γ, δ)."""
        below = self.total(self._term(spec, u, gamma, u, delta) for gamma, delta in some if gamma < delta)
        half = tuple(n // 2 for n in alpha)
        middle = None if any(n % 2 for n in alpha) else self._term(spec, u, half, u, half)
        return self.total([self.scaled(2.0, below), middle])

    def _chain(self, slot: int, step: Step[Any], alpha: Alpha) -> int | None:
        """1/αᵢ · Σ_γ γᵢ u_γ·w_{α−γ} for all arguments u."""
        n, i = self.way(alpha)
        spec = Spec.pointwise(len(self.src.slots[slot].axes))
        zero = (0,) * len(alpha)
        found: list[int | None] = []
        for u, w in zip(step.args, self.partials[slot], strict=True):
            if not isinstance(w, PartialDerivative):
                found.append(self.scaled(w, self.known.get((u, alpha))) if w else None)
                continue
            inner = (pair for pair in self.pairs(alpha) if zero not in pair)
            if w.square is None:
                terms = (self._term(spec, u, gamma, w.slot, delta, gamma[i]) for gamma, delta in inner if gamma[i])
                first, rest = self._term(spec, u, alpha, w.slot, zero), self.total(terms)
                found += [self.scaled(w.factor, first), self.scaled(w.factor / n, rest)]
            else:  # w = c·u + const: Σ γᵢ u_γ·u_δ over 0 < γ < α is αᵢ/2 times that without γᵢ
                found.append(self._term(spec, u, alpha, w.whole, zero))
                found.append(self.scaled(0.5 * w.square, self._square(spec, u, alpha, inner)))
        return self.total(found)

    def _term(self, spec: Spec, u: int, gamma: Alpha, w: int, delta: Alpha, k: int = 1) -> int | None:
        """k·u_γ ⋄ w_δ, summed over the family where it is of the highest order and collapsed."""
        x = self.known.get((u, gamma))
        y = None if x is None else self.known.get((w, delta))
        if x is None or y is None:
            return None
        x = self.out.scale(float(k), x)
        made = self._multiplied(spec, x, y, gamma, delta)
        for slot, order, other in ((u, gamma, y), (w, delta, x)):
            if any(order) and spec.is_pointwise:
                made = self.supports.kept(slot, other, made)
        return made

    def _multiplied(self, spec: Spec, x: int, y: int, gamma: Alpha, delta: Alpha) -> int:
        """x ⋄ y of coefficients of these orders."""
        left, right = self.varies(gamma), self.varies(delta)
        if not (left or right):
            return self.out.contract(spec, x, y)
        n = len(self.family)
        spec = spec.lifted(n, left=left, right=right)
        if left and right and sum(gamma) + sum(delta) == self.top:
            return summed(self, Spec.of(spec.left, spec.right, spec.out[n:]), x, y)
        return at_basis(self, spec, x, y, n)

    def varies(self, alpha: Alpha) -> bool:
        """Tell if coefficients of this order have the axes of the family."""
        return bool(self.family) and 0 < sum(alpha) < self.top
