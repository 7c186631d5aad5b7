"""A newcomer finds a file: rooms are small, names stand once, and the order of rooms holds."""

from tests.rooms import ROOT, arrows, doubled, modules, room, sizes, upward


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
