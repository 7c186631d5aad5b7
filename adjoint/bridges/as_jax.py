"""Functions of the library as functions of JAX's arrays, whose derivatives stay the library's.

>>> import jax, jax.numpy as jnp
>>> from diff import fun, sin
>>> from hilbert import Fin, R32
>>> f = as_jax(fun(R32 ** Fin.of(3), R32)(lambda x, k: k * (sin(x) @ x)))
>>> x = jnp.arange(3.0, dtype="float32")
>>> print([round(float(s), 3) for s in jax.jit(jax.grad(lambda x: f(2.0 * x, 3.0)))(x)])
[0.0, 0.462, -20.228]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, final, get_args

import numpy as np

from adjoint.bridges.pytree import flattened, unflattened
from adjoint.reverse.adjoint_affine import vjp
from diff.derive.affine import jvp
from diff.terms.lower import program
from hilbert import DirectSum, SpaceError, Type, Vec
from hilbert.arrays.libraries.namespace import require_precision
from hilbert.base.once import once
from hilbert.errors import shown
from hilbert.map.map import require_map, runner
from hilbert.tracebacks import called

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.terms.program import AnyProgram
    from hilbert.index.leaf import Leaf
    from hilbert.map.map import AnyMap

Rule: TypeAlias = Literal["jvp", "vjp"]
"""The derivative that JAX is given: forwards in JAX, or backwards by calls out of JAX."""


def as_jax(f: AnyMap, *, rule: Rule = "jvp") -> Callable[..., Any]:
    """f as a function of JAX's arrays, which `jax.grad`, `jit`, `vmap`, `scan` take; its derivatives are ours.

    An argument for each part of f's domain: an array, tuples of arrays in the form of the part, or a vector, which is a
    pytree from then on: `vmap` and `scan` take rows of vectors of V^X, and what they stack is in V^n. The result is an
    array, or tuples of arrays in the form of the codomain. With rule="vjp" the function and its gradient run outside of
    JAX, on numpy, as they are: `compiled(f)` as machine code, an operation of a user's by its own library; there JAX
    has derivatives backwards only. Raises SpaceError without JAX, for a rule of another name, and for arrays that do
    not fit, or whose doubles JAX would make single.
    """
    if rule not in get_args(Rule):
        msg = f'as_jax(f, rule={shown(rule)}): the name of a rule is "jvp" or "vjp"'
        raise SpaceError(msg)
    require_map(f, "as_jax")
    _register()
    return InJax(f, rule)


@final
class InJax:
    """A function of JAX's arrays: made by `as_jax`, and pickled as the function and the name of the rule."""

    def __init__(self, f: AnyMap, rule: Rule) -> None:
        self.map, self.rule = f, rule
        self._parts = f.dom.parts if isinstance(f.dom, DirectSum) else (f.dom,)
        self._on_leaves = _in_jax(program(f)) if rule == "jvp" else _outside(f)

    @called
    def __call__(self, *arguments: Any) -> Any:
        """f of arrays, tuples of arrays, or vectors. Raises SpaceError for others."""
        f, parts = self.map, self._parts
        if len(arguments) != len(parts):
            msg = f"f : {f.dom} → {f.cod} takes {len(parts)} arguments, one for each part; {len(arguments)} were given"
            raise SpaceError(msg)
        leaves = [leaf for part, a in zip(parts, arguments, strict=True) for leaf in _leaves(part, a)]
        return f.cod.pack(iter(self._on_leaves(*leaves)))

    def __repr__(self) -> str:
        rule = "" if self.rule == "jvp" else f", rule={self.rule!r}"
        return f"as_jax(f : {self.map.dom} → {self.map.cod}{rule})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.map, self.rule)


def _remade(f: AnyMap, rule: Rule) -> InJax:
    return cast("InJax", as_jax(f, rule=rule))


def _leaves(part: Type, given: Any) -> list[Any]:
    """The arrays of an argument, as JAX's; SpaceError for those of another form, and of less precision."""
    if isinstance(given, Vec):
        if given.space != part:
            msg = f"a vector of {given.space} is given to f, where one of {part} is due"
            raise SpaceError(msg)
        found = [_array(a, leaf) for a, leaf in zip(given.leaves, part.leaves, strict=True)]
        for a, leaf in zip(found, part.leaves, strict=True):
            if leaf.is_field:
                require_precision(a, leaf)
        return found
    arrays = [_array(a, leaf) for a, leaf in _matched(part, given)]
    return list(part.vec(part.pack(iter(arrays))).leaves)


def _array(given: Any, leaf: Leaf) -> Any:
    """JAX's array of an array, or of numbers; SpaceError for anything else."""
    from jax import numpy as xp
    from jax import tree
    from jax.core import Tracer

    try:
        return xp.asarray(given, leaf.dtype if _fits(given, leaf) else None)
    except (TypeError, ValueError):
        if any(isinstance(a, Tracer) for a in tree.leaves(given)):  # an error of JAX's own
            raise
        msg = f"as_jax: f takes an array of shape {leaf.shape} and dtype {leaf.dtype} for {leaf}, not {shown(given)}"
        raise SpaceError(msg) from None


def _matched(part: Type, given: Any) -> list[tuple[Any, Leaf]]:
    return list(zip(part.unpack(given), part.leaves, strict=True))


def _fits(given: Any, leaf: Leaf) -> bool:
    """Tell if the argument is a number of Python's, which has no precision of its own, and fits."""
    return type(given) is int or (type(given) is float and leaf.is_field)


@once
def _in_jax(p: AnyProgram) -> Callable[..., Sequence[Any]]:
    """The program on leaves, with the program f'(x)(dx), which is likewise one of JAX, as its derivative."""
    import jax

    run, varies = runner(p), [leaf.is_field for leaf in p.dom.leaves]
    ends = p.cod.leaves
    on_leaves: Any = jax.custom_jvp(lambda *leaves: tuple(run(leaves)))

    @on_leaves.defjvp  # type: ignore[untyped-decorator, unused-ignore]
    def derivative(leaves: Sequence[Any], tangents: Sequence[Any]) -> Any:
        moving = [t for t, moves in zip(tangents, varies, strict=True) if moves]
        made = iter(_in_jax(jvp(p))(*leaves, *moving))
        return on_leaves(*leaves), tuple(next(made) if leaf.is_field else _still(leaf) for leaf in ends)

    found: Callable[..., Sequence[Any]] = on_leaves
    return found


@once
def _outside(f: AnyMap) -> Callable[..., Sequence[Any]]:
    """The function on leaves by a call of numpy, with vjp(f), likewise called, as its derivative."""
    import jax

    run, starts, ends = runner(f), f.dom.leaves, f.cod.leaves
    of_array: Any = jax.ShapeDtypeStruct  # has no types
    shapes = tuple(of_array(leaf.shape, leaf.dtype) for leaf in ends)

    def by_numpy(*leaves: Any) -> tuple[Any, ...]:
        return tuple(np.asarray(a) for a in run([np.asarray(leaf) for leaf in leaves]))

    on_leaves: Any = jax.custom_vjp(
        lambda *leaves: jax.pure_callback(by_numpy, shapes, *leaves, vmap_method="sequential")
    )

    def backwards(leaves: Sequence[Any], slopes: Sequence[Any]) -> Any:
        moving = [slope for slope, leaf in zip(slopes, ends, strict=True) if leaf.is_field]
        made = iter(_outside(vjp(f))(*leaves, *moving))
        return tuple(next(made) if leaf.is_field else _still(leaf) for leaf in starts)

    on_leaves.defvjp(lambda *leaves: (on_leaves(*leaves), leaves), backwards)
    found: Callable[..., Sequence[Any]] = on_leaves
    return found


def _still(leaf: Leaf) -> Any:
    """JAX's slope of what is discrete."""
    from jax.dtypes import float0

    return np.zeros(leaf.shape, float0)


def _register() -> None:
    """Make vectors pytrees, once; SpaceError where JAX is not installed."""
    global _registered  # noqa: PLW0603 - once a process
    try:
        from jax import tree_util
    except ImportError:
        msg = "as_jax needs JAX: pip install jax"
        raise SpaceError(msg) from None
    if not _registered:
        tree_util.register_pytree_node(Vec, flattened, unflattened)
        _registered = True


_registered = False
