"""Reverse mode of the notes on terms (§§3–7): application, transposition, tupling, two passes, normal forms."""
