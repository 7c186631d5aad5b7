"""Passes over data in a database, as queries."""
