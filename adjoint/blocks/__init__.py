"""Functions of more data than the cache, or memory, has room for."""
