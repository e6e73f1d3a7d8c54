"""Make _build/companion.epub of the built pages with pandoc: for reading, without what is folded.

Formulas become MathML. Links within the book stay, those to what is left out lose their target.
"""

import re
import sys
from io import BytesIO
from pathlib import Path
from subprocess import PIPE, run
from urllib.parse import urljoin
from zipfile import ZipFile

from bs4 import BeautifulSoup

import userdp

sys.path.append(str(Path(__file__).parent / "ext"))
from contents import ROOT, pages
from typesetting import LEFT_OUT

BUILT = ROOT / "_build" / "html"
HIDDEN = ".headerlink, script, .tag_hide-cell, .above-input, .cite-page, .machine, #exercises"
# Not proofs: their ids are the same on every page.
PLACES = ":is(div, dl, figure, p, section section, span, ul)[id]:not([id^=proof])"
COMMAND = ["pandoc", "--from=html", "--to=epub3", "--output=-"]
COMMAND += ["--mathml", "--toc-depth=1", "--fail-if-warnings"]
COMMAND += [f"--metadata-file={ROOT / '_config.yml'}", "--metadata=rights:CC BY 4.0"]
COMMAND += ["--metadata=lang:en-GB", f"--metadata=identifier:userdp-companion-{userdp.__version__}"]


def named(address):
    """Return an address in the book as a name that an element may have."""
    return re.sub("[/#]", ".", address)


def article(name):
    """Return the text of a page, with ids that no other page has, and links that lead to them."""
    here = f"{name}.html"
    page = BeautifulSoup((BUILT / here).read_text("utf-8"), "html.parser")
    text = page.select_one("article.bd-article")
    for part in text.select(HIDDEN):
        part.decompose()
    for formula in text.select("mjx-container"):
        formula.replace_with(formula.select_one("mjx-assistive-mml math"))
    for image in text.select("img"):
        image.attrs = {"src": urljoin(here, image["src"]), "alt": image["alt"]}
    for node in text.select(PLACES):  # pandoc drops the ids of some
        node.insert_before(page.new_tag("span", id=named(f"{here}#{node['id']}")))
    for node in text.select("section, div"):
        del node["id"], node["role"]
    text.h1["id"] = named(here)
    for link in text.select("a[href]"):
        if ":" not in link["href"]:
            link["href"] = "#" + named(urljoin(here, link["href"]))
    return text


if __name__ == "__main__":
    names = [f"book/{page}" for page in pages()]
    articles = [article(name) for name in names if name not in LEFT_OUT]
    known = {f"#{node['id']}" for text in articles for node in text.select("[id]")}
    for link in (node for text in articles for node in text.select('a[href^="#"]')):
        if link["href"] not in known:
            link.unwrap()
    text = "\n".join(map(str, articles))
    made = run(COMMAND, cwd=BUILT, input=text.encode(), stdout=PIPE, check=True).stdout
    with ZipFile(BytesIO(made)) as dated, ZipFile(BUILT.parent / "companion.epub", "w") as book:
        for file in dated.infolist():
            content = dated.read(file)
            file.date_time = 1980, 1, 1, 0, 0, 0  # the same file from the same pages
            book.writestr(file, content)
