"""∇⟦e⟧ of the linear-map notes (§5): the Jacobian of an expression as a term of linear maps."""
