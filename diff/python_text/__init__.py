"""Python written down: expressions and axes, statements and names, constants, functions that a text carries along."""
