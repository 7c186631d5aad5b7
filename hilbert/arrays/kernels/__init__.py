"""Operations on arrays, a file for each kind: contractions, reductions by relations, windows, shifts. No spaces."""
