// The text of <clip-picture>: a sentence on the current state, and a note that rarely changes.

"use strict";

((clip) => {
const { UPPER } = clip.example;
const { addition, isBest, oneDecimal } = clip.drawing;
const { plain } = clip.numbers;

const SENTENCES = { index: result, setup: problem, lemma: offset, optimum: result, kkt: price, akmv: cap };

/** What the picture shows now, with its numbers. */
function sentence(view) {
  return SENTENCES[view.layer](view).replaceAll(/ km\/h/g, "\u00a0km/h").replaceAll(/ = (?=[\d−])/g, "\u00a0= ");
}

/** "18.6 + 11.6 = 30.2" -> ["18.6", "11.6", "30.2"] */
function parts({ bias, noise }) {
  return addition(bias, noise).split(" ").filter((word) => /\d/.test(word));
}

function problem({ state }) {
  const { example, eps, plain: noClipping, releases } = state;
  const move = (example.widest / example.users.total).toFixed(1);
  const last = releases.plain.values.at(-1);
  const bus = example.groups.length > 3 ? `the bus with ${example.users.maxCount} speeds` : "bus 1";
  return `At ε = ${eps} the noise must hide the ${move} km/h by which ${bus} alone can move the mean: ` +
    `the mean size of the noise is ${oneDecimal(noClipping.noise)} km/h${noClipping.noise > UPPER / 2 ? ", more than the 32.5 km/h by which always publishing 32.5 can err" : ""}. ` +
    `The last release is ${oneDecimal(last)} km/h; the mean is ${oneDecimal(state.mean)}.`;
}

function onWhichData({ shift }) {
  return shift > 0.99 ? "With all speeds at 65" : shift < -0.99 ? "With all speeds at 0" : "For these speeds";
}

function offset({ state }) {
  const { raised, lowered, yours, biasOnData } = state;
  return `Clipping can raise the mean by ${oneDecimal(raised)} km/h or lower it by ${oneDecimal(lowered)} km/h, ` +
    `so the largest bias is ${oneDecimal(yours.bias)}. ` +
    `${onWhichData(state)}, clipping moves the mean by ${oneDecimal(biasOnData)} km/h.`;
}

function result({ state, guessing }) {
  const { eps, width, yours, optimum, mean, clippedMean, best, example } = state;
  const [bias, noise, error] = parts(yours);
  if (guessing) {
    const gap = yours.error - optimum.error;
    return `Your width ${plain(Math.round(width))} km/h has a worst-case error of ${oneDecimal(yours.error)} km/h` +
      `${yours.error > UPPER / 2 ? ", more than that of always publishing 32.5" : ""}. ` +
      (gap < 0.005 ? "No width is better: you have found a best width." : "Can you find a better width?");
  }
  if (!isBest(state)) {
    return `The width ${plain(Math.round(width))} km/h has a worst-case error of ${oneDecimal(yours.error)} km/h; ` +
      `the best width, ${plain(best)} km/h, has ${oneDecimal(optimum.error)}.`;
  }
  const end = Math.abs(mean - clippedMean) < 0.005 ? `The mean stays ${mean.toFixed(2)} km/h.` :
    `${onWhichData(state)}, clipping moves the mean from ${mean.toFixed(2)} to ${clippedMean.toFixed(2)} km/h.`;
  if (width === 0) {
    return `At ε = ${eps} every speed counts as 32.5 km/h, so the published number is always 32.5 ` +
      `and can err by ${oneDecimal(optimum.error)} km/h. ${end}`;
  }
  if (width === example.widest) {
    return `At ε = ${eps} nothing is clipped, and noise of mean size ${oneDecimal(yours.noise)} km/h is the whole error.`;
  }
  return `At ε = ${eps} the best intervals have a worst-case error of ${error} km/h: ` +
    `bias ${bias} and mean absolute noise ${noise}. ${end}`;
}

function price({ state }) {
  const { eps, width, gains, best, example } = state;
  const { cost, wider, narrower, above } = gains;
  const buses = above === 1 ? "one bus is" : `${above} of ${example.users.nUsers} buses are`;
  const start = `At ε = ${eps} and a width of ${plain(Math.round(width))} km/h, ${buses} clipped: `;
  const { short } = clip.numbers;
  if (wider > cost) return `${start}one unit more gains ${short(wider)} and costs ${short(cost)}, so widen.`;
  if (width > 0 && narrower < cost) {
    return `${start}one unit less saves ${short(cost)} and loses ${short(narrower)}, so narrow.`;
  }
  const end = width === best ? "" : " (This piece of φ is flat.)";
  return `${start}one unit more would gain ${short(wider)} and cost ${short(cost)}` +
    (width ? `, one unit less would save ${short(cost)} and lose ${short(narrower)}` : "") +
    `: no width is better.${end}`;
}

function cap({ state }) {
  const { eps, akmv, mean, optimum } = state;
  const last = akmv.thresholds.length - 1;
  const drawnCap = akmv.thresholds[last];
  const nAbove = state.sums.filter((total) => total > drawnCap).length;
  const effect = nAbove === 0 ? "which is above all sums and cuts nothing" :
    nAbove === 1 ? "which cuts one sum" : `which cuts ${nAbove} sums`;
  return `At ε = ${eps} the random cap is ${clip.numbers.short(drawnCap)}, ${effect}; AKMV published ${oneDecimal(akmv.values[last])} km/h, ` +
    `and the mean is ${oneDecimal(mean)}. AKMV's error on these data is ${oneDecimal(akmv.error.error)} km/h; ` +
    `the worst-case error of the best clipping, on any data, is ${oneDecimal(optimum.error)}.`;
}

/** A note that does not change with every step of a slider. */
function note({ layer, state }) {
  const { example, width, shift, mean } = state;
  const many = example.groups.length > 3;
  const origin = many ? " The speeds are uniformly random from 0 to 65." : "";
  const costOfReleases = "Each release would cost its own budget. Both rows use the same noise draws, scaled.";
  const luck = `On these data, 32.5 happens to be ${oneDecimal(Math.abs(mean - UPPER / 2))} km/h off the mean; this is luck, because the guaranteed error is 32.5.`;
  switch (layer) {
    case "setup":
      return `A dot is a speed. A bar runs from where the mean would be if all speeds of that bus were 0 to where it would be if all were 65.${origin}`;
    case "lemma":
      return `Hollow dots: where a speed was before it was raised or lowered. Data at one end are only raised, or only lowered, so the bias is the larger of the two, not their sum.${origin}`;
    case "akmv":
      return `A dot is the sum of one bus; the line shows how large it could be. The triangle marks the sum that AKMV aims at.${origin}`;
    case "kkt":
      return `All slopes are those of N φ(S): one half for each clipped bus, and 1/ε for the noise.${origin}`;
    default:
      if (width === 0 && shift === 0) return luck + origin;
      if (shift > 0.99) return `On these data the bias is reached: on no dataset does clipping move the mean farther.`;
      return costOfReleases + origin;
  }
}

clip.sentences = { note, sentence };
})((globalThis.clip ??= {}));
