"""The sources of the book: stored outputs, complete figures, and names that exist."""

import base64
import re
from collections import defaultdict
from itertools import pairwise

import nbformat
import pytest

import userdp as ud
from tools.ext import proofs, sources
from tools.ext.contents import BOOK, ROOT, ledger
from userdp import audit, beyond, release
from userdp.beyond import privacy_loss

CHAPTERS = sorted(BOOK.glob("*.ipynb"))
PROSE = [*sorted(BOOK.glob("*.md")), ROOT / "CONTRIBUTING.md"]
UNNUMBERED = {"index", "explorer"}  # pages whose picture is live and has its own caption
KINDS = {"text/plain", "application/papermill.record/text/plain"}
KINDS |= {"text/html", "text/markdown", "image/png"}
ACTIVE_CONTENT = (
    r"<\s*(?:script|iframe|object|embed|svg|math|img|link|form|a)\b|\bon\w+\s*=|script:|//|\{raw"
)
LONGEST_LINE = 88  # characters that a page shows without a scroll bar

every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
every_page = pytest.mark.parametrize("path", [*CHAPTERS, *PROSE], ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def markdown(path):
    if path.suffix == ".md":
        return path.read_text()
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def images(cell):
    return [o.data["image/png"] for o in cell.outputs if "image/png" in o.get("data", {})]


@every_chapter
def test_every_cell_was_executed_in_order_and_its_output_stored(path):
    """nbval skips cells without an execution count. All code is visible and can be copied."""
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any(cell.outputs for cell in cells)
    for cell in cells:
        expected = re.search(r"^(print\(|plt\.show)|^ +print\(|\bglue\(", cell.source, re.MULTILINE)
        assert cell.outputs or not expected
        assert not {"remove-input", "remove-cell"} & set(cell.metadata.get("tags", []))
        assert max(map(len, cell.source.splitlines())) <= LONGEST_LINE


PATH = ["setup", "lemma", "optimum", "kkt", "akmv", "experiments"]
PATH += ["figure-1", "figure-2", "figure-3", "robustness"]


def is_folded(cell):
    return not {"hide-input", "hide-cell"}.isdisjoint(cell.metadata.get("tags", []))


@pytest.mark.parametrize("name", PATH)
def test_a_page_of_the_path_has_few_folds(name):
    """At most three folds of code, besides that of its picture, and no two in a row."""
    cells = read(BOOK / f"{name}.ipynb").cells
    folds = [is_folded(cell) for cell in cells]
    live = [cell for cell in cells if "live" in cell.metadata.get("tags", [])]
    assert sum(folds) <= 3 + len(live)
    assert not any(map(all, pairwise(folds))), "two folds in a row"


@every_chapter
def test_every_fold_has_a_title_of_its_own(path):
    """The title is the same when open. A fold that draws a figure gets its title in the build."""
    settings = [cell.metadata.get("mystnb", {}) for cell in code_cells(path) if is_folded(cell)]
    prompts = ("code_prompt_show", "code_prompt_hide")
    names = [[s.get(x) for x in prompts] for s in settings if "figure" not in s]
    for closed, opened in names:
        assert closed, f"one of {len(names)} folds has no title: {names}"
        assert closed == opened
    assert len(names) == len({closed for closed, _ in names}), (
        f"two folds have the same title: {names}"
    )


@every_chapter
def test_stored_outputs_are_clean_and_contain_no_active_content(path):
    """Executing the chapter compares the outputs themselves."""
    notebook = read(path)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert notebook.metadata.language_info == {"name": "python"}
    assert notebook.metadata.kernelspec.name == "python3"
    assert {cell.cell_type for cell in notebook.cells} <= {"code", "markdown"}
    outputs = [output for cell in code_cells(path) for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
    for kind, data in ((k, d) for output in outputs for k, d in output.get("data", {}).items()):
        assert kind in KINDS
        assert kind == "image/png" or not re.search(ACTIVE_CONTENT, data, re.IGNORECASE)
    text = path.read_text()
    assert not re.search(r"0x[0-9a-f]{8}", text), "an object's address differs from run to run"
    assert not re.search(r'"(?:/home|/root|/tmp|/Users|C:\\\\)', text), "a machine's path"


@every_chapter
def test_every_figure_has_a_name_a_caption_an_alternative_text_and_data(path):
    figures = [cell.metadata.mystnb for cell in code_cells(path) if images(cell)]
    for settings in figures:
        assert len(settings.image.alt) > 80
        if path.stem in UNNUMBERED:
            continue
        assert re.fullmatch(r"fig-[a-z0-9-]+", settings.figure.name)
        assert len(settings.figure.caption) > 80
        assert re.search("standard error|[Ee]xact", settings.figure.caption), "state the accuracy"
    downloads = re.findall(r"\]\((data/[^)]+\.csv)\)", markdown(path))
    assert len(downloads) >= len(figures)


NUMBER = r"\d[\d,]*(?:\.\d+|/\d+)?"
SETTINGS = [
    rf"[εδρτ] ?[=<≤>≥] ?{NUMBER}",
    rf"(?:ε|[Bb]udgets?|epsilon) from {NUMBER}(?: to (?:below )?{NUMBER})?",
    rf"at epsilon {NUMBER}",
    rf"budgets \({NUMBER}(?:, {NUMBER})*\)",
    r"(?:level|probability of) \d+ %|\d+ % interval",
    r"<a href=\"#eps=[^<]*</a>",
]
"""Budgets and levels that are settings, also of a cell."""
TITLES = [
    r"(?:Theorem|Lemma|Proposition|Corollary|Definition|Section|Figure) \d+\.\d+",
    r"(?:arXiv|Python|Coq|MathComp|MathComp-Analysis|CC BY) \(?\d+\.\d+",
    r"https?://[^\s)]+",
]
"""Numbers in names of statements, versions, licences and addresses."""
MEASURED = r"(?<![\w./])\d[\d,]*(?:\.\d+|/\d+| ?(?:%|per ?cent))(?![\w/])"


def typed_numbers(text):
    """Decimals, fractions and percentages outside formulas, code, settings and titles."""
    code = r"\$\$.*?\$\$(?: \([\w-]+\))?|\$[^$]+\$|```.*?```|`[^`]*`"
    text = re.sub(code, "", text, flags=re.S)
    return re.findall(MEASURED, re.sub("|".join([*SETTINGS, *TITLES]), "", text))


def beside_figures(path):
    """Captions and alternative texts."""
    settings = [cell.metadata.get("mystnb", {}) for cell in code_cells(path) if images(cell)]
    captions = [cell.get("figure", {}).get("caption", "") for cell in settings]
    return "\n\n".join([*captions, *(cell.get("image", {}).get("alt", "") for cell in settings)])


@every_page
def test_no_measured_number_is_typed(path):
    """Measured numbers come from cells; formulas and code may contain numbers."""
    assert typed_numbers(markdown(path)) == []
    if path.suffix == ".ipynb":
        assert typed_numbers(beside_figures(path)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at 31.4 km/h, 9 % more", ["31.4", "9 %"]),
        ("a little better below 2/5, by 0.8", ["2/5", "0.8"]),
        ("three per cent, 3 per cent, 3 percent", ["3 per cent", "3 percent"]),
        ("1,234.5 at ε = 0.8, ε ≤ 5/2 and for budgets from 0.1 to 2", ["1,234.5"]),
        ("Proposition 1.3, with Python 3.11: $x = 0.5$, a 95 % interval, `0.7`", []),
        ("ε = 0.8 gives 0.9", ["0.9"]),
    ],
    ids=["decimals", "fractions", "percentages", "budgets", "titles", "result"],
)
def test_decimals_fractions_and_percentages_count_as_typed_but_not_settings_and_titles(
    text, expected
):
    assert typed_numbers(text) == expected


@every_page
def test_names_in_prose_exist(path):
    modules = {"ud": ud, "beyond": beyond, "release": release, "audit": audit}
    modules |= {"solution": ud.kkt.Solution}
    modules |= {"users": ud.Contributions([1], 1), "clipping": ud.Clipping([0], [1])}
    for module, name in re.findall(
        rf"`~?(?:userdp\.)?({'|'.join(modules)})\.(\w+)`", markdown(path)
    ):
        assert hasattr(modules[module], name), f"{module}.{name}"
    for name in re.findall(r"`((?:tests|userdp|tools)/[\w/]+\.py)`", markdown(path)):
        assert (ROOT / name).exists(), name
    used = re.findall(r"\bmake ([a-z][a-z-]+)`", markdown(path))
    assert {*used} <= {*re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)}


def test_reference_page_lists_everything_that_is_exported():
    parts = re.split(r"currentmodule:: ([\w.]+)", (BOOK / "reference.md").read_text())[1:]
    names_of_module = defaultdict(list)
    for module, text in zip(parts[::2], parts[1::2], strict=True):
        names_of_module[module] += re.findall(
            r"(?:autoclass|autofunction|py:data):: (\w+)$", text, re.M
        )
    assert {module: sorted(names) for module, names in names_of_module.items()} == {
        "userdp": ud.__all__,
        "userdp.audit": audit.__all__,
        "userdp.beyond": beyond.__all__,
        "userdp.beyond.privacy_loss": privacy_loss.__all__,
        "userdp.release": release.__all__,
    }


def test_the_picture_of_the_readme_is_that_of_the_landing_page():
    *_, stored = [image for cell in code_cells(BOOK / "index.ipynb") for image in images(cell)]
    assert base64.b64decode(stored) == (BOOK / "_static" / "landing.png").read_bytes()
    assert "book/_static/landing.png" in (ROOT / "README.md").read_text()


def test_each_formal_theorem_is_shown_with_all_that_it_assumes():
    """As Coq printed it outside its section; `make -C proofs` compares this with its output."""
    files = [path.read_text("utf-8") for path in proofs.PROOFS.rglob("closed.txt")]
    printed = [name for text in files for name in re.findall(r"^(\w+)\n     : ", text, re.M)]
    assert sorted(printed) == sorted(name for _, name in proofs.labels_of_theorems())
    units = sources.units("proofs/closed.txt")
    lines = (proofs.PROOFS / "closed.txt").read_text("utf-8").splitlines()
    first, last = units["thm_main"]
    main = "\n".join(lines[first - 1 : last])
    assert main.startswith("thm_main\n     : forall (R : realFieldType)")
    assert "\n       0 <= U ->\n       (0 < \\sum_l m l)%N ->\n" in main


def test_each_definition_between_marks_is_shown():
    """As Coq printed it; `make -C proofs` compares this with its output."""
    files = [path.read_text("utf-8") for path in proofs.PROOFS.rglob("*.v")]
    between = "\n".join(text for file in files for _, text in proofs.BLOCK.findall(file))
    defined = re.findall(r"^(?:Definition|Fixpoint|Inductive|Record) (\w+)", between, re.M)
    units = sources.units("proofs/defined.txt")
    shown = [*units, *sources.units("proofs/reals/defined.txt")]
    assert sorted(name.rpartition(".")[2] for name in shown) == sorted(defined)
    lines = (proofs.PROOFS / "defined.txt").read_text("utf-8").splitlines()
    first, last = units["is_private"]
    assert lines[first - 1] == "is_private ="
    assert "E x h <= q * E x' h" in lines[first + 7]
    assert lines[last - 1].startswith("       ")
    assert not lines[last]


def test_the_table_of_what_coq_checked_is_complete():
    """It names every statement of the ledger, and each of its rows is parsed."""
    named = {row["label"] for row in ledger()}
    named = {x for x in named if re.match("(thm|lem|prop|prp|cor)-", x)} | {"lem-printed"}
    assert named == {x for x in proofs.statements() if not x.startswith("err-")}
    table = (proofs.PROOFS / "README.md").read_text("utf-8").split("| Label in the book |")[1]
    rows = table.split("|---|---|---|---|\n")[1].splitlines()
    assert len(rows) == len(proofs.ROW.findall(table)) >= 37
    assert set(proofs.checked()) <= set(proofs.statements())
    for label, (verdict, theorems, words) in proofs.checked().items():
        assert theorems
        assert ("missing: " in words) == (verdict == "in part"), label
    assert proofs.table().count("\n") == len(proofs.statements()) + 2


def test_a_row_with_a_theorem_about_another_statement_is_refused(monkeypatch):
    verdicts = proofs.checked()
    wrong_verdicts = verdicts | {"thm-lemma": ("checked", [("optimum.v", "thm_main")], "")}
    monkeypatch.setattr(proofs, "checked", lambda: wrong_verdicts)
    with pytest.raises(ValueError, match="not between marks that name thm-lemma"):
        proofs.entry("thm-lemma")


def test_a_theorem_is_a_unit_on_the_page_of_its_file():
    for file, name in proofs.labels_of_theorems():
        first, last = sources.units(f"proofs/{file}")[name]
        lines = (proofs.PROOFS / file).read_text("utf-8").splitlines()[first - 1 : last]
        assert lines[0].startswith(f"Theorem {name}")
        assert lines[-1].endswith(".")
        assert not any(line.startswith(("(* end", "Proof")) for line in lines)


def test_a_long_proof_states_its_idea():
    """A proof of more than forty lines begins with a comment of at most about three lines."""
    n_long = 0
    for path in sorted(proofs.PROOFS.rglob("*.v")):
        for proof in re.findall(r"^Proof\.\n((?s:.*?))^Qed\.", path.read_text("utf-8"), re.M):
            if proof.count("\n") > 40:
                n_long += 1
                assert re.match(r"\(\* (?s:[^*]{60,340}) \*\)\n", proof), (path.name, proof[:200])
    assert n_long > 10
