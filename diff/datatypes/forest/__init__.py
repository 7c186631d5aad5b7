"""A function on trees for many trees at once: all nodes of one height in one array operation."""
