"""A declared method has its meaning in one place: a line of the `__init__` of a package, or the rule of its class."""

import ast
import inspect
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from inspect import Parameter
from typing import Any, NamedTuple

import pytest

import hilbert.all as hb
from hilbert.base import attach, lazy
from hilbert.space.vector_methods import METHODS, Reductions
from tests.rooms import ROOT, modules


class Declaration(NamedTuple):
    """A method under `@declared`."""

    module: str
    owner: str
    name: str

    @property
    def rows(self) -> list[str]:
        """The names of functions that may be its meaning."""
        return [row for row in (f"{self.owner}_{self.name}", f"{self.owner}_") if row in lazy.methods]

    @property
    def signature(self) -> inspect.Signature:
        """The signature of the declaration."""
        return inspect.signature(getattr(getattr(import_module(self.module), self.owner), self.name))


def declarations() -> Iterator[Declaration]:
    """The declared methods of the library, as the source has them."""
    for module, path in modules(ROOT).items():
        for owner in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(owner, ast.ClassDef):
                for method in owner.body:
                    if isinstance(method, ast.FunctionDef):
                        marks = [ast.unparse(mark).removeprefix("attach.") for mark in method.decorator_list]
                        if "declared" in marks:
                            yield Declaration(module, owner.name, method.name)


DECLARED = list(declarations())
ROWS = {row: home for row, home in lazy.methods.items() if "_" in row.strip("_")}
"""The functions that are the meaning of one method; the others are rules."""


def test_each_declaration_has_its_meaning() -> None:
    """A method that a class declares has a line, or its class a rule; each line is of one declared method."""
    assert len(DECLARED) > 80
    assert [where for where in DECLARED if not where.rows] == []
    names = [f"{where.owner}_{where.name}" for where in DECLARED]
    assert ROWS.keys() - set(names) == set()
    assert [name for name in ROWS if names.count(name) != 1] == []


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_vectors_and_expressions_have_their_meaning(name: str) -> None:
    """A row of the table is a method of both, with its documentation; each has a copy of its own."""
    for cls in (hb.Vec, hb.Expr):
        method = attach.attached(cls, name)
        assert method is getattr(cls, name)
        assert not hasattr(method, "is_declared")
        assert vars(Reductions)[name].__doc__ == METHODS[name].doc
        if vars(Reductions)[name].__doc__ == method.__doc__:
            assert (method.__name__, method.__qualname__) == (name, f"Vec.{name}")
        else:
            assert (cls, name) == (hb.Vec, "norm")
    assert vars(hb.Vec)[name] is not vars(hb.Expr)[name]
    assert hasattr(vars(Reductions)[name], "is_declared")


@pytest.mark.parametrize("where", [w for w in DECLARED if w.rows[0] in ROWS], ids=lambda where: where.rows[0])
def test_the_function_takes_what_the_method_takes(where: Declaration) -> None:
    """Each call that the declaration allows is one of the function, which keeps its own name."""
    home = lazy.methods[where.rows[0]]
    function = home.imported()
    taken = where.signature.parameters.values()
    places = [p.name for p in taken if p.kind in {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}]
    named = [p.name for p in taken if p.kind is Parameter.KEYWORD_ONLY]
    due = [p.name for p in taken if p.default is Parameter.empty]
    signature = inspect.signature(function)
    signature.bind(*places, **dict.fromkeys(named))
    if not where.name.startswith("_"):  # others are not called by the names of their parameters
        assert [p for p in signature.parameters if p in places[1:]] == places[1:]
    signature.bind(*[name for name in places if name in due], **dict.fromkeys(set(named) & set(due)))
    assert function.__name__ == home.name


def test_after_the_first_call_the_function_is_on_the_class() -> None:
    """It has the code of the function, with the name, the documentation and the signature of the declaration."""
    f = hb.identity(hb.R)
    assert str(f)
    method: Any = hb.LinMap.__str__
    show = lazy.methods["LinMap___str__"].imported()
    assert method.__code__ is show.__code__
    assert method is not show
    assert (method.__qualname__, str(inspect.signature(method))) == ("LinMap.__str__", "(self) -> 'str'")
    norm: Any = hb.Vec.norm
    assert hb.R.vec(-2.0).norm() == 2.0
    assert (norm.__name__, norm.__doc__) == (hb.Vec.norm.__name__, hb.Vec.norm.__doc__)
    assert str(inspect.signature(hb.Vec.norm)) == "(self: 'Vec[Any]', over: 'Any' = None) -> 'Any'"


@pytest.mark.parametrize("name", ["Vec", "Expr", "Type", "LinMap", "Fun", "Former", "Space", "Relation"])
def test_a_class_of_a_users_has_a_name_of_the_library(name: str) -> None:
    """Its methods are those of its bases."""
    bad = f"class {name}(hb.Record):\n    a: hb.Part[hb.Space]\nP = {name}(a=hb.R ** hb.Fin.of(2))"
    seen: dict[str, Any] = {"hb": hb, "__name__": "models"}
    exec(bad, seen)  # noqa: S102 - its own text
    P = seen["P"]
    assert str(P.zeros()) == f"(a: [0.0, 0.0]) ∈ {name}(a: ℝ^2)"
    assert len(list(P.basis())) == 2
    assert str(P.ones()) == str(P.full(1.0)) == str(P.unflat([1.0, 1.0]))


class Below:
    """A class with declared methods."""

    @attach.declared
    def said(self, times: int = 1) -> str:
        """Its text, some times."""
        raise NotImplementedError


class Own(Below):
    """A class with a method of its own, which needs that of its base."""

    def said(self, times: int = 1) -> str:
        return f"own {super().said(times)}"


def said(value: Below, times: int = 1) -> str:
    """The text of a value."""
    return type(value).__name__ * times


def rule(name: str) -> Any:
    """The meaning of any method."""
    return {"said": said}[name]


@pytest.mark.parametrize("row", [{"Below_said": "said"}, {"Below_": "rule"}])
def test_a_method_of_a_subclass_calls_the_declared_one(row: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`super()` and other threads meet the method of the base, before and after it is attached."""
    monkeypatch.setattr(Below, "said", Below.said)  # as it is declared
    monkeypatch.setattr(attach, "packages", {__name__.partition(".")[0]})
    monkeypatch.setattr(attach, "methods", {name: lazy.Home(__name__, there) for name, there in row.items()})
    declaration = Below.said
    monkeypatch.setattr(lazy.Home, "imported", lambda home: globals()[home.name])
    ready, texts = threading.Barrier(4), []

    def call() -> None:
        ready.wait()
        texts.append(Own().said())

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["own Own"] * 4
    assert declaration(Below(), 2) == Below().said(times=2) == "BelowBelow"
    assert not hasattr(Below.said, "is_declared")
    assert said.__name__ == "said"


def test_a_method_has_the_defaults_of_its_function() -> None:
    """By place and by keyword: the copy on the class has both, whatever the declaration says for readers."""

    class Listed:
        @attach.declared
        def listed(self, start: int = 1, *, step: int = 2) -> list[int]:
            raise NotImplementedError

    def meaning(_: Any, start: int = 1, *, step: int = 2) -> list[int]:
        return [start, start + step]

    attach._attach(Listed, vars(Listed)["listed"], meaning)
    assert Listed().listed() == [1, 3]
    assert Listed().listed(5) == [5, 7]
    assert Listed().listed(step=4) == [1, 5]


FIRST = """
import sys, pickle
from hilbert import Fin, R
from linmap import identity
f = identity(R ** Fin.of(2))
assert "linmap.printing.show" not in sys.modules
print(f, repr(f), (f + f).cod)
assert "linmap.printing.show" in sys.modules
import diff.lam.term.terms as terms, diff.lam.term.types as types
assert "diff.lam.show.show" not in sys.modules
x = terms.Var("x", 0, types.ground(R))
assert x == x and hash(x) == hash(x) and type(pickle.loads(pickle.dumps(x))) is terms.Var
print(x, repr(x), x.type)
"""


def test_the_first_call_imports_the_function() -> None:
    """Printing, equality and pickling of terms are loaded when they are asked for."""
    run = subprocess.run([sys.executable, "-c", FIRST], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert run.stderr == ""
    assert run.stdout.splitlines() == ["id identity(R ** Fin.of(2)) ℝ^2", "x <term x> real"]
