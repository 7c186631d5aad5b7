"""Messages of errors: the user's line, names that were meant, and what to write instead."""
