"""How laws are applied: rules and the measure that they lower, terms and sequences while they are rewritten."""
