"""Checks by numbers: adjoints, derivatives, and operations of users."""
