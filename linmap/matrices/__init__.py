"""The matrix of a linear map: its structure, its cost, and the matrix itself in the cheapest form."""
