"""Lines made from lines: with one more axis on every step (as vmap does), alike steps as one, loops hoisted or cut."""
