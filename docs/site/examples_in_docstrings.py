"""Examples in docstrings as blocks of code: without this a prompt is three quotation marks of Markdown."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Put each example of a docstring between fences."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of an object."""
        del kwargs
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text with fences around its examples."""
    return EXAMPLE.sub(lambda found: f"\n```pycon\n{found[0]}\n```\n", text)
