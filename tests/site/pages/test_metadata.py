"""What pages say of themselves to machines: tags for citing, a file for citing, a sitemap."""

import re
from html import unescape
from types import SimpleNamespace
from xml.etree import ElementTree

import yaml
from browser import BUILT, CHAPTERS, ROOT, every_chapter, on_the_built_pages

import userdp
from tools.ext import webpages

BOOK = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))


def read(name):
    return (BUILT / f"{name}.html").read_text("utf-8")


@on_the_built_pages
@every_chapter
def test_a_library_finds_title_author_date_book_and_paper(name):
    tags = dict(re.findall(r'<meta name="citation_(\w+)" content="(.*?)">', read(name)))
    assert unescape(tags["author"]) == BOOK["author"]
    assert re.fullmatch(rf"{BOOK['copyright']}(/\d\d/\d\d)?", tags["publication_date"])
    assert "arXiv:2502.04749" in tags["reference"]
    assert f'<meta property="og:title" content="{tags["title"]}">' in read(name)
    inside = {} if name == CHAPTERS[0] else {"inbook_title": BOOK["title"]}
    assert {key: unescape(tags[key]) for key in tags if key == "inbook_title"} == inside


@on_the_built_pages
def test_the_page_on_citing_offers_a_file_with_a_year_and_a_version():
    assert 'href="../CITATION.cff"' in read("book/cite")
    said = yaml.safe_load((BUILT / "CITATION.cff").read_text("utf-8"))
    assert said["version"] == userdp.__version__
    assert str(said["date-released"].year) == BOOK["copyright"]


def test_a_list_of_pages_where_the_address_is_known(tmp_path):
    config = SimpleNamespace(html_baseurl="")
    env = SimpleNamespace(found_docs={"b", "book/a"})
    app = SimpleNamespace(config=config, env=env, outdir=tmp_path)
    webpages.list_pages(app)
    assert list(tmp_path.iterdir()) == []
    config.html_baseurl = base = "https://example.org/a/"
    webpages.list_pages(app)
    listed = ElementTree.parse(tmp_path / "sitemap.xml").iter()
    assert [x.text for x in listed if x.text] == [f"{base}{n}.html" for n in ("b", "book/a")]
    assert "Sitemap: https://example.org/a/sitemap.xml\n" in (tmp_path / "robots.txt").read_text()
