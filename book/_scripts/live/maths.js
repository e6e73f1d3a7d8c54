// The worst-case maths of userdp, for the browser. Each function mirrors the Python function of the
// same name, in the same order of operations; tests/site/pages/test_explorer.py compares them.
//
// They may differ in rounding, because Python computes 2/eps as an exact fraction and sums arrays
// pairwise. The rank k and the threshold T agree for all eps from 0.001 with at most four digits, since
// 2/eps is then a whole number or far from one; sums agree to a relative 1e-12.

"use strict";

((clip) => {
/** A float eps counts as 2/k when 2/eps is within this relative distance of the integer k. */
const SNAP = 1e-9;

/** For i = 0..M, 2^i users with 2^(M-i) samples each. */
function geometricCounts(M) {
  return Array.from({ length: M + 1 }, (_, i) => Array(2 ** i).fill(2 ** (M - i))).flat();
}

/** Every user has one sample, except the last, who has maxCount. */
function extremeCounts(nUsers, maxCount) {
  return [...Array(nUsers - 1).fill(1), maxCount];
}

/** The public part of a dataset. `sorted` holds the counts, largest first; totals[n] is the sum of the first n. */
function contributions(counts, upper) {
  const sorted = Float64Array.from(counts).sort().reverse();
  const totals = cumulative([0, ...sorted]);
  const nUsers = sorted.length;
  return { counts, upper, sorted, totals, nUsers, total: totals[nUsers], maxCount: sorted[0] };
}

/** The distinct counts, smallest first, each with its number of users. */
function sizes(users) {
  const numberOfUsers = new Map();
  for (const count of users.sorted.toReversed()) numberOfUsers.set(count, (numberOfUsers.get(count) ?? 0) + 1);
  return [...numberOfUsers].map(([count, number]) => ({ count, number }));
}

/** k = ceil(2/eps), where 2/eps close to an integer counts as that integer. */
function rank(eps) {
  const quotient = 2 / eps;
  const nearest = Math.round(quotient);
  if (nearest && Math.abs(quotient - nearest) <= SNAP * nearest) return nearest;
  return Math.ceil(quotient);
}

/** T, the total width that minimises `symmetricError`; the largest if there are several. */
function threshold(users, eps, objective = "bound") {
  if (objective === "l1") return stationaryWidth(users, eps);
  const k = rank(eps);
  return users.upper * (k <= users.nUsers ? users.sorted[k - 1] : 0);
}

/** The best stationary point over the pieces between neighbouring counts. */
function stationaryWidth(users, eps) {
  let [best, smallest] = [0, Infinity];
  const pieces = sizes(users);
  let [above, total] = [0, 0];
  const ends = pieces.map(({ count }) => users.upper * count);
  const sums = [];
  for (let i = pieces.length - 1; i >= 0; i--) {
    above += pieces[i].number;
    total += ends[i] * pieces[i].number;
    sums[i] = { above, total };
  }
  sums.forEach(({ above, total }, i) => {
    const stationary = total / (above + 2 * bestRatio(above, eps));
    const width = Math.min(Math.max(stationary, i ? ends[i - 1] : 0), ends[i]);
    const error = worstCase((total - above * width) / 2, width, eps, "l1");
    if (error < smallest) [best, smallest] = [width, error];
  });
  return best;
}

/** The ratio x of bias to sensitivity at which the mean absolute error is smallest: with
 * y = eps x, the root of e^y = 1 + (1 + y) / (n eps / 2), by Newton's method. */
function bestRatio(n, eps) {
  const kappa = (n * eps) / 2;
  let y = 1;
  for (let step = 1; Math.abs(step) > 1e-15 * y; y -= step) {
    step = (y - Math.log1p((1 + y) / kappa)) / (1 - 1 / (kappa + 1 + y));
  }
  return y / eps;
}

/** One interval per user, of total width S, centred at U/2. */
function centredClipping(users, totalWidth) {
  const middle = users.upper / 2;
  const halfWidths = users.counts.map((count) => totalWidth / (2 * count));
  return {
    lower: halfWidths.map((r) => Math.max(middle - r, 0)),
    upper: halfWidths.map((r) => Math.min(middle + r, users.upper)),
  };
}

function optimalClipping(users, eps, objective = "bound") {
  return centredClipping(users, threshold(users, eps, objective));
}

/** H(x): the sum of the floor(x) largest counts and a fraction of the next one. */
function sumOfLargest(users, x) {
  if (x >= users.nUsers) return users.total;
  const floor = Math.floor(x);
  return users.totals[floor] + users.sorted[floor] * (x - floor);
}

/** The smallest worst-case error: (U / 2N) H(2/eps) for the bound. */
function optimalError(users, eps, objective = "bound") {
  if (objective === "l1") {
    return symmetricError(users, threshold(users, eps, objective), eps, objective);
  }
  return (users.upper / (2 * users.total)) * sumOfLargest(users, 2 / eps);
}

/** The worst-case bias of symmetric intervals of total width S: sum of (U m - S)^+ / 2, over N. */
function symmetricBias(users, totalWidth) {
  let surplus = 0;
  for (const count of users.counts) surplus += Math.max(users.upper * count - totalWidth, 0);
  return surplus / 2 / users.total;
}

/** phi(S): the worst-case error of symmetric intervals of total width S. */
function symmetricError(users, totalWidth, eps, objective = "bound") {
  const bias = symmetricBias(users, totalWidth);
  return worstCase(bias, totalWidth / users.total, eps, objective);
}

/** bias + E|Z|, or the largest mean absolute error E|bias + Z|, for Laplace noise Z. */
function worstCase(bias, sensitivity, eps, objective) {
  if (objective === "bound") return bias + sensitivity * (1 / eps);
  if (sensitivity === 0) return bias;
  const tail = Math.exp(-eps * (bias / sensitivity)) / 2;
  return bias + 2 * sensitivity * (tail / eps);
}

/** A lower bound on the error of every private mechanism: (U/N) max_n H(n) b_n, from chains and from groups of users. */
function minimaxLowerBound(users, eps) {
  let largest = 0;
  for (let n = 1; n <= users.nUsers; n++) {
    const change = (users.upper * users.totals[n]) / users.total;
    const chain = 1 / (1 + Math.cosh(eps) + n * Math.sinh(eps));
    largest = Math.max(largest, change * (n > 3 ? chain : Math.max(chain, singleUserRisk(n * eps))));
  }
  return largest;
}

/** s(eps): the minimax error for one user with a sample in [0, 1]. */
function singleUserRisk(eps) {
  const kappa = 2 * Math.asinh(Math.exp(-eps / 2) / Math.sqrt(-2 * Math.expm1(-eps)));
  // Find the first n >= 2 with s_n (n + 1) >= 1; the search starts just below it.
  for (let n = Math.max(2, Math.floor(1.69 * Math.exp(eps / 2)) - 1); ; n++) {
    const numerator = Math.cosh((n + 1.5) * kappa) / Math.cosh(kappa / 2) + 1;
    const risk = numerator / (2 * (Math.sinh((n + 2) * kappa) / Math.sinh(kappa) + n));
    if (risk * (n + 1) >= 1) return risk;
  }
}

/** The distribution of AKMV's private threshold: cells between neighbouring sums, largest first.
 * Exactly `count` sums reach the thresholds of a cell; cells of width 0 are omitted. */
function quantileCells(users, sums, rank, eps) {
  const sorted = Float64Array.from(sums).sort().reverse();
  const ends = [users.upper * users.maxCount, ...sorted, 0];
  const aim = Math.min(rank, users.nUsers);
  const cells = [];
  for (let count = 0; count <= users.nUsers; count++) {
    const [upper, lower] = [ends[count], ends[count + 1]];
    if (upper > lower) cells.push({ count, lower, upper });
  }
  const nearest = Math.min(...cells.map(({ count }) => Math.abs(count - aim)));
  const weights = cells.map(({ count, lower, upper }) =>
    (upper - lower) * Math.exp((-eps / 2) * (Math.abs(count - aim) - nearest)));
  const totalWeight = cumulative(weights).at(-1);
  return cells.map((cell, i) => ({ ...cell, probability: weights[i] / totalWeight }));
}

/** E_AKMV on given sums (by default, those of samples that all equal U), averaged over the private
 * threshold. */
function akmvError(users, eps, sums = Array.from(users.sorted, (count) => users.upper * count)) {
  const { bias, noise } = akmvParts(users, eps, sums);
  return bias + noise;
}

/** The two parts of AKMV's error: the mean amount cut off, and the mean absolute value of the noise. */
function akmvParts(users, eps, sums) {
  const sumsOfLargest = cumulative([0, ...Float64Array.from(sums).sort().reverse()]);
  let [bias, noise] = [0, 0];
  for (const { count, lower, upper, probability } of quantileCells(users, sums, rank(eps), eps / 2)) {
    const meanThreshold = lower + (upper - lower) / 2;
    bias += probability * (sumsOfLargest[count] - count * meanThreshold);
    noise += probability * ((2 * meanThreshold) / eps);
  }
  return { bias: bias / users.total, noise: noise / users.total };
}

function cumulative(values) {
  let sum = 0;
  return values.map((value) => (sum += value));
}

clip.maths = {
  geometricCounts, extremeCounts, contributions, sizes, rank, threshold, centredClipping,
  optimalClipping, sumOfLargest, optimalError, symmetricBias, symmetricError, minimaxLowerBound,
  quantileCells, akmvError, akmvParts,
};
})((globalThis.clip ??= {}));
