"""An independent meaning of terms: the matrix of every linear node, the value of every function, by definition.

No kernel of the library is used: contractions are einsum, copowers are loops, relations are truth tables. Rows and
columns of a matrix are in storage order, leaf by leaf.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, assert_never, cast

import numpy as np

from diff.terms import nodes as functions
from diff.terms.elementwise import Elementwise
from diff.terms.program import Program
from diff.terms.user_operation import Custom
from hilbert import Vec
from hilbert.index.leaf import Bundle
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.constant import Const
from hilbert.program.line.operation import Add, Along, Contract, Keep, Literal
from linmap.term import wire
from linmap.term.datum import constants
from linmap.term.linear_map import LinMap
from linmap.term.net import Closed, Net, refs
from linmap.term.nodes import (
    Cast,
    Compose,
    Fork,
    Identity,
    Inject,
    Join,
    Lifted,
    Node,
    Own,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Section,
    Sum,
    Unitary,
    ZeroMap,
)
from tests.strategies import elements, gathered, of_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hilbert import Map, Relation, Type
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec
    from hilbert.program.line.line import Line
    from linmap.contraction import Contraction

Array = np.ndarray[Any, Any]


def dense(array: Any, leaf: Leaf) -> Array:
    """The array of a leaf as numbers: 0 and 1 for Booleans, basis vectors for elements of an index set."""
    if leaf.kind == "b":
        return np.asarray(array, float)
    if leaf.entry.index is not None:
        rows: Array = np.eye(leaf.entry.index.size)[np.asarray(array)]
        return rows.reshape(leaf.shape + leaf.entry.shape)
    return np.asarray(array)


def matrix(f: LinMap[Any, Any]) -> Array:
    """The matrix of f : V ⊸ W, of shape (dim W, dim V)."""
    match cast("Node", f):
        case Identity(space):
            return np.eye(space.dim)
        case ZeroMap(dom, cod):
            return np.zeros((cod.dim, dom.dim))
        case Compose(parts):
            product = np.eye(f.dom.dim)
            for part in parts:
                product = matrix(part) @ product
            return product
        case Sum(parts):
            return sum(map(matrix, parts), np.zeros((f.cod.dim, f.dom.dim)))
        case Scaled(k, of):
            return k * matrix(of)
        case Section(c, side, v):
            data = [dense(datum.array, datum.leaf) for datum in constants(v)]
            blocks = _zeros(f.cod, f.dom)
            for i, j, k, spec in c.terms:
                fixed, flow = (i, j) if side == 0 else (j, i)
                blocks[k][flow] += section(spec, side, data[fixed], f.dom.leaves[flow])
            return _assembled(f.cod, f.dom, blocks)
        case Project(space, position):
            return _rows(space, position)
        case Inject(space, position):
            return _rows(space, position).T
        case Fork(parts):
            return np.concatenate([matrix(part) for part in parts], axis=0)
        case Join(parts):
            return np.concatenate([matrix(part) for part in parts], axis=1)
        case Parallel(parts):
            whole, row, column = np.zeros((f.cod.dim, f.dom.dim)), 0, 0
            for block in map(matrix, parts):
                whole[row : row + block.shape[0], column : column + block.shape[1]] = block
                row, column = row + block.shape[0], column + block.shape[1]
            return whole
        case Reduce(relation, base):
            blocks = _zeros(f.cod, f.dom)
            for k, leaf in enumerate(base.leaves):
                blocks[k][k] = reduction(relation, 1, leaf.size)
            return _assembled(f.cod, f.dom, blocks)
        case Unitary(_, dom, _, source, order):
            blocks = _zeros(f.cod, f.dom)
            for k, (leaf, axes) in enumerate(zip(source, order, strict=True)):
                blocks[k][leaf] = moved(axes, dom.leaves[leaf].shape)
            return _assembled(f.cod, f.dom, blocks)
        case Lifted(of, index):
            blocks = _blocks(of.cod, of.dom, matrix(of))
            return _assembled(f.cod, f.dom, [[np.kron(np.eye(index.size), block) for block in row] for row in blocks])
        case Cast():
            return np.eye(f.dom.dim)
        case Own() as own:
            return external(own.operation)
        case Net() as body:
            return _net(body, {})
        case Closed(body, data):
            return _net(body, {ref.slot: d for ref, d in zip(refs(body), data, strict=True)})
        case never:
            assert_never(never)


def external(f: wire.External) -> Array:
    """The matrix of a user's function, a column for each basis vector."""
    apply = f.rule.adjoint if f.back else f.rule.forward
    columns = [apply(np, e.reshape(f.dom.shape)).reshape(-1) for e in np.eye(f.dom.size)]
    return np.stack(columns, axis=1) if columns else np.zeros((f.cod.size, 0))


def _net(f: Net, data: dict[int, Const]) -> Array:
    """The wires as matrices over the domain: arcs add into them."""
    ends = np.cumsum([0, *(leaf.size for leaf in f.dom.leaves)])
    wires = [np.zeros((leaf.size, f.dom.dim)) for leaf in f.wires]
    for k, wire_number in enumerate(f.inputs):
        wires[wire_number] += np.eye(f.dom.dim)[ends[k] : ends[k + 1]]
    for arc in f.arcs:
        wires[arc.dst] = wires[arc.dst] + arrow(arc.map, f.wires[arc.src], data) @ wires[arc.src]
    return np.concatenate([np.zeros((0, f.dom.dim)), *(wires[k] for k in f.outputs)], axis=0)


def arrow(f: wire.Wire, leaf: Leaf, data: dict[int, Const]) -> Array:
    """The matrix of a wire map on a leaf."""
    match f:
        case wire.Same() | wire.Cast():
            return np.eye(leaf.size)
        case wire.Scale(k):
            return k * np.eye(leaf.size)
        case wire.ContractWith(spec, side, datum):
            const = datum if isinstance(datum, Const) else data[datum.slot]
            return section(spec, side, dense(const.array, const.leaf), leaf)
        case wire.Reduce(relation, at):
            before, after = leaf.shape[:at], leaf.shape[at + len(relation.dom.axes) :]
            return reduction(relation, math.prod(before), math.prod(after))
        case wire.Move(order):
            return moved(order, leaf.shape)
        case wire.External(n=n):
            return np.kron(np.eye(math.prod(leaf.shape[:n])), external(f))
        case wire.Into(k, bundle):
            return np.eye(bundle.size)[:, _place(bundle, k)]
        case wire.OutOf(k):
            return np.eye(leaf.size)[_place(leaf, k)]
        case wire.Recur(datum=datum):
            return _recur(f, (datum if isinstance(datum, Const) else data[datum.slot]).array)
        case wire.Inverse(datum=datum):
            return _inverse(f, (datum if isinstance(datum, Const) else data[datum.slot]).array, leaf)
        case never:
            assert_never(never)


def _place(bundle: Leaf, k: int) -> slice:
    """Where an array of a bundle lies, all being one behind the other."""
    assert isinstance(bundle, Bundle)
    start = sum(leaf.size for leaf in bundle.leaves[:k])
    return slice(start, start + bundle.leaves[k].size)


def section(spec: Spec, side: int, datum: Array, flow: Leaf) -> Array:
    """The matrix of (u⋄) or (⋄v): einsum on every basis vector of the flow."""
    basis = np.eye(flow.size).reshape(*flow.shape, flow.size)
    labels = [spec.left, spec.right]
    labels[1 - side] += "Z"
    operands = [datum, basis] if side == 0 else [basis, datum]
    columns = np.einsum(f"{labels[0]},{labels[1]}->{spec.out}Z", *operands)
    return np.asarray(columns).reshape(-1, flow.size) if columns.size else np.zeros((_size(columns), flow.size))


def _size(columns: Array) -> int:
    return math.prod(columns.shape[:-1])


def reduction(relation: Relation[Any, Any], before: int, after: int) -> Array:
    """The matrix of red_R on K^{A×X×B}: the truth table of R, transposed, between identities."""
    table = np.zeros((relation.cod.size, relation.dom.size))
    x, y = relation.holds()
    table[y, x] = 1.0
    return np.kron(np.kron(np.eye(before), table), np.eye(after))


def moved(order: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """The permutation matrix of a transposition of axes."""
    size = math.prod(shape)
    return np.eye(size)[np.arange(size).reshape(shape).transpose(order).reshape(-1)]


def _rows(space: Type, position: int) -> Array:
    start = sum(part.dim for part in space.parts[:position])
    return np.eye(space.dim)[start : start + space.parts[position].dim]


def _zeros(cod: Type, dom: Type) -> list[list[Array]]:
    return [[np.zeros((w.size, v.size)) for v in dom.leaves] for w in cod.leaves]


def _blocks(cod: Type, dom: Type, whole: Array) -> list[list[Array]]:
    rows = np.cumsum([0, *(leaf.size for leaf in cod.leaves)])
    columns = np.cumsum([0, *(leaf.size for leaf in dom.leaves)])
    return [
        [whole[rows[k] : rows[k + 1], columns[j] : columns[j + 1]] for j in range(len(dom.leaves))]
        for k in range(len(cod.leaves))
    ]


def _assembled(cod: Type, dom: Type, blocks: list[list[Array]]) -> Array:
    whole = np.zeros((cod.dim, dom.dim))
    for target, row in zip(_blocks(cod, dom, whole), blocks, strict=True):
        for view, block in zip(target, row, strict=True):
            view[...] = block
    return whole


# --- functions ---

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "tanh'": lambda y: 1.0 - y * y,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "absolute": np.abs,
    "sign": np.sign,
    "relu": lambda x: np.where(x > 0.0, x, 0.0),
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "slope of sigmoid": lambda x: 1.0 / (2.0 + np.exp(x) + np.exp(-x)),
    "1/(x^2+1)": lambda x: 1.0 / (x * x + 1.0),
    "sqrt(x^2+1)": lambda x: np.sqrt(x * x + 1.0),
    "log sigmoid": lambda x: -np.log1p(np.exp(-x)),
    "quotient": np.divide,
    "e^x/(e^x+e^y)": lambda x, y: np.exp(x) / (np.exp(x) + np.exp(y)),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "logaddexp": lambda x, y: np.log(np.exp(x) + np.exp(y)),
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_not": np.logical_not,
}


def value(f: Map[Any, Any], x: Vec[Any]) -> Vec[Any]:
    """f(x) by the definition of every node: copowers are loops over the elements."""
    if isinstance(f, LinMap):
        flat: Vec[Any] = f.cod.unflat((matrix(f) @ x.flat()).astype(_dtype(f.cod)))
        return flat
    match cast("functions.Node", f):
        case functions.Constant(_, w):
            return w
        case functions.Bilinear(c):
            return _made(c.cod, _bilinear(c, x[0], x[1]))
        case functions.Compose(parts):
            for part in parts:
                x = value(part, x)
            return x
        case functions.Sum(parts):
            total: Vec[Any] = f.cod.zeros()
            for part in parts:
                total += value(part, x)
            return total
        case functions.Scaled(k, of):
            return k * value(of, x)
        case functions.Fork(parts):
            return _made(f.cod, [leaf for part in parts for leaf in value(part, x).leaves])
        case functions.Parallel(parts):
            return _made(f.cod, [leaf for k, part in enumerate(parts) for leaf in value(part, x[k]).leaves])
        case functions.Power(of, _):
            return gathered(f.cod, [value(of, part) for part in elements(x)])
        case functions.Lift(of, index, over):
            columns = [elements(x[k]) if k in over else [x[k]] * index.size for k in range(len(of.dom.parts))]
            rows = [[leaf for column in columns for leaf in column[n].leaves] for n in range(index.size)]
            return gathered(f.cod, [value(of, _made(of.dom, row)) for row in rows])
        case Program() as program:
            return _made(f.cod, _run(program, list(x.leaves)))
        case Elementwise() as p:
            return _made(f.cod, [elementwise(p, *x.leaves)])


def elementwise(p: Elementwise[Any, Any], *args: Any) -> Any:
    """A primitive on arrays."""
    return np.asarray(args[0]) ** p.params[0] if p.name == "power" else ELEMENTWISE[p.name](*args)


def _filled(taken: Array, a: Array, at: int) -> Array:
    """Each lane that is not taken by the first that is."""
    for outside in np.ndindex(*taken.shape[:at]):
        first = next((lane for lane in np.ndindex(*taken.shape[at:]) if taken[outside][lane]), None)
        for lane in np.ndindex(*taken.shape[at:]):
            if first is not None and not taken[outside][lane]:
                a[outside][lane] = a[outside][first]
    return a


def _loop(loop: Loop, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Round after round."""
    c, whole, shape = loop.states, loop.states + loop.shared, loop.index.shape
    states, rows = list(given[:c]), dict[Any, list[Any]]()
    places = list(np.ndindex(*shape))
    for place in places[::-1] if loop.reverse else places:
        made = _run(loop.body, [*states, *given[c:whole], *(np.asarray(a)[place] for a in given[whole:])])
        states, rows[place] = made[:c], made[c:]
    stacks = [np.zeros(leaf.shape, leaf.dtype) for leaf in loop.made.leaves[c:]]
    for place, row in rows.items():
        for stack, entry in zip(stacks, row, strict=True):
            stack[place] = entry
    return (*states, *stacks)


def _recur(f: wire.Recur, data: tuple[Any, ...]) -> Array:
    """The matrix of a linear loop: that of each round, the states multiplied through."""
    c, fed, summed = f.states, f.states + f.fed, f.states + f.summed
    given, made, shape = f.given.leaves, f.made.leaves, f.index.shape
    starts, ends = (np.cumsum([0, *(leaf.size for leaf in leaves)]) for leaves in (given, made))
    flow = np.eye(int(starts[-1]))
    states = flow[: starts[c]]
    out = np.zeros((int(ends[-1]), int(starts[-1])))
    places = list(np.ndindex(*shape))
    for place in places[::-1] if f.reverse else places:
        found = _run(f.line, [*data[: f.fixed], *(np.asarray(a)[place] for a in data[f.fixed :])], whole=True)
        constants = {k: Const(array, f.line.slots[k], ("round", k)) for k, array in enumerate(found)}
        n = int(np.ravel_multi_index(place, shape)) if shape else 0
        sizes = [f.body.wires[w].size for w in f.body.inputs[fed:]]
        slices = [flow[s + n * m : s + (n + 1) * m] for s, m in zip(starts[fed:-1], sizes, strict=True)]
        result = _net(f.body, constants) @ np.concatenate([states, flow[starts[c] : starts[fed]], *slices])
        states = result[: ends[c]]
        out[ends[c] : ends[summed]] += result[ends[c] : ends[summed]]
        at = int(ends[summed])
        for e, w in zip(ends[summed:-1], f.body.outputs[summed:], strict=True):
            m = f.body.wires[w].size
            out[e + n * m : e + (n + 1) * m] = result[at : at + m]
            at += m
    out[: ends[c]] = states
    return out


def _inverse(f: wire.Inverse, data: tuple[Any, ...], leaf: Leaf) -> Array:
    """The inverse of the body's matrix, for each row of the axes in front."""
    found = _run(f.line, [*data], whole=True)
    body = _net(f.body, {k: Const(array, f.line.slots[k], ("inverse", k)) for k, array in enumerate(found)})
    assert isinstance(leaf, Bundle)
    rows = int(np.prod(leaf.leaves[0].shape[: f.lead], dtype=int))
    own = np.linalg.inv(body) if body.size else body.T
    first, last = (np.cumsum([0, *(one.size for one in some.leaves)]) for some in (f.given, f.made))
    out = np.zeros((rows * body.shape[1], rows * body.shape[0]))
    for row in range(rows):  # array by array, each with the rows in front
        for i, j in itertools.product(range(len(f.made.leaves)), range(len(f.given.leaves))):
            n, m = f.made.leaves[i].size, f.given.leaves[j].size
            at, to = rows * last[i] + row * n, rows * first[j] + row * m
            out[at : at + n, to : to + m] = own[last[i] : last[i + 1], first[j] : first[j + 1]]
    return out


def _while(f: While, given: tuple[Any, ...]) -> tuple[Any, ...]:
    states = list(given[: f.states])
    while np.any(states[0]):
        states = _run(f.body, [*states, *given[f.states :]])
    return tuple(states)


def _solved(f: Solve, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The line on every basis vector, column by column; one dense system for all lanes."""
    c, shapes = len(f.line.outputs), [leaf.shape for leaf in f.line.slots[: f.unknowns]]
    front = tuple(axis.size for axis in f.many)
    ends = np.cumsum([0, *map(math.prod, shapes)])

    def parts(x: Array) -> list[Array]:
        return [x[a:b].reshape(shape) for a, b, shape in zip(ends, ends[1:], shapes, strict=False)]

    def flat(arrays: Iterable[Any]) -> Array:
        return np.concatenate([np.reshape(a, -1) for a in arrays])

    columns = [flat(_run(f.line, [*parts(e), *given[c:]])) for e in np.eye(ends[-1])]
    a = np.stack(columns, axis=1)
    rows = [np.linalg.solve(a, flat(np.asarray(b)[at] for b in given[:c])) for at in np.ndindex(*front)]
    made = [[parts(x)[k] for x in rows] for k in range(f.unknowns)]
    return tuple(np.reshape(np.stack(some), (*front, *shape)) for some, shape in zip(made, shapes, strict=True))


def _run(p: Program[Any, Any] | Line, slots: list[Any], *, whole: bool = False) -> list[Any]:
    for step in p.steps:
        args, leaves = [slots[k] for k in step.args], [p.slots[k] for k in step.args]
        leaf = p.slots[len(slots)]
        match step.operation:
            case Literal(const):
                slots.append(const.array)
            case Elementwise() as primitive:
                slots.append(elementwise(primitive, *args))
            case Contract(spec):
                slots.append(np.einsum(str(spec), *map(dense, args, leaves)))
            case Add():
                slots.append(args[0] + args[1])
            case Keep():
                slots.append(args[0])
            case Pack():
                slots.append(tuple(args))
            case Unpack(k):
                slots.append(args[0][k])
            case Loop() as loop:
                slots.append(_loop(loop, args[0]))
            case Cond() as cond:
                slots.append(tuple(_run(cond.then if args[0][0] else cond.otherwise, list(args[0][1:]))))
            case While() as loop:
                slots.append(_while(loop, args[0]))
            case Implicit() as f:
                slots.append(tuple(_run(f.search(), list(args[0]))))
            case Solve() as system:
                slots.append(_solved(system, args[0]))
            case Choose():
                c = np.reshape(args[0], (*np.shape(args[0]), *(1 for _ in leaf.axes[np.ndim(args[0]) :])))
                slots.append(np.where(c, args[1], args[2]))
            case AnyLane(at, when):
                slots.append(np.any(np.asarray(args[0], bool) == when, axis=tuple(range(at, np.ndim(args[0])))))
            case Fill(at, when):
                slots.append(_filled(np.asarray(args[0]) == when, np.array(args[1]), at))
            case Along(name, index, at):
                slots.append(along(name, at, len(index.axes), np.asarray(args[0])).reshape(leaf.shape))
            case Custom():
                raise TypeError(step.operation)
            case linear if leaf.is_field:
                slots.append((arrow(linear, leaves[0], {}) @ np.reshape(args[0], -1)).reshape(leaf.shape))
            case linear:  # what moves and repeats discrete values takes each of them from one place
                moved = (arrow(linear, leaves[0], {}) @ np.reshape(args[0], -1)).reshape(leaf.shape)
                slots.append(moved.astype(leaf.dtype))
    return slots if whole else [slots[k] for k in p.outputs]


def along(name: str, at: int, count: int, a: Any) -> Any:
    """A function of the entries along some axes, for each entry of the others by itself."""
    behind = np.moveaxis(a, range(at, at + count), range(-count, 0))
    rows = behind.reshape(*behind.shape[: a.ndim - count], -1)
    found = np.apply_along_axis(ALONG[name], -1, rows) if rows.size else np.zeros(rows.shape[: a.ndim - count])
    if found.ndim < rows.ndim:
        return found
    return np.moveaxis(found.reshape(behind.shape), range(-count, 0), range(at, at + count))


ALONG: dict[str, Any] = {
    "argmax": lambda row: min(k for k in range(len(row)) if row[k] == max(row)),
    "argmin": lambda row: min(k for k in range(len(row)) if row[k] == min(row)),
    "argsort": lambda row: sorted(range(len(row)), key=row.__getitem__),
    "logsumexp": lambda row: np.log(np.sum(np.exp(row))),
    "softmax": lambda row: np.exp(row) / np.sum(np.exp(row)),
    "log_softmax": lambda row: row - np.log(np.sum(np.exp(row))),
}


def _bilinear(c: Contraction[Any, Any, Any], u: Vec[Any], v: Vec[Any]) -> list[Any]:
    out = [np.zeros(leaf.shape) for leaf in c.cod.leaves]
    for i, j, k, spec in c.terms:
        operands = dense(u.leaves[i], c.left.leaves[i]), dense(v.leaves[j], c.right.leaves[j])
        out[k] = out[k] + np.einsum(str(spec), *operands)
    return out


def _made(space: Type, leaves: list[Any]) -> Vec[Any]:
    arrays = [np.asarray(a).astype(leaf.dtype) for a, leaf in zip(leaves, space.leaves, strict=True)]
    return of_leaves(space, arrays)


def _dtype(space: Type) -> Any:
    return np.result_type(*(leaf.dtype for leaf in space.leaves)) if space.leaves else np.float64
