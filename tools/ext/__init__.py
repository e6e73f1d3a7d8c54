"""What the book adds to Sphinx: each module is an extension for something that a reader sees."""

NAMES = "webpages citing layout formulas minutes proofs recorded sources tables travel typesetting"


def substitute(app, config):
    """Let pages show what follows from the book itself: {{ companion }} and others."""
    from . import citing, proofs, recorded, sources

    config.myst_substitutions |= {
        "companion": citing.companion(config),
        "numbered": sources.numbered(),
        "proofs": proofs.table(),
        "proofs_counts": proofs.counts(),
        "records": recorded.by_part(),
    }


def setup(app):
    """Register them all."""
    for name in NAMES.split():
        app.setup_extension(f"{__name__}.{name}")
    app.connect("config-inited", substitute, priority=900)  # when it is known where the book goes
