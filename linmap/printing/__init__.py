"""Linear maps as text: in the paper's notation, and as Python expressions."""
