"""Texts of the λ-language with several definitions (modules), linked, and the claims (`claim …`) in them."""
