"""Running KS-Lisp: the evaluator (also of the lanes of `build`), functions as maps, `fwd` and `rev`, verification."""
