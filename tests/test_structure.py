"""The structure of the package: its modules, their imports, public names and documentation."""

import ast
import inspect
import re
import subprocess
import sys
from functools import reduce
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import userdp as ud
from userdp import beyond, release

PACKAGE = Path(ud.__file__).parent
ROOTS = {"ud": ud, "beyond": beyond, "release": release}
EXPORTING = {root.__name__ for root in ROOTS.values()}  # packages that only re-export names
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
)
PUBLIC = [name for name in MODULES if "._" not in name and name not in EXPORTING]
AUDITS = {"userdp.audit", "userdp.beyond.privacy_loss"}
BEYOND = {name for name in MODULES if name.startswith("userdp.beyond.")} - AUDITS
RELEASE = {name for name in MODULES if name.startswith("userdp.release.")}
CORE = {*MODULES} - EXPORTING - AUDITS - BEYOND - RELEASE
MAY_IMPORT = {
    **dict.fromkeys(CORE, CORE),
    **dict.fromkeys(BEYOND, CORE | BEYOND),
    **dict.fromkeys(RELEASE, CORE | BEYOND | RELEASE),
    "userdp": CORE,
    "userdp.beyond": BEYOND,
    "userdp.release": RELEASE,
    "userdp.audit": CORE,
    "userdp.beyond.privacy_loss": CORE | BEYOND | {"userdp.audit"},
}
FUNCTIONS = {
    f"{short}.{name}": getattr(root, name)
    for short, root in ROOTS.items()
    for name in root.__all__
    if inspect.isfunction(getattr(root, name))
}
PARAMETERS = {name: [*inspect.signature(f).parameters] for name, f in FUNCTIONS.items()}
MECHANISM_PARAMETERS = {"sums", "rng"}  # functions that compute errors also have them
DRAWING = [
    name
    for name, names in PARAMETERS.items()
    if {*names} >= MECHANISM_PARAMETERS and "error" not in name
]
HEAVY = {"matplotlib", "pandas", "IPython", "scipy.optimize", "scipy.stats"}


def module(name):
    """The module, even where the package exports a function of the same name."""
    return sys.modules.get(name) or import_module(name)


def imports(name):
    """Names of the package's modules that a module imports, at any level."""
    modules = set()
    for node in ast.walk(ast.parse(inspect.getsource(module(name)))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            candidates = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= {full if full in MODULES else node.module for full in candidates}
    return {full for full in modules if full.split(".")[0] == "userdp"}


def test_there_are_no_circular_imports():
    imported = {name: imports(name) for name in MODULES}
    assert sum(map(len, imported.values())) > 80  # the search for imports works
    TopologicalSorter(imported).prepare()  # raises if there is a cycle


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_the_packages_that_it_may(name):
    assert imports(name) <= MAY_IMPORT[name]


def test_release_is_built_on_the_core_and_beyond():
    used = set().union(*map(imports, RELEASE))
    assert used & CORE
    assert used & BEYOND


def test_modules_of_release_import_only_later_ones():
    """The order is that of the data, as in the package's docstring and in CONTRIBUTING.md."""
    guide = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    (row,) = re.findall(r"^\| `userdp.release` .*", guide, re.M)
    order = [f"userdp.release.{name}" for name in re.findall(r"`(_\w+)`", release.__doc__)]
    assert [f"userdp.release.{name}" for name in re.findall(r"\*\*(_\w+)", row)] == order
    assert {*order} == RELEASE
    for position, name in enumerate(order, start=1):
        assert imports(name) & RELEASE <= {*order[position:]}, name


def output_of(code):
    return subprocess.check_output([sys.executable, "-c", f"import sys; {code}"], text=True)


def test_importing_userdp_loads_neither_scipy_nor_beyond_nor_release():
    loaded = output_of("import userdp; print(*sys.modules)").split()
    roots = {"scipy", *(name.split(".")[0] for name in HEAVY)}
    assert "userdp.worstcase" in loaded
    assert not roots & {*loaded}
    assert not {*loaded} & (BEYOND | RELEASE | AUDITS | {"userdp.beyond", "userdp.release"})


def test_importing_all_packages_loads_no_heavy_library_and_only_scipy_special():
    """As the book says where it gives the time of an import."""
    of_scipy = "print(*sorted({f'scipy.{name}' for name in scipy.__all__} & {*sys.modules}))"
    code = f"import scipy, userdp.beyond, userdp.release; print(*({HEAVY} & {{*sys.modules}}))\n"
    # An old SciPy loads other modules together with scipy.special.
    assert output_of(code + of_scipy) == "\n" + output_of(f"import scipy.special; {of_scipy}")


def listed_names():
    """Full names of all entries of the reference."""
    page = (PACKAGE.parent / "book" / "reference.md").read_text("utf-8")
    current, names = "", []
    for directive, name in re.findall(r"^\.\. (currentmodule|auto\w+):: ([\w.]+)", page, re.M):
        if directive == "currentmodule":
            current = name
        else:
            names.append(name if name.startswith("userdp.") else f"{current}.{name}")
    return names


def object_of(full):
    """The object with this full name, or None."""
    home = max((name for name in MODULES if full.startswith(f"{name}.")), key=len)
    names = full.removeprefix(f"{home}.").split(".")
    return reduce(lambda container, name: getattr(container, name, None), names, module(home))


def test_all_exported_names_are_in_the_reference_and_all_names_there_exist():
    exported = {f"{root.__name__}.{name}" for root in ROOTS.values() for name in root.__all__}
    assert exported - {*listed_names()} == set()
    assert [full for full in listed_names() if object_of(full) is None] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_a_name_is_in_the_reference_or_has_an_underscore(name):
    in_reference = [object_of(full) for full in listed_names()]
    missing = [
        member
        for member, value in vars(module(name)).items()
        if getattr(value, "__module__", None) == name and callable(value) and member[0] != "_"
        if not any(value is entry for entry in in_reference)
    ]
    assert not missing


@pytest.mark.parametrize("root", ROOTS)
def test_exported_names_are_defined_in_their_own_package(root):
    prefix = f"{ROOTS[root].__name__}."
    others = {f"{name}." for name in EXPORTING if name.startswith(prefix)}
    assert ROOTS[root].__all__ == sorted({*ROOTS[root].__all__})
    for name in ROOTS[root].__all__:
        home = getattr(ROOTS[root], name).__module__
        assert home.startswith(prefix), name
        assert not home.startswith(tuple(others)), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_have_the_sections_a_user_needs_and_state_the_privacy(name):
    documentation = inspect.getdoc(FUNCTIONS[name])
    parameters = ["Parameters"] if PARAMETERS[name] else []
    for section in [*parameters, "Returns", "Raises", "Examples"]:
        assert f"{section}\n{'-' * len(section)}" in documentation
    words = " ".join(documentation.split()).lower()
    if name in DRAWING:
        assert "user-level eps-dp" in words
        assert "public" in words
        assert re.search("(replacement of all|differ in all) samples of one user", words)


def test_every_mechanism_has_an_audit():
    """A test that imports an audit names the mechanism or its density (see CONTRIBUTING.md)."""
    tests = [path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py")]
    audits = "".join(text for text in tests if re.search(r"import (audit|privacy_loss)\b", text))
    missing = []
    for full in DRAWING:
        root, name = full.split(".")
        density = f"{name.removeprefix('private_')}_log_density"
        if not re.search(rf"\b{root}\.({name}|{density})\b", audits):
            missing.append(full)
    assert not missing, f"these draw noise for sums, but no test audits them: {missing}"


def test_contributing_names_every_module_and_extension():
    """CONTRIBUTING.md describes the package's modules, and what each extension of Sphinx adds."""
    guide = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    extensions = {path.stem for path in PACKAGE.parent.glob("tools/ext/[a-z]*.py")}
    modules = {name.rpartition(".")[2] for name in MODULES if name not in EXPORTING}
    for heading, expected in {"Modules": modules, "Extensions of Sphinx": extensions}.items():
        section = guide.split(f"## {heading}")[1].split("\n## ")[0]
        named = set(re.findall(r"(?:\*\*|`|, )(\w+)(?=\*\*|`|,)", section))
        assert expected <= named, expected - named


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if PARAMETERS[name]])
def test_every_parameter_is_listed_in_order(name):
    """With name and type; its description does not refer to another function ("As in ...")."""
    documentation = inspect.getdoc(FUNCTIONS[name])
    section = documentation.split("Parameters\n----------\n")[1].split("\n\n")[0]
    described = []
    for names, words in re.findall(r"^(\w[\w, ]*) : .+\n?((?:    .+\n?)*)", section, re.M):
        described += names.split(", ")
        assert not words.strip().startswith("As in"), names
    assert described == PARAMETERS[name]


def signatures():
    """Signatures of public functions and methods, and of the classes that users instantiate."""
    instantiated = {
        ud.Contributions,
        ud.Clipping,
        beyond.LaplaceNoise,
        beyond.GaussianNoise,
        beyond.StaircaseNoise,
        beyond.Modulus,
    }
    functions = {}
    for home in [*EXPORTING, *PUBLIC]:
        for member, value in vars(module(home)).items():
            is_public = re.match(r"userdp\.(?!(beyond\.)?_)", getattr(value, "__module__", ""))
            if member.startswith("_") or not is_public:
                continue
            name = f"{home}.{member}"
            if inspect.isclass(value):
                attributes = vars(value).items()
                methods = {n: m for n, m in attributes if inspect.isfunction(m) and n[0] != "_"}
                functions |= {f"{name}.{method}": function for method, function in methods.items()}
            if inspect.isfunction(value) or (inspect.isclass(value) and value in instantiated):
                functions[name] = value
    return {name: str(inspect.signature(function)) for name, function in functions.items()}


def test_signatures_are_short_and_use_the_type_names_of_the_code():
    texts = signatures()
    expected = {"Clipping", "mechanisms.grid_sum", "release.private_mean", "release.Plan.recommend"}
    assert {f"userdp.{name}" for name in expected} <= {*texts}
    assert "eps: 'Epsilon'" in texts["userdp.threshold"]
    assert "budget: 'Budget'" in texts["userdp.beyond.threshold"]
    for name, signature in texts.items():
        assert len(signature) <= 400, f"{name}{signature}"
        spelt_out = re.findall(r"Union\[|\b(?:fractions|decimal|numpy|typing|userdp)\.", signature)
        assert not spelt_out, f"{name}{signature}"


def test_ids_of_tests_are_words(request):
    """No collected test has an id such as `attempt137`, `3`, or one with 400 digits."""
    named = [item for item in request.session.items if hasattr(item, "callspec")]
    for item in named:
        words = item.callspec.id
        assert len(words) <= 100, f"{item.nodeid[:250]}... needs shorter `ids`"
        assert re.search("[^-+.0-9e]", words), f"{item.nodeid} is a number: it needs `ids` in words"
        for argument in item.callspec.params:
            counted = re.search(rf"(^|-){argument}\d+(-|$)", words)
            assert not counted, f"{item.nodeid} needs `ids` in words for `{argument}`"
