"""Control flow as users write it: `fold`, `iterate`, `while_`, `where`, `each`, `build`, `fixed_point` and `root`."""
