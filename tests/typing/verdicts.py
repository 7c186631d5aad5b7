"""The verdicts of mypy and pyright on all models and pages, and of pyright on the examples, from one run of each.

Most of the time of a run is for the library, which all of them use.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from tests.typing.pages import written
from tests.typing.verdict import EXAMPLES, MODELS, ROOT, Verdict, begun, check, check_by_pyright


class Verdicts:
    """The verdicts, and the modules of the pages with their lines that are shown to be refused."""

    def __init__(self, pages: Path, cache: Path) -> None:
        self.pages, self.refused = written(pages)
        self.cache = cache

    @cached_property
    def mypy(self) -> Verdict:
        return check(ROOT, begun(self.cache), [*MODELS, *self.pages])

    @cached_property
    def pyright(self) -> Verdict:
        return check_by_pyright([*MODELS, *self.pages, *EXAMPLES])
