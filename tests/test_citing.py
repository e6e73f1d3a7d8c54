"""How to cite: one title, one author, one version, and entries that BibTeX reads."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import built
import citing
import nbformat
import publishing
import pytest
import release
import yaml
from pybtex.database import parse_string

import userdp as ud

ROOT = Path(__file__).resolve().parent.parent
BOOK = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
CFF = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
CONFIG = SimpleNamespace(
    html_title=BOOK["title"],
    author=BOOK["author"],
    copyright=BOOK["copyright"],
    html_baseurl="",
)
COMMIT = "0123456789abcdef" * 2 + "01234567"


def read(entry):
    """An entry as BibTeX reads it."""
    (found,) = parse_string(citing.bibtex(entry), "bibtex").entries.values()
    return found


def bare(text):
    """A field without its braces, or the spaces and capitals that styles decide."""
    return " ".join(re.sub("[{}]", "", text).split())


@pytest.fixture
def commit(monkeypatch):
    monkeypatch.setattr(built, "stamp", lambda: (COMMIT, 86400))
    monkeypatch.setattr(built, "changed", lambda: False)
    monkeypatch.delenv("USERDP_REPOSITORY", raising=False)


# --- Files for other programs ---------------------------------------------------------------------


@pytest.mark.parametrize("commit", [COMMIT, "0" * 40])
def test_the_copy_of_a_release_has_version_date_and_commit(commit):
    stamped = release.citations(commit, 86400)
    citation = yaml.safe_load(stamped["CITATION.cff"])
    citation["date-released"] = citation["date-released"].isoformat()
    added = {"version": ud.__version__, "date-released": "1970-01-02", "commit": commit}
    assert citation == CFF | added


def test_title_and_author_are_those_of_the_book():
    assert CFF["title"] == ZENODO["title"] == BOOK["title"]
    assert CFF["authors"] == ZENODO["creators"] == [{"name": BOOK["author"]}]
    assert CFF["keywords"] == ZENODO["keywords"]
    assert CFF["abstract"] == ZENODO["description"]
    assert CFF["license"] == ZENODO["license"] == "MIT"
    assert CFF["type"] == ZENODO["upload_type"] == "software"


def test_the_paper_is_that_of_the_bibliography():
    entry = citing.paper(CONFIG)
    number = f"{entry.fields['archiveprefix']}:{entry.fields['eprint']}"
    (paper,) = CFF["references"]
    assert paper["title"] == bare(entry.fields["title"])
    names = [
        (" ".join(a.first_names + a.middle_names), *a.last_names) for a in entry.persons["author"]
    ]
    assert [(a["given-names"], a["family-names"]) for a in paper["authors"]] == names
    assert str(paper["year"]) == entry.fields["year"]
    assert paper["url"] == f"https://arxiv.org/abs/{entry.fields['eprint']}"
    assert [identifier["value"] for identifier in paper["identifiers"]] == [number]
    (related,) = ZENODO["related_identifiers"]
    assert (related["identifier"], related["scheme"]) == (number, "arxiv")
    assert related["relation"] == "isSupplementTo"


def test_nothing_is_said_that_only_an_archive_can_say():
    """No DOI and no address of a repository; and version and date are stamped by a release."""
    assert not {"doi", "version", "date-released", "repository-code", "url"} & set(CFF)
    assert not {"doi", "version", "publication_date"} & set(ZENODO)
    assert "doi.org" not in (ROOT / "CITATION.cff").read_text()


def written(path):
    """What people write in a file; what cells print is left out."""
    text = path.read_text("utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)


def test_the_version_is_written_in_one_place():
    """The changelog begins with it; locked packages may share it, records say what made them."""
    listed = built.git("ls-files", "-z")
    if listed is None:
        pytest.skip("this is no clone")
    own = re.compile(rf"(?<![\w.=]){re.escape(ud.__version__)}(?![\w.])")
    files = [ROOT / name for name in listed.split("\0") if name and "book/data/" not in name]
    texts = [f for f in files if f.is_file() and f.suffix not in {".png", ".woff", ".lock", ".js"}]
    said = [str(path.relative_to(ROOT)) for path in texts if own.search(written(path))]
    assert said == ["CHANGELOG.md", "userdp/__init__.py"]
    headings = re.findall(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == ud.__version__


# --- Entries --------------------------------------------------------------------------------------


def test_entries_say_what_was_built(commit):
    assert publishing.version() == f"Version {ud.__version__}, built from commit {COMMIT[:12]}"
    for entry in (citing.companion(CONFIG), citing.page(CONFIG, "x", "A title", "")):
        assert entry.fields["note"] == publishing.version()
        assert publishing.version() in citing.in_words(entry)
        assert "url" not in entry.fields


def test_changes_are_confessed(commit, monkeypatch):
    monkeypatch.setattr(built, "changed", lambda: True)
    assert publishing.version().endswith(f"{COMMIT[:12]}, with changes")


def test_without_a_commit_there_is_only_the_version(monkeypatch):
    monkeypatch.setattr(built, "stamp", lambda: None)
    assert publishing.version() == f"Version {ud.__version__}"
    assert publishing.footer() == f"<p>Version {ud.__version__}</p>"


def test_the_foot_links_the_commit_where_there_is_a_repository(commit, monkeypatch):
    assert "<a" not in publishing.footer()
    monkeypatch.setenv("USERDP_REPOSITORY", "https://example.org/some/fork")
    assert publishing.footer() == (
        f"<p>Version {ud.__version__}, built from commit "
        f'<a href="https://example.org/some/fork/commit/{COMMIT}">{COMMIT[:12]}</a></p>'
    )


def test_bibtex_reads_a_page_with_awkward_words():
    url = "https://example.org/a_b.html"
    entry = citing.page(CONFIG, "x", "50% & #1: a_b", url)
    fields = read(entry).fields
    assert fields["title"] == r"{50\% \& \#1: a\_b}"
    assert fields["url"] == url
    assert fields["booktitle"] == f"{{{BOOK['title']}}}"
    words = f"{BOOK['author']}. 50% & #1: a_b. In {BOOK['title']}. {BOOK['copyright']}. URL: {url}."
    assert citing.in_words(entry) == f"{words} {publishing.version()}."


def test_the_paper_in_words():
    words = citing.in_words(citing.paper(CONFIG))
    assert words.startswith("V. Arvind Rameshwar and Anshoo Tandon. ")
    assert words.endswith(" 2025. arXiv:2502.04749.")
