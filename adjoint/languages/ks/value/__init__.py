"""Values and types of KS-Lisp: reals, tensors, linear maps; how they are packed into vectors and shown."""
