"""Objects as notebooks, IPython and Rich show them: printed text as TeX and HTML, tables of vectors."""
