// The picture of <clip-picture>, as SVG text: horizontal bands, chosen by its layer. Each band is a
// function of a state and of its position in the picture, independent of the page.

"use strict";

((clip) => {
const { clamp, UPPER } = clip.example;

/** The bands of each layer; a pair in brackets is side by side if the picture is wide enough. */
const LAYERS = {
  index: ["samples", "bars", "releases"],
  setup: ["samples", "reach", "speeds", "releases"],
  lemma: ["samples", "offset", "speeds"],
  optimum: ["samples", "bars", ["curve", "releases"]],
  kkt: [["curve", "prices"]],
  akmv: ["sums", "releases"],
};
const SLIM_WIDTH = 560;
const RELEASE_RANGE = { low: -UPPER, high: 2 * UPPER };

/** The margins of all bands: names on the left, numbers on the right. */
function frameOf(width) {
  const slim = width < SLIM_WIDTH;
  return { width, slim, left: slim ? 44 : 120, right: width - (slim ? 14 : 156), top: 26 };
}

/** The whole picture: its SVG, its height, and the zones where dragging sets the width. */
function draw(view, width) {
  const frame = frameOf(width);
  const zones = [];
  const parts = [];
  let y = frame.top;
  for (const band of LAYERS[view.layer]) {
    const pair = Array.isArray(band) ? band : [band];
    const beside = pair.length === 2 && !frame.slim;
    const heights = pair.map((name, i) => {
      const place = beside ? half(frame, i) : frame;
      const top = beside || !i ? y : y + BANDS[pair[0]].height(frame, view);
      const drawn = BANDS[name].draw(view, { ...place, top, height: BANDS[name].height(frame, view) });
      parts.push(drawn.svg);
      if (drawn.widthAt) zones.push(drawn);
      return BANDS[name].height(frame, view);
    });
    y += beside ? Math.max(...heights) : heights.reduce((a, b) => a + b);
  }
  return { svg: DEFINITIONS + parts.join(""), height: y, zones };
}

/** The left or the right half of the picture. */
function half(frame, which) {
  const middle = frame.width / 2;
  return which
    ? { ...frame, left: middle + 26, right: frame.width - 14, narrow: true }
    : { ...frame, left: 40, right: middle - 14, narrow: true };
}

const DEFINITIONS = `<defs><pattern id="stipple" width="6" height="6" patternUnits="userSpaceOnUse">
  <rect class="stipple-ground" width="6" height="6"/>
  <circle class="stipple" cx="1.5" cy="1.5" r="1"/><circle class="stipple" cx="4.5" cy="4.5" r="1"/>
</pattern></defs>`;

/** The height of each band, and the function that draws it. */
const BANDS = {
  samples: { height: ({ slim }, { layer }) => (layer === "index" && slim ? 132 : 156), draw: samples },
  reach: { height: () => 100, draw: reach },
  speeds: { height: () => 34, draw: (view, at) => ({ svg: axis(at, speedScale(at), at.top, TICKS, "km/h") }) },
  bars: { height: ({ slim }) => (slim ? 152 : 140), draw: bars },
  offset: { height: ({ slim }) => (slim ? 150 : 132), draw: offset },
  curve: { height: ({ slim }) => (slim ? 186 : 196), draw: curve },
  releases: { height: ({ slim }, { layer }) => RELEASES[layer] ?? (slim ? 176 : 196), draw: releases },
  prices: { height: () => 196, draw: prices },
  sums: { height: () => 204, draw: sums },
};
const RELEASES = { setup: 116, index: 158, akmv: 158 };
const TICKS = [0, 10, 20, 30, 40, 50, 65];

function linear(from, to, start, end) {
  return Object.assign((value) => start + ((value - from) / (to - from)) * (end - start), {
    back: (place) => from + ((place - start) / (end - start)) * (to - from), start, end, from, to,
  });
}

function speedScale({ left, right }) {
  return linear(0, UPPER, left, right);
}

// ------------------------------------------------------------------------------------------ Marks

function px(number) {
  return String(Math.round(number * 100) / 100);
}

function text(x, y, words, kind = "", anchor = "start") {
  return `<text x="${px(x)}" y="${px(y)}" class="${kind}" text-anchor="${anchor}">${words}</text>`;
}

function rect(kind, x0, x1, y, height, more = "") {
  const width = Math.max(x1 - x0, 0);
  return `<rect class="${kind}" x="${px(x0)}" y="${px(y)}" width="${px(width)}" height="${px(height)}"${more}/>`;
}

function path(kind, d, more = "") {
  return `<path class="${kind}" d="${d}"${more}/>`;
}

function dot(kind, x, y, r, more = "") {
  return `<circle class="${kind}" cx="${px(x)}" cy="${px(y)}" r="${px(r)}"${more}/>`;
}

function oneDecimal(number) {
  return number.toFixed(1).replace("-", "−");
}

/** "18.6 + 11.6 = 30.2", with enough decimals that the rounded numbers add up. */
function addition(a, b) {
  const addsUp = (n) => Math.abs(+a.toFixed(n) + +b.toFixed(n) - +(a + b).toFixed(n)) < 1e-9;
  const digits = [1, 2, 3].find(addsUp) ?? 3;
  return `${a.toFixed(digits)} + ${b.toFixed(digits)} = ${(a + b).toFixed(digits)}`;
}

function axis({ slim }, scale, y, ticks, unit, format = (tick) => String(tick).replace("-", "−")) {
  const marks = ticks.map((tick) =>
    path("axis", `M${px(scale(tick))} ${px(y)}v5`) + text(scale(tick), y + 18, format(tick), "quiet", "middle"));
  const after = slim ? text(scale.end, y + 31, unit, "quiet", "end") : text(scale.end + 18, y + 18, unit, "quiet");
  return path("axis", `M${px(scale.start)} ${px(y)}H${px(scale.end)}`) + marks.join("") + after;
}

// ------------------------------------------------------------------------------------- Samples

function nameOf({ example }, group, slim) {
  if (group.number > 1) return slim ? `${group.number} × ${group.count}` : `${group.number} buses × ${group.count}`;
  if (example.groups.length > 3) return slim ? `1 × ${group.count}` : `1 bus × ${group.count}`;
  return `bus ${group.row + 1}`;
}

function detailOf({ example }, { count }) {
  return example.groups.length > 3 ? "" : count === 1 ? "1 speed" : `${count} speeds`;
}

/** A dot's vertical offset in its row, so that dots with similar speeds do not hide each other. */
function jitter(i) {
  return ((i * 0.618034) % 1) - 0.5;
}

/** A dot per speed, and the interval to which the speeds of each bus are clipped. */
function samples({ state, layer }, at) {
  const { left, right, slim, top, height } = at;
  const x = speedScale(at);
  const many = state.groups.length > 3;
  const pitch = height / state.groups.length;
  const isClipping = layer !== "setup";
  const rows = state.groups.map((group, row) => {
    const lane = top + pitch * (row + 0.5) - (many || !isClipping ? 0 : 5);
    const tall = many ? 7.5 : Math.min(13, pitch / 3.4);
    const r = many ? 2.1 : slim ? 5 : 6;
    const [a, b] = [x(group.low), x(group.high)];
    const clips = isClipping && group.low + (UPPER - group.high) > 1e-6;
    const dots = group.shown.flat().map((speed, i) => {
      const to = isClipping ? clamp(speed, group.low, group.high) : speed;
      const y = lane + (many ? jitter(i) * 2 * (tall - 1) : 0);
      const moved = Math.abs(to - speed) > 0.05;
      const ghost = moved && !many ? dot("ghost", x(speed), y, r - 0.5) + path("pull", `M${px(x(speed))} ${px(y)}H${px(x(to))}`) : "";
      return ghost + dot("sample", x(to), y, r, many ? ' fill-opacity="0.55"' : "");
    });
    const bracket = `M${px(a + 5)} ${px(lane - tall)}H${px(a)}V${px(lane + tall)}h5` +
      `M${px(b - 5)} ${px(lane - tall)}H${px(b)}V${px(lane + tall)}h-5`;
    const ends = clips && !many
      ? text(a, lane + tall + 12, oneDecimal(group.low), "quiet small halo", b - a < 34 ? "end" : "middle") +
        text(b, lane + tall + 12, oneDecimal(group.high), "quiet small halo", b - a < 34 ? "start" : "middle")
      : clips ? text(b + 6, lane + 4, oneDecimal(group.high), "quiet small halo") : "";
    const detail = detailOf(state, group);
    return path("lane", `M${px(left)} ${px(lane)}H${px(right)}`) +
      (isClipping ? rect("span", a, b, lane - tall, 2 * tall) : "") + dots.join("") +
      (isClipping ? path("bracket", bracket) : "") + ends +
      text(0, lane + (detail && !slim ? -2 : 4), nameOf(state, group, slim)) +
      (detail && !slim ? text(0, lane + 14, detail, "quiet small") : "");
  });
  const widthAt = (px, py) => {
    const group = state.groups[clamp(Math.floor((py - top) / pitch), 0, state.groups.length - 1)];
    const reach = Math.abs(x.back(px) - UPPER / 2);
    return clamp(2 * reach, 0, UPPER) * group.count;
  };
  return {
    svg: rect("panel", left, right, top - 4, height + 4) + rows.join("") + means(state, at, isClipping),
    widthAt, top, bottom: top + height, left, right,
  };
}

/** The true mean, and the mean after clipping. */
function means({ mean, clippedMean, example }, at, isClipping) {
  const { left, right, top, height, slim } = at;
  const x = speedScale(at);
  const moved = isClipping && Math.abs(mean - clippedMean) > 0.005;
  const words = `mean ${slim ? "" : `of all ${example.users.total} speeds `}${mean.toFixed(2)}`;
  const after = `clipped ${clippedMean.toFixed(2)}`;
  const line = path("truth", `M${px(x(mean))} ${px(top - 8)}V${px(top + height)}`);
  const [side, shift] = mean >= clippedMean ? ["start", -3] : ["end", 3];
  const room = slim ? 74 : 190;
  const to = side === "start" ? Math.min(x(mean) + shift, right - room) : Math.max(x(mean) + shift, left + room);
  if (!moved) return line + text(clamp(x(mean), left + room / 2, right - room / 2), top - 12, words, "strong", "middle");
  const anchor = side === "start" ? "end" : "start";
  return line + text(to, top - 12, words, "strong", side) +
    path("after", `M${px(x(clippedMean))} ${px(top - 8)}V${px(top + height)}`) +
    text(Math.min(to, x(clippedMean)) === to && side === "start" ? to - 9 : side === "start" ? Math.min(to - 9, x(clippedMean)) : Math.max(to + 9, x(clippedMean)), top - 12, after, "strong", anchor);
}

/** How far each bus alone can move the mean: the longest bar determines the scale of the noise. */
function reach({ state }, at) {
  const { slim } = at;
  const [top, height] = [at.top + 8, at.height - 8];
  const x = speedScale(at);
  const many = state.groups.length > 3;
  const pitch = height / state.groups.length;
  const all = state.groups.map((group) => state.reach.find(({ count }) => count === group.count));
  const bars = all.map(({ low, high, count }, row) => {
    const y = top + pitch * (row + 0.5);
    const thick = many ? 6 : 12;
    const words = `${high - low < 1 ? (high - low).toFixed(2) : oneDecimal(high - low)} km/h`;
    const first = row === 0;
    const label = many ? (first || row === all.length - 1) : true;
    const inside = x(high) + 76 < at.right;
    return rect(first ? "longest" : "reach", x(low), Math.max(x(high), x(low) + 2), y - thick / 2, thick) +
      (label ? text(inside ? x(high) + 8 : x(low) - 8, y + 4, words, first ? "strong halo" : "quiet halo", inside ? "start" : "end") : "") +
      (label ? text(0, y + 4, slim ? (many ? `× ${count}` : `bus ${row + 1}`) : many ? `a bus × ${count}` : `bus ${row + 1} alone`, "quiet small") : "");
  });
  return { svg: rect("panel", at.left, at.right, at.top, at.height) + bars.join("") };
}

// ------------------------------------------------------------------------------- Bias and noise

/** Bars of bias and noise on the axis of the speeds, each with its name and its total. */
function barRows(rows, at) {
  const { left, right, slim, top, height, width } = at;
  const x = speedScale(at);
  const foot = slim ? 38 : 32;
  const slot = (height - foot) / rows.length;
  const tall = slim ? 17 : 22;
  const drawn = rows.map(({ name, bias, noise, strong }, i) => {
    const middle = top + slot * (i + 0.5) + (slim ? 8 : 3);
    const y = middle - tall / 2;
    const [from, to] = [x(bias), x(bias + noise)];
    const edge = right + (slim ? 8 : 10);
    const over = to > edge;
    const end = Math.min(to, edge);
    const total = bias > 0.01 && noise > 0.01 ? addition(bias, noise) : oneDecimal(bias + noise);
    const kind = strong ? "strong" : "";
    return rect("panel", left, right, y - slot / 2 + tall / 2, slot) + rect("bias", left, Math.min(from, edge), y, tall) +
      (noise > 0.01 ? rect("noise", Math.min(from, edge), end, y, tall) : "") +
      (over ? path("more", `M${px(edge + 1)} ${px(middle - 6)}l6 6l-6 6z`) : "") +
      (from - left > 58 ? text(left + 6, middle + 4.5, `bias ${oneDecimal(bias)}`, "on-bias") : "") +
      (end - from > 68 ? text(from + 7, middle + 4.5, `noise ${oneDecimal(noise)}`, "on-noise") : "") +
      (slim
        ? text(0, y - 4, name, kind) + text(width, y - 4, total, kind, "end")
        : text(0, middle + 4.5, name, kind) + text(right + 18, middle + 4.5, total, kind));
  });
  return drawn.join("") + axis(at, x, top + height - foot + 4, TICKS, "km/h");
}

/** The errors without clipping, with these intervals, and of the constant 32.5. */
function bars({ state, guessing }, at) {
  const name = guessing ? "your width" : isBest(state) ? "best clipping" : "this width";
  const rows = [
    { name: "no clipping", ...state.plain },
    { name, ...state.yours, strong: true },
    { name: "always 32.5", ...state.constant },
  ];
  return { svg: barRows(rows, at) };
}

function isBest({ yours, optimum }) {
  return yours.error - optimum.error < 1e-9 * UPPER;
}

/** How much clipping can raise and lower the mean, and the error, whose bias is the larger. */
function offset({ state }, at) {
  const { slim } = at;
  const { raised, lowered, yours } = state;
  const rows = [
    { name: slim ? "raised, if all are 0" : "raised at most", bias: raised, noise: 0 },
    { name: slim ? "lowered, if all are 65" : "lowered at most", bias: lowered, noise: 0 },
    { name: slim ? "error in the worst case" : "error at most", ...yours, strong: true },
  ];
  return { svg: barRows(rows, { ...at, height: at.height + (slim ? 38 : 32) }).replace(/<path class="axis".*$/s, "") };
}

// ------------------------------------------------------------------------------------ The curve

/** phi(S), with its two parts, and a dot at the width. */
function curve({ state, guessing }, at) {
  const { left, right, top, height } = at;
  const { example, width, eps, best } = state;
  const { users, widest, groups } = example;
  const phi = (S) => clip.maths.symmetricError(users, S, eps);
  const bias = (S) => clip.maths.symmetricBias(users, S);
  const x = linear(0, 1.1 * widest, left, right);
  const base = top + height - 34;
  const kinks = groups.map(({ count }) => UPPER * count).filter((S) => S < 1.1 * widest);
  const widths = [...new Set([0, ...kinks, best, width, 1.1 * widest])].sort((a, b) => a - b);
  const high = 1.04 * Math.max(UPPER / 2, Math.min(phi(widest), 1.7 * UPPER));
  const y = linear(0, high, base, top + 24);
  const line = (f) => `M${widths.map((S) => `${px(x(S))} ${px(y(f(S)))}`).join("L")}`;
  const shape = (f, baseline) => `M${widths.map((S) => `${px(x(S))} ${px(y(f(S)))}`).join("L")}` +
    `L${[...widths].reverse().map((S) => `${px(x(S))} ${px(y(baseline(S)))}`).join("L")}Z`;
  const id = `curve-${px(left)}`;
  const bestMark = guessing ? "" :
    path("guide", `M${px(x(best))} ${px(y(phi(best)))}V${px(base)}`) + text(x(best) + 5, base - 6, "T", "strong halo");
  const ticks = groups.length > 3 ? [0, 1040, 2080, 4160] : [0, 65, 130, 260];
  const [cx, cy] = [x(width), y(phi(width))];
  const isRight = cx > (left + right) / 2;
  const label = `${oneDecimal(phi(width))} km/h`;
  const svg = rect("panel", left, right, top + 18, base - top - 18) +
    `<clipPath id="${id}"><rect x="${px(left)}" y="${px(top + 18)}" width="${px(right - left)}" height="${px(base - top - 18)}"/></clipPath>` +
    `<g clip-path="url(#${id})">` + path("bias area", shape(bias, () => 0)) +
    path("noise area", shape(phi, bias)) + path("curve", line(phi)) + "</g>" +
    path("level", `M${px(left)} ${px(y(UPPER / 2))}H${px(right)}`) +
    text(right - 4, y(UPPER / 2) - 4, "always 32.5", "quiet small halo", "end") + bestMark +
    dot("handle", cx, Math.max(cy, top + 20), 6.5) +
    text(cx + (isRight ? -11 : 11), Math.max(cy, top + 32) - 10, label, "strong halo", isRight ? "end" : "start") +
    axis({ slim: true }, x, base, ticks, "") +
    text(left, top + 9, "error φ(S), km/h", "quiet small") +
    text((left + right) / 2, base + 31, "total width S, km/h", "quiet small", "middle");
  return {
    svg, widthAt: (place) => clamp(x.back(place), 0, widest), top, bottom: top + height, left, right,
  };
}

/** What one more unit of width gains and costs, in units of 1/N: bias changes by 1/2 per clipped bus. */
function prices({ state }, at) {
  const { left, right, top, height, slim } = at;
  const { gains, groups } = state;
  const most = 1.08 * Math.max(gains.cost, gains.narrower);
  const begin = slim ? left : left + 6;
  const x = linear(0, most, begin, right - 6);
  const base = top + height - 34;
  const slot = (base - top - 6) / 3;
  const rows = [
    { name: "noise: one unit more of width costs", cost: true, total: gains.cost },
    { name: "bias: one unit more gains", total: gains.wider },
    { name: "bias: one unit less loses", total: gains.narrower },
  ];
  const drawn = rows.map(({ name, cost, total }, i) => {
    const y = top + slot * i + 19;
    const tall = Math.min(20, slot - 24);
    const blocks = Math.round(2 * total);
    const parts = cost ? rect("noise", x(0), x(total), y, tall) :
      Array.from({ length: blocks }, (_, j) => rect("bias block", x(j / 2), x((j + 1) / 2), y, tall)).join("");
    const words = cost ? `1/ε = ${clip.numbers.short(total)}` : blocks ? `${blocks} × ½ = ${clip.numbers.short(total)}` : "0";
    return text(begin, y - 5, name, "small") + parts +
      text(x(total) > right - 92 ? right - 6 : x(total) + 6, x(total) > right - 92 ? y - 5 : y + tall / 2 + 4.5, words, "strong small halo", x(total) > right - 92 ? "end" : "start");
  });
  const step = most > 8 ? 5 : most > 3 ? 1 : 0.5;
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => i * step);
  return {
    svg: rect("panel", begin, right, top, base - top) +
      path("guide", `M${px(x(gains.cost))} ${px(top + 6)}V${px(base)}`) + drawn.join("") +
      axis({ slim: true }, x, base, ticks, "") +
      text((begin + right) / 2, base + 31, "slope of N φ, no unit", "quiet small", "middle"),
  };
}

// ------------------------------------------------------------------------------------- Releases

/** The density of a release, scaled to a fixed height. */
function bell(x, centre, scale, base, height, left, right) {
  const side = (end) => Array.from({ length: 33 }, (_, i) => {
    const place = clamp(x(centre), left, right) + (end - clamp(x(centre), left, right)) * (i / 32) ** 2;
    return [place, base - height * Math.exp(-Math.abs(x.back(place) - centre) / Math.max(scale, 1e-3))];
  });
  const points = [...side(left).reverse(), ...side(right)].map((point) => point.map(px).join(" "));
  return `M${points.join("L")}V${px(base)}H${px(left)}Z`;
}

/** The releases and their density; arrows mark releases beyond the axis. */
function releases({ state, layer, fall }, at) {
  const { left, right, slim, top, height, narrow, width } = at;
  const x = linear(RELEASE_RANGE.low, RELEASE_RANGE.high, left, right);
  const foot = 34;
  const base = top + height - foot;
  const { plain, clipped } = state.releases;
  const akmv = { ...state.akmv, value: state.mean, scale: 0 };
  const rows = {
    setup: [["no clipping", plain]],
    akmv: [["AKMV", akmv], ["best clipping", { ...clipped }]],
  }[layer] ?? [["no clipping", plain], [isBest(state) ? "best clipping" : "this width", clipped]];
  const slot = (base - top) / rows.length;
  const drawn = rows.map(([name, { value, scale, values }], i) => {
    const rowBottom = top + slot * (i + 1) - 4;
    const tall = slot - (narrow || slim ? 26 : 12);
    const meanError = values.reduce((total, v) => total + Math.abs(v - state.mean), 0) / values.length;
    const marks = values.map((v, j) => {
      const away = v < RELEASE_RANGE.low ? -1 : v > RELEASE_RANGE.high ? 1 : 0;
      const newest = j === values.length - 1;
      const y = rowBottom - 7 - ((j * 7) % 10) * 0.07 * tall - (newest ? 60 * (1 - fall) : 0);
      const kind = `release${newest ? " newest" : ""}`;
      if (!away) return dot(kind, x(v), y, newest ? 5 : 4);
      const edge = away > 0 ? right : left;
      return path(kind, `M${px(edge + 2 * away)} ${px(y)}l${-8 * away} -5v10z`);
    });
    const errorLabel = values.length === 1 ? "its error" : `mean of ${values.length} errors`;
    const summary = values.length ? [errorLabel, oneDecimal(meanError)] : ["none yet"];
    const isAbove = narrow || slim; // the name and the numbers are above the releases
    return path("lane", `M${px(left)} ${px(rowBottom)}H${px(right)}`) +
      (scale > 0.01 && layer !== "akmv" || name === "best clipping" && scale > 0.01 ? path("bell", bell(x, value, scale, rowBottom, tall, left, right)) : "") +
      marks.join("") +
      (isAbove ? text(left, rowBottom - tall - 8, name, i ? "strong" : "") + text(right, rowBottom - tall - 8, summary.join(": "), "", "end")
        : text(0, rowBottom - tall / 2 - 2, name, i ? "strong" : "") +
          summary.map((words, j) => text(right + 18, rowBottom - tall / 2 - 10 + 17 * j, words, "")).join(""));
  });
  const svg = rect("panel", x(0), x(UPPER), top, base - top - 4) + drawn.join("") +
    path("truth", `M${px(x(state.mean))} ${px(top)}V${px(base - 4)}`) +
    axis({ slim: true }, x, base - 4, [-65, 0, 65, 130], "") +
    text((left + right) / 2, base + 28, "published, km/h", "quiet small", "middle");
  return { svg };
}

// ----------------------------------------------------------------------------------------- AKMV

/** The sum of each bus and its range, the density of the cap, and the cap that was drawn last. */
function sums({ state }, at) {
  const { left, right, slim, top, height } = at;
  const { example, akmv } = state;
  const { widest } = example;
  const { groups } = state;
  const x = linear(0, widest, left, right);
  const many = groups.length > 3;
  const lawHeight = 62;
  const base = top + height - 44;
  const lawBase = base - 8;
  const area = lawBase - lawHeight - top - 14;
  const pitch = area / groups.length;
  const cap = akmv.thresholds.at(-1) ?? widest;
  let user = 0;
  const rows = groups.map((group, row) => {
    const y = top + pitch * (row + 0.5);
    const r = many ? 3 : 6;
    const dots = group.shown.map((_, i) => {
      const total = state.sums[user++];
      const to = Math.min(total, cap);
      const cy = many && group.number > 1 ? y + jitter(i) * (pitch - 6) : y;
      const cut = total - to > 0.5;
      return (cut ? path("cut", `M${px(x(to))} ${px(cy)}H${px(x(total))}`) + dot("ghost", x(total), cy, r - 0.5) : "") +
        dot("sample", x(to), cy, r, many ? ' fill-opacity="0.65"' : "");
    });
    const largestX = x(UPPER * group.count);
    return path("lane", `M${px(left)} ${px(y)}H${px(largestX)}M${px(largestX)} ${px(y - 4)}v8`) + dots.join("") +
      text(0, y + 4, nameOf(state, group, slim));
  });
  const highest = Math.max(...akmv.cells.map(({ probability, lower, upper }) => probability / (upper - lower)));
  const steps = [...akmv.cells].reverse().map(({ probability, lower, upper }) => {
    const tall = ((lawHeight - 18) * probability) / (upper - lower) / highest;
    return `L${px(x(lower))} ${px(lawBase - tall)}L${px(x(upper))} ${px(lawBase - tall)}`;
  });
  const ends = `M${px(left)} ${px(lawBase)}${steps.join("")}L${px(right)} ${px(lawBase)}Z`;
  const largest = Math.max(...state.sums);
  const above = `${Math.round(100 * akmv.aboveAll)} %`;
  const label = `cap ${clip.numbers.short(cap)}`;
  const flip = x(cap) > right - 90;
  const svg = rect("panel", left, right, top - 4, area + 8) +
    rect("beyond", x(cap), right, top - 4, area + 8) + rows.join("") +
    path("bell", ends) + text(0, lawBase - lawHeight / 2 + 8, slim ? "cap" : "density of the cap") +
    rect("above", x(largest), right, lawBase - lawHeight + 14, lawHeight - 14) +
    path("cap", `M${px(x(cap))} ${px(top - 8)}V${px(lawBase)}`) +
    (right - x(largest) > 120 ? text((x(largest) + right) / 2, lawBase - 8, `above all sums: ${above}`, "small on-noise", "middle") : "") +
    text(x(cap) + (flip ? -5 : 5), top - 12, label, "strong", flip ? "end" : "start") +
    path("aim", `M${px(x(akmv.aim))} ${px(lawBase)}l-5 8h10z`) +
    axis(at, x, base, many ? [0, 1040, 2080, 3120, 4160] : [0, 65, 130, 195, 260], "") +
    text((left + right) / 2, base + 31, "sum of the speeds of a bus", "quiet small", "middle");
  return { svg };
}

clip.drawing = { addition, draw, isBest, LAYERS, oneDecimal };
})((globalThis.clip ??= {}));
