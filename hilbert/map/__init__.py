"""The abstract map f : V → W and its operators; records; files of vectors; methods attached to vectors."""
