"""Lines made from lines: with one more axis on every step (as vmap does), hoisted out of loops, cut into segments."""
