"""mypy and pyright (strict) accept the good models and reject the bad ones: by file, line and code, both alike."""

import ast
from pathlib import Path

import pytest

from tests.typing.verdict import BAD, GOOD, MODELS, ROOT, Verdict, explained, marks
from tests.typing.verdicts import Verdicts

KINDS = {
    "axis",
    "wrong_axis",
    "sum_of_two_spaces",
    "swapped_arguments",
    "composition",
    "gradient",
    "jet",
    "adjoint",
    "transpose",
    "copower",
    "data",
    "adjoint_input",
    "annotation",
    "named_reduction",
    "order",
    "discrete",
    "labelled_axis",
    "named_axis",
    "flat_call",
    "loops",
    "over",
    "point",
    "position",
    "split",
    "values",
    "vocabulary",
}
FORMS = {"bad_vector", "bad_matrix", "bad_nested"}
RULES_OF_RECORDS = {"applied", "built", "declared", "lens", "types"}
"""Files in which each function breaks a rule of records, its docstring; docs/records.md has those that users meet."""
RECORDS = [path for path in BAD if path.stem.startswith("bad_record_")]


@pytest.fixture(scope="module")
def verdict(verdicts: Verdicts) -> Verdict:
    return verdicts.mypy.of(MODELS)


@pytest.fixture(scope="module")
def by_pyright(verdicts: Verdicts) -> Verdict:
    return verdicts.pyright.of(MODELS)


def functions_of(path: Path) -> list[ast.FunctionDef]:
    """The functions of a model."""
    return [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_a_mistake_comes_in_three_forms_and_each_function_makes_one(path: Path) -> None:
    marked = [line for name, line in marks().errors if name == path.name]
    functions = functions_of(path)
    assert path in RECORDS or {node.name for node in functions} >= FORMS
    spans = [range(node.lineno, (node.end_lineno or 0) + 1) for node in functions]
    assert [sum(line in span for line in marked) for span in spans] == [1] * len(functions)
    assert len(marked) == len(functions)


def test_the_models_are_there() -> None:
    records = {f"record_{name}" for name in RULES_OF_RECORDS}
    assert {path.stem for path in BAD} == {f"bad_{kind}" for kind in KINDS | records}
    assert len(GOOD) >= 20
    good = {path.name for path in GOOD}
    assert {name for name, _ in marks().notes} == good
    assert not good & {name for name, _ in marks().errors}


def test_models_of_functions_on_data() -> None:
    """30 are accepted, and 50 are refused."""
    (good,), (bad,) = ([path for path in MODELS if path.stem == name] for name in ("data_models", "bad_data"))
    assert len([f for f in functions_of(good) if f.name.startswith("model_")]) >= 30
    assert len(functions_of(bad)) >= 50


def test_models_of_records() -> None:
    """30 are accepted; 60 are refused, and each breaks one of 40 rules, among which are those of the documentation."""
    accepted = [f.name for path in GOOD if path.stem.startswith("record_") for f in functions_of(path)]
    assert len([name for name in accepted if name.startswith("model_")]) >= 30
    broken = [ast.get_docstring(f) or "" for path in RECORDS for f in functions_of(path)]
    page = (ROOT / "docs" / "records.md").read_text("utf-8").partition("| wrong | right | rule |\n|---|---|---|\n")[2]
    rules = {line.split(" | ")[2].rstrip("| .") for line in page.partition("\n\n")[0].splitlines()}
    named = {text.rstrip(".").partition(":")[0] for text in broken}
    assert len(broken) >= 60
    assert len(named) >= 40
    assert rules <= named
    assert len(rules) >= 20


def test_every_model_is_checked(verdict: Verdict, by_pyright: Verdict) -> None:
    for found in (verdict, by_pyright):
        assert {name for name, _ in [*found.errors, *found.notes]} == {path.name for path in MODELS}


def test_errors(verdict: Verdict) -> None:
    assert verdict.errors == marks().errors


def test_errors_of_pyright(by_pyright: Verdict) -> None:
    expected = marks().errors
    assert by_pyright.errors.keys() == expected.keys()
    other = {place: rules for place, rules in by_pyright.errors.items() if not explained(expected[place], rules)}
    assert not other


def test_revealed_types(verdict: Verdict, by_pyright: Verdict) -> None:
    expected = marks().notes
    for found in (verdict, by_pyright):
        assert found.notes.keys() == expected.keys()
        assert not {place: notes for place, notes in found.notes.items() if not fits(notes, expected[place])}


def fits(found: set[str], expected: set[str]) -> bool:
    """Every type that is revealed contains what is expected of its line."""
    return all(text in note for note in found for text in expected)
