"""Functions as data: terms that users compose (`nodes`), programs they are lowered to, and their comparison."""
