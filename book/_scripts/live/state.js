// What is chosen, and the page's address, which holds it: #eps=0.1&geometric=6&objective=l1.
// A page has one state; all its instances move together, and links to "#eps=0.1" set it.

"use strict";

((clip) => {
const { entries } = clip;
const { contributions } = clip.maths;

/** The bound and the unit of the paper; an address says them only if they are others. */
const PAPER = { upper: 65, unit: "km/h" };
const DEFAULTS = `eps=0.5&geometric=6&objective=bound&upper=${PAPER.upper}&unit=${PAPER.unit}`;

const READERS = {
  eps: (text) => ({ eps: entries.readEps(text) }),
  objective: (text) => ({ objective: entries.readObjective(text) }),
  upper: (text) => ({ upper: entries.readUpper(text) }),
  unit: (text) => ({ unit: entries.readUnit(text) }),
  geometric: (text) => ({ collection: entries.readCollection("geometric", text) }),
  extreme: (text) => ({ collection: entries.readCollection("extreme", text) }),
  counts: (text) => ({ collection: entries.readCollection("counts", text) }),
};

/** The state that an address stands for. What it does not say, and what is wrong, stays as it is. */
function read(address, before) {
  const state = { ...before, refusals: [] };
  for (const [name, text] of new URLSearchParams(address)) {
    if (!Object.hasOwn(READERS, name)) continue;
    const { given, refusals } = entries.attempt(() => READERS[name](text));
    Object.assign(state, given);
    state.refusals.push(...refusals);
  }
  const { collection, upper } = state;
  if (collection !== before?.collection || upper !== before.upper) {
    state.users = contributions(collection.counts, upper);
  }
  return state;
}

/** The address of a state, without "#". */
function address({ eps, collection, objective, upper, unit }) {
  const counts = encodeURIComponent(collection.text.replaceAll(/[\s,;]+/g, ","));
  const said = [`eps=${eps}`, `${collection.kind}=${counts.replaceAll("%2C", ",")}`];
  if (objective !== "bound") said.push(`objective=${objective}`);
  if (upper !== PAPER.upper) said.push(`upper=${upper}`);
  if (unit !== PAPER.unit) said.push(`unit=${encodeURIComponent(unit)}`);
  return said.join("&");
}

const watchers = new Set();
let state;
let writing;

function settle(next) {
  state = next;
  for (const watcher of watchers) watcher(state);
  clearTimeout(writing);
  // A moment later: browsers refuse an address that changes with every step of a slider.
  writing = setTimeout(() => history.replaceState(history.state, "", `#${address(state)}`), 200);
}

/** Call `watcher` with the state, now and whenever it changes; `start` is where the page begins. */
function watch(watcher, start) {
  state ??= read(location.hash.slice(1), read(start, read(DEFAULTS)));
  watchers.add(watcher);
  watcher(state);
}

function unwatch(watcher) {
  watchers.delete(watcher);
}

/** Change the state as a piece of an address says, or return why that is refused. */
function change(piece) {
  const next = read(piece, state);
  if (!next.refusals.length) settle(next);
  return next.refusals;
}

// Other fragments, such as a section's, are none of ours.
addEventListener("hashchange", () => {
  if (location.hash.includes("=")) settle(read(location.hash.slice(1), state));
});

clip.state = { DEFAULTS, address, watch, unwatch, change };
})((globalThis.clip ??= {}));
