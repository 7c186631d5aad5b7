"""Matrices in the form that is proved (dense, sparse, blocks, factors), with what they cost."""
