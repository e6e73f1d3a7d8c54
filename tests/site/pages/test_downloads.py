"""Chapters from the download button: notebooks that can be read without the book."""

import re

import nbformat
import pytest
from browser import BUILT, CHAPTERS, on_the_built_pages

from tools.ext.contents import BOOK, page, parts

pytestmark = on_the_built_pages
NOTEBOOKS = [
    name for name in (x.rpartition("/")[2] for x in CHAPTERS) if (BOOK / f"{name}.ipynb").exists()
]
NUMBERED = [name for part in list(parts().values())[:3] for name in part if name != "index"]


def prose(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


@pytest.fixture
def download(request):
    return nbformat.read(BUILT / "_sources" / "book" / f"{request.param}.ipynb", as_version=4)


every_download = pytest.mark.parametrize(
    ("download", "name"), [(name, name) for name in NOTEBOOKS], ids=NOTEBOOKS, indirect=["download"]
)


@every_download
def test_headings_have_the_numbers_of_the_book(download, name):
    heads = re.findall(r"^#+ .*", "\n\n".join(prose(download)), re.M)
    numbers = [re.findall(r"^#+ ([\d.]+) ", head) for head in heads if head != "## References"]
    if name in NUMBERED:
        assert numbers[0] == [str(NUMBERED.index(name) + 1)]
        assert all(number and number[0].split(".")[0] == numbers[0][0] for number in numbers)
    else:
        assert not any(numbers)


@every_download
def test_cited_works_are_listed_at_the_end(download, name):
    stored = "\n".join(prose(page(name)))
    keys = {key for keys in re.findall(r"\{cite:\w+\}`([^`]+)`", stored) for key in keys.split(",")}
    listed = [line for line in prose(download)[-1].splitlines() if line.startswith("- ")]
    assert prose(download)[-1].startswith("## References") == bool(keys)
    assert not keys or len(listed) == len(keys)


@every_download
def test_the_code_does_not_need_the_tools_of_the_book(download, name):
    code = [cell.source for cell in download.cells if cell.cell_type == "code"]
    assert not [source for source in code if "myst_nb" in source]


def test_a_link_without_an_address_names_its_page():
    copy = nbformat.read(BUILT / "_sources" / "book" / "setup.ipynb", as_version=4)
    text = "\n".join(prose(copy))
    assert re.search(r"`release` \(see \*A private mean of your table\*\)|`release`\]\(http", text)
