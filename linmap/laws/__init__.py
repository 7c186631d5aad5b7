"""The laws of linear maps: declared rules and equations, and the engine that applies the rules (paper §2–6)."""

from typing import TYPE_CHECKING

from hilbert.base.lazy import lazy

if TYPE_CHECKING:
    from linmap.laws.all_laws import (
        EQUATIONS,
        RULES,
        biproduct,
        category,
        equations,
        graph,
        nets,
        sections,
        unitary,
        wires,
    )
    from linmap.laws.engine.engine import Simplifier
    from linmap.laws.engine.measure import Measure, measure
    from linmap.laws.engine.rule import Equation, Rule
    from linmap.term.protocols import Rewriting

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)
