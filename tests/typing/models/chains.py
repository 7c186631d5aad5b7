"""What terms of many parts are made of: chains, appended at the end, read by position or slice."""

from typing import reveal_type

from hilbert.base.term import Chain


def main() -> None:
    parts = Chain(["a", "b", "c"])
    reveal_type(parts[0])  # N: str
    reveal_type(parts[1:])  # N: list[str]
    assert parts[1:] == ["b", "c"]
