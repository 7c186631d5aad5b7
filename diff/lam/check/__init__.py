"""The type checker of the λ-language: names resolved, types unified, and which terms are linear in a variable."""
