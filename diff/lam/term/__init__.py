"""Terms, types and values of the λ-language; binding, equality and unification."""
