"""The language of linear maps between Hilbert spaces."""
