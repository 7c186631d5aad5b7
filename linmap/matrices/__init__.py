"""What is known of a linear map's matrix: its structure, its cost, and the matrix in the cheapest form."""
