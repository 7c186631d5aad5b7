"""Text → terms of the λ-language: tokens, types, patterns, atoms, terms, items."""
