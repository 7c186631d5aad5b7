"""Simplification and equality of terms, and the laws behind them."""

from linmap import Explanation, equal, explain, measure, simplify
from linmap.laws import EQUATIONS, RULES, Equation, Measure, Rewriting, Rule, Simplifier

__all__ = [
    "EQUATIONS",
    "RULES",
    "Equation",
    "Explanation",
    "Measure",
    "Rewriting",
    "Rule",
    "Simplifier",
    "equal",
    "explain",
    "measure",
    "simplify",
]
