"""Arrays kept as sums of products of small factors, and the kernels that act on the factors. No spaces."""
