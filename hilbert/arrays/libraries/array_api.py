"""Any array library, by the kernels that the array API has."""

from __future__ import annotations

from typing import Any

import array_api_compat

from hilbert.arrays.kernels.contract import Contractions
from hilbert.arrays.kernels.over_axis import Axes
from hilbert.arrays.kernels.reduction import ReductionKernels


class ArrayAPI(Contractions, ReductionKernels, Axes):
    """Any library that has the array API, unknown ones too."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """True for arrays that array-api-compat knows, or that have a namespace."""
        return array_api_compat.is_array_api_obj(array)
