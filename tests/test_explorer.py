"""The Explorer in a browser: the same numbers as userdp, also as drawn; keys, addresses, refusals.

`book/_static/explorer/maths.mjs` mirrors functions of userdp. Both get the same random collections
and budgets here: rank and threshold must be the same, all else agree to 1e-12. Copies with a
mistake in them must be caught.
"""

import gzip
import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest
from browser import BUILT, ROOT, in_a_browser, on_the_built_pages, served

import userdp as ud
from userdp import plotting

SOURCE = ROOT / "book" / "_static" / "explorer"
SIX_DIGITS = 5.1e-6
CLOSE = 1e-12
SMALL = 1e-9  # km/h; below this, errors of rounding may be as large as the number

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<clip-explorer start="eps=0.5"></clip-explorer>
<a id="try" href="#eps=0.1">try 0.1</a>
<script type="module" src="explorer/explorer.mjs"></script></html>"""

# What the tests ask of the page, in its own language.
ROOT_OF = "document.querySelector('clip-explorer').shadowRoot"
FIND = f"((selector) => {ROOT_OF}.querySelector(selector))"
ALL = f"((selector) => [...{ROOT_OF}.querySelectorAll(selector)])"
READY = f"document.querySelector('clip-explorer').shadowRoot && {FIND}('.words').textContent"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text(PAGE)
    shutil.copytree(SOURCE, folder / "explorer")
    return folder


@pytest.fixture(scope="module")
def site(folder):
    with served(folder) as address:
        yield address + "/index.html"


def visit(page, site, state=""):
    page.open(f"{site}#{state}")
    page.wait_for(READY)


# --- The same numbers -----------------------------------------------------------------------------


def random_collections(number):
    """A heavy tail, ties, equal users, a single user, and the two collections of the paper."""
    rng = np.random.default_rng(20250228)
    yield ud.geometric_collection(M=6, upper=65).counts
    yield ud.extreme_collection(n_users=101, max_count=10, upper=65).counts
    yield np.array([7])
    for i in range(number - 3):
        size = int(rng.integers(1, 60))
        if i % 3 == 0:
            yield rng.integers(1, 5, size)
        elif i % 3 == 1:
            yield np.full(size, rng.integers(1, 1000))
        else:
            yield np.ceil(3 * rng.pareto(0.8, size) + 0.01).clip(1, 10**7).astype(int)


def problems(grid):
    """Collections, each with a stretched-out part of the grid and with budgets at its ties."""
    stride = len(grid) // 6
    for i, counts in enumerate(random_collections(312)):
        k = 1 + i % len(counts)
        # Within the snap around 2/k, and just outside it.
        ties = [2 / k, 2 / k * (1 - 5e-10), 2 / k * (1 + 5e-10), 2 / k * (1 - 2e-9)]
        yield [int(count) for count in counts], [*grid[i % stride :: stride], *ties]


def in_python(counts, eps):
    users = ud.Contributions(counts, upper=65)
    clipping = ud.optimal_clipping(users, eps)
    T = ud.threshold(users, eps)
    felt = ud.threshold(users, eps, "l1")
    exact = [ud.rank(eps), T]
    close = [
        *clipping.lower,
        *clipping.upper,
        ud.optimal_error(users, eps),
        ud.symmetric_error(users, T, eps),
        ud.symmetric_error(users, 100.0, eps, "l1"),
        felt,
        ud.symmetric_error(users, felt, eps, "l1"),  # ud.optimal_error, without a second search
        ud.worst_case_bias(users, clipping),
        ud.worst_case_error(users, ud.Clipping(0 * clipping.lower, 0 * clipping.lower + 65), eps),
        float(ud.akmv_error(users.largest_sums, users, eps)),
        ud.minimax_lower_bound(users, eps),
    ]
    return exact, [float(number) for number in close]


IN_THE_BROWSER = """(async (problems) => {
  const m = await import("./explorer/maths.mjs");
  return problems.map(([counts, budgets]) => {
    const users = m.contributions(counts, 65);
    return budgets.map((eps) => {
      const clipping = m.optimalClipping(users, eps);
      const T = m.threshold(users, eps);
      return [[m.rank(eps), T], [...clipping.lower, ...clipping.upper,
        m.optimalError(users, eps), m.symmetricError(users, T, eps),
        m.symmetricError(users, 100, eps, "l1"), m.threshold(users, eps, "l1"),
        m.optimalError(users, eps, "l1"), m.symmetricBias(users, T),
        m.symmetricError(users, 65 * users.maxCount, eps), m.akmvError(users, eps),
        m.minimaxLowerBound(users, eps)]];
    });
  });
})(%s)"""


@pytest.fixture(scope="module")
def expected(page, site):
    """Problems, and the answers of userdp: worked out once."""
    visit(page, site)
    asked = problems(page.run("import('./explorer/state.mjs').then((state) => state.GRID)"))
    return [
        (counts, budgets, [in_python(counts, eps) for eps in budgets]) for counts, budgets in asked
    ]


def differences(page, expected):
    """Return where the mirror and userdp differ, as pairs of a collection and a budget."""
    asked = json.dumps([(counts, budgets) for counts, budgets, _ in expected])
    found = []
    for (counts, budgets, numbers), answers in zip(
        expected, page.run(IN_THE_BROWSER % asked), strict=True
    ):
        for eps, (same, near), (exact, close) in zip(budgets, numbers, answers, strict=True):
            # Not a number and infinity arrive as null. What is zero may be missed by rounding.
            given = np.array([np.nan if number is None else number for number in close])
            agree = np.abs(given - near) <= CLOSE * np.maximum(near, SMALL)
            if exact != same or not agree.all():
                found.append((counts, eps))
    return found


@in_a_browser
def test_mirror_gives_the_numbers_of_userdp(page, site, expected):
    visit(page, site)
    assert len(expected) >= 300
    assert differences(page, expected) == []


MISTAKES = [
    ("<= SNAP * nearest) return", "< 0) return"),
    ("Math.ceil(quotient)", "Math.floor(quotient)"),
    ("const SNAP = 1e-9", "const SNAP = 1e-8"),
    ("k <= users.nUsers ?", "k < users.nUsers ?"),
    ("users.sorted[k - 1]", "users.sorted[k]"),
    ("totalWidth / (2 * count)", "totalWidth / count"),
    ("Math.max(middle - r, 0)", "middle - r"),
    ("x >= users.nUsers", "x > users.nUsers + 1"),
    ("users.sorted[whole] * (x - whole)", "users.sorted[whole]"),
    ("return surplus / 2 / users.total", "return surplus / users.total"),
    ("above + 2 * bestRatio(above, eps)", "above + bestRatio(above, eps)"),
    ("i ? ends[i - 1] : 0", "0"),
    ("const kappa = (n * eps) / 2", "const kappa = n * eps"),
    ("2 * sensitivity * (tail / eps)", "sensitivity * (tail / eps)"),
    ("expit((-eps * n) / 2) / 2", "0"),
    ("Math.min(rank(eps), L), eps / 4", "Math.min(rank(eps), L), eps / 2"),
    ("lower + width / 2", "lower"),
    ("(2 * meanThreshold) / eps", "meanThreshold / eps"),
]


@in_a_browser
@pytest.mark.parametrize(("old", "new"), MISTAKES)
def test_a_mistake_in_the_mirror_is_noticed(page, folder, expected, old, new):
    assert (SOURCE / "maths.mjs").read_text().count(old) == 1

    def changed(name, text):
        return text.replace(old, new) if name == "maths.mjs" else text

    with served(folder, changed) as address:
        page.open(f"{address}/index.html")
        assert differences(page, expected[:60])


# --- What is shown --------------------------------------------------------------------------------

STATES = [
    ("eps=0.5", ud.geometric_collection(M=6, upper=65), "bound"),
    ("eps=0.1&geometric=3", ud.geometric_collection(M=3, upper=65), "bound"),
    ("eps=2&extreme=101,10", ud.extreme_collection(101, 10, upper=65), "bound"),
    ("eps=0.01&counts=4,1", ud.Contributions([4, 1], upper=65), "bound"),
    ("eps=0.25&counts=2x30,40x5", ud.Contributions([2] * 30 + [40] * 5, upper=65), "bound"),
    ("eps=1&objective=l1", ud.geometric_collection(M=6, upper=65), "l1"),
    ("eps=0.3&counts=9,9,2,1&objective=l1", ud.Contributions([9, 9, 2, 1], upper=65), "l1"),
]
every_state = pytest.mark.parametrize(
    ("state", "users", "objective"), STATES, ids=[state for state, _, _ in STATES]
)


def budget(state):
    return float(re.search(r"eps=([\d.]+)", state).group(1))


def tables(page):
    rows = page.run(
        f"{ALL}('tbody tr').map((row) => [row.querySelector('th').textContent,"
        "...[...row.querySelectorAll('data')].map((cell) => Number(cell.value))])"
    )
    return {row[0]: row[1:] for row in rows}


@in_a_browser
@every_state
def test_tables_hold_the_numbers_of_userdp(page, site, state, users, objective):
    visit(page, site, state)
    eps, shown = budget(state), tables(page)
    best = "OPT-worst-case" if objective == "bound" else "l1 optimum"
    assert shown[best] == pytest.approx([ud.optimal_error(users, eps, objective)], rel=CLOSE)
    everything = ud.Clipping([0] * users.n_users, [65] * users.n_users)
    unclipped = ud.worst_case_error(users, everything, eps, objective)
    assert shown["Laplace"] == pytest.approx([unclipped], rel=CLOSE)
    floor = ud.minimax_lower_bound(users, eps)
    assert shown["impossible below"] == pytest.approx([floor], rel=CLOSE)
    if objective == "bound":
        akmv = float(ud.akmv_error(users.largest_sums, users, eps))
        assert shown["AKMV on all-U data"] == pytest.approx([akmv], rel=CLOSE)
    else:
        width = ud.threshold(users, eps)
        paper = ud.symmetric_error(users, width, eps, "l1")
        assert shown["OPT-worst-case"] == pytest.approx([paper], rel=CLOSE)
    clipping = ud.optimal_clipping(users, eps, objective)
    for count, *ends in zip(users.counts, clipping.lower, clipping.upper, strict=True):
        assert shown[str(count)] == pytest.approx(ends, rel=CLOSE)
    assert page.errors == []


def axis(page, picture, name, logarithmic):
    """Return the function from drawn coordinates to values, read off the axis' own labels."""
    ticks = page.run(
        f"{ALL}('.{picture} .{name}-tick').map((tick) =>"
        f"[Number(tick.getAttribute('{name}')), tick.textContent])"
    )
    shift = 4 if name == "y" else 0  # labels stand that much below their line
    places = np.array([place - shift for place, _ in ticks])
    values = np.array([float(text.replace(",", "")) for _, text in ticks])
    fit = np.polyfit(places, np.log(values) if logarithmic else values, 1)
    return lambda place: np.exp(np.polyval(fit, place)) if logarithmic else np.polyval(fit, place)


def drawn_dot(page, picture, mark):
    return page.run(
        f"(({ALL}('.{picture} {mark}').map((dot) => [dot.cx.baseVal.value, dot.cy.baseVal.value])"
        ".at(0)))"
    )


def dot_misses(page, users, eps, objective):
    """Return how far the dot is drawn from the minimum, as shares of its picture."""
    x, y = drawn_dot(page, "objective", ".dot")
    width = axis(page, "objective", "x", logarithmic=False)(x)
    error = axis(page, "objective", "y", logarithmic=False)(y)
    best = ud.threshold(users, eps, objective)
    scale = 2 * (best or 65 * users.counts.min())
    least = ud.optimal_error(users, eps, objective)
    return max(abs(width - best) / scale, abs(error - least) / 65)


@in_a_browser
@every_state
def test_dot_is_drawn_at_the_threshold(page, site, state, users, objective):
    visit(page, site, state)
    assert dot_misses(page, users, budget(state), objective) < 1e-3


@in_a_browser
def test_a_dot_drawn_elsewhere_is_noticed(page, folder):
    def changed(name, text):
        return text.replace("const dot = [x(width)", "const dot = [1.02 * x(width)")

    state, users, objective = STATES[0]
    with served(folder, changed) as address:
        visit(page, f"{address}/index.html", state)
        assert dot_misses(page, users, budget(state), objective) > 5e-3


@in_a_browser
@every_state
def test_intervals_and_errors_are_drawn_where_they_are(page, site, state, users, objective):
    visit(page, site, state)
    eps = budget(state)
    value = axis(page, "intervals", "y", logarithmic=False)
    clipping = ud.optimal_clipping(users, eps, objective)
    ends = {
        int(count): (lower, upper)
        for count, lower, upper in zip(users.counts, clipping.lower, clipping.upper, strict=True)
    }
    bars = page.run(f"{ALL}('.size').map((bar) => [bar.dataset.count, bar.getAttribute('d')])")
    assert {int(count) for count, _ in bars} == set(ends)
    for count, path in bars:
        _, top, _, bottom = map(float, re.findall(r"[\d.]+", path))
        assert (value(bottom), value(top)) == pytest.approx(ends[int(count)], abs=0.05)
    x, y = drawn_dot(page, "errors", ".mark")
    # Labels of a logarithmic axis are exact, its lines are drawn to a hundredth.
    assert axis(page, "errors", "x", logarithmic=True)(x) == pytest.approx(eps, rel=2e-3)
    best = ud.optimal_error(users, eps, objective)
    assert axis(page, "errors", "y", logarithmic=True)(y) == pytest.approx(best, rel=2e-3)


@in_a_browser
@every_state
def test_words_say_the_numbers(page, site, state, users, objective):
    visit(page, site, state)
    eps, words = budget(state), page.run(f"{FIND}('.words').textContent")
    assert f"ε = {eps:g}" in words
    best = ud.optimal_error(users, eps, objective)
    assert f"error is {best:.2f}".rstrip("0").rstrip(".") in words
    if objective == "bound":
        T = ud.threshold(users, eps)
        assert f"⌈2/ε⌉ = {ud.rank(eps)}" in words
        assert f"T = {T:,.10g}" in words.replace("T = 0.", "T = 0 ")
        assert ("Nobody is clipped" in words) == (users.max_count * 65 <= T)


def test_colours_are_those_of_the_books_figures():
    style = (SOURCE / "style.mjs").read_text()
    names = {"opt": "OPT-worst-case", "akmv": "AKMV", "laplace": "Laplace", "l1": "l1 optimum"}
    for name, mechanism in names.items():
        red, green, blue = (round(255 * part) for part in plotting.LOOKS[mechanism]["color"])
        assert f"--{name}: #{red:02x}{green:02x}{blue:02x}" in style


# --- Setting it -----------------------------------------------------------------------------------


def focus(page, control):
    page.run(f"{FIND}('#{control}').focus()")


def typed(page, control, text):
    """Replace what stands in a control, as pasting does."""
    page.run(f"{FIND}('#{control}').select()")
    page.send("Input.insertText", text=text)


def shown_eps(page):
    return float(page.run(f"{FIND}('#eps').value"))


@in_a_browser
def test_keys_move_the_slider_and_all_with_it(page, site):
    visit(page, site, "eps=0.5")
    grid = page.run("import('./explorer/state.mjs').then((state) => state.GRID)")
    users, place = STATES[0][1], grid.index(0.5)
    focus(page, "slider")
    for key, step in [*[("ArrowRight", 1)] * 4, *[("ArrowLeft", -1)] * 9]:
        page.press(key)
        place += step
        eps = grid[place]
        assert shown_eps(page) == eps
        assert page.run(f"{FIND}('#slider').getAttribute('aria-valuetext')") == f"ε = {eps:g}"
        assert tables(page)["OPT-worst-case"] == pytest.approx(
            [ud.optimal_error(users, eps)], rel=CLOSE
        )
        assert dot_misses(page, users, eps, "bound") < 1e-3
    page.press("Home")
    assert shown_eps(page) == grid[0] == 0.01
    page.press("End")
    assert shown_eps(page) == grid[-1] == 10
    page.wait_for("location.hash === '#eps=10&geometric=6'")


@in_a_browser
def test_typing_moves_everything_and_is_rounded_to_four_digits(page, site):
    visit(page, site)
    focus(page, "eps")
    page.run(f"{FIND}('#eps').select()")
    for key in "0.123456":
        page.press(key)
    page.press("Tab")
    assert shown_eps(page) == 0.1235
    assert "ε = 0.1235" in page.run(f"{FIND}('.words').textContent")
    page.wait_for("location.hash === '#eps=0.1235&geometric=6'")


@in_a_browser
def test_state_is_in_the_address_and_comes_back_from_it(page, site):
    visit(page, site, "eps=0.3&counts=40x5,10&objective=l1")
    words = page.run(f"{FIND}('.words').textContent")
    values = page.run(f"['eps', 'kind', 'counts', 'objective'].map((id) => {FIND}('#' + id).value)")
    assert values == ["0.3", "counts", "40x5,10", "l1"]
    page.run("document.querySelector('#try').click()")
    page.wait_for("location.hash === '#eps=0.1&counts=40x5,10&objective=l1'")
    assert shown_eps(page) == 0.1
    address = page.run("location.href")
    page.run("history.back()")
    page.wait_for(f"{FIND}('#eps').value === '0.3'")
    assert page.run(f"{FIND}('.words').textContent") == words
    page.open(address)
    page.wait_for(READY)
    assert shown_eps(page) == 0.1


@in_a_browser
def test_fragments_of_other_kinds_are_left_alone(page, site):
    visit(page, site, "eps=0.3")
    page.run("location.hash = 'some-section'")
    page.run("new Promise((done) => setTimeout(done, 400))")
    assert page.run("location.hash") == "#some-section"
    assert shown_eps(page) == 0.3


@in_a_browser
def test_choosing_another_collection_shows_its_fields(page, site):
    visit(page, site)
    for kind, counts in (
        ("extreme", ud.extreme_collection(101, 10, upper=65).counts),
        ("counts", np.repeat([40, 10, 2], [5, 50, 500])),
        ("geometric", ud.geometric_collection(6, upper=65).counts),
    ):
        page.run(
            f"{FIND}('#kind').value = '{kind}';"
            f"{FIND}('#kind').dispatchEvent(new Event('input', {{ bubbles: true }}))"
        )
        hidden = page.run(
            f"{ALL}('[data-kind]').map((field) => [field.dataset.kind, field.hidden])"
        )
        assert all(is_hidden == (name != kind) for name, is_hidden in hidden)
        error = ud.optimal_error(ud.Contributions(counts, upper=65), 0.5)
        assert tables(page)["OPT-worst-case"] == pytest.approx([error], rel=CLOSE)


@in_a_browser
def test_curves_are_those_of_the_new_users(page, site):
    visit(page, site, "geometric=6")
    page.run("location.hash = 'counts=9,9,2,1'")
    page.wait_for(f"{FIND}('#kind').value === 'counts'")
    users = ud.Contributions([9, 9, 2, 1], upper=65)
    path = page.run(f"{FIND}('.errors .opt.curve').getAttribute('d')")
    places = np.array([point.split() for point in path[1:].split("L")], dtype=float)
    budgets = axis(page, "errors", "x", logarithmic=True)(places[:, 0])
    errors = axis(page, "errors", "y", logarithmic=True)(places[:, 1])
    expected = [ud.optimal_error(users, float(eps)) for eps in budgets]
    assert errors == pytest.approx(expected, rel=2e-3)


@in_a_browser
def test_dragging_in_the_errors_sets_the_budget(page, site):
    visit(page, site)
    page.run(f"{FIND}('.errors').scrollIntoView()")
    box = page.run(f"{FIND}('.errors svg').getBoundingClientRect().toJSON()")
    mark, _ = drawn_dot(page, "errors", ".mark")
    mouse = {"y": box["top"] + 50, "button": "left", "buttons": 1}
    x = box["left"] + box["width"] * mark / 380
    page.send("Input.dispatchMouseEvent", type="mousePressed", x=x, **mouse)
    assert shown_eps(page) == 0.5
    page.send("Input.dispatchMouseEvent", type="mouseMoved", x=box["left"], **mouse)
    assert shown_eps(page) == 0.01
    page.send("Input.dispatchMouseEvent", type="mouseReleased", x=box["left"], **mouse)


@in_a_browser
@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        ("forty, ten", "“forty” is no number of samples"),
        ("3, 0, 1", "“0”: a user has at least one sample"),
        ("2.5", "“2.5” is no number"),
        ("-4", "“-4” is no number"),
        ("1e3", "“1e3” is no number"),
        ("10x", "“10x” is no number"),
        ("5x0", "“5x0”: a user has at least one sample"),
        ("99999999999", "at most 1,000,000,000 samples"),
        ("1x20000", "At most 10,000 users"),
        (" ,; ", "Write at least one number"),
        ("<img src=x>", "“<img” is no number"),
    ],
)
def test_pasted_garbage_is_refused_with_a_reason(page, site, garbage, reason):
    visit(page, site, "counts=4,1")
    before = page.run(f"{FIND}('.pictures').innerHTML")
    typed(page, "counts", garbage)
    assert reason in page.run(f"{FIND}('.refusal').textContent")
    assert page.run(f"{FIND}('#counts').getAttribute('aria-invalid')") == "true"
    assert page.run(f"{FIND}('#counts').value") == garbage
    assert page.run(f"{FIND}('.pictures').innerHTML") == before
    # Moving the slider is no excuse for it.
    focus(page, "slider")
    page.press("ArrowRight")
    assert reason in page.run(f"{FIND}('.refusal').textContent")
    typed(page, "counts", "4\n2\t1")
    assert page.run(f"{FIND}('.refusal').textContent") == ""
    assert page.run(f"{FIND}('#counts').getAttribute('aria-invalid')") == "false"
    assert set(tables(page)) >= {"4", "2", "1"}


@in_a_browser
@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("eps=banana", "ε must be a number from 0.01 to 10, not “banana”"),
        ("eps=-1", "not “-1”"),
        ("eps=1e9", "not “1e9”"),
        ("eps=", "ε must be a number"),
        ("geometric=11", "M must be a whole number from 0 to 10, not “11”"),
        ("extreme=10", "m* must be a whole number"),
        ("extreme=10,2,3", "m* must be a whole number from 1 to 1,000,000,000, not “2,3”"),
        ("extreme=0,1", "The number of users L must be a whole number from 1"),
        ("counts=<img src=x onerror=alert(1)>", "“<img” is no number of samples"),
        ("objective=fun", "must be “bound” or “l1”"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused_with_a_reason(page, site, address, reason):
    visit(page, site, address)
    assert reason in page.run(f"{FIND}('.refusal').textContent")
    assert "ε = 0.5" in page.run(f"{FIND}('.words').textContent")
    assert page.run(f"{ALL}('img').length") == 0


@in_a_browser
def test_every_control_has_a_name(page, site):
    visit(page, site)
    names = page.run(
        f"{ALL}('input, select, textarea').map((control) =>"
        "control.getAttribute('aria-label') ?? control.labels[0]?.textContent)"
    )
    assert len(names) == 8
    assert all(names)


@in_a_browser
@pytest.mark.parametrize("width", [390, 1400])
def test_page_does_not_scroll_sideways(page, site, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    for state, _, _ in STATES:
        visit(page, site, state)
        page.send("Emulation.setDeviceMetricsOverride", **size)
        assert page.run("innerWidth") == width
        assert page.run("document.documentElement.scrollWidth") <= width


# --- On its pages ---------------------------------------------------------------------------------


def test_the_scripts_are_small():
    size = sum(len(gzip.compress(file.read_bytes())) for file in SOURCE.iterdir())
    print(f"The Explorer's scripts: {size} bytes, compressed.")
    assert size < 20_000
    assert {file.suffix for file in SOURCE.iterdir()} == {".mjs"}  # .js would load on every page


@in_a_browser
@on_the_built_pages
def test_figure_gives_way_to_the_explorer_and_returns_in_print(page, book):
    figure = "document.querySelector('clip-explorer img').getBoundingClientRect().height"
    visit(page, f"{book}/book/explorer.html")
    assert page.run(figure) == 0
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.run(figure) > 100
    assert page.run(f"{FIND}('.live').getBoundingClientRect().height") == 0


@in_a_browser
@on_the_built_pages
def test_figure_stays_where_scripts_do_not_load(page):
    page.open((BUILT / "book" / "explorer.html").as_uri())
    assert page.run("document.querySelector('clip-explorer').shadowRoot") is None
    assert page.run("document.querySelector('clip-explorer img').clientHeight") > 100


@in_a_browser
@on_the_built_pages
@pytest.mark.parametrize("name", ["optimum", "figure-1", "akmv"])
def test_small_instances_move_together_and_lead_to_the_explorer(page, book, name):
    page.open(f"{book}/book/{name}.html#eps=0.3")
    page.wait_for(f"{ROOT_OF} && {FIND}('svg') !== null")
    instances = "[...document.querySelectorAll('clip-explorer')].map((e) => e.shadowRoot)"
    values = page.run(f"{instances}.map((root) => root.querySelector('#eps').value)")
    assert set(values) == {"0.3"}
    focus(page, "slider")
    page.press("ArrowRight")
    places = page.run(f"{instances}.map((root) => root.querySelector('#slider').value)")
    assert len(set(places)) == 1
    link = page.run(f"{FIND}('.more a').href")
    assert link == f"{book}/book/explorer.html#eps={shown_eps(page):g}&geometric=6"


@on_the_built_pages
def test_other_pages_do_not_load_the_explorer():
    loading = {
        path.stem
        for path in (BUILT / "book").glob("*.html")
        if "explorer.mjs"
        in re.sub(r"(?s)<(?:a|code|pre)\b.*?</(?:a|code|pre)>", "", path.read_text())
    }
    assert loading == {"explorer", "optimum", "figure-1", "akmv"}


def saved(name):
    return pd.read_csv(ROOT / "book" / "data" / f"{name}.csv")


def test_saved_numbers_of_the_figure():
    users, eps = STATES[0][1], 0.5
    errors = saved("explorer").set_index("eps")
    for x, row in errors.iterrows():
        akmv = float(ud.akmv_error(users.largest_sums, users, x))
        laplace = 65 * users.max_count / (users.total * x)
        expected = [ud.optimal_error(users, x), akmv, laplace, ud.minimax_lower_bound(users, x)]
        assert list(row) == pytest.approx(expected, rel=SIX_DIGITS)
    parts = saved("explorer-width")
    for width, bias, noise, error in parts.itertuples(index=False):
        clipping = ud.centred_clipping(users, width)
        expected = [ud.worst_case_bias(users, clipping), width / eps / users.total]
        assert [bias, noise] == pytest.approx(expected, rel=SIX_DIGITS)
        assert error == pytest.approx(sum(expected), rel=SIX_DIGITS)
    clipping = ud.optimal_clipping(users, eps)
    rows = {*zip(users.counts, clipping.lower, clipping.upper, strict=True)}
    assert {*saved("explorer-intervals").itertuples(index=False, name=None)} == rows
