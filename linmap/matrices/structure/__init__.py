"""What a term proves about its matrix: zero, diagonal, low rank, sparse, blocks, and how many entries."""
