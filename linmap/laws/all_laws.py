"""The tables of all laws: those of linear maps, and those that a package above declares (`diff`: of functions)."""

from hilbert.base.lazy import load
from linmap.laws.engine.rule import EQUATIONS, RULES
from linmap.laws.laws import biproduct, category, equations, graph, nets, sections, unitary, wires

__all__ = [
    "EQUATIONS",
    "RULES",
    "biproduct",
    "category",
    "equations",
    "graph",
    "nets",
    "sections",
    "unitary",
    "wires",
]

load("laws")
