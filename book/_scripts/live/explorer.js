// <clip-explorer>: an interactive view of user-level clipping. Without attributes it shows everything.
// views="intervals objective errors words tables" selects parts ("summary" instead of "words" is for
// readers who are new to the book); start="eps=0.5" sets the initial state. The element's content is
// shown in print and without scripts.

"use strict";

((clip) => {
const { charts } = clip;
const { attempt, EPS, GRID, LONGEST_UNIT, nearestOnGrid, UPPER } = clip.entries;
const { plain } = clip.numbers;
const { address, change, DEFAULTS, unwatch, watch } = clip.state;
const { style } = clip;
const tables = clip.table;
const { errorTable, intervalTable, legend, summary, words, computeResults } = clip.words;

const PRESETS = {
  "start again": DEFAULTS,
  "strong privacy": "eps=0.1&geometric=6&objective=bound",
  "constant output: T = 0": "eps=0.01&geometric=6&objective=bound",
  "a flat minimum": "eps=2&geometric=6&objective=bound",
  "one dominant user": "eps=0.5&extreme=101,1000&objective=bound",
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
    <label class="file">or a CSV file with one row per user or per sample; you can also paste it or
      drop it here. It stays in your browser.
      <input id="file" type="file" accept=".csv,.tsv,.txt,text/csv"></label>
    <p class="given" role="status"></p>
    <span class="question" hidden><label for="way">Read the numbers of samples from</label>
      <select id="way" data-entry="counts"></select></span>
  </fieldset>
  <fieldset>
    <span><label for="upper">Samples from 0 to U =</label>
      <input id="upper" type="number" min="${UPPER.least}" max="${UPPER.most}" step="any" data-entry="upper"></span>
    <span><label for="unit">unit</label>
      <input id="unit" type="text" maxlength="${LONGEST_UNIT}" spellcheck="false" data-entry="unit"></span>
  </fieldset>
  <fieldset>
    <label for="objective">Minimise</label>
    <select id="objective">
      <option value="bound">bias + mean absolute noise (the paper)</option>
      <option value="l1">mean absolute error</option>
    </select>
  </fieldset>`;

const PICTURES = {
  intervals: ["Where samples are clipped", charts.intervals],
  objective: ["Which width is best", charts.objective],
  errors: ["Error against privacy", charts.errors],
};
const TEXTS = ["legend", "words", "summary"];
const RESULTS = [...Object.keys(PICTURES), ...TEXTS, "table-errors", "table-intervals"];

const NOT_READABLE = "No column of this table has numbers of samples, and none has repeated values that " +
  "could identify users.";

/** 2, "user" -> "2 users" */
function counted(number, noun) {
  return `${plain(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function choicePrompt({ names, rows }, interpretations) {
  const size = `This table has ${counted(rows.length, "row")} and ${counted(names.length, "column")}.`;
  const hint = " Its first column has repeated values, as if each row were one sample.";
  return `${size}${tables.mayHaveRowPerSample(interpretations) ? hint : ""} Choose below how to read it.`;
}

class ClipExplorer extends HTMLElement {
  connectedCallback() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: "open" });
    const views = this.getAttribute("views")?.split(" ");
    root.innerHTML = `<style>${style}</style>${body(views)}<slot></slot>`;
    this.find = (selector) => root.querySelector(selector);
    this.problems = new Map();
    this.origin = "";
    this.clearTable();
    for (const type of ["input", "change"]) {
      this.find(".controls").addEventListener(type, (event) => this.handleInput(event));
    }
    for (const type of ["pointerdown", "pointermove"]) {
      this.find(".drag")?.addEventListener(type, (event) => this.dragBudget(event));
    }
    this.find(".copy")?.addEventListener("click", (event) => this.copyLink(event.target));
    const counts = this.find("#counts");
    counts?.addEventListener("drop", (event) => this.readFile(event, event.dataTransfer.files[0]));
    this.watcher = (state) => this.update(state);
    watch(this.watcher, document.querySelector("clip-explorer[start]")?.getAttribute("start"));
  }

  disconnectedCallback() {
    unwatch(this.watcher);
  }

  /** Copy the address of the current state. */
  async copyLink(button) {
    const link = Object.assign(new URL(location), { hash: address(this.state) });
    await navigator.clipboard.writeText(link.href);
    button.textContent = "copied";
    setTimeout(() => (button.textContent = "copy link"), 2000);
  }

  /** Read the users from a file, without sending it anywhere. */
  async readFile(event, file) {
    if (!file) return; // dropped text, which the browser inserts into the field
    event.preventDefault();
    const text = await file.text();
    this.find("#file").value = ""; // so that the same file can be chosen again after a correction
    this.find("#counts").value = "";
    this.typing = undefined;
    this.readUsers(text);
  }

  /** Apply the changed value of a control. */
  handleInput(event) {
    const { target, type } = event;
    // A field keeps its text while the user types; afterwards it shows the value as it was read.
    this.typing = type === "input" ? target : undefined;
    const value = (id) => this.find(`#${id}`).value;
    const actions = {
      file: () => this.readFile(event, target.files[0]),
      way: () => this.interpretTable(this.interpretations[value("way")]),
      slider: () => this.applyChange({ eps: GRID[value("slider")] }),
      eps: () => this.applyChange({ eps: value("eps") }),
      objective: () => this.applyChange({ objective: value("objective") }),
      upper: () => this.applyChange({ upper: value("upper") }),
      unit: () => this.applyChange({ unit: value("unit") }),
      geometric: () => this.applyChange({ geometric: value("M") }),
      extreme: () => this.applyChange({ extreme: `${value("L")},${value("most")}` }),
      counts: () => this.readUsers(value("counts")),
    };
    (actions[target.id] ?? actions[value("kind")])();
    this.showMatchingFields();
  }

  /** Change the state by parts of an address; `origin` describes how a table was read. */
  applyChange(parts, origin = "") {
    this.origin = origin;
    const problems = change(`${new URLSearchParams(parts)}`);
    this.origin = "";
    if (problems.length) this.setProblems(Object.keys(parts)[0], problems);
  }

  /** Read users from counts or a table; if a table is ambiguous, offer its interpretations. */
  readUsers(text) {
    this.clearTable();
    if (!tables.isTable(text)) return this.applyChange({ counts: text });
    this.table = tables.readTable(text);
    this.interpretations = tables.interpretations(this.table);
    if (!this.interpretations.length) return this.setProblems("counts", [NOT_READABLE]);
    const labels = this.interpretations.map((chosen) => tables.optionLabel(this.table, chosen));
    const options = labels.map((label, i) => new Option(label, i));
    this.find("#way").replaceChildren(new Option("choose…", ""), ...options);
    this.find(".question").hidden = false;
    this.interpretTable(tables.certainInterpretation(this.table, this.interpretations));
  }

  /** Read the table in the chosen interpretation; without one, prompt for it. */
  interpretTable(chosen) {
    this.prompt = chosen ? "" : choicePrompt(this.table, this.interpretations);
    this.find("#way").value = chosen ? this.interpretations.indexOf(chosen) : "";
    this.setProblems("counts", []);
    if (!chosen) return this.clearResults();
    const { value: counts, problems } = attempt(() => tables.countUsers(this.table, chosen));
    if (counts) this.applyChange({ counts: tables.inRuns(counts) }, `, ${tables.description(this.table, chosen)}`);
    else this.setProblems("counts", problems);
  }

  /** Discard the table and its interpretations. */
  clearTable() {
    this.table = undefined;
    this.interpretations = [];
    this.prompt = "";
    if (this.find(".question")) this.find(".question").hidden = true;
  }

  /** Set the budget to the pointer's position in the error chart. */
  dragBudget(event) {
    if (!event.buttons) return;
    const { left, width } = event.currentTarget.firstChild.getBoundingClientRect();
    const eps = charts.budgetAt((event.clientX - left) / width, GRID);
    change(`eps=${GRID[nearestOnGrid(eps)]}`);
  }

  update(state) {
    this.state = state;
    this.find(".more a")?.setAttribute("href", `explorer.html#${address(state)}`);
    this.setControls(state);
    for (const entry of ["eps", "upper", "unit"]) this.setProblems(entry, []);
    this.setProblems("address", state.problems);
    const isInvalid = [...this.problems.values()].some((problems) => problems.length);
    if (isInvalid || this.prompt) this.clearResults();
    else this.draw(computeResults(state, this.results));
  }

  draw(results) {
    this.results = results;
    for (const [view, [, draw]] of Object.entries(PICTURES)) this.fill(`.${view}`, draw(results));
    this.fill(".legend", legend(results));
    this.fill(".words", words(results));
    this.fill(".summary", summary(results));
    this.fill(".table-errors", errorTable(results));
    this.fill(".table-intervals", intervalTable(results));
    this.setStatus(this.usersRead);
    this.showResults(true);
  }

  /** Remove results that no longer match the controls. */
  clearResults() {
    for (const view of RESULTS) this.fill(`.${view}`, "");
    this.setStatus(this.prompt);
    this.showResults(false);
  }

  showResults(visible) {
    this.find(".pictures").hidden = !visible;
    if (this.find(".copy")) this.find(".copy").disabled = !visible;
  }

  /** Show which users were read, or the prompt; as text, because column names may look like markup. */
  setStatus(text) {
    const place = this.find(".given");
    if (place && place.textContent !== text) place.textContent = text;
  }

  fill(selector, content) {
    const place = this.find(selector);
    if (place) place.innerHTML = content;
  }

  /** Set the controls to the state, except the field that the user is typing in. */
  setControls({ eps, collection, objective, upper, unit, users }) {
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
    this.usersRead = `Read: ${counted(users.nUsers, "user")} with ${counted(users.total, "sample")}${this.origin}.`;
    if (!this.origin) this.clearTable();
    set("kind", collection.kind);
    const fields = { geometric: ["M"], extreme: ["L", "most"], counts: ["counts"] }[collection.kind];
    const values = collection.kind === "counts" ? [collection.text] : collection.text.split(",");
    fields.forEach((id, i) => set(id, values[i]));
    for (const kind of ["geometric", "extreme", "counts"]) this.setProblems(kind, []);
    this.showMatchingFields();
  }

  /** Show only the fields of the chosen kind of collection. */
  showMatchingFields() {
    const kind = this.find("#kind")?.value;
    for (const field of this.shadowRoot.querySelectorAll("[data-kind]")) {
      field.hidden = field.dataset.kind !== kind;
    }
  }

  /** Show the problems of an entry, or remove them; while there are any, no results are shown. */
  setProblems(entry, problems) {
    this.problems.set(entry, problems);
    const message = [...this.problems.values()].flat().join(" ");
    if (this.find(".refusal").textContent !== message) this.find(".refusal").textContent = message;
    for (const control of this.shadowRoot.querySelectorAll(`[data-entry="${entry}"]`)) {
      control.setAttribute("aria-invalid", problems.length > 0);
    }
    if (problems.length) this.clearResults();
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
    ${views ? '<p class="more"><a>Open the full Explorer, also for your own counts</a></p>' : ""}
  </div>`;
}

customElements.define("clip-explorer", ClipExplorer);
})((globalThis.clip ??= {}));
