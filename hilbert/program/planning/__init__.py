"""The order of contractions in a line: trees of contractions, their costs, and the cheapest order."""
