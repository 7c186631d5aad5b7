"""CL, the language without variables of the linear-map notes (§8): to and from it, its terms and combinators."""
