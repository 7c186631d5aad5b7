"""Tables of ratios, and the runs that count, from the least times of turns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import asdict, frozen

from benchmarks.peers.row import BESIDE, CALLS, COMPILED, LISTED, OURS, SPECIAL, Kind, library
from benchmarks.timing import duration

DRIFT, HEAVY_DRIFT = 0.05, 0.15
"""The most drift of a run that counts, and of one in a row that moves more than 10 MB."""
Pair: TypeAlias = tuple[str, float]


@frozen
class Timing:
    """Processor time of one formulation: the least of each turn; page faults of a call; first call; peak of memory."""

    turns: tuple[float, ...]
    faults: float = 0.0
    first: float = 0.0
    peak: float = 0.0

    @property
    def least(self) -> float:
        """The least of all turns."""
        return min(self.turns)

    @property
    def thirds(self) -> tuple[float, float]:
        """The least of the first and of the last third of the turns."""
        third = math.ceil(len(self.turns) / 3)
        return min(self.turns[:third]), min(self.turns[-third:])

    @property
    def drift(self) -> float:
        """The distance of the two, and of both from the least of all, which may be a short spell of a faster clock."""
        return max(self.thirds) / self.least - 1.0


@frozen
class Result:
    """All formulations of one result of one row."""

    title: str
    label: str
    kind: Kind
    heavy: bool
    added: tuple[str, ...]
    timings: Mapping[str, Timing]
    wrong: tuple[str, ...] = ()
    """Formulations whose numbers differ, as sentences."""

    @property
    def what(self) -> str:
        """The row and what is computed."""
        return f"{self.title}: {self.label}"

    def best(self, *, added: bool = False) -> Pair | None:
        """The fastest peer and its time; with those that came later, or without; None if there is no peer."""
        peers = {who: t.least for who, t in self.timings.items() if not who.startswith(OURS)}
        kept = {who: t for who, t in peers.items() if added or who not in self.added}
        return min(kept.items(), key=lambda pair: pair[1]) if kept else None

    def ratio(self, who: str = OURS, *, added: bool = False) -> float | None:
        """The time of ours, or of another form, to that of the fastest peer."""
        best = self.best(added=added)
        return None if best is None or who not in self.timings else self.timings[who].least / best[1]

    @property
    def firsts(self) -> list[Pair]:
        """The first calls of ours, of its machine code, and of JAX: its fastest formulation, added only if all are."""
        jax = [who for who in self.timings if library(who) == "jax"]
        asked = [OURS, COMPILED, *sorted(jax, key=lambda who: (who in self.added, self.timings[who].least))[:1]]
        return [(who, self.timings[who].first) for who in asked if who in self.timings]

    @property
    def limit(self) -> float:
        """The most drift of a run that counts."""
        return HEAVY_DRIFT if self.heavy else DRIFT

    @property
    def counts(self) -> bool:
        """True if all numbers agree, and so do minima of first and last thirds: of ours, compiled too, and of peers."""
        left = {who for who in self.timings if who.startswith(OURS)} - {OURS, COMPILED} | set(self.added)
        row = [t for who, t in self.timings.items() if who not in left]
        return not self.wrong and all(t.drift <= self.limit for t in row)


def mean(results: Iterable[Result], who: str = OURS) -> float | None:
    """The geometric mean of the ratios of the rows of PEERS."""
    ratios = ratios_of(results, who)
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def ratios_of(results: Iterable[Result], who: str) -> list[float]:
    """The ratios of the rows of PEERS that have one."""
    return [r for result in results if result.kind == LISTED and (r := result.ratio(who)) is not None]


def detail(result: Result) -> Iterator[str]:
    """A line for each formulation."""
    yield f"{result.what}{', more than 10 MB' if result.heavy else ''}"
    for who, t in result.timings.items():
        first, last = t.thirds
        ends = f"{duration(first):>8} {duration(last):>8}"
        rest = f"{t.faults:8.1f} faults  first {duration(t.first):>8}  {t.peak:5.0f} MB"
        later = "  later" if who in result.added else ""
        yield f"  {who:<28} {duration(t.least):>8}  thirds {ends}  {rest}{later}"
    yield from (f"  WRONG {sentence}" for sentence in result.wrong)
    yield f"  ratio {number(result.ratio())}, compiled {number(result.ratio(COMPILED))}; {verdict(result)}"


def verdict(result: Result) -> str:
    """The words for a run that counts, or does not."""
    if result.wrong:
        return "does not count: numbers differ"
    named = "15 %" if result.heavy else "5 %"
    return f"counts ({named})" if result.counts else f"does not count ({named})"


def number(ratio: float | None) -> str:
    """A ratio with three digits."""
    return "" if ratio is None else f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.3g}"


def tables(results: Sequence[Result]) -> Iterator[str]:
    """A table in Markdown for each kind of row, and the geometric mean."""
    for kind in (LISTED, BESIDE, SPECIAL, CALLS):
        rows = [result for result in results if result.kind == kind]
        if not rows:
            continue
        beside = "ours beyond numpy" if kind == CALLS else "with later forms"
        heads = [kind, "ours", "compiled", "best peer", "its time", "ours / best", "compiled / best", beside]
        yield f"\n| {' | '.join(heads)} | our other forms | first calls | counts |"
        yield "|" + "---|" * (len(heads) + 3)
        yield from map(line, rows)
        for who in (OURS, COMPILED) if kind == LISTED else ():
            if ratios := ratios_of(rows, who):
                yield f"\ngeometric mean of {len(ratios)} rows, {who}: {mean(rows, who):.3f}"
    left = [result.what for result in results if not result.counts]
    yield f"\nruns that do not count: {'; '.join(left) or 'none'}"


def line(result: Result) -> str:
    """A row of a table."""
    best, other, counted = result.best(), result.best(added=True), (OURS, COMPILED)
    times = {who: result.timings[who].least for who in counted if who in result.timings}
    cells = [result.what, *(duration(times[who]) if who in times else "" for who in counted)]
    cells += ["no peer", ""] if best is None else [best[0], duration(best[1])]
    cells += [number(result.ratio(who)) for who in counted]
    if result.kind == CALLS:
        cells.append("" if OURS not in times or best is None else f"{(times[OURS] - best[1]) * 1e6:.2f} µs")
    else:
        both = ", ".join(number(result.ratio(who, added=True)) for who in times)
        cells.append("" if other == best or other is None else f"{both} ({other[0]})")
    variants = [who for who in result.timings if who.startswith(OURS) and who not in counted]
    cells.append("; ".join(f"{number(result.ratio(who))} ({who.removeprefix(OURS + ', ')})" for who in variants))
    cells.append("; ".join(f"{duration(first).strip()} ({who})" for who, first in result.firsts))
    named = " (15 %)" if result.heavy else ""
    return f"| {' | '.join(cells)} | {'yes' if result.counts else 'no'}{named} |"


def as_json(results: Sequence[Result], header: Sequence[str]) -> str:
    """All results with their turns."""
    made: list[dict[str, Any]] = [
        asdict(r)
        | {"ratio": r.ratio(), "ratio, with later forms": r.ratio(added=True), "counts": r.counts}
        | {"ratio, compiled": r.ratio(COMPILED)}
        for r in results
    ]
    means = {"geometric mean": mean(results), "geometric mean, compiled": mean(results, COMPILED)}
    return json.dumps({"machine": list(header), **means, "results": made}, indent=1)
