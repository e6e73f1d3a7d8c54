"""The Explorer in a browser: its numbers are those of userdp, also as drawn; keyboard, refusals.

`book/_scripts/live/maths.js` mirrors functions of userdp. Both are given the same random
collections and budgets: rank and threshold must be equal, all other results agree to 1e-12.
"""

import re
import shutil

import numpy as np
import plotting
import pytest
from browser import AXE, BUILT, ROOT, serve
from matplotlib.colors import to_hex
from playwright.sync_api import expect
from strategies import EXTREME, GEOMETRIC

import userdp as ud
from tools.ext.webpages import LIVE
from userdp import beyond

SOURCE = ROOT / "book" / "_scripts" / "live"
CLOSE = 1e-12
SMALL = 1e-9  # km/h; below this, errors of rounding may be as large as the number

GRID = "clip.entries.GRID"

# Locators also search the Explorer's shadow tree.
LOADED = "".join(
    f'<script defer src="live/{name}.js"></script>' for name in LIVE["clip-explorer"].split()
)
PAGE = f"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Explorer</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<clip-explorer start="eps=0.5"></clip-explorer>
<a id="try" href="#eps=0.1">try 0.1</a>
{LOADED}</html>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "index.html").write_text(PAGE)
    shutil.copytree(SOURCE, folder / "live")
    with serve(folder) as address:
        yield address + "/index.html"


def problems(grid):
    """Yield collections with budgets: the paper's, one user, ties, equal users, heavy tails."""
    rng = np.random.default_rng(20250228)
    collections = [GEOMETRIC.counts, EXTREME.counts, np.array([7])]
    for size in rng.integers(1, 60, 103):
        collections += [rng.integers(1, 5, size), np.full(size, rng.integers(1, 1000))]
        collections += [np.ceil(3 * rng.pareto(0.8, size) + 0.01).clip(1, 10**7).astype(int)]
    for counts in collections:
        tie = 2 / rng.integers(
            1, counts.size + 1
        )  # within the tolerance around it, and just outside
        ties = tie * np.array([1, 1 - 5e-10, 1 + 5e-10, 1 - 2e-9])
        yield counts.tolist(), [*rng.choice(grid, 3).tolist(), *ties.tolist()]


def in_python(counts, eps):
    users = ud.Contributions(counts, upper=65)
    clipping, T = ud.optimal_clipping(users, eps), ud.threshold(users, eps)
    l1_width = beyond.threshold(users, eps, "l1")
    widths = [(T, "bound"), (100.0, "l1"), (l1_width, "l1"), (65.0 * users.max_count, "bound")]
    close = [*clipping.lower, *clipping.upper, ud.optimal_error(users, eps), l1_width]
    close += [beyond.symmetric_error(users, width, eps, objective) for width, objective in widths]
    close += [ud.worst_case_bias(users, clipping), beyond.minimax_lower_bound(users, eps)]
    close += [ud.akmv_error(users.largest_sums, users, eps)]
    return [ud.rank(eps), T], [float(number) for number in close]


IN_THE_BROWSER = """(problems) => {
  const m = clip.maths;
  return problems.map(([counts, budgets]) => {
    const users = m.contributions(counts, 65);
    return budgets.map((eps) => {
      const clipping = m.optimalClipping(users, eps);
      const T = m.threshold(users, eps);
      return [[m.rank(eps), T], [...clipping.lower, ...clipping.upper,
        m.optimalError(users, eps), m.threshold(users, eps, "l1"),
        m.symmetricError(users, T, eps), m.symmetricError(users, 100, eps, "l1"),
        m.optimalError(users, eps, "l1"), m.symmetricError(users, 65 * users.maxCount, eps),
        m.symmetricBias(users, T), m.minimaxLowerBound(users, eps), m.akmvError(users, eps)]];
    });
  });
}"""


def test_the_scripts_give_the_numbers_of_userdp(page, site):
    page.goto(site)
    cases = list(problems(page.evaluate(GRID)))
    results = page.evaluate(IN_THE_BROWSER, cases)
    for (counts, budgets), numbers in zip(cases, results, strict=True):
        for eps, (exact_in_browser, close_in_browser) in zip(budgets, numbers, strict=True):
            exact, close = in_python(counts, eps)
            assert exact == exact_in_browser, (counts, eps)
            # Zeros may be off by rounding.
            agree = np.abs(np.subtract(close, close_in_browser)) <= CLOSE * np.maximum(
                close_in_browser, SMALL
            )
            assert agree.all(), (counts, eps)


STATES = {
    "eps=0.5": GEOMETRIC,
    "eps=0.1&geometric=3": ud.geometric_collection(M=3, upper=65),
    "eps=2&extreme=101,10": EXTREME,
    "eps=0.25&counts=2x30,40x5": ud.Contributions([2] * 30 + [40] * 5, upper=65),
    "eps=0.3&counts=9,9,2,1&objective=l1": ud.Contributions([9, 9, 2, 1], upper=65),
}


def check_tables(page, users, eps, objective):
    rows = page.locator("tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [row.querySelector('th').textContent,"
        "[...row.querySelectorAll('data')].map((cell) => Number(cell.value))])"
    )
    widths = {"Laplace": users.upper * users.max_count, "OPT-worst-case": ud.threshold(users, eps)}
    widths |= {"l1 optimum": beyond.threshold(users, eps, "l1")} if objective == "l1" else {}
    errors = [beyond.symmetric_error(users, width, eps, objective) for width in widths.values()]
    expected = {name: [error] for name, error in zip(widths, errors, strict=True)}
    expected["lower bound"] = [beyond.minimax_lower_bound(users, eps)]
    if objective == "bound":
        expected["AKMV on all-U data"] = [ud.akmv_error(users.largest_sums, users, eps)]
    clipping = beyond.optimal_clipping(users, eps, objective)
    for count, *ends in zip(users.counts, clipping.lower, clipping.upper, strict=True):
        expected[str(count)] = ends
    shown = {name: numbers for name, numbers in rows if name in expected}
    assert shown == {name: pytest.approx(x, rel=CLOSE) for name, x in expected.items()}


def value(page, picture, name, position):
    """Return the values of drawn coordinates, by the labels of the axis."""
    ticks = page.locator(f".{picture} .{name}-tick").evaluate_all(
        f"(all) => all.map((tick) => [tick.getAttribute('{name}'), tick.textContent])"
    )
    positions, values = np.array([[float(x.replace(",", "")) for x in tick] for tick in ticks]).T
    positions -= 4 * (name == "y")  # labels are this far below their line
    if picture == "errors":
        return np.exp(np.polyval(np.polyfit(positions, np.log(values), 1), position))
    return np.polyval(np.polyfit(positions, values, 1), position)


def values_at_dot(page, picture, mark):
    dot = page.locator(f".{picture} {mark}").first
    positions = dot.evaluate("({cx, cy}) => [cx.baseVal.value, cy.baseVal.value]")
    return [value(page, picture, name, x) for name, x in zip("xy", positions, strict=True)]


def check(page, users, eps, objective="bound"):
    """Check tables, and positions of dots to 0.1 %, of curves to 1 %, of the picture's size."""
    check_tables(page, users, eps, objective)
    best = beyond.optimal_error(users, eps, objective)
    width = beyond.threshold(users, eps, objective)
    x, y = values_at_dot(page, "objective", ".dot")
    assert x == pytest.approx(width, abs=2e-3 * (width or users.upper * users.counts.min()))
    assert y == pytest.approx(best, abs=1e-3 * users.upper)
    assert values_at_dot(page, "errors", ".mark") == pytest.approx([eps, best], rel=2e-3)
    path = page.locator(f".errors .{'l1' if objective == 'l1' else 'opt'}.curve").get_attribute("d")
    positions = np.array([point.split() for point in path[1:].split("L")], dtype=float).T
    x, y = (value(page, "errors", *drawn) for drawn in zip("xy", positions, strict=True))
    assert y == pytest.approx([beyond.optimal_error(users, e, objective) for e in x], rel=2e-3)
    clipping = beyond.optimal_clipping(users, eps, objective)
    ends = dict(zip(users.counts, zip(clipping.lower, clipping.upper, strict=True), strict=True))
    bars = page.locator(".size").evaluate_all(
        "(all) => all.map((bar) => [Number(bar.dataset.count), bar.getAttribute('d')])"
    )
    assert {count for count, _ in bars} == set(ends)
    for count, path in bars:
        _, top, _, bottom = map(float, re.findall(r"[\d.]+", path))
        drawn = value(page, "intervals", "y", [bottom, top])
        assert drawn == pytest.approx(ends[count], abs=1e-3 * users.upper)


@pytest.mark.parametrize("state", STATES)
def test_tables_charts_and_sentences_have_the_numbers_of_userdp(page, site, errors, state):
    page.goto(f"{site}#{state}")
    users, objective = STATES[state], "l1" if "l1" in state else "bound"
    eps = float(re.search(r"eps=([\d.]+)", state).group(1))
    check(page, users, eps, objective)
    words = page.locator(".words").text_content()
    assert f"ε = {eps:g}" in words
    best = beyond.optimal_error(users, eps, objective)
    assert f"error is {best:.2f}".rstrip("0").rstrip(".") in words
    if objective == "bound":
        T = ud.threshold(users, eps)
        assert f"⌈2/ε⌉ = {ud.rank(eps)}" in words
        assert f"T = {T:,.10g}" in words.replace("T = 0.", "T = 0 ")
        assert ("No user is clipped" in words) == (users.max_count * 65 <= T)
    assert errors == []


def test_colours_are_those_of_the_books_figures():
    style = (SOURCE / "style.js").read_text()
    names = {"opt": "OPT-worst-case", "akmv": "AKMV", "laplace": "Laplace", "l1": "l1 optimum"}
    for name, mechanism in names.items():
        assert f"--{name}: {to_hex(plotting.LOOKS[mechanism]['color'])}" in style


def shown_eps(page):
    return float(page.locator("#eps").first.input_value())


def test_keys_and_typing_move_the_slider_and_update_everything(page, site):
    page.goto(f"{site}#eps=0.5")
    grid = page.evaluate(GRID)
    index, slider = grid.index(0.5), page.locator("#slider")
    for key, eps in {"ArrowRight": grid[index + 1], "Home": 0.01, "End": 10}.items():
        slider.press(key)
        assert shown_eps(page) == eps
        assert slider.get_attribute("aria-valuetext") == f"ε = {eps:g}"
        check(page, GEOMETRIC, eps)
    page.wait_for_url(f"{site}#eps=10&geometric=6")
    slider.press("ArrowLeft")
    assert shown_eps(page) == grid[-2]
    page.locator("#eps").fill("0.123456")
    page.keyboard.press("Tab")
    assert shown_eps(page) == 0.1235
    page.wait_for_url(f"{site}#eps=0.1235&geometric=6")


def test_the_state_is_stored_in_the_address_and_restored_from_it(page, site):
    page.goto(f"{site}#eps=0.3&counts=40x5,10&objective=l1")
    words = page.locator(".words").text_content()
    fields = ["eps", "kind", "counts", "objective"]
    values = [page.locator(f"#{field}").input_value() for field in fields]
    assert values == ["0.3", "counts", "40x5,10", "l1"]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".copy").click()
    expect(page.locator(".copy")).to_have_text("copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.locator("#try").click()
    page.wait_for_url(f"{site}#eps=0.1&counts=40x5,10&objective=l1")
    assert shown_eps(page) == 0.1
    page.go_back()
    expect(page.locator("#eps")).to_have_value("0.3")
    expect(page.locator(".words")).to_have_text(words)
    for move in (page.go_forward, page.reload):
        move()
        expect(page.locator("#eps")).to_have_value("0.1")
    expect(page.locator("#counts")).to_have_value("40x5,10")
    # A fragment of another kind is not changed. Timers fire in order, so the one that the event
    # started, which would write the address after 200 ms, has fired.
    page.evaluate(
        """new Promise((done) => {
          addEventListener("hashchange", () => setTimeout(done, 200));
          location.hash = "some-section";
        })"""
    )
    assert page.evaluate("location.hash") == "#some-section"
    assert shown_eps(page) == 0.1


def test_a_collection_and_a_budget_can_be_chosen_with_the_mouse(page, site):
    page.goto(site)
    for kind, counts in (
        ("extreme", EXTREME.counts),
        ("counts", np.repeat([40, 10, 2], [5, 50, 500])),
        ("geometric", GEOMETRIC.counts),
    ):
        page.locator("#kind").select_option(kind)
        for field in page.locator("[data-kind]").all():
            assert field.is_visible() == (field.get_attribute("data-kind") == kind)
        check(page, ud.Contributions(counts, upper=65), 0.5)
    picture = page.locator(".errors svg")
    picture.scroll_into_view_if_needed()
    box, mark = picture.bounding_box(), page.locator(".errors .mark").first
    x = box["x"] + box["width"] * mark.evaluate("(dot) => dot.cx.baseVal.value") / 380
    page.mouse.move(x, box["y"] + 50)
    page.mouse.down()
    assert shown_eps(page) == 0.5
    page.mouse.move(box["x"], box["y"] + 50)
    assert shown_eps(page) == 0.01
    page.mouse.up()


def choose(page, table):
    file = {"name": "users.csv", "mimeType": "text/csv", "buffer": table.encode()}
    page.locator("#file").set_input_files(file)


def expect_counts(page, counts, text):
    """Expect results for these counts, and this text on how they were read."""
    expect(page.locator(".given")).to_have_text(text)
    check_tables(page, ud.Contributions(counts, upper=65), 0.5, "bound")


def expect_no_result(page):
    for selector in (".words", ".intervals", ".objective", ".errors", ".tables table"):
        expect(page.locator(selector).and_(page.locator(":not(:empty)"))).to_have_count(0)
    expect(page.locator(".pictures")).to_be_hidden()
    expect(page.locator(".copy")).to_be_disabled()


def options(page):
    return page.locator("#way option").all_text_contents()


UNAMBIGUOUS = {
    "known-heading": ("user,samples\nann,40\nbob,2\ncy,40", "samples"),
    "known-heading-first": ("n,user\n40,ann\n2,bob\n40,cy", "n"),
    "known-heading-and-a-city": ("user,city,n\nann,Ulm,40\nbob,Bonn,2\ncy,Ulm,40", "n"),
    "one-column": ("trips\n40\n2\n40", "trips"),
    "tabs-and-quotes": ('"user"\t"rows"\r\n"ann"\t40\r\n"b, ""o"""\t2\r\n"cy"\t"40"\r\n', "rows"),
    "comma-in-quotes": ('user,count\n"Ann, A",40\n"Bob, B",2\n"Cy\nC",40\n', "count"),
    "as-pandas-writes": (",user,records\n0,ann,40.0\n1,bob,2.0\n2,cy,40.0\n", "records"),
}


@pytest.mark.parametrize(("table", "column"), UNAMBIGUOUS.values(), ids=UNAMBIGUOUS)
def test_a_single_column_or_a_known_heading_is_read_and_reported(
    page, site, requests, table, column
):
    """The table is pasted, chosen or dropped; and nothing is sent to a server."""
    page.goto(f"{site}#counts=1")
    n_requests, counts = len(requests), page.locator("#counts")
    text = f"Read: 3 users with 82 samples, from column “{column}”."
    counts.fill(table)
    expect_counts(page, [40, 2, 40], text)
    counts.fill("1")
    expect_counts(page, [1], "Read: 1 user with 1 sample.")
    choose(page, table)
    expect(counts).to_have_value("40x2, 2x1")
    expect_counts(page, [40, 2, 40], text)
    counts.fill("1")
    counts.evaluate(
        """(field, table) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([table], "c.csv"));
          field.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
        }""",
        table,
    )
    expect_counts(page, [40, 2, 40], text)
    assert len(requests) == n_requests


def test_numbers_alone_are_counts(page, site):
    page.goto(site)
    page.locator("#kind").select_option("counts")
    choose(page, "40\n2\n40\n")
    expect_counts(page, [40, 2, 40], "Read: 3 users with 82 samples.")
    expect(page.locator("#way")).to_be_hidden()


def test_the_explorer_asks_which_column_has_the_counts(page, site):
    """The last column may not have them: here it has kilometres."""
    page.goto(site)
    page.locator("#kind").select_option("counts")
    choose(page, "driver,trips,km\nann,40,812\nbob,2,31\ncy,7,120\ndan,7,99\n")
    expect(page.locator(".given")).to_contain_text("This table has 4 rows and 3 columns. Choose")
    expect_no_result(page)
    trips, km = "column “trips”: 40, 2, 7, …", "column “km”: 812, 31, 120, …"
    assert options(page) == ["choose…", trips, km]
    page.locator("#slider").press("ArrowRight")  # does not answer the question
    page.locator("#slider").press("ArrowLeft")
    expect_no_result(page)
    text = "Read: 4 users with {} samples, from column “{}”."
    page.locator("#way").select_option(trips)
    expect(page.locator("#counts")).to_have_value("40x1, 7x2, 2x1")
    expect_counts(page, [40, 2, 7, 7], text.format(56, "trips"))
    page.locator("#way").select_option(km)  # a reader may change the choice
    expect_counts(page, [812, 31, 120, 99], text.format("1,062", "km"))
    page.locator("#counts").fill("3")
    expect(page.locator("#way")).to_be_hidden()
    expect_counts(page, [3], "Read: 1 user with 3 samples.")


def test_rows_are_counted_by_a_first_column_with_repeated_entries(page, site):
    """With one row per sample, neither speeds nor a column with a known name are counts."""
    page.goto(site)
    page.locator("#kind").select_option("counts")
    for heads in ("user,speed", "user,n"):
        choose(page, f"{heads}\nann,31\nann,28\nbob,44\nann,30\ncy,12\nbob,40\n")
        expect(page.locator(".given")).to_contain_text("Its first column has repeated values")
        expect_no_result(page)
        assert options(page)[1] == "rows, counted by “user”"
        page.locator("#way").select_option(options(page)[1])
        text = "Read: 3 users with 6 samples, rows counted by “user”."
        expect_counts(page, [3, 2, 1], text)
    choose(page, "7,31\n7,28\n8,44\n")  # without a heading, and with numbers as users
    page.locator("#way").select_option("rows, counted by “column 1”")
    expect_counts(page, [2, 1], "Read: 2 users with 3 samples, rows counted by “column 1”.")
    page.locator("#way").select_option("every number, one per user")
    text = "Read: 6 users with 125 samples, one user per number."
    expect_counts(page, [7, 31, 7, 28, 8, 44], text)


def test_users_may_be_in_a_later_column(page, site):
    page.goto(site)
    page.locator("#kind").select_option("counts")
    choose(page, "time,user,speed\n08:01,ann,31.5\n08:02,bob,28\n08:03,ann,28.5\n")
    page.locator("#way").select_option("rows, counted by “user”")
    expect_counts(page, [2, 1], "Read: 2 users with 3 samples, rows counted by “user”.")


def test_after_a_refusal_no_old_result_is_shown(page, site):
    page.goto(site)
    page.locator("#kind").select_option("counts")
    choose(page, "user,n\nann,4\nbob,1\n")
    expect_counts(page, [4, 1], "Read: 2 users with 5 samples, from column “n”.")
    choose(page, "user,n\nann,4\nbob,two\n")
    refusal = page.locator(".refusal")
    expect(refusal).to_have_text("Line 3: “two” is not a number of samples.")
    expect_no_result(page)
    expect(page.locator(".given")).to_be_empty()
    choose(page, "user,n\nann,4\nbob,2\n")  # the same file, corrected
    expect(refusal).to_be_empty()
    expect_counts(page, [4, 2], "Read: 2 users with 6 samples, from column “n”.")
    for field, invalid, valid in (("#eps", "99", "0.5"), ("#upper", "0", "65")):
        page.locator(field).fill(invalid)
        expect(refusal).not_to_be_empty()
        expect_no_result(page)
        page.locator(field).fill(valid)
        expect_counts(page, [4, 2], "Read: 2 users with 6 samples, from column “n”.")


def test_after_a_refused_column_another_can_be_chosen(page, site):
    page.goto(site)
    page.locator("#kind").select_option("counts")
    choose(page, "driver,trips,rides\nann,,40\nbob,2,3\n")
    page.locator("#way").select_option("column “trips”: , 2")
    expect(page.locator(".refusal")).to_have_text("Line 2 has no entry in the column “trips”.")
    expect_no_result(page)
    page.locator("#way").select_option("column “rides”: 40, 3")
    expect_counts(page, [40, 3], "Read: 2 users with 43 samples, from column “rides”.")
    choose(page, "driver,city\nann,Ulm\nbob,Bonn\n")
    expect(page.locator(".refusal")).to_contain_text("No column of this table has numbers")
    expect_no_result(page)


def test_a_question_can_be_answered_by_keyboard_and_passes_axe(page, site):
    page.goto(site)
    page.locator("#kind").select_option("counts")
    page.evaluate(AXE.read_text() + "; 0")
    faults = "axe.run('clip-explorer').then(({violations}) => violations.map(({id}) => id))"
    choose(page, "driver,trips,km\nann,40,812\nbob,2,31\n")
    expect(page.get_by_role("status")).to_contain_text("Choose below how to read it.")
    assert page.evaluate(faults) == []
    page.locator("#file").press("Tab")
    expect(page.get_by_label("Read the numbers of samples from")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect_counts(page, [40, 2], "Read: 2 users with 42 samples, from column “trips”.")
    expect(page.locator("#way")).to_be_focused()
    choose(page, "user,n\nann,4\nbob,two\n")
    expect(page.get_by_role("alert")).to_contain_text("Line 3")
    assert page.evaluate(faults) == []


UNITS = {"minutes": ("200", "min", "(min)"), "none": ("200", "", "")}


@pytest.mark.parametrize(("upper", "unit", "label"), UNITS.values(), ids=UNITS)
def test_bound_and_unit_set_by_the_reader_are_used_everywhere(page, site, upper, unit, label):
    """In all sentences, axes, tables, numbers and texts for screen readers, and in the address."""
    page.goto(f"{site}#eps=0.5&geometric=3")
    page.get_by_label("Samples from 0 to U").fill(upper)
    page.get_by_label("unit", exact=True).fill(unit)
    users = ud.geometric_collection(M=3, upper=float(upper))
    check(page, users, 0.5)
    page.wait_for_url(f"{site}#eps=0.5&geometric=3&upper={upper}&unit={unit}")
    page.reload()
    check(page, users, 0.5)
    text = page.locator("clip-explorer").evaluate("({shadowRoot}) => shadowRoot.innerHTML")
    text = text.partition("</style>")[2]
    assert "km/h" not in text.replace("upper=65&amp;unit=km/h", "")  # where "start again" leads
    assert "()" not in text
    labels = page.locator("svg text").all_text_contents()
    for name in ("sample value", "total width S of a user's intervals", "error"):
        assert f"{name} {label}".strip() in labels
    assert page.locator("caption").last.text_content() == f"Clip intervals {label}".strip()
    best = f"{ud.optimal_error(users, 0.5):.2f} {unit}".strip()
    assert f"error is {best}:" in page.locator(".words").text_content()
    page.get_by_text("start again").click()
    expect(page.locator("#upper")).to_have_value("65")
    expect(page.locator("#unit")).to_have_value("km/h")


BOUNDS = {"least": 0.001, "small": 0.01, "large": 250_000, "most": 1_000_000_000}


@pytest.mark.parametrize("upper", BOUNDS.values(), ids=BOUNDS)
def test_labels_of_axes_fit_for_small_and_large_bounds(page, site, upper):
    """They are right of the name of the axis, which ends at about 11."""
    page.goto(f"{site}#upper={upper}")
    crowded = page.locator(".y-tick").evaluate_all(
        "(ticks) => ticks.filter((tick) => tick.getBBox().x < 11).map((tick) => tick.textContent)"
    )
    assert crowded == []


GARBAGE = {
    "forty, ten": "“forty” is not a number of samples",
    "3, 0, 1": "“0”: a user has at least one sample",
    **{each: f"“{each}” is not a number" for each in ("2.5", "10x", "<img")},
    "5x0": "“5x0”: a user has at least one sample",
    "99999999999": "at most 1,000,000,000 samples",
    "1x200000": "At most 100,000 users",
    "user,n\nann,4\nbob,two": "Line 3: “two” is not a number",
    "user,n\nann,4\nbob,0": "Line 3: “0”: a user has at least one sample",
    " ,; ": "Enter at least one number",
}


def test_invalid_tables_are_refused_with_a_reason(page, site):
    page.goto(f"{site}#counts=4,1")
    counts, refusal = page.locator("#counts"), page.locator(".refusal")
    for garbage, reason in GARBAGE.items():
        counts.fill(garbage)
        expect(refusal).to_contain_text(reason)
        expect(counts).to_have_attribute("aria-invalid", "true")
        expect_no_result(page)
        page.locator("#slider").press("ArrowRight")  # the refusal remains
        expect(refusal).to_contain_text(reason)
        expect_no_result(page)
        counts.fill("4\n2\t1")
        expect(refusal).to_be_empty()
        expect(counts).to_have_attribute("aria-invalid", "false")
        expect(page.locator(".given")).to_have_text("Read: 3 users with 7 samples.")


ADDRESSES = {
    "eps=banana": "ε must be a number from 0.01 to 10, not “banana”",
    "eps=1e9": "not “1e9”",
    "geometric=11": "M must be a whole number from 0 to 10, not “11”",
    "extreme=10": "m* must be a whole number",
    "extreme=10,2,3": "m* must be a whole number from 1 to 1,000,000,000, not “2,3”",
    "extreme=0,1": "The number of users L must be a whole number from 1",
    "counts=<img src=x onerror=alert(1)>": "“<img” is not a number of samples",
    "objective=fun": "must be “bound” or “l1”",
    "upper=0": "U must be a number from 0.001 to 1,000,000,000, not “0”",
    "unit=<img src=x onerror=alert(1)>": "The unit must have at most 16 characters",
}


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_invalid_address_is_refused_with_a_reason(page, site, address):
    page.goto(f"{site}#{address}")
    expect(page.locator(".refusal")).to_contain_text(ADDRESSES[address])
    expect_no_result(page)
    expect(page.locator("img")).to_have_count(0)
    page.locator("#slider").press("ArrowRight")
    expect(page.locator(".refusal")).to_be_empty()
    check_tables(page, GEOMETRIC, shown_eps(page), "bound")


def test_the_explorer_replaces_the_figure_except_in_print_and_without_scripts(page, book, browser):
    page.goto(f"{book}/book/explorer.html")
    figure, live = page.locator("clip-explorer img"), page.locator(".live")
    for media, visible, hidden in (("screen", live, figure), ("print", figure, live)):
        page.emulate_media(media=media)
        expect(visible).to_be_visible()
        expect(hidden).to_be_hidden()
    with browser.new_page(java_script_enabled=False) as plain:
        plain.goto(f"{book}/book/explorer.html")
        assert plain.locator("clip-explorer img").bounding_box()["height"] > 100


def test_the_explorer_works_on_a_page_opened_without_a_server(page, errors):
    page.goto((BUILT / "book" / "explorer.html").as_uri() + "#eps=0.5")
    check(page, GEOMETRIC, 0.5)
    page.locator("#slider").press("Home")
    check(page, GEOMETRIC, 0.01)
    assert errors == []


def test_small_instances_change_together_and_link_to_the_explorer(page, book):
    page.goto(f"{book}/book/figure-1.html#eps=0.3")
    values = "(all) => all.map((control) => control.value)"
    assert set(page.locator("clip-explorer #eps").evaluate_all(values)) == {"0.3"}
    sliders = page.locator("clip-explorer #slider")
    sliders.first.press("ArrowRight")
    assert len(set(sliders.evaluate_all(values))) == 1
    link = page.locator(".more a").first.evaluate("(link) => link.href")
    assert link == f"{book}/book/explorer.html#eps={shown_eps(page):g}&geometric=6"
