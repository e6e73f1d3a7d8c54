"""Builds and releases: their commit, packages and citations, and that they are reproducible."""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import date
from importlib.metadata import distribution, packages_distributions
from types import SimpleNamespace

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pybtex.database import parse_file, parse_string
from pybtex.style.labels.alpha import LabelStyle

import userdp as ud
from tools import ext, release
from tools.ext import downloads, webpages
from tools.ext.contents import ROOT, code, imported, page, pages

BOOK = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
CFF = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
ZENODO = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
CONFIG = SimpleNamespace(
    html_title=BOOK["title"], author=BOOK["author"], copyright=BOOK["copyright"], html_baseurl=""
)
ADDRESS = "https://github.com/some-one/a.fork"
COMMIT = "0123456789" * 4
VERSION = f"Version {ud.__version__}"
PARTS = ["CITATION.cff", ".zenodo.json", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"]
PARTS += [".git_archival", ".gitattributes", "userdp"]
BOOK_FOLDER = ROOT / "book"
CHAPTERS = [name for name in pages() if (BOOK_FOLDER / f"{name}.ipynb").exists()]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Unset all variables that describe the build; return a function that sets one."""
    for name in ("USERDP_STAMP", "USERDP_REPOSITORY", "USERDP_EXECUTION", "USERDP_PDF", "BOOK_URL"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


def make_config():
    """Return the book's settings, changed according to the environment."""
    config = SimpleNamespace(**vars(CONFIG), html_theme_options={"extra_footer": "Terms"})
    config.html_extra_path, config.html_context, config.nb_execution_mode = [], {}, "force"
    config.tags, config.myst_substitutions = set(), {}
    config.repository_options = BOOK["sphinx"]["config"]["repository_options"]
    webpages.configure(config, config)
    ext.substitute(config, config)
    return config


@pytest.mark.parametrize(("stamp", "words"), [("", ""), (" changed", ", with changes")])
def test_the_environment_determines_commit_repository_and_address(environment, stamp, words):
    config = make_config()
    assert list(config.html_theme_options) == ["extra_footer"]
    assert config.html_theme_options["extra_footer"].startswith(f"<p>{VERSION}</p>")
    assert (config.nb_execution_mode, config.html_baseurl) == ("force", "")
    environment("USERDP_STAMP", f"{COMMIT} 5{stamp}")
    environment("USERDP_REPOSITORY", ADDRESS)
    environment("USERDP_PDF", "_build/companion.pdf")
    environment("USERDP_EXECUTION", "off")
    environment("BOOK_URL", "https://example.org/a")
    config = make_config()
    assert config.today == f"{VERSION}, built from commit {COMMIT[:12]}{words}"
    link = f'<a href="{ADDRESS}/commit/{COMMIT[:12]}">{COMMIT[:12]}</a>'
    footer = config.today.replace(COMMIT[:12], link)
    assert config.html_theme_options["extra_footer"].startswith(f"<p>{footer}</p>")
    assert config.html_theme_options["repository_url"] == ADDRESS
    assert config.html_theme_options["repository_branch"] == COMMIT
    assert config.repository_options.items() <= config.html_theme_options.items()
    assert (config.html_baseurl, config.nb_execution_mode) == ("https://example.org/a/", "off")
    assert (config.html_extra_path, config.tags) == (["_build/companion.pdf"], {"pdf"})


# --- Downloaded chapters --------------------------------------------------------------------------

APP = SimpleNamespace(config=CONFIG)


def test_a_downloaded_chapter_names_its_page_its_commit_and_the_install_command(environment):
    head, _ = downloads.opening(APP, "kkt", "A title")
    assert f"*A title* is a page of *{BOOK['title']}*. {VERSION}." in head.source
    assert 'pip install ".[chapters]"' in head.source
    assert "from a clone" in head.source
    assert 'pip install ".[book]"' in downloads.opening(APP, "decide", "A title")[0].source
    environment("USERDP_REPOSITORY", ADDRESS)
    environment("USERDP_STAMP", f"{COMMIT} 5")
    head, _ = downloads.opening(APP, "kkt", "A title")
    assert f'pip install "userdp[chapters] @ git+{ADDRESS}@{COMMIT}"' in head.source
    assert f"built from commit {COMMIT[:12]}" in head.source


def installed_distributions(extra):
    """Return the distributions that an extra of `userdp` installs, with all their dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    dependencies = {"": project["dependencies"], **project["optional-dependencies"]}
    installed, pending = set(), [Requirement(f"userdp[{extra}]")]
    while pending:
        current = pending.pop()
        name, extras = canonicalize_name(current.name), {"", *current.extras}
        if (name, *sorted(extras)) in installed:
            continue
        installed.add((name, *sorted(extras)))
        texts = [text for e in extras for text in dependencies.get(e, [])]
        needed = texts if name == "userdp" else distribution(name).requires or []
        for requirement in map(Requirement, needed):
            marker = requirement.marker
            if not marker or any(marker.evaluate({"extra": e}) for e in extras):
                pending.append(requirement)
    return {name for name, *_ in installed}


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_downloaded_chapter_installs_what_its_code_imports(name):
    """This includes imports of modules that come with it, and of `userdp`."""
    modules_of_book = [
        path for file, path in downloads.needed_files(name).items() if file.endswith(".py")
    ]
    trees = [code(name), *(ast.parse(path.read_text("utf-8")) for path in modules_of_book)]
    names = {full for tree in trees for full in imported(tree).values()}
    modules = {full.partition(".")[0] for full in names}
    if any(full.startswith("userdp.release") for full in names):
        modules.add("opendp")
    owners = packages_distributions()
    not_installed = {path.stem for path in modules_of_book} | {"myst_nb", "tools"}
    foreign = {canonicalize_name(owners[m][0]) for m in modules - not_installed if m in owners}
    assert foreign - installed_distributions(downloads.extra(name)) == set()


def files_named(name):
    """Return the files that a chapter's code imports or names, also by the parts of a path."""
    source = "\n".join(cell.source for cell in page(name).cells if cell.cell_type == "code")
    return files_of(source)


def files_of(source):
    """Return the same for any code, including modules in the folder of the chapters."""
    names, modules = set(), set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {BOOK_FOLDER / f"{module.name}.py" for module in node.names}
        if isinstance(node, ast.ImportFrom):
            modules.add(BOOK_FOLDER / f"{node.module}.py")
        parts = node.args if isinstance(node, ast.Call) else [node]
        names.add("/".join(str(p.value) for p in parts if isinstance(p, ast.Constant)))
    paths = [BOOK_FOLDER / name for name in names if re.fullmatch(r"[\w.-]+(/[\w.-]+)*", name)]
    files = {path for path in paths if path.is_file()}
    folders = [path for path in paths if path.is_dir() and path.parent == BOOK_FOLDER / "data"]
    modules = {path for path in modules if path.is_file()}
    files |= modules.union(*(files_of(module.read_text("utf-8")) for module in modules))
    return {path.resolve() for path in files.union(*(folder.iterdir() for folder in folders))}


WRITTEN_BY_CHAPTERS = {"aircraft-release.txt"}
"""Files that a chapter reads after it has written them."""


def test_files_of_chapters_include_data_proofs_and_modules():
    read = {name: files_named(name) for name in CHAPTERS}
    assert sum(map(bool, read.values())) > 5
    folders = {path.parent for path in set().union(*read.values())}
    assert {ROOT / "proofs", BOOK_FOLDER, BOOK_FOLDER / "data"} < folders
    drawing = {"plotting.py", "provenance.py", "book.mplstyle"}
    assert drawing <= {path.name for path in read["kkt"]}


@pytest.mark.slow
@pytest.mark.parametrize("base", ["", "https://example.org/a/"], ids=["no-address", "address"])
@pytest.mark.parametrize("name", CHAPTERS)
def test_a_downloaded_chapter_contains_the_files_that_it_reads(name, base, tmp_path):
    """Its cells unpack them into an empty folder, without packages, a clone or the site."""
    config = SimpleNamespace(**vars(CONFIG) | {"html_baseurl": base})
    _, *cells = downloads.opening(SimpleNamespace(config=config), name, "A title")
    isolated_python = [sys.executable, "-I", "-S", "-"]
    for cell in cells:
        assert not re.search("userdp|urllib|http", cell.source)
        subprocess.run(isolated_python, input=cell.source, text=True, cwd=tmp_path, check=True)
    for file in files_named(name):
        if file.name not in WRITTEN_BY_CHAPTERS:
            target = file.relative_to(BOOK_FOLDER if BOOK_FOLDER in file.parents else ROOT)
            assert (tmp_path / target).read_bytes() == file.read_bytes()


def test_a_downloaded_chapter_overwrites_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    existing_file = tmp_path / "data" / "aircraft-averages.csv"
    existing_file.write_text("of the reader")
    _, cell = downloads.opening(APP, "average", "A title")
    exec(cell.source, {})
    assert existing_file.read_text() == "of the reader"


# --- Citations ------------------------------------------------------------------------------------


def test_citation_files_agree_with_the_book_and_leave_doi_commit_and_address_to_a_release():
    assert CFF["title"] == ZENODO["title"] == BOOK["title"]
    assert CFF["authors"] == ZENODO["creators"] == [{"name": BOOK["author"]}]
    assert CFF["keywords"] == ZENODO["keywords"]
    assert CFF["abstract"] == ZENODO["description"]
    assert CFF["license"] == ZENODO["license"] == "MIT"
    assert not {"doi", "commit", "repository-code"} & set(CFF)
    assert not {"doi", "version", "publication_date"} & set(ZENODO)


def test_citation_cff_has_the_version_of_userdp_and_its_year():
    assert CFF["version"] == ud.__version__
    assert str(CFF["date-released"].year) == BOOK["copyright"]


CITATION_TEXT = (ROOT / "CITATION.cff").read_text("utf-8")
HOME = "https://example.org/a/"
ADDRESSES = {
    "none": ({}, {}),
    "repository": (
        {"USERDP_REPOSITORY": ADDRESS},
        {"url": ADDRESS, "repository-code": ADDRESS},
    ),
    "both": (
        {"USERDP_REPOSITORY": ADDRESS, "BOOK_URL": HOME},
        {"url": HOME, "repository-code": ADDRESS},
    ),
}


@pytest.mark.parametrize(("known", "expected"), ADDRESSES.values(), ids=ADDRESSES)
def test_citation_cff_has_the_known_addresses_and_follows_its_schema(
    environment, tmp_path, known, expected
):
    for name, value in known.items():
        environment(name, value)
    text = release.stamp_citation(CITATION_TEXT, "1970-01-02", "1" * 40)
    # Programs would take any other address for that of the companion.
    assert {*re.findall(r"\w+://[^\s\"']+", text)} == {*known.values()}
    (tmp_path / "CITATION.cff").write_text(text, "utf-8")
    schema = "--builtin-schema=vendor.citation-file-format"
    command = [sys.executable, "-m", "check_jsonschema", schema, tmp_path / "CITATION.cff"]
    subprocess.run(command, check=True, capture_output=True)
    new = {"date-released": date(1970, 1, 2), "commit": "1" * 40}
    assert yaml.safe_load(text) == CFF | expected | new


def test_citation_files_refer_to_the_paper_as_the_bibliography_does():
    entry = BIBLIOGRAPHY["rameshwar2025bounding"]
    number = entry.fields["howpublished"]
    assert entry.fields["url"].endswith(f"/{number.removeprefix('arXiv:')}")
    (paper,), (related,) = CFF["references"], ZENODO["related_identifiers"]
    assert paper["title"] == " ".join(re.sub("[{}]", "", entry.fields["title"]).split())
    assert paper["identifiers"][0]["value"] == related["identifier"] == number


def test_the_page_on_citing_shows_entries_for_the_paper_and_the_companion(environment):
    page = (ROOT / "book" / "cite.md").read_text("utf-8")
    (lines,) = re.findall(r"\{literalinclude\} references.bib\n.*\n:lines: 1-(\d+)", page)
    entries = (ROOT / "book" / "references.bib").read_text("utf-8").splitlines()[: int(lines)]
    assert [*parse_string("\n".join(entries), "bibtex").entries] == ["rameshwar2025bounding"]
    environment("USERDP_STAMP", f"{COMMIT} 5")
    environment("BOOK_URL", HOME)
    companion = make_config().myst_substitutions["companion"]
    assert f"{VERSION}, built from commit {COMMIT[:12]}" in companion
    (entry,) = parse_string(companion.partition("```bibtex")[2], "bibtex").entries.values()
    assert entry.fields["title"] == f"{{{BOOK['title']}}}"
    assert entry.fields["url"] == HOME
    assert entry.fields["note"] in companion.partition("```bibtex")[0]


BIBLIOGRAPHY = dict(parse_file(ROOT / "book" / "references.bib").entries)
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"author", "title"},
}
"""The entry types in use, with the fields that BibTeX's styles require."""


@pytest.mark.parametrize("entry", BIBLIOGRAPHY.values(), ids=BIBLIOGRAPHY)
def test_an_entry_has_the_fields_that_bibtex_requires(entry):
    assert {*entry.fields, *entry.persons} >= REQUIRED[entry.type]


ACCEPTED = {("plainnat", "Warning--empty year in opendpregistry")}
"""A registry that is updated continuously has no year."""


@pytest.mark.parametrize("style", ["plain", "alpha", "plainnat"])
def test_bibtex_has_no_warnings_about_any_entry(style, tmp_path):
    """Runs BibTeX if it is installed."""
    bibtex = shutil.which("bibtex")
    if not bibtex and not os.environ.get("USERDP_REQUIRE_PAGES"):
        pytest.skip("bibtex is not installed: .ci/tex installs it")
    companion = make_config().myst_substitutions["companion"]
    (tmp_path / "companion.bib").write_text(re.search("(?s)@.*}", companion)[0], "utf-8")
    shutil.copy(ROOT / "book" / "references.bib", tmp_path)
    for name in ("companion", "references"):
        lines = ["\\relax", "\\citation{*}", f"\\bibstyle{{{style}}}", f"\\bibdata{{{name}}}"]
        (tmp_path / f"{name}.aux").write_text("\n".join(lines))
        run = subprocess.run(
            [bibtex, "-terse", name], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        warnings = {(style, line) for line in run.stdout.splitlines() if not line.startswith("(")}
        assert warnings <= ACCEPTED


def test_labels_of_works_with_several_authors_have_one_letter_per_author():
    """The book shows these labels; pybtex takes more letters of a name with an accent in TeX."""
    several = [entry for entry in BIBLIOGRAPHY.values() if len(entry.persons["author"]) > 1]
    labels = [*LabelStyle().format_labels(several)]
    assert len(labels) > 10
    for label in labels:
        assert re.fullmatch(r"[A-Z]{2,4}\+?\d\d", label)


def test_workflows_pin_one_version_of_each_action():
    pins = {}
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for action, version in re.findall(r"uses: (\S+)@(.*)", path.read_text("utf-8")):
            pins.setdefault(action, set()).add(version)
    assert len(pins) > 5
    assert {action: versions for action, versions in pins.items() if len(versions) > 1} == {}


# --- Releases -------------------------------------------------------------------------------------


@pytest.fixture
def clone(tmp_path, environment, monkeypatch):
    """Change to a new repository with one commit, at 86400 s of Unix time, and a built site."""
    monkeypatch.chdir(tmp_path)
    for name in PARTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, name)
    (tmp_path / ".gitignore").write_text("_build\ndist\n__pycache__\n")
    for part, value in {"NAME": "x", "EMAIL": "x@example.org", "DATE": "@86400 +0000"}.items():
        environment(f"GIT_AUTHOR_{part}", value)
        environment(f"GIT_COMMITTER_{part}", value)
    environment("SOURCE_DATE_EPOCH", "86400")
    for command in ("init", "add .", "commit -m one"):
        git(*command.split())
    (tmp_path / "_build" / "html" / "book").mkdir(parents=True)
    for name in "hbgdafce":
        (tmp_path / "_build" / "html" / "book" / f"{name}.html").write_text(f"page {name}")
    (tmp_path / "_build" / "companion.pdf").write_bytes(b"%PDF")
    (tmp_path / "_build" / "html" / "userdp-data.zip").write_bytes(b"PK")
    return tmp_path


def git(*arguments):
    command = ["git", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_release(folder):
    release.main()
    return {path.name: path.read_bytes() for path in (folder / "dist").iterdir()}


def test_a_release_is_complete_and_reproducible(clone):
    files, name, head = make_release(clone), release.NAME, git("rev-parse", "HEAD")
    assert git("tag", "--points-at", "HEAD") == release.TAG
    sums = dict(line.split("  ")[::-1] for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == {file: hashlib.sha256(files[file]).hexdigest() for file in files}
    with tarfile.open(f"dist/{name}-html.tar.gz") as tar:
        assert tar.extractfile(f"{name}/book/a.html").read() == b"page a"
    with tarfile.open(f"dist/{name}-source.tar.gz") as tar:
        assert tar.extractfile(f"{name}/.git_archival").read().decode() == f"{head} 86400\n"
    with zipfile.ZipFile(f"dist/userdp-{ud.__version__}-py3-none-any.whl") as wheel:
        assert "userdp/__init__.py" in wheel.namelist()
    with tarfile.open(f"dist/userdp-{ud.__version__}.tar.gz") as tar:
        assert f"userdp-{ud.__version__}/userdp/py.typed" in tar.getnames()
    assert files[f"{name}.pdf"] == b"%PDF"
    assert files[f"{name}-data.zip"] == b"PK"
    crate = json.loads(files["ro-crate-metadata.json"])["@graph"]
    assert {part["@id"] for part in crate if part["@type"] == "File"} == {*files} - {
        "ro-crate-metadata.json"
    }
    day = {"version": ud.__version__, "publication_date": "1970-01-02"}
    assert json.loads(files[".zenodo.json"]) == ZENODO | day
    stamp = {"date-released": date(1970, 1, 2), "commit": head}
    assert yaml.safe_load(files["CITATION.cff"]) == CFF | stamp

    changed = clone / "_build" / "html" / "book" / "a.html"
    changed.touch()
    changed.chmod(0o600)
    git("config", "tar.umask", "0077")
    again = make_release(clone)
    assert [file for file in files if files[file] != again[file]] == []


def test_a_release_needs_a_commit_a_changelog_entry_and_a_new_tag(clone):
    git("tag", release.TAG)
    assert release.reason_against() is None
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## 9.9.9\n\n## {ud.__version__}")
    assert "commit them" in release.reason_against()
    git("commit", "-a", "-m", "two")
    assert "CHANGELOG.md" in release.reason_against()
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## {ud.__version__}")
    git("commit", "-a", "-m", "three")
    assert "another commit" in release.reason_against()


# --- Lock files contain all requirements, for every version of Python; pip checks their hashes ----


def pinned_versions(file, python):
    """Return the packages that a file pins for a version of Python, with their versions."""
    environment_markers = {"python_version": python, "python_full_version": f"{python}.0"}
    lines = re.findall(r"^[a-z][^#\\\n]*", (ROOT / file).read_text(), re.MULTILINE)
    requirements = [
        r for r in map(Requirement, lines) if not r.marker or r.marker.evaluate(environment_markers)
    ]
    return {(canonicalize_name(r.name), str(r.specifier)) for r in requirements}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_lock_files_contain_the_requirements(python):
    """If this fails, run `make lock`. Tests and extras must not change the versions of the book."""
    required = ["requirements.txt", "requirements/tests.txt", "requirements/extras.txt"]
    locks = [
        pinned_versions(f"requirements/{name}.lock", python) for name in ("book", "tests", "extras")
    ]
    assert len(locks[0]) > 100
    for file, lock in zip(required, locks, strict=True):
        assert pinned_versions(file, python) <= lock
    together = set().union(*locks)
    assert len(together) == len(dict(together))
