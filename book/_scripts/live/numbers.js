// Format numbers for display, with the unit of the samples if there is one.

"use strict";

((clip) => {
/** Three or four digits, without exponents. */
function short(number) {
  const digits = Math.abs(number) >= 1000 ? 0 : Math.abs(number) >= 100 ? 1 : 2;
  if (number && Math.abs(number) < 0.1) return `${Number(number.toPrecision(2))}`.replace("-", "−");
  return Number(number.toFixed(digits)).toLocaleString("en-GB").replace("-", "−");
}

function plain(number) {
  return number.toLocaleString("en-GB");
}

/** A short label for an axis: 0.001, 1,000, 10K. */
function tick(number) {
  if (number && number < 0.001) return Number(number.toPrecision(3)).toExponential();
  const notation = number < 10_000 ? "standard" : "compact";
  return number.toLocaleString("en-US", { maximumSignificantDigits: 3, notation });
}

/** 32.5, "km/h" -> "32.5 km/h" */
function withUnit(number, unit) {
  return `${short(number)} ${unit}`.trim();
}

/** "error", "km/h" -> "error (km/h)" */
function inUnit(name, unit) {
  return unit ? `${name} (${unit})` : name;
}

clip.numbers = { short, plain, tick, withUnit, inUnit };
})((globalThis.clip ??= {}));
