"""The steps of `simplify`: for each, the law and the subterm that it rewrote.

>>> from hilbert import Fin, R
>>> from linmap import rep, scale, total
>>> X = Fin.of(3)
>>> print(explain(total(X) @ scale(2, R ** X) @ rep(X)))
size 9, weight 10, depth 1 → size 3, weight 3, depth 0
scaling out of a composition, at ():
    Σ • (2 ·) • rep = (2 ·) • Σ • id • rep
unit, at ():
    (2 ·) • Σ • id • rep = (2 ·) • Σ • rep
composition of reductions, at (0, 0):
    Σ • rep = (3 ·) • red[id]
reduction by the identity, at (0, 0, 0):
    red[id] = id
scaling out of a composition, at ():
    (2 ·) • (3 ·) = (6 ·) • id
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.base.attach import declared
from linmap.laws import measure
from linmap.laws.simplify import require_term, rewritten
from linmap.printing.notation import LINES, Listing
from linmap.term.protocols import Elsewhere, Runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linmap.laws import Rewriting


@final
@frozen
class Explanation(Listing):
    """The given term, what it came to, and the steps between them, in order.

    `orders` are the contractions of a function that run in another order than they are written in, `systems()` the
    linear systems that are solved, with the predicted times of the methods, and why some are not taken.
    """

    before: Any
    after: Any
    steps: tuple[Rewriting, ...]
    orders: tuple[Any, ...] = ()

    @declared
    def systems(self) -> tuple[str, ...]:
        """The linear systems that are solved, as tables of the methods."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Rewriting]:
        return iter(self.steps)

    def __str__(self) -> str:
        return self.text(LINES)

    def text(self, lines: int | None = None) -> str:
        """The systems, and the steps in at most so many lines, None for all.

        Steps that do not change the printed term are left out.
        """
        every = [*self.steps, *self.orders]
        before, after = measure(self.before), measure(self.after)
        text = [line for system in self.systems() for line in system.splitlines()]
        text.append(f"{before} → {after}" if self.steps else f"nothing to simplify: {before}")
        for k, item in enumerate(every):
            found = [str(item)] if k >= len(self.steps) else _lines_of(self.steps[k])
            if lines is not None and found and len(text) + len(found) + (k + 1 < len(every)) > lines:
                return "\n".join([*text, f"… and {len(every) - k} more steps: show(explain(f)) has them"])
            text += found
        return "\n".join(text)


def _lines_of(step: Rewriting) -> list[str]:
    """The lines of a step; none where the text stays the same."""
    before, after = str(step.before), str(step.after)
    if before == after:
        return []
    both = [f"{before} = {after}"] if "\n" not in before + after else [*before.splitlines(), *f"= {after}".splitlines()]
    return [f"{step.law}, at {step.position}:", *(f"    {line}" for line in both)]


def explain(f: Any) -> Explanation:
    """The steps that `simplify` takes on a linear map, a function or a derivative; the contractions that it reorders.

    Of a function in blocks, or on data, it also says the passes, and which arguments have rows.
    Of what solves linear systems the methods for each, with the time that is predicted, or why it is not taken.

    Every step is an equation: its `before` and its `after` have the same meaning. Recording a step takes no time
    to speak of; its `before` and `after` are put together when they are asked for, in time in their size.
    """
    term = f.function if isinstance(f, Elsewhere) else f
    require_term(term, "explain")
    steps: list[Rewriting] = []
    after = rewritten(term, steps)
    return Explanation(term, after, tuple(steps), f.orders() if isinstance(f, Runs | Elsewhere) else ())
