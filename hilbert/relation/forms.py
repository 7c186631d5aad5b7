"""The closed union of the forms of relations, which kernels and laws take apart by one `match` each."""

from __future__ import annotations

from typing import TypeAlias, get_args, get_origin

from hilbert.relation.compound_forms import CompoundForm
from hilbert.relation.function_forms import FunctionForm
from hilbert.relation.plain_forms import PlainForm

Form: TypeAlias = PlainForm | FunctionForm | CompoundForm
FORMS: tuple[type, ...] = tuple(get_origin(form) or form for form in get_args(Form))
"""The classes of the union, in order."""
