"""The array layer: the one place that touches numbers (numpy, cupy, JAX, torch or any array-API namespace)."""
