"""Annotations of fields, compared with the kinds that `data` is given; errors for operators on values of classes.

Annotations may be texts, aliases and names that are defined later or elsewhere: one that cannot be read is not checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Literal, NoReturn, TypeAlias, TypeVar, Union, final, get_args, get_origin, get_type_hints

import attrs
from attrs import frozen

from diff.trace.expr import Expr
from hilbert import Vec
from hilbert.errors import OperatorError

T = TypeVar("T")

Form: TypeAlias = Literal["vector", "itself", "tuple", "list", "number", "function", "other", "unknown"]
"""A vector; one of the classes; a tuple; another collection, which might be meant as a tuple; a number; and so on."""
HEADS: dict[str, Form] = {
    "Expr": "vector",
    "Vec": "vector",
    "Callable": "function",
    **dict.fromkeys(("tuple", "Tuple"), "tuple"),
    **dict.fromkeys(("list", "List", "set", "Set", "dict", "Dict", "Sequence", "Iterable"), "list"),
    **dict.fromkeys(("int", "float", "complex", "bool", "str", "ndarray", "None"), "number"),
}
"""The forms that first words of annotations stand for."""


@final
@frozen
class Annotation:
    """The annotation of a field as it is written, its form, and the form `of` the items of a tuple."""

    where: str
    text: str
    form: Form
    of: Form = "unknown"

    def told(self, name: str, kind: Any, *, is_space: bool) -> str | None:
        """The text of the error in data(…, name=kind), if there is one."""
        told = f"data(…, {name}={kind!r}): {self.where} is annotated {self.text}"
        if is_space and "itself" in {self.form, self.of}:
            return f"{told}, which is of these classes: give fields that recur a name of their own"
        if is_space and self.form == "tuple":
            return f"{told}: write data(…, {name}=sequence({kind!r}))"
        if self.form == "vector" and not is_space:
            return f"{told}, which is a vector: write data(…, {name}=V) with its space"
        return self._listed()

    def untold(self, name: str) -> str | None:
        """The text of the error for a field that `data` is given no kind of, if there is one."""
        form, due = (self.of, "sequence({})") if self.form == "tuple" else (self.form, "{}")
        kind = {"vector": "V", "function": "arrow(V, W)", "number": "V", "other": "data(…)"}.get(form)
        if kind is None:
            return self._listed()
        more = " and annotate it Expr[…]: data hold vectors, no numbers" if form == "number" else ""
        return f"data(…): of which space is {self.where}, {self.text}? write data(…, {name}={due.format(kind)}){more}"

    def _listed(self) -> str | None:
        text = f"data(…): {self.where} is annotated {self.text}, and what data hold is a tuple: tuple[…, ...]"
        return text if self.form == "list" else None


def annotation(cls: type[Any], f: attrs.Attribute[Any], classes: tuple[type[Any], ...]) -> Annotation:
    """The annotation of a field of one of these classes."""
    given: Any = f.type
    where = f"{cls.__name__}.{f.alias or f.name}"
    text = given if isinstance(given, str) else given.__name__ if isinstance(given, type) else str(given)
    text = text.strip("'\"")  # quoted where all annotations are texts
    if isinstance(given, type) and get_args(given):
        text = str(given)
    names = {one.__name__: one for one in classes}
    around = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
    try:
        found = get_type_hints(SimpleNamespace(__annotations__={"x": given}), dict(around), names)["x"]
    except (NameError, TypeError, AttributeError, SyntaxError, ValueError, LookupError):
        return _of_text(where, text, names)
    members = _members(found)
    form = _form(members, classes)
    items = [arg for one in members for arg in get_args(one) if arg is not Ellipsis] if form == "tuple" else []
    return Annotation(where, text, form, _form([m for item in items for m in _members(item)], classes))


def _of_text(where: str, text: str, names: Iterable[str]) -> Annotation:
    """An annotation that cannot be resolved, by its words."""
    words = [part.strip().strip("'\"") for part in text.split("|")]
    if set(words) <= set(names):
        return Annotation(where, text, "itself")
    head = text.partition("[")[0].rpartition(".")[2]
    return Annotation(where, text, HEADS.get(head, "unknown"))


def _members(found: Any) -> list[Any]:
    """The members of a union, but for None; another annotation is its own single member."""
    found = getattr(found, "__value__", found)  # of an alias that is declared by `type`
    if get_origin(found) in (Union, UnionType):
        return [member for part in get_args(found) for member in _members(part)]
    return [] if found is NoneType else [found]


def _form(members: list[Any], classes: tuple[type[Any], ...]) -> Form:
    """The form that all members of a union have; unknown where they have several."""
    found: set[Form] = {_form_of(member, classes) for member in members}
    if "itself" in found and found <= {"itself", "other"}:  # a union may have more classes than the data
        return "itself"
    return found.pop() if len(found) == 1 else "unknown"


def _form_of(member: Any, classes: tuple[type[Any], ...]) -> Form:
    cls = get_origin(member) or member
    if cls is object or not isinstance(cls, type):
        return "function" if cls is Callable else "unknown"
    if issubclass(cls, (Expr, Vec)):
        return "vector"
    if any(issubclass(one, cls) for one in classes):
        return "itself"
    if cls.__name__ in HEADS:
        return HEADS[cls.__name__]
    return "other" if attrs.has(cls) else "unknown"


SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "matmul": "@", "neg": "-", "pow": "**"}
"""The operators that vectors have, and values of classes have not."""


def without_operators(cls: type[T]) -> type[T]:
    """The class, given the operators of vectors that it has not: they raise an error with the remedy."""
    for name, sign in SIGNS.items():
        for method in (f"__{name}__", f"__r{name}__")[: 1 if name == "neg" else 2]:
            if not hasattr(cls, method):
                setattr(cls, method, _refused(method, sign))
    return cls


def _refused(name: str, sign: str) -> Callable[..., NoReturn]:
    def refused(self: Any, *_: Any) -> NoReturn:
        what = f"{sign} of a value of {type(self).__name__} is not defined"
        step = "at.arguments(at.point.moved(-0.1*grad(at.program)(at.point)))"
        msg = f"{what}: a step on data is one on the vectors in them, {step} with at = f.at(…)"
        raise OperatorError(msg)

    refused.__name__ = refused.__qualname__ = name
    return refused
