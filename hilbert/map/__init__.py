"""The abstract map f : V → W and its operators; records; files of vectors; what is attached to vectors."""
