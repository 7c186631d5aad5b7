"""Spaces, direct sums and vectors: what they are, how they are stored, and the methods that vectors have."""
