"""A picture laid out from left to right in layers, and written as SVG."""

from __future__ import annotations

import itertools
from html import escape
from typing import TYPE_CHECKING, final

from attrs import frozen

from hilbert.errors import visible

if TYPE_CHECKING:
    from diff.diagrams.picture import Picture

LETTER, SMALL = 7.2, 5.6
"""The width of a letter in a box, and along a wire, in pixels."""
ROW, BOX, GAP, MARGIN = 44.0, 26.0, 26.0, 14.0
BEND = 7.0
"""Half of the height that a wire takes which only passes a layer."""
LONG = 30
"""A text of more letters is cut; the whole stands in its title."""
SWEEPS = 6
STYLE = (
    "text{font:12px sans-serif;text-anchor:middle;fill:currentColor}"
    ".w{font-size:9px;opacity:.75}rect,path{fill:none;stroke:currentColor}"
    "path{stroke-width:1.2}.d{fill:currentColor}"
)


@final
@frozen(eq=False)
class Node:
    """An end, a box, a dot where wires are copied or add up, or a bend of a wire; by its kind."""

    kind: str
    text: str = ""
    title: str = ""

    @property
    def width(self) -> float:
        """In pixels."""
        if self.kind in ("box", "end"):
            return max(BOX, LETTER * len(_cut(self.text)) + 12)
        return {"sum": 18.0, "copy": 6.0}.get(self.kind, 0.0)


def drawn(picture: Picture) -> str:
    """The picture as SVG."""
    return _Drawing(picture).svg()


class _Drawing:
    """The nodes of a picture, the wires between them, and where they stand."""

    def __init__(self, picture: Picture) -> None:
        self.nodes: list[Node] = []
        self.wires: list[tuple[int, int, str]] = []
        sources: dict[int, list[int]] = {v: [self._node("end", text)] for v, text in picture.given.items()}
        readers: dict[int, list[int]] = {}
        for part in picture.parts:
            k = self._node("box" if part.text else "bend", part.text, part.title)
            for v in part.reads:
                readers.setdefault(v, []).append(k)
            sources.setdefault(part.makes, []).append(k)
        self.ends = [self._node("end", text) for text in picture.ends]
        for v, k in zip(picture.results, self.ends, strict=True):
            readers.setdefault(v, []).append(k)
        for v, those in readers.items():
            self._joined(sources.get(v, []), those, picture.spaces.get(v, ""))
        self._layered()
        self._placed()

    def _node(self, kind: str, text: str = "", title: str = "") -> int:
        self.nodes.append(Node(kind, text, title))
        return len(self.nodes) - 1

    def _joined(self, sources: list[int], readers: list[int], text: str) -> None:
        """Wires from the sources of a value, which add up, to its readers, which get a copy each."""
        if not sources:  # nothing reaches it: it is 0
            sources = [self._node("box", "0")]
        for kind, ends in (("sum", sources), ("copy", readers)):
            if len(ends) > 1:
                dot = self._node(kind)
                if kind == "sum":
                    self.wires += [(k, dot, self._seen(k, text)) for k in sources]
                    sources, text = [dot], ""
                else:
                    self.wires += [(dot, k, "") for k in readers]
                    readers = [dot]
        self.wires.append((sources[0], readers[0], self._seen(sources[0], text)))

    def _seen(self, k: int, text: str) -> str:
        """The text of a wire; a wire that goes on has had it."""
        return "" if self.nodes[k].kind == "bend" else text

    def _layered(self) -> None:
        """Each node one layer behind what it reads, sources as far behind as they may; long wires have bends."""
        before: list[list[int]] = [[] for _ in self.nodes]
        after: list[list[int]] = [[] for _ in self.nodes]
        for a, b, _ in self.wires:
            before[b].append(a)
            after[a].append(b)
        layer, left, ready = [0] * len(self.nodes), list(map(len, before)), [k for k, b in enumerate(before) if not b]
        for k in ready:
            for b in after[k]:
                layer[b] = max(layer[b], layer[k] + 1)
                left[b] -= 1
                if not left[b]:
                    ready.append(b)
        last = max([1, *layer])
        for k, node in enumerate(self.nodes):
            if not before[k] and after[k] and node.kind != "end":  # a constant
                layer[k] = min(layer[b] for b in after[k]) - 1
        for k in self.ends:
            layer[k] = last
        wires, self.paths = self.wires, list[tuple[list[int], str]]()
        self.wires = []
        for a, b, text in wires:
            way = [a, *(self._node("bend") for _ in range(layer[a] + 1, layer[b])), b]
            layer += range(layer[a] + 1, layer[b])
            self.wires += [(p, q, text if p == a else "") for p, q in itertools.pairwise(way)]
            self.paths.append((way, text))
        self.layers: list[list[int]] = [[] for _ in range(last + 1)]
        for k, at in enumerate(layer):
            self.layers[at].append(k)

    def _placed(self) -> None:
        """Rows by the middle of the neighbours, columns as wide as their nodes and the texts of the wires behind."""
        self.y = {k: r * ROW for some in self.layers for r, k in enumerate(some)}
        near: dict[int, dict[int, list[int]]] = {0: {}, 1: {}}
        for a, b, _ in self.wires:
            near[0].setdefault(b, []).append(a)
            near[1].setdefault(a, []).append(b)
        for sweep in range(SWEEPS):
            backwards = sweep % 2
            for some in self.layers[::-1] if backwards else self.layers:
                goal = {k: _mean([self.y[n] for n in near[backwards].get(k, ())], self.y[k]) for k in some}
                some.sort(key=goal.__getitem__)
                rows, last = list[float](), -1
                for k in some:
                    rows.append(max(goal[k], rows[-1] + self._apart(last, k)) if rows else goal[k])
                    last = k
                shift = _mean([goal[k] - row for k, row in zip(some, rows, strict=True)], 0.0)
                self.y |= {k: row + shift for k, row in zip(some, rows, strict=True)}
        self.x, at = dict[int, float](), MARGIN
        for some in self.layers:
            wide = max((self.nodes[k].width for k in some), default=0.0)
            self.x |= dict.fromkeys(some, at + wide / 2)
            here = set(some)
            texts = [SMALL * len(_cut(text)) for a, _, text in self.wires if a in here]
            at += wide + GAP + max(texts, default=0.0)
        self.width = at - GAP + MARGIN
        self.y = _squeezed(self.y)
        self.height = max(self.y.values(), default=0.0) + ROW / 2 + 4

    def _apart(self, above: int, below: int) -> float:
        """The distance of two nodes of a layer: wires that only pass lie closer together than boxes."""
        return sum(BEND if self.nodes[k].kind == "bend" else ROW / 2 for k in (above, below))

    def svg(self) -> str:
        """The text of the file."""
        size = f'width="{self.width:.0f}" height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}"'
        into: dict[int, list[int]] = {}
        for way, _ in self.paths:
            into.setdefault(way[-1], []).append(way[-2])
        body = [self._wire(way, text, into) for way, text in self.paths]
        body += [self._shape(k, node) for k, node in enumerate(self.nodes)]
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>{"".join(body)}</svg>'

    def _wire(self, way: list[int], text: str, into: dict[int, list[int]]) -> str:
        ends = into[way[-1]]
        place = (ends.index(way[-2]) - (len(ends) - 1) / 2) * min(10.0, BOX / len(ends))
        if self.nodes[way[-1]].kind != "box":
            place = 0.0
        x, y = self.x[way[0]] + self.nodes[way[0]].width / 2, self.y[way[0]]
        steps, label = [f"M{x:.1f} {y:.1f}"], ""
        if text:  # above a stretch that is straight
            wide = SMALL * len(_cut(text)) + 6
            label = _text(x + wide / 2, y - 4, text, "w")
            x += wide
            steps.append(f"H{x:.1f}")
        for k in way[1:]:
            to, low = self.x[k] - self.nodes[k].width / 2, self.y[k] + (place if k == way[-1] else 0.0)
            steps.append(f"C{(x + to) / 2:.1f} {y:.1f} {(x + to) / 2:.1f} {low:.1f} {to:.1f} {low:.1f}")
            x, y = to, low
        return f'<path d="{"".join(steps)}"/>{label}'

    def _shape(self, k: int, node: Node) -> str:
        x, y = self.x[k], self.y[k]
        match node.kind:
            case "box":
                w = node.width
                box = f'<rect x="{x - w / 2:.1f}" y="{y - BOX / 2:.1f}" width="{w:.1f}" height="{BOX:.0f}" rx="4"/>'
                return box + _text(x, y + 4, node.text, title=node.title)
            case "end":
                return _text(x, y + 4, node.text) if node.text else ""
            case "copy":
                return f'<circle class="d" cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
            case "sum":
                circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="none" stroke="currentColor"/>'
                return circle + _text(x, y + 4, "+")
            case _:  # a bend is nothing but its wire
                return ""


def _squeezed(rows: dict[int, float]) -> dict[int, float]:
    """The places from the top on, where no stripe without nodes is higher than a row."""
    at, last = ROW / 2 + 4, min(rows.values(), default=0.0)
    placed = dict[int, float]()
    for k, y in sorted(rows.items(), key=lambda item: item[1]):
        at += min(y - last, ROW)
        placed[k], last = at, y
    return placed


def _text(x: float, y: float, text: str, kind: str = "", title: str = "") -> str:
    short = _cut(text)
    if title or short != text:
        title = f"<title>{_safe(title or text)}</title>"
    return f'<text{f" class={kind!r}" if kind else ""} x="{x:.1f}" y="{y:.1f}">{title}{_safe(short)}</text>'


def _cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def _safe(text: str) -> str:
    return escape(visible(text))


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
