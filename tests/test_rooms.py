"""A newcomer finds a file: rooms are small, names stand once, and the order of rooms holds."""

from pathlib import Path

from tests.rooms import ROOT, arrows, circles, doubled, modules, room, sizes, upward


def test_rooms_are_small() -> None:
    """At most 12 modules beside `__init__`."""
    assert {name: n for name, n in sizes(ROOT).items() if n > 12} == {}


def test_names_of_files_stand_once() -> None:
    """Fewer than 15 roles (`show`, `types`, `parser`, …) have a file of one name in several rooms."""
    assert len(doubled(ROOT)) < 15


def test_every_room_says_what_is_in_it() -> None:
    """The `__init__` of a room opens with a sentence."""
    known = modules(ROOT)
    rooms = {room(name, known) for name in known}
    silent = [name for name in rooms if not known[name].read_text("utf-8").lstrip("r").startswith('"""')]
    assert silent == []


def test_imports_go_down() -> None:
    """No import leads from a room into a higher one, hints for type checkers included."""
    assert upward(ROOT) == []
    assert len(arrows(ROOT)) > 1000


MADE = {
    "hilbert/__init__.py": "from hilbert.low import low",
    "hilbert/low.py": """
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hilbert.middle import Middle
""",
    "hilbert/middle.py": "from hilbert.high import high",
    "hilbert/high.py": """
def high() -> None:
    import hilbert.low
""",
    "linmap/apart.py": "import hilbert.low",
}
"""A package in which three files lead to each other: by a hint, by an import, and by one in a function."""


def write(root: Path, files: dict[str, str]) -> None:
    """Write some files of packages."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def test_a_circle_is_found(tmp_path: Path) -> None:
    """Imports of each kind close one; files that lead to a circle, and the lists of names, are not in it."""
    write(tmp_path, MADE)
    assert circles(tmp_path) == [["hilbert.high", "hilbert.low", "hilbert.middle"]]
    kinds = {arrow.source: arrow.kind for arrow in arrows(tmp_path)}
    assert kinds == {
        "hilbert": "run",
        "hilbert.low": "hint",
        "hilbert.middle": "run",
        "hilbert.high": "late",
        "linmap.apart": "run",
    }
    write(tmp_path, {"hilbert/low.py": ""})
    assert circles(tmp_path) == []
