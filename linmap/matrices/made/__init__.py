"""Matrices computed in the form that `structure` proves (dense, sparse, blocks, factors), diagonals, and costs."""
