"""Parameters → gradient → step → file → parameters → gradient, of records in records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from docs.examples import gmm, lstm
from tests.untyped import each

ADBENCH = Path(__file__).parents[1] / "data" / "adbench"


class Mixture(hb.Record):
    """Gaussians and how far the points are away."""

    gaussians: hb.Part[hb.Copower[gmm.Gaussian, hb.Fin[gmm.Component]]]
    shift: hb.Part[hb.Vector[gmm.Axis]]


class Trained(hb.Record):
    """A network and its memory at the start."""

    net: hb.Part[lstm.Net]
    start: hb.Part[lstm.Memories]


def mixture() -> tuple[hb.Map[Mixture, hb.Scalar], hb.Vec[Mixture]]:
    """gmm_test.txt with all points moved by a parameter."""
    f, gaussians, xs = gmm.read((ADBENCH / "gmm_test.txt").read_text("utf-8"))
    P = Mixture(gaussians=gaussians.space, shift=xs.space.base)
    objective = hb.fun(P)(lambda p: f(p[Mixture.gaussians], each(lambda x: x - p[Mixture.shift], hb.const(xs))))
    return objective, P.of(gaussians=gaussians, shift=xs.space.base.zeros())


def recurrent() -> tuple[hb.Map[Trained, hb.Scalar], hb.Vec[Trained]]:
    """The first forty characters of lstm_l2_c1024.txt, in the network and in its memory."""
    _, point = lstm.read((ADBENCH / "lstm_l2_c1024.txt").read_text("utf-8"))
    net, start, text, _following = point.split()
    letters = text.array[:41]
    f: Any = lstm.loss(2, letters.shape[1], 40)
    here, there = (f.dom.parts[k].vec(part) for k, part in ((2, letters[:-1]), (3, letters[1:])))
    P = Trained(net=net.space, start=start.space)
    loss = hb.fun(P)(lambda p: f(p[Trained.net], p[Trained.start], here, there))
    return loss, P.of(net=net, start=start)


@pytest.mark.parametrize("model", [mixture, recurrent])
def test_round_trip(model: Any, tmp_path: Path) -> None:
    """The file has the paths of the leaves; the gradient after it is the gradient before it; a step goes down."""
    f, p = model()
    gradient = hb.grad(f)
    step = gradient(p)
    assert type(step.space) is type(p.space)
    after = p - 1e-4 / step.norm() * step
    file = tmp_path / "p.npz"
    hb.save(after, file)
    with np.load(file) as found:
        assert len(found.files) == len(p.leaves)
        assert all("." in key or key == "shift" for key in found.files)
    back = hb.load(p.space, file)
    assert hb.equal(back, after)
    assert hb.equal(gradient(back), gradient(after))
    assert float(f(back)) < float(f(p))
    assert f.dom == back.space
