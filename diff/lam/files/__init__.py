"""Files of the λ-language: modules that are linked, and their claims."""
