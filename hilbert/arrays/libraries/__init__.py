"""numpy, cupy, JAX, torch and every array-API library: a class for each, and the few questions asked of any array."""

from hilbert.arrays.libraries.libraries import NUMPY, ArrayAPI, Cupy, Jax, Numpy, Torch

__all__ = ["NUMPY", "ArrayAPI", "Cupy", "Jax", "Numpy", "Torch"]
