"""A linear map as a network of labelled products: built from its arcs, contracted in a cheap order, made an array."""
