"""Adjoints (Theorem 6.5: `rules`; Fig. 2: `adjoint_affine`), gradients and Jacobians."""
