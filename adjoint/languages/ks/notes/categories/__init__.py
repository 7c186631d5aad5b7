"""CL, the categorical language of the notes (§8): conversion, terms, combinators."""
