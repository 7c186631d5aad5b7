"""Arrays kept as sums of products of small factors (u⊗v + …), and the kernels that act on the factors."""
