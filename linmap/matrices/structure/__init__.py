"""What a term proves of its matrix, decided in `structure`; the forms (diagonal, sparse, …) are in `matrix_shapes`."""
