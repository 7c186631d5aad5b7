"""The steps of a program as text, entry by entry: see `diff.printing.show_indexed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

from diff.printing.index_places import padded, place_in
from diff.printing.show_indexed import FREE, Indexed, along, at, braced, free, is_renaming, is_rep, missing
from diff.printing.slot_text import ATOM, PRODUCT, SUM, SlotTexts, Text, Texts
from diff.terms.elementwise import Elementwise
from diff.terms.user_operation import Custom, Masks
from hilbert import Unit
from hilbert.index.leaf import Bundle
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal
from hilbert.program.line.operation import labelled as axes_of
from hilbert.relation import Converse, Graph, Inclusion
from linmap.printing.notation import subscript
from linmap.printing.relation_text import formula, reduction
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.terms.program import Operation
    from hilbert import Index


@final
class Entries:
    """The texts of slots entry by entry, of the same form as those of whole arrays, with indices in them."""

    def __init__(self, slots: SlotTexts) -> None:
        self.slots, self.indexed = slots, Indexed(slots.names)
        self.texts = Texts(((k, self.named(k, slots.bound(k, ATOM))) for k in slots.texts), slots.texts.seen)

    def named(self, k: int, name: str) -> Text:
        """The text of an entry of a slot that has a name."""
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
        operation: Operation = step.operation
        match operation:
            case Literal(value):
                text = slots.names.const(value)
                named = self.named(k, text)
                return Text(text, SUM if text.startswith("−") else ATOM) if _is_number(text) else named
            case wire.Reduce(relation, place):
                if is_renaming(operation):
                    return self._whole(step.args[0])
                return self._reduced(step.args[0], relation, place, repeated=is_rep(operation))
            case Along(name, index, place):
                return self._along(step.args[0], name, index, place)
            case wire.Move(order):
                return at(self._whole(step.args[0]), {FREE + a: chr(FREE + b) for b, a in enumerate(order)})
            case Contract(spec):
                return self._contracted(k, spec, *step.args)
            case wire.Scale():
                return slots.step(k)
            case Custom() as custom:
                return self._applied(k, custom.name, custom.n, custom.masks, step.args)
            case wire.External() as own:
                return self._applied(k, own.name, own.n, ((True,) * own.n,), step.args)
            case Unpack(part) if isinstance(custom := slots.operation(step.args[0]), Custom):
                text = f"π{subscript(part + 1)} {self.texts[step.args[0]].tight}"
                return Text(text + self._own(k, custom.n), ATOM)
            case (
                Elementwise()
                | Add()
                | Keep()
                | Cast()
                | Choose()
                | Fill()
                | AnyLane()
                | Pack()
                | Unpack()
                | ControlFlow()
            ):
                return self._entrywise(k, self.slots.read(k))
            case _:
                assert_never(operation)

    def _whole(self, a: int, among: Sequence[int] = ()) -> Text:
        """The text of an operand, in which every axis is seen that is not seen in the others."""
        text, count = self.texts[a], len(self.slots.p.slots[a].axes)
        unseen = set(missing(text.tight, count))
        for other in among:
            unseen.intersection_update(missing(self.texts[other].tight, count))
        if not unseen or isinstance(self.slots.operation(a), Literal):
            return text
        return Text(f"rep_{braced(free(sorted(unseen)))}({text.tight})", ATOM)

    def _entrywise(self, k: int, args: tuple[int, ...]) -> Text:
        first = next((a for a in args if not isinstance(self.slots.operation(a), Literal)), None)
        if first is None:
            return self.slots.step(k)
        before = self.texts[first]
        self.texts[first] = self._whole(first, [a for a in args if a != first])
        try:
            return self.slots.step(k)
        finally:
            self.texts[first] = before

    def _reduced(self, a: int, relation: Any, place: int, *, repeated: bool) -> Text:
        slots = self.slots
        n, m = len(relation.dom.axes), len(relation.cod.axes)
        count = len(slots.p.slots[a].axes)
        shifted = {FREE + q: chr(FREE + q + m - n) for q in range(place + n, count)}
        if repeated:
            inner = slots.operation(a)
            plain = m == 1 and not (is_rep(inner) and getattr(inner, "at", 0) < place)
            text = at(self.texts[a], shifted)
            return text if plain else Text(f"rep_{braced(free(range(place, place + m)))}({text.tight})", ATOM)
        if n == 1 and (place_of := self._picked(relation, place)):
            return at(self.texts[a], shifted | {FREE + place: place_of})
        if pad := padded(relation, chr(FREE + place)):
            inside, place_of = pad
            inner = at(self.texts[a], shifted | {FREE + place: place_of})
            if not inside:
                return inner
            factor = f"({inner.tight})" if inner.binding < PRODUCT or inner.sign == "/" else inner.tight
            return Text(f"{inside}{factor}", PRODUCT, "·", open=inner.open and not factor.endswith(")"))
        bound = [self.indexed.bind(axis) for axis in relation.dom.axes]
        text = at(self._whole(a), shifted | {FREE + place + q: c for q, c in enumerate(bound)})
        name = reduction(relation, slots.names)
        if m == 0 and name == "Σ":
            body = text.tight if text.binding > PRODUCT else f"({text.tight})"
            return Text(f"Σ_{braced(bound)} {body}", PRODUCT, "Σ")
        of = f"_{braced(bound)}" if bound else ""  # an injection is of what has no such axis
        return Text(f"{name}{of}({text.tight})[{', '.join(free(range(place, place + m)))}]", ATOM)

    def _picked(self, relation: Any, place: int) -> str:
        """The index at the one axis of a relation that takes an entry for each index: 2, or f(i); else nothing."""
        match relation:
            case Converse(Inclusion(Unit(), _, offset)):
                return str(offset)
            case Converse(Graph() as table):
                indices = free(range(place, place + len(relation.cod.axes)))
                return f"{formula(table, self.slots.names)}({', '.join(indices)})"
            case _:  # others are sums, or take entries of several axes
                return place_in(relation, chr(FREE + place))

    def _along(self, a: int, name: str, index: Index, place: int) -> Text:
        """softmax_k(x[i, k])[j]."""
        n, count = len(index.axes), len(self.slots.p.slots[a].axes)
        bound = [self.indexed.bind(axis) for axis in index.axes]
        one = name not in {"softmax", "log_softmax", "argsort"}
        table = {FREE + place + q: c for q, c in enumerate(bound)}
        if one:
            table |= {FREE + q: chr(FREE + q - n) for q in range(place + n, count)}
        text = at(self._whole(a), table)
        entry = "" if one else f"[{', '.join(free(range(place, place + n)))}]"
        return Text(f"{name}_{braced(bound)}({text.tight}){entry}", ATOM)

    def _contracted(self, k: int, spec: Any, left: int, right: int) -> Text:
        """Σ_k a[i, k]·b[k, j]; an element of an index set stands for its basis vector e, a condition for 1 and 0."""
        slots, p = self.slots, self.slots.p
        known = {c: chr(FREE + q) for q, c in enumerate(spec.out)}
        sizes = {c: axis for a, labels in ((left, spec.left), (right, spec.right))
                 for c, axis in zip(labels, axes_of(p.slots[a]), strict=True)}  # fmt: skip
        summed = [c for c in spec.left if c not in spec.out]
        known |= {c: self.indexed.bind(sizes[c]) for c in summed}
        for a, labels, other, row in ((left, spec.left, right, spec.right), (right, spec.right, left, spec.left)):
            one_hot = labels[len(p.slots[a].axes) :]  # behind the axes, the labels of an element's basis vector
            if len(one_hot) == 1 and one_hot in summed and len(summed) == 1 and one_hot in row:  # A[i, y[i]]
                element = at(self._whole(a), along(labels[:-1], known)).tight
                return at(self._whole(other), along(row, known | {one_hot: element}))
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
        self.texts |= {-1: factors[0], -2: factors[1]}  # slots that no step has, for `product` to read
        is_square = left == right and spec.left == spec.right and p.slots[left].is_field
        product = Text(f"{slots.base(-1)}²", ATOM) if is_square and summed else slots.product(-1, -2)
        if not summed:
            return product
        return Text(f"Σ_{braced(bound)} {product.tight}", PRODUCT, "Σ")

    def _applied(self, k: int, called: str, n: int, masks: Masks, args: Sequence[int]) -> Text:
        """solve(A[·, ·], b[i, ·])[j]: where an argument has an index in front, and all of its own axes."""
        texts = []
        for a, mask in zip(args, masks or ((),) * len(args), strict=True):
            front = [chr(FREE + q) for q, has in enumerate(mask) if has]
            count = len(self.slots.p.slots[a].axes)
            table = {FREE + q: c for q, c in enumerate([*front, *"·" * (count - len(front))])}
            texts.append(at(self._whole(a), table).tight)
        text = f"{called}({', '.join(texts)})"
        return Text(text if isinstance(self.slots.p.slots[k], Bundle) else text + self._own(k, n), ATOM)

    def _own(self, k: int, n: int) -> str:
        """[j] for the axes of a result behind those in front."""
        own = free(range(n, len(self.slots.p.slots[k].axes)))
        return f"[{', '.join(own)}]" if own else ""


def _norm(text: str, bound: str) -> str:
    """‖xs[i]−xs[j]‖² for the sum of squares over the last axes of all that stands in a text; else nothing."""
    if not bound:
        return ""
    tail = ", ".join(bound)
    short = text.replace(f", {tail}]", "]").replace(f"[{tail}]", "")
    return "" if any(c in short for c in bound) else short


def _is_number(text: str) -> bool:
    return text.lstrip("−")[:1].isdigit() or text.lstrip("−") in {"inf", "nan"}
