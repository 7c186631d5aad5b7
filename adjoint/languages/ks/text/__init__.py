"""Text of KS-Lisp → typed definitions, and back: reader, parser, names, signatures, rewrite rules."""
