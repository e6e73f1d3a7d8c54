// The two examples of <clip-picture>, and all numbers of a state. book/picture.py has the same data; tests/site/pages/test_picture.py compares them, and every number, with userdp.

"use strict";

((clip) => {
const { maths } = clip;

const UPPER = 65;

/** Speeds of 127 buses in km/h, the bus with most samples first: uniform random from 0 to 65. */
const SPEEDS = [
  53.5, 48.2, 44.1, 12.7, 40, 62.2, 30.2, 64.5, 23.8, 4.5, 8.8, 36.3, 21.7, 35.3, 30.6, 35.5,
  41.2, 63.5, 31.8, 51.2, 60.5, 13.4, 35.6, 21.9, 11.5, 64.7, 32.1, 36.1, 14.8, 63.6, 37.6, 7,
  4.6, 3.2, 47.9, 54.2, 9.9, 34.5, 4.3, 30.2, 3, 30.8, 37.9, 33.7, 4, 6.5, 55.6, 51.9, 16.9, 50.8,
  64.2, 8.8, 39.2, 52.3, 5.8, 59.7, 48.6, 30.4, 24.9, 33, 63.3, 9.3, 29.2, 38.1, 41.1, 13.4, 34.7,
  2.9, 41.2, 59.3, 42.5, 0.6, 12.5, 16.7, 24.7, 53.9, 44.1, 42.9, 47.8, 38.2, 52.5, 8, 20.1, 53,
  21, 5.6, 2, 32.3, 3, 36.9, 47.1, 9.2, 48.8, 25.7, 28.3, 59.3, 61.8, 53.6, 14.3, 46.9, 0.8, 38.4,
  37.5, 31.5, 28.6, 18.9, 6.4, 36.9, 17.1, 48.3, 51.1, 18.1, 4.5, 33.8, 41.7, 26.6, 21.8, 16.5,
  32.4, 36.3, 13.1, 28, 54.5, 54.6, 13.4, 61.2, 33.5, 29.3, 55, 38.1, 24.3, 0.6, 21, 8, 55.9,
  49.8, 60.1, 29.4, 47.6, 49.6, 31.6, 59.5, 8, 58.4, 24.2, 3.1, 8.2, 12.6, 20.3, 49, 29, 53.5,
  38.5, 47.3, 10.4, 34.8, 45.2, 56.4, 5.7, 32.2, 10.1, 64.4, 25.7, 4.5, 31.2, 0.2, 60, 15.5, 9.5,
  16, 55, 1.4, 26.4, 11.1, 15.3, 14, 26.6, 48.3, 48.4, 45, 50.3, 63.4, 43.8, 26.9, 47.3, 24.9,
  9.8, 12.7, 53.6, 45.5, 38.8, 38, 38, 60.2, 27, 60.1, 8.7, 24.3, 48.7, 50, 22.6, 39.4, 24.3,
  61.2, 31, 12.4, 6.8, 25.7, 62.6, 42.4, 64.6, 55, 33.5, 49.8, 26.7, 62, 34.8, 3.4, 30.7, 18.7,
  62.2, 56.2, 43.4, 40, 28.8, 30.3, 51, 52.7, 21.4, 20.7, 40.4, 11.5, 34.8, 47.9, 51.6, 4.2, 18.4,
  39.4, 0.8, 24.6, 48.4, 29.7, 64.8, 41.2, 11.8, 58.3, 62.6, 65, 50.3, 11.9, 2.3, 18.6, 39.1,
  26.5, 57.2, 0.4, 54.8, 15.3, 7.3, 2.9, 35.8, 62.8, 12.1, 21.1, 18.3, 1.8, 11.6, 22, 60.5, 47.2,
  3.4, 46.8, 53.9, 59.3, 51.6, 43.7, 2.1, 17.1, 27.4, 48.4, 61.8, 35.2, 49.8, 61.1, 3.9, 11.3,
  50.5, 21.1, 55.6, 52.8, 45.6, 15.2, 21.2, 31.4, 7, 59.8, 37.4, 26.3, 34.9, 23.1, 43, 59.7, 26.2,
  54.5, 3.2, 10.1, 64, 33.7, 34.4, 5.9, 45.2, 0.1, 32.3, 2.9, 54.6, 51.3, 34.5, 14.4, 36.1, 1.6,
  36.5, 58.2, 28.2, 49.9, 7.2, 63.4, 52.8, 54.2, 29.5, 17.8, 15.5, 16.6, 9.8, 51.6, 26.4, 19.6,
  35.8, 14.1, 13.6, 64.3, 42.1, 50.6, 37.1, 56.2, 41.8, 37.5, 5.3, 46.2, 59.1, 46.1, 43.6, 20.9,
  4, 19.5, 24.6, 35.5, 36.6, 59.3, 52.6, 43, 33.6, 23.4, 57.4, 10, 5.1, 8.5, 52.4, 63.5, 25.4,
  51.3, 55.1, 26.3, 8.8, 30.6, 23.4, 17.1, 9.9, 54.8, 22.8, 54, 13.5, 24.4, 61.1, 43.7, 6.2, 31.6,
  49.9, 58.8, 15.5, 27, 59.1, 0, 33.7, 45.3, 47.6, 17.1, 27.8, 60.9, 21.5, 14.3, 35, 50.5, 23.4,
  63.9, 32, 21.2, 17.1, 0.6, 54.4, 34.8, 11.5, 23.2, 38.8, 13.7, 8.1, 53.8, 13.4, 22.8, 4.6, 37.4,
  9.5, 47.8, 26.6, 54.5, 61.5, 42.7, 14.5, 20.4, 20.4, 50.4, 43.8, 6, 56, 13.6, 52.6, 34.5, 4.7,
  18.3, 41.6, 21.4, 62.1, 17, 64.6, 23.1, 34.2, 7.6, 28.5, 63.1,
];

/** Noise of scale 1 in the five releases printed on the page `setup`. */
const FIRST_NOISE = [
  0.0206693147162982, -0.1360315266592394, -0.20093643656797647, -5.428176805219985,
  0.34516685777166345,
];
const SEED = 20250206;
const MAX_RELEASES = 30;

/** A seeded generator of numbers between 0 and 1 (mulberry32). */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Laplace noise of scale 1 from a uniform number, by inversion. */
function laplace(uniform) {
  const centred = uniform - 0.5;
  return -Math.sign(centred) * Math.log1p(-2 * Math.min(Math.abs(centred), 0.5 - 1e-12));
}

/** A source of random draws for releases: the noise and, for AKMV's threshold, the cell and the position in it. */
function draws() {
  const nextUniform = generator(SEED);
  let released = 0;
  return () => {
    const [place, inside, noise] = [nextUniform(), nextUniform(), laplace(nextUniform())];
    return { place, inside, noise: released < FIRST_NOISE.length ? FIRST_NOISE[released++] : noise };
  };
}

function collection(name, samples, budgets) {
  const counts = samples.map((speeds) => speeds.length);
  const users = maths.contributions(counts, UPPER);
  const sizes = maths.sizes(users).reverse();
  const ticks = sizes
    .map(({ count }) => users.sorted.lastIndexOf(count) + 1) // the ranks after which T decreases
    .map((rank) => ({ rank, eps: 2 / rank }))
    .filter(({ eps }) => eps > budgets.at(0) && eps <= budgets.at(-1))
    .reverse();
  const groups = sizes.map(({ count, number }, row) => ({
    row, count, number, samples: samples.filter((speeds) => speeds.length === count),
  }));
  return {
    name, users, samples, groups, budgets, ticks, widest: UPPER * users.maxCount,
    // Step of the width slider, in whole km/h: 1 for the three buses.
    step: Math.max(1, Math.round((UPPER * users.maxCount) / 260)),
  };
}

/** Budgets in ranges with different steps; rounded, because the rank ⌈2/eps⌉ depends on the last bit. */
function budgetGrid(...ranges) {
  return ranges.flatMap(([from, to, step]) => {
    const number = Math.round((to - from) / step);
    return Array.from({ length: number }, (_, i) => Number((from + i * step).toFixed(4)));
  });
}

const COUNTS = maths.geometricCounts(6);
const EXAMPLES = {
  three: collection(
    "Three buses",
    [[31, 28.5, 40, 33.5], [52, 47], [18]],
    budgetGrid([0.3, 1, 0.02], [1, 2, 0.05], [2, 4.1, 0.1]),
  ),
  many: collection(
    "127 buses",
    COUNTS.map((count, i) => {
      const first = COUNTS.slice(0, i).reduce((sum, previous) => sum + previous, 0);
      return SPEEDS.slice(first, first + count);
    }),
    budgetGrid([0.1, 0.3, 0.01], [0.3, 1, 0.02], [1, 2.05, 0.05]),
  ),
};

/** The interval of a user with `count` samples; `share` of the removed range is below it. */
function interval(count, width, share) {
  const length = Math.min(UPPER, width / count);
  const low = share * (UPPER - length);
  return [low, low + length];
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

function clamp(number, low, high) {
  return Math.min(Math.max(number, low), high);
}

/** Worst-case bias, mean absolute noise and error for a total width. */
function worstCase(users, width, eps, share = 0.5) {
  const bias = 2 * Math.max(share, 1 - share) * maths.symmetricBias(users, width);
  const noise = width / users.total / eps;
  return { bias, noise, error: bias + noise };
}

/** AKMV's threshold for a random draw. */
function thresholdOf(cells, { place, inside }) {
  let left = place;
  const cell = cells.find(({ probability }) => (left -= probability) < 0) ?? cells.at(-1);
  return cell.lower + inside * (cell.upper - cell.lower);
}

/** All numbers of a state. `share` positions the intervals, `shift` is the part of the way by which all samples
 * are moved to U (to 0 if negative), and `drawn` holds the random draws of the releases. */
function computeNumbers({ example, eps, width, share = 0.5, shift = 0, drawn = [] }) {
  const { users, samples, groups, widest } = example;
  const N = users.total;
  const target = shift > 0 ? UPPER : 0;
  const shifted = (x) => x + Math.abs(shift) * (target - x);
  const shown = samples.map((speeds) => speeds.map(shifted));
  const ends = samples.map((speeds) => interval(speeds.length, width, share));
  const clipped = shown.map((speeds, i) => speeds.map((x) => clamp(x, ...ends[i])));
  const sums = shown.map(sum);
  const [mean, clippedMean] = [sum(sums) / N, sum(clipped.map(sum)) / N];
  const best = maths.threshold(users, eps);
  const publish = (value, scale) => ({
    value, scale, values: drawn.map(({ noise }) => value + scale * noise),
  });
  const above = users.sorted.filter((count) => users.upper * count > width).length;
  const atLeast = users.sorted.filter((count) => users.upper * count >= width).length;
  return {
    example, eps, width, share, shift, drawn, mean, clippedMean, best, sums,
    rank: maths.rank(eps),
    groups: groups.map((group) => {
      const [low, high] = interval(group.count, width, share);
      return { ...group, low, high, shown: group.samples.map((speeds) => speeds.map(shifted)) };
    }),
    reach: samples.map((speeds, i) => {
      const [low, high] = ends[i].map((end) => clippedMean + (speeds.length * end - sum(clipped[i])) / N);
      return { count: speeds.length, low, high };
    }),
    yours: worstCase(users, width, eps, share),
    optimum: worstCase(users, best, eps),
    plain: worstCase(users, widest, eps),
    constant: { bias: UPPER / 2, noise: 0, error: UPPER / 2 },
    raised: 2 * share * maths.symmetricBias(users, width),
    lowered: 2 * (1 - share) * maths.symmetricBias(users, width),
    biasOnData: Math.abs(clippedMean - mean),
    // Slopes of N phi on both sides of the width: a half for each user who is clipped, and 1/eps.
    gains: { wider: above / 2, narrower: atLeast / 2, cost: 1 / eps, above, atLeast },
    releases: { plain: publish(mean, widest / N / eps), clipped: publish(clippedMean, width / N / eps) },
    akmv: akmvOf(example, eps, sums, drawn),
  };
}

/** AKMV on these sums: half of its budget is for the threshold, half for the noise. */
function akmvOf({ users }, eps, sums, drawn) {
  const N = users.total;
  const cells = maths.quantileCells(users, sums, maths.rank(eps), eps / 2);
  const thresholds = drawn.map((draw) => thresholdOf(cells, draw));
  const capped = thresholds.map((t) => sum(sums.map((total) => Math.min(total, t))) / N);
  const noise = thresholds.map((t, i) => ((2 * t) / eps / N) * drawn[i].noise);
  const { bias, noise: scale } = maths.akmvParts(users, eps, sums);
  return {
    cells, thresholds, capped, values: capped.map((value, i) => value + noise[i]),
    error: { bias, noise: scale, error: bias + scale },
    aim: Float64Array.from(sums).sort().reverse()[Math.min(maths.rank(eps), users.nUsers) - 1],
    aboveAll: cells[0].count === 0 ? cells[0].probability : 0,
  };
}

clip.example = { EXAMPLES, FIRST_NOISE, MAX_RELEASES, UPPER, clamp, collection, draws, computeNumbers };
})((globalThis.clip ??= {}));
