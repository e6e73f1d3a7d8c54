"""What the book adds to Sphinx: each module is an extension for something that a reader sees."""

NAMES = "webpages citing layout formulas proofs recorded sources travel typesetting"


def setup(app):
    """Register them all."""
    for name in NAMES.split():
        app.setup_extension(f"{__name__}.{name}")
