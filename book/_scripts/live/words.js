// Compute the numbers of a state once; then write them as sentences and tables.

"use strict";

((clip) => {
const { maths } = clip;
const { GRID } = clip.entries;
const { inUnit, withUnit, plain, short } = clip.numbers;

const MAX_ROWS = 12;

/** All numbers that are shown; curves are taken from the previous results if only eps differs. */
function computeResults({ users, unit, eps, objective }, previous) {
  const width = maths.threshold(users, eps, objective);
  const strategies = objective === "bound" ? FOR_THE_BOUND : FOR_L1;
  const isSame = previous?.users === users && previous.objective === objective;
  const curveOf = (look, name, error) => ({
    look, name, value: error(users, eps),
    values: isSame ? previous.valuesByName.get(name) : GRID.map((point) => error(users, point)),
  });
  const curves = strategies.map((strategy) => curveOf(...strategy));
  const floor = curveOf("floor", "lower bound", maths.minimaxLowerBound);
  const valuesByName = new Map([...curves, floor].map(({ name, values }) => [name, values]));
  return { users, unit, eps, objective, width, curves, floor, valuesByName, grid: GRID };
}

function laplaceError(users, eps) {
  return maths.symmetricError(users, users.upper * users.maxCount, eps);
}

function paperError(users, eps) {
  return maths.symmetricError(users, maths.threshold(users, eps), eps, "l1");
}

const FOR_THE_BOUND = [
  ["opt", "OPT-worst-case", maths.optimalError],
  ["akmv", "AKMV on all-U data", maths.akmvError],
  ["laplace", "Laplace", laplaceError],
];

const FOR_L1 = [
  ["l1", "l1 optimum", (users, eps) => maths.optimalError(users, eps, "l1")],
  ["opt", "OPT-worst-case", paperError],
  ["laplace", "Laplace", laplaceError],
];

/** The results in words. */
function words(results) {
  const { users, unit, eps, objective, width } = results;
  const above = users.sorted.filter((count) => users.upper * count > width).length;
  const best = `S = ${withUnit(width, unit)}`;
  const start = objective === "bound" ? rankInWords(results) :
    `At ε = ${eps} the best total width for the mean absolute error is ${best}.`;
  return [start, clippedInWords(results, above), errorInWords(results)].join(" ");
}

/** The results for readers who are new to the book. */
function summary({ users, unit, eps, width, curves, floor }) {
  const [best, akmv, laplace] = curves;
  const bias = short(maths.symmetricBias(users, width));
  const noise = short(width / users.total / eps);
  const most = withUnit(best.value, unit);
  const top = withUnit(users.upper, unit);
  return `At ε = ${eps} the best clipping has a worst-case error of ${most}: ` +
    `${bias} from clipping, and ${noise} from the noise. ` +
    `Without clipping, the error is ${withUnit(laplace.value, unit)}. ` +
    `AKMV has an error of ${withUnit(akmv.value, unit)} if every reading is ${top}. ` +
    `No private method of any kind can guarantee less than ${withUnit(floor.value, unit)}.`;
}

function rankInWords({ users, unit, eps, width }) {
  const k = maths.rank(eps);
  const rule = `At ε = ${eps} the rank is k = ⌈2/ε⌉ = ${plain(k)}`;
  if (!width) return `${rule}, more than the number of users, ${plain(users.nUsers)}: T = 0.`;
  const which = k === 1 ? "largest" : `${plain(k)}${ending(k)} largest`;
  const next = users.upper * (users.sorted[k] ?? 0);
  const tie = Math.abs(2 / eps - k) <= 1e-9 * k && next < width ?
    ` (2/ε is a whole number: every width from ${short(next)} to ${short(width)} has the same error)` : "";
  const samples = users.sorted[k - 1] === 1 ? "1 sample" : `${plain(users.sorted[k - 1])} samples`;
  return `${rule}. The ${which} contribution is ${samples}, so T = ${withUnit(width, unit)}${tie}.`;
}

function clippedInWords({ users, unit, width }, above) {
  if (!above) return "No user is clipped: this is the Laplace mechanism.";
  const middle = withUnit(users.upper / 2, unit);
  if (!width) return `Every sample is replaced by U/2 = ${middle}, without any noise.`;
  const [a, b] = interval(users, users.maxCount, width);
  const who = above === users.nUsers ? "All users are" : above === 1 ? "One user is" :
    `${plain(above)} of ${plain(users.nUsers)} users are`;
  return `${who} clipped; a user with ${plain(users.maxCount)} samples is clipped to the interval ` +
    `from ${short(a)} to ${withUnit(b, unit)}.`;
}

function errorInWords({ users, unit, eps, objective, width, curves: [best, ...others], floor }) {
  const bias = maths.symmetricBias(users, width);
  const noise = width / users.total / eps;
  const parts = `a bias of ${short(bias)} and noise of mean size ${short(noise)}`;
  const error = objective === "bound" ? `${withUnit(best.value, unit)}: ${parts}` :
    `${withUnit(best.value, unit)} on average over the noise (${parts})`;
  const times = others.map(({ name, value }) => {
    const ratio = short(value / best.value);
    return `${ratio === "1" ? "just " : `${ratio} times `}as large with ${name}`;
  });
  return `The worst-case error is ${error}. It is ${times.join(" and ")}; ` +
    `no private mechanism can guarantee less than ${withUnit(floor.value, unit)}.`;
}

function ending(k) {
  const teen = k % 100 > 10 && k % 100 < 14;
  return teen ? "th" : ["th", "st", "nd", "rd"][k % 10] ?? "th";
}

function interval(users, count, width) {
  const { lower, upper } = maths.centredClipping({ ...users, counts: [count] }, width);
  return [lower[0], upper[0]];
}

/** Errors, and their ratios to that of the first mechanism. */
function errorTable({ curves, floor, unit }) {
  const rows = [...curves, floor].map(({ look, name, value }) =>
    `<tr><th scope="row">${swatch(look)}${name}</th><td>${data(value)}</td>
     <td>${short(value / curves[0].value)}</td></tr>`);
  return table("Worst-case errors", ["", unit || "error", "ratio to first"], rows);
}

/** The interval for each number of samples. */
function intervalTable({ users, unit, width }) {
  const sizes = maths.sizes(users).toReversed();
  const rows = sizes.slice(0, MAX_ROWS).map(({ count, number }) => {
    const [a, b] = interval(users, count, width);
    return `<tr><th scope="row">${plain(count)}</th><td>${plain(number)}</td>
      <td>${data(a)}</td><td>${data(b)}</td></tr>`;
  });
  const more = sizes.length - MAX_ROWS;
  if (more > 0) rows.push(`<tr><td colspan="4">and ${plain(more)} smaller ${more === 1 ? "number" : "numbers"} of samples</td></tr>`);
  return table(inUnit("Clip intervals", unit), ["samples", "users", "from", "to"], rows);
}

/** The legend of the curves. */
function legend({ curves, floor }) {
  return [...curves, floor].map(({ look, name }) => `<span>${swatch(look)} ${name}</span>`).join(" ");
}

function table(caption, heads, rows) {
  const head = heads.map((name) => name ? `<th scope="col">${name}</th>` : "<td></td>").join("");
  return `<table><caption>${caption}</caption><thead><tr>${head}</tr></thead>
    <tbody>${rows.join("")}</tbody></table>`;
}

/** A number, rounded for display, with its full value in the markup. */
function data(value) {
  return `<data value="${value}">${short(value)}</data>`;
}

function swatch(look) {
  const shape = look === "floor" ? '<path class="floor" d="M0 0H32V11H0Z"/>' :
    `<path class="${look} curve" d="M0 5.5H32"/>`;
  return `<svg class="swatch" viewBox="0 0 32 11" aria-hidden="true">${shape}</svg>`;
}

clip.words = { computeResults, words, summary, errorTable, intervalTable, legend };
})((globalThis.clip ??= {}));
