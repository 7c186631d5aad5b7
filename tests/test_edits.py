"""A few of the seeded edits of the models in docs/examples: what is refused names the edited line.

`make edits` makes 2,000, and asks mypy for what is left to it.
"""

from __future__ import annotations

import collections
from pathlib import Path

from tests.mutation.edits import judged, variants


def test_an_edit_is_refused_where_it_is(tmp_path: Path) -> None:
    """Nearly always; what goes through Python's own numbers and tuples is refused where it is used."""
    counts = collections.Counter[str]()
    for k, (name, _, source, line) in enumerate(variants(1, 60)):
        counts[judged(name, source, tmp_path / f"v{k}.py", line)[0]] += 1
    assert counts["refused"] > 15
    assert counts["traced"] > 3
    assert counts["refused elsewhere"] <= 1
