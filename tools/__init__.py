"""The commands behind `make`, and what the book adds to Sphinx."""
