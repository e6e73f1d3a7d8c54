// The state of the Explorer, and the page's address that holds it: #eps=0.1&geometric=6&objective=l1.
// All Explorers of a page share one state; links such as "#eps=0.1" change it.

"use strict";

((clip) => {
const { entries } = clip;
const { contributions } = clip.maths;

/** The bound and the unit of the paper; an address contains them only if they differ. */
const PAPER = { upper: 65, unit: "km/h" };
const DEFAULTS = `eps=0.5&geometric=6&objective=bound&upper=${PAPER.upper}&unit=${PAPER.unit}`;

const PARSERS = {
  eps: (text) => ({ eps: entries.readEps(text) }),
  objective: (text) => ({ objective: entries.readObjective(text) }),
  upper: (text) => ({ upper: entries.readUpper(text) }),
  unit: (text) => ({ unit: entries.readUnit(text) }),
  geometric: (text) => ({ collection: entries.readCollection("geometric", text) }),
  extreme: (text) => ({ collection: entries.readCollection("extreme", text) }),
  counts: (text) => ({ collection: entries.readCollection("counts", text) }),
};

/** The previous state, updated by an address. Parts that are missing or invalid stay as they are. */
function read(address, previous) {
  const state = { ...previous, problems: [] };
  for (const [name, text] of new URLSearchParams(address)) {
    if (!Object.hasOwn(PARSERS, name)) continue;
    const { value, problems } = entries.attempt(() => PARSERS[name](text));
    Object.assign(state, value);
    state.problems.push(...problems);
  }
  const { collection, upper } = state;
  if (collection !== previous?.collection || upper !== previous.upper) {
    state.users = contributions(collection.counts, upper);
  }
  return state;
}

/** The address of a state, without "#". */
function address({ eps, collection, objective, upper, unit }) {
  const counts = encodeURIComponent(collection.text.replaceAll(/[\s,;]+/g, ","));
  const parts = [`eps=${eps}`, `${collection.kind}=${counts.replaceAll("%2C", ",")}`];
  if (objective !== "bound") parts.push(`objective=${objective}`);
  if (upper !== PAPER.upper) parts.push(`upper=${upper}`);
  if (unit !== PAPER.unit) parts.push(`unit=${encodeURIComponent(unit)}`);
  return parts.join("&");
}

const watchers = new Set();
let state;
let addressTimer;

function setState(next) {
  state = next;
  for (const watcher of watchers) watcher(state);
  clearTimeout(addressTimer);
  // Delayed, because browsers limit how often the address may change.
  addressTimer = setTimeout(() => history.replaceState(history.state, "", `#${address(state)}`), 200);
}

/** Call `watcher` with the state, now and whenever it changes; `start` overrides the defaults. */
function watch(watcher, start) {
  state ??= read(location.hash.slice(1), read(start, read(DEFAULTS)));
  watchers.add(watcher);
  watcher(state);
}

function unwatch(watcher) {
  watchers.delete(watcher);
}

/** Update the state by a part of an address; if it is invalid, change nothing. Return the problems. */
function change(piece) {
  const next = read(piece, state);
  if (!next.problems.length) setState(next);
  return next.problems;
}

// Other fragments, such as the anchor of a section, do not change the state.
addEventListener("hashchange", () => {
  if (location.hash.includes("=")) setState(read(location.hash.slice(1), state));
});

clip.state = { DEFAULTS, address, watch, unwatch, change };
})((globalThis.clip ??= {}));
