"""Operations on arrays, a file for each kind: contractions, sums by a relation, windows, shifts. They know no spaces."""
