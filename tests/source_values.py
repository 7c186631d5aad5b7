"""Values of sources beside those of their functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.libraries.random_entries import drawn

if TYPE_CHECKING:
    import hilbert.all as hb
    from hilbert import Vec


def point(f: Any, rng: np.random.Generator) -> Vec[Any]:
    """A vector of a function's domain, of numbers from ½ to 2."""
    leaves = [
        rng.uniform(0.5, 2.0, leaf.shape).astype(leaf.dtype) if leaf.is_field else drawn(rng, leaf)
        for leaf in f.dom.leaves
    ]
    found: Vec[Any] = f.dom.vec(f.dom.pack(iter(leaves)))
    return found


def same(source: hb.Source, x: Vec[Any], y: Vec[Any], tolerance: float = 1e-12) -> bool:
    """The function of a source has the value y at x, in shapes and dtypes too."""
    made = source.function()(*(np.array(a)[()] for a in x.leaves))
    found = made if isinstance(made, tuple) else (made,)
    return len(found) == len(y.leaves) and all(_close(a, b, tolerance) for a, b in zip(found, y.leaves, strict=True))


def _close(got: Any, want: Any, tolerance: float) -> bool:
    eps = 1e-5 if want.dtype == np.float32 else tolerance
    got = np.asarray(got)
    if (got.shape, got.dtype) != (want.shape, want.dtype):
        return False
    size = np.max(np.abs(want), initial=1.0, where=np.isfinite(want)) if want.dtype.kind == "f" else 1.0
    return bool(np.allclose(got, want, rtol=eps, atol=eps * size, equal_nan=True))
