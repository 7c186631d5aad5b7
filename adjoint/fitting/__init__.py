"""Points that make a function small, and what follows from them."""
