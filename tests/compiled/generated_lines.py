"""Lines drawn at random, of every operation that has loops, run as machine code and by the interpreter.

    python -m tests.compiled.generated_lines SEED COUNT

runs lines of so many seeds in every way (merged or not, at each level, for each target) and prints those that differ,
with the first step that does. `OMP_NUM_THREADS=1` is advised.
"""

from __future__ import annotations

import collections
import sys
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.primitives.primitives import BINARY, PRIMITIVES
from diff.terms.elementwise import Comparison
from hilbert import Fin, Index, Unit
from hilbert.arrays.libraries.random_entries import drawn
from hilbert.compiled.machine.compiled_line import CompiledLine
from hilbert.compiled.machine.llvm_code import Target, host
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.control.branch import Cond
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import TRUTH, AnyLane, Fill
from hilbert.program.line.constant import filled
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from hilbert.program.run.run import Runner
from hilbert.program.transform.lifted_line import lifted_on
from hilbert.relation import (
    Window,
    agreement,
    equality,
    full,
    function,
    geq,
    greater,
    leq,
    less,
    pairs,
    partial,
    rotation,
    run,
    sliding,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hilbert.program.line.line import Line

SIZES = (0, 1, 2, 3, 4, 5, 7, 9, 15, 16, 17, 63, 65)
WEIGHTS = np.array([1, 2, 6, 6, 6, 5, 5, 5, 4, 4, 4, 2, 2], float)
MOST = 5000
"""The most entries of an array."""
TAME = [f for f in PRIMITIVES if f.name in {"tanh", "sin", "sigmoid", "relu", "abs", "softplus", "sign"}]
"""Functions of slope 1 at most: loops of others are chaotic."""
COMPARED = [Comparison(name) for name in ("greater", "greater_equal", "less", "less_equal", "equal", "not_equal")]
TWO = [f for f in BINARY if f.name in {"maximum", "minimum", "hypot", "logaddexp"}]


@final
class Dice:
    """Choices of one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def integer(self, low: int, high: int) -> int:
        """A whole number from low to high."""
        return int(self.rng.integers(low, high + 1))

    def flag(self, chance: float = 0.5) -> bool:
        """True with this chance."""
        return bool(self.rng.random() < chance)

    def one_of(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def size(self, most: int = SIZES[-1]) -> int:
        """The size of an axis."""
        sizes = [n for n in SIZES if n <= most]
        weights = WEIGHTS[: len(sizes)]
        return int(self.rng.choice(sizes, p=weights / weights.sum()))

    def axes(self, most: int, count: int) -> tuple[Index, ...]:
        """Axes of at most so many entries together."""
        made: list[Index] = []
        for _ in range(count):
            n = self.size(max(most, 1))
            most //= max(n, 1)
            made.append(Fin.of(n))
        return tuple(made)

    def places(self, count: int, below: int) -> np.ndarray[Any, Any]:
        """Positions, seldom all different."""
        if self.flag(0.3) and count <= below:
            return self.rng.permutation(below)[:count]
        return self.rng.integers(0, below, count)


def joined(axes: Sequence[Index]) -> Index:
    """The product of axes."""
    if not axes:
        return Unit()
    made = axes[0]
    for axis in axes[1:]:
        made = made * axis
    return made


# --- relations on given axes ---


def _inclusion(d: Dice, X: Index) -> Any:
    stride = d.one_of([1, 1, -1, -1, 2, -2, 3, -3])
    span = abs(stride) * max(X.size - 1, 0) + min(X.size, 1)
    Y = Fin.of(span + d.integer(0, 3))
    low = max(span - 1, 0) if stride < 0 else 0
    return run(X, Unit() if Y.size == 1 and d.flag() else Y, low + d.integer(0, Y.size - span), stride)


def _slice(d: Dice, X: Index) -> Any:
    stride = d.one_of([1, -1, 2, -2, 3])
    n = d.integer(0, -(-X.size // abs(stride)))
    span = abs(stride) * max(n - 1, 0) + min(n, 1)
    low = max(span - 1, 0) if stride < 0 else 0
    Y = Unit() if n == 1 and d.flag() else Fin.of(n)
    return run(Y, X, low + d.integer(0, X.size - span), stride).T


def _window(d: Dice, X: Index) -> Any:
    width = d.integer(0, 5) if d.flag(0.9) else d.integer(15, 20)
    R = Window(X, Fin.of(d.size()), width, d.integer(1, 3), d.integer(-4, 4), d.integer(1, 3))
    if not d.flag():
        return R
    return Window(Fin.of(d.size()), X, width, d.integer(1, 3), d.integer(-4, 4), d.integer(1, 3)).T


def _sliding(d: Dice, X: Index) -> Any:
    return sliding(X, d.integer(1, 3), stride=d.integer(1, 4), offset=d.integer(0, 2), dilation=d.integer(1, 2)).T


def _laid(d: Dice, X: Index) -> Any:
    """Windows side by side, reduced again: the way there is a gather."""
    R = _sliding(d, X)
    return R.T @ R if d.flag(0.2) and R.size == R.cod.size == 0 else R


def _pairs(d: Dice, X: Index) -> Any:
    Y, n = Fin.of(d.size()), d.integer(0, 12)
    if not X.size or not Y.size:
        return pairs([], X, Y)
    return pairs(np.stack([d.places(n, X.size)[:n], d.rng.integers(0, Y.size, min(n, n))], 1)[:n], X, Y)


def _agreement(d: Dice, X: Index) -> Any:
    axes = X.axes
    labels: list[str] = []
    for k, axis in enumerate(axes):
        same = [labels[j] for j in range(k) if axes[j] == axis]
        labels.append(d.one_of(same) if same and d.flag(0.4) else "ijklmn"[k])
    known = dict(zip(labels, axes, strict=True))
    target = [c for c in known if d.flag(0.7)]
    if known and d.flag(0.3):
        target.append(d.one_of(list(known)))
    d.rng.shuffle(target)
    sets = [known[c] for c in target]
    if d.flag(0.2):
        target.append("z")
        sets.append(Fin.of(d.size(5)))
    return agreement(f"{''.join(labels)}->{''.join(target)}", X, joined(sets))


def _product(d: Dice, X: Index) -> Any:
    if len(X.axes) < 2:
        return None
    cut = d.integer(1, len(X.axes) - 1)
    left, right = relation(d, joined(X.axes[:cut])), relation(d, joined(X.axes[cut:]))
    return None if left is None or right is None else left * right


def _composite(d: Dice, X: Index) -> Any:
    R = d.one_of([FORMS["graph"], FORMS["order"], FORMS["rotation"], FORMS["inclusion"], FORMS["gather"]])(d, X)
    S = None if R is None else relation(d, R.cod)
    if S is None:
        return None
    try:
        return S @ R
    except Exception:  # noqa: BLE001 - a pair has several paths
        return None


FORMS: dict[str, Callable[[Dice, Index], Any]] = {
    "full": lambda d, X: full(X, joined(d.axes(20, d.integer(0, 2)))),
    "equality": lambda _, X: equality(X),
    "partial": lambda d, X: partial(d.rng.integers(0, 2, X.size).astype(bool), X),
    "order": lambda d, X: d.one_of([leq, geq, less, greater])(X),
    "graph": lambda d, X: function(d.places(X.size, Y.size), X, Y) if (Y := Fin.of(max(d.size(), 1))) else None,
    "gather": lambda d, X: (
        function(d.places(Y.size, X.size) if X.size else [], Y, X).T
        if (Y := joined(d.axes(80 if X.size else 0, d.integer(1, 2)))) and (X.size or not Y.size)
        else None
    ),
    "inclusion": _inclusion,
    "slice": _slice,
    "rotation": lambda d, X: rotation(X, d.integer(-5, 5)),
    "window": _window,
    "sliding": _laid,
    "pairs": _pairs,
    "agreement": _agreement,
    "product": _product,
    "composite": _composite,
}


def relation(d: Dice, X: Index) -> Any:
    """A relation from X; None where the form that was chosen has none."""
    return FORMS[d.one_of(list(FORMS))](d, X)


# --- lines ---


@final
class Drawn:
    """A line under construction."""

    def __init__(self, d: Dice, inputs: Sequence[Leaf], depth: int) -> None:
        self.d, self.depth = d, depth
        self.b = Builder(inputs)
        self.formed = collections.Counter[str]()

    # --- slots ---

    def slots(self, test: Callable[[Leaf], bool]) -> list[int]:
        """The slots whose leaf is so."""
        return [
            k
            for k, leaf in enumerate(self.b.slots)
            if not isinstance(leaf, Bundle) and not isinstance(self.b.operation(k), Fill) and test(leaf)
        ]

    def any(self, test: Callable[[Leaf], bool] = lambda leaf: leaf.is_field) -> int | None:
        """One of the slots, late ones more often."""
        found = self.slots(test)
        if not found:
            return None
        return found[max(self.d.integer(0, len(found) - 1), self.d.integer(0, len(found) - 1))]

    def like(self, leaf: Leaf) -> int:
        """A slot of a leaf, combined of two."""
        slots = self.slots(lambda other: other == leaf)
        k = slots[max(self.d.integer(0, len(slots) - 1), self.d.integer(0, len(slots) - 1))]
        if leaf.is_field and self.d.flag(0.3):
            other = self.d.one_of(slots)
            k = self.b.step(TAME[self.d.integer(0, 1)], (self.b.step(Add(), (k, other)),))
        return k

    def put(self, operation: Any, *args: int) -> None:
        """Append a step, unless its result is too large."""
        leaf = operation.image(*(self.b.slots[a] for a in args))
        if not isinstance(leaf, Bundle) and leaf.size <= MOST and len(leaf.axes) <= 5:
            self.b.emit(operation, args, leaf)

    # --- steps ---

    def reduce(self) -> None:
        """A reduction."""
        k = self.any()
        if k is None:
            return
        leaf = self.b.slots[k]
        count = min(self.d.integer(0, 3), len(leaf.axes))
        at = self.d.integer(0, len(leaf.axes) - count)
        name = self.d.one_of(list(FORMS))
        made = FORMS[name](self.d, joined(leaf.axes[at : at + count]))
        if made is not None and made.dom.axes == leaf.axes[at : at + count]:
            self.formed[name] += 1
            self.put(Reduce(made, at), k)

    def entries(self) -> None:
        """A function of entries."""
        k = self.any()
        if k is None:
            return
        match self.d.integer(0, 6):
            case 0:
                self.put(Scale(self.d.one_of([-1.0, 0.5, 1.0, 0.0, -0.25, 1.5])), k)
            case 1:
                self.put(Add(), k, self.like(self.b.slots[k]))
            case 2:
                self.put(self.d.one_of(TWO), k, self.like(self.b.slots[k]))
            case 3:
                self.put(self.d.one_of(COMPARED), k, self.like(self.b.slots[k]))
            case 4:
                self.put(Keep(), k)
            case _:
                self.put(self.d.one_of(TAME), k)

    def logic(self) -> None:
        """A function of truth values."""
        k = self.any(lambda leaf: leaf.kind == "b")
        if k is None:
            return
        match self.d.integer(0, 2):
            case 0:
                self.put(Comparison("logical_not"), k)
            case 1:
                self.put(Comparison(self.d.one_of(["logical_and", "logical_or"])), k, self.like(self.b.slots[k]))
            case _:
                self.put(Cast(Entry("float64")), k)

    def cast(self) -> None:
        """Another precision."""
        k = self.any()
        if k is not None:
            self.put(Cast(Entry("float32" if self.b.slots[k].dtype == "float64" else "float64")), k)

    def move(self) -> None:
        """The axes in another order."""
        k = self.any(lambda leaf: len(leaf.axes) > 1)
        if k is not None:
            self.put(Move(tuple(int(n) for n in self.d.rng.permutation(len(self.b.slots[k].axes)))), k)

    def along(self) -> None:
        """A function along axes."""
        k = self.any(lambda leaf: leaf.is_field and bool(leaf.axes))
        if k is None:
            return
        leaf = self.b.slots[k]
        count = self.d.integer(1, min(2, len(leaf.axes)))
        at = self.d.integer(0, len(leaf.axes) - count)
        name = self.d.one_of(["argmax", "argmin", "logsumexp", "softmax", "log_softmax"])
        X = joined(leaf.axes[at : at + count])
        if X.size or not name.startswith("arg"):
            self.put(Along(name, X, at), k)

    def contract(self) -> None:
        """A contraction of arrays with axes in common; with elements of an index set, or truth values."""
        k = self.any(lambda leaf: leaf.kind != "b" or self.d.flag(0.5))
        if k is None:
            return
        first = self.b.slots[k]
        if not first.is_field:
            own: tuple[Index, ...] = first.axes + (() if first.entry.index is None else first.entry.index.axes)
            others = self.slots(lambda leaf: leaf.is_field)
        else:
            own = first.axes
            others = self.slots(lambda leaf: leaf.dtype == first.dtype)
        if not others:
            return
        j = self.d.one_of(others)
        second = self.b.slots[j]
        letters = iter("abcdefghijklmnop")
        left = [next(letters) for _ in own]
        right: list[str] = []
        for axis in second.axes:
            same = [c for c, X in zip(left, own, strict=True) if axis == X and c not in right]
            right.append(self.d.one_of(same) if same and self.d.flag(0.8) else next(letters))
        alone = [c for c in (*left, *right) if left.count(c) + right.count(c) == 1]
        out = [*alone, *(c for c in left if c in right and self.d.flag(0.4))]
        self.d.rng.shuffle(out)
        given = ("".join(left), "".join(right), "".join(out))
        if self.d.flag(0.3):
            given, k, j = (given[1], given[0], given[2]), j, k
        self.put(Contract(Spec.of(*given)), k, j)

    def literal(self) -> None:
        """A constant of one number."""
        leaf = self.b.slots[self.any() or 0]
        if leaf.is_field:
            self.put(Literal(filled(self.d.one_of([0.0, 1.0, -1.0, 0.5]), leaf)))

    def lane(self) -> None:
        """Whether some lane holds."""
        k = self.any(lambda leaf: leaf.is_field or leaf.kind == "b")
        if k is not None:
            self.put(AnyLane(self.d.integer(0, len(self.b.slots[k].axes)), self.d.flag()), k)

    # --- control flow ---

    def loop(self) -> None:
        """A loop."""
        d, b = self.d, self.b
        n = d.one_of([0, 1, 2, 3, 5, 8, 9, 17])
        index: Index = Fin.of(n) if d.flag(0.8) else Fin.of(n) * Fin.of(2)
        stacked = self.slots(lambda leaf: leaf.axes[: len(index.axes)] == index.axes)
        if not stacked and d.flag(0.7):
            k = self.any(lambda leaf: leaf.is_field and leaf.size * index.size <= MOST)
            if k is not None:
                stacked = [b.rep(k, index.axes)]
        small = self.slots(lambda leaf: leaf.size <= 300)
        if not small:
            return
        states = [d.one_of(small) for _ in range(d.integer(0, 3))]
        if states and d.flag(0.4):
            same = [k for k in small if b.slots[k] == b.slots[states[0]]]
            states.append(d.one_of(same))
        shared = [d.one_of(small) for _ in range(d.integer(0, 2))]
        stacks = [d.one_of(stacked) for _ in range(d.integer(0, 2))] if stacked else []
        count = len(index.axes)
        inputs = [b.slots[k] for k in (*states, *shared)]
        inputs += [Leaf(b.slots[k].entry, b.slots[k].axes[count:]) for k in stacks]
        body = self.inside(inputs)
        ends = [body.like(leaf) for leaf in inputs[: len(states)]]
        results = [body.any(lambda leaf: leaf.size * index.size <= MOST) for _ in range(d.integer(0, 2))]
        ends += [k for k in results if k is not None]
        if not ends:
            return
        loop = Loop(body.b.line(ends), index, len(states), len(shared), d.flag())
        b.unpack(b.step(loop, (b.pack([*states, *shared, *stacks]),)))

    def branch(self) -> None:
        """A condition; lifted, as one of lanes."""
        d, b = self.d, self.b
        small = self.slots(lambda leaf: leaf.size <= 300)
        truths = self.slots(lambda leaf: leaf == TRUTH)
        if not small or not truths:
            return
        captures = [d.one_of(small) for _ in range(d.integer(0, 3))]
        leaves = [b.slots[k] for k in captures]
        lines = [self.inside(leaves) for _ in range(2)]
        common = [leaf for leaf in lines[0].b.slots if leaf in lines[1].b.slots and not isinstance(leaf, Bundle)]
        if not common:
            return
        ends = [d.one_of(common) for _ in range(d.integer(1, 3))]
        cond = Cond(*(inner.b.line([inner.like(leaf) for leaf in ends]) for inner in lines))
        b.unpack(b.step(cond, (b.pack([d.one_of(truths), *captures]),)))

    def lanes(self) -> None:
        """A generated line, lifted, with branches in it: choices between lanes."""
        d, b = self.d, self.b
        axis = Fin.of(d.size(9))
        varying = self.slots(lambda leaf: leaf.axes[:1] == (axis,) and leaf.size <= 300)
        if not varying:
            k = self.any(lambda leaf: leaf.size * axis.size <= 300)
            if k is None:
                return
            varying = [b.rep(k, (axis,))]
        given = [d.one_of(varying) for _ in range(d.integer(1, 3))]
        leaves = [Leaf(b.slots[k].entry, b.slots[k].axes[1:]) for k in given]
        inner = self.inside(leaves, ["entries", "lane", "branch", "branch", "reduce", "loop"])
        k = inner.any(lambda leaf: leaf.is_field and leaf.size * axis.size <= MOST)
        if k is None:
            return
        line = lifted_on(inner.b.line([k]), (axis,), [True] * len(given))
        b.inline(line, given)

    def inside(self, leaves: Sequence[Leaf], kinds: Sequence[str] = ()) -> Drawn:
        """The line of a body."""
        inner = Drawn(self.d, leaves, self.depth - 1)
        if self.d.flag(0.3) or not leaves:
            inner.literal() if leaves else inner.put(Literal(filled(0.5, Leaf(Entry("float64")))))
        inner.grow(self.d.integer(0, 6), kinds)
        self.formed += inner.formed
        return inner

    def grow(self, count: int, kinds: Sequence[str] = ()) -> None:
        """Append so many steps."""
        flow = ["loop", "branch", "lanes"] if self.depth else []
        usual = [*["reduce"] * 6, *["entries"] * 7, "logic", "cast", "move", "along", "literal", "lane"]
        options = [k for k in kinds or [*usual, *["contract"] * 3, *flow] if k not in {"loop", "branch"} or self.depth]
        for _ in range(count):
            name = self.d.one_of(options)
            self.formed[name] += 1
            getattr(self, name)()


def generated(seed: int, steps: int = 60) -> tuple[Line, list[np.ndarray[Any, Any]], collections.Counter[str]]:
    """A line of every kind of operation, arrays that it applies to, and what is in it."""
    d = Dice(seed)
    dtype = d.one_of(["float64", "float64", "float32"])
    leaves = [Leaf(Entry(dtype), d.axes(800, d.integer(0, 3))) for _ in range(d.integer(1, 4))]
    leaves += [Leaf(Entry("bool"), leaves[0].axes[:1]), TRUTH]
    X = joined(leaves[0].axes[-1:])
    if X.size:
        leaves.append(Leaf(Entry("int64", X), d.axes(6, d.integer(0, 1))))
    made = Drawn(d, leaves, depth=2)
    made.grow(d.integer(1, steps))
    slots = made.slots(lambda _: True)
    ends = [d.one_of(slots[-8:]) for _ in range(d.integer(1, 4))]
    ends += [d.one_of(slots) for _ in range(d.integer(0, 12))]
    line = made.b.line(ends)
    return line, [np.asarray(_entries(d, leaf)) for leaf in line.slots[: line.arity]], made.formed


def _entries(d: Dice, leaf: Leaf) -> Any:
    if not leaf.is_field:
        return drawn(d.rng, leaf)
    if d.flag(0.3):
        return d.rng.integers(-2, 3, leaf.shape).astype(leaf.dtype)
    return d.rng.uniform(-1.5, 1.5, leaf.shape).astype(leaf.dtype)


# --- the laws ---


def agree(want: Sequence[Any], got: Sequence[Any], near: Sequence[Sequence[Any]] = (), eps: float = 1e-9) -> list[int]:
    """The outputs that differ by more than rounding, and than `near`, the values beside the point, differ."""
    bad = []
    for k, pair in enumerate(zip(want, got, strict=True)):
        a, b = map(np.asarray, pair)
        if a.shape != b.shape or a.dtype != b.dtype:
            bad.append(k)
        elif a.dtype.kind != "f":
            apart = np.asarray(a != b)
            for other in near:
                apart &= ~np.asarray(np.asarray(other[k]) != a)
            unsure = any(np.any(np.asarray(other[k]) != a) for other in near)
            if np.any(apart) and not unsure:
                bad.append(k)
        else:
            with np.errstate(all="ignore"):
                scale = np.nanmax(np.abs(a), initial=1.0, where=np.isfinite(a))
                moved = [np.abs(np.asarray(o[k], float) - a) for o in near]
                free = 100.0 * np.max(moved, axis=0, initial=0.0) if moved else 0.0
                apart = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= eps * scale + free))
                unsure = bool(moved) and not np.all(np.isfinite(free) | np.isnan(a) | np.isinf(a))
            if np.any(apart) and not unsure:
                bad.append(k)
    return bad


def dtypes(line: Line) -> Iterator[str]:
    """The dtypes of the arrays of a line, and of the lines within it."""
    for leaf in line.slots:
        for part in leaf.leaves if isinstance(leaf, Bundle) else (leaf,):
            yield part.dtype
    for step in line.steps:
        for inner in ("body", "then", "otherwise"):
            if hasattr(step.operation, inner):
                yield from dtypes(getattr(step.operation, inner))


def beside(line: Line, arrays: Sequence[Any], eps: float) -> list[list[Any]]:
    """The interpreter's values at points a few roundings away."""
    rng = np.random.default_rng(0)
    runner, made = Runner(line), []
    for k in (1.0, -1.0, 4.0):
        unit = k * (6e-7 if eps > 1e-6 else 2e-15)  # some roundings
        moved = [
            (a * (1 + unit * rng.uniform(0, 1, a.shape))).astype(a.dtype) if a.dtype.kind == "f" else a for a in arrays
        ]
        made.append(runner.run(moved))
    return made


def wrong(line: Line, arrays: Sequence[Any], **options: Any) -> list[int]:
    """The outputs of a line's machine code that are not those of the interpreter."""
    want = Runner(line).run([a.copy() for a in arrays])
    compiled = CompiledLine(line, **options)
    first = compiled(arrays)
    got = compiled(arrays)
    eps = 2e-4 if any(dtype == "float32" for dtype in dtypes(line)) else 1e-9
    bad = agree(want, got, eps=eps) or agree(want, first, eps=eps)
    if bad:
        near = beside(line, arrays, eps)
        bad = agree(want, got, near, eps) or agree(want, first, near, eps)
    return bad


@frozen
class Way:
    """A way to compile."""

    name: str
    options: dict[str, Any]


def ways() -> list[Way]:
    """The ways to compile: merged or not, each level, with vectors and fused multiplications or without."""
    plain, half = Target("x86-64", "+sse2"), Target("haswell", "+sse2,+avx,+avx2,+fma,+bmi,+bmi2")
    here = host()
    targets = [Way("sse2", {"target": plain})] if "+sse2" in here.features else []
    if "+avx2" in here.features and "+fma" in here.features:
        targets.append(Way("avx2", {"target": half}))
    levels = [Way(f"level {k}", {"level": k}) for k in (0, 1)]
    return [
        Way("merged", {}),
        Way("apart", {"merge": False}),
        *levels,
        *targets,
        Way("apart 0", {"merge": False, "level": 0}),
    ]


def culprit(line: Line, arrays: Sequence[Any], **options: Any) -> str:
    """The first slot whose own line is wrong, and that line."""
    for slot in range(line.arity, len(line.slots)):
        if isinstance(line.slots[slot], Bundle):
            continue
        part = line.ending((slot,))
        if wrong(part, arrays, **options):
            steps = [
                f"  {part.arity + k}: {s.operation!s:.300} {s.args} -> {part.slots[part.arity + k]}"
                for k, s in enumerate(part.steps)
            ]
            inputs = [f"  {k}: input {leaf}" for k, leaf in enumerate(part.slots[: part.arity])]
            return "\n".join([f"slot {slot}", *inputs, *steps])
    return "only all outputs together"


def kinds(line: Line) -> Iterator[str]:
    """The names of the operations of a line, and of the lines within it."""
    for step in line.steps:
        operation = step.operation
        yield type(getattr(operation, "relation", operation)).__name__
        for inner in ("body", "then", "otherwise"):
            if hasattr(operation, inner):
                yield from kinds(getattr(operation, inner))


def main(seed: int, count: int) -> int:
    """Run lines of so many seeds in every way; the number of those that differ."""
    failures, counts = 0, collections.Counter[str]()
    for k in range(seed, seed + count):
        line, arrays, _ = generated(k)
        counts.update(kinds(line))
        for way in ways()[:: 1 if k % 4 == 0 else 100]:
            try:
                bad = wrong(line, arrays, **way.options)
            except Exception as error:  # noqa: BLE001 - a crash is an answer
                print(f"seed {k}, {way.name}: {type(error).__name__}: {str(error)[:300]}", flush=True)  # noqa: T201
                failures += 1
                break
            if bad:
                failures += 1
                print(f"seed {k}, {way.name}: outputs {bad}\n{culprit(line, arrays, **way.options)}", flush=True)  # noqa: T201
                break
    print(dict(counts.most_common()), failures, "failures")  # noqa: T201
    return failures


if __name__ == "__main__":
    raise SystemExit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
