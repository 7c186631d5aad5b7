"""Functions for other packages: scipy's solvers (`as_scipy`, `varied`), nonlinear programs, JAX, torch."""
