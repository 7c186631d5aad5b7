"""The built-in functions of KS-Lisp, on values: scalars, integers, tensors, linear maps, checks and prints."""
