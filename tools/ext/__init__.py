"""Extensions of Sphinx for this book: see CONTRIBUTING.md."""
