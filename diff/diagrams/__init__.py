"""Functions and linear maps as string diagrams: the graph of boxes and wires, its layout, and SVG."""
