"""Models of docs/examples: a transformer block, a hand, ratings, a Gaussian process, a regression, a convolutional net.

JAX's side is that of the tests of these models, which is as short and as idiomatic as it gets. Value and gradient.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import Call, Calls, Made, Row, gradient, jitted, mine

ADBENCH = Path(__file__).parents[3] / "tests" / "data" / "adbench"
VALUE = "value and gradient"
Given: TypeAlias = tuple[tuple[Any, ...], tuple[Any, ...]]
"""The leaves of the point, and what is fixed."""


def drawn(shapes: Sequence[tuple[int, ...]], *, scale: float = 0.3) -> tuple[Any, ...]:
    """Random arrays."""
    rng = np.random.default_rng(0)
    return tuple(np.array(scale * rng.standard_normal(shape)) for shape in shapes)


def peers() -> Any:
    """The models in JAX; its import needs JAX."""
    return importlib.import_module("tests.models.peers")


def row(
    name: str,
    full: Callable[[], Given],
    small: Callable[[], Given],
    function: Callable[[Given], Any],
    peer: Callable[[Given], Callable[..., Any]],
    *,
    parts: int | None = None,
    closed: bool = False,
) -> Row:
    """Our function of a given, and JAX's of the leaves and of what is fixed, unless it is closed over.

    Slopes are taken in all leaves, or in those of part 0, which has `parts`.
    """

    def ours(given: Given, made: Made) -> Calls:
        f = function(given)
        both = made(hb.value_and_grad(f) if parts is None else hb.value_and_grad(f, 0))
        at = hb.Vec(f.dom, given[0])
        return {VALUE: Call(lambda: both(at))}

    def in_jax(given: Given) -> Calls:
        count = len(given[0]) if parts is None else parts
        arrays = given[0] if closed else (*given[0], *given[1])
        return {VALUE: jitted(peer(given), arrays, gradient(tuple(range(count))))}

    return Row(name, {**mine(ours), "jax": in_jax}, lambda _: full(), small)


# --- transformer block ---


def texts() -> Given:
    """Parameters, a text and what is due: 24 tokens of 32 features, 4 heads of 8 keys, 64 hidden units."""
    norm, head = [(32,), (32,)], [(4, 8, 32), (4, 8, 32), (4, 8, 32), (4, 32, 8)]
    return drawn([*norm, *head, *norm, (64, 32), (64,), (32, 64), (24, 32), (24, 32)]), ()


def transformer(_: Given) -> Any:
    """docs/examples/transformer.py, its loss."""
    from docs.examples.transformer import loss

    return loss


# --- hand ---


def sight() -> Given:
    """A pose; what is seen, and how the hand is made."""
    from docs.examples import hand

    model, seen = hand.read_hand(ADBENCH / "hand_model"), hand.read_sight(ADBENCH / "hand6_t26_c1600.txt")
    return drawn([(3,), (3,), (5, 4)]), (model, seen)


def hand(given: Given) -> Any:
    """docs/examples/hand.py, the squares of its residuals."""
    from docs.examples import hand

    residuals = hand.residuals(*given[1])
    return hb.fun(hand.POSE)(lambda p: hb.square(residuals(p)).sum())


def hand_in_jax(given: Given) -> Callable[..., Any]:
    """The same."""
    model, seen = given[1]
    made = peers().hand(model.wrist.array, model.still.array, *model.limbs.leaves, seen.which, seen.targets)
    return lambda *pose: (made(*pose) ** 2).sum()


# --- ratings ---


def table(people: int, films: int, each: int) -> Given:
    """Tastes of people and films; who gave what how many stars."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(people), each)
    what = np.concatenate([rng.choice(films, each, replace=False) for _ in range(people)])
    return drawn([(people, 3), (films, 3)]), (who, what, rng.uniform(0.0, 5.0, people * each))


def ratings(given: Given) -> Any:
    """docs/examples/ratings.py, the squares of its errors."""
    from docs.examples.ratings import Film, Person, Taste, ratings
    from hilbert.relation import labels

    (u, v), (who, what, stars) = given
    person, film = (
        labels([f"p{k:03}" for k in range(len(u))], Person),
        labels([f"f{k:03}" for k in range(len(v))], Film),
    )
    rows = [person.labels[k] for k in who], [film.labels[k] for k in what]
    rated = ratings(*rows, person, film, hb.Fin(Taste, 3))
    due = rated.cod.vec(stars)
    return hb.fun.over(rated.dom)(lambda u, v: hb.square(rated(u, v) - due).sum())


# --- regressions, and a net ---


def sine(n: int) -> Given:
    """Logarithms of length, amplitude and noise; a noisy sine."""
    rng = np.random.default_rng(0)
    t = np.sort(10 * rng.random(n))
    return drawn([(), (), ()]), (t, np.sin(2.0 * t) + 0.1 * rng.standard_normal(n))


def gaussian_process(given: Given) -> Any:
    """docs/examples/gaussian_process.py."""
    from docs.examples.gaussian_process import Sample, log_likelihood

    V = hb.R ** hb.Fin(Sample, len(given[1][0]))
    return log_likelihood(*map(V.vec, given[1]))


def tumours() -> Given:
    """Weights; the 569×31 measurements and labels that ship with scikit-learn."""
    from docs.examples.logistic import data

    A, y = data()
    return drawn([(31,)]), (A.array, y.array)


def logistic(given: Given) -> Any:
    """docs/examples/logistic.py."""
    from docs.examples.logistic import case, feature, loss

    A, y = given[1]
    return loss((hb.R ** (case * feature)).vec(A), (hb.R**case).vec(y))


def images() -> Given:
    """Parameters; 32 images of 8×8 and their digits."""
    from docs.examples.convolutional import P

    rng = np.random.default_rng(0)
    return P.random(rng, scale=0.3).leaves, (rng.random((32, 8, 8, 1)), rng.integers(0, 10, 32))


def convolutional(given: Given) -> Any:
    """docs/examples/convolutional.py, its mean loss."""
    from docs.examples.convolutional import P, Sample, batch, objective

    samples = (Sample**batch).vec(given[1])
    return hb.fun(P)(lambda p: objective(p, samples))


def convolutional_in_jax(given: Given) -> Callable[..., Any]:
    """The same; digits are constants."""
    made = peers().convolutional(given[1][1])
    return lambda *leaves: made(*leaves[:-1])


ROWS = (
    row("transformer block, 24×32", texts, texts, transformer, lambda _: peers().transformer, parts=11),
    row("hand, 1,600 points", sight, sight, hand, hand_in_jax, closed=True),
    row(
        "ratings, 3,000 rows",
        lambda: table(200, 60, 15),
        lambda: table(4, 3, 2),
        ratings,
        lambda _: lambda u, v, *seen: peers().ratings(*seen)(u, v),
    ),
    row(
        "Gaussian process, n = 100",
        lambda: sine(100),
        lambda: sine(5),
        gaussian_process,
        lambda _: peers().gaussian_process,
    ),
    row("logistic regression, 569×31", tumours, tumours, logistic, lambda _: peers().logistic),
    row("convolutional net, batch 32", images, images, convolutional, convolutional_in_jax),
)
