"""A Sphinx extension: each page of the paper's path says how long it takes to read."""

from bs4 import BeautifulSoup

from .contents import parts

# What is folded, and the caption of a picture that moves, as it is drawn for print.
LEFT_OUT = "details, .dropdown, .toggle-hidden, clip-picture figcaption"
NO_WORDS = "div.highlight, div.output, div.math, script, .minutes, .prev-next-footer"
PATH = [name for name in next(iter(parts().values())) if name not in ("index", "explorer")]
WITHOUT = "without proofs, exercises and sections marked *"
# The argument up to the first figure.
SPINE = [*PATH[: PATH.index("akmv") + 1], "figure-1"]


def leave_out_proofs(page):
    """Take proofs, exercises and sections marked with an asterisk out of a page."""
    for box in page.select("div.proof"):
        if set(box["class"]) == {"proof", "admonition"}:
            box.extract()
    for heading in page.select("h2, h3"):
        if "Exercise" in heading.text or heading.text.rstrip("# ").endswith("*"):
            heading.parent.extract()


def minutes(html, proofs=True):
    """Return the minutes that a page takes without what is folded, with or without its proofs.

    At 220 words, 4 displayed formulas, 20 lines of code or 3 pictures a minute.
    """
    page = BeautifulSoup(html, "html.parser")
    for box in page.select(LEFT_OUT):
        box.extract()
    if not proofs:
        leave_out_proofs(page)
    code = sum(len(c.text.strip().splitlines()) for c in page.select("div.highlight pre"))
    formulas, pictures = len(page.select("div.math")), len(page.select("img"))
    # A formula within a line is read as one word; its letters are elements of their own.
    for formula in page.select("span.math"):
        formula.string = "x"
    for part in page.select(NO_WORDS):
        part.extract()
    return len(page.get_text(" ").split()) / 220 + formulas / 4 + code / 20 + pictures / 3


def add_minutes(app, name, template, context, page):
    """Say below the title of a page how long it takes."""
    body = context.get("body", "")
    if name.removeprefix("book/") in PATH and "</h1>" in body:
        all_of_it, argument = (f"{minutes(body, proofs):.0f}" for proofs in (True, False))
        first = f'<abbr title="{WITHOUT}">a first reading</abbr>'
        words = f"About {all_of_it} minutes; {argument} at {first}."
        context["body"] = body.replace("</h1>", f'</h1>\n<p class="minutes">{words}</p>', 1)


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", add_minutes)
