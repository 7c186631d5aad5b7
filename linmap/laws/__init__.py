"""The laws of linear maps: declared rules and equations, and the engine that applies the rules (paper §2–6)."""

from linmap.laws.engine.engine import Rewriting, Simplifier
from linmap.laws.engine.measure import Measure, measure
from linmap.laws.engine.rule import EQUATIONS, RULES, Equation, Rule
from linmap.laws.laws import biproduct, category, equations, graph, nets, sections, unitary, wires

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
