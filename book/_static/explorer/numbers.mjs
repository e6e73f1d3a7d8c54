// How numbers are written: for the eye, and with the unit of the samples, which may be none.

/** Three or four digits, as they are read aloud. */
export function short(number) {
  const digits = Math.abs(number) >= 1000 ? 0 : Math.abs(number) >= 100 ? 1 : 2;
  if (number && Math.abs(number) < 0.1) return `${Number(number.toPrecision(2))}`.replace("-", "−");
  return Number(number.toFixed(digits)).toLocaleString("en-GB").replace("-", "−");
}

export function plain(number) {
  return number.toLocaleString("en-GB");
}

/** A label of an axis, where there is little room: 0.001, 1,000, 10K. */
export function tick(number) {
  if (number && number < 0.001) return Number(number.toPrecision(3)).toExponential();
  const notation = number < 10_000 ? "standard" : "compact";
  return number.toLocaleString("en-US", { maximumSignificantDigits: 3, notation });
}

/** 32.5, "km/h" -> "32.5 km/h" */
export function measured(number, unit) {
  return `${short(number)} ${unit}`.trim();
}

/** "error", "km/h" -> "error (km/h)" */
export function inUnit(name, unit) {
  return unit ? `${name} (${unit})` : name;
}
