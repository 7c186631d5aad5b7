"""Models of statistics and learning, and what specialists are asked."""
