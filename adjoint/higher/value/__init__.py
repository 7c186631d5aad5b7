"""Values of the language of pullbacks: those that a derivative moves, covectors, and values read back as terms."""
