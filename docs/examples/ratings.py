"""Factorisation of ratings: a table of who gave what how many stars, by a short vector for each person and each film.

The table is drawn here: 200 people rate 15 of 60 films each; a tenth of the rows is held out.

    python docs/examples/ratings.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

import hilbert.all as hb
from hilbert.relation import labels


class Row:
    """The rows of the table."""


class Person:
    """The users, who rate."""


class Film:
    """The films, which are rated."""


class Taste:
    """The features that make films alike."""


Tastes: TypeAlias = hb.Vector[Taste]
Table: TypeAlias = tuple[list[str], list[str], list[float]]
People: TypeAlias = hb.Copower[Tastes, hb.Fin[Person]]
Films: TypeAlias = hb.Copower[Tastes, hb.Fin[Film]]


def ratings(
    people: Sequence[str], films: Sequence[str], person: hb.Fin[Person], film: hb.Fin[Film], taste: hb.Fin[Taste]
) -> hb.Map[hb.DirectSum[People, Films], hb.Vector[Row]]:
    """(u_person ⊙ v_film) for each row: (ℝ^Taste)^Person ⊕ (ℝ^Taste)^Film → ℝ^Row."""
    row, V = hb.Fin(Row, len(people)), hb.R**taste
    who, what = person.at(people, row), film.at(films, row)

    @hb.fun(V**person, V**film)
    def f(u: hb.Expr[People], v: hb.Expr[Films]) -> hb.Expr[hb.Vector[Row]]:
        return hb.each(hb.inner, u[who], v[what])

    return f


def drawn(rng: np.random.Generator) -> Table:
    """Names of people and films, and stars: products of two hidden vectors with noise."""
    u, v = rng.random((200, 3)), rng.random((60, 3))
    rows = [(p, f) for p in range(200) for f in rng.choice(60, 15, replace=False)]
    stars = [float(5 * u[p] @ v[f] / 3 + 0.1 * rng.standard_normal()) for p, f in rows]
    return [f"person {p}" for p, _ in rows], [f"film {f}" for _, f in rows], stars


def main() -> None:
    """Fit by gradient descent, and compare with the rows that were held out."""
    rng = np.random.default_rng(0)
    people, films, stars = drawn(rng)
    person, film, taste = labels(people, Person), labels(films, Film), hb.Fin(Taste, 3)
    parts = [(people[k::10], films[k::10], np.array(stars[k::10])) for k in range(10)]
    held, kept = parts[0], [[x for part in parts[1:] for x in part[column]] for column in range(3)]
    seen = ratings(kept[0], kept[1], person, film, taste)
    due = seen.cod.vec(kept[2])
    loss = hb.fun.over(seen.dom)(
        lambda u, v: hb.square(seen(u, v) - due).sum() + 0.05 * (hb.inner(u, u) + hb.inner(v, v))
    )
    step, factors = hb.value_and_grad(loss), seen.dom.random(rng, scale=0.3) + 0.7 * seen.dom.ones()
    print(seen, end="\n\n")
    for k in range(301):
        value, gradient = step(factors).split()
        factors = factors - 0.004 * gradient
        if k % 100 == 0:
            print(f"{k:3}: loss {float(value):.3f}")
    error = ratings(held[0], held[1], person, film, taste)(factors).array - held[2]
    wrong = np.linalg.norm(error) / len(error) ** 0.5
    print(f"error of a held-out rating: {wrong:.3f} stars, of their mean {held[2].std():.3f}")


if __name__ == "__main__":
    main()
