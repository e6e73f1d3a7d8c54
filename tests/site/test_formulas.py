"""Formulas as typeset by the build, which fails if MathJax or its fonts do not support them."""

import pytest
from sphinx.errors import ExtensionError

from tools.ext.formulas import typeset, used_characters


def test_a_formula_has_glyphs_and_text_for_screen_readers():
    html = typeset(r"m_\ell\le\mathbb{R}", display=False)
    glyphs, mathml = html.split("<mjx-assistive-mml")
    assert 'aria-hidden="true"' in glyphs
    assert "<mi>m</mi>" in mathml
    assert "<mi>\u2113</mi>" in mathml
    assert "data-" not in html
    assert "≤" in used_characters["N"]
    assert "\u211d" in used_characters["DS"]


LINES = {
    r"U=65": "U = 65",
    r"m_\ell\le m^\star": "m_\u2113 ≤ m^⋆",
    r"\lceil2/\varepsilon\rceil": "⌈2/ε⌉",
    r"\frac{U}{2N}H(x)<1": "U/2NH(x) &lt; 1",
}


@pytest.mark.parametrize(("tex", "text"), LINES.items(), ids=["equal", "indices", "rank", "error"])
def test_a_formula_has_its_text_on_one_line_for_searches(tex, text):
    assert f'aria-hidden="true">{text}</span></mjx-container>' in typeset(tex, display=False)


@pytest.mark.parametrize("tex", [r"\unknown x", r"\frac{1", r"x_", "ж"])
def test_unsupported_tex_fails_the_build(tex):
    with pytest.raises(ExtensionError, match=r"does not understand|lack"):
        typeset(tex, display=True)


@pytest.mark.parametrize(
    "tex", [r"\widehat{abcd}", r"\overbrace{x+y}", r"\mathcal{M}\mathfrak{g}", r"\xrightarrow{n}"]
)
def test_glyphs_outside_the_basic_font_are_available(tex):
    assert "<mjx-utext" not in typeset(tex, display=True)
