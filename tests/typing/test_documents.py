"""mypy and pyright (strict) accept the examples of the documentation, pyright those of docs/examples."""

from tests.typing.verdict import MODELS
from tests.typing.verdicts import Verdicts


def test_pages(verdicts: Verdicts) -> None:
    """But for what is shown to be refused, which may be a type error, to both alike."""
    paths, refused = verdicts.pages, verdicts.refused
    assert len(paths) >= 10
    mypy, pyright = (verdict.of(paths) for verdict in (verdicts.mypy, verdicts.pyright))
    for found in (mypy, pyright):
        assert not {place: codes for place, codes in found.errors.items() if place not in refused}
    assert mypy.errors.keys() == pyright.errors.keys()


def test_examples(verdicts: Verdicts) -> None:
    """Strict, as pyproject.toml says."""
    found, others = verdicts.pyright.errors, verdicts.pyright.of([*MODELS, *verdicts.pages]).errors
    assert not {place: rules for place, rules in found.items() if place not in others}
