// <clip-picture layer="optimum">: the running example, interactive. The element's content is a static
// picture for print and for readers without scripts. The page's address may set the initial state:
// #tab=many&eps=0.25&width=520&worst=1&draws=30

"use strict";

((clip) => {
const { draws, EXAMPLES, MAX_RELEASES, clamp, computeNumbers } = clip.example;
const { draw, isBest, LAYERS } = clip.drawing;
const { note, sentence } = clip.sentences;

const INITIAL_EPS = { three: 0.8, many: 0.25 };
const INITIAL_RELEASES = 5;
const TRANSITION = 650; // ms

/** The controls of each layer, besides the tabs; "worst" and "lowest" move all speeds to 65 or 0. */
const CONTROLS = {
  index: ["eps", "worst", "release"],
  setup: ["eps", "release"],
  lemma: ["width", "share", "worst", "lowest"],
  optimum: ["eps", "width", "guess", "worst", "release"],
  kkt: ["eps", "width", "best"],
  akmv: ["eps", "release"],
};

const STYLE = `
  :host { display: block; }
  .live { color: var(--clip-ink); font-size: 15px; line-height: 1.35; }
  @media print { .live { display: none; } }
  button { font: inherit; color: inherit; background: none; border: 1px solid var(--clip-muted); border-radius: 999px;
    min-height: 40px; padding: 0 14px; cursor: pointer; }
  button:disabled { opacity: 0.45; cursor: default; }
  button[aria-pressed="true"] { background: var(--clip-ink); color: var(--clip-ground); border-color: var(--clip-ink); }
  .main { border: 2px solid var(--clip-ink); font-weight: 600; }
  :focus-visible { outline: 3px solid var(--clip-noise); outline-offset: 2px; }
  .tabs { display: flex; gap: 6px; margin-bottom: 8px; }
  .tabs button { border: 0; border-bottom: 2px solid transparent; border-radius: 0; padding: 0 4px; margin-right: 12px; color: var(--clip-muted); }
  .tabs [aria-pressed="true"] { background: none; color: var(--clip-ink); border-color: var(--clip-ink); font-weight: 600; }
  svg { display: block; width: 100%; overflow: visible; font-size: 13px; font-variant-numeric: tabular-nums; touch-action: pan-y; }
  svg.held { touch-action: none; }
  text { fill: var(--clip-ink); }
  .quiet { fill: var(--clip-muted); }
  .small { font-size: 12px; }
  .strong { font-weight: 600; }
  .halo, .on-noise { paint-order: stroke; stroke: var(--clip-panel); stroke-width: 4px; stroke-linejoin: round; }
  .on-noise { fill: var(--clip-noise-text); }
  .on-bias { fill: var(--clip-on-bias); }
  .panel { fill: var(--clip-panel); }
  .axis, .lane { stroke: var(--clip-rule); fill: none; }
  .sample { fill: var(--clip-sample); }
  .ghost { fill: none; stroke: var(--clip-sample); stroke-dasharray: 2 2; }
  .pull { stroke: var(--clip-bias); stroke-width: 2; }
  .cut { stroke: var(--clip-bias); stroke-width: 2.5; }
  .span { fill: var(--clip-sample); opacity: 0.15; }
  .bracket { fill: none; stroke: var(--clip-sample); stroke-width: 2.2; }
  .reach { fill: var(--clip-sample); opacity: 0.55; }
  .longest { fill: url(#stipple); stroke: var(--clip-noise); stroke-width: 1.4; }
  .truth { stroke: var(--clip-ink); stroke-width: 1.6; stroke-dasharray: 2 4; stroke-linecap: round; fill: none; }
  .after { stroke: var(--clip-ink); stroke-width: 1.6; fill: none; }
  .bias { fill: var(--clip-bias); }
  .noise { fill: url(#stipple); stroke: var(--clip-noise); stroke-width: 1.2; }
  .noise.area { stroke: none; }
  .bias.area { opacity: 0.8; }
  .block { stroke: var(--clip-panel); stroke-width: 1.5; }
  .more { fill: var(--clip-noise); }
  .stipple-ground { fill: var(--clip-noise); opacity: 0.16; }
  .stipple { fill: var(--clip-noise); opacity: 0.65; }
  .curve { fill: none; stroke: var(--clip-ink); stroke-width: 2.2; stroke-linejoin: round; }
  .level, .guide { stroke: var(--clip-ink); stroke-dasharray: 4 3; fill: none; }
  .level { stroke: var(--clip-muted); }
  .handle { fill: var(--clip-ink); stroke: var(--clip-ground); stroke-width: 2; }
  .bell { fill: url(#stipple); stroke: var(--clip-noise); stroke-width: 1.4; }
  .release { fill: var(--clip-ink); opacity: 0.55; }
  .newest { opacity: 1; }
  .beyond { fill: var(--clip-bias); opacity: 0.1; }
  .above { fill: none; }
  .cap { stroke: var(--clip-noise); stroke-width: 2.4; }
  .aim { fill: var(--clip-ink); }
  .drag { cursor: ew-resize; }
  .dials { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: 2px 28px; margin-top: 8px; }
  .dial { min-width: 0; }
  .dial label { display: flex; justify-content: space-between; gap: 8px; white-space: nowrap; }
  output { font-weight: 600; font-variant-numeric: tabular-nums; }
  .rule { color: var(--clip-muted); }
  input { display: block; width: 100%; height: 32px; margin: 0; accent-color: var(--clip-ink); cursor: pointer; }
  .ticks { position: relative; height: 18px; margin: -4px 8px 0; font-size: 12px; color: var(--clip-muted); }
  .ticks span { position: absolute; transform: translateX(-50%); }
  .ticks span::before { content: ""; position: absolute; left: 50%; top: -9px; height: 9px; border-left: 1.5px solid var(--clip-muted); }
  .buttons { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 8px; }
  .number { margin-left: auto; align-self: center; font-size: 14px; color: var(--clip-muted); }
  .texts { min-height: 118px; }
  .sentence { margin: 10px 0 0; font-size: 17px; }
  .note { margin: 6px 0 0; font-size: 14px; color: var(--clip-muted); }
  @media (max-width: 600px) {
    .buttons button { font-size: 14px; padding: 0 11px; }
    .buttons { gap: 6px; }
    .sentence { font-size: 16px; }
    .texts { min-height: 196px; }
    :host(:is([layer="setup"], [layer="akmv"])) .texts { min-height: 240px; }
  }
`;

const range = (id, name, more = "") => `<div class="dial"><label for="${id}"><span>${name} <output for="${id}"></output></span>${more}</label>
  <input id="${id}" type="range">${id === "eps" ? '<div class="ticks" aria-hidden="true"></div>' : ""}</div>`;
const button = (id, name, kind = "") => `<button type="button" id="${id}" class="${kind}">${name}</button>`;
const DIALS = {
  eps: range("eps", "privacy budget ε =", '<span class="rule"></span>'),
  width: range("width", "total width S ="),
  share: range("share", "cut off:"),
};
const BUTTONS = {
  release: button("release", "Release once more", "main"),
  guess: button("guess", "Hide the best, and guess"),
  best: button("best", "Back to the best width"),
  lowest: button("lowest", "All speeds at 0"),
  worst: button("worst", "Show worst-case data"),
};

function body(layer) {
  const has = (names) => CONTROLS[layer].filter((name) => name in names).map((name) => names[name]).join("");
  return `<div class="live" role="group" aria-label="Interactive picture">
    <div class="tabs" role="group" aria-label="Data">${Object.entries(EXAMPLES)
      .map(([tab, { name }]) => `<button type="button" data-tab="${tab}">${name}</button>`).join("")}<span class="number"></span></div>
    <svg role="img" aria-label="" class="${CONTROLS[layer].includes("width") ? "drag" : ""}"></svg>
    <div class="dials">${has(DIALS)}</div>
    <div class="buttons">${has(BUTTONS)}</div>
    <div class="texts"><p class="sentence" aria-live="polite"></p><p class="note"></p></div></div>`;
}

const DESCRIPTIONS = {
  index: "Speeds clipped to intervals, bias and noise as bars, and releases",
  setup: "Speeds of each bus, how far each bus can move the mean, and releases with noise",
  lemma: "Speeds raised and lowered into intervals, and the bias as bars",
  optimum: "Speeds clipped to intervals, bias and noise as bars, the error against the width, and releases",
  kkt: "The error against the width, and its slopes",
  akmv: "Sums of buses capped at a random threshold, and releases",
};

class ClipPicture extends HTMLElement {
  connectedCallback() {
    const layer = this.getAttribute("layer");
    this.layer = Object.hasOwn(LAYERS, layer ?? "") ? layer : "optimum";
    this.root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    this.root.innerHTML = `<style>${STYLE}</style>${body(this.layer)}<slot></slot>`;
    this.find = (selector) => this.root.querySelector(selector);
    this.svg = this.find("svg");
    this.find(".number").textContent = this.querySelector(".caption-number")?.textContent ?? "";
    this.eps = { ...INITIAL_EPS };
    Object.assign(this, { tab: "three", guess: {}, guessing: false, share: 0.5, shift: 0, drawn: [] });
    this.nextDraw = draws();
    this.release(INITIAL_RELEASES);
    if (this.layer === "lemma") this.share = 0.2;
    this.readAddress();
    this.addListeners();
    this.now = this.target();
    this.size = this.svg.clientWidth;
    this.show(0);
    this.resizeObserver = new ResizeObserver(() => this.resize());
    this.resizeObserver.observe(this.svg);
    this.handleAddress = () => this.followAddress();
    addEventListener("hashchange", this.handleAddress);
    addEventListener("beforeprint", this.loadImages);
  }

  /** Load the static pictures before printing. */
  loadImages() {
    for (const image of document.querySelectorAll("clip-picture img")) image.loading = "eager";
  }

  disconnectedCallback() {
    this.resizeObserver.disconnect();
    removeEventListener("hashchange", this.handleAddress);
    removeEventListener("beforeprint", this.loadImages);
    cancelAnimationFrame(this.request);
    clearTimeout(this.timer);
  }

  get example() {
    return EXAMPLES[this.tab];
  }

  get budget() {
    return this.eps[this.tab];
  }

  /** The state at the end of the transition, as numbers that can be interpolated. */
  target() {
    const { example, budget } = this;
    const best = this.layer === "setup" ? example.widest : clip.maths.threshold(example.users, budget);
    return { width: this.guess[this.tab] ?? best, share: this.share, shift: this.shift, fall: 1 };
  }

  /** All numbers of a state: by default, of the one at the end of the transition. */
  numbers({ width, share, shift } = this.target()) {
    return computeNumbers({ example: this.example, eps: this.budget, width, share, shift, drawn: this.drawn });
  }

  view(numbers = this.target()) {
    return { layer: this.layer, guessing: this.guessing, fall: numbers.fall, state: this.numbers(numbers) };
  }

  // ------------------------------------------------------------------------------------- Changes

  addListeners() {
    for (const button of this.root.querySelectorAll("[data-tab]")) {
      button.addEventListener("click", () => this.setTab(button.dataset.tab));
    }
    const on = (id, type, act) => this.find(`#${id}`)?.addEventListener(type, (event) => act(event.target));
    on("eps", "input", ({ value }) => this.setBudget(this.example.budgets[value]));
    on("width", "input", ({ value }) => this.setWidth(Number(value) * this.example.step));
    on("share", "input", ({ value }) => this.change({ share: Number(value) / 20 }, 200));
    on("release", "click", () => {
      this.release(1);
      this.now = { ...this.target(), fall: 0 };
      this.show();
    });
    on("guess", "click", () => this.toggleGuessing());
    on("best", "click", () => {
      this.change({ guess: {} });
      this.find("#width").focus(); // a disabled button would lose the focus
    });
    on("worst", "click", () => this.change({ shift: this.shift > 0 ? 0 : 1 }));
    on("lowest", "click", () => this.change({ shift: this.shift < 0 ? 0 : -1 }));
    this.svg.addEventListener("pointerdown", (event) => this.startDrag(event));
    this.svg.addEventListener("pointermove", (event) => this.zone && this.drag(event));
    for (const type of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(type, () => (this.zone = undefined));
    }
  }

  change(parts, wait) {
    Object.assign(this, parts);
    this.show(undefined, wait);
  }

  setTab(tab) {
    this.tab = tab;
    this.now = this.target();
    this.show(0);
  }

  setBudget(eps) {
    this.eps[this.tab] = eps;
    if (this.layer === "kkt" || (this.layer === "optimum" && !this.guessing)) this.guess = {};
    this.show(undefined, 200);
  }

  setWidth(width) {
    this.guess = { ...this.guess, [this.tab]: clamp(width, 0, this.example.widest) };
    this.show(0, 200);
  }

  toggleGuessing() {
    this.guessing = !this.guessing;
    this.guess = this.guessing ? { [this.tab]: this.example.widest } : {};
    this.show();
  }

  release(times) {
    for (let i = 0; i < times; i++) this.drawn.push(this.nextDraw());
    this.drawn = this.drawn.slice(-MAX_RELEASES);
  }

  /** Start to drag the width, if the pointer is on an interval or on the curve. */
  startDrag(event) {
    if (!CONTROLS[this.layer].includes("width")) return;
    const { left, top } = this.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    this.zone = this.zones.find((zone) =>
      x > zone.left - 12 && x < zone.right + 12 && y > zone.top && y < zone.bottom);
    if (!this.zone) return;
    this.svg.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.dragY = y;
    this.drag(event);
  }

  drag(event) {
    const { left } = this.svg.getBoundingClientRect();
    const { step } = this.example;
    const width = this.zone.widthAt(event.clientX - left, this.dragY);
    this.setWidth(Math.round(width / step) * step);
  }

  /** Read the state from the address, if it has one; other fragments, such as section anchors, change nothing. */
  readAddress() {
    const fields = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    const number = (name) => (fields.has(name) ? Number(fields.get(name)) : NaN);
    if (Object.hasOwn(EXAMPLES, fields.get("tab") ?? "")) this.tab = fields.get("tab");
    const { budgets, widest } = this.example;
    if (number("eps") > 0) {
      const distance = (eps) => Math.abs(Math.log(eps / number("eps")));
      this.eps[this.tab] = budgets.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    }
    if (number("width") >= 0) this.guess = { [this.tab]: Math.min(number("width"), widest) };
    if (number("share") >= 0) this.share = Math.min(number("share"), 1);
    if (Math.abs(number("worst")) <= 1) this.shift = Math.sign(number("worst"));
    if (number("draws") > INITIAL_RELEASES) this.release(Math.min(number("draws"), 300) - INITIAL_RELEASES);
  }

  followAddress() {
    if (!location.hash.includes("=")) return;
    this.readAddress();
    this.now = this.target();
    this.show(0);
  }

  // ---------------------------------------------------------------------------------------- Show

  /** Start the transition to the target state, set the controls, and update the texts after `wait` ms. */
  show(duration = TRANSITION, wait = 0) {
    const [from, to] = [{ ...this.now }, this.target()];
    const noMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const begin = performance.now();
    const time = noMotion || Object.keys(to).every((key) => from[key] === to[key]) ? 0 : duration;
    cancelAnimationFrame(this.request);
    const step = (now) => {
      const t = time ? clamp((now - begin) / time, 0, 1) : 1;
      const ease = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      const between = ([key, end]) => [key, t === 1 ? end : from[key] + (end - from[key]) * ease];
      this.now = Object.fromEntries(Object.entries(to).map(between));
      this.draw();
      if (t < 1) this.request = requestAnimationFrame(step);
    };
    step(begin);
    this.setControls();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.setTexts(), wait);
    if (!wait && !this.find(".sentence").textContent) this.setTexts();
  }

  resize() {
    if (Math.abs(this.svg.clientWidth - this.size) < 1) return;
    this.size = this.svg.clientWidth;
    this.draw();
  }

  draw() {
    if (!this.size) return;
    const { svg, height, zones } = draw(this.view(this.now), this.size);
    this.zones = zones;
    this.svg.setAttribute("viewBox", `0 0 ${this.size} ${height}`);
    this.svg.style.height = `${height}px`;
    this.svg.innerHTML = svg;
  }

  setTexts() {
    const view = this.view();
    for (const [place, words] of [[".sentence", sentence(view)], [".note", note(view)]]) {
      const node = this.find(place);
      if (node.textContent !== words) node.textContent = words;
    }
  }

  /** Set the controls to the state. */
  setControls() {
    const { example, budget } = this;
    const state = this.numbers();
    for (const button of this.root.querySelectorAll("[data-tab]")) {
      button.setAttribute("aria-pressed", button.dataset.tab === this.tab);
    }
    this.svg.setAttribute("aria-label", `${DESCRIPTIONS[this.layer]}: ${example.name.toLowerCase()}.`);
    this.setSlider("eps", example.budgets.indexOf(budget), example.budgets.length - 1, String(budget));
    this.setSlider("width", Math.round(state.width / example.step), example.widest / example.step,
      `${clip.numbers.plain(Math.round(state.width))} km/h`);
    const below = Math.round(100 * this.share);
    this.setSlider("share", Math.round(20 * this.share), 20, `${below} % of it below, ${100 - below} % above`);
    if (this.find(".rule")) this.find(".rule").textContent = this.rankAndThreshold(state);
    if (this.find(".ticks")) this.writeTicks(example);
    this.setButton("worst", this.shift > 0, this.layer === "lemma" ? "All speeds at 65" : "Show worst-case data");
    this.setButton("lowest", this.shift < 0, "All speeds at 0");
    if (this.find("#guess")) {
      this.find("#guess").textContent = this.guessing ? "Show the best" : "Hide the best, and guess";
    }
    if (this.find("#best")) this.find("#best").disabled = isBest(state) && state.width === state.best;
  }

  rankAndThreshold({ rank, best }) {
    if (this.guessing || ["index", "setup"].includes(this.layer)) return "";
    const k = this.size < 300 ? `k = ${rank}` : `k = ⌈2/ε⌉ = ${rank}`;
    return this.layer === "akmv" ? k : `${k}, T = ${clip.numbers.plain(best)}`;
  }

  setSlider(id, value, most, words) {
    const input = this.find(`#${id}`);
    if (!input) return;
    input.max = most;
    input.value = value;
    input.setAttribute("aria-valuetext", id === "eps" ? `ε = ${words}` : words);
    this.find(`output[for="${id}"]`).textContent = words;
  }

  setButton(id, pressed, name) {
    const button = this.find(`#${id}`);
    if (!button) return;
    button.textContent = name;
    button.setAttribute("aria-pressed", pressed);
  }

  /** Marks at the budgets where the threshold changes. */
  writeTicks({ ticks, budgets }) {
    const marks = ticks.map(({ rank, eps }) => {
      const share = budgets.findIndex((budget) => budget >= eps - 1e-9) / (budgets.length - 1);
      const name = 2 % rank ? `2/${rank}` : String(2 / rank);
      return `<span style="left: ${(100 * share).toFixed(2)}%">${name}</span>`;
    });
    const place = this.find(".ticks");
    if (place.innerHTML !== marks.join("")) place.innerHTML = marks.join("");
  }
}

document.documentElement.classList.add("moves");
customElements.define("clip-picture", ClipPicture);
})((globalThis.clip ??= {}));
