"""What is built and released: of which commit, for which address, how cited, the same again."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from types import SimpleNamespace

import built
import citing
import pytest
import release
import webpages
import yaml
from pybtex.database import parse_string

import userdp as ud

ROOT = built.ROOT
BOOK = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
CFF = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
CONFIG = SimpleNamespace(
    html_title=BOOK["title"], author=BOOK["author"], copyright=BOOK["copyright"], html_baseurl=""
)
ADDRESS = "https://github.com/some-one/a.fork"
COMMIT = "0123456789" * 4
PARTS = ["CITATION.cff", ".zenodo.json", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"]
PARTS += [".git_archival", ".gitattributes", "userdp", "tools"]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Nothing is known of what is built."""
    for name in ("STAMP", "REPOSITORY", "BRANCH", "STORED", "EXECUTED", "PDF"):
        monkeypatch.delenv(f"USERDP_{name}", raising=False)
    monkeypatch.delenv("BOOK_URL", raising=False)
    return monkeypatch.setenv


@pytest.fixture
def clone(tmp_path, environment, monkeypatch):
    """A repository with one commit, of the second 86400, whose site is made."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / ".gitignore").write_text("_build\ndist\n__pycache__\n")
    for part, value in {"NAME": "x", "EMAIL": "x@example.org", "DATE": "@86400 +0000"}.items():
        environment(f"GIT_AUTHOR_{part}", value)
        environment(f"GIT_COMMITTER_{part}", value)
    environment("SOURCE_DATE_EPOCH", "86400")
    for command in ("init", "add .", "commit -m one"):
        git(folder, *command.split())
    pages = folder / "_build" / "html" / "book"
    pages.mkdir(parents=True)
    for name in "hbgdafce":
        (pages / f"{name}.html").write_text(f"page {name}")
    (folder / "_build" / "companion.pdf").write_bytes(b"%PDF")
    monkeypatch.setattr(built, "ROOT", folder)
    return folder


def git(folder, *arguments):
    command = ["git", "-C", folder, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# --- What is built --------------------------------------------------------------------------------


def test_a_clone_knows_its_commit_and_what_was_changed(clone, environment):
    """Once it is asked: what chapters write afterwards changes nothing."""
    head = git(clone, "rev-parse", "HEAD")
    (clone / "new").write_text("not a file of the commit")
    assert built.stamp() == (head, 86400, False)
    said = subprocess.check_output([sys.executable, "tools/built.py"], cwd=clone, text=True)
    (clone / ".gitattributes").write_text("")
    assert built.stamp() == (head, 86400, True)
    environment("USERDP_STAMP", said.strip())
    assert built.stamp() == (head, 86400, False)
    environment("USERDP_STAMP", "none 0 committed")
    assert built.stamp().commit == ""


def test_an_archive_knows_the_commit_it_was_made_from(clone, tmp_path, monkeypatch):
    git(clone, "archive", "--output", tmp_path / "made.tar", "HEAD")
    expected = built.stamp()
    monkeypatch.setattr(built, "ROOT", tmp_path / "unpacked")
    with tarfile.open(tmp_path / "made.tar") as archive:
        archive.extractall(built.ROOT, filter="data")
    assert built.stamp() == expected


def test_a_copy_without_its_history_knows_nothing(clone, monkeypatch):
    """Nor does it take the history of a folder around it for its own."""
    shutil.copytree(clone, clone / "copy", ignore=shutil.ignore_patterns(".git"))
    monkeypatch.setattr(built, "ROOT", clone / "copy")
    assert built.stamp() == ("", 0, False)
    assert built.version() == f"Version {ud.__version__}"


# --- Where it goes --------------------------------------------------------------------------------


def configured():
    config = SimpleNamespace(html_theme_options={"known": 2}, html_extra_path=["_extra"])
    config.nb_execution_mode, config.html_baseurl, app = "force", "", SimpleNamespace(tags=set())
    built.configure(app, config)
    config.tags = app.tags
    return config


def test_without_an_address_there_are_no_buttons_and_nothing_is_linked(environment):
    config = configured()
    assert config.html_theme_options.keys() == {"known", "extra_footer"}
    assert "<a" not in config.html_theme_options["extra_footer"]
    assert (config.nb_execution_mode, config.html_baseurl, config.tags) == ("force", "", set())


def test_the_environment_says_where_the_book_goes_and_what_it_is_made_of(environment):
    environment("USERDP_STAMP", f"{COMMIT} 5 changed")
    environment("USERDP_REPOSITORY", ADDRESS)
    environment("USERDP_PDF", "_build/companion.pdf")
    environment("USERDP_EXECUTED", "_build/.jupyter_cache")
    environment("BOOK_URL", "https://example.org/a")
    config = configured()
    found = config.html_theme_options
    assert (found["known"], found["repository_url"], found["repository_branch"]) == (
        2,
        ADDRESS,
        "main",
    )
    assert {"binderhub_url", "colab_url"} <= set(found["launch_buttons"])
    link = f'<a href="{ADDRESS}/commit/{COMMIT}">{COMMIT[:12]}</a>'
    words = f"Version {ud.__version__}, built from commit {link}, with changes"
    assert found["extra_footer"] == f"<p>{words}</p>"
    assert config.html_baseurl == "https://example.org/a/"
    assert config.nb_execution_mode == "cache"
    assert (config.html_extra_path[-1], config.tags) == ("_build/companion.pdf", {"pdf"})
    environment("USERDP_STORED", "1")
    environment("USERDP_BRANCH", "draft")
    assert configured().nb_execution_mode == "off"
    assert configured().html_theme_options["repository_branch"] == "draft"


@pytest.mark.parametrize("address", ["github.com/a/b", "https://github.com/a", "http://x/a/b", "x"])
def test_what_is_no_address_is_refused(environment, address):
    environment("USERDP_REPOSITORY", address)
    with pytest.raises(ValueError, match=re.escape(repr(address))):
        configured()


def test_search_engines_are_told_of_every_page_if_the_address_is_known(tmp_path):
    builder = SimpleNamespace(format="html", get_target_uri=lambda name: f"{name}.html")
    env, config = SimpleNamespace(found_docs={"book/b", "book/a"}), SimpleNamespace(html_baseurl="")
    app = SimpleNamespace(builder=builder, env=env, config=config, outdir=tmp_path)
    webpages.write_sitemap(app, None)
    assert not list(tmp_path.iterdir())
    config.html_baseurl = "https://example.org/"
    webpages.write_sitemap(app, None)
    listed = (tmp_path / "sitemap.txt").read_text().split()
    assert listed == ["https://example.org/book/a.html", "https://example.org/book/b.html"]
    assert "https://example.org/sitemap.txt" in (tmp_path / "robots.txt").read_text()


# --- How it is cited ------------------------------------------------------------------------------


def test_title_and_author_are_those_of_the_book():
    assert CFF["title"] == ZENODO["title"] == BOOK["title"]
    assert CFF["authors"] == ZENODO["creators"] == [{"name": BOOK["author"]}]
    assert CFF["keywords"] == ZENODO["keywords"]
    assert CFF["abstract"] == ZENODO["description"]
    assert CFF["license"] == ZENODO["license"] == "MIT"


def test_the_paper_is_that_of_the_bibliography():
    entry = citing.paper(CONFIG)
    number = f"{entry.fields['archiveprefix']}:{entry.fields['eprint']}"
    (paper,) = CFF["references"]
    assert paper["title"] == " ".join(re.sub("[{}]", "", entry.fields["title"]).split())
    names = [
        (" ".join(a.first_names + a.middle_names), *a.last_names) for a in entry.persons["author"]
    ]
    assert [(a["given-names"], a["family-names"]) for a in paper["authors"]] == names
    assert str(paper["year"]) == entry.fields["year"]
    assert [identifier["value"] for identifier in paper["identifiers"]] == [number]
    (related,) = ZENODO["related_identifiers"]
    assert (related["identifier"], related["scheme"]) == (number, "arxiv")
    words = citing.in_words(entry)
    assert words.startswith("V. Arvind Rameshwar and Anshoo Tandon. ")
    assert words.endswith(" 2025. arXiv:2502.04749.")


def test_nothing_is_said_that_only_an_archive_can_say():
    """No DOI and no address of a repository; and version and date are stamped by a release."""
    assert not {"doi", "version", "date-released", "repository-code", "url"} & set(CFF)
    assert not {"doi", "version", "publication_date"} & set(ZENODO)


def test_bibtex_reads_a_page_with_awkward_words(environment):
    environment("USERDP_STAMP", f"{COMMIT} 5 committed")
    version = f"Version {ud.__version__}, built from commit {COMMIT[:12]}"
    url = "https://example.org/a_b.html"
    entry = citing.page(CONFIG, "x", "50% & #1: a_b", url)
    (read,) = parse_string(citing.bibtex(entry), "bibtex").entries.values()
    assert read.fields["title"] == r"{50\% \& \#1: a\_b}"
    assert read.fields["url"] == url
    words = f"{BOOK['author']}. 50% & #1: a_b. In {BOOK['title']}. {BOOK['copyright']}. URL: {url}."
    assert citing.in_words(entry) == f"{words} {version}."
    book = citing.companion(CONFIG)
    assert book.fields["note"] == version
    assert "url" not in book.fields


# --- How it is released ---------------------------------------------------------------------------


def released(folder):
    folder.mkdir()
    release.assemble(folder)
    return {path.name: path for path in folder.iterdir()}


def test_a_release_is_complete_and_the_same_whenever_it_is_made(clone, tmp_path):
    made, name = released(tmp_path / "dist"), release.NAME
    head = git(clone, "rev-parse", "HEAD")
    sums = dict(line.split("  ")[::-1] for line in made["SHA256SUMS"].read_text().splitlines())
    assert sums.keys() == made.keys() - {"SHA256SUMS"}
    for file, digest in sums.items():
        assert hashlib.sha256(made[file].read_bytes()).hexdigest() == digest
    with tarfile.open(made[f"{name}-html.tar.gz"]) as tar:
        assert tar.extractfile(f"{name}/book/a.html").read() == b"page a"
    with tarfile.open(made[f"{name}-source.tar.gz"]) as tar:
        assert tar.extractfile(f"{name}/.git_archival").read().decode() == f"{head} 86400\n"
    with zipfile.ZipFile(made[f"userdp-{ud.__version__}-py3-none-any.whl"]) as wheel:
        assert "userdp/__init__.py" in wheel.namelist()
    assert made[f"{name}.pdf"].read_bytes() == b"%PDF"
    day = "1970-01-02"
    cff, zenodo = (yaml.safe_load(made[file].read_text()) for file in PARTS[:2])
    cff["date-released"] = str(cff["date-released"])
    assert cff == CFF | {"version": ud.__version__, "date-released": day, "commit": head}
    assert zenodo == ZENODO | {"version": ud.__version__, "publication_date": day}

    page = clone / "_build" / "html" / "book" / "a.html"
    page.touch()
    page.chmod(0o600)
    git(clone, "config", "tar.umask", "0077")
    for file, path in released(tmp_path / "again").items():
        assert path.read_bytes() == made[file].read_bytes(), file


def test_only_what_is_committed_and_described_is_released_and_tagged_once(clone, capsys):
    assert release.main(["--check"]) is None
    assert git(clone, "tag") == ""
    assert release.main([]) is release.main([]) is None
    assert git(clone, "tag") == release.TAG
    assert "here only" in capsys.readouterr().out
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## 9.9.9\n\n## {ud.__version__}")
    assert "commit them" in release.main([])
    git(clone, "commit", "-a", "-m", "two")
    assert "CHANGELOG.md" in release.main([])
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## {ud.__version__}")
    git(clone, "commit", "-a", "-m", "three")
    assert "another commit" in release.main([])
    shutil.rmtree(clone / ".git")
    assert "no clone" in release.main([])
