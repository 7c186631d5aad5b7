"""The stubs `_calls.pyi` are what the rows say, and each signature there is one that the function takes."""

import ast
import inspect
import pydoc
import re
from collections.abc import Iterator
from functools import cache, reduce
from importlib import import_module
from inspect import Parameter
from typing import Any, cast

import pytest

from diff.vocabulary import reductions
from hilbert.space.vector_methods import METHODS
from tests.typing.signatures import PACKAGES, Call, calls, path, stub
from tests.typing.verdict import ROOT

CALLS = [call for package in PACKAGES for call in calls(package)]
BY_PLACE = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}


@cache
def defined(package: str) -> list[ast.FunctionDef]:
    """The functions of a stub."""
    return [node for node in ast.parse(path(package).read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]


@cache
def tree(module: str) -> ast.Module:
    """The text of a module."""
    return ast.parse((ROOT / module.replace(".", "/")).with_suffix(".py").read_text("utf-8"))


def function_of(call: Call) -> Any:
    """The function or method as its module has it."""
    return reduce(getattr, call.name.split("."), cast("Any", import_module(call.module)))


def parameters(call: Call) -> list[Parameter]:
    """What the function takes when it runs."""
    return list(inspect.signature(function_of(call)).parameters.values())


def taken(signature: ast.arguments) -> Iterator[tuple[str, object, str | None]]:
    """The name, the kind and the default of each parameter of a signature."""
    places: list[tuple[ast.arg, object]] = [(p, Parameter.POSITIONAL_ONLY) for p in signature.posonlyargs]
    places += [(p, Parameter.POSITIONAL_OR_KEYWORD) for p in signature.args]
    without = len(places) - len(signature.defaults)
    for k, (p, kind) in enumerate(places):
        yield p.arg, kind, ast.unparse(signature.defaults[k - without]) if k >= without else None
    if signature.vararg:
        yield signature.vararg.arg, Parameter.VAR_POSITIONAL, None
    for p, default in zip(signature.kwonlyargs, signature.kw_defaults, strict=True):
        yield p.arg, Parameter.KEYWORD_ONLY, ast.unparse(default) if default else None
    if signature.kwarg:
        yield signature.kwarg.arg, Parameter.VAR_KEYWORD, None


def refusals(signature: ast.arguments, parameters: list[Parameter], *, is_method: bool = False) -> Iterator[str]:
    """Why a function with these parameters is not called as the signature says; nobody names what a method is of."""
    known = {p.name: p for p in parameters if p.kind in {Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD}}
    kinds = {p.kind for p in parameters}
    places = [p for p in parameters if p.kind in BY_PLACE]
    given = set()
    for k, (name, kind, default) in enumerate(taken(signature)):
        if kind in BY_PLACE:
            at = places[k] if k < len(places) else None
            if at:
                given.add(at.name)
            elif Parameter.VAR_POSITIONAL not in kinds:
                yield f"{name} is one too many"
            is_named = kind is Parameter.POSITIONAL_OR_KEYWORD and (k > 0 or not is_method)
            if is_named and (at is None or at.name != name):
                yield f"no parameter {name} stands at place {k}"
        elif kind is Parameter.KEYWORD_ONLY and name not in known:
            yield f"no parameter {name}"
        elif kind in {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD} and kind not in kinds:
            yield f"no *{name}"
        if kind is Parameter.KEYWORD_ONLY:
            given.add(name)
        if default not in {None, "..."} and (
            name not in known or repr(known[name].default) != default.replace('"', "'")
        ):
            yield f"the default of {name} is not {default}"
    for p in parameters:
        if p.default is Parameter.empty and p.kind in {*BY_PLACE, Parameter.KEYWORD_ONLY} and p.name not in given:
            yield f"{p.name} is missing"


@pytest.mark.parametrize("package", PACKAGES)
def test_stubs_are_written_from_the_rows(package: str) -> None:
    """Another run of the generator changes nothing."""
    assert path(package).read_text("utf-8") == stub(package), "run python -m tests.typing.signatures"


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.module}.{call.name}")
def test_each_signature_is_taken(call: Call) -> None:
    """Names, kinds and defaults of a signature are those of the function that runs."""
    found = parameters(call)
    is_method = "." in call.name
    named = [node for node in defined(call.module.split(".")[0]) if node.name == call.stub]
    assert len(named) == len(call.signatures) >= 1
    assert [reason for node in named for reason in refusals(node.args, found, is_method=is_method)] == []


def bound(package: str, kind: str) -> list[ast.arguments]:
    """The signatures of a method of the table of methods along axes, by the class that is its value."""
    classes = {
        node.name: node for node in ast.parse(path(package).read_text("utf-8")).body if isinstance(node, ast.ClassDef)
    }
    (value,) = [ast.unparse(f.returns) for f in classes[kind].body if isinstance(f, ast.FunctionDef) and f.returns]
    if value.startswith("Callable[[]"):
        return [cast("ast.FunctionDef", ast.parse("def f(self): ...").body[0]).args]
    return [f.args for f in classes[value.partition("[")[0]].body if isinstance(f, ast.FunctionDef)]


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("package", ["hilbert", "diff"])
def test_each_signature_of_a_method_along_axes_is_taken(package: str, name: str) -> None:
    """A method takes the parameters that the stubs say; no other function is a meaning."""
    taken = list(inspect.signature(reductions.method(name)).parameters.values())
    signatures = bound(package, METHODS[name].kind)
    assert [reason for args in signatures for reason in refusals(args, taken, is_method=True)] == []
    assert reductions.MEANING.keys() == METHODS.keys()


@pytest.mark.parametrize(
    ("signature", "reason"),
    [
        ("(x, y)", []),
        ("(x, y, /, *, z=1)", []),
        ("(x, a)", ["no parameter a stands at place 1"]),
        ("(x, y, w, /)", ["w is one too many"]),
        ("(x, y, *, z=2)", ["the default of z is not 2"]),
        ("(x, y, *, w)", ["no parameter w"]),
        ("(x, /)", ["y is missing"]),
        ("(x, y, *more)", ["no *more"]),
    ],
)
def test_a_signature_that_is_not_taken(signature: str, reason: list[str]) -> None:
    """What the comparison says of signatures beside def f(x, y, *, z=1)."""

    def f(x: int, y: int, *, z: int = 1) -> None: ...

    (node,) = ast.parse(f"def f{signature}: ...").body
    assert isinstance(node, ast.FunctionDef)
    assert list(refusals(node.args, list(inspect.signature(f).parameters.values()))) == reason


@pytest.mark.parametrize("call", [call for call in CALLS if "." not in call.name], ids=lambda call: call.name)
def test_help_shows_one_signature(call: Call) -> None:
    """A function has one signature and a docstring when it runs, in its module."""
    function = function_of(call)
    text = pydoc.plain(pydoc.render_doc(function))
    assert f"in module {call.module}\n\n{call.name}(" in text
    assert _on_one_line(f"{call.name}{inspect.signature(function)}") in _on_one_line(text)


def _on_one_line(text: str) -> str:
    """A text without blanks: from Python 3.13 on, `help` writes a long signature on several lines."""
    return re.sub(r",?\)", ")", re.sub(r"\s", "", text))


@pytest.mark.parametrize("call", [call for call in CALLS if "." in call.name], ids=lambda call: call.name)
def test_methods_say_the_type_of_self(call: Call) -> None:
    """Of a method that does not, mypy drops `self` from the signatures in its cache, with what it says of the rest."""
    owner, name = call.name.split(".")
    classes = [node for node in ast.walk(tree(call.module)) if isinstance(node, ast.ClassDef) and node.name == owner]
    (first,) = [
        (node.args.posonlyargs + node.args.args)[0]
        for node in classes[0].body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    assert first.annotation is not None
    assert ast.unparse(first.annotation) != "Any"
