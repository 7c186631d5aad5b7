"""Programs of the other languages as machine code: KS-Lisp and caddie."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from adjoint.languages import Source
from adjoint.languages.caddie import load as load_caddie
from adjoint.languages.ks import load as load_ks
from hilbert.arrays.libraries.random_entries import drawn
from tests.caddie_programs import Programs
from tests.ks_programs import PROGRAMS

pytest.importorskip("llvmlite")


def agrees(f: Any) -> None:
    """f and its vector-Jacobian product are the interpreter's, at a point of positive numbers."""
    for g in (f, hb.vjp(f)):
        rng = np.random.default_rng(0)
        at = hb.Vec(g.dom, tuple(np.abs(drawn(rng, leaf)) for leaf in g.dom.leaves))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            due = g(at)
        found = hb.compiled(g)(at)
        for one, other in zip(due.leaves, found.leaves, strict=True):
            assert np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("k", range(len(PROGRAMS)), ids=lambda k: f"{k} {PROGRAMS[k][0][:40]}")
def test_ks(k: int) -> None:
    """The program of a function of KS-Lisp for arguments of one shape."""
    body, _, points = PROGRAMS[k]
    f: Any = load_ks([Source("t.ks", f"(def f {body})")]).functions["f"]
    agrees(f.like(points[0]))


@pytest.mark.parametrize("seed", range(8))
def test_caddie(seed: int) -> None:
    """Generated functions of caddie."""
    text, _ = Programs(seed).program(40)
    agrees(load_caddie([Source("t.cad", text)]).f.like((0.5, [0.25, -0.5, 0.75])))
