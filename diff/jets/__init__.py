"""Taylor coefficients of any order: jets, Laplacians and differential equations, as programs again."""
