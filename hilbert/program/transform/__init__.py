"""Lines made from lines: lifted over an index set, hoisted out of loops, cut into segments."""
