"""Operations on arrays, a file for each kind: contractions, sums by a relation, windows, shifts. No space is known."""
