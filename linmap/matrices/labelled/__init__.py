"""Arrays whose axes have labels: products of them, tuples of labels as columns, and the line that computes them."""
