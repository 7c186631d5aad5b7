"""Small changes to a module of laws that make a right-hand side, a rule or a side condition wrong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

DUALS = (
    ("Fork", "Join"),
    ("fork", "join"),
    ("Project", "Inject"),
    ("project", "inject"),
    ("Compose", "Sum"),
    ("compose", "total"),
    ("Identity", "Zero"),
    ("dom", "cod"),
    ("left", "right"),
    ("source", "order"),
    ("all", "any"),
    ("min", "max"),
    ("common_start", "common_end"),
    ("src", "dst"),
    ("into", "out"),
    ("before", "after"),
    ("inputs", "outputs"),
    ("inner", "outer"),
    ("curry", "uncurry"),
    ("zip_", "unzip"),
    ("rep", "total"),
    ("scan", "suffix"),
)
DUAL = dict(DUALS) | {b: a for a, b in DUALS}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Mutant:
    """A module with one change: in which function and line, what became what, and its source."""

    path: str
    function: str
    line: int
    what: str
    before: str
    after: str
    text: str
    place: int

    def __str__(self) -> str:
        where = f"{self.path}:{self.line} {self.function}: {self.what} in\n    {self.text}"
        return f"{where}\n    - {self.before}\n    + {self.after}"

    @property
    def key(self) -> str:
        """What tells it from the others, also when other lines of the file change."""
        return f"{self.path} {self.function} | {self.text} | {self.before} | {self.after}"


def mutants(root: Path, path: str) -> list[Mutant]:
    """Every mutant of a module, in order."""
    return [mutant for mutant, _ in _changed(root, path)]


def source(root: Path, mutant: Mutant) -> str:
    """The module with the change."""
    for found, tree in _changed(root, mutant.path):
        if found.place == mutant.place:
            return ast.unparse(tree)
    msg = f"no such mutant: {mutant}"
    raise LookupError(msg)


def _changed(root: Path, path: str) -> Iterator[tuple[Mutant, ast.Module]]:
    text = (root / path).read_text("utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    count = 0
    for parent, field, place, function in _sites(tree):
        old = getattr(parent, field) if place is None else getattr(parent, field)[place]
        line = old.target.lineno if isinstance(old, ast.comprehension) else old.lineno
        for what, new in _variants(old):
            if what == "elements swapped" and _is_a_set(parent, field):
                continue
            _put(parent, field, place, new)
            yield Mutant(path, function, line, what, _shown(old), _shown(new), lines[line - 1].strip(), count), tree
            count += 1
        _put(parent, field, place, old)


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _shown(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:150]


def _sites(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None, str]]:
    """Every expression and statement that counts: where it hangs, and in which function of the module."""
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        parent, function = todo.pop()
        for field, value in ast.iter_fields(parent):
            if field in {"annotation", "returns", "decorator_list", "type_params", "names"}:
                continue
            if isinstance(parent, ast.Call) and ast.unparse(parent.func) == "equation" and field == "args":
                continue
            if isinstance(parent, ast.keyword) and parent.arg in {"strict", "late", "lifts", "name"}:
                continue
            if isinstance(parent, (ast.FunctionDef, ast.ClassDef)) and field in {"args", "bases", "keywords"}:
                continue
            if isinstance(parent, ast.Subscript) and field == "slice" and _is_a_type(parent.value):
                continue
            nodes = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
            for place, node in nodes:
                if not isinstance(node, ast.AST) or _is_text(node):
                    continue
                if isinstance(node, (ast.expr, ast.stmt, ast.comprehension)):
                    yield parent, field, place, function
                named = isinstance(node, (ast.FunctionDef, ast.ClassDef))
                name = f"{function}.{node.name}".lstrip(".") if named else function  # type: ignore[attr-defined]
                todo.append((node, name))


def _is_text(node: ast.AST) -> bool:
    """A docstring, a name for messages, an import for types, a call that notes a step: no law."""
    match node:
        case ast.Expr(ast.Constant()) | ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Raise():
            return True
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.Call(ast.Name("TypeVar" | "cast" | "token" | "_token")):
            return True
        case ast.Expr(ast.Call(ast.Attribute(_, "note"))):
            return True
        case ast.Expr(ast.Call(ast.Name("assert_never"))):  # for type checkers
            return True
        case ast.AnnAssign(ast.Name("WEIGHTS")) | ast.Expr(ast.Call(ast.Attribute(ast.Name("WEIGHTS" | "INNER")))):
            return True
        case ast.AnnAssign(_, ast.Name("TypeAlias")) | ast.Assign(_, ast.Subscript(ast.Name("tuple"))):
            return True
        case ast.Assign([ast.Name("__slots__" | "__all__")]):
            return True
        case ast.FunctionDef("_named" | "_program"):  # how unitary operators are called, how large programs are
            return True
        case _:
            return False


def _is_a_type(node: ast.AST) -> bool:
    """A class whose parameters only type checkers read, as in dict[int, str]()."""
    return isinstance(node, ast.Name) and node.id in {"Counter", "defaultdict", "deque", "dict", "list", "set", "tuple"}


def _is_a_set(parent: ast.AST, field: str) -> bool:
    """Whether a tuple that hangs there is asked only for what is in it: its order says nothing."""
    match parent:
        case ast.Compare(_, [ast.In() | ast.NotIn(), *_]):
            return field == "comparators"
        case ast.Call(ast.Name("isinstance" | "issubclass" | "frozenset" | "set")):
            return field == "args"
        case ast.ExceptHandler():
            return field == "type"
        case _:
            return False


def _variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Other nodes instead of one."""
    match node:
        case ast.Compare(_, [operator], _):
            for other in COMPARISONS[type(operator)]:
                yield "comparison", _with(node, ops=[other()])
        case ast.BoolOp(operator, values):
            yield "connective", _with(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
            for k in range(len(values)):
                kept = values[:k] + values[k + 1 :]
                yield "condition dropped", kept[0] if len(kept) == 1 else _with(node, values=kept)
        case ast.UnaryOp(ast.Not(), operand) | ast.UnaryOp(ast.USub(), operand):
            yield "sign dropped", operand
        case ast.BinOp(left, ast.MatMult() | ast.Sub() | ast.Div() | ast.Pow() | ast.Mod(), right):
            yield "operands swapped", _with(node, left=right, right=left)
            if isinstance(node.op, ast.MatMult):
                yield "operand dropped", left
                yield "operand dropped", right
        case ast.BinOp(left, ast.Mult(), right):
            yield "operand dropped", left
            yield "operand dropped", right
        case ast.IfExp(test, body, orelse):
            yield "branches swapped", _with(node, body=orelse, orelse=body)
            yield "condition dropped", body
            if not _is_none(orelse):
                yield "condition dropped", orelse
        case ast.If(test, _, []):
            yield "condition dropped", _with(node, test=ast.Constant(value=False))
            yield "condition negated", _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.If(test) | ast.While(test):
            yield "condition negated", _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Call(ast.Name("isinstance" | "issubclass" | "equation" | "min" | "max")):
            pass
        case ast.Call(_, args):
            yield from _swapped(node, "args", args)
        case ast.Tuple(elts, ast.Load()) | ast.List(elts, ast.Load()):
            yield from _swapped(node, "elts", elts)
            for k in range(len(elts) if len(elts) > 1 else 0):
                yield "element dropped", _with(node, elts=elts[:k] + elts[k + 1 :])
        case ast.Constant(bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield "constant", ast.Constant(value + 1)
            if value == 1:
                yield "constant", ast.Constant(type(value)(0))
        case ast.Name(name, ast.Load()) if name in DUAL:
            yield "dual", ast.Name(DUAL[name], ast.Load())
        case ast.Attribute(_, name, ast.Load()) if name in DUAL:
            yield "dual", _with(node, attr=DUAL[name])
        case ast.Slice(lower, upper):
            if lower or upper:
                yield "bounds swapped", _with(node, lower=upper, upper=lower)
        case ast.comprehension(_, _, [_, *_]):
            yield "filter dropped", _with(node, ifs=[])
        case ast.Expr(ast.Call(ast.Name("equation"))):
            pass
        case ast.Expr(ast.Call()):
            yield "statement dropped", ast.Pass()
        case ast.AugAssign():
            yield "statement dropped", ast.Pass()
        case ast.Continue():
            yield "continue dropped", ast.Pass()
        case ast.Break():
            yield "break dropped", ast.Pass()
        case _:
            pass
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        yield "operator", _with(node, op=SIGNS[type(node.op)]())


def _swapped(node: ast.AST, field: str, items: list[ast.expr]) -> Iterator[tuple[str, ast.AST]]:
    for k in range(len(items) - 1):
        if ast.dump(items[k]) != ast.dump(items[k + 1]):
            order = [*items[:k], items[k + 1], items[k], *items[k + 2 :]]
            yield f"{'arguments' if field == 'args' else 'elements'} swapped", _with(node, **{field: order})


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with(node: ast.AST, **fields: object) -> ast.AST:
    """A copy with other fields."""
    made = deepcopy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return ast.fix_missing_locations(made)
