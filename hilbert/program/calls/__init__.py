"""The calls of a line: their order, the memory that they reuse, strips that stay in the cache, their text in Python."""
