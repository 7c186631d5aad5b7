"""Spaces, direct sums and vectors: their parts, their storage, their methods (records: `hilbert.map`)."""
