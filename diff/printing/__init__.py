"""Functions and derivatives as text: in the paper's notation, point-free, and as Python expressions."""
