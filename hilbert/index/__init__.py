"""Index sets and positions in them; what one array stores (a leaf), and labelled contractions (a spec)."""
