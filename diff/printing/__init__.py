"""Functions as text: in the paper's notation, without variables (`pointfree`), and as Python expressions."""
