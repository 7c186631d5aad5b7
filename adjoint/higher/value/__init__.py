"""Values of the language of pullbacks: those that move, covectors, and values read back as terms."""
