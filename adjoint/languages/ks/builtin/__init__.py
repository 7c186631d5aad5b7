"""Built-in functions of KS-Lisp, a row of a table each: of scalars, linear maps and tensors; their types and values."""
