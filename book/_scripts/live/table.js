// A table of users, as CSV: which ways there are to read counts from it, and reading it in one.
// Nothing is guessed: where more than one way makes sense, whoever gave the table is asked.

"use strict";

((clip) => {
const { Refusal, shown } = clip.entries;

const KNOWN = /^(counts?|samples|records|rows|n|m)$/i;
const MOST_SHOWN = 3;

/** Whether a text is a table: it has words, or the same number of several numbers in each line. */
function isTable(text) {
  if (!text.trim().includes("\n")) return false;
  const words = text.trim().split(/[\s,;]+/);
  if (words.some((word) => !/^(\d+([x×*]\d+)?)?$/.test(word))) return true;
  if (!words.every((word) => /^\d+$/.test(word))) return false;
  const { names, rows } = readTable(text);
  return names.length > 1 && rows.every(({ cells }) => cells.length === names.length);
}

/** "user,n\nann,40\nbob,2" -> the names of its columns, and its rows, each with its line. */
function readTable(text) {
  const rows = split(text);
  const head = isHead(rows) ? rows.shift().cells : [];
  const width = rows.reduce((most, { cells }) => Math.max(most, cells.length), head.length);
  const names = Array.from({ length: width }, (_, i) => head[i] || `column ${i + 1}`);
  return { names, rows };
}

/** Cells end at the mark that the first line has most of; in quotes they may hold anything. */
function split(text) {
  const mark = usualMark(text.trimStart().split("\n", 1)[0]);
  const cell = new RegExp(`("(?:[^"]|"")*"\\s*?|[^${mark}\\n]*)(${mark}|\\n|$)`, "g");
  const rows = [];
  let cells = [];
  let line = 1;
  for (const [whole, content, end] of text.matchAll(cell)) {
    cells.push(unquoted(content.trim()));
    if (end !== mark) {
      rows.push({ line, cells });
      cells = [];
    }
    line += whole.split("\n").length - 1;
  }
  return rows.filter((row) => row.cells.some(Boolean));
}

function usualMark(line) {
  const number = (mark) => line.split(mark).length;
  return [",", ";", "\t"].reduce((best, mark) => (number(mark) > number(best) ? mark : best));
}

function unquoted(cell) {
  const found = /^"(.*)"$/s.exec(cell);
  return found ? found[1].replaceAll('""', '"').trim() : cell;
}

/** The first row is a head if it has no number, and nothing that comes again below it. */
function isHead([first, ...others]) {
  const again = (name, i) => name && others.some(({ cells }) => cells[i] === name);
  return first && !first.cells.some((name, i) => isNumber(name) || again(name, i));
}

/** The ways in which counts may be read from a table. */
function ways({ names, rows }) {
  const columns = names.map((_, column) => rows.map(({ cells }) => cells[column] ?? ""));
  const found = [];
  columns.forEach((entries, column) => {
    if (mayName(entries, column)) found.push({ kind: "rows", column });
  });
  columns.forEach((entries, column) => {
    if (entries.some(isCount)) found.push({ kind: "column", column });
  });
  const allCount = rows.every(({ cells }) => cells.every(isCount));
  if (allCount && names.length > 1) found.push({ kind: "numbers" });
  return found;
}

/** A way, to be chosen from several: with the first entries of a column. */
function offered({ names, rows }, { kind, column }) {
  if (kind === "rows") return `rows, counted by “${names[column]}”`;
  if (kind === "numbers") return "every number, one per user";
  const first = rows.slice(0, MOST_SHOWN).map(({ cells }) => shown(cells[column]));
  return `column “${names[column]}”: ${first.join(", ")}${rows.length > MOST_SHOWN ? ", …" : ""}`;
}

/** A way, after it was taken. */
function taken({ names }, { kind, column }) {
  if (kind === "rows") return `rows counted by “${names[column]}”`;
  if (kind === "numbers") return "every number one user";
  return `from column “${names[column]}”`;
}

/** Whether a column may name users, several times: the first one, or one of words. */
function mayName(entries, column) {
  const repeats = new Set(entries).size < entries.length;
  return repeats && (column === 0 || !entries.some(isNumber));
}

/** The way that needs no question: a single column of counts, or one with a known name, unless the
 * first column repeats, as if each row were one sample. */
function certainWay({ names }, found) {
  const columns = found.filter(({ kind }) => kind === "column");
  if (names.length === 1) return columns[0];
  const known = columns.filter(({ column }) => KNOWN.test(names[column]));
  if (known.length !== 1) return undefined;
  return known[0].column !== 0 && repeatsAtFirst(found) ? undefined : known[0];
}

/** Whether the rows may be single samples, with their users in the first column. */
function repeatsAtFirst(found) {
  return found.some(({ kind, column }) => kind === "rows" && column === 0);
}

/** The counts that a table has, read in one of its ways. */
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
  const found = new Map();
  for (const item of items) found.set(item, (found.get(item) ?? 0) + 1);
  return found;
}

function cellOf({ names }, { line, cells }, column) {
  if (cells[column]) return cells[column];
  throw new Refusal(`Line ${line} has nothing in the column “${shown(names[column])}”.`);
}

function readCount(cell, { line }) {
  if (isCount(cell)) return Number(cell);
  if (isNumber(cell) && Number(cell) === 0) {
    throw new Refusal(`Line ${line}: “${shown(cell)}”: a user has at least one sample.`);
  }
  throw new Refusal(`Line ${line}: “${shown(cell)}” is no number of samples.`);
}

function isCount(cell) {
  return /^\d+(\.0*)?$/.test(cell) && Number(cell) >= 1;
}

function isNumber(cell) {
  return cell !== "" && !Number.isNaN(Number(cell.replace(",", ".")));
}

clip.table = {
  isTable, readTable, ways, offered, taken, certainWay, repeatsAtFirst, countUsers, inRuns,
};
})((globalThis.clip ??= {}));
