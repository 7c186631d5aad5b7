"""Contractions with truth values, which choose, and with elements of index sets, which take entries or put them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from diff.python_text.axis_text import aligned, behind, permuted, reshaped
from diff.python_text.expressions import Node, is_number, name, put, text, times
from diff.python_text.scope import Scope, Value, whole, zeros

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec


def discrete(scope: Scope, spec: Spec, left: Value, right: Value, leaf: Leaf) -> Value:
    """The contraction, where one operand holds truth values or elements of an index set."""
    for side, value in enumerate((left, right)):
        one, other = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
        x = right if side == 0 else left
        if value.leaf.entry.index is not None:
            return Hot(scope, spec, value, one, x, other, leaf).value()
        if value.leaf.kind == "b":
            return selected(spec, whole(value), one, x, other, leaf)
    raise TypeError(spec)


def selected(spec: Spec, mask: Node, labels: str, x: Value, others: str, leaf: Leaf) -> Value:
    """The entries of x where the mask holds, 0 elsewhere; then sums over contracted labels."""
    over = spec.out + spec.contracted
    is_short = not x.whole and is_number(x.node) and leaf.dtype == "float64" and set(labels) == set(over)
    value = x.node if is_short else aligned(whole(x), others, over)
    node = put("np.where({0}, {1}, 0.0)", aligned(mask, labels, over), value)
    if not leaf.shape and not over and not x.shape:
        node = put("{1} if {0} else 0.0", mask, value) if leaf.dtype == "float64" else node
    if spec.contracted:
        axes = tuple(range(len(spec.out), len(over)))
        node = put(f"{{0}}.sum(axis={axes[0] if len(axes) == 1 else axes})", node)
    return Value(node, leaf)


class Hot:
    """An element of X as its basis vector: a gather along the other operand's axes of X, or entries put along Y."""

    def __init__(self, scope: Scope, spec: Spec, index: Value, labels: str, x: Value, others: str, leaf: Leaf) -> None:
        self.scope, self.spec, self.index, self.x, self.others, self.leaf = scope, spec, index, x, others, leaf
        n = len(index.shape)
        self.free, self.hot = labels[:n], labels[n:]
        entry = index.leaf.entry
        self.size = dict(zip(labels, (*index.shape, *entry.shape), strict=True))
        self.size |= dict(zip(others, x.shape, strict=True))
        self.count = math.prod(entry.shape)

    def value(self) -> Value:
        """The contraction as text."""
        if all(c in self.others and c not in self.spec.out for c in self.hot):
            return self._taken()
        if not set(self.hot) & set(self.others):
            return self._one_hot() if self._is_constant else self._placed()
        return self._by_mask()

    @property
    def _is_constant(self) -> bool:
        return is_number(self.x.node) and set(self.others) <= set(self.free) and set(self.free) <= set(self.spec.out)

    def _sizes(self, labels: str) -> tuple[int, ...]:
        return tuple(self.size[c] for c in labels)

    def _in_order(self, node: Node, have: str) -> Value:
        """The result from an array with labels, of which those that the result lacks are summed."""
        summed = tuple(k for k, c in enumerate(have) if c not in self.spec.out)
        if summed:
            node = put(f"{{0}}.sum(axis={summed[0] if len(summed) == 1 else summed})", node)
        kept = "".join(c for c in have if c in self.spec.out)
        return Value(permuted(node, [kept.index(c) for c in self.spec.out]), self.leaf)

    def _taken(self) -> Value:
        """out[…] = x[…, i, …]."""
        zipped = "".join(c for c in self.free if c in self.others)
        alone = "".join(c for c in self.free if c not in self.others)
        rest = "".join(c for c in self.others if c not in zipped + self.hot)
        x, i = whole(self.x), self.scope.light(self.index, "i", 1).node
        if not zipped and self.hot in self.others:
            at = self.others.index(self.hot)
            before, after = self.others[:at], self.others[at + len(self.hot) :]
            sizes = (*self._sizes(before), self.count, *self._sizes(after))
            x = reshaped(x, self.x.shape, sizes)
            made = put(f"{{0}}[{behind(at, '{1}')}]", x, i)
            return self._in_order(made, before + self.free + after)
        have = zipped + self.hot + rest
        x = permuted(x, [self.others.index(c) for c in have])
        x = reshaped(x, self._sizes(have), (*self._sizes(zipped), self.count, *self._sizes(rest)))
        i = permuted(i, [self.free.index(c) for c in zipped + alone])
        made = put(f"{{0}}[{', '.join([*self._grids(zipped, zipped + alone), '{1}'])}]", x, i)
        return self._in_order(made, zipped + alone + rest)

    def _grids(self, labels: str, over: str) -> list[str]:
        """Index arrays of all places along some axes, which broadcast over more."""
        found = []
        for k, c in enumerate(over):
            if c in labels:
                more = ", None" * (len(over) - k - 1)
                found.append(f"np.arange({self.size[c]})" + (f"[:{more}]" if more else ""))
        return found

    def _one_hot(self) -> Value:
        """Rows of the identity matrix."""
        i, kind = self.index.node, "" if self.leaf.dtype == "float64" else ", dtype=np.float32"
        made = put(f"np.eye({self.count}{kind})[{{0}}]", i)
        if text(self.x.node) != "1.0":
            made = times(self.x.node, made)
        made = reshaped(made, (*self._sizes(self.free), self.count), self._sizes(self.free + self.hot))
        return self._in_order(made, self.free + self.hot)

    def _placed(self) -> Value:
        """out[…, i, …] += x."""
        kept = "".join(c for c in self.free if c in self.spec.out)
        summed = "".join(c for c in self.free if c not in kept)
        rest = "".join(c for c in self.others if c not in self.free)
        word = self.scope.page.fresh("y")
        sizes = (*self._sizes(kept), self.count, *self._sizes(rest))
        self.scope.put(f"{word} = {zeros(sizes, self.leaf)}")
        i = permuted(whole(self.index), [self.free.index(c) for c in kept + summed])
        index = ", ".join([*self._grids(kept, kept + summed), text(i)])
        x = text(aligned(whole(self.x), self.others, kept + summed + rest))
        if summed and self.size:
            self.scope.put(f"np.add.at({word}, {index if not kept else f'({index})'}, {x})")
        else:
            self.scope.put(f"{word}[{index}] = {x}")
        have = kept + self.hot + rest
        return self._in_order(reshaped(name(word), sizes, self._sizes(have)), have)

    def _by_mask(self) -> Value:
        """The entries at the places of the mask of the basis vector."""
        n = len(self.free)
        more = "[..., None]" if n else ""
        mask = put(f"{{0}}{more} == np.arange({self.count})", self.scope.light(self.index, "i").node)
        labels = self.free + self.hot
        if len(self.hot) != 1:
            mask = reshaped(mask, (*self.index.shape, self.count), self._sizes(labels))
        return selected(self.spec, mask, labels, self.x, self.others, self.leaf)
