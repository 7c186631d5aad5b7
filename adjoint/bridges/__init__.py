"""Functions for the solvers of other packages: flat arrays (`flat_arrays`), what varies (`varied`), scipy, programs."""
