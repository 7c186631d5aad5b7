"""Parts of elimination: entries of inverses at known places, unknowns that are eliminated last."""
