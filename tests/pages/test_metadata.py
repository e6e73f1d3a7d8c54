"""What pages say of themselves to machines: terms of schema.org, tags for citing, a sitemap."""

import json
import re
from types import SimpleNamespace
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
import webpages
import yaml
from browser import BUILT, CHAPTERS, REQUIRED, every_chapter, on_the_built_pages

import userdp

JSON = re.compile(r'<script type="application/ld\+json">(.*?)</script>', re.S)


def parser(name):
    return __import__(name) if REQUIRED else pytest.importorskip(name)


def read(name):
    return (BUILT / f"{name}.html").read_text("utf-8")


@on_the_built_pages
@every_chapter
@pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning")  # rdflib of itself
def test_pages_speak_in_terms_of_schema_org_and_what_they_name_is_there(name):
    rdflib = parser("rdflib")
    about = json.loads(JSON.search(read(name))[1])
    assert about.pop("@context") == "https://schema.org"
    # Where the context is kept one must not fetch: the vocabulary alone says the same here.
    graph, terms = rdflib.Graph(), rdflib.SDO
    graph.parse(data=json.dumps(about | {"@context": {"@vocab": f"{terms}"}}), format="json-ld")
    said = {*graph.predicates(), *graph.objects(predicate=rdflib.RDF.type)} - {rdflib.RDF.type}
    assert all(term in terms for term in said)
    assert (None, rdflib.RDF.type, terms.Book if name == CHAPTERS[0] else terms.Chapter) in graph
    assert (None, terms.identifier, rdflib.Literal("arXiv:2502.04749")) in graph
    page = (BUILT / f"{name}.html").as_uri()
    for part in about.get("hasPart", []):
        at = part.get("url") or part.get("distribution", {}).get("contentUrl", page)
        assert at.startswith("http") or urljoin(page, at) in FILES


FILES = {path.as_uri() for path in BUILT.rglob("*.*")}


@on_the_built_pages
@pytest.mark.parametrize("name", ["book/lemma", "book/figure-2", "book/errata"])
def test_a_reader_of_others_finds_title_author_date_and_licence(name):
    found = parser("trafilatura").extract_metadata(read(name))
    about = json.loads(JSON.search(read(name))[1])
    assert found.title.endswith(about["name"])  # after its number, if it has one
    assert found.author == about["author"]["name"]
    assert found.date == about["datePublished"]
    assert found.license == "CC BY 4.0"
    tags = dict(re.findall(r'<meta name="citation_(\w+)" content="(.*?)">', read(name)))
    assert (tags["title"], tags["author"]) == (about["name"], found.author)
    assert tags["publication_date"] == found.date.replace("-", "/")
    assert tags["inbook_title"] == about["isPartOf"]["name"]
    assert "arXiv:2502.04749" in tags["reference"]


@on_the_built_pages
def test_the_page_on_citing_offers_a_file_with_a_year_a_version_and_an_address():
    assert 'href="../CITATION.cff"' in read("book/cite")
    said = yaml.safe_load((BUILT / "CITATION.cff").read_text("utf-8"))
    about = json.loads(JSON.search(read("book/index"))[1])
    assert said["version"] == userdp.__version__
    assert str(said["date-released"].year) == about["datePublished"][:4]
    assert said["url"].startswith("https://")


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
