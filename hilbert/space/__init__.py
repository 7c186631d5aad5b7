"""Spaces, direct sums and vectors: what they are, how they are stored, their methods (records: `hilbert.map`)."""
