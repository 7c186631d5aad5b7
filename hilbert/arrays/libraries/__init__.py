"""numpy, cupy, JAX, torch and every array-API library: a class for each, and the few questions asked of any array."""

from hilbert.arrays.libraries.array_api import ArrayAPI
from hilbert.arrays.libraries.libraries import Cupy, Jax, Torch
from hilbert.arrays.libraries.numpy_library import NUMPY, Numpy

__all__ = ["NUMPY", "ArrayAPI", "Cupy", "Jax", "Numpy", "Torch"]
