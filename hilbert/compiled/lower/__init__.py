"""From lines to loops: the nests of a line, the order of their loops, and the loops themselves."""
