"""Built-in functions of KS-Lisp on values: scalars, integers, tensors (`build`: `tensor_builtins`), checks, prints."""
