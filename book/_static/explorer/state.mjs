// What is chosen, and the page's address, which holds it: #eps=0.1&geometric=6&objective=l1.
// A page has one state; all its instances move together, and links to "#eps=0.1" set it.

import { contributions, extremeCounts, geometricCounts } from "./maths.mjs";

export const UPPER = 65; // km/h
export const EPS = { least: 0.01, most: 10 };

const MOST = { users: 100_000, samples: 1_000_000_000 };
export const DEFAULTS = "eps=0.5&geometric=6&objective=bound";

/** What the reader gave cannot be used; the message says why, and what can. */
export class Refusal extends Error {}

/** The slider's budgets, about 20 a decade between 1, 2, 5 and 10. Rounded to four digits, because
 * 10 ** x differs by a last bit between browsers, and 2/eps may not: it is rounded up to a rank. */
export const GRID = [0.01, 0.1, 1].flatMap((decade) =>
  [[1, 2, 18], [2, 5, 24], [5, 10, 18]].flatMap(([from, to, steps]) =>
    Array.from({ length: steps }, (_, i) => fourDigits(decade * from * (to / from) ** (i / steps))),
  ),
).concat(EPS.most);

export function nearestOnGrid(eps) {
  const distance = (i) => Math.abs(Math.log(GRID[i] / eps));
  return GRID.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
}

function fourDigits(number) {
  return Number(number.toPrecision(4));
}

/** "0.1" -> 0.1 */
export function readEps(text) {
  const eps = fourDigits(Number(text));
  if (String(text).trim() && eps >= EPS.least && eps <= EPS.most) return eps;
  throw new Refusal(`ε must be a number from ${EPS.least} to ${EPS.most}, not “${shown(text)}”.`);
}

/** "6" -> { kind: "geometric", text: "6", counts: [64, 32, 32, …] }, and so on. */
export function readCollection(kind, text) {
  if (kind === "geometric") {
    const [M] = readWhole(text, [["M", 0, 10]]);
    return { kind, text: `${M}`, counts: geometricCounts(M) };
  }
  if (kind === "extreme") {
    const limits = [["The number of users L", 1, MOST.users], ["m*", 1, MOST.samples]];
    const [users, most] = readWhole(text, limits);
    return { kind, text: `${users},${most}`, counts: extremeCounts(users, most) };
  }
  const short = isTable(text) ? inRuns(readTable(text)) : text.trim();
  return { kind, text: short, counts: readCounts(short) };
}

/** Whether some line is neither numbers nor runs such as 10x50: a head, or names of users. */
function isTable(text) {
  return /\n/.test(text.trim()) && text.split(/[\s,;]+/).some((word) => !/^(\d+([x×*]\d+)?)?$/.test(word));
}

/** "user,samples\nann,40\nbob,2" -> [40, 2]; the column is the one named so, or else the last. */
function readTable(text) {
  const cells = (line) => line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  const rows = text.trim().split(/\r?\n/).filter((line) => line.trim()).map(cells);
  const named = rows[0].findIndex((name) => /^(counts?|samples|records|rows|n|m)$/i.test(name));
  const column = named < 0 ? rows[0].length - 1 : named;
  const head = named >= 0 || !/^\d+$/.test(rows[0][column]) ? 1 : 0;
  return rows.slice(head).map((row, i) => {
    if (/^\d+$/.test(row[column] ?? "")) return Number(row[column]);
    throw new Refusal(`Line ${i + 1 + head}: “${shown(row[column])}” is no number of samples.`);
  });
}

/** [40, 2, 40] -> "40x2, 2x1" */
function inRuns(counts) {
  const runs = new Map();
  for (const count of counts.toSorted((a, b) => b - a)) runs.set(count, (runs.get(count) ?? 0) + 1);
  return [...runs].map(([count, users]) => `${count}x${users}`).join(", ");
}

function readWhole(text, limits) {
  const last = limits.length - 1;
  const parts = text.split(",");
  parts.splice(last, Infinity, parts.slice(last).join(","));
  return limits.map(([name, least, most], i) => {
    const number = /^\s*\d+\s*$/.test(parts[i]) ? Number(parts[i]) : NaN;
    if (number >= least && number <= most) return number;
    throw new Refusal(
      `${name} must be a whole number from ${least} to ${plain(most)}, not “${shown(parts[i])}”.`,
    );
  });
}

/** "40, 10x50 2" -> one user with 40 samples, 50 users with 10 each, and one with 2. */
function readCounts(text) {
  const entries = text.split(/[\s,;]+/).filter(Boolean);
  if (!entries.length) throw new Refusal("Write at least one number of samples, such as 40, 10, 2.");
  const runs = entries.map(readRun);
  const nUsers = runs.reduce((sum, [, users]) => sum + users, 0);
  if (nUsers > MOST.users) {
    throw new Refusal(`At most ${plain(MOST.users)} users, please: these are ${plain(nUsers)}.`);
  }
  return runs.flatMap(([count, users]) => Array(users).fill(count));
}

function readRun(entry) {
  const found = /^(\d+)(?:[x×*](\d+))?$/.exec(entry);
  if (!found) {
    throw new Refusal(
      `“${shown(entry)}” is no number of samples: write whole numbers, such as 40, 10, 2, ` +
        "or 10x50 for 50 users with 10 samples each.",
    );
  }
  const [count, users] = [Number(found[1]), Number(found[2] ?? 1)];
  if (count < 1 || users < 1) throw new Refusal(`“${entry}”: a user has at least one sample.`);
  if (count > MOST.samples) {
    throw new Refusal(`“${shown(entry)}”: at most ${plain(MOST.samples)} samples a user, please.`);
  }
  return [count, users];
}

function readObjective(text) {
  if (text === "bound" || text === "l1") return text;
  throw new Refusal(`The objective must be “bound” or “l1”, not “${shown(text)}”.`);
}

/** The state that an address stands for. What it does not say, and what is wrong, stays as it is. */
function read(address, before) {
  const state = { ...before, refusals: [] };
  for (const [name, text] of new URLSearchParams(address)) {
    try {
      if (name === "eps") state.eps = readEps(text);
      else if (name === "objective") state.objective = readObjective(text);
      else if (["geometric", "extreme", "counts"].includes(name)) {
        state.collection = readCollection(name, text);
        state.users = contributions(state.collection.counts, UPPER);
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      state.refusals.push(error.message);
    }
  }
  return state;
}

/** The address of a state, without "#". */
export function address({ eps, collection, objective }) {
  const counts = collection.text.replaceAll(/[\s,;]+/g, ",");
  const rest = objective === "bound" ? "" : `&objective=${objective}`;
  return `eps=${eps}&${collection.kind}=${encodeURIComponent(counts).replaceAll("%2C", ",")}${rest}`;
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
export function watch(watcher, start) {
  state ??= read(location.hash.slice(1), read(start, read(DEFAULTS)));
  watchers.add(watcher);
  watcher(state);
}

export function unwatch(watcher) {
  watchers.delete(watcher);
}

/** Change the state as a piece of an address says, or return why that is refused. */
export function change(piece) {
  const next = read(piece, state);
  if (!next.refusals.length) settle(next);
  return next.refusals;
}

// Other fragments, such as a section's, are none of ours.
addEventListener("hashchange", () => {
  if (location.hash.includes("=")) settle(read(location.hash.slice(1), state));
});

export function plain(number) {
  return number.toLocaleString("en-GB");
}

function shown(text) {
  const word = String(text ?? "").trim();
  return word.length > 20 ? `${word.slice(0, 20)}…` : word;
}
