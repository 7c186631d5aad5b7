"""The order in which the axes of arrays lie in memory inside a line."""
