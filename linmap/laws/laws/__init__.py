"""The laws themselves, a file for each subject: composition, direct sums, relations, sections (u⋆), unitary, nets."""
