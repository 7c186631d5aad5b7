"""Nets: linear maps with shared flow, as arcs between wires; trees are lowered to them, and run."""
