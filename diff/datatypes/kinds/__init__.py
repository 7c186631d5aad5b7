"""Kinds of data: classes and sequences as users declare them, values of these kinds, and their files."""
