"""Reduction as a machine: forward, back over the tape, and what they need of each primitive."""
