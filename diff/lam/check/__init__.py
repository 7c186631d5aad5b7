"""The type checker of the λ-language: names resolved, types unified, linearity."""
