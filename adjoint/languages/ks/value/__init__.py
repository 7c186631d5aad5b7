"""Values (`value_classes`) and types of KS-Lisp: reals, tensors, linear maps; how they are packed and shown."""
