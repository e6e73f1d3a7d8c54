"""Make _build/companion.epub of the built pages with pandoc: to read, so without what is folded.

Formulas become MathML. Links within the book stay, those to what is left out lose their target.
"""

import subprocess
import sys
from pathlib import Path
from posixpath import join, normpath
from zipfile import ZipFile

import yaml
from bs4 import BeautifulSoup

import userdp

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "_build" / "html"
sys.path.append(str(ROOT / "tools" / "ext"))
from contents import pages  # noqa: E402
from typesetting import LEFT_OUT  # noqa: E402

HIDDEN = (
    ".headerlink, script, style, .tag_hide-cell, .above-input, .cite-page, .machine, #exercises"
)


def article(name):
    """Return what a page says, its addresses made whole: PAGE.html#ID."""
    page = BeautifulSoup((BUILT / f"{name}.html").read_text("utf-8"), "html.parser")
    text = page.select_one("article.bd-article")
    for part in text.select(HIDDEN):
        part.decompose()
    for node in text.select("[role], img"):
        node.attrs = {k: v for k, v in node.attrs.items() if k not in ("role", "width", "height")}
    for node in text.select("[id]"):
        node["id"] = f"{name}.html#{node['id']}"
    text["id"] = f"{name}.html"
    for node, to in ((n, a) for a in ("href", "src") for n in text.select(f"[{a}]")):
        if ":" not in node[to]:
            page, mark, place = node[to].partition("#")
            node[to] = normpath(join(Path(name).parent, page)) if page else f"{name}.html"
            node[to] += mark + place
    return text


def lead(articles):
    """Have links lead to places by short names that are told apart, and give no other place one."""
    named = [node for text in articles for node in (text, *text.select("[id]"))]
    known, names = {node["id"] for node in named}, {}
    for link in (node for text in articles for node in text.select("a[href]")):
        if (to := link["href"]) in known:
            link["href"] = "#" + names.setdefault(to, f"to-{len(names)}")
        elif ":" not in to:
            link.unwrap()
    for node in named:
        if name := names.pop(node.attrs.pop("id"), None):
            place = BeautifulSoup(f'<span id="{name}"></span>', "html.parser")
            if node.name in ("article", "section"):
                node.find(["h1", "h2", "h3"]).insert_after(place)
            elif node.name in ("span", "figure"):
                node.insert_before(place)
            else:  # of a list, or a paragraph, pandoc keeps no name
                first = {"dl": "dt", "ul": "li"}.get(node.name)
                (node.find(first) if first else node).insert(0, place)


if __name__ == "__main__":
    articles = [article(name) for page in pages() if (name := f"book/{page}") not in LEFT_OUT]
    lead(articles)
    text = "\n".join(map(str, articles)).replace(r"\Big", r"\big")  # what pandoc knows
    about = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    said = {"title": about["title"], "author": about["author"], "rights": "CC BY 4.0"}
    said |= {"lang": "en-GB", "identifier": f"userdp-companion-{userdp.__version__}"}
    command = ["pandoc", "--from=html+tex_math_single_backslash", "--to=epub3", "--mathml"]
    command += [f"--metadata={name}={words}" for name, words in said.items()]
    book = BUILT.parent / "companion.epub"
    command += ["--toc-depth=1", "--fail-if-warnings", f"--output={book}"]
    subprocess.run(command, cwd=BUILT, input=text, text=True, check=True)
    with ZipFile(book) as made:
        files = {info: made.read(info) for info in made.infolist()}
    with ZipFile(book, "w") as made:
        for info, content in files.items():
            info.date_time = 1980, 1, 1, 0, 0, 0  # the same file from the same pages
            made.writestr(info, content)
