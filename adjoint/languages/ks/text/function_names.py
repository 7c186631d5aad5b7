"""Names of functions: f, [f T], and [d f] for what is derived from it, nested to any order.

>>> f = Callee((), "f", REAL, REAL, REAL)
>>> again = f.derived("rev", "[rev f]").derived("fwd", "[fwd [rev f]]")
>>> print(again.key, text(again.arg), "->", text(again.result))
[fwd [rev [f Float]]] (Tuple (Tuple Float Float) (Tuple Float Float)) -> Float
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import frozen

from adjoint.languages.ks.value.types import record, shape_type, tangent, text
from diff.lam.term.types import REAL, Lin, TupleType, Ty

if TYPE_CHECKING:
    from collections.abc import Sequence

DERIVATIONS = (
    *("D", "R", "tupled", "poly", "polyR", "fwd", "rev"),
    *("sufrev", "suffwdpass", "sufrevpass", "shape", "CL"),
)
"""The derivations of a function."""
OLDER = ("D", "R", "fwd", "rev", "shape")
"""Those that are also spelled fwd$f for [fwd f]."""


@final
@frozen
class Written:
    """A function as it is written: derivations, the outermost first, of a name, with its argument type or none."""

    derivations: tuple[str, ...]
    base: str
    given: Ty | None

    @property
    def text(self) -> str:
        """As it is written."""
        return structured(self.derivations, self.base if self.given is None else f"[{self.base} {text(self.given)}]")


@final
@frozen
class Callee:
    """A function by its name and argument type: derivations, the outermost first, of a function on a type.

    `arg` and `result` are its own type; `text` is how it is called.
    """

    derivations: tuple[str, ...]
    base: str
    of: Ty
    arg: Ty
    result: Ty

    @property
    def key(self) -> str:
        """Its name, with the argument type of the function that it is derived from."""
        return self.named if self.derivations else self.base

    @property
    def named(self) -> str:
        """Its name, with that argument type always."""
        return structured(self.derivations, f"[{self.base} {text(self.of)}]")

    @property
    def identity(self) -> tuple[tuple[str, ...], str, Ty]:
        """The key of the function in tables."""
        return self.derivations, self.base, self.of

    def derived(self, derivation: str, name: str, free: Ty | None = None) -> Callee:
        """[d f] on its own; `free` is the type of a record that is written by hand, or the a of a polymorphic one."""
        is_polymorphic = derivation in ("poly", "polyR")
        free = free or (self.arg if is_polymorphic else record(name, self.arg))
        arg, result = derived_type(derivation, self.arg, self.result, free)
        return Callee((derivation, *self.derivations), self.base, self.of, arg, result)


def structured(derivations: Sequence[str], inner: str) -> str:
    """[d [e f]]."""
    return "".join(f"[{d} " for d in derivations) + inner + "]" * len(derivations)


def derived_type(derivation: str, s: Ty, t: Ty, free: Ty = REAL) -> tuple[Ty, Ty]:
    """The argument and the result of [d f], f : s → t; `free` is the record of suf…pass, or the a of poly and polyR."""
    match derivation:
        case "D":
            return s, Lin(s, t)
        case "R":
            return s, Lin(t, s)
        case "tupled":
            return s, TupleType((t, Lin(s, t)))
        case "poly":
            return TupleType((s, Lin(free, s))), TupleType((t, Lin(free, t)))
        case "polyR":
            return TupleType((s, Lin(s, free))), TupleType((t, Lin(t, free)))
        case "fwd":
            return TupleType((s, tangent(s))), tangent(t)
        case "rev" | "sufrev":
            return TupleType((s, tangent(t))), tangent(s)
        case "suffwdpass":
            return s, TupleType((t, free))
        case "sufrevpass":
            return TupleType((tangent(t), free)), tangent(s)
        case "shape":
            return s, shape_type(t)
        case _:  # CL, which is f itself
            return s, t


def polymorphic(arg: Ty | None, *, is_reverse: bool) -> Ty | None:
    """The a of (s, a ⊸ s), or of (s, s ⊸ a); None of another type."""
    match arg:
        case TupleType((_, Lin(dom, cod))):
            return cod if is_reverse else dom
        case _:  # one question: no other type says it
            return None


def underlying(derivation: str, arg: Ty) -> Ty | None:
    """The argument type of f, of that of [d f]; None where that does not tell."""
    if derivation in ("poly", "polyR", "fwd", "rev", "sufrev"):
        return arg.parts[0] if isinstance(arg, TupleType) and len(arg.parts) == 2 else None
    return None if derivation == "sufrevpass" else arg
