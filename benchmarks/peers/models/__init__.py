"""Models of statistics and learning, questions to specialists, and calls of Python."""
