"""A Sphinx extension: the reading time of each page that leads through the paper."""

from bs4 import BeautifulSoup

from .contents import parts

# Folded content, and the caption of an interactive picture, which only print shows.
OMITTED = "details, .dropdown, .toggle-hidden, clip-picture figcaption"
NOT_COUNTED = "div.highlight, div.output, div.math, script, .minutes, .prev-next-footer"
PATH = [name for name in next(iter(parts().values())) if name not in ("index", "explorer")]
# The pages whose argument leads up to the first figure.
CORE_PATH = [*PATH[: PATH.index("akmv") + 1], "figure-1"]


def leave_out_proofs(page):
    """Remove proofs, exercises and sections marked with an asterisk from a page."""
    for box in page.select("div.proof"):
        if set(box["class"]) == {"proof", "admonition"}:
            box.extract()
    for heading in page.select("h2, h3"):
        if "Exercise" in heading.text or heading.text.rstrip("# ").endswith("*"):
            heading.parent.extract()


def minutes(html, proofs=True):
    """Return the reading time of a page in minutes, without folded content, with or without proofs.

    The speed is 220 words, 4 displayed formulas, 20 lines of code or 3 pictures per minute.
    """
    page = BeautifulSoup(html, "html.parser")
    for box in page.select(OMITTED):
        box.extract()
    if not proofs:
        leave_out_proofs(page)
    code = sum(len(c.text.strip().splitlines()) for c in page.select("div.highlight pre"))
    formulas, pictures = len(page.select("div.math")), len(page.select("img"))
    # An inline formula counts as one word, although its letters are separate elements.
    for formula in page.select("span.math"):
        formula.string = "x"
    for part in page.select(NOT_COUNTED):
        part.extract()
    return len(page.get_text(" ").split()) / 220 + formulas / 4 + code / 20 + pictures / 3


def add_minutes(app, name, template, context, page):
    """Insert the reading time below the title of a page."""
    body = context.get("body", "")
    if name.removeprefix("book/") in PATH and "</h1>" in body:
        complete, without_proofs = (f"{minutes(body, proofs):.0f}" for proofs in (True, False))
        omitted = "proofs, exercises and sections marked *"
        words = f"About {complete} minutes"
        words += f"; {without_proofs} without {omitted}." if without_proofs != complete else "."
        context["body"] = body.replace("</h1>", f'</h1>\n<p class="minutes">{words}</p>', 1)


def setup(app):
    """Register the extension."""
    app.connect("html-page-context", add_minutes)
