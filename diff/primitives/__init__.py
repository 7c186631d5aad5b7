"""The open table of primitives (`primitives`), the rows of their derivatives, and values of special functions."""
