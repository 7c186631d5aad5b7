"""Sparse products as tables: columns of labels, tables joined and summed; bands and diagonals by formula."""
