"""The forms of inverses that a formula gives; the places of the entries of others are found with the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linmap.matrices.structure.matrix_shapes import (
    DenseForm,
    DiagonalForm,
    IdentityForm,
    Kronecker,
    Permutation,
    ScaledForm,
)
from linmap.term import wire

if TYPE_CHECKING:
    from linmap.matrices.structure.matrix_shapes import Form
    from linmap.term.net import Net


def inverse_in(body: Net) -> wire.Inverse | None:
    """The inverse that a net consists of, the arrays of its ends being those of the net; None for other nets."""
    found = [arc.map for arc in body.arcs if isinstance(arc.map, wire.Inverse)]
    ends = {arc.map.k: arc.src for arc in body.arcs if isinstance(arc.map, wire.Into)}
    starts = {arc.map.k: arc.dst for arc in body.arcs if isinstance(arc.map, wire.OutOf)}
    if len(found) != 1 or found[0].lead or len(body.arcs) != len(ends) + len(starts) + 1:
        return None
    is_whole = ends == dict(enumerate(body.inputs)) and starts == dict(enumerate(body.outputs))
    return found[0] if is_whole else None


def inverse_form(form: Form) -> Form | None:
    """The form of the inverse of a matrix of a form; None where no formula gives it."""
    match form:
        case IdentityForm() | ScaledForm() | Permutation() | DiagonalForm(_, None):
            return form
        case DenseForm((rows, cols)) if rows == cols:
            return form
        case Kronecker(parts):
            found = [inverse_form(part) for part in parts]
            return Kronecker(tuple([part for part in found if part is not None])) if None not in found else None
        case _:  # by the places of the entries
            return None
