"""Simplification and equality of terms, and the laws behind them."""

from hilbert.base.lazy import load
from linmap import Explanation, equal, explain, measure, simplify
from linmap.laws import EQUATIONS, RULES, Equation, Measure, Rewriting, Rule, Simplifier

load("laws")  # those of functions, too, if the laws of linear maps were read before `diff` was imported

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
