"""Functions of the library as functions of torch's tensors, which torch differentiates by the library's gradients.

f = as_torch(fun(P, X, R)(loss))          # f(params, x).backward()
model = as_torch(fun(P, X)(net), start)   # a torch.nn.Module, whose parameters are those of the vector `start`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.reverse.adjoint_affine import vjp
from diff.terms.lower import program
from hilbert import DirectSum, SpaceError, Type, Vec
from hilbert.base.once import once
from hilbert.errors import shown
from hilbert.map.map import require_map, runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from diff.terms.program import AnyProgram
    from hilbert.map.map import AnyMap


def as_torch(f: AnyMap, parameters: Vec[Any] | None = None) -> Any:
    """f as a function of torch's tensors, with the library's gradients, to any order.

    An argument for each part of f's domain: a tensor, tuples of tensors in the form of the part, or a vector; the
    result likewise. With `parameters`, a vector of the first part, it is a `torch.nn.Module`, called with the other
    arguments, whose parameters are copies of the vector's arrays under the names of their parts. Raises SpaceError
    without torch, for arguments that do not fit, and for parameters that are not of the first part.
    """
    require_map(f, "as_torch")
    try:
        import torch
    except ImportError:
        msg = "as_torch needs torch: pip install torch"
        raise SpaceError(msg) from None
    parts = f.dom.parts if isinstance(f.dom, DirectSum) else (f.dom,)
    cod, on_leaves = f.cod, _in_torch(program(f))

    def called(*arguments: Any) -> Any:
        if len(arguments) != len(parts):
            msg = f"f : {f.dom} → {cod} takes {len(parts)} arguments, one for each part; {len(arguments)} were given"
            raise SpaceError(msg)
        leaves = [leaf for part, a in zip(parts, arguments, strict=True) for leaf in _leaves(torch, part, a)]
        return cod.pack(iter(on_leaves(*leaves)))

    if parameters is None:
        return called
    first = parts[0]
    if not isinstance(parameters, Vec) or parameters.space != first:
        msg = f"the parameters of f : {f.dom} → {cod} are a vector of {first}, not {shown(parameters)}"
        raise SpaceError(msg)
    names, start = list(_names(first)), parameters.leaves

    class Module(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        """The map with the parameters that it was made with."""

        def __init__(self) -> None:
            super().__init__()
            for name, leaf in zip(names, start, strict=True):
                self.register_parameter(name, torch.nn.Parameter(torch.tensor(leaf)))

        def forward(self, *data: Any) -> Any:
            """f(parameters, *data)."""
            return called(first.pack(iter([getattr(self, name) for name in names])), *data)

    return Module()


def _names(space: Type, head: str = "") -> Iterator[str]:
    """A name for each leaf: the path of the parts' names, or of their positions."""
    if not space.is_sum:
        yield from (head or "value",) if len(space.leaves) == 1 else (f"{head}_{k}" for k in range(len(space.leaves)))
        return
    for name, part in zip(space.names or range(len(space.parts)), space.parts, strict=True):
        yield from _names(part, f"{head}_{name}" if head else str(name) if space.names else f"part_{name}")


def _leaves(torch: Any, part: Type, given: Any) -> Sequence[Any]:
    """The tensors of an argument; SpaceError for those of another form, of another shape or precision."""
    if isinstance(given, Vec):
        if given.space != part:
            msg = f"a vector of {given.space} is given to f, where one of {part} is due"
            raise SpaceError(msg)
        return [torch.as_tensor(leaf) for leaf in given.leaves]
    found = []
    for a, leaf in zip(part.unpack(given), part.leaves, strict=True):
        is_number = type(a) is int or (type(a) is float and leaf.is_field)
        tensor = torch.as_tensor(a, dtype=getattr(torch, leaf.dtype) if is_number else None)
        if tuple(tensor.shape) != leaf.shape or tensor.dtype != getattr(torch, leaf.dtype):
            msg = f"a tensor of shape {tuple(tensor.shape)} and {tensor.dtype} is no element of {leaf}: "
            raise SpaceError(f"{msg}one of shape {leaf.shape} and {leaf.dtype} would fit")
        found.append(tensor)
    return found


@once
def _in_torch(p: AnyProgram) -> Callable[..., Sequence[Any]]:
    """The program on leaves; backwards vjp(p), which is likewise one of torch."""
    import torch

    run, starts, ends = runner(p), p.dom.leaves, p.cod.leaves

    class Function(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        """The program and its pullback."""

        @staticmethod
        def forward(ctx: Any, *leaves: Any) -> Any:
            """The results, which keep the arguments."""
            ctx.save_for_backward(*leaves)
            made = tuple(run([leaf.detach() for leaf in leaves]))
            ctx.mark_non_differentiable(*(a for a, leaf in zip(made, ends, strict=True) if not leaf.is_field))
            return made

        @staticmethod
        def backward(ctx: Any, *slopes: Any) -> Any:
            """The gradient in each leaf; None in what is discrete."""
            moving = [slope for slope, leaf in zip(slopes, ends, strict=True) if leaf.is_field]
            made = iter(_in_torch(vjp(p))(*ctx.saved_tensors, *moving))
            return tuple(next(made) if leaf.is_field else None for leaf in starts)

    found: Callable[..., Sequence[Any]] = Function.apply
    return found
