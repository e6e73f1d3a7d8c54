// Read counts from a CSV table of users. A table may have several interpretations; the Explorer never
// guesses between them, but lets the user choose.

"use strict";

((clip) => {
const { InputError, shortened } = clip.entries;

const KNOWN_NAMES = /^(counts?|samples|records|rows|n|m)$/i;
const MAX_SHOWN = 3;

/** Whether a text is a table: it has words, or equally many numbers, at least two, in each line. */
function isTable(text) {
  if (!text.trim().includes("\n")) return false;
  const words = text.trim().split(/[\s,;]+/);
  if (words.some((word) => !/^(\d+([x×*]\d+)?)?$/.test(word))) return true;
  if (!words.every((word) => /^\d+$/.test(word))) return false;
  const { names, rows } = readTable(text);
  return names.length > 1 && rows.every(({ cells }) => cells.length === names.length);
}

/** "user,n\nann,40\nbob,2" -> its column names, and its rows with their line numbers. */
function readTable(text) {
  const rows = split(text);
  const header = isHeader(rows) ? rows.shift().cells : [];
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), header.length);
  const names = Array.from({ length: width }, (_, i) => header[i] || `column ${i + 1}`);
  return { names, rows };
}

/** Split at the separator that is most frequent in the first line; quoted cells may contain it. */
function split(text) {
  const separator = mostFrequentSeparator(text.trimStart().split("\n", 1)[0]);
  const cell = new RegExp(`("(?:[^"]|"")*"\\s*?|[^${separator}\\n]*)(${separator}|\\n|$)`, "g");
  const rows = [];
  let cells = [];
  let line = 1;
  for (const [match, content, end] of text.matchAll(cell)) {
    cells.push(unquoted(content.trim()));
    if (end !== separator) {
      rows.push({ line, cells });
      cells = [];
    }
    line += match.split("\n").length - 1;
  }
  return rows.filter((row) => row.cells.some(Boolean));
}

function mostFrequentSeparator(line) {
  const parts = (separator) => line.split(separator).length;
  return [",", ";", "\t"].reduce((best, next) => (parts(next) > parts(best) ? next : best));
}

function unquoted(cell) {
  const match = /^"(.*)"$/s.exec(cell);
  return match ? match[1].replaceAll('""', '"').trim() : cell;
}

/** The first row is a header if it has no number, and no text that recurs in its column. */
function isHeader([first, ...others]) {
  const recurs = (name, i) => name && others.some(({ cells }) => cells[i] === name);
  return first && !first.cells.some((name, i) => isNumber(name) || recurs(name, i));
}

/** The possible interpretations of a table. */
function interpretations({ names, rows }) {
  const columns = names.map((_, column) => rows.map(({ cells }) => cells[column] ?? ""));
  const possible = [];
  columns.forEach((entries, column) => {
    if (mayIdentifyUsers(entries, column)) possible.push({ kind: "rows", column });
  });
  columns.forEach((entries, column) => {
    if (entries.some(isCount)) possible.push({ kind: "column", column });
  });
  const allCounts = rows.every(({ cells }) => cells.every(isCount));
  if (allCounts && names.length > 1) possible.push({ kind: "numbers" });
  return possible;
}

/** The label of an interpretation in the list of choices; a column's label shows its first entries. */
function optionLabel({ names, rows }, { kind, column }) {
  if (kind === "rows") return `rows, counted by “${names[column]}”`;
  if (kind === "numbers") return "every number, one per user";
  const first = rows.slice(0, MAX_SHOWN).map(({ cells }) => shortened(cells[column]));
  return `column “${names[column]}”: ${first.join(", ")}${rows.length > MAX_SHOWN ? ", …" : ""}`;
}

/** How the table was read, as the end of a message. */
function description({ names }, { kind, column }) {
  if (kind === "rows") return `rows counted by “${names[column]}”`;
  if (kind === "numbers") return "one user per number";
  return `from column “${names[column]}”`;
}

/** Whether a column may identify users: its values repeat, and it is the first one or has no numbers. */
function mayIdentifyUsers(entries, column) {
  const repeats = new Set(entries).size < entries.length;
  return repeats && (column === 0 || !entries.some(isNumber));
}

/** The interpretation that needs no choice, if any: the only column, or the only one with a known name,
 * unless the first column has repeated values, as if each row were one sample. */
function certainInterpretation({ names }, possible) {
  const columns = possible.filter(({ kind }) => kind === "column");
  if (names.length === 1) return columns[0];
  const withKnownName = columns.filter(({ column }) => KNOWN_NAMES.test(names[column]));
  if (withKnownName.length !== 1) return undefined;
  return withKnownName[0].column !== 0 && mayHaveRowPerSample(possible) ? undefined : withKnownName[0];
}

/** Whether each row may be one sample, with its user in the first column. */
function mayHaveRowPerSample(possible) {
  return possible.some(({ kind, column }) => kind === "rows" && column === 0);
}

/** The counts of a table, in one of its interpretations. */
function countUsers(table, { kind, column }) {
  const { rows } = table;
  if (kind === "numbers") return rows.flatMap((row) => row.cells.map((cell) => readCount(cell, row)));
  const entries = rows.map((row) => cellOf(table, row, column));
  if (kind === "rows") return [...tally(entries).values()];
  return entries.map((cell, i) => readCount(cell, rows[i]));
}

/** [40, 2, 40] -> "40x2, 2x1" */
function inRuns(counts) {
  const runs = tally(counts.toSorted((a, b) => b - a));
  return [...runs].map(([count, users]) => `${count}x${users}`).join(", ");
}

/** How often each item occurs. */
function tally(items) {
  const numbers = new Map();
  for (const item of items) numbers.set(item, (numbers.get(item) ?? 0) + 1);
  return numbers;
}

function cellOf({ names }, { line, cells }, column) {
  if (cells[column]) return cells[column];
  throw new InputError(`Line ${line} has no entry in the column “${shortened(names[column])}”.`);
}

function readCount(cell, { line }) {
  if (isCount(cell)) return Number(cell);
  if (isNumber(cell) && Number(cell) === 0) {
    throw new InputError(`Line ${line}: “${shortened(cell)}”: a user has at least one sample.`);
  }
  throw new InputError(`Line ${line}: “${shortened(cell)}” is not a number of samples.`);
}

function isCount(cell) {
  return /^\d+(\.0*)?$/.test(cell) && Number(cell) >= 1;
}

function isNumber(cell) {
  return cell !== "" && !Number.isNaN(Number(cell.replace(",", ".")));
}

clip.table = {
  isTable, readTable, interpretations, optionLabel, description, certainInterpretation,
  mayHaveRowPerSample, countUsers, inRuns,
};
})((globalThis.clip ??= {}));
