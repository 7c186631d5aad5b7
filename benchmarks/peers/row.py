"""A row of the tables: one input, and the formulations of one computation, ours and those of the peers."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from attrs import field, frozen

import hilbert.all as hb
from benchmarks import timing

OURS, COMPILED = "ours", "ours, compiled"
GCC = "gcc"
LISTED: Kind = "the 21 rows"
BESIDE: Kind = "beside JAX"
SPECIAL: Kind = "beside specialists"
CALLS: Kind = "calls"
Kind: TypeAlias = Literal["the 21 rows", "beside JAX", "beside specialists", "calls"]
Given: TypeAlias = Any
"""The arrays of a row; each module has a form of its own."""


def leaves(result: Any) -> list[Any]:
    """The arrays of a vector, of nested tuples, lists and dictionaries of them, or of one array."""
    if isinstance(result, dict):
        return [leaf for key in sorted(result) for leaf in leaves(result[key])]
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return list(result.leaves) if hasattr(result, "leaves") else [result]


@frozen
class Call:
    """A timed call, and the arrays of its result in the order and the shapes that all formulations share."""

    run: Callable[[], Any]
    numbers: Callable[[Any], list[Any]] = leaves


Calls: TypeAlias = Mapping[str, Call]
"""A call for each label: what is computed."""
Maker: TypeAlias = Callable[[Given], Calls]
Made: TypeAlias = Callable[[Any], Any]
"""The same function, or its machine code."""
Ours: TypeAlias = Callable[[Given, Made], Calls]
"""The maker of our calls, of an input and of a change of functions: none, or `compiled`."""


def plain(function: Any) -> Any:
    """The function itself."""
    return function


def mine(ours: Ours, form: str = "") -> dict[str, Maker]:
    """A form of ours by the interpreter, and as machine code."""
    end = f", {form}" if form else ""
    return {OURS + end: lambda given: ours(given, plain), COMPILED + end: lambda given: ours(given, hb.compiled)}


@frozen
class Row:
    """A row: its name, its input, and what makes the calls of each formulation, called by library and form.

    The first word of a formulation is its library; those whose first word is `ours` are ours. Of them `ours` itself
    counts, and so does its machine code, `ours, compiled`.
    """

    name: str
    peers: Mapping[str, Maker]
    given: Callable[[Path | None], Given]
    """The input, from a file of ADBench or, where there is none, drawn by a fixed seed in the same shape."""
    small: Callable[[], Given]
    """An input of a few numbers, for the tests."""
    kind: Kind = field(default=BESIDE)
    file: str | None = None
    """The file of ADBench, below the folder that `--data` names."""
    added: tuple[str, ...] = ()
    """Better formulations that came later: they are reported, and the row's number does not hold for them."""
    heavy: bool = False
    """True if a call moves more than 10 MB: memory is shared with the rest of the machine."""
    tolerance: float = 1e-9

    def path(self, folder: Path | None) -> Path | None:
        """The file of the input, if there is one."""
        path = folder / self.file if folder is not None and self.file is not None else None
        return path if path is not None and path.exists() else None

    def title(self, folder: Path | None) -> str:
        """The name; whether the input is drawn in place of a file."""
        drawn = self.file is not None and self.path(folder) is None
        return f"{self.name} (drawn, no file)" if drawn else self.name

    def installed(self) -> list[str]:
        """The formulations whose libraries are there."""
        return [who for who, names in self.missing().items() if not names]

    def missing(self) -> dict[str, list[str]]:
        """The packages, and the compiler, that each formulation lacks."""
        return {who: [name for name in needed(who) if not there(name)] for who in self.peers}


def needed(who: str) -> list[str]:
    """The packages, and the compiler, without which a formulation is left out."""
    packages = ["llvmlite"] if who.startswith(COMPILED) else [name for name in [library(who)] if name is not None]
    return [*packages, GCC] if who.endswith(f"by {GCC}") else packages


def there(name: str) -> bool:
    """Tell if a package, or the compiler, is on this machine."""
    return (shutil.which(GCC) if name == GCC else timing.optional(name)) is not None


def library(who: str) -> str | None:
    """The package that a formulation imports before its first call, beside numpy, which is there."""
    first = who.replace(",", " ").split()[0]
    return None if first in {OURS, "numpy", "python"} else first


def jitted(value: Callable[..., Any], arrays: Any, derive: Callable[[Any, Any], Any] | None = None) -> Call:
    """A function of JAX, or what `derive(jax, function)` makes of the function, compiled, at arrays of JAX."""
    found = timing.jax()
    compiled = found.jit(value if derive is None else derive(found, value))
    here = found.tree.map(found.numpy.asarray, tuple(arrays))
    return Call(lambda: awaited(compiled(*here)))


def awaited(result: Any) -> Any:
    """A finished result of JAX: the arrays of one call are ready together, so that the first one is asked."""
    first = result
    while isinstance(first, (tuple, list)):
        first = first[0]
    first.block_until_ready()
    return result


def gradient(count: int | tuple[int, ...] = 0) -> Callable[[Any, Any], Any]:
    """JAX's value and gradient in these arguments."""
    return lambda jax, f: jax.value_and_grad(f, count)


def agree(what: str, results: Mapping[str, list[Any]], tolerance: float) -> list[str]:
    """The formulations whose arrays differ from the first one's, relative to its largest entry, as sentences."""
    whole = {who: [np.asarray(a, dtype=np.float64) for a in arrays] for who, arrays in results.items()}
    first, *others = whole
    found = []
    for who in others:
        if [a.shape for a in whole[first]] != [a.shape for a in whole[who]]:
            found.append(f"{what}: {who} has arrays of other shapes than {first}")
            continue
        size = max((float(np.max(np.abs(a), initial=0.0)) for a in whole[first]), default=0.0)
        pairs = zip(whole[first], whole[who], strict=True)
        error = max((float(np.max(np.abs(a - b), initial=0.0)) for a, b in pairs), default=0.0)
        if not error <= tolerance * max(size, 1e-300):
            found.append(f"{what}: {who} differs from {first} by {error / max(size, 1e-300):.1e} > {tolerance:.0e}")
    return found
