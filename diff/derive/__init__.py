"""Derivatives (paper §5, Fig. 1): the rule of a step is a case in `affine`; loops, branches, equations have files."""
