"""The tree: scalar values, places in arrays, buffers, and the loops around statements. No spaces are known here."""
