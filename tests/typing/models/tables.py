"""Every signature of the functions of tables, windows and sparse matrices: what is not named is anonymous."""

from typing import Any, reveal_type

import numpy as np
from scipy.sparse import csr_array

from diff import sparse_product
from hilbert import Elements, Fin, R
from hilbert.relation import by_key, by_keys, labels, sliding, window
from linmap import concatenate, crop, differences, from_scipy, gather, group_by, pad, pool, segment_sum, sparse, windows


class Day: ...


class Shop: ...


class Week: ...


class Place: ...


day, shop, week = Fin(Day, 6), Fin(Shop, 3), Fin(Week, 2)
V = R**shop
towns = labels(["Turku", "Bergen", "Aarhus"], Place)
column, kinds = ["Turku"] * 6, ["tea", "ink"] * 3


def relations() -> None:
    reveal_type(by_key(column))  # N: Graph[Fin[Anonymous], Fin[Anonymous]]
    reveal_type(by_key(column, keys=towns))  # N: Graph[Fin[Anonymous], Fin[Place]]
    reveal_type(by_key(column, rows=day))  # N: Graph[Fin[Day], Fin[Anonymous]]
    reveal_type(by_key(column, rows=day, keys=towns))  # N: Graph[Fin[Day], Fin[Place]]
    reveal_type(by_keys(column, kinds))  # N: Pairs[Fin[Anonymous], Fin[Anonymous]]
    reveal_type(by_keys(column, column, sources=towns, targets=towns))  # N: Pairs[Fin[Place], Fin[Place]]
    reveal_type(window(day, 2))  # N: Window[Fin[Day], Fin[Anonymous]]
    reveal_type(window(day, 3, stride=3, to=week))  # N: Window[Fin[Day], Fin[Week]]
    reveal_type(sliding(day, 2))  # N: Sliding[Fin[Anonymous], Fin[Anonymous], Fin[Day]]
    reveal_type(sliding(day, 3, stride=3, to=week * shop))  # N: Sliding[Fin[Week], Fin[Shop], Fin[Day]]


def maps() -> None:
    reveal_type(pad(shop, 1, 2))  # N: LinMap[Vector[Shop], Vector[Anonymous]]
    reveal_type(crop(day, 1, None))  # N: LinMap[Vector[Day], Vector[Anonymous]]
    reveal_type(concatenate(day, shop).cod)  # N: Copower[Field, Coproduct[Fin[Day], Fin[Shop]]]
    reveal_type(concatenate(day, shop, week).cod)  # N: Copower[Field, Coproduct[Coproduct[Fin[Day], Fin[Shop]], Fin[Week]]]
    reveal_type(concatenate(day, shop, week, day))  # N: LinMap[Any, Copower[Field, Any]]
    reveal_type(concatenate(week, week, week, to=day))  # N: LinMap[DirectSum[Vector[Week], Vector[Week], Vector[Week]], Vector[Day]]
    reveal_type(concatenate(week, *[Fin.of(1)] * 4, to=day))  # N: LinMap[Any, Vector[Day]]
    reveal_type(windows(day, 2).cod)  # N: Matrix[Anonymous, Anonymous]
    reveal_type(pool(day, 2))  # N: LinMap[Vector[Day], Vector[Anonymous]]
    reveal_type(differences(day))  # N: LinMap[Vector[Day], Vector[Anonymous]]


def tables(matrix: Any) -> None:
    which = [0, 2, 2, 1, 0, 0]
    found = (Elements(shop) ** day).vec(which)
    reveal_type(gather(which, shop))  # N: LinMap[Vector[Shop], Vector[Anonymous]]
    reveal_type(segment_sum(found))  # N: LinMap[Vector[Day], Vector[Shop]]
    reveal_type(segment_sum(which, shop))  # N: LinMap[Vector[Anonymous], Vector[Shop]]
    reveal_type(group_by(column))  # N: LinMap[Vector[Anonymous], Vector[Anonymous]]
    reveal_type(group_by(column, towns))  # N: LinMap[Vector[Anonymous], Vector[Place]]
    reveal_type(group_by(column, rows=day))  # N: LinMap[Vector[Day], Vector[Anonymous]]
    reveal_type(sparse([0], [1], [2.0], day, week, V))  # N: LinMap[Copower[Vector[Shop], Fin[Day]], Copower[Vector[Shop], Fin[Week]]]
    reveal_type(sparse_product([0], [1], day, week).cod)  # N: Vector[Week]
    reveal_type(sparse_product([0, 1, 1], [1, 2, 3], day, week, V, entries=shop).cod)  # N: Copower[Vector[Shop], Fin[Week]]
    reveal_type(from_scipy(matrix).cod)  # N: Vector[Anonymous]
    reveal_type(from_scipy(matrix, day, week))  # N: LinMap[Vector[Day], Vector[Week]]
    reveal_type(from_scipy(matrix, day, week, V).dom)  # N: Copower[Vector[Shop], Fin[Day]]


def main() -> None:
    relations()
    maps()
    tables(csr_array(np.ones((2, 6))))
