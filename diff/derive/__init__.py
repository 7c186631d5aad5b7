"""Derivatives (paper §5, Fig. 1): of a line (`affine`), and of each step that needs a rule of its own."""
