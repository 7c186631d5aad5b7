"""Every `match` of the library ends in `assert_never`, so that mypy lists what a new class lacks, or says why not.

A `match` on classes of a union that the library declares is found by the classes of its cases. One of these that ends
in another way stands in `OPEN`: of a new class it says something that is right for any, or hands on what is left.
"""

from __future__ import annotations

import ast
import types
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Union, get_args, get_origin

import pytest

from tests.rooms import PACKAGES, ROOT, modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MODULES = {name: path for name, path in modules(ROOT).items() if not name.startswith("hilbert.all")}


class Found(NamedTuple):
    """A `match`: its module, the function around, the statement, and the text of the line of its last case."""

    module: str
    function: str
    node: ast.Match
    line: str

    @property
    def place(self) -> str:
        """The file, and the line for a reader."""
        return f"{MODULES[self.module].relative_to(ROOT)}:{self.node.lineno}"

    @property
    def is_closed(self) -> bool:
        """True if the last case is that of nothing."""
        return ast.unparse(self.node.cases[-1].body[0]).startswith("assert_never(")


@cache
def tree(module: str) -> ast.Module:
    """The syntax of a module."""
    return ast.parse(MODULES[module].read_text("utf-8"))


def within(node: ast.AST, function: str) -> Iterator[tuple[ast.Match, str]]:
    """The matches of a part of a file, each with the function, or the method, that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Match):
            yield child, function
        name = child.name if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else ""
        yield from within(child, ".".join(filter(None, (function, name))))


def matches() -> Iterator[Found]:
    """Every `match` of the library."""
    for module, path in MODULES.items():
        text = path.read_text("utf-8")
        if " match " in text:
            lines = text.splitlines()
            for node, function in within(tree(module), ""):
                yield Found(module, function, node, lines[node.cases[-1].pattern.lineno - 1])


FOUND = list(matches())


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.place)
def test_closed(found: Found) -> None:
    """`case _: assert_never(…)`, or a case for everything else with a comment that says why."""
    has_reason = "#" in found.line and len(found.line.split("#")[1]) > 8
    assert found.is_closed or has_reason, f"{found.place}: {found.line.strip()}"


# --- matches over unions ---


@cache
def hinted(module: str) -> dict[str, tuple[str, str]]:
    """The names that a module imports, those for type checkers too."""
    nodes = [node for node in ast.walk(tree(module)) if isinstance(node, ast.ImportFrom) and node.module]
    return {a.asname or a.name: (str(node.module), a.name) for node in nodes for a in node.names}


def meant(name: str, module: str) -> tuple[Any, str]:
    """The object that a name stands for in a module, and the module that says so."""
    if name in hinted(module):
        home, name = hinted(module)[name]
        return getattr(import_module(home), name), home
    return vars(import_module(module)).get(name), module


def members(form: Any, module: str) -> frozenset[type]:
    """The classes of the library in a type: of a union all, of a text what is written there."""
    if isinstance(form, str):
        return written(ast.parse(form, mode="eval").body, module)
    if get_origin(form) in {Union, types.UnionType}:
        return frozenset[type]().union(*(members(part, module) for part in get_args(form)))
    form = get_origin(form) or form
    is_own = isinstance(form, type) and form.__module__.partition(".")[0] in PACKAGES
    return frozenset([form]) if is_own else frozenset()


def written(node: ast.expr, module: str) -> frozenset[type]:
    """The classes of the library in a type that is written as text."""
    match node:
        case ast.BinOp(left, ast.BitOr(), right):
            return written(left, module) | written(right, module)
        case ast.Subscript(of):
            return written(of, module)
        case ast.Name(name):
            return members(*meant(name, module))
        case ast.Attribute(ast.Name(home), name):
            return members(getattr(meant(home, module)[0], name, None), module)
        case _:  # None, texts
            return frozenset()


def unions() -> dict[str, frozenset[type]]:
    """The unions of classes that the library declares, by module and name."""
    declared = {}
    for module in MODULES:
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
                name = ast.unparse(node.target)
                classes = members(vars(import_module(module)).get(name), module)
                if len(classes) > 1:
                    declared[f"{module}.{name}"] = classes
    return declared


def asked(pattern: ast.pattern, module: str) -> Iterator[type]:
    """The classes of the library that a case is about."""
    match pattern:
        case ast.MatchClass(cls):
            yield from written(cls, module)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from asked(inner, module)
        case ast.MatchOr(several):
            for one in several:
                yield from asked(one, module)
        case _:  # values, sequences, names
            pass


def columns(found: Found) -> Iterator[list[ast.pattern]]:
    """The patterns of the subject, or of each part of one that is written as a tuple."""
    patterns = [case.pattern for case in found.node.cases]
    if not isinstance(found.node.subject, ast.Tuple):
        yield patterns
        return
    flat = [one for p in patterns for one in (p.patterns if isinstance(p, ast.MatchOr) else [p])]
    rows = [p.patterns for p in flat if isinstance(p, ast.MatchSequence)]
    yield from ([row[k] for row in rows] for k in range(len(found.node.subject.elts)))


def over(found: Found, declared: dict[str, frozenset[type]]) -> str | None:
    """The smallest union that the classes of the cases are from; a base of a member counts as one."""

    def holds(classes: Iterable[type], union: frozenset[type]) -> bool:
        return all(any(issubclass(member, cls) for member in union) for cls in classes)

    for patterns in columns(found):
        classes = {cls for pattern in patterns for cls in asked(pattern, found.module)}
        fitting = [name for name, union in declared.items() if classes and holds(classes, union)]
        if fitting:
            return min(fitting, key=lambda name: (len(declared[name]), name))
    return None


HANDED_ON = [
    "linmap.matrices.network.loop_lanes:_parts",
    "linmap.net.apply_recur:_through",
    "diff.derive.affine:_derive",
    "diff.lam.show.show:Shower._term",
    "diff.numpy_source.body:Body._step",
    "diff.numpy_source.relations_in_text:reduction",
]
"""The rest is given to a function whose type says which classes it takes: mypy lists a new class there."""
BELOW = [
    "hilbert.program.control.loop_coefficients:_is_linear",
    "hilbert.program.control.loop_coefficients:_multiple",
    "hilbert.program.layout.long_axes:_Reordering._reordered",
    "hilbert.program.layout.long_axes:_sparse_products",
    "hilbert.program.line.builder:Builder.step",
    "hilbert.program.line.line:Liveness.need",
    "hilbert.program.line.line:_narrowed",
    "hilbert.program.planning.multiplications:products",
    "hilbert.program.planning.multiplications:sums",
    "hilbert.program.run.fuse:fused",
    "hilbert.program.run.fuse:_among_zeros",
    "hilbert.compiled.lower.assembled:_is_part",
    "hilbert.compiled.lower.assembled:assemblies",
    "hilbert.program.run.fuse:_weighted",
    "hilbert.program.run.lane_strips:narrowed",
    "hilbert.program.run.norms:norm",
    "hilbert.program.run.outer_sums:_terms",
    "hilbert.program.transform.alike_steps:Classes._numbered",
    "hilbert.program.transform.lifted_line:lifted_line",
    "hilbert.program.transform.lifted_line:varying",
    "linmap.matrices.labelled.supported_steps:SupportedSteps._support",
    "linmap.matrices.made.predicted_work:_started",
    "linmap.matrices.made.peak_memory:_owners",
]
"""Of the operations of steps, which are an open class there: the union of them is declared in a layer above."""
ASKS = [
    "hilbert.compiled.machine.ir_text:_Function.body",
    "hilbert.compiled.merge.fusion:work_of",
    "hilbert.compiled.tree.statements:blocks",
    "diff.blocks.softmax_in_passes:without_softmax",
    "diff.blocks.early_sums:_EarlySums.gains",
    "diff.blocks.early_sums:_EarlySums.summed",
    "hilbert.arrays.formal.formal_kernels:FormalKernels._steps",
    "hilbert.arrays.kernels.reduction:ReductionKernels._in_turn",
    "hilbert.arrays.kernels.reduction:_axes",
    "hilbert.arrays.libraries.relation_counts:_degrees",
    "hilbert.compiled.lower.axis_classes:AxisClasses.__init__",
    "hilbert.compiled.lower.expanded:Expansion.statements",
    "hilbert.compiled.tree.rewriting:Rewriting._statement",
    "hilbert.program.run.windowed_products:_axes",
    "hilbert.program.blocks.block_sizes:_steps",
    "hilbert.program.blocks.fact:word",
    "hilbert.program.blocks.fact:zero_in",
    "hilbert.program.blocks.fact:either",
    "hilbert.program.blocks.facts:LineRules.from_lanes",
    "hilbert.program.blocks.facts:LineRules.from_shared",
    "hilbert.program.blocks.facts:LineRules.linear",
    "hilbert.program.blocks.facts:LineRules.picked",
    "hilbert.program.blocks.facts:LineRules.step",
    "hilbert.program.blocks.open_constants:_constants",
    "hilbert.program.blocks.open_constants:_rebuilt",
    "hilbert.program.blocks.open_constants:_table",
    "hilbert.program.blocks.block_line:resized_step",
    "hilbert.program.blocks.block_line:_BlockLine.step",
    "hilbert.program.blocks.block_line:_BlockLine.reduced",
    "hilbert.program.blocks.halos:sides",
    "hilbert.program.blocks.halos:is_relabelled",
    "hilbert.program.blocks.halos:beside",
    "hilbert.program.blocks.halos:BlockRows.asked",
    "hilbert.program.blocks.halos:BlockRows.key",
    "hilbert.program.blocks.places_along:with_extremes",
    "hilbert.relation.relation_operators:law",
    "linmap.matrices.network.arc_products:ArcProducts._reduced",
    "linmap.matrices.structure.inverse_forms:inverse_form",
    "linmap.matrices.structure.positive_maps:_Cuts.at_arc",
    "linmap.matrices.structure.positive_maps:_Maps._after",
    "linmap.net.support:is_selection",
    "linmap.net.supported_flow:Supports.image",
    "linmap.printing.relation_text:reduction",
    "diff.diagrams.diagram:_label",
    "diff.derive.loop_derivative:_is_arithmetic",
    "diff.derive.primitive_partials:_filling",
    "diff.jets.series_of_control:_results",
    "diff.jets.series_of_control:_Flow._moved",
    "diff.lam.run.closeness:_agree",
    "diff.lam.term.lam_values:_shape",
    "diff.lam.term.lam_values:_stacked",
    "diff.lam.term.lam_values:_opened",
    "diff.printing.show:_one_hot",
    "diff.printing.show_entries:Entries._picked",
    "diff.primitives.value_ranges:_image",
    "diff.terms.linearization:_is_new",
    "adjoint.higher.machine.differential:_summands",
    "adjoint.higher.machine.forward_values:Mover.sum",
    "adjoint.higher.machine.paired_values:paired",
    "adjoint.higher.machine.pairing:_along",
    "adjoint.higher.term.claims:_summands",
    "adjoint.higher.term.jacobian:_zero_like",
    "adjoint.higher.term.redexes:last_of",
    "adjoint.higher.value.stored_types:_heads",
    "adjoint.languages.caddie.built_in:_is_index",
    "adjoint.languages.ks.notes.reverse.cotangents:_with",
    "adjoint.languages.ks.notes.reverse.cotangents:_value",
    "adjoint.languages.ks.notes.reverse.splitting:Splitting._shared",
    "adjoint.languages.ks.text.function_names:polymorphic",
    "adjoint.languages.ks.text.rewrite_rules:Rules._match",
    "adjoint.languages.ks.value.types:rank",
    "adjoint.languages.stages:_made",
    "adjoint.languages.stages:_operation",
    "adjoint.languages.value_spaces:_plain",
]
"""Some members are asked for, and what is said of all others is right for any; the comment says so."""


def test_open_matches_over_unions() -> None:
    """Those that do not end in `assert_never` are listed: another one is closed, or joins a list for its reason."""
    declared = unions()
    found = {match: over(match, declared) for match in FOUND}
    assert sum(union is not None for union in found.values()) > 190  # of some 275
    listed = [f"{match.module}:{match.function}" for match, union in found.items() if union and not match.is_closed]
    assert sorted(listed) == sorted(HANDED_ON + BELOW + ASKS)
