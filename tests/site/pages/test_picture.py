"""The moving picture: its numbers are those of userdp, also as drawn; keyboard, touch, print.

`book/_scripts/live/example.js` computes a state. It is tested with random collections, budgets,
widths and draws, and with both examples of the book; drawn values are read by the axes' labels.
"""

import re
import shutil

import numpy as np
import picture
import pytest
from browser import AXE, BUILT, ROOT, serve
from playwright.sync_api import expect

import userdp as ud
from tools.ext.webpages import LIVE, ON_ERROR

SOURCE = ROOT / "book" / "_scripts" / "live"
LAYERS = ["index", "setup", "lemma", "optimum", "kkt", "akmv"]
CLOSE = 1e-9
U = 65

LOADED = "".join(
    f'<script defer src="live/{name}.js" onerror="{ON_ERROR}"></script>'
    for name in LIVE["clip-picture"].split()
)
PAGE = """<!doctype html><html lang="en" data-theme="light"><meta charset="utf-8"><title>A</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<link rel="stylesheet" href="custom.css"><style>body {{ margin: 16px; max-width: 48rem }}</style>
<main><h1>A</h1><clip-picture layer="{}"><figure>drawn for print</figure></clip-picture></main>
""" + LOADED.replace("{", "{{")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    for layer in LAYERS:
        (folder / f"{layer}.html").write_text(PAGE.format(layer))
    shutil.copytree(SOURCE, folder / "live")
    shutil.copy(ROOT / "book" / "_static" / "custom.css", folder)
    return folder


@pytest.fixture(scope="module")
def site(folder):
    with serve(folder) as address:
        yield address


# --- The numbers ----------------------------------------------------------------------------------

COMPUTE_NUMBERS = """(problems) => problems.map(([samples, eps, width, share, shift, drawn]) => {
  const example = clip.example.collection("random", samples, [eps]);
  const state = {example, eps, width, share, shift, drawn};
  const { example: _, ...numbers } = clip.example.computeNumbers(state);
  return numbers;
})"""


def problems():
    """Problems from both examples, and random ones: with ties, one user, equal counts, T = 0."""
    rng = np.random.default_rng(20250301)
    speeds_of_many = [x.tolist() for x in picture.many_buses()]
    collections = [picture.SPEEDS, speeds_of_many, [[3.0]], [[1.0, 65.0]] * 4]
    for size in rng.integers(1, 20, 40):
        collections.append([rng.uniform(0, U, n).tolist() for n in rng.integers(1, 9, size)])
    for samples in collections:
        # As in the examples, users with most samples come first.
        ordered = sorted(samples, key=len, reverse=True)
        users = ud.Contributions([len(x) for x in ordered], upper=U)
        for eps in (0.8, 0.25, 2, round(rng.uniform(0.05, 4), 3)):
            widths = [float(ud.threshold(users, eps)), float(rng.uniform(0, U * users.max_count))]
            for width in widths:
                draws = rng.uniform(size=(3, 2)).tolist()
                noise = rng.laplace(size=3)
                examples = [
                    {"place": p, "inside": i, "noise": z}
                    for (p, i), z in zip(draws, noise.tolist(), strict=True)
                ]
                share, shift = rng.choice([0.5, 0.2, 1]), rng.choice([0, 1, -1, 0.4])
                yield ordered, eps, width, float(share), float(shift), examples


def clipping_of(users, width, share):
    widths = np.minimum(U, width / users.counts)
    low = share * (U - widths)
    return ud.Clipping(low, low + widths)


def move_samples(samples, shift):
    target = U if shift > 0 else 0
    return [np.array(x) + abs(shift) * (target - np.array(x)) for x in samples]


def mean_of(samples, clipping=None):
    if clipping is None:
        return np.concatenate(samples).mean()
    ends = zip(samples, clipping.lower, clipping.upper, strict=True)
    return np.concatenate([np.clip(x, low, high) for x, low, high in ends]).mean()


def slopes(users, width, eps):
    """Slopes of the bias in N phi to the right and to the left, by differences."""
    step = 1e-6 * U

    def bias(S):
        return users.total * float(ud.symmetric_error(users, S, eps)) - S / eps

    right = (bias(width) - bias(width + step)) / step
    left = (bias(width - step) - bias(width)) / step if width >= step else None
    return right, left


def check_numbers(numbers, samples, eps, width, share, shift, drawn):
    users = ud.Contributions([len(x) for x in samples], upper=U)
    N, near = users.total, pytest.approx
    shown = move_samples(samples, shift)
    sums = np.array([x.sum() for x in shown])
    clipping = clipping_of(users, width, share)
    assert (numbers["rank"], numbers["best"]) == (ud.rank(eps), ud.threshold(users, eps))
    if width == numbers["best"] and share == 0.5:
        best = ud.optimal_clipping(users, eps)
        assert clipping.lower == near(best.lower, abs=CLOSE)
        assert numbers["yours"]["error"] == near(float(ud.optimal_error(users, eps)), rel=CLOSE)
    by_count = dict(
        zip(users.counts, zip(clipping.lower, clipping.upper, strict=True), strict=True)
    )
    groups = {g["count"]: (g["low"], g["high"]) for g in numbers["groups"]}
    assert groups == {count: near(ends, abs=CLOSE) for count, ends in by_count.items()}
    assert numbers["mean"] == near(mean_of(shown), abs=CLOSE)
    assert numbers["clippedMean"] == near(mean_of(shown, clipping), abs=CLOSE)
    bias, noise = ud.worst_case_bias(users, clipping), ud.sensitivity(users, clipping) / eps
    assert numbers["yours"] == near(
        {"bias": bias, "noise": noise, "error": bias + noise}, abs=CLOSE
    )
    if share == 0.5:
        assert numbers["yours"]["error"] == near(ud.symmetric_error(users, width, eps), abs=CLOSE)
    assert numbers["optimum"]["error"] == near(float(ud.optimal_error(users, eps)), rel=CLOSE)
    assert numbers["plain"]["error"] == near(ud.sensitivity(users) / eps, rel=CLOSE)
    assert numbers["constant"]["error"] == float(ud.optimal_error(users, 1e-9)) == U / 2
    zeros, tops = ([np.full(x.size, end) for x in shown] for end in (0.0, float(U)))
    assert numbers["raised"] == near(mean_of(zeros, clipping), abs=CLOSE)
    assert numbers["lowered"] == near(U - mean_of(tops, clipping), abs=CLOSE)
    assert numbers["biasOnData"] == near(abs(mean_of(shown) - mean_of(shown, clipping)), abs=CLOSE)
    for i, bar in enumerate(numbers["reach"]):
        ends = []
        for end in (0.0, float(U)):
            changed = [*shown]
            changed[i] = np.full(shown[i].size, end)
            ends.append(mean_of(changed, clipping))
        assert [bar["low"], bar["high"]] == near(ends, abs=CLOSE)
    right, left = slopes(users, width, eps)
    assert numbers["gains"]["wider"] == near(right, abs=1e-4)
    assert left is None or numbers["gains"]["narrower"] == near(left, abs=1e-4)
    noises = np.array([draw["noise"] for draw in drawn])
    plain, clipped = numbers["releases"]["plain"], numbers["releases"]["clipped"]
    assert plain["values"] == near(mean_of(shown) + plain["scale"] * noises, abs=1e-7)
    assert plain["scale"] == near(ud.sensitivity(users) / eps, rel=CLOSE)
    assert clipped["scale"] == near(noise, abs=CLOSE)
    assert clipped["values"] == near(mean_of(shown, clipping) + noise * noises, abs=1e-7)
    check_akmv(numbers["akmv"], users, sums, eps, drawn, N)


def check_akmv(numbers, users, sums, eps, drawn, N):
    near = pytest.approx
    law = ud.quantile_cells(sums, users, ud.rank(eps), eps / 2)
    wide = law.upper > law.lower
    cells = numbers["cells"]
    for name, values in (("lower", law.lower), ("upper", law.upper)):
        assert [cell[name] for cell in cells] == near(values[wide], abs=1e-7)
    assert [c["probability"] for c in cells] == near(law.probability[wide], abs=CLOSE)
    assert numbers["error"]["error"] == near(float(ud.akmv_error(sums, users, eps)), rel=1e-8)
    mean = law.probability @ (law.lower + law.upper) / 2
    assert numbers["error"]["noise"] == near(2 * mean / eps / N, rel=1e-8)
    assert numbers["aim"] == near(np.sort(sums)[::-1][min(ud.rank(eps), users.n_users) - 1])
    cumulative = np.cumsum(law.probability)
    for draw, t, capped, value in zip(
        drawn, numbers["thresholds"], numbers["capped"], numbers["values"], strict=True
    ):
        cell = min(int(np.searchsorted(cumulative, draw["place"], "right")), len(cumulative) - 1)
        low, high = law.lower[cell], law.upper[cell]
        assert t == near(low + draw["inside"] * (high - low), abs=1e-6)
        assert capped == near(np.minimum(sums, t).sum() / N, abs=1e-7)
        assert value == near(capped + 2 * t / eps / N * draw["noise"], abs=1e-6)


def test_every_number_of_a_state_is_that_of_userdp(page, site):
    page.goto(f"{site}/optimum.html")
    cases = list(problems())
    assert len(cases) > 300
    for problem, numbers in zip(cases, page.evaluate(COMPUTE_NUMBERS, cases), strict=True):
        check_numbers(numbers, *problem)


def test_both_pictures_have_the_same_examples_and_the_same_first_releases(page, site):
    page.goto(f"{site}/optimum.html")
    three, many = page.evaluate("Object.values(clip.example.EXAMPLES).map(({samples}) => samples)")
    assert three == picture.SPEEDS
    assert many == [x.tolist() for x in picture.many_buses()]
    first_five = (
        "(() => { const next = clip.example.draws(); return Array.from({length: 5}, next) })()"
    )
    first = np.array([draw["noise"] for draw in page.evaluate(first_five)])
    rng = np.random.default_rng(picture.SEED)
    printed = [float(ud.laplace(picture.SUMS, picture.BUSES, 0.8, rng=rng)) for _ in range(5)]
    scale = ud.sensitivity(picture.BUSES) / 0.8
    assert picture.MEAN + scale * first == pytest.approx(printed)


def test_noise_is_laplace_and_the_same_for_every_reader(page, site):
    """After the first five: quantiles, mean absolute value and signs; and from a fixed seed."""
    page.goto(f"{site}/optimum.html")
    script = (
        "(() => {{ const next = clip.example.draws(); return Array.from({{length: {}}}, next) }})()"
    )
    draws = page.evaluate(script.format(20_005))[5:]
    noise = np.array([draw["noise"] for draw in draws])
    error = 1 / np.sqrt(noise.size)
    assert np.abs(noise).mean() == pytest.approx(1, abs=4 * error)
    for level in (0.25, 0.5, 0.9):
        below = np.mean(np.abs(noise) < -np.log(1 - level))
        assert below == pytest.approx(level, abs=4 * error)
    assert np.mean(noise > 0) == pytest.approx(0.5, abs=4 * error)
    assert page.evaluate(script.format(20_005))[5:] == draws


# --- Drawing and sentence -------------------------------------------------------------------------


def scale_of(page, labels):
    """Return a function from positions in the picture to km/h, by the labels of an axis."""
    ticks = page.locator("svg text[text-anchor=middle].quiet").evaluate_all(
        "(all) => all.map((tick) => [tick.textContent, tick.x.baseVal[0].value])"
    )
    positions = dict(reversed([(text, x) for text, x in ticks if text in labels]))
    x = [positions[label] for label in labels]
    slope, start = np.polyfit(x, [float(label) for label in labels], 1)
    return lambda position: start + slope * position


def boxes(page, kind):
    return page.locator(f"svg rect.{kind}").evaluate_all(
        "(all) => all.map(({x, width}) => [x, width].map(({baseVal}) => baseVal.value))"
    )


STATES = {
    "eps=0.8": (picture.BUSES, 0.8),
    "eps=1.5": (picture.BUSES, 1.5),
    "tab=many&eps=0.25": (ud.geometric_collection(M=6, upper=U), 0.25),
}


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("state", STATES)
def test_bars_and_intervals_are_drawn_at_the_values_of_userdp(page, site, errors, state, width):
    users, eps = STATES[state]
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{site}/optimum.html#{state}")
    value = scale_of(page, ["0", "10", "20", "30"])
    T = float(ud.threshold(users, eps))
    noise = T / users.total / eps
    bias = float(ud.optimal_error(users, eps)) - noise
    plain = ud.sensitivity(users) / eps

    def lengths(kind):
        return [value(x + w) - value(x) for x, w in boxes(page, kind)]

    assert lengths("bias") == pytest.approx([0, bias, U / 2], abs=0.1)
    assert lengths("noise") == pytest.approx([plain, noise], abs=0.1)
    best = ud.optimal_clipping(users, eps)
    ends = list(dict.fromkeys(zip(best.lower, best.upper, strict=True)))
    drawn = [(value(x), value(x + w)) for x, w in boxes(page, "span")]
    counts = np.unique(users.counts).size
    assert len(drawn) == counts
    for low, high in ends:
        assert any(pair == pytest.approx((low, high), abs=0.1) for pair in drawn)
    assert f"ε = {eps:g}" in sentence(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []


def sentence(page):
    return page.locator(".sentence").text_content().replace("\N{NO-BREAK SPACE}", " ")


def test_the_sentence_has_the_numbers_of_userdp_and_changes_with_the_budget(page, site):
    page.goto(f"{site}/optimum.html")
    expect(page.locator(".sentence")).to_have_attribute("aria-live", "polite")
    error = float(ud.optimal_error(picture.BUSES, 0.8))
    assert f"error of {error:.1f} km/h: bias 18.6 and mean absolute noise 11.6" in sentence(page)
    best = ud.optimal_clipping(picture.BUSES, 0.8)
    clipped = picture.clipped_mean(best)
    assert f"from {picture.MEAN:.2f} to {clipped:.2f} km/h" in sentence(page)
    page.get_by_label("privacy budget").press("ArrowRight")
    error = float(ud.optimal_error(picture.BUSES, 0.82))
    expect(page.locator(".sentence")).to_contain_text(
        f"At ε = 0.82 the best intervals have a worst-case error of {error:.1f}"
    )


def test_at_width_zero_the_note_calls_a_small_error_luck(page, site):
    page.goto(f"{site}/optimum.html#eps=0.5")
    assert ud.threshold(picture.BUSES, 0.5) == 0
    expect(page.locator(".note")).to_contain_text(
        "this is luck, because the guaranteed error is 32.5"
    )
    assert "always 32.5" in sentence(page)


def test_all_controls_can_be_used_by_keyboard(page, site):
    page.goto(f"{site}/optimum.html")
    page.locator("h1").click()
    order = []
    for _ in range(7):
        page.keyboard.press("Tab")
        order.append(
            page.evaluate(
                "(({id, dataset}) => id || dataset.tab)"
                "(document.activeElement.shadowRoot.activeElement)"
            )
        )
    assert order == ["three", "many", "eps", "width", "guess", "worst", "release"]
    page.get_by_role("button", name="127 buses").press("Enter")
    expect(page.get_by_role("button", name="127 buses")).to_have_attribute("aria-pressed", "true")
    slider = page.get_by_label("privacy budget")
    for key, eps in {"Home": "0.1", "ArrowRight": "0.11", "End": "2"}.items():
        slider.press(key)
        expect(slider).to_have_attribute("aria-valuetext", f"ε = {eps}")
        assert page.locator("output[for=eps]").text_content() == eps
    page.get_by_label("total width").press("ArrowLeft")
    assert page.locator("output[for=width]").text_content() == "4,144 km/h"
    page.goto(f"{site}/kkt.html")
    page.get_by_label("total width").press("ArrowLeft")
    page.get_by_role("button", name="Back to the best width").press("Enter")
    assert (
        page.evaluate("document.activeElement.shadowRoot.activeElement.id") == "width"
    )  # not on the button, which is disabled then


def test_the_button_for_another_release_adds_one_and_does_not_move(page, site):
    page.goto(f"{site}/optimum.html")
    button = page.get_by_role("button", name="Release once more")
    bounds, marks = button.bounding_box(), page.locator("svg .release")
    expect(marks).to_have_count(10)
    for times in range(1, 4):
        button.click()
        expect(marks).to_have_count(10 + 2 * times)
    assert button.bounding_box() == bounds
    for _ in range(40):
        button.click()
    expect(marks).to_have_count(60)


def test_on_the_worst_data_the_bias_is_attained(page, site):
    page.goto(f"{site}/optimum.html")
    page.get_by_role("button", name="Show worst-case data").click()
    bias = ud.worst_case_bias(picture.BUSES, ud.optimal_clipping(picture.BUSES, 0.8))
    expect(page.locator(".sentence")).to_contain_text(f"from 65.00 to {65 - bias:.2f}")
    expect(page.locator(".note")).to_contain_text("the bias is reached")
    page.goto(f"{site}/lemma.html")
    page.get_by_role("button", name="All speeds at 0").click()
    low = clipping_of(picture.BUSES, 65, 0.2)
    raised = mean_of([np.zeros(len(x)) for x in picture.SPEEDS], low)
    expect(page.locator(".sentence")).to_contain_text(f"moves the mean by {raised:.1f}")


def test_a_reader_guesses_the_width_with_the_mouse_and_then_sees_the_best(page, site):
    page.goto(f"{site}/optimum.html")
    expect(page.locator("svg text", has_text=re.compile("^T$"))).to_have_count(1)
    page.get_by_role("button", name="Hide the best").click()
    expect(page.locator("svg text", has_text=re.compile("^T$"))).to_have_count(0)
    assert "T =" not in page.locator(".dials").text_content()
    expect(page.locator(".sentence")).to_contain_text("260 km/h has a worst-case error of 46.4")
    handle = page.locator("svg .handle").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y, steps=3)
    page.mouse.up()
    width = float(page.locator("output[for=width]").text_content().removesuffix(" km/h"))
    assert 130 < width < 230
    error = float(ud.symmetric_error(picture.BUSES, width, 0.8))
    expect(page.locator(".sentence")).to_contain_text(f"has a worst-case error of {error:.1f}")
    # The bracket of the first bus; the bus's width is a quarter of the total width.
    span = page.locator("svg .span").first.bounding_box()
    page.mouse.move(span["x"] + span["width"], span["y"] + 5)
    page.mouse.down()
    page.mouse.move(span["x"] + 0.75 * span["width"], span["y"] + 5, steps=3)
    page.mouse.up()
    half = float(page.locator("output[for=width]").text_content().removesuffix(" km/h"))
    assert half == pytest.approx(width / 2, abs=3)
    page.get_by_role("button", name="Show the best").click()
    expect(page.locator("output[for=width]")).to_have_text("65 km/h")
    expect(page.locator(".sentence")).to_contain_text(
        "the best intervals have a worst-case error of 30.2"
    )


def test_the_sentence_states_the_slopes_beside_the_width(page, site):
    page.goto(f"{site}/kkt.html")
    solution = ud.optimal_solution(picture.BUSES, 0.8)
    assert sum(solution.lambda_users) == pytest.approx(1 / 0.8)
    assert "gain 1 and cost 1.25, one unit less would save 1.25 and lose 1.5" in sentence(page)
    slider = page.get_by_label("total width")
    slider.press("ArrowRight")
    expect(page.locator(".sentence")).to_contain_text(
        "one unit less saves 1.25 and loses 1, so narrow"
    )
    slider.press("Home")
    expect(page.locator(".sentence")).to_contain_text(
        "one unit more gains 1.5 and costs 1.25, so widen"
    )
    page.get_by_role("button", name="Back to the best").click()
    expect(page.locator("output[for=width]")).to_have_text("65 km/h")


def test_every_frame_of_an_animation_is_a_valid_state(browser, site):
    """The error beside the dot is that of the width between the brackets.

    The test advances the page's clock itself, so that it sees every frame.
    """
    widths = []
    with browser.new_page(viewport={"width": 1000, "height": 900}) as page:
        page.clock.install()
        page.goto(f"{site}/kkt.html#width=260")
        page.clock.pause_at("2100-01-01")
        page.get_by_role("button", name="Back to the best").click()
        while not widths or (widths[-1] != 65 and len(widths) < 50):
            page.clock.run_for(50)
            width, label = page.locator("clip-picture").evaluate(
                """(picture) => [picture.now.width,
                  [...picture.shadowRoot.querySelectorAll("svg text.halo.strong")]
                    .map((node) => node.textContent).find((text) => / km.h$/.test(text))]"""
            )
            error = float(ud.symmetric_error(picture.BUSES, width, 0.8))
            assert float(label.split()[0]) == pytest.approx(error, abs=0.051)
            widths.append(width)
    assert widths[-1] == 65
    assert len({*widths}) > 5


def test_nothing_is_animated_if_the_reader_prefers_reduced_motion(page, site):
    """The fixture `context` sets this preference."""
    page.goto(f"{site}/kkt.html#width=260")
    page.get_by_role("button", name="Back to the best").click()
    assert page.evaluate("document.querySelector('clip-picture').now.width") == 65


def test_touch_moves_the_width_and_the_page_still_scrolls(browser, site):
    with browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce"
    ) as context:
        page = context.new_page()
        page.goto(f"{site}/optimum.html")
        assert page.locator("svg").evaluate("(svg) => getComputedStyle(svg).touchAction") == "pan-y"
        box = page.locator("svg .handle").bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2 + 40, box["y"] + box["height"] / 2)
        width = float(page.locator("output[for=width]").text_content().removesuffix(" km/h"))
        assert 80 < width < 160
        small = page.locator("button, input").evaluate_all(
            "(all) => all.filter((control) => control.getBoundingClientRect().height < 32).length"
        )
        assert small == 0


GROUNDS = {"light": "#fff", "dark": "#121212"}
CUT_OFF = """(svg) => [...svg.querySelectorAll("text")].filter((node) => {
  const box = node.getBoundingClientRect(), all = svg.getBoundingClientRect();
  return box.left < all.left - 6 || box.right > all.right + 6 || box.bottom > all.bottom + 6;
}).map((node) => node.textContent)"""
FAULTS = """axe.run('clip-picture').then(({violations}) =>
  violations.map(({id, nodes}) => [id, nodes[0].html]))"""


@pytest.mark.parametrize("theme", GROUNDS)
@pytest.mark.parametrize("layer", LAYERS)
def test_axe_finds_no_fault_and_nothing_is_cut_off(page, site, errors, layer, theme):
    for width, tab in ((390, "many"), (1400, "three"), (390, "three"), (1400, "many")):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{site}/{layer}.html?{width}#tab={tab}")
        page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        page.evaluate(
            "(colour) => (document.body.style.background = colour)",
            {"light": "#fff", "dark": "#121212"}[theme],
        )
        assert page.locator("clip-picture svg").evaluate(CUT_OFF) == []
        page.evaluate(AXE.read_text() + "; 0")
        assert page.evaluate(FAULTS) == []
    assert errors == []


def test_the_picture_works_without_a_server(page, folder, errors):
    for layer in LAYERS:
        page.goto((folder / f"{layer}.html").as_uri())
        mark = ".handle" if layer == "kkt" else ".sample"
        expect(page.locator(f".live svg {mark}").first).to_be_visible()
        expect(page.get_by_text("drawn for print")).to_be_hidden()
    assert errors == []


def test_the_address_sets_the_state(page, site):
    page.goto(f"{site}/optimum.html#tab=many&eps=1&draws=12")
    expect(page.locator("output[for=eps]")).to_have_text("1")
    expect(page.locator("svg .release")).to_have_count(24)
    page.evaluate("location.hash = 'tab=three&eps=2'")
    expect(page.locator("output[for=eps]")).to_have_text("2")
    expect(page.locator(".sentence")).to_contain_text("At ε = 2 nothing is clipped")
    page.evaluate("location.hash = 'some-section'")
    for nonsense in ("eps=banana", "eps=-1&width=many", "tab=constructor&worst=7"):
        page.goto("about:blank")
        page.goto(f"{site}/optimum.html#{nonsense}")
        expect(page.locator("output[for=eps]")).to_have_text("0.8")


def test_without_scripts_and_in_print_the_static_picture_is_shown(page, browser, site):
    page.goto(f"{site}/optimum.html")
    static, live = page.get_by_text("drawn for print"), page.locator(".live")
    for media, visible, hidden in (("screen", live, static), ("print", static, live)):
        page.emulate_media(media=media)
        expect(visible).to_be_visible()
        expect(hidden).to_be_hidden()
    page.emulate_media(media="screen")
    with browser.new_page(java_script_enabled=False) as plain:
        plain.goto(f"{site}/optimum.html")
        assert plain.get_by_text("drawn for print").bounding_box()["height"] > 10
    # Also if the scripts cannot be loaded.
    with browser.new_page() as cut:
        cut.route("**/live/*.js", lambda route: route.abort())
        cut.goto(f"{site}/optimum.html")
        cut.wait_for_function(
            "document.querySelector('figure').getBoundingClientRect().height > 10"
        )


# --- On the pages ---------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", LAYERS)
def test_a_page_of_the_book_shows_its_layer_and_in_print_the_static_picture(page, book, layer):
    page.goto((BUILT / "book" / f"{layer}.html").as_uri())
    element = page.locator("clip-picture")
    expect(element).to_have_attribute("layer", layer)
    mark = ".handle" if layer == "kkt" else ".sample"
    expect(element.locator(f".live svg {mark}").first).to_be_visible()
    image = element.locator("img")
    expect(image).to_be_hidden()
    page.emulate_media(media="print")
    expect(image).to_be_visible()
    expect(page.locator(".moving:visible")).to_have_count(0)
    page.emulate_media(media="screen")


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_the_first_screen_has_the_claim_three_buttons_and_the_picture(page, book, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{book}/book/index.html")
    bottom = "(node) => node.getBoundingClientRect().bottom"
    buttons = page.locator(".start a.sd-btn")
    assert buttons.all_text_contents() == ["Read", "Run", "Cite"]
    for button in buttons.all():
        assert button.evaluate(bottom) < height
    # All speeds with their intervals, and the bars.
    for mark in ("clip-picture .span", "clip-picture .bias"):
        assert page.locator(mark).last.evaluate(bottom) < height
