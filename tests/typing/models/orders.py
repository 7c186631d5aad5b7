"""One order of arguments: tables, index sets, amounts, and the space last; what is left out is ℝ."""

from typing import Any, reveal_type

from diff import bilinear, sparse_product
from hilbert import Elements, Fin, R, Vec, Vector
from hilbert.relation import function, labels, leq
from linmap import (
    concatenate,
    crop,
    cumsum,
    differences,
    flip,
    from_scipy,
    gather,
    group_by,
    pad,
    permute,
    pool,
    red,
    rep,
    reshape,
    roll,
    scale,
    segment_sum,
    sparse,
    stack,
    total,
    transpose,
    unstack,
    windows,
)
from linmap.contraction import gather as gather_at
from linmap.contraction import pick
from linmap.contraction import segment_sum as segment_sum_at


class Day: ...


class Shop: ...


class Week: ...


class Place: ...


day, shop, week = Fin(Day, 6), Fin(Shop, 3), Fin(Week, 2)
V = R**shop
towns = labels(["Turku", "Bergen", "Aarhus"], Place)
column, which = ["Turku"] * 6, [0, 2, 2, 1, 0, 0]


def reductions() -> None:
    reveal_type(red(leq(day)))  # N: LinMap[Vector[Day], Vector[Day]]
    reveal_type(red(leq(day), V))  # N: LinMap[Copower[Vector[Shop], Fin[Day]], Copower[Vector[Shop], Fin[Day]]]
    reveal_type(total(day))  # N: LinMap[Vector[Day], Field]
    reveal_type(total(day, V))  # N: LinMap[Copower[Vector[Shop], Fin[Day]], Vector[Shop]]
    reveal_type(rep(day))  # N: LinMap[Field, Vector[Day]]
    reveal_type(rep(day, V))  # N: LinMap[Vector[Shop], Copower[Vector[Shop], Fin[Day]]]
    reveal_type(cumsum(day, reverse=True))  # N: LinMap[Vector[Day], Vector[Day]]
    reveal_type(cumsum(day, V).cod)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(differences(day, V).cod)  # N: Copower[Vector[Shop], Fin[Anonymous]]
    reveal_type(differences(shop, to=week))  # N: LinMap[Vector[Shop], Vector[Week]]
    reveal_type(differences(shop, R**day, to=week).cod)  # N: Copower[Vector[Day], Fin[Week]]
    reveal_type(scale(2.0))  # N: LinMap[Field, Field]
    reveal_type(scale(R.vec(2.0)))  # N: LinMap[Field, Field]
    reveal_type(scale(2.0, V))  # N: LinMap[Vector[Shop], Vector[Shop]]
    reveal_type(scale(R.vec(2.0), V))  # N: LinMap[Vector[Shop], Vector[Shop]]


def axes() -> None:
    reveal_type(flip(day))  # N: LinMap[Vector[Day], Vector[Day]]
    reveal_type(flip(day, V).dom)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(roll(day, 1))  # N: LinMap[Vector[Day], Vector[Day]]
    reveal_type(roll(day, 1, V).cod)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(reshape(day, week * shop))  # N: LinMap[Vector[Day], Matrix[Week, Shop]]
    reveal_type(reshape(day, week * shop, V).cod)  # N: Copower[Vector[Shop], Product[Fin[Week], Fin[Shop]]]
    reveal_type(pad(shop, 1, 2, V).cod)  # N: Copower[Vector[Shop], Fin[Anonymous]]
    reveal_type(pad(shop, 1, 2, to=day))  # N: LinMap[Vector[Shop], Vector[Day]]
    reveal_type(pad(shop, 1, 2, V, to=day).cod)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(crop(day, 1, None, V).cod)  # N: Copower[Vector[Shop], Fin[Anonymous]]
    reveal_type(crop(day, None, None, step=2, to=shop))  # N: LinMap[Vector[Day], Vector[Shop]]
    reveal_type(crop(day, 1, 3, V, to=week).cod)  # N: Copower[Vector[Shop], Fin[Week]]
    reveal_type(pool(day, 2, V).cod)  # N: Copower[Vector[Shop], Fin[Anonymous]]
    reveal_type(pool(day, 3, to=week))  # N: LinMap[Vector[Day], Vector[Week]]
    reveal_type(pool(day, 3, V, to=week).cod)  # N: Copower[Vector[Shop], Fin[Week]]
    reveal_type(windows(day, 2, V).cod)  # N: Copower[Vector[Shop], Product[Fin[Anonymous], Fin[Anonymous]]]
    reveal_type(windows(day, 3, stride=3, to=week * shop))  # N: LinMap[Vector[Day], Matrix[Week, Shop]]
    reveal_type(windows(day, 3, V, stride=3, to=week * shop).cod)  # N: Copower[Vector[Shop], Product[Fin[Week], Fin[Shop]]]
    reveal_type(stack(week))  # N: LinMap[Any, Vector[Week]]
    reveal_type(stack(week, V))  # N: LinMap[Any, Copower[Vector[Shop], Fin[Week]]]
    reveal_type(unstack(week))  # N: LinMap[Vector[Week], Any]
    reveal_type(unstack(week, V))  # N: LinMap[Copower[Vector[Shop], Fin[Week]], Any]
    reveal_type(transpose(V * R**week))  # N: LinMap[TensorProduct[Vector[Shop], Vector[Week]], TensorProduct[Vector[Week], Vector[Shop]]]
    reveal_type(transpose(V ** (day * week)).cod)  # N: Copower[Vector[Shop], Product[Fin[Week], Fin[Day]]]


def several() -> None:
    reveal_type(concatenate(day, shop))  # N: LinMap[DirectSum[Vector[Day], Vector[Shop]], Copower[Field, Coproduct[Fin[Day], Fin[Shop]]]]
    reveal_type(concatenate(day, shop, V=V).cod)  # N: Copower[Vector[Shop], Coproduct[Fin[Day], Fin[Shop]]]
    reveal_type(concatenate(day, shop, week, V=V).cod)  # N: Copower[Vector[Shop], Coproduct[Coproduct[Fin[Day], Fin[Shop]], Fin[Week]]]
    reveal_type(concatenate(shop, shop, to=day))  # N: LinMap[DirectSum[Vector[Shop], Vector[Shop]], Vector[Day]]
    reveal_type(concatenate(shop, shop, V=V, to=day).dom)  # N: DirectSum[Copower[Vector[Shop], Fin[Shop]], Copower[Vector[Shop], Fin[Shop]]]
    reveal_type(concatenate(week, week, week, V=V, to=day).dom)  # N: DirectSum[Copower[Vector[Shop], Fin[Week]], Copower[Vector[Shop], Fin[Week]], Copower[Vector[Shop], Fin[Week]]]
    reveal_type(concatenate(day, shop, week, day, V=V))  # N: LinMap[Any, Copower[Vector[Shop], Any]]
    reveal_type(concatenate(week, *[Fin.of(1)] * 4, V=V, to=day))  # N: LinMap[Any, Copower[Vector[Shop], Fin[Day]]]


def tables(matrix: Any, days: Vec[Vector[Day]]) -> None:
    found, table = (Elements(shop) ** day).vec(which), function(which, day, shop)
    one = Elements(shop).vec(2)
    reveal_type(gather(one))  # N: LinMap[Vector[Shop], Field]
    reveal_type(gather(one, R**week))  # N: LinMap[Copower[Vector[Week], Fin[Shop]], Vector[Week]]
    reveal_type(gather(found))  # N: LinMap[Vector[Shop], Vector[Day]]
    reveal_type(gather(table, V))  # N: LinMap[Copower[Vector[Shop], Fin[Shop]], Copower[Vector[Shop], Fin[Day]]]
    reveal_type(gather(found, shop))  # N: LinMap[Vector[Shop], Vector[Day]]
    reveal_type(gather(found, shop, V).cod)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(gather(table, shop, V).cod)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(segment_sum(found, shop))  # N: LinMap[Vector[Day], Vector[Shop]]
    reveal_type(segment_sum(found, shop, V).dom)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(gather(which, shop, V).cod)  # N: Copower[Vector[Shop], Fin[Anonymous]]
    reveal_type(gather(which, shop, rows=day))  # N: LinMap[Vector[Shop], Vector[Day]]
    reveal_type(gather(which, shop, V, rows=day).cod)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(segment_sum(table)(days))  # N: Vec[Vector[Shop]]
    reveal_type(segment_sum(found, V).cod)  # N: Copower[Vector[Shop], Fin[Shop]]
    reveal_type(segment_sum(which, shop, V).dom)  # N: Copower[Vector[Shop], Fin[Anonymous]]
    reveal_type(segment_sum(which, shop, rows=day))  # N: LinMap[Vector[Day], Vector[Shop]]
    reveal_type(segment_sum(which, shop, V, rows=day).dom)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(group_by(column, V).cod)  # N: Copower[Vector[Shop], Fin[Anonymous]]
    reveal_type(group_by(column, towns, V).cod)  # N: Copower[Vector[Shop], Fin[Place]]
    reveal_type(group_by(column, V, rows=day).dom)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(group_by(column, towns, rows=day))  # N: LinMap[Vector[Day], Vector[Place]]
    reveal_type(group_by(column, towns, V, rows=day))  # N: LinMap[Copower[Vector[Shop], Fin[Day]], Copower[Vector[Shop], Fin[Place]]]
    reveal_type(permute([2, 0, 1], shop))  # N: LinMap[Vector[Shop], Vector[Shop]]
    reveal_type(permute([2, 0, 1], shop, V).cod)  # N: Copower[Vector[Shop], Fin[Shop]]
    reveal_type(sparse([0], [1], [2.0], day, week))  # N: LinMap[Vector[Day], Vector[Week]]
    reveal_type(from_scipy(matrix, day, week, V).cod)  # N: Copower[Vector[Shop], Fin[Week]]
    reveal_type(sparse_product([0], [1], day, week, V).dom)  # N: DirectSum[Vector[Anonymous], Copower[Vector[Shop], Fin[Day]]]


def bilinear_maps() -> None:
    reveal_type(bilinear(pick(shop)))  # N: Fun[DirectSum[Vector[Shop], Elements[Fin[Shop]]], Field]
    reveal_type(bilinear(pick(shop, R**week)).cod)  # N: Vector[Week]
    reveal_type(bilinear(gather_at(shop, day)).cod)  # N: Vector[Day]
    reveal_type(bilinear(gather_at(shop, day, V)).cod)  # N: Copower[Vector[Shop], Fin[Day]]
    reveal_type(bilinear(segment_sum_at(shop, day)).cod)  # N: Vector[Shop]
    reveal_type(bilinear(segment_sum_at(shop, day, V)).cod)  # N: Copower[Vector[Shop], Fin[Shop]]


def main() -> None:
    reductions()
    axes()
    several()
    bilinear_maps()
    assert total(day) == total(day, R)
    assert gather(Elements(shop).vec(2))((R**shop).vec([1.0, 2.0, 4.0])).array == 4.0
