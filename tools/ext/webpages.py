"""A Sphinx extension: what pages say of themselves, in their heads and at their feet.

Each page is described by its own claim, for search engines and for previews of links. The root of
the site leads to the first page, and the page for wrong addresses leads back.

A box at the foot of every page, {{ paper }} and {{ companion }} say how to cite the page, the paper
and the companion. Nothing is written twice: the paper's entry is that of the bibliography;
the companion's title, author and year are those of `_config.yml`; version and commit are those that
are built.
"""

import re

import built
import pybtex
from contents import BOOK
from docutils import nodes
from pybtex.database import Entry, Person, parse_file

LEAD = re.compile(r"^(?:The (?:claim|result))(?: \(.*?\))?\. ")
LONGEST = 250  # characters, the verdict apart
TEX = {r"\\varepsilon": "ε", r"\\ell": "\N{SCRIPT SMALL L}", r"\\frac ?(\w)(\w)": r"\1/\2"}
TEX |= {r"\\(?:mathbb ?|mathit|mathrm)|[{}_]": ""}
PAPER = "rameshwar2025bounding"


def text(node):
    """Return what a paragraph says, its short formulas in plain letters, without citations."""
    said = node.astext() if isinstance(node, nodes.Text) else "".join(map(text, node.children))
    for command, letters in TEX.items() if isinstance(node, nodes.math) else ():
        said = re.sub(command, letters, said)
    return re.sub(r" \[\w{2,}\]", "", said.replace("\n", " "))


def description(page):
    """Return a page's claim, or else its first paragraph, as far as it fits, and the verdict."""
    prose = [text(n) for n in page.findall(nodes.paragraph) if isinstance(n.parent, nodes.section)]
    first = LEAD.sub("", next(filter(LEAD.match, prose), [*prose, ""][0]))
    said = re.match(rf"(?:.{{,{LONGEST - 1}}}|.*?)[.?!](?= [A-Z]|$)|.*", first)[0]
    verdict = re.search(r"^Verdict: .*", "\n".join(map(text, page.findall(nodes.strong))), re.M)
    return f"{said} {verdict[0].rstrip('.')}." if verdict else said


def paper(config):
    """Return the paper's entry, without the note on which version this book reads."""
    cited = parse_file(BOOK / "references.bib").entries[PAPER]
    del cited.fields["note"]
    return cited


def companion(config, page="", title="", url=""):
    """Return the entry of the book and the software, or of a page; braces keep capitals."""
    book = f"{{{config.html_title}}}"
    fields = {"title": f"{{{title}}}", "booktitle": book} if page else {"title": book}
    fields |= {"url": url if page else config.html_baseurl}
    fields |= {"year": config.copyright, "note": built.version()}
    known = {name: value for name, value in fields.items() if value}
    made = Entry("incollection" if page else "software", known)
    made.persons["author"] = [Person(f"{{{config.author}}}")]
    made.key = f"userdp-{page}" if page else "userdp"
    return made


def bibtex(entry):
    """Return an entry as BibTeX reads it: its address as it is, all else with escapes."""
    said = entry.to_string("bibtex").strip()
    return re.sub(r'(?<= url = ").*(?=")', lambda _: entry.fields["url"], said)


def in_words(entry):
    """Return an entry as a list of references shows it, always with its note."""
    listed = pybtex.format_from_string(bibtex(entry), "unsrt", output_backend="text")
    words, note = re.sub(r"^\[1\] ", "", listed.strip()), entry.fields.get("note", "")
    return words if note in words else f"{words} {note}."


def describe(app, name, template, context, page):
    """Fill a page's head and foot; and leave out scripts that run cells on a server."""
    config, render = app.config, app.builder.templates.render
    described = page or (app.env.get_doctree(config.root_doc) if name == "index" else None)
    if described:
        context["about"] = description(described)
    # An address within the site has to be whole for those who fetch it from elsewhere.
    known = context | {"base": config.html_baseurl, "picture": "_static/landing.png"}
    context["metatags"] = context.get("metatags", "") + render("about.html", known)
    scripts, thebe = context["script_files"], re.compile("thebe", re.I)
    context["script_files"] = [
        js for js in scripts if not thebe.search(f"{js.filename} {js.attributes.get('body')}")
    ]
    if page:  # not the search, an index, a page for wrong addresses
        what, cited = "book", companion(config)
        if name != config.root_doc:
            short, title = name.split("/")[-1].lower(), app.env.titles[name].astext()
            what, cited = "page", companion(config, short, title, context.get("pageurl"))
        entries = [
            app.builder.highlighter.highlight_block(bibtex(made), "bibtex")
            for made in (cited, paper(config))
        ]
        known = {"what": what, "words": in_words(cited), "entries": entries}
        context["body"] += render("cite.html", known)


def tell(app, config):
    """Let pages show how to cite the paper and the companion: in words, and as BibTeX."""
    cited = {"paper": paper(config), "companion": companion(config)}
    for name, made in cited.items():
        config.myst_substitutions[name] = f"{in_words(made)}\n\n```bibtex\n{bibtex(made)}\n```"


def own_pages(app):
    """Yield the page at the root, and the one for addresses that do not exist."""
    first = app.config.root_doc
    yield "index", {"title": app.config.html_title, "first": first}, "root.html"
    yield "404", {"title": "Page not found", "first": first}, "404.html"


def setup(app):
    """Register the extension."""
    app.connect("config-inited", tell, priority=900)  # when it is known what is built
    app.connect("html-page-context", describe, priority=900)
    app.connect("html-collect-pages", own_pages)
