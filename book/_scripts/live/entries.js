// Read what a user enters, in a field or in the address; raise an InputError if it is invalid.

"use strict";

((clip) => {
const { extremeCounts, geometricCounts } = clip.maths;
const { plain } = clip.numbers;

const EPS = { least: 0.01, most: 10 };
const UPPER = { least: 0.001, most: 1_000_000_000 };
const LONGEST_UNIT = 16;
const MAX = { users: 100_000, samples: 1_000_000_000 };

/** Invalid input; the message, which the user sees, says why and what is valid. */
class InputError extends Error {}

/** Call `read`; return its value, or the message of its InputError. */
function attempt(read) {
  try {
    return { value: read(), problems: [] };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { problems: [error.message] };
  }
}

/** The slider's budgets: about 60 per decade, with 1, 2, 5 and 10 among them. They are rounded to
 * four digits, because browsers differ in the last bit of powers, which could change the rank ⌈2/eps⌉. */
const GRID = [0.01, 0.1, 1].flatMap((decade) =>
  [[1, 2, 18], [2, 5, 24], [5, 10, 18]].flatMap(([from, to, steps]) =>
    Array.from({ length: steps }, (_, i) => fourDigits(decade * from * (to / from) ** (i / steps))),
  ),
).concat(EPS.most);

function nearestOnGrid(eps) {
  const distance = (i) => Math.abs(Math.log(GRID[i] / eps));
  return GRID.reduce((best, _, i) => (distance(i) < distance(best) ? i : best), 0);
}

function fourDigits(number) {
  return Number(number.toPrecision(4));
}

/** "0.1" -> 0.1 */
function readEps(text) {
  return readNumber("ε", fourDigits(Number(text)), text, EPS);
}

/** "65" -> 65, the largest value that a sample may have. */
function readUpper(text) {
  return readNumber("U", Number(text), text, UPPER);
}

function readNumber(name, number, text, { least, most }) {
  if (String(text).trim() && number >= least && number <= most) return number;
  throw new InputError(`${name} must be a number from ${least} to ${plain(most)}, not “${shortened(text)}”.`);
}

/** "km/h" -> "km/h"; the unit is inserted into the page, so it must not contain markup. */
function readUnit(text) {
  const unit = text.trim();
  if (unit.length <= LONGEST_UNIT && !/[<>&"]/.test(unit)) return unit;
  throw new InputError(
    `The unit must have at most ${LONGEST_UNIT} characters, none of them < > & or ", not “${shortened(text)}”.`,
  );
}

/** "6" -> { kind: "geometric", text: "6", counts: [64, 32, 32, …] }, and so on. */
function readCollection(kind, text) {
  if (kind === "geometric") {
    const [M] = readWhole(text, [["M", 0, 10]]);
    return { kind, text: `${M}`, counts: geometricCounts(M) };
  }
  if (kind === "extreme") {
    const limits = [["The number of users L", 1, MAX.users], ["m*", 1, MAX.samples]];
    const [users, most] = readWhole(text, limits);
    return { kind, text: `${users},${most}`, counts: extremeCounts(users, most) };
  }
  return { kind, text: text.trim(), counts: readCounts(text) };
}

function readWhole(text, limits) {
  const last = limits.length - 1;
  const parts = text.split(",");
  parts.splice(last, Infinity, parts.slice(last).join(","));
  return limits.map(([name, least, most], i) => {
    const number = /^\s*\d+\s*$/.test(parts[i]) ? Number(parts[i]) : NaN;
    if (number >= least && number <= most) return number;
    throw new InputError(
      `${name} must be a whole number from ${least} to ${plain(most)}, not “${shortened(parts[i])}”.`,
    );
  });
}

/** "40, 10x50 2" -> one user with 40 samples, 50 users with 10 each, and one with 2. */
function readCounts(text) {
  const entries = text.split(/[\s,;]+/).filter(Boolean);
  if (!entries.length) throw new InputError("Enter at least one number of samples, such as 40, 10, 2.");
  const runs = entries.map(readRun);
  const nUsers = runs.reduce((sum, [, users]) => sum + users, 0);
  if (nUsers > MAX.users) {
    throw new InputError(`At most ${plain(MAX.users)} users are supported; you entered ${plain(nUsers)}.`);
  }
  return runs.flatMap(([count, users]) => Array(users).fill(count));
}

function readRun(entry) {
  const match = /^(\d+)(?:[x×*](\d+))?$/.exec(entry);
  if (!match) {
    throw new InputError(
      `“${shortened(entry)}” is not a number of samples: enter whole numbers, such as 40, 10, 2, ` +
        "or 10x50 for 50 users with 10 samples each.",
    );
  }
  const [count, users] = [Number(match[1]), Number(match[2] ?? 1)];
  if (count < 1 || users < 1) throw new InputError(`“${entry}”: a user has at least one sample.`);
  if (count > MAX.samples) {
    throw new InputError(`“${shortened(entry)}”: at most ${plain(MAX.samples)} samples per user are supported.`);
  }
  return [count, users];
}

function readObjective(text) {
  if (text === "bound" || text === "l1") return text;
  throw new InputError(`The objective must be “bound” or “l1”, not “${shortened(text)}”.`);
}

/** A text from the user, shortened for a message. */
function shortened(text) {
  const word = String(text ?? "").trim();
  return word.length > 20 ? `${word.slice(0, 20)}…` : word;
}

clip.entries = {
  EPS, UPPER, LONGEST_UNIT, InputError, attempt, GRID, nearestOnGrid, readEps, readUpper, readUnit,
  readCollection, readObjective, shortened,
};
})((globalThis.clip ??= {}));
