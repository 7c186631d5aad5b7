"""Any array library, by the kernels that the array API has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_compat

from hilbert.arrays.kernels.contract import Contractions
from hilbert.arrays.kernels.over_axis import Axes
from hilbert.arrays.kernels.reduction import ReductionKernels
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable


class ArrayAPI(Contractions, ReductionKernels, Axes):
    """Any library that has the array API, unknown ones too."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """True for arrays that array-api-compat knows, or that have a namespace."""
        return array_api_compat.is_array_api_obj(array)

    def special(self, name: str) -> Callable[..., Any]:
        """No function: raises SpaceError."""
        msg = f"{name} has no kernel in the array namespace {self.name}: use numpy, cupy, JAX or torch"
        raise SpaceError(msg)
