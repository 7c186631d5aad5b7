"""Terms of linear maps: the nodes, the data in them, and the functions that make them (paper §3)."""
