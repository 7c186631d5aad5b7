"""The laws themselves, one file for each subject: category, biproduct, relations, sections, unitary maps, nets."""
