"""Terms, types and values of the λ-language; binding, equality and unification."""

from diff.lam.term import equality  # noqa: F401 - attaches equality up to names, hash and pickling to terms
