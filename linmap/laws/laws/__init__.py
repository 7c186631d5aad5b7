"""The laws themselves, a file for each subject: composition, direct sums, relations, sections (u⋆), unitary, nets.

The files are imported in one order, whichever is asked for first: rules are tried in the order of their declaration.
"""

from linmap.laws.laws import biproduct, category, equations, graph, nets, sections, unitary, wires

__all__ = ["biproduct", "category", "equations", "graph", "nets", "sections", "unitary", "wires"]
