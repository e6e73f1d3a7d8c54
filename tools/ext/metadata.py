"""A Sphinx extension: what libraries, search engines and readers' tools see of a page.

Tags citation_* say how to cite it, schema.org's terms what it is: the book, its chapters, their
tables, the licences, and the paper that all is based on. Where the address of the book is known,
addresses are whole, and a sitemap lists the pages.
"""

import json
import os
import time
from pathlib import Path
from urllib.parse import urljoin

from docutils import nodes
from sphinx import addnodes
from webpages import CODE, TEXT, paper

import userdp

XML = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>\n'


def article():
    """Return the paper, in schema.org's terms."""
    entry = paper()
    number = entry.fields["eprint"]
    return {
        "@type": "ScholarlyArticle",
        "name": " ".join(entry.fields["title"].split()),
        "author": [{"@type": "Person", "name": f"{person}"} for person in entry.persons["author"]],
        "datePublished": entry.fields["year"],
        "identifier": f"arXiv:{number}",
        "url": f"https://arxiv.org/abs/{number}v1",
    }


def day(config):
    """Return the day of the commit that is built, if it is known, else the year."""
    seconds = os.getenv("SOURCE_DATE_EPOCH")
    return time.strftime("%Y-%m-%d", time.gmtime(int(seconds))) if seconds else config.copyright


def tables(page, about, address):
    """Yield the tables that a page offers; each belongs to the last figure before it."""
    caption = about["name"]
    for node in page.findall():
        if isinstance(node, nodes.caption):
            caption = node.astext()
        elif isinstance(node, addnodes.download_reference):
            if not (path := node.get("filename", "")).endswith(".csv"):
                continue
            at = {"contentUrl": address(f"_downloads/{path}"), "encodingFormat": "text/csv"}
            shared = {key: about[key] for key in ("author", "datePublished", "license")}
            yield {
                "@type": "Dataset",
                "name": path.rpartition("/")[2],
                "description": f"Plotted or tabulated numbers. {caption}",
                "distribution": {"@type": "DataDownload", **at},
                **shared,
            }


def described(app, name, context, page):
    """Return a page, in schema.org's terms."""
    config, root, whole = app.config, app.config.root_doc, context.get("pageurl") or ""
    address = lambda to: urljoin(whole, context["pathto"](to, resource=True))  # noqa: E731
    link = lambda to: urljoin(whole, context["pathto"](to)) if to != name else whole  # noqa: E731
    about = {
        "@type": "Book" if name == root else "Chapter",
        "name": config.html_title if name == root else app.env.titles[name].astext(),
        "description": context["about"],
        "author": {"@type": "Organization", "name": config.author},
        "datePublished": day(config),
        "version": userdp.__version__,
        "inLanguage": "en-GB",
        "license": TEXT,
        "isBasedOn": article(),
    }
    if whole:
        about |= {"@id": whole, "url": whole}
    parts = [] if name.endswith("/record") else list(tables(page, about, address))
    if name == root:
        inside = [other for other in app.env.toctree_includes[root] if other != root]
        parts += [
            {"@type": "Chapter", "name": app.env.titles[other].astext(), "url": link(other)}
            for other in inside
        ]
        code = {"@type": "SoftwareSourceCode", "name": "userdp", "license": CODE}
        parts.append(code | {"programmingLanguage": "Python", "version": userdp.__version__})
    else:
        about["isPartOf"] = {"@type": "Book", "name": config.html_title, "url": link(root)}
    return {"@context": "https://schema.org"} | about | ({"hasPart": parts} if parts else {})


def citation(config, title="", url=""):
    """Return the tags by which libraries cite the book, or a page of it."""
    based = article()
    source = {"title": based["name"], "author": "; ".join(p["name"] for p in based["author"])}
    source |= {"publication_date": based["datePublished"], "arxiv_id": paper().fields["eprint"]}
    tags = {
        "title": title or config.html_title,
        "author": config.author,
        "publication_date": day(config).replace("-", "/"),
        "inbook_title": title and config.html_title,
        "language": "en",
        "public_url": url,
        "pdf_url": os.getenv("USERDP_PDF") and config.html_baseurl + "companion.pdf",
        "reference": "; ".join(f"citation_{key}={value}" for key, value in source.items()),
    }
    return {f"citation_{key}": value for key, value in tags.items() if value}


def show(app, config):
    """Let a page show the tags of the book."""
    lines = (f'<meta name="{key}" content="{said}">' for key, said in citation(config).items())
    config.myst_substitutions["tags"] = "\n".join(["```html", *lines, "```"])


def tell(app, name, template, context, page):
    """Add to the head of a page of the book what it is."""
    if page:
        about = described(app, name, context, page)
        # Within a script, "</" would end it.
        data = json.dumps(about, ensure_ascii=False).replace("</", r"<\/")
        title = about["name"] if "isPartOf" in about else ""
        tags = citation(app.config, title, context.get("pageurl"))
        known = {"data": data, "tags": tags, "license": TEXT}
        context["metatags"] += app.builder.templates.render("cited.html", known)


def list_pages(app, error):
    """Write a list of all pages, and where it is."""
    if (base := app.config.html_baseurl) and not error and app.builder.format == "html":
        found = (f"<url><loc>{base}{name}.html</loc></url>" for name in sorted(app.env.found_docs))
        out = Path(app.outdir)
        (out / "sitemap.xml").write_text(XML.format("".join(found)), "utf-8")
        (out / "robots.txt").write_text(f"User-agent: *\nSitemap: {base}sitemap.xml\n", "utf-8")


def setup(app):
    """Register the extension."""
    app.connect("config-inited", show, priority=900)  # when it is known where the book goes
    app.connect("html-page-context", tell, priority=950)  # after what the page says in words
    app.connect("build-finished", list_pages)
