"""Statements are followed backwards to what a value is computed from, on made-up pages."""

import dataflow
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook


def leading(*sources):
    """The lines that the last one depends on, without itself; each source is a cell."""
    made = [new_markdown_cell("Words."), *map(new_code_cell, sources)]
    every = dataflow.steps(new_notebook(cells=made))
    found = dataflow.leading_to(len(every) - 1, every)
    assert found[-1] is every[-1]
    return [dataflow.ast.unparse(step.node).split("\n")[0] for step in found[:-1]]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("a = 1\nb = 2\nuse(a)", ["a = 1"]),
        ("a = 1\na = 2\nuse(a)", ["a = 2"]),
        ("a = 1\na = a + 1\nuse(a)", ["a = 1", "a = a + 1"]),
        ("a = 1\na += 1\nuse(a)", ["a = 1", "a += 1"]),
        ("a, b = 1, 2\nc = b\nuse(c)", ["a, b = (1, 2)", "c = b"]),
        ("a = {}\na['x'] = 1\nuse(a)", ["a = {}", "a['x'] = 1"]),
        ("a = f()\na.x.y = 1\nuse(a)", ["a = f()", "a.x.y = 1"]),
        ("a = []\na.append(1)\nb = []\nb.append(2)\nuse(a)", ["a = []", "a.append(1)"]),
        ("import numpy as np\nnp.testing.check(1)\nuse(np.pi)", ["import numpy as np"]),
        ("from x import y as z, w\nuse(z)", ["from x import y as z, w"]),
        # A loop's own names hide those before it; what it adds to does not.
        ("i = 1\nfor i in g: a.append(i)\nuse(i)", ["for i in g:"]),
        ("a = []\nfor i in g: a.append(i)\nuse(a)", ["a = []", "for i in g:"]),
        ("x = 1\nfor i in g:\n    x = i\n    y = x\nuse(y)", ["for i in g:"]),
        ("x = 1\nfor i in g:\n    y = x\n    x = i\nuse(y)", ["x = 1", "for i in g:"]),
        ("x = 1\nif c:\n    x = 2\nuse(x)", ["x = 1", "if c:"]),
        ("f = 1\nwith open(p) as f:\n    a = f.read()\nuse(a)", ["with open(p) as f:"]),
        ("x = 1\ntry:\n    y = f()\nexcept E:\n    y = x\nuse(y)", ["x = 1", "try:"]),
        # Names in an inner scope are not the page's.
        ("x = 1\na = [x for x in g]\nuse(a)", ["a = [x for x in g]"]),
        ("x = 1\na = {x: y for x in g for y in x}\nuse(a)", ["a = {x: y for x in g for y in x}"]),
        ("x = 1\na = [x + y for y in g]\nuse(a)", ["x = 1", "a = [x + y for y in g]"]),
        ("x = 1\na = [x for x in g]\nuse(x)", ["x = 1"]),
        ("x = 1\nh = lambda x: x\nuse(h)", ["h = lambda x: x"]),
        ("x = 1\nh = lambda x=x: x\nuse(h)", ["x = 1", "h = lambda x=x: x"]),
        (
            "x = y = 1\ndef h(x, *, z=y):\n    w = x\n    return w\nuse(h)",
            ["x = y = 1", "def h(x, *, z=y):"],
        ),
        ("x = 1\ndef h():\n    x = 2\n    return x\nuse(h)", ["def h():"]),
        # What a function looks up when it is called may be bound after it.
        ("def h():\n    return k\nk = 1\nuse(h())", ["def h():", "k = 1"]),
        ("h = lambda: k\nk = 1\nuse(h())", ["h = lambda: k", "k = 1"]),
        # Whoever draws from a generator is no part of what else it leads to.
        (
            "rng = make(1)\nx = rng.random()\ny = rng.random()\nuse(y)",
            ["rng = make(1)", "y = rng.random()"],
        ),
    ],
)
def test_what_leads_to_a_value(page, expected):
    assert leading(page) == expected


def test_cells_are_followed_as_one_program():
    assert leading("a = 1", "b = 2\nc = a", "use(c)") == ["a = 1", "c = a"]
