"""The comparison of two sites: no difference is missed, and each is shown where it is."""

import pytest
import reproducible


@pytest.fixture
def sites(tmp_path):
    """Two folders in which the same site was made."""
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        pages = folder / "_build" / "html" / "book"
        pages.mkdir(parents=True)
        (folder / "_build" / "companion.pdf").write_bytes(b"%PDF")
        (pages / "a.html").write_text("one\ntwo\nthree")
    return folders


def compare(sites):
    return reproducible.differences(*map(reproducible.made, sites))


def test_equal_sites_have_no_difference(sites):
    assert compare(sites) == []


@pytest.mark.parametrize("which", [0, 1])
def test_a_page_that_only_one_has(sites, which):
    (sites[which] / "_build" / "html" / "b.html").write_text("")
    assert compare(sites) == ["html/b.html: only in one of the two"]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("html/book/a.html", b"one\ntwO\nthree", "line 2, byte 6"),
        ("html/book/a.html", b"one\ntwo\nthree\n", "line 3, byte 13"),
        ("companion.pdf", b"%PDG", "line 1, byte 3"),
    ],
)
def test_the_first_byte_that_differs_is_shown(sites, name, content, place):
    (sites[1] / "_build" / name).write_bytes(content)
    (found,) = compare(sites)
    assert found.startswith(f"{name}: {place}:")
