// The Explorer's three charts, as SVG text: functions of the data, independent of the page.

"use strict";

((clip) => {
const { maths } = clip;
const { inUnit, short, tick } = clip.numbers;

const [WIDTH, HEIGHT] = [380, 270];
const INNER = { left: 50, right: WIDTH - 10, top: 12, bottom: HEIGHT - 40 };
const MAX_DRAWN = 60;

/** Clip intervals against the number of samples of a user. */
function intervals({ users, unit, width }) {
  const sizes = maths.sizes(users);
  const [least, most] = [sizes[0].count / 1.4, sizes.at(-1).count * 1.4];
  const x = logScale([least, most], [INNER.left, INNER.right]);
  const y = linearScale([0, users.upper], [INNER.bottom, INNER.top]);
  const halfWidth = (count) => Math.min(users.upper, width / count) / 2;
  const middle = users.upper / 2;
  const counts = evenShares(100).map((share) => least * (most / least) ** share);
  const band = [
    ...counts.map((count) => [x(count), y(middle + halfWidth(count))]),
    ...counts.toReversed().map((count) => [x(count), y(middle - halfWidth(count))]),
  ];
  const drawn = thin(sizes).map(({ count }) => {
    const [top, bottom] = [middle + halfWidth(count), middle - halfWidth(count)].map(y);
    return `<path class="opt size" data-count="${count}" d="${line([[x(count), top], [x(count), bottom]])}"/>
      <path class="opt end" d="M${px(x(count) - 4)} ${px(top)}h8M${px(x(count) - 4)} ${px(bottom)}h8"/>`;
  });
  return picture(
    `Clip intervals: ${inUnit("sample value", unit)} against the number of samples of a user.`,
    axes(x, y, "samples of a user", inUnit("sample value", unit)),
    `<path class="band" d="${line(band)}Z"/>`,
    `<path class="thin" d="${line([[INNER.left, y(middle)], [INNER.right, y(middle)]])}"/>`,
    ...drawn,
  );
}

/** The objective around its minimum, with its two parts and the slopes beside the minimum. */
function objective({ users, unit, eps, objective, width }) {
  const sizes = maths.sizes(users);
  const end = 2 * (width || users.upper * sizes[0].count);
  const x = linearScale([0, end], [INNER.left, INNER.right]);
  const kinks = sizes.map(({ count }) => users.upper * count).filter((S) => S < end);
  const points = [...new Set([0, width, end, ...thin(kinks), ...evenShares(60).map((s) => s * end)])];
  const widths = points.sort((a, b) => a - b);
  const value = (S) => maths.symmetricError(users, S, eps, objective);
  const errors = widths.map(value);
  const y = linearScale([0, 1.08 * Math.max(...errors)], [INNER.bottom, INNER.top]);
  const curve = (f) => line(widths.map((S) => [x(S), y(f(S))]));
  const parts = [
    ["bias", (S) => maths.symmetricBias(users, S)],
    ["noise", (S) => S / users.total / eps],
  ];
  const dot = [x(width), y(value(width))];
  return picture(
    `Worst-case ${inUnit("error", unit)} against the total width S of a user's intervals.`,
    axes(x, y, inUnit("total width S of a user's intervals", unit), inUnit("error", unit)),
    ...parts.map(([name, f]) => `<path class="part ${name}" d="${curve(f)}"/>`),
    // Left of the minimum, the space below the bias curve and above the noise line is free.
    label(x(0.1 * end), y(parts[0][1](0.1 * end)) + 16, "bias", "end"),
    label(x(0.35 * end), y(parts[1][1](0.35 * end)) - 5, "noise", "end"),
    `<path class="opt curve" d="${line(widths.map((S, i) => [x(S), y(errors[i])]))}"/>`,
    objective === "bound" ? slopes({ users, eps, width, end, x, y, value }) : "",
    `<path class="thin" d="M${px(dot[0])} ${px(dot[1])}V${INNER.bottom}"/>`,
    `<circle class="opt dot" cx="${px(dot[0])}" cy="${px(dot[1])}" r="5.5"/>`,
    label(dot[0] + 5, INNER.bottom - 5, objective === "bound" ? "T" : "S"),
  );
}

/** The linear pieces on both sides of the minimum; one is flat if the minimum is not unique. */
function slopes({ users, eps, width, end, x, y, value }) {
  const kinks = [0, ...maths.sizes(users).map(({ count }) => users.upper * count)];
  const sides = [
    [kinks.findLast((S) => S < width), width],
    [width, Math.min(kinks.find((S) => S > width) ?? end, end)],
  ];
  const existing = sides.filter(([from]) => from !== undefined);
  return existing.map(([from, to]) => {
    // The slope is 1/eps for the noise, less 1/2 per clipped user: 0 if 2/eps users are clipped.
    const clipped = users.sorted.filter((count) => users.upper * count > from).length;
    const isFlat = clipped === maths.rank(eps) && isWhole(2 / eps);
    const slope = isFlat ? 0 : 1 / eps - clipped / 2;
    const [anchor, shift] = from === width ? ["start", 8] : ["end", -8];
    const text = slope < 0 ? `↘ slope ${short(slope)}/N` : slope ? `↗ slope +${short(slope)}/N` : "→ flat";
    const piece = line([from, to].map((S) => [x(S), y(value(S))]));
    return `<path class="opt piece" d="${piece}"/>
      ${label(x(width) + shift, INNER.top + 12, text, anchor)}`;
  }).join("");
}

/** Errors against eps; the shaded area is below the lower bound on every private mechanism. */
function errors({ curves, floor, grid, eps, unit }) {
  const allErrors = curves.flatMap(({ values }) => values);
  const x = logScale([grid[0], grid.at(-1)], [INNER.left, INNER.right]);
  const y = logScale([Math.min(...allErrors) / 2, Math.max(...allErrors) * 1.3], [INNER.bottom, INNER.top]);
  const points = (values) => values.map((value, i) => [x(grid[i]), Math.min(y(value), INNER.bottom)]);
  const under = [[INNER.left, INNER.bottom], ...points(floor.values), [INNER.right, INNER.bottom]];
  return picture(
    `Worst-case ${inUnit("error", unit)} against the privacy budget ε, on logarithmic axes.`,
    `<path class="floor" d="${line(under)}Z"/>`,
    axes(x, y, "privacy budget ε (smaller is more private)", inUnit("error", unit)),
    `<path class="now" d="M${px(x(eps))} ${INNER.top}V${INNER.bottom}"/>`,
    ...curves.map(({ name, look, values, value }) =>
      `<path class="${look} curve" d="${line(points(values))}"/>
       <circle class="${look} mark" data-name="${name}" cx="${px(x(eps))}" cy="${px(y(value))}" r="4.5"/>`),
  );
}

/** The budget at a point of the error chart, given as a share of its width from the left. */
function budgetAt(share, grid) {
  const position = (share * WIDTH - INNER.left) / (INNER.right - INNER.left);
  return grid[0] * (grid.at(-1) / grid[0]) ** Math.min(Math.max(position, 0), 1);
}

function picture(description, ...parts) {
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${description}">${parts.join("")}</svg>`;
}

function linearScale([from, to], [start, end]) {
  const scale = (value) => start + ((value - from) / (to - from)) * (end - start);
  const rough = (to - from) / 4;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = decade * [1, 2, 5, 10].find((factor) => factor * decade >= rough);
  const first = Math.ceil(from / step);
  const ticks = evenShares(Math.floor(to / step) - first).map((s, i) => (first + i) * step);
  return Object.assign(scale, { ticks });
}

function logScale([from, to], [start, end]) {
  const scale = (value) =>
    start + (Math.log(value / from) / Math.log(to / from)) * (end - start);
  const decades = [];
  for (let n = Math.floor(Math.log10(from)); 10 ** n <= to; n++) decades.push(Number(`1e${n}`));
  const factors = Math.log10(to / from) > 3.5 ? [1] : Math.log10(to / from) > 2.2 ? [1, 3] : [1, 2, 5];
  const ticks = decades.flatMap((decade) => factors.map((factor) => factor * decade));
  return Object.assign(scale, { ticks: ticks.filter((tick) => tick >= from && tick <= to) });
}

function axes(x, y, below, beside) {
  return [
    ...x.ticks.map((value) =>
      `<path class="grid" d="M${px(x(value))} ${INNER.top}V${INNER.bottom}"/>
       <text class="x-tick" x="${px(x(value))}" y="${INNER.bottom + 15}" text-anchor="middle">${tick(value)}</text>`),
    ...y.ticks.map((value) =>
      `<path class="grid" d="M${INNER.left} ${px(y(value))}H${INNER.right}"/>
       <text class="y-tick" x="${INNER.left - 5}" y="${px(y(value) + 4)}" text-anchor="end">${tick(value)}</text>`),
    `<path class="axis" d="M${INNER.left} ${INNER.top}V${INNER.bottom}H${INNER.right}"/>`,
    label((INNER.left + INNER.right) / 2, HEIGHT - 6, below, "middle"),
    `<text transform="translate(9 ${(INNER.top + INNER.bottom) / 2}) rotate(-90)" text-anchor="middle">${beside}</text>`,
  ].join("");
}

function label(x, y, text, anchor = "start") {
  return `<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}">${text}</text>`;
}

function line(points) {
  return `M${points.map(([x, y]) => `${px(x)} ${px(y)}`).join("L")}`;
}

function px(coordinate) {
  return coordinate.toFixed(2);
}

function evenShares(pieces) {
  return Array.from({ length: pieces + 1 }, (_, i) => i / pieces);
}

function isWhole(number) {
  return Math.abs(number - Math.round(number)) <= 1e-9 * number;
}

/** At most MAX_DRAWN items, evenly spaced. */
function thin(items) {
  if (items.length <= MAX_DRAWN) return items;
  return evenShares(MAX_DRAWN - 1).map((share) => items[Math.round(share * (items.length - 1))]);
}

clip.charts = { intervals, objective, errors, budgetAt };
})((globalThis.clip ??= {}));
