"""The laws of linear maps: declared rules and equations, and the engine that applies the rules (paper §2–6)."""

from linmap.laws import biproduct, category, equations, graph, nets, sections, unitary, wires
from linmap.laws.engine import Rewriting, Simplifier
from linmap.laws.measure import Measure, measure
from linmap.laws.rule import EQUATIONS, RULES, Equation, Rule

__all__ = [
    "EQUATIONS",
    "RULES",
    "Equation",
    "Measure",
    "Rewriting",
    "Rule",
    "Simplifier",
    "biproduct",
    "category",
    "equations",
    "graph",
    "measure",
    "nets",
    "sections",
    "unitary",
    "wires",
]
