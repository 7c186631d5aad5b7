"""The scopes of names in a printed text: which definition or binder each name belongs to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LET = re.compile(r"^( *)where (\([^)]*\)|\S+) ([=∈:⊆]) (.*)$")
WORD = re.compile(r"(?<![\w.′])[^\W\d²³¹ᵀ_][^\W²³¹ᵀ]*′*")
HEAD = re.compile(r"(\([^()]*\)|\[[^\[\]]*\]|[^\W\d]\w*′*|[₀-₉\w.′]+) ↦ ")
INDICES = re.compile(r"_(?:\{([^}]*)\}|([^\W_]+′?))")
LABELS = re.compile(r"\[[a-z,→]*→[a-z]*\]")
SIGNS = set("BeKΣπιρΔσΦφΓψℝℂ𝟏")
"""Letters that stand for functions, whatever the term."""


class Node:
    """A text with the definitions below it; the definitions are known in it and below."""

    def __init__(self, text: str) -> None:
        self.text, self.lets, self.names = text, list[Node](), set[str]()


def parsed(text: str) -> Node:
    """The tree of a text whose lines are not broken."""
    first, *rest = text.split("\n")
    root = Node(first)
    open_: list[Node] = [root]
    for line in rest:
        found = LET.match(line)
        assert found is not None, line
        depth = len(found[1]) // 2
        assert 1 <= depth <= len(open_), text
        del open_[depth:]
        node = Node(found[4] if found[3] == "=" else "")
        names = words(found[2])
        computed = re.search(r", and (.*) of these$", node.text)
        if computed:
            names |= words(computed[1])
            node.text = node.text[: computed.start()]
        for name in names:
            assert name not in open_[-1].names, f"{name} is defined twice: {text}"
        open_[-1].names |= names
        open_[-1].lets.append(node)
        open_.append(node)
    return root


def words(text: str) -> set[str]:
    """The names in a text."""
    return set(WORD.findall(text))


def bound_anywhere(node: Node) -> set[str]:
    """All names that a definition or a binder introduces."""
    here = {word for head in HEAD.findall(node.text) for word in words(re.sub(r"∈[^,\]]*", "", head))}
    return node.names.union(here, *map(bound_anywhere, node.lets))


def unbound(text: str, arguments: Iterable[str] = ()) -> set[str]:
    """The variables of a text that nothing around them binds: names that are bound somewhere, and single letters."""
    tree = parsed(text)
    variables = bound_anywhere(tree) | set(arguments)
    missing = set[str]()

    def visit(node: Node, known: set[str]) -> None:
        known = known | node.names
        missing.update(_free(node.text, known, variables))
        head = re.match(HEAD, node.text)
        below = known | (words(head[1]) if head else set())
        for one in node.lets:
            visit(one, below)

    visit(tree, set(arguments))
    return missing


def _is_variable(word: str, variables: set[str]) -> bool:
    return word in variables or (re.fullmatch(r"[^\W\d_][₀-₉]*′*", word) is not None and word[0] not in SIGNS)


def _free(text: str, known: set[str], variables: set[str]) -> set[str]:
    """The variables of a text that are not known, and that no binder in the text has around them."""
    found = set[str]()
    scopes: list[set[str]] = [set(known)]
    bases = [set(known)]  # what is known behind a comma
    k = 0
    while k < len(text):
        head = HEAD.match(text, k)
        if head and not (k and text[k - 1].isalnum()):
            scopes[-1] = scopes[-1] | words(re.sub(r"∈[^,\]]*", "", head[1]))
            k = head.end()
            continue
        c = text[k]
        word = WORD.match(text, k)
        if labels := LABELS.match(text, k):
            k = labels.end()
            continue
        if c in "([{⟨":
            scopes.append(set(scopes[-1]))
            bases.append(set(scopes[-1]))
        elif c in ")]}⟩" and len(scopes) > 1:
            scopes.pop()
            bases.pop()
        elif text.startswith(", ", k) and len(scopes) > 1:
            scopes[-1] = set(bases[-1])  # a parameter is known up to the comma
        elif word and (word[0] in scopes[-1] or word[0].rstrip("₀₁₂₃₄₅₆₇₈₉") in scopes[-1]):  # x₂ is a part of x
            k = word.end()
            continue
        elif word:
            stem = word[0].rpartition("_")[0] or word[0]  # Σ_k
            if _is_variable(stem, variables) and stem not in scopes[-1]:
                found.add(stem)
            k += len(stem)
            continue
        elif indices := INDICES.match(text, k):
            names = words(indices[1] or indices[2])
            if text[k - 1] == "Σ":
                scopes[-1] = scopes[-1] | names
            elif text.startswith("(", indices.end()):
                scopes.append(scopes[-1] | names)
                bases.append(set(scopes[-1]))
            k = indices.end() + (text[k - 1] != "Σ")
            continue
        k += 1
    return found
