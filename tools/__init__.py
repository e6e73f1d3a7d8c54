"""The commands behind `make`, and the book's extensions of Sphinx."""
