"""The house: which rooms there are, who imports whom, what is public, what docstrings promise."""

import ast
import inspect
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import userdp as ud

HOUSE = Path(ud.__file__).parent
# They only export what others define.
FACADES = {"userdp", "userdp.release", "userdp.plotting"}
ROOMS = sorted(
    ".".join(path.relative_to(HOUSE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in HOUSE.rglob("*.py")
)
WINGS = ("userdp.audit", "userdp.plotting", "userdp.release", "userdp.vectors")
CORE = [room for room in ROOMS if not room.startswith(WINGS) and room not in FACADES]
FUNCTIONS = {
    name: getattr(module, name)
    for module in (ud, ud.vectors)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}
PARAMETERS = {name: {*inspect.signature(f).parameters} for name, f in FUNCTIONS.items()}
RELEASING = {"sums", "users", "rng"}  # errors of releases are no releases
DRAWING = [name for name, has in PARAMETERS.items() if has >= RELEASING and "error" not in name]
HEAVY = {"matplotlib", "pandas", "IPython", "scipy.optimize", "scipy.stats"}


def imports(room):
    tree = ast.parse(inspect.getsource(sys.modules.get(room) or import_module(room)))
    said = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named = {n.module for n in said} | {f"{n.module}.{a.name}" for n in said for a in n.names}
    return named & {*ROOMS}


def test_arrows_run_downwards():
    arrows = {room: imports(room) - {"userdp"} for room in ROOMS if room != "userdp"}
    assert sum(map(len, arrows.values())) > 80  # they are found
    TopologicalSorter(arrows).prepare()  # refuses a circle


@pytest.mark.parametrize("room", CORE)
def test_the_core_imports_no_wing(room):
    assert not [other for other in imports(room) if other.startswith(WINGS)]


@pytest.mark.parametrize("room", [r for r in ROOMS if "._" not in r and r not in FACADES])
def test_a_name_is_in_the_reference_or_has_an_underscore(room):
    module = sys.modules.get(room) or import_module(room)
    page = (HOUSE.parent / "book" / "reference.md").read_text("utf-8")
    listed = set(re.findall(r"(?:autoclass|autofunction|py:data):: ([\w.]+)", page))
    for name, thing in vars(module).items():
        own = getattr(thing, "__module__", None) == room
        if own and callable(thing) and not name.startswith("_"):
            short = f"{room.removeprefix('userdp.')}.{name}"
            assert listed & {name, short, f"userdp.{short}"}, name


def test_importing_the_core_loads_nothing_heavy_and_of_scipy_its_special_functions_only():
    """As the page of benchmarks says, which has the time that it takes."""
    code = f"import sys, scipy, userdp; print(*({HEAVY} & {{*sys.modules}}))\n"
    loaded = "print(*sorted({f'scipy.{name}' for name in scipy.__all__} & {*sys.modules}))"
    said = subprocess.check_output([sys.executable, "-c", code + loaded], text=True)
    # An old one loads others, too.
    alone = ["-c", f"import sys, scipy.special; {loaded}"]
    assert said == "\n" + subprocess.check_output([sys.executable, *alone], text=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_have_the_sections_a_user_needs_and_state_the_privacy(name):
    documentation = inspect.getdoc(FUNCTIONS[name])
    for section in ("Parameters", "Returns", "Raises", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in documentation
    words = " ".join(documentation.split()).lower()
    if name in DRAWING:
        assert "user-level eps-dp" in words
        assert "public" in words
        assert "replacing one user" in words or "differ in all samples of one user" in words


def test_every_mechanism_has_an_audit():
    """A test that asks `userdp.audit` names it, or its density: "Audit it" in CONTRIBUTING.md."""
    tests = [path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py")]
    audits = "".join(text for text in tests if "import audit" in text)
    missing = []
    for name in DRAWING:
        density = f"{name.removeprefix('private_')}_log_density"
        if not re.search(rf"\b(ud|vectors)\.({name}|{density})\b", audits):
            missing.append(name)
    assert not missing, f"draws noise from sums, and no test audits it: {missing}"


def test_contributing_names_every_module_and_extension():
    """Of the package with what to mind in it, of Sphinx's extensions with what a reader sees."""
    guide = (HOUSE.parent / "CONTRIBUTING.md").read_text("utf-8")
    extensions = {path.stem for path in HOUSE.parent.glob("tools/ext/[a-z]*.py")}
    rooms = {room.rpartition(".")[2] for room in ROOMS}
    for heading, modules in {"The house": rooms, "What the book adds": extensions}.items():
        said = guide.split(f"## {heading}")[1].split("\n## ")[0]
        named = set(re.findall(r"(?:\*\*|`|, )(\w+)(?=\*\*|`|,)", said))
        assert modules <= named, modules - named


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_described_in_place_and_in_order(name):
    """By its name, its type, and words below: none refers to another function for what it is."""
    documentation = inspect.getdoc(FUNCTIONS[name])
    section = documentation.split("Parameters\n----------\n")[1].split("\n\n")[0]
    described = []
    for names, words in re.findall(r"^(\w[\w, ]*) : .+\n((?:    .+\n?)+)", section, re.M):
        described += names.split(", ")
        assert not words.strip().startswith("As in"), names
    assert described == [*inspect.signature(FUNCTIONS[name]).parameters]


def signatures():
    """Those of all public functions and methods, and of the classes that a reader makes."""
    made = {ud.Contributions, ud.Clipping, ud.LaplaceNoise, ud.GaussianNoise, ud.StaircaseNoise}
    found = {}
    for room in [room for room in ROOMS if "._" not in room]:
        for name, thing in vars(sys.modules.get(room) or import_module(room)).items():
            of_the_house = re.match(r"userdp\.(?!_)", getattr(thing, "__module__", ""))
            if name.startswith("_") or not of_the_house:
                continue
            if inspect.isclass(thing):
                own = vars(thing).items()
                methods = {n: m for n, m in own if inspect.isfunction(m) and n[0] != "_"}
                found |= {f"{name}.{method}": of for method, of in methods.items()}
            if inspect.isfunction(thing) or (inspect.isclass(thing) and thing in made):
                found[name] = thing
    return {name: str(inspect.signature(thing)) for name, thing in found.items()}


def test_signatures_are_short_and_name_types_as_the_code_does():
    shown = signatures()
    assert {"private_mean", "grid_sum", "write_table", "Plan.recommend", "Clipping"} <= {*shown}
    assert "eps: 'Budget'" in shown["threshold"]
    for name, signature in shown.items():
        assert len(signature) <= 400, f"{name}{signature}"
        spelt_out = re.findall(r"Union\[|\b(?:fractions|decimal|numpy|typing|userdp)\.", signature)
        assert not spelt_out, f"{name}{signature}"


def test_ids_of_tests_are_words(request):
    """Of all tests that were collected: none is shown as `attempt137`, by 400 digits, or as `3`."""
    named = [item for item in request.session.items if hasattr(item, "callspec")]
    for item in named:
        words = item.callspec.id
        assert len(words) <= 100, f"{item.nodeid[:250]}... needs shorter `ids`"
        assert re.search("[^-+.0-9e]", words), f"{item.nodeid} is a number: it needs `ids` in words"
        for argument in item.callspec.params:
            counted = re.search(rf"(^|-){argument}\d+(-|$)", words)
            assert not counted, f"{item.nodeid} needs `ids` in words for `{argument}`"
