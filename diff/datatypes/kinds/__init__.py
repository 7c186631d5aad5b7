"""Kinds (what a function on data takes: classes, sequences, vectors), values of a kind, and their files."""
