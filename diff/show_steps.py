"""The steps of a program as text: what is short stands in place, what is long or read twice gets a line of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

from attrs import Factory, field, frozen

from diff.elementwise import AnyElementwise, Elementwise
from diff.programs import AnyProgram
from diff.show_indexed import Indexed, along, at, braced, free, is_rep, missing, reads_all
from hilbert.program.operation import Add, Contract, Literal
from hilbert.program.operation import labelled as axes_of
from linmap.show.show import SHORT, Names, path, reduction, subscript, transposed
from linmap.signs import sign_of
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


SUM, PRODUCT, APPLICATION, ATOM = range(4)
"""How tightly a text binds."""


@final
@frozen
class Text:
    """The text of a slot: how tightly it binds, and what a product must know to set brackets.

    `wide` is a sum with spaces, for a line of its own; `sign` is the operation of a product; an `open` text ends in an
    application without brackets, like sin x, which a product must not follow. A multiple −2·x has the `coefficient` −2
    and the `rest` x, so that a product of multiples begins with its numbers.
    """

    tight: str
    binding: int
    sign: str = ""
    open: bool = False
    coefficient: str = ""
    rest: str = ""
    wide: str = field(default=Factory(lambda text: text.tight, takes_self=True))


def heads(p: AnyProgram) -> tuple[str, ...]:
    """The names of the arguments, digits at the end as subscripts."""
    parts = p.dom.parts
    if p.names:
        return tuple(_subscripted(name) for name in p.names)
    return ("x",) if len(parts) == 1 else tuple(f"x{subscript(k + 1)}" for k in range(len(parts)))


def _subscripted(name: str) -> str:
    stem = name.rstrip("0123456789")
    return stem + subscript(int(name[len(stem) :])) if stem and stem != name else name


def leaf_names(p: AnyProgram) -> list[str]:
    """The names of the leaves of the argument."""
    names = heads(p)
    parts = p.dom.parts if len(names) == len(p.dom.parts) else (p.dom,)
    pairs = zip(names, parts, strict=True)
    return [head + "".join(subscript(k + 1) for k in way) for head, part in pairs for way in path(part)]


class _Texts(dict[int, "Text"]):
    """The texts of slots, and which of them were looked at."""

    def __init__(self, texts: Iterable[tuple[int, Text]], seen: set[int] | None = None) -> None:
        super().__init__(texts)
        self.seen: set[int] = set() if seen is None else seen

    def __getitem__(self, k: int) -> Text:
        self.seen.add(k)
        return super().__getitem__(k)


class Slots:
    """The texts of a program's slots, as far as `roots` need them; long ones get a name, unless they are `results`.

    They are written twice: at first to see which slots the texts of others mention, since tanh'(x) is computed from
    tanh x but does not show it.
    """

    def __init__(self, p: AnyProgram, names: Names, roots: Iterable[int], results: Sequence[int] = ()) -> None:
        self.p, self.names, self.arity = p, Names(page=names.page), p.arity
        roots = set(roots)
        self.data = roots.difference(results)
        needed = self._needed(roots, {k: step.args for k, step in enumerate(p.steps, p.arity)})
        self.odd = self._odd(needed)
        mentions = self._write(needed, set())
        needed = self._needed(roots, mentions)
        inner = {a for k in needed if k >= self.arity for a in mentions[k]}
        self.names = names
        self._write(needed, roots.intersection(results) - inner)

    def _odd(self, needed: set[int]) -> set[int]:
        """The steps that are not read as they act: see `diff.show_indexed`."""
        p, odd = self.p, set[int]()
        shown = {k: p.slots[k].axes for k in range(self.arity)}  # the axes that a text is read to have
        for k in sorted(k for k in needed if k >= self.arity):
            step, axes = p.steps[k - self.arity], p.slots[k].axes
            given = [shown.get(a, p.slots[a].axes) for a in step.args]
            longest = max(given, key=len, default=axes)
            if is_rep(step.operation):
                shown[k], fits = given[0], getattr(step.operation, "at", 0) == 0
            elif isinstance(step.operation, wire.Scale):  # k·rep a is rep (k·a)
                shown[k], fits = given[0], True
            elif isinstance(step.operation, (Add, Elementwise)):
                shown[k], fits = axes, longest == axes and all(axes[len(axes) - len(g) :] == g for g in given)
            else:
                shown[k], fits = axes, given == [p.slots[a].axes for a in step.args]
            if not fits or not reads_all(step.operation, [p.slots[a] for a in step.args]):
                odd.add(k)
        return odd

    def _needed(self, roots: set[int], below: Mapping[int, Iterable[int]]) -> set[int]:
        """The slots that are reached from the roots."""
        needed = set(roots)
        for k in range(len(self.p.slots) - 1, self.arity - 1, -1):
            if k in needed:
                needed.update(below[k])
        return needed

    def _write(self, needed: set[int], whole: set[int]) -> dict[int, set[int]]:
        """Make the texts of some slots; the result says which others each of them mentions."""
        self.texts = _Texts((k, Text(name, ATOM)) for k, name in enumerate(leaf_names(self.p)))
        self.entries = Entries(self)
        self.lines: list[str] = []
        self.whole: dict[int, Text] = {}
        mentions: dict[int, set[int]] = {}
        only = set[int]()  # slots that have a text entry by entry, and no other
        for k in sorted(k for k in needed if k >= self.arity):
            self.texts.seen = mentions[k] = set()
            plain = k not in self.odd and not only.intersection(self.p.steps[k - self.arity].args)
            entry = self.entries.of(k) if self.odd else None
            text = self._step(k) if plain or entry is None else entry
            if (len(text.tight) > SHORT and not self._trivial(k)) or (not plain and k in self.data | whole):
                if not plain:
                    wide = self.entries.head(text.wide, k, ranges=k not in whole)
                    text = Text(wide, SUM, wide=wide)
                if k in whole:
                    self.whole[k] = text
                    continue
                name = self.names.fresh("u")
                self.lines.append(f"where {name} = {text.wide}")
                text, plain = Text(name, ATOM), True
                entry = self.entries.named(k, name)
            if plain:
                self.texts[k] = text
            else:
                only.add(k)
            if entry is not None:
                self.entries.texts[k] = entry
        return mentions

    def _trivial(self, k: int) -> bool:
        operation = self._operation(k)
        return isinstance(operation, Literal) or is_rep(operation)

    def result(self, k: int) -> Text:
        """The text of a result: its definition, or the name of what others read too."""
        return self.whole.get(k) or self.texts.get(k) or Text(self.entries.head(self.entries.texts[k].wide, k), SUM)

    def datum(self, k: int) -> str:
        """The text of a slot inside a section: a sum is bracketed."""
        text = self.texts[k]
        return f"({text.tight})" if text.sign == "+" else text.tight

    def _bound(self, k: int, binding: int) -> str:
        text = self.texts[k]
        return text.tight if text.binding >= binding else f"({text.tight})"

    def _factor(self, k: int, sign: str, *, last: bool = False) -> str:
        """An operand of a product: only products of numbers, entry by entry, are set without brackets in each other."""
        text = self.texts[k]
        plain = text.binding > PRODUCT or (text.binding == PRODUCT and text.sign == sign == "·")
        return text.tight if plain and (last or not text.open) else f"({text.tight})"

    def _operation(self, k: int) -> Any:
        return self.p.steps[k - self.arity].operation if k >= self.arity else None

    def _argument(self, k: int) -> int:
        """The operand of a step with one."""
        return self.p.steps[k - self.arity].args[0]

    def _multiple(self, k: float, x: int) -> Text:
        """k·x."""
        if k != -1.0 and getattr(self._operation(x), "name", "") == "reciprocal" and self.texts[x].sign == "/":
            text = f"{self.names.number(k)} / {self._bound(self._argument(x), APPLICATION)}"
            return Text(text, SUM if k < 0 else PRODUCT, "/", open=True)
        inner = self.texts[x]
        front = self.names.number(k) if k != -1.0 else "−"
        if inner.coefficient:
            return _times(front, inner.coefficient, inner.rest, is_open=inner.open)
        rest = self._factor(x, "·", last=True)
        if k == -1.0 and inner.binding == PRODUCT:  # −a⋆b needs no brackets
            return Text(f"−{inner.tight}", SUM, "", inner.open, "−", rest)
        return _times(front, "", rest, is_open=inner.open and not rest.endswith(")"))

    def _product(self, left: int, right: int) -> Text:
        """left · right, with the coefficients of both in front."""
        a, b = self.texts[left], self.texts[right]
        first = (f"({a.rest})" if a.open else a.rest) if a.coefficient else self._factor(left, "·")
        last = b.rest if b.coefficient else self._factor(right, "·", last=True)
        is_open = b.open and not last.endswith(")")
        return _times(a.coefficient, b.coefficient, f"{first}·{last}", is_open=is_open)

    def _step(self, k: int) -> Text:
        step = self.p.steps[k - self.arity]
        args = step.args
        match step.operation:
            case Literal(value):
                text = self.names.const(value)
                return Text(text, SUM if text.startswith("−") else ATOM)
            case Elementwise() as p:
                return self._elementwise(p, args)
            case Contract(spec):
                return self._contract(spec, *args)
            case Add():
                return self._sum(*args)
            case wire.Scale(factor):
                return self._multiple(factor, args[0])
            case wire.Reduce(relation, _) as operation:
                if is_rep(operation):
                    return self.texts[args[0]]
                inner = self.texts[args[0]]
                closed = inner.binding == APPLICATION and not inner.open
                text = inner.tight if closed else self._bound(args[0], ATOM)
                return Text(f"{reduction(relation, self.names)} {text}", APPLICATION, open=True)
            case wire.Move():
                return Text(transposed(self._bound(args[0], ATOM)), ATOM)
            case wire.Cast():
                return Text(f"cast {self._bound(args[0], ATOM)}", APPLICATION, open=True)
            case never:
                assert_never(never)

    def _sum(self, left: int, right: int) -> Text:
        a, b, sign = self.texts[left], self.texts[right], "+"
        if a.tight.startswith("−") and a.sign != "+" and not b.tight.startswith("−"):
            a, b = b, a
        if b.tight.startswith("−"):
            b, sign = Text(b.tight[1:], PRODUCT, wide=b.wide[1:]), "−"
        return Text(f"{a.tight}{sign}{b.tight}", SUM, "+", wide=f"{a.wide} {sign} {b.wide}")

    def _elementwise(self, p: AnyElementwise, args: tuple[int, ...]) -> Text:
        name = p.rule.text
        if len(args) == 2:
            x, y = args
            if name in {">", "≥", "<", "≤", "∧", "∨"}:
                return Text(f"{self._bound(x, PRODUCT)} {name} {self._bound(y, PRODUCT)}", SUM, name)
            if name == "/":
                return self._quotient(x, y)
            return Text(f"{name}({self.texts[x].tight}, {self.texts[y].tight})", APPLICATION)
        (x,) = args
        if p.name == "reciprocal":
            return Text(f"1/{self._bound(x, APPLICATION)}", PRODUCT, "/", open=True)
        if p.name == "square":
            return Text(f"{self._bound(x, ATOM)}²", ATOM)
        if p.name == "power":
            return Text(f"{self._bound(x, ATOM)}^{self.names.number(p.params[0])}", ATOM)
        if p.name == "absolute":
            return Text(f"|{self.texts[x].tight}|", ATOM)
        if name.endswith("'"):  # a derivative in terms of the value: shown in terms of the argument
            inner = self._operation(x)
            if isinstance(inner, Elementwise) and inner.name == p.name[:-1]:
                return Text(f"{inner.rule.text}'({self.texts[self._argument(x)].tight})", ATOM)
            return Text(f"({name}∘{p.name[:-1]}⁻¹)({self.texts[x].tight})", ATOM)
        text = self.texts[x]
        if text.binding < ATOM or text.tight.startswith("("):
            return Text(f"{name}({text.tight})", APPLICATION)
        return Text(f"{name}{'' if name == '√' else ' '}{text.tight}", APPLICATION, open=True)

    def _quotient(self, above: int, below: int) -> Text:
        return Text(f"{self._bound(above, PRODUCT)} / {self._bound(below, APPLICATION)}", PRODUCT, "/", open=True)

    def _contract(self, spec: Any, left: int, right: int) -> Text:
        for this, other in ((left, right), (right, left)):
            entry = self.p.slots[this].entry
            if entry.dtype == "bool":
                return Text(f"{self._bound(other, ATOM)}[{self.texts[this].tight}]", ATOM)
            if entry.index is not None:
                one = self._operation(other)
                if isinstance(one, Literal) and one.value.number == 1.0:
                    return Text(f"e[{self.texts[this].tight}]", ATOM)
                hot, labels = (spec.left, spec.right) if this == left else (spec.right, spec.left)
                if hot[-1:] not in labels:  # a scatter: the elements' axes are in the result
                    if spec.contracted:
                        return Text(f"e[{self.texts[this].tight}]ᵀ⋆{self._bound(other, ATOM)}", PRODUCT, "⋆")
                    return Text(f"{self._bound(other, PRODUCT)}·e[{self.texts[this].tight}]", PRODUCT, "·")
                return Text(f"{self._bound(other, ATOM)}[{self.texts[this].tight}]", ATOM)
        sign, flip_left, flip_right, swapped = sign_of(spec)
        if sign == "·":
            for this, other in ((left, right), (right, left)):
                if getattr(self._operation(other), "name", "") == "reciprocal":
                    return self._quotient(this, self._argument(other))
            return self._product(left, right)
        a = transposed(self._bound(left, ATOM)) if flip_left else self._factor(left, sign, last=swapped)
        b = transposed(self._bound(right, ATOM)) if flip_right else self._factor(right, sign, last=not swapped)
        first, second, last = (b, a, left) if swapped else (a, b, right)
        return Text(f"{first}{sign}{second}", PRODUCT, sign, self.texts[last].open and not second.endswith(")"))


def _times(a: str, b: str, rest: str, *, is_open: bool) -> Text:
    """The product of two coefficients and a text."""
    minus = "−" if a.startswith("−") != b.startswith("−") else ""
    numbers = [k for k in (a.removeprefix("−"), b.removeprefix("−")) if k]
    text = minus + "·".join([*numbers, rest])
    coefficient = minus + "·".join(numbers)
    return Text(text, SUM if minus else PRODUCT, "" if minus else "·", is_open, coefficient, rest)


class Entries:
    """The texts of slots entry by entry, of the same form as those of whole arrays, with indices in them."""

    def __init__(self, slots: Slots) -> None:
        self.slots, self.indexed = slots, Indexed(slots.names)
        self.texts = _Texts(((k, self.named(k, t.tight)) for k, t in slots.texts.items()), slots.texts.seen)

    def named(self, k: int, name: str) -> Text:
        """An entry of what has a name."""
        axes = self.slots.p.slots[k].axes
        return Text(f"{name}[{', '.join(free(range(len(axes))))}]" if axes else name, ATOM)

    def head(self, text: str, k: int, *, ranges: bool = False) -> str:
        """[i, j] ↦ text."""
        return self.indexed.head(text, self.slots.p.slots[k].axes, ranges=ranges)

    def of(self, k: int) -> Text:
        """The text of the step into a slot."""
        slots = self.slots
        self.texts.seen = slots.texts.seen
        whole, slots.texts = slots.texts, self.texts
        try:
            return self._step(k)
        finally:
            slots.texts = whole

    def _step(self, k: int) -> Text:
        slots = self.slots
        step = slots.p.steps[k - slots.arity]
        match step.operation:
            case Literal(value):
                text = slots.names.const(value)
                named = self.named(k, text)
                return Text(text, SUM if text.startswith("−") else ATOM) if _is_number(text) else named
            case wire.Reduce(relation, place):
                return self._reduced(step.args[0], relation, place, repeated=is_rep(step.operation))
            case wire.Move(order):
                moved = at(self._whole(step.args[0]), {0xE000 + a: chr(0xE000 + b) for b, a in enumerate(order)})
                return Text(f"{moved.tight if moved.tight.endswith(']') else f'({moved.tight})'}ᵀ", ATOM)
            case Contract(spec):
                return self._contracted(k, spec, *step.args)
            case wire.Scale():
                return slots._step(k)
            case _:  # element by element
                return self._entrywise(k, step.args)

    def _whole(self, a: int, among: Sequence[int] = ()) -> Text:
        """The text of an operand, in which every axis is seen that is not seen in the others."""
        text, count = self.texts[a], len(self.slots.p.slots[a].axes)
        unseen = set(missing(text.tight, count))
        for other in among:
            unseen.intersection_update(missing(self.texts[other].tight, count))
        if not unseen or isinstance(self.slots._operation(a), Literal):
            return text
        return Text(f"rep_{braced(free(sorted(unseen)))}({text.tight})", ATOM)

    def _entrywise(self, k: int, args: tuple[int, ...]) -> Text:
        first = next((a for a in args if not isinstance(self.slots._operation(a), Literal)), None)
        if first is None:
            return self.slots._step(k)
        before = self.texts[first]
        self.texts[first] = self._whole(first, [a for a in args if a != first])
        try:
            return self.slots._step(k)
        finally:
            self.texts[first] = before

    def _reduced(self, a: int, relation: Any, place: int, *, repeated: bool) -> Text:
        slots = self.slots
        n, m = len(relation.dom.axes), len(relation.cod.axes)
        count = len(slots.p.slots[a].axes)
        shifted = {0xE000 + q: chr(0xE000 + q + m - n) for q in range(place + n, count)}
        if repeated:
            inner = slots._operation(a)
            plain = m == 1 and not (is_rep(inner) and getattr(inner, "at", 0) < place)
            text = at(self.texts[a], shifted)
            return text if plain else Text(f"rep_{braced(free(range(place, place + m)))}({text.tight})", ATOM)
        bound = [self.indexed.bind(axis) for axis in relation.dom.axes]
        text = at(self._whole(a), shifted | {0xE000 + place + q: c for q, c in enumerate(bound)})
        name = reduction(relation, slots.names)
        if m == 0 and name == "Σ":
            body = text.tight if text.binding > PRODUCT else f"({text.tight})"
            return Text(f"Σ_{braced(bound)} {body}", PRODUCT, "Σ")
        return Text(f"{name}_{braced(bound)}({text.tight})[{', '.join(free(range(place, place + m)))}]", ATOM)

    def _contracted(self, k: int, spec: Any, left: int, right: int) -> Text:
        """Σ_k a[i, k]·b[k, j]; an element of an index set stands for its basis vector e, a condition for 1 and 0."""
        slots, p = self.slots, self.slots.p
        known = {c: chr(0xE000 + q) for q, c in enumerate(spec.out)}
        sizes = {c: axis for a, labels in ((left, spec.left), (right, spec.right))
                 for c, axis in zip(labels, axes_of(p.slots[a]), strict=True)}  # fmt: skip
        summed = [c for c in spec.left if c not in spec.out]
        known |= {c: self.indexed.bind(sizes[c]) for c in summed}
        factors = []
        for a, labels in ((left, spec.left), (right, spec.right)):
            leaf = p.slots[a]
            text = at(self._whole(a), along(labels[: len(leaf.axes)], known))
            if leaf.entry.index is not None:
                text = Text(f"e[{text.tight}][{', '.join(known[c] for c in labels[len(leaf.axes) :])}]", ATOM)
            elif not leaf.is_field:
                text = Text(f"[{text.tight}]", ATOM)
            factors.append(text)
        bound = "".join(known[c] for c in summed)
        if left == right and spec.left == spec.right and (norm := _norm(factors[0].tight, bound)):
            return Text(f"‖{norm}‖²", ATOM)
        self.texts |= {-1: factors[0], -2: factors[1]}
        product = slots._product(-1, -2)
        if not summed:
            return product
        return Text(f"Σ_{braced(bound)} {product.tight}", PRODUCT, "Σ")


def _norm(text: str, bound: str) -> str:
    """‖xs[i]−xs[j]‖² for the sum of squares over the last axes of all that stands in a text; else nothing."""
    if not bound:
        return ""
    tail = ", ".join(bound)
    short = text.replace(f", {tail}]", "]").replace(f"[{tail}]", "")
    return "" if any(c in short for c in bound) else short


def _is_number(text: str) -> bool:
    return text.lstrip("−")[:1].isdigit() or text.lstrip("−") in {"inf", "nan"}
