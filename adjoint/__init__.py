"""Adjoints of linear maps and derivatives: gradients, Jacobians, checks."""
