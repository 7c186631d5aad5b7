"""The steps of a program as text: short ones stand in place; one that is long or read twice gets a line of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, assert_never

from diff.printing.program_names import leaf_names
from diff.printing.show_control import held
from diff.printing.show_entries import Entries
from diff.printing.show_indexed import is_renaming, is_rep, reads_all
from diff.printing.slot_text import APPLICATION, ATOM, PRODUCT, SUM, Text, Texts, bracketed
from diff.terms.elementwise import AnyElementwise, Elementwise
from diff.terms.program import AnyProgram
from diff.terms.user_operation import Custom
from hilbert.program.control.branch import Cond
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.operation import Add, Along, Contract, Keep, Literal
from linmap.printing.notation import subscript
from linmap.printing.relation_text import reduction
from linmap.printing.section_text import transposed
from linmap.printing.text_names import SHORT, Names
from linmap.signs import sign_of
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


RAISED = re.compile(r"(²|\^[−\w.]+)$")
"""An exponent at the end of a text."""
HELD = (Pack, Unpack, Loop, While, Cond, Implicit, Solve, Choose, AnyLane, Fill)
"""Steps whose operands have a text as a whole."""


class Slots:
    """The texts of a program's slots, as far as `roots` need them; long ones get a name, unless they are `results`.

    They are written twice: at first to see which slots the texts of others mention, since tanh'(x) is computed from
    tanh x but does not show it. What a step with a body mentions is what it is given: that body is written once.
    """

    def __init__(
        self,
        p: AnyProgram,
        names: Names,
        roots: Iterable[int],
        results: Sequence[int] = (),
        given: Sequence[Text] | None = None,
    ) -> None:
        self.arguments = [Text(name, ATOM) for name in leaf_names(p)] if given is None else given
        self.p, self.names, self.arity = p, Names(page=names.page), p.arity
        roots = set(roots)
        self.data = roots.difference(results)
        needed = self._needed(roots, {k: step.args for k, step in enumerate(p.steps, p.arity)})
        held = (step for k, step in enumerate(p.steps, p.arity) if k in needed and isinstance(step.operation, HELD))
        self.data.update(a for step in held for a in step.args)
        self.odd = self._odd(needed)
        self.final = False
        mentions = self._write(needed, set())
        needed = self._needed(roots, mentions)
        inner = {a for k in needed if k >= self.arity for a in mentions[k]}
        self.names, self.final = names, True
        self._write(needed, roots.intersection(results) - inner)

    def _odd(self, needed: set[int]) -> set[int]:
        """The steps that are not read as they act: see `diff.printing.show_indexed`."""
        p, odd = self.p, set[int]()
        shown = {k: p.slots[k].axes for k in range(self.arity)}  # the axes that a text is read to have
        for k in sorted(k for k in needed if k >= self.arity):
            step, axes = p.steps[k - self.arity], p.slots[k].axes
            given = [shown.get(a, p.slots[a].axes) for a in step.args]
            longest = max(given, key=len, default=axes)
            if isinstance(step.operation, HELD):
                shown[k], fits = axes, True
            elif is_rep(step.operation):
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
        self.texts = Texts(enumerate(self.arguments))
        self.entries = Entries(self)
        self.lines: list[str] = []
        self.whole: dict[int, Text] = {}
        mentions: dict[int, set[int]] = {}
        only = set[int]()  # slots that have a text entry by entry, and no other
        for k in sorted(k for k in needed if k >= self.arity):
            self.texts.seen = mentions[k] = set()
            plain = k not in self.odd and not only.intersection(self.read(k))
            held = isinstance(self.operation(k), HELD)
            entry = self.entries.of(k) if self.odd and not held else None
            text = self.step(k) if plain or entry is None else entry
            again = isinstance(self.operation(k), ControlFlow) and self.p.line.reads[k] > 1
            is_long = (len(text.tight) > SHORT or again) and not self._trivial(k)
            if is_long or (not plain and k in self.data | whole):
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
            if held and self.odd:
                entry = self.entries.named(k, self.bound(k, ATOM))
            if entry is not None:
                self.entries.texts[k] = entry
        return mentions

    def read(self, k: int) -> tuple[int, ...]:
        """The slots that the text of a step mentions: tanh'(x), that of the argument of tanh."""
        step = self.p.steps[k - self.arity]
        prime = isinstance(step.operation, Elementwise) and step.operation.rule.text.endswith("'")
        inner = self.operation(step.args[0]) if prime else None
        if isinstance(inner, Elementwise) and f"{inner.name}'" == getattr(step.operation, "name", ""):
            return (self._argument(step.args[0]),)
        return step.args

    def _divisor(self, k: int) -> int | None:
        """b of the reciprocal 1/b, where b has a text."""
        if getattr(self.operation(k), "name", "") != "reciprocal":
            return None
        argument = self._argument(k)
        return argument if argument in self.texts else None

    def _trivial(self, k: int) -> bool:
        operation = self.operation(k)
        alone = isinstance(operation, ControlFlow) and self.p.slots[k].shape == (1,) and self.p.line.reads[k] == 1
        return isinstance(operation, Literal) or is_rep(operation) or alone

    def result(self, k: int) -> Text:
        """The text of a result: its definition, or the name of what others read too."""
        return self.whole.get(k) or self.texts.get(k) or Text(self.entries.head(self.entries.texts[k].wide, k), SUM)

    def datum(self, k: int) -> str:
        """The text of a slot inside a section: a sum is bracketed."""
        text = self.texts[k]
        return f"({text.tight})" if text.sign in {"+", ":"} else text.tight

    def bound(self, k: int, binding: int) -> str:
        """The text of a slot, in brackets unless it binds as tightly."""
        text = self.texts[k]
        return text.tight if text.binding >= binding else f"({text.tight})"

    def _factor(self, k: int, sign: str, *, last: bool = False) -> str:
        """An operand of a product: only products of numbers, entry by entry, are set without brackets in each other."""
        text = self.texts[k]
        plain = text.binding > PRODUCT or (text.binding == PRODUCT and text.sign == sign == "·")
        return text.tight if plain and (last or not text.open) else f"({text.tight})"

    def base(self, k: int) -> str:
        """The text of a slot below an exponent: what has one itself is in brackets."""
        text = self.bound(k, ATOM)
        return f"({text})" if RAISED.search(text) else text

    def of_body(self, body: AnyProgram, given: Sequence[Text]) -> Slots:
        """The texts of the body of a step, on the same page; `given` are those of its arguments."""
        return Slots(body, self.names, body.outputs, body.outputs, given)

    def operation(self, k: int) -> Any:
        """The operation of the step into a slot; None for an argument."""
        return self.p.steps[k - self.arity].operation if k >= self.arity else None

    def _argument(self, k: int) -> int:
        """The operand of a step with one."""
        return self.p.steps[k - self.arity].args[0]

    def _multiple(self, k: float, x: int) -> Text:
        """k·x."""
        divisor = self._divisor(x)
        if k != -1.0 and divisor is not None and self.texts[x].sign == "/":
            below = self.bound(divisor, APPLICATION)
            text, binding = f"{self.names.number(k)} / {below}", SUM if k < 0 else PRODUCT
            return Text(text, binding, "/", open=True, coefficient=k, rest=f"(1/{below})")
        inner = self.texts[x]
        if inner.coefficient != 1.0:
            return self._times(k, inner.coefficient, inner.rest, is_open=inner.open)
        rest = self._factor(x, "·", last=True)
        if k == -1.0 and inner.binding == PRODUCT:  # −a⋆b needs no brackets
            return Text(f"−{inner.tight}", SUM, "", inner.open, k, rest)
        return self._times(k, 1.0, rest, is_open=inner.open and not rest.endswith(")"))

    def product(self, left: int, right: int) -> Text:
        """left · right, with the coefficients of both in front."""
        a, b = self.texts[left], self.texts[right]
        multiple = a.coefficient != 1.0
        first = (bracketed(a.rest) if a.open else a.rest) if multiple else self._factor(left, "·")
        last = b.rest if b.coefficient != 1.0 else self._factor(right, "·", last=True)
        is_open = b.open and not last.endswith(")")
        return self._times(a.coefficient, b.coefficient, f"{first}·{last}", is_open=is_open)

    def _times(self, a: float, b: float, rest: str, *, is_open: bool) -> Text:
        """The product of two coefficients and a text; the coefficients as one number, where that is as short."""
        number = self.names.number
        minus = "−" if (a < 0.0) != (b < 0.0) else ""
        factors = [number(abs(k)) for k in (a, b) if abs(k) != 1.0]
        if len(number(abs(a * b))) <= len("·".join(factors)):
            factors = [number(abs(a * b))] if abs(a * b) != 1.0 else []
        text = minus + "·".join([*factors, rest])
        return Text(text, SUM if minus else PRODUCT, "" if minus else "·", is_open, a * b, rest)

    def step(self, k: int) -> Text:
        """The text of the step into a slot."""
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
                if is_renaming(operation):
                    return self._renamed(k)
                inner = self.texts[args[0]]
                closed = inner.binding == APPLICATION and not inner.open
                text = inner.tight if closed else self.bound(args[0], ATOM)
                return Text(f"{reduction(relation, self.names)} {text}", APPLICATION, open=True)
            case wire.Move():
                return Text(transposed(self.bound(args[0], ATOM)), ATOM)
            case wire.External() as own:
                return Text(f"{own.name}({self.texts[args[0]].tight})", ATOM)
            case wire.Cast():
                return Text(f"cast {self.bound(args[0], ATOM)}", APPLICATION, open=True)
            case Along(name):
                inner = self.texts[args[0]]
                if inner.binding < ATOM or inner.tight.startswith("("):
                    return Text(f"{name}({inner.tight})", APPLICATION)
                return Text(f"{name} {inner.tight}", APPLICATION, open=True)
            case Keep():
                return Text(f"kept({self.texts[args[0]].tight})", APPLICATION)
            case Pack():
                return Text(f"({', '.join(self.texts[a].tight for a in args)})", ATOM)
            case Unpack(part):
                if self.p.slots[args[0]].shape == (1,):
                    return self.texts[args[0]]
                return Text(f"π{subscript(part + 1)} {self.bound(args[0], ATOM)}", APPLICATION, open=True)
            case Loop() | While() | Cond() | Implicit() | Solve() as holds:
                return held(self, holds, args[0])
            case Custom() as custom:
                return Text(f"{custom.name}({', '.join(self.texts[a].tight for a in args)})", ATOM)
            case Choose():
                return Text(f"where({', '.join(self.texts[a].tight for a in args)})", APPLICATION)
            case AnyLane(_, when):
                return Text(f"any({'' if when else '¬'}{self.bound(args[0], APPLICATION)})", APPLICATION)
            case Fill(_, when):
                c, a = (self.bound(a, APPLICATION) for a in args)
                return Text(f"filled({a}, {'' if when else '¬'}{c})", APPLICATION)
            case never:
                assert_never(never)

    def _renamed(self, k: int) -> Text:
        """v : Y, for several axes at once."""
        inner = self._argument(k)
        while is_renaming(self.operation(inner)) and self.p.line.reads[inner] == 1:
            inner = self._argument(inner)
        return Text(f"{self.bound(inner, PRODUCT)} : {'×'.join(map(str, self.p.slots[k].axes))}", SUM, ":")

    def _sum(self, left: int, right: int) -> Text:
        a, b = (Text(f"({t.tight})", ATOM) if t.sign == ":" else t for t in (self.texts[left], self.texts[right]))
        sign = "+"
        if a.tight.startswith("−") and a.sign != "+" and not b.tight.startswith("−"):
            a, b = b, a
        if b.tight.startswith("−"):
            b, sign = Text(b.tight[1:], PRODUCT, wide=b.wide[1:]), "−"
        return Text(f"{a.tight}{sign}{b.tight}", SUM, "+", wide=f"{a.wide} {sign} {b.wide}")

    def _elementwise(self, p: AnyElementwise, args: tuple[int, ...]) -> Text:
        name = p.rule.text
        if p.rule.formula is not None:
            return self._formula(p, p.rule.formula, args)
        if len(args) == 2:
            x, y = args
            if name in {">", "≥", "<", "≤", "=", "≠", "∧", "∨"}:
                return Text(f"{self.bound(x, PRODUCT)} {name} {self.bound(y, PRODUCT)}", SUM, name)
            if name == "/":
                return self._quotient(x, y)
            return Text(f"{name}({self.texts[x].tight}, {self.texts[y].tight})", APPLICATION)
        (x,) = args
        if p.name == "0.5/x":
            return Text(f"0.5 / {self.bound(x, APPLICATION)}", PRODUCT, "/", open=True)
        if p.name == "reciprocal":
            return Text(f"1/{self.bound(x, APPLICATION)}", PRODUCT, "/", open=True)
        if p.name == "square":
            return Text(f"{self.base(x)}²", ATOM)
        if p.name == "power":
            return Text(f"{self.base(x)}^{self.names.number(p.params[0])}", ATOM)
        if p.name == "absolute":
            return Text(f"|{self.texts[x].tight}|", ATOM)
        if name.endswith("'"):  # a derivative in terms of the value: shown in terms of the argument
            inner = self.operation(x)
            if isinstance(inner, Elementwise) and inner.name == p.name[:-1]:
                return Text(f"{inner.rule.text}'({self.texts[self._argument(x)].tight})", ATOM)
            return Text(f"({name}∘{p.name[:-1]}⁻¹)({self.texts[x].tight})", ATOM)
        text = self.texts[x]
        if text.binding < ATOM or text.tight.startswith("("):
            return Text(f"{name}({text.tight})", APPLICATION)
        return Text(f"{name}{'' if name == '√' else ' '}{text.tight}", APPLICATION, open=True)

    def _formula(self, p: AnyElementwise, formula: str, args: tuple[int, ...]) -> Text:
        """The text of a row that is written as a formula in its arguments."""
        products, atoms = ([self.bound(a, binding) for a in args] for binding in (PRODUCT, ATOM))
        order = self.names.number(p.params[0]) if p.params else ""
        text = formula.format(*(self.texts[a].tight for a in args), p=products, a=atoms, k=order)
        outside = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", formula))
        if "−" in outside or "+" in outside:
            return Text(text, SUM, "+")
        for sign, is_open in (("/", True), ("·", False)):
            if sign in outside:
                return Text(text, PRODUCT, sign, open=is_open)
        return Text(text, APPLICATION)

    def _quotient(self, above: int, below: int) -> Text:
        text, divisor = self.texts[above], self.bound(below, APPLICATION)
        if text.coefficient < 0.0 and text.sign != "/":
            return self._times(text.coefficient, 1.0, f"{text.rest} / {divisor}", is_open=True)
        return Text(f"{self.bound(above, PRODUCT)} / {divisor}", PRODUCT, "/", open=True)

    def _contract(self, spec: Any, left: int, right: int) -> Text:
        for this, other in ((left, right), (right, left)):
            entry = self.p.slots[this].entry
            if entry.dtype == "bool":
                return Text(f"{self.bound(other, ATOM)}[{self.texts[this].tight}]", ATOM)
            if entry.index is not None:
                one = self.operation(other)
                if isinstance(one, Literal) and one.value.number == 1.0:
                    return Text(f"e[{self.texts[this].tight}]", ATOM)
                hot, labels = (spec.left, spec.right) if this == left else (spec.right, spec.left)
                if hot[-1:] not in labels:  # a scatter: the elements' axes are in the result
                    if spec.contracted:
                        return Text(f"e[{self.texts[this].tight}]ᵀ⋆{self.bound(other, ATOM)}", PRODUCT, "⋆")
                    return Text(f"{self.bound(other, PRODUCT)}·e[{self.texts[this].tight}]", PRODUCT, "·")
                return Text(f"{self.bound(other, ATOM)}[{self.texts[this].tight}]", ATOM)
        sign, flip_left, flip_right, swapped = sign_of(spec)
        if sign == "·":
            for this, other in ((left, right), (right, left)):
                divisor = self._divisor(other)
                if divisor is not None:
                    return self._quotient(this, divisor)
            return self.product(left, right)
        a = transposed(self.bound(left, ATOM)) if flip_left else self._factor(left, sign, last=swapped)
        b = transposed(self.bound(right, ATOM)) if flip_right else self._factor(right, sign, last=not swapped)
        first, second, last = (b, a, left) if swapped else (a, b, right)
        return Text(f"{first}{sign}{second}", PRODUCT, sign, self.texts[last].open and not second.endswith(")"))
