"""Each page runs without an error if a reader changes its settings.

Settings are in cells whose only tag is `settings`, so that they are not folded. Each page with such
cells is executed with the changes below, in a folder that holds only the data files that the page
names, and every picture is drawn.
"""

import re
import shutil

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from tools.ext.contents import BOOK, page, pages

EDITS = {
    "index": {
        "another eps": {"eps=0.25": "eps=0.6"},
        "one user more": {"[40, 10, 2], [5, 50, 500]": "[40, 10, 2, 1], [5, 50, 500, 1]"},
    },
    "setup": {
        "one user more": {"[18.0]]": "[18.0], [44.0, 12.5]]"},
        "one user": {", [52.0, 47.0], [18.0]]": "]"},
        "another range": {"U = 65": "U = 90"},
    },
    "aircraft": {
        "another eps": {"eps, small = 0.5, 0.1": "eps, small = 0.8, 0.2"},
        "fewer repeats": {"20250713, 1_000": "20250713, 50"},
        "other guesses": {"cap = 365": "cap = 200", "c = 400": "c = 350", "r = 150": "r = 200"},
        "another range": {"upper = 0, 800": "upper = 0, 900"},
    },
    "kkt": {
        "another eps": {"Fraction(4, 5)": "Fraction(2, 3)"},
        "one user more": {"[4, 2, 1]": "[4, 2, 2, 1]"},
    },
    "akmv": {
        "fewer users": {"M=6": "M=4"},
        "fewer budgets": {"[0.1, 0.25, 0.5, 1, 2, 4, 8, 20]": "[0.05, 0.5, 3]"},
    },
    "experiments": {
        "one user more": {"n_users=101": "n_users=102"},
        "fewer users": {"M=6": "M=4"},
    },
    "figure-1": {
        "eight budgets": {"2, 25)": "2, 8)"},
        "one user more": {"n_users=101": "n_users=102"},
        "fewer trials": {"10_000": "100"},
        "beyond two": {"0.1, 2, 25": "0.1, 4, 25"},
        "another collection": {
            '"extreme": ud.extreme_collection(n_users=101, max_count=10, upper=U)': (
                '"mine": ud.Contributions([9, 4, 4, 1], upper=U)'
            )
        },
        "one collection": {'"geometric": ud.geometric_collection(M=6, upper=U),\n': ""},
    },
    "figure-2": {
        "eight budgets": {"2, 25)": "2, 8)"},
        "three budgets": {"2, 25)": "2, 3)"},
        "fewer trials": {"10_000": "100"},
        "fewer users": {"M=6": "M=3", "10_000": "1_000"},
        "beyond two": {"0.1, 2, 25": "0.1, 4, 9", "10_000": "1_000"},
    },
    "figure-3": {
        "eight budgets": {"2, 25)": "2, 8)"},
        "three budgets": {"2, 25)": "2, 3)"},
        "fewer trials": {"10_000": "100"},
        "one user more": {"n_users=101": "n_users=102", "10_000": "1_000"},
        "below two": {"0.1, 2, 25": "0.1, 1.5, 9", "10_000": "1_000"},
        "from two": {"0.1, 2, 25": "2, 4, 9", "10_000": "1_000"},
        "another range": {"U = 65": "U = 64.3", "2, 25": "2, 5", "10_000": "1_000"},
    },
    "robustness": {
        "another range, fewer trials": {"65, 100,": "90, 60,"},
        "one user more": {"np.full(127, 4)": "np.full(128, 4)", "65, 100,": "65, 60,"},
    },
    "frontier": {
        "another eps": {"upper=65), 0.5": "upper=65), 1.7", "0.8": "1.1"},
        "fewer users": {"M=6": "M=3", "[4, 2, 1]": "[4, 2]"},
    },
    "variance": {
        "another eps": {"1.5": "1.2"},
        "one user more": {"n_users=101": "n_users=102"},
        "fewer users": {"M=6": "M=3"},
    },
    "felt-error": {
        "one user more": {"n_users=101": "n_users=102"},
        "fewer users": {"M=6": "M=3"},
    },
    "less-noise": {
        "another delta": {"1e-6": "1e-3"},
        "one user more": {"n_users=101": "n_users=102"},
    },
    "average": {
        "another eps": {"[0.25, 0.5, 1, 1.5, 2, 3], 1": "[0.2, 0.7, 2], 0.7", "1000,": "100,"},
        "one user more": {"collection(101": "collection(102", "1000,": "100,"},
        "fewer trials": {"65, 1000,": "65, 50,"},
        "another eps and fewer datasets, in the comparison of eleven mechanisms": {
            "eps, delta = 20250301, 300, 0.5": "eps, delta = 20250301, 100, 0.8",
            "65, 1000,": "65, 50,",
        },
    },
    "centre": {
        "one user more": {"n_users=101": "n_users=102"},
        "fewer trials": {"65, 1000": "65, 50"},
        "another range": {"65, 1000": "64.3, 100"},
        "another eps": {"-20, 45, 1": "-20, 45, 0.3", "65, 1000": "65, 100"},
        "other users": {
            "ud.geometric_collection(M=6, upper=1).counts": "np.arange(1, 30)",
            "65, 1000": "65, 100",
        },
    },
    "federated": {
        "fewer splits": {"20250240, 10, 20": "20250240, 2, 20"},
        "fewer rounds": {"20250240, 10, 20": "20250240, 2, 5"},
    },
    "at-scale": {
        "another eps": {"65, 0.3": "65, 0.7"},
        "fewer users": {"20_000": "500"},
    },
    "libraries": {
        "another eps, fewer users": {"U, eps = 65, 0.5": "U, eps = 65, 0.9", "M=6": "M=4"},
    },
    "trust": {
        "another eps and range": {"eps=1": "eps=0.3", "upper=10": "upper=40"},
        "one user more": {"[4, 2, 1]": "[4, 2, 2, 1]", "7.0, 3.0": "7.0, 5.0, 3.0"},
    },
}
CASES = [(name, edit) for name, edits in EDITS.items() for edit in edits]


def code_cells(name):
    return [cell for cell in page(name).cells if cell.cell_type == "code"]


def settings_of(name):
    return [c for c in code_cells(name) if "settings" in c.metadata.get("tags", [])]


def draw_and_close():
    """Draw all figures, as a page does when a reader executes it."""
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


def test_every_page_with_settings_is_listed_here_and_shows_them():
    assert {name for name in pages() if settings_of(name)} == {*EDITS}
    for cell in (cell for name in EDITS for cell in settings_of(name)):
        assert cell.metadata.tags == ["settings"], (
            "a settings cell must have no other tag, such as one that hides its code"
        )


def copy_data_of(name, folder):
    """Copy the data that a page's code names: other pages or scripts may have written them."""
    code = "\n".join(cell.source for cell in code_cells(name))
    (folder / "data" / "floors").mkdir(parents=True)
    for name_of_file in re.findall(r"[\w-]+\.(?:csv|jsonl)", code):
        for file in (BOOK / "data").rglob(name_of_file):
            shutil.copy(file, folder / file.relative_to(BOOK))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "edit"), CASES, ids=[f"{name}, {edit}" for name, edit in CASES])
def test_a_page_runs_with_other_settings(name, edit, tmp_path, monkeypatch):
    source = {cell.id: cell.source for cell in code_cells(name)}
    copy_data_of(name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", draw_and_close)
    for old, new in EDITS[name][edit].items():
        (changed,) = [cell.id for cell in settings_of(name) if old in source[cell.id]]
        source[changed] = source[changed].replace(old, new)
    scope = {"__name__": "__main__"}
    with mpl.rc_context():
        for cell, code in source.items():
            exec(compile(code, f"{name}.ipynb, cell {cell}", "exec"), scope)
