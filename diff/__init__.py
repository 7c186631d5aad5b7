"""The language of analytic functions and their symbolic derivatives."""
