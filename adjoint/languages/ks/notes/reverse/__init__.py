"""Reverse mode of the linear-map notes (§§3–7): maps applied and transposed, tupling, two passes, normal forms."""
