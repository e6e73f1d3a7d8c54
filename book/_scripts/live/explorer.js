// <clip-explorer>: what user-level clipping does, live. Without attributes it shows everything;
// views="intervals objective errors words tables" chooses ("summary" instead of "words": for whoever
// has read nothing yet), start="eps=0.5" says where the page begins. What stands inside it is for
// print, and for readers without scripts.

"use strict";

((clip) => {
const { charts } = clip;
const { attempt, EPS, GRID, LONGEST_UNIT, nearestOnGrid, UPPER } = clip.entries;
const { plain } = clip.numbers;
const { address, change, DEFAULTS, unwatch, watch } = clip.state;
const { style } = clip;
const tables = clip.table;
const { errorTable, intervalTable, legend, summary, words, workOut } = clip.words;

const PRESETS = {
  "start again": DEFAULTS,
  "strong privacy": "eps=0.1&geometric=6&objective=bound",
  "beyond use: T = 0": "eps=0.01&geometric=6&objective=bound",
  "a flat minimum": "eps=2&geometric=6&objective=bound",
  "one giant": "eps=0.5&extreme=101,1000&objective=bound",
  "mean absolute error": "objective=l1",
  "other users": "counts=40x5,10x50,2x500",
};

const TOP = `
  <p class="presets">Try: ${Object.entries(PRESETS).map(([name, to]) => `<a href="#${to}">${name}</a>`).join(" ")}
    <button class="copy" type="button">copy link</button></p>`;

const BUDGET = `
  <fieldset class="budget">
    <label for="eps">Privacy budget ε</label>
    <input id="eps" type="number" min="${EPS.least}" max="${EPS.most}" step="any" data-entry="eps">
    <input id="slider" type="range" min="0" max="${GRID.length - 1}" aria-label="Privacy budget ε">
  </fieldset>`;

const USERS = `
  <fieldset>
    <label for="kind">Users</label>
    <select id="kind">
      <option value="geometric">geometric</option>
      <option value="extreme">extreme-valued</option>
      <option value="counts">my own counts</option>
    </select>
    <span data-kind="geometric"><label for="M">M</label>
      <input id="M" type="number" min="0" max="10" value="6" data-entry="geometric"></span>
    <span data-kind="extreme"><label for="L">users L</label>
      <input id="L" type="number" min="1" max="10000" value="101" data-entry="extreme"></span>
    <span data-kind="extreme"><label for="most">m*</label>
      <input id="most" type="number" min="1" value="10" data-entry="extreme"></span>
  </fieldset>
  <fieldset data-kind="counts">
    <label for="counts">Samples of each user (10x50: 50 users with 10 each)</label>
    <textarea id="counts" rows="2" spellcheck="false" data-entry="counts">40x5, 10x50, 2x500</textarea>
    <label class="file">or a CSV, with one row per user or one row per sample, also pasted or dropped
      here; it stays in your browser
      <input id="file" type="file" accept=".csv,.tsv,.txt,text/csv"></label>
    <p class="given" role="status"></p>
    <span class="question" hidden><label for="way">What counts a user's samples?</label>
      <select id="way" data-entry="counts"></select></span>
  </fieldset>
  <fieldset>
    <span><label for="upper">Samples from 0 to U =</label>
      <input id="upper" type="number" min="${UPPER.least}" max="${UPPER.most}" step="any" data-entry="upper"></span>
    <span><label for="unit">unit</label>
      <input id="unit" type="text" maxlength="${LONGEST_UNIT}" spellcheck="false" data-entry="unit"></span>
  </fieldset>
  <fieldset>
    <label for="objective">Make small</label>
    <select id="objective">
      <option value="bound">bias + mean noise (the paper)</option>
      <option value="l1">mean absolute error</option>
    </select>
  </fieldset>`;

const PICTURES = {
  intervals: ["Where samples are clipped", charts.intervals],
  objective: ["How wide is best", charts.objective],
  errors: ["Error against privacy", charts.errors],
};
const TEXTS = ["legend", "words", "summary"];
const RESULTS = [...Object.keys(PICTURES), ...TEXTS, "table-errors", "table-intervals"];

const NO_WAY = "No column of this table has numbers of samples, and none repeats to name users.";

function number(of, what) {
  return `${plain(of)} ${what}${of === 1 ? "" : "s"}`;
}

function question({ names, rows }, ways) {
  const size = `This table has ${plain(rows.length)} rows and ${plain(names.length)} columns.`;
  const hint = " Its first column repeats, as if each row were one sample.";
  return `${size}${tables.repeatsAtFirst(ways) ? hint : ""} Choose below how to read it.`;
}

class ClipExplorer extends HTMLElement {
  connectedCallback() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    const views = this.getAttribute("views")?.split(" ");
    root.innerHTML = `<style>${style}</style>${body(views)}<slot></slot>`;
    this.find = (selector) => root.querySelector(selector);
    this.refusals = new Map();
    this.how = "";
    this.forget();
    for (const type of ["input", "change"]) {
      this.find(".controls").addEventListener(type, (event) => this.listen(event));
    }
    for (const type of ["pointerdown", "pointermove"]) {
      this.find(".drag")?.addEventListener(type, (event) => this.drag(event));
    }
    this.find(".copy")?.addEventListener("click", (event) => this.copy(event.target));
    const counts = this.find("#counts");
    counts?.addEventListener("drop", (event) => this.take(event, event.dataTransfer.files[0]));
    this.show = (state) => this.update(state);
    watch(this.show, document.querySelector("clip-explorer[start]")?.getAttribute("start"));
  }

  disconnectedCallback() {
    unwatch(this.show);
  }

  /** Copy the address that holds what is shown. */
  async copy(button) {
    const link = Object.assign(new URL(location), { hash: address(this.state) });
    await navigator.clipboard.writeText(link.href);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy link"), 2000);
  }

  /** Read the users from a file; nothing is sent anywhere. */
  async take(event, file) {
    if (!file) return; // a dropped text: the browser puts it into the field
    event.preventDefault();
    const text = await file.text();
    this.find("#file").value = ""; // so that the same file can be chosen again, when it is mended
    this.find("#counts").value = "";
    this.typing = undefined;
    this.give(text);
  }

  /** A control was changed. */
  listen(event) {
    const { target, type } = event;
    // While somebody is typing, what was typed stays; afterwards it is what was understood.
    this.typing = type === "input" ? target : undefined;
    const value = (id) => this.find(`#${id}`).value;
    const actions = {
      file: () => this.take(event, target.files[0]),
      way: () => this.readBy(this.ways[value("way")]),
      slider: () => this.enter({ eps: GRID[value("slider")] }),
      eps: () => this.enter({ eps: value("eps") }),
      objective: () => this.enter({ objective: value("objective") }),
      upper: () => this.enter({ upper: value("upper") }),
      unit: () => this.enter({ unit: value("unit") }),
      geometric: () => this.enter({ geometric: value("M") }),
      extreme: () => this.enter({ extreme: `${value("L")},${value("most")}` }),
      counts: () => this.give(value("counts")),
    };
    (actions[target.id] ?? actions[value("kind")])();
    this.fit();
  }

  /** Change the state by a piece of an address; `how` says in which way a table was read. */
  enter(piece, how = "") {
    this.how = how;
    const reasons = change(`${new URLSearchParams(piece)}`);
    this.how = "";
    if (reasons.length) this.refuse(Object.keys(piece)[0], reasons);
  }

  /** Users were given, as counts or as a table: read them, or ask how. */
  give(text) {
    this.forget();
    if (!tables.isTable(text)) return this.enter({ counts: text });
    this.table = tables.readTable(text);
    this.ways = tables.ways(this.table);
    if (!this.ways.length) return this.refuse("counts", [NO_WAY]);
    const options = this.ways.map((way, i) => new Option(tables.offered(this.table, way), i));
    this.find("#way").replaceChildren(new Option("choose…", ""), ...options);
    this.find(".question").hidden = false;
    this.readBy(tables.certainWay(this.table, this.ways));
  }

  /** Read the table in one of its ways; without one, ask. */
  readBy(way) {
    this.asked = way ? "" : question(this.table, this.ways);
    this.find("#way").value = way ? this.ways.indexOf(way) : "";
    this.refuse("counts", []);
    if (!way) return this.clear();
    const { given, refusals } = attempt(() => tables.countUsers(this.table, way));
    if (given) this.enter({ counts: tables.inRuns(given) }, `, ${tables.taken(this.table, way)}`);
    else this.refuse("counts", refusals);
  }

  /** No table is being read. */
  forget() {
    this.table = undefined;
    this.ways = [];
    this.asked = "";
    if (this.find(".question")) this.find(".question").hidden = true;
  }

  /** On the picture of the errors, the budget follows the pointer. */
  drag(event) {
    if (!event.buttons) return;
    const { left, width } = event.currentTarget.firstChild.getBoundingClientRect();
    const eps = charts.budgetAt((event.clientX - left) / width, GRID);
    change(`eps=${GRID[nearestOnGrid(eps)]}`);
  }

  update(state) {
    this.state = state;
    this.find(".more a")?.setAttribute("href", `explorer.html#${address(state)}`);
    this.write(state);
    for (const entry of ["eps", "upper", "unit"]) this.refuse(entry, []);
    this.refuse("address", state.refusals);
    const refused = [...this.refusals.values()].some((reasons) => reasons.length);
    if (refused || this.asked) this.clear();
    else this.draw(workOut(state, this.seen));
  }

  draw(seen) {
    this.seen = seen;
    for (const [view, [, draw]] of Object.entries(PICTURES)) this.fill(`.${view}`, draw(seen));
    this.fill(".legend", legend(seen));
    this.fill(".words", words(seen));
    this.fill(".summary", summary(seen));
    this.fill(".table-errors", errorTable(seen));
    this.fill(".table-intervals", intervalTable(seen));
    this.say(this.read);
    this.showResults(true);
  }

  /** What was drawn is not of what the controls say now: leave nothing of it. */
  clear() {
    for (const view of RESULTS) this.fill(`.${view}`, "");
    this.say(this.asked);
    this.showResults(false);
  }

  showResults(are) {
    this.find(".pictures").hidden = !are;
    if (this.find(".copy")) this.find(".copy").disabled = !are;
  }

  /** Say what was read, or what is asked; names of columns are no markup. */
  say(text) {
    const place = this.find(".given");
    if (place && place.textContent !== text) place.textContent = text;
  }

  fill(selector, content) {
    const place = this.find(selector);
    if (place) place.innerHTML = content;
  }

  /** Set the controls to the state, all but the one that is being typed in. */
  write({ eps, collection, objective, upper, unit, users }) {
    const set = (id, value) => {
      const control = this.find(`#${id}`);
      if (control && control !== this.typing) control.value = value;
    };
    set("slider", nearestOnGrid(eps));
    this.find("#slider").setAttribute("aria-valuetext", `ε = ${eps}`);
    set("eps", eps);
    set("objective", objective);
    set("upper", upper);
    set("unit", unit);
    if (collection === this.collection) return;
    this.collection = collection;
    this.read = `Read: ${number(users.nUsers, "user")} with ${number(users.total, "sample")}${this.how}.`;
    if (!this.how) this.forget();
    set("kind", collection.kind);
    const fields = { geometric: ["M"], extreme: ["L", "most"], counts: ["counts"] }[collection.kind];
    const values = collection.kind === "counts" ? [collection.text] : collection.text.split(",");
    fields.forEach((id, i) => set(id, values[i]));
    for (const kind of ["geometric", "extreme", "counts"]) this.refuse(kind, []);
    this.fit();
  }

  /** Show the fields of the kind of collection that is chosen. */
  fit() {
    const kind = this.find("#kind")?.value;
    for (const field of this.shadowRoot.querySelectorAll("[data-kind]")) {
      field.hidden = field.dataset.kind !== kind;
    }
  }

  /** Say what is wrong with an entry, until it is right; until then there are no results. */
  refuse(entry, reasons) {
    this.refusals.set(entry, reasons);
    const shown = [...this.refusals.values()].flat().join(" ");
    if (this.find(".refusal").textContent !== shown) this.find(".refusal").textContent = shown;
    for (const control of this.shadowRoot.querySelectorAll(`[data-entry="${entry}"]`)) {
      control.setAttribute("aria-invalid", reasons.length > 0);
    }
    if (reasons.length) this.clear();
  }
}

function body(views) {
  const has = (view) => !views || views.includes(view);
  const pictures = Object.entries(PICTURES).filter(([name]) => has(name)).map(([name, [title]]) =>
    `<figure><figcaption>${title}</figcaption>
     <div class="${name}${name === "errors" ? " drag" : ""}"></div>
     ${name === "errors" && !has("tables") ? '<p class="legend"></p>' : ""}</figure>`);
  const tables = '<div class="tables"><div class="table-errors"></div><div class="table-intervals"></div></div>';
  return `<div class="live${views ? " small" : ""}" role="group" aria-label="Explorer">
    ${views ? "" : TOP}<div class="controls">${views ? BUDGET : BUDGET + USERS}</div>
    <p class="refusal" role="alert"></p>
    ${has("words") ? '<p class="words" aria-live="polite"></p>' : ""}
    ${views?.includes("summary") ? '<p class="summary" aria-live="polite"></p>' : ""}
    <div class="pictures">${pictures.join("")}${has("tables") ? tables : ""}</div>
    ${views ? '<p class="more"><a>All of it, for your own counts: the Explorer</a></p>' : ""}
  </div>`;
}

customElements.define("clip-explorer", ClipExplorer);
})((globalThis.clip ??= {}));
