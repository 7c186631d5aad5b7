"""Functions for the solvers of other packages: what varies (`varied`), as scipy takes it, nonlinear programs."""
