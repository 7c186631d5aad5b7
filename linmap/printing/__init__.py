"""Linear maps as text, derivatives too: in the paper's notation, and as Python; `diff.printing` has their data."""
