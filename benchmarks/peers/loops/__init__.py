"""Loops over time: small states, and wide ones."""
