"""Running KS-Lisp: the evaluator, functions as maps of the library, derived functions, their verification."""
