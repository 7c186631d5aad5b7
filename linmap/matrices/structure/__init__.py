"""The form of its matrix that a term proves, decided in `structure`; the forms (diagonal, …) are in `matrix_shapes`."""
