"""The book's extensions of Sphinx: each one provides something that a reader sees."""

NAMES = (
    "webpages citing layout formulas minutes describing proofs recorded sources tables downloads "
    "typesetting statement_map"
)


def substitute(app, config):
    """Define substitutions with content computed from the book: {{ companion }} and others."""
    from . import citing, proofs, recorded, sources, statement_map

    config.myst_substitutions |= {
        "companion": citing.companion(config),
        "numbered": sources.numbered(),
        "proofs": proofs.table(),
        "proofs_counts": proofs.counts(),
        "proofs_rest": statement_map.counts(),
        "records": recorded.by_part(),
    }


def setup(app):
    """Register all extensions."""
    for name in NAMES.split():
        app.setup_extension(f"{__name__}.{name}")
    app.connect("config-inited", substitute, priority=900)  # after `webpages` sets the address
