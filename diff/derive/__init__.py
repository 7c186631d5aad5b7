"""Derivatives (paper §5, Fig. 1): a case for each step in `affine`, arcs in `tangents`; control flow has files."""
