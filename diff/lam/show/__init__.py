"""Terms, types and values of the λ-language as text, which the parser reads back."""
