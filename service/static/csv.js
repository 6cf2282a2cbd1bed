/* A CSV file as this page needs it: its header, its rows, and how often each value of a column occurs. */

const MOST = 50_000_000;

/** Cells of one line; quoted ones may have commas and doubled quotes in them. */
export function splitLine(line, comma = ",") {
  const cells = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < line.length; at++) {
    const letter = line[at];
    if (quoted && letter === '"' && line[at + 1] === '"') cell += line[++at];
    else if (letter === '"') quoted = !quoted;
    else if (letter === comma && !quoted) {
      cells.push(cell);
      cell = "";
    } else cell += letter;
  }
  return [...cells, cell];
}

export async function readTable(file) {
  const text = await file.slice(0, MOST).text();
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/).filter((line) => line.trim());
  if (!lines.length) throw new Error("This file is empty.");
  const header = splitLine(lines[0]).map((name) => name.trim());
  const rows = lines.slice(1).map((line) => splitLine(line));
  const values = (place) => rows.map((row) => row[place] ?? "");
  return { header, rows, values,
    counts(name) {
      const found = new Map();
      for (const value of values(header.indexOf(name))) found.set(value, 1 + (found.get(value) ?? 0));
      return found.size <= 200 ? [...found.values()] : null;
    } };
}
