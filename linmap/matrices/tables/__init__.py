"""Sparse products as tables: columns of labels, tables that are joined and summed, products of known tables."""
