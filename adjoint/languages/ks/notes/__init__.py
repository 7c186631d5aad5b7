"""The pipeline of the notes: a Jacobian as a term of linear maps, and what is made of it, each stage a text."""

NAMES = (
    "anf",
    "jacobian",
    "jacobian-opt",
    "fwd",
    "fwd-opt",
    "fwd-cse",
    "transposed",
    "transposed-opt",
    "rev",
    "rev-opt",
    "rev-cse",
    "tupled",
    "polymorphic",
    "split",
    "CL",
    "CL-pruned",
    "CL-pointfree",
)
"""The stages of the notes."""
