"""Data in a database: passes as queries of DuckDB give what the interpreter does, or are refused with the step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import numpy as np
import pytest

import hilbert.all as hb
from diff.blocks.queries.relation_columns import RelationColumn
from diff.blocks.queries.sql_text import quoted, select
from hilbert import SpaceError

N = 500


class Row(hb.Axis, size=N): ...


class Person(hb.Axis, size=7): ...


class Film(hb.Axis, size=5): ...


class Feature(hb.Axis, size=3): ...


class Part(hb.Axis, size=2): ...


X, Y, D = Row.set, hb.R**Row.set, hb.R**Feature.set
WHO, WHAT, VECTORS = hb.Elements(Person.set) ** Row.set, hb.Elements(Film.set) ** Row.set, D**Row.set
rng = np.random.default_rng(0)
COLUMNS = {
    "x": rng.standard_normal(N),
    "y": rng.standard_normal(N) * 3.0,
    "who": rng.integers(0, 7, N),
    "what": rng.integers(0, 5, N),
    **{f"z{k}": rng.standard_normal(N) for k in range(3)},
}
ARRAYS = COLUMNS | {"z": np.stack([COLUMNS[f"z{k}"] for k in range(3)], 1)}
TEXT = "SELECT x, y, who, what, [z0, z1, z2]::DOUBLE[3] AS z, 'other' AS \"an other\" FROM columns"


@pytest.fixture
def con() -> Iterator[Any]:
    with duckdb.connect() as made:
        made.register("columns", COLUMNS)
        yield made


def agrees(con: Any, f: Any, *at: Any, text: str = TEXT, compiled: bool = False) -> Any:
    """The value by queries, checked beside that of the function itself."""
    relation = con.sql(text)
    g = hb.distributed(hb.compiled(f) if compiled else f, over=X)
    found = g(*at, data=relation, engine=con)
    rest = iter(at)
    every = [
        part.vec(ARRAYS[name] if name in ARRAYS else next(rest).array)
        for name, part in zip(g.names, f.dom.parts if len(g.names) > 1 else [f.dom], strict=True)
    ]
    for a, b in zip(found.leaves, f(*every).leaves, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10, equal_nan=True)
    assert not con.execute("SELECT * FROM duckdb_views() WHERE view_name LIKE 'hilbert%'").fetchall()
    return found


POINTWISE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - 2.5 * y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "square": lambda x, y: hb.square(x) * y,
    "power": lambda x, y: hb.absolute(x) ** 2.3 + y**3,
    "pow": lambda x, y: hb.pow(hb.absolute(x), y),
    "exp": lambda x, y: hb.exp(x) + hb.expm1(1e-9 * y) + hb.expm1(y),
    "log": lambda x, y: hb.log(hb.absolute(x)) + hb.log1p(hb.square(y)) + hb.log1p(1e-9 * x),
    "logs": lambda x, y: hb.log2(hb.square(x)) + hb.log10(hb.square(y)),
    "sqrt": lambda x, y: hb.sqrt(hb.square(x) + hb.square(y)),
    "trigonometry": lambda x, y: hb.sin(x) * hb.cos(y) + hb.tan(x) + hb.atan2(x, y) + hb.atan(x),
    "inverse": lambda x, y: hb.asin(hb.tanh(x)) + hb.acos(hb.tanh(y)) + hb.atanh(hb.tanh(x)),
    "hyperbolic": lambda x, y: hb.sinh(x) + hb.cosh(y) + hb.tanh(x) + hb.asinh(y) + hb.acosh(hb.cosh(x)),
    "abs sign": lambda x, y: hb.absolute(x) * hb.sign(y),
    "max min": lambda x, y: hb.maximum(x, y) - hb.minimum(x, 2.0 * y),
    "where": lambda x, y: hb.where(x > y, x, hb.where(x <= 0.0, y, hb.exp(y))),
    "logic": lambda x, y: hb.where((x > 0.0) & ~((y < 1.0) | (x >= 2.0)), x, y),
    "sigmoid softplus": lambda x, y: hb.sigmoid(x) + hb.softplus(y) + hb.log_sigmoid(40.0 * y) + hb.relu(x),
    "erf": lambda x, y: hb.erf(x) + hb.gelu(y),
    "logaddexp": lambda x, y: hb.logaddexp(x, 30.0 * y),
}


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise(name: str, con: Any) -> None:
    """Values, and derivatives in a parameter that scales an argument."""
    op = POINTWISE[name]
    f: Any = hb.fun(hb.R, Y, Y)(lambda k, x, y: hb.each(lambda a, b: op(k * a, b), x, y).sum())
    agrees(con, f, hb.R.vec(1.0))
    agrees(con, hb.value_and_grad(f, 0), hb.R.vec(0.75))


def of_two(op: Any) -> Any:
    return hb.fun(Y, Y)(lambda x, y: hb.each(op, x, y).sum())


def test_outside_of_domains_as_numpy(con: Any) -> None:
    """Logarithms and roots of negative numbers are NaN, 1/0 is infinite, and NaN is in no relation."""
    far = "SELECT x, 0.0 * x - 0.0 AS y FROM columns"
    for op in (
        lambda x, y: hb.where(hb.log(x) > 0.0, 1.0 + 0.0 * x, y),
        lambda x, y: hb.where(hb.log(x) < 0.0, 1.0 + 0.0 * x, y),
        lambda x, y: hb.where(hb.sqrt(x) <= 1.0, x, y) + hb.where(hb.sqrt(x) >= 0.2, x, y),
        lambda x, y: hb.minimum(hb.where(x > 0.0, hb.log(x), y), 1.0 / (hb.square(y) + 1.0)),
        lambda x, y: hb.where(hb.absolute(x / y) > 1e300, x, y),
        lambda x, y: hb.where(y < hb.log(x), x, y) + hb.where(y <= hb.sqrt(x), x, 2.0 * x),
        lambda x, y: hb.where(hb.log(x).equals(hb.log(x)), x, y) + hb.where(hb.log(x).differs(hb.log(x)), x, y),
    ):
        f = of_two(op)
        found = hb.distributed(f, over=X)(data=con.sql(far), engine=con)
        with np.errstate(all="ignore"):
            want = f(Y.vec(COLUMNS["x"]), Y.zeros())
        np.testing.assert_allclose(found.array, want.array, rtol=1e-12)
        assert np.isfinite(want.array)
    for other in (hb.log, lambda x: hb.maximum(hb.sqrt(x), x), lambda x: hb.minimum(x, hb.sqrt(x))):
        f = of_two(lambda x, y, other=other: other(x) + 0.0 * y)
        assert np.isnan(hb.distributed(f, over=X)(data=con.sql(far), engine=con).array)


VP, VF = D**Person.set, D**Film.set


@hb.fun(VP, VF, WHO, WHAT, Y)
def ratings(u: Any, v: Any, who: Any, what: Any, x: Any) -> Any:
    return hb.square(hb.each(hb.inner, u[who], v[what]) - x).mean()


@pytest.mark.parametrize("compiled", [False, True])
def test_ratings(con: Any, compiled: bool) -> None:  # noqa: FBT001
    """Gathers are joins, their derivatives sums by groups; one statement, and one scan, for value and gradients."""
    at = VP.random(rng), VF.random(rng)
    f = hb.value_and_grad(ratings, (0, 1))
    agrees(con, f, *at, compiled=compiled)
    text = hb.distributed(f, over=X).sql(con.sql(TEXT))
    assert text.count('FROM "hilbert rows"') == 1
    assert text.count("GROUP BY") == 2
    assert text.count(";") == 1


def test_a_single_key_is_one_group(con: Any) -> None:
    f: Any = hb.fun(hb.R**Person.set, WHO, Y)(lambda b, who, x: hb.square(b[who] - x).sum())
    agrees(con, hb.value_and_grad(f, 0), (hb.R**Person.set).random(rng))
    text = hb.distributed(hb.value_and_grad(f, 0), over=X).sql(con.sql(TEXT))
    assert "MATERIALIZED" not in text
    assert text.count("GROUP BY") == 1


def test_many_sums_beside_few_of_groups(con: Any) -> None:
    """Sums over all rows go by no key where they are more than those of the groups."""
    f: Any = hb.fun(D, hb.R**Person.set, VECTORS, WHO)(
        lambda w, b, z, who: hb.each(lambda a, p: hb.square(w @ a - b[p]), z, who).sum()
    )
    agrees(con, hb.value_and_grad(f, (0, 1)), D.random(rng), (hb.R**Person.set).random(rng))
    text = hb.distributed(hb.value_and_grad(f, (0, 1)), over=X).sql(con.sql(TEXT))
    assert text.count("UNION ALL") == 1
    assert text.count("GROUP BY") == 1


def test_a_linear_model_of_vectors(con: Any) -> None:
    """Vectors for each row are arrays of the relation; contractions over short axes are unrolled."""
    f: Any = hb.fun(D, VECTORS, Y)(lambda w, z, x: hb.each(lambda a, b: hb.softplus(-b * (w @ a)), z, x).mean())
    agrees(con, hb.value_and_grad(f, 0), D.random(rng))
    agrees(con, f, D.random(rng))


def test_a_network(con: Any) -> None:
    H, K = hb.Fin.of(20), hb.Fin.of(17)
    A, B, C = hb.R ** (H * Feature.set), hb.R ** (K * H), hb.R**K
    f: Any = hb.fun(A, B, C, VECTORS, Y)(
        lambda a, b, c, z, x: hb.each(lambda p, q: hb.square(c @ hb.tanh(b @ hb.tanh(a @ p)) - q), z, x).sum()
    )
    agrees(con, hb.value_and_grad(f, (0, 1, 2)), A.random(rng), B.random(rng), C.random(rng))


def test_a_mixture(con: Any) -> None:
    """logsumexp over the parts is unrolled; the gradient in all parameters is one query."""
    M, L = D**Part.set, hb.R**Part.set

    def fit(m: Any, l: Any, z: Any) -> Any:
        def one(p: Any) -> Any:
            parts = hb.each(lambda c, w: w - 0.5 * hb.square(p - c).sum(), m, l)
            return parts.logsumexp()

        return hb.each(one, z).sum() - X.size * l.logsumexp()

    f: Any = hb.fun(M, L, VECTORS)(fit)
    agrees(con, f, M.random(rng), L.random(rng))
    agrees(con, hb.value_and_grad(f, (0, 1)), M.random(rng), L.random(rng))


def test_passes(con: Any) -> None:
    """What reads a total is another query, which has the total as a number."""
    f: Any = hb.fun(hb.R, Y)(lambda k, x: hb.square(k * x - (k * x).mean().rep(Y)).mean())
    agrees(con, f, hb.R.vec(2.0))
    agrees(con, hb.grad(f, 0), hb.R.vec(2.0))
    assert hb.distributed(f, over=X).sql(con.sql(TEXT)).count(";") == 2


def test_axes_of_each_row(con: Any) -> None:
    """Sums by fixed groups, slices, and moves along the axes of a row; numbers that are not finite are written."""
    groups = hb.segment_sum(np.arange(600) % 3, Feature.set, rows=hb.Fin.of(600))
    many, weights = hb.Fin.of(600), hb.const((hb.R ** hb.Fin.of(600)).random(rng))
    f: Any = hb.fun(hb.R**many, VECTORS)(
        lambda w, z: hb.each(
            lambda a: hb.exp(0.1 * groups(w * a[0] * weights) * a).sum() + (a[1:] * a[:-1]).sum(), z
        ).sum()
    )
    agrees(con, hb.value_and_grad(f, 0), (hb.R**many).random(rng))
    least: Any = hb.fun(hb.R, Y)(lambda k, x: hb.each(lambda a: hb.minimum(hb.maximum(a, -k), k), x).sum())
    agrees(con, least, hb.R.vec(np.inf))
    agrees(con, least, hb.R.vec(-1.5))
    none = hb.const((hb.R ** hb.Fin.of(0)).zeros())
    agrees(con, hb.fun(Y)(lambda x: hb.each(lambda a: hb.exp((a * none).logsumexp()) + a, x).sum()))


def test_a_pass_that_reads_no_column(con: Any) -> None:
    f: Any = hb.fun(hb.R, Y)(lambda k, x: hb.square((k * x).sum().rep(Y)).sum())
    agrees(con, f, hb.R.vec(2.0))


def test_segment_sums(con: Any) -> None:
    """Sums by one key, and by two; an entry of a row that an id chooses is one of its columns."""
    P, F = hb.R**Person.set, hb.R ** (Person.set * Film.set)
    one: Any = hb.fun(P, WHO, Y)(lambda b, who, x: (b[who] * x).sum())
    agrees(con, hb.grad(one, 0), P.random(rng))
    both: Any = hb.fun(F, WHO, WHAT, Y)(
        lambda m, who, what, x: hb.square(hb.each(lambda p, f, v: m.rows()[p][f] - v, who, what, x)).sum()
    )
    agrees(con, hb.value_and_grad(both, 0), F.random(rng))
    kind: Any = hb.fun(VECTORS, hb.Elements(Feature.set) ** Row.set)(
        lambda z, k: hb.each(lambda a, j: hb.square(a[j]), z, k).sum()
    )
    relation = con.sql("SELECT [z0, z1, z2]::DOUBLE[3] AS z, (who % 3)::UTINYINT AS k FROM columns")
    found = hb.distributed(kind, over=X)(data=relation, engine=con)
    want = np.sum(ARRAYS["z"][np.arange(N), ARRAYS["who"] % 3] ** 2)
    assert np.isclose(found.array, want, rtol=1e-12)


class Seen(hb.Record):
    """Who, with what features."""

    who: hb.Part[hb.Copower[hb.Elements[hb.Fin[Person]], hb.Fin[Row]]]
    z: hb.Part[hb.Copower[hb.Vector[Feature], hb.Fin[Row]]]


def test_columns_of_records_and_of_other_types(con: Any) -> None:
    f: Any = hb.fun(VP, Seen.space())(
        lambda u, d: hb.each(lambda p, z: hb.square(u[p] @ z), d[Seen.who], d[Seen.z]).sum()
    )
    at = VP.random(rng)
    want = hb.value_and_grad(f, 0)(at, Seen.space().vec((ARRAYS["who"], ARRAYS["z"])))
    found = hb.distributed(hb.value_and_grad(f, 0), over=X)(at, data=con.sql(TEXT), engine=con)
    for a, b in zip(found.leaves, want.leaves, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    packed = con.sql("SELECT {'who': who, 'z': [z0, z1, z2]::DOUBLE[3]} AS d FROM columns")
    with pytest.raises(SpaceError, match=r"column 'd' is a record: .* select \"d\"\.\*"):
        hb.distributed(f, over=X)(at, data=packed, engine=con)
    assert np.isfinite(hb.distributed(f, over=X)(at, data=packed.select('"d".*'), engine=con).array)
    k: Any = hb.fun(Y, Y, hb.Bool**X)(lambda a, b, c: hb.where(c, a, b).sum())
    types = "SELECT who::TINYINT AS a, round(x, 2)::DECIMAL(9, 2) AS b, y > 0 AS c FROM columns"
    total = np.where(COLUMNS["y"] > 0, COLUMNS["who"], np.round(COLUMNS["x"], 2)).sum()
    assert np.isclose(hb.distributed(k, over=X)(data=con.sql(types), engine=con).array, total, rtol=1e-12)
    M = hb.R ** (Part.set * Feature.set)
    matrices: Any = hb.fun(M, M**X)(lambda w, m: hb.each(lambda a: hb.exp((a * w).sum()), m).sum())
    text = "SELECT [[x, y, z0], [z1, z2, 1.0]]::DOUBLE[3][2] AS m FROM columns"
    with pytest.raises(SpaceError, match=r"'m' takes DOUBLE\[3\]\[2\]"):
        hb.distributed(matrices, over=X)(
            M.ones(), data=con.sql("SELECT [[x]]::DOUBLE[1][1] AS m FROM columns"), engine=con
        )
    c, weights = COLUMNS, M.random(rng)
    rows = np.stack([c["x"], c["y"], c["z0"], c["z1"], c["z2"], np.ones(N)], 1).reshape(N, 2, 3)
    found = hb.distributed(matrices, over=X)(weights, data=con.sql(text), engine=con)
    assert np.isclose(found.array, np.exp((rows * np.asarray(weights.array)).sum((1, 2))).sum(), rtol=1e-10)


@pytest.mark.parametrize("name", ["select", "order", "FROM", "good", "v0_0", "part", "Größe"])
def test_names_of_columns(name: str, con: Any) -> None:
    """A keyword of SQL, and a name that the query has itself, is a name as any other; other columns have any name."""
    relation = con.sql(f'SELECT who, x AS "{name}", x AS "quo""te; --", y AS "a b" FROM columns')  # noqa: S608
    f: Any = hb.fun(hb.R**Person.set, WHO, Y)(eval(f"lambda b, who, {name}: (b[who] * {name}).sum()"))  # noqa: S307
    found = hb.distributed(hb.grad(f, 0), over=X)((hb.R**Person.set).ones(), data=relation, engine=con)
    np.testing.assert_allclose(found.array, np.bincount(COLUMNS["who"], COLUMNS["x"], 7), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["a b", 'quo"te', '"', "semi;colon", "--", "$p0_0", "who'", "{0}", "/* a", "%s"])
def test_hostile_names(name: str, con: Any) -> None:
    """Names that Python has not are quoted, too."""
    column = RelationColumn("x", name, Y.leaves[0], ())
    relation = con.sql(f"SELECT x AS {quoted(name)} FROM columns")  # noqa: S608
    assert relation.columns == [name]
    found = relation.query("r", select([f"{column.casts[0]} AS v", f"{column.checks[0]} AS w"], "r")).fetchnumpy()
    np.testing.assert_array_equal(found["v"], COLUMNS["x"])
    assert found["w"].all()


def total(*names: str) -> Any:
    """The sum of some columns, ids among them, which a table is read at."""
    f: Any = hb.fun(hb.R**Person.set, WHO, Y)(lambda b, who, x: (b[who] * x).sum())
    return hb.distributed(hb.grad(f, 0) if names else f, over=X)


BAD = [
    ("SELECT who, CASE WHEN x > 0 THEN x END AS x FROM columns", r"column 'x' has no value in \d+ rows: fill them"),
    ("SELECT nullif(who, 3) AS who, x FROM columns", r"column 'who' has no value in \d+ rows: fill them"),
    ("SELECT who + 1 AS who, x FROM columns", "data 'who': 7 is no element of Person7, 0 to 6"),
    ("SELECT who - 1 AS who, x FROM columns", "data 'who': -1 is no element of Person7, 0 to 6"),
    ("SELECT 18446744073709551615::UBIGINT AS who, x FROM columns", "data 'who': 18446744073709551615 is no element"),
    ("SELECT who, x FROM columns LIMIT 499", "the data have 499 rows, and Row500 has 500 elements"),
    ("SELECT who, x FROM columns LIMIT 0", "the data have 0 rows, and Row500 has 500 elements"),
    ("FROM columns UNION ALL FROM columns LIMIT 501", "the data have 501 rows, and Row500 has 500 elements"),
    (
        "SELECT who::DOUBLE AS who, x FROM columns",
        r"column \'who\' has the type DOUBLE, and \'who\' takes BIGINT: select CAST",
    ),
    (
        "SELECT who, x::VARCHAR AS x FROM columns",
        r'has the type VARCHAR, .* select CAST\("x" AS DOUBLE\) AS "x"',
    ),
    (
        "SELECT 'k' || who AS who, x FROM columns",
        r"column 'who' has labels, of type VARCHAR, .* elements of Person7, .* list_position\(labels, \"who\"\) - 1",
    ),
    ("SELECT who, [x]::DOUBLE[1] AS x FROM columns", r"has the type DOUBLE\[1\], and 'x' takes DOUBLE"),
    ("SELECT who, true AS x FROM columns", "has the type BOOLEAN, and 'x' takes DOUBLE"),
    ("SELECT who FROM columns", "x has an entry for each row of Row500: the relation needs a column 'x'"),
]


@pytest.mark.parametrize(("text", "why"), BAD)
@pytest.mark.parametrize("names", [(), ("x",)])
def test_bad_rows(text: str, why: str, names: tuple[str, ...], con: Any) -> None:
    """Rows are checked in the same query, for sums and for groups."""
    with pytest.raises(SpaceError, match=why):
        total(*names)((hb.R**Person.set).ones(), data=con.sql(text), engine=con)


def test_null_in_a_vector(con: Any) -> None:
    f: Any = hb.fun(D, VECTORS)(lambda w, z: hb.each(lambda a: w @ a, z).sum())
    for part in ("[z0, NULL, z2]", "CASE WHEN x > 0 THEN [z0, z1, z2] END"):
        relation = con.sql(f"SELECT ({part})::DOUBLE[3] AS z FROM columns")  # noqa: S608
        with pytest.raises(SpaceError, match=r"column 'z' has no value in \d+ rows"):
            hb.distributed(f, over=X)(D.ones(), data=relation, engine=con)


def test_no_rows(con: Any) -> None:
    none = hb.Fin.of(0)
    f: Any = hb.fun(hb.R**Person.set, hb.Elements(Person.set) ** none, hb.R**none)(
        lambda b, who, x: hb.square(b[who] - x).sum()
    )
    relation = con.sql("SELECT who, x FROM columns LIMIT 0")
    value, slope = hb.distributed(hb.value_and_grad(f, 0), over=none)(
        (hb.R**Person.set).ones(), data=relation, engine=con
    )
    assert value.array == 0.0
    assert not np.any(slope.array)


def each(op: Any) -> Any:
    return hb.fun(Y)(op)


BEYOND: list[tuple[Any, str]] = [
    (lambda x: x, "a result has an entry for each row of Row500"),
    (lambda x: x.max(), "the only totals over Row500 of a query are sums, not max or argmax"),
    (lambda x: x.logsumexp(), "the only totals over Row500 of a query are sums, not logsumexp"),
    (lambda x: (x[1:] - x[:-1]).sum(), "f reads other rows of Row500 than a step's own"),
    (lambda x: x[0], "f reads other rows of Row500 than a step's own|sums"),
    (lambda x: hb.each(hb.lgamma, x).sum(), "SQL has no lgamma"),
    (lambda x: hb.each(lambda a: hb.hypot(a, 2.0 * a), x).sum(), "SQL has no hypot"),
    (lambda x: (hb.const(Y.ones()) * hb.sin(hb.const(Y.random(rng))) * x).sum(), "f has a constant along Row500"),
    (lambda x: hb.each(lambda a: (a * hb.const(D.ones())).cumsum().sum(), x).sum(), "it is computed in rounds"),
    (
        lambda x: hb.each(lambda a: hb.exp(a * hb.const((hb.R ** hb.Fin.of(5000)).ones())).sum(), x).sum(),
        "an array has 5000 entries for each row, and a query at most 4096",
    ),
]


@pytest.mark.parametrize(("op", "why"), BEYOND)
def test_what_a_query_cannot_say(op: Any, why: str, con: Any) -> None:
    """The error names why, the line of a step, and what to do."""
    g = hb.distributed(each(op), over=X)
    relation = con.sql(TEXT)
    with pytest.raises(SpaceError, match=why) as caught:
        g(data=relation, engine=con)
    assert "write engine=None" in str(caught.value)
    with pytest.raises(SpaceError, match=why):
        g.sql(relation)
    if "SQL has no" in why:
        assert any("test_queries.py" in note for note in caught.value.__notes__)


def test_the_remedy_runs(con: Any) -> None:
    f = each(lambda x: x.max())
    found = hb.distributed(f, over=X)(data=con.sql(TEXT).to_arrow_table(), engine=None)
    assert found.array == COLUMNS["x"].max()
    text = con.sql("SELECT x::VARCHAR AS x FROM columns").select('CAST("x" AS DOUBLE) AS "x"')
    assert np.isclose(hb.distributed(each(lambda x: x.sum()), over=X)(data=text, engine=con).array, COLUMNS["x"].sum())


def test_calls(con: Any) -> None:
    g = total()
    relation, b = con.sql(TEXT), (hb.R**Person.set).ones()
    with pytest.raises(SpaceError, match="data= is a relation of DuckDB: give its connection, engine=connection"):
        g(b, data=relation)
    with pytest.raises(SpaceError, match=r"runs on a relation of this connection, such as data=connection\.table"):
        g(b, data=COLUMNS, engine=con)
    with duckdb.connect() as other, pytest.raises(SpaceError, match="the relation is one of another connection"):
        g(b, data=relation, engine=other)
    vector = (hb.R**Person.set).ones()
    less = con.sql("SELECT who FROM columns")
    with pytest.raises(SpaceError, match="x has an entry for each row of Row500: the relation needs a column 'x'"):
        g(vector, Y.ones(), data=less, engine=con)
    seen = list[tuple[int, int]]()
    g(b, data=relation, engine=con, progress=lambda *at: seen.append(at))
    assert seen == [(N, N)]
    assert con.execute("SELECT count(*) FROM duckdb_views() WHERE NOT internal").fetchone() == (1,)


def test_a_database_that_is_only_read(tmp_path: Any) -> None:
    """Nothing is written into the database of the relation."""
    path = str(tmp_path / "rows.db")
    with duckdb.connect(path) as made:
        made.register("columns", COLUMNS)
        made.execute("CREATE TABLE rows AS FROM columns").fetchall()
    with duckdb.connect(path, read_only=True) as read:
        found = total("x")((hb.R**Person.set).ones(), data=read.table("rows"), engine=read)
        want = np.bincount(COLUMNS["who"], COLUMNS["x"], 7)
        np.testing.assert_allclose(found.array, want, rtol=1e-12, atol=1e-12)


def test_division_that_follows_no_standard(con: Any) -> None:
    con.execute("SET ieee_floating_point_ops = false").fetchall()
    with pytest.raises(SpaceError, match="SET ieee_floating_point_ops = true"):
        total()((hb.R**Person.set).ones(), data=con.sql(TEXT), engine=con)


def test_many_steps_in_turn(con: Any) -> None:
    """Deep expressions are cut into columns; too many in turn are refused."""

    def turns(n: int) -> Any:
        def f(k: Any, x: Any) -> Any:
            for _ in range(n):
                x = x + 0.1 * hb.sin(x) * k
            return x

        return hb.fun(hb.R, Y)(lambda k, x: hb.each(lambda a: f(k, a), x).sum())

    agrees(con, hb.value_and_grad(turns(40), 0), hb.R.vec(0.5))
    with pytest.raises(SpaceError, match="more than 300 columns are computed one from the other"):
        agrees(con, turns(400), hb.R.vec(0.5))
