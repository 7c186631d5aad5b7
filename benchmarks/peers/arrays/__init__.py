"""The rows of the geometric mean, beside which stands what is computed on arrays without a loop."""
