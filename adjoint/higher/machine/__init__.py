"""Reduction as a machine: forward, writing a tape of what was done to values that move, and back over the tape."""
