/* Many inputs at once: rows that were pasted, or a CSV file; their sets as a table to take along. */
import { post } from "/static/api.js";
import { element, field, number, saveFile, table } from "/static/dom.js";
import { splitLine } from "/static/csv.js";
import { groupColumns } from "/static/views/groups.js";
import { inShort, ownOutputs } from "/static/views/own_outputs.js";
import { setWords } from "/static/views/set_words.js";

const MOST = 5000;
const SHOWN = 50;

export function tryMany(id, width, certificate, classes) {
  const columns = certificate.data?.columns;
  const by = groupColumns(certificate);
  const text = element("textarea", { rows: "4", spellcheck: "false" });
  const file = element("input", { type: "file", accept: ".csv,.txt" });
  const box = field("Rows", text, by.length
    ? `one input a line: ${number(width)} ${width === 1 ? "number" : "numbers"}, then ${by.join(", ")}; with a first line `
      + "of names, in any order"
    : `one input a line, ${number(width)} ${width === 1 ? "number" : "numbers"} each; a first line of names may say which`);
  const place = element("div", { role: "status", "aria-live": "polite" });
  file.addEventListener("change", async () => {
    if (file.files[0]) text.value = await file.files[0].text();
  });

  async function ask(event) {
    event.preventDefault();
    box.wrong("");
    place.replaceChildren();
    try {
      const { x, groups } = rowsOf(text.value, width, columns, by);
      const [{ predictions }, own] = await Promise.all([
        post("/predict_set", { predictor: id, x, ...(groups ? { groups } : {}) }), ownOutputs(id, x)]);
      place.replaceChildren(...answer(predictions, own, classes, groups));
    } catch (error) {
      box.wrong(error.message);
    }
  }
  return element("details", { class: "card" }, element("summary", {}, "Many inputs at once"),
    element("form", { onsubmit: ask }, box, field("File", file, "CSV"),
      element("p", {}, element("button", {}, "Predict all"))), place);
}

/** Numbers of each line, and its group where there are groups; other columns of a table with names are left out. */
function rowsOf(text, width, columns, by) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  if (!lines.length) throw new Error("There are no rows.");
  if (lines.length > MOST) throw new Error(`At most ${number(MOST)} rows fit here; POST /predict_set takes more.`);
  const cells = lines.map((line) => splitLine(line, line.includes(";") ? ";" : ",").map((cell) => cell.trim()));
  const isText = (cell) => cell !== "" && Number.isNaN(Number(cell));
  const named = cells[0].slice(0, width).some(isText);
  const heads = named ? cells.shift() : null;
  const places = placesOf(heads, width, columns, by);
  const rows = cells.map((row, place) => {
    const values = places.inputs.map((at) => row[at]);
    if ((!heads && row.length !== width + by.length) || values.some((value) => !value || isText(value))) {
      throw new Error(`Line ${place + (named ? 2 : 1)} does not have ${number(width)} numbers`
        + `${by.length ? ` and ${by.join(", ")}` : ""}.`);
    }
    const group = places.groups.map((at) => row[at] ?? "");
    return { x: values.map(Number), group: group.length > 1 ? group : group[0] };
  });
  return { x: rows.map((row) => row.x), groups: by.length ? rows.map((row) => row.group) : null };
}

/** Where in a line inputs and groups stand: by the names of the first line, or inputs first and groups behind them. */
function placesOf(heads, width, columns, by) {
  const inputs = [...Array(width).keys()];
  if (!heads) return { inputs, groups: by.map((_, place) => width + place) };
  const find = (name) => {
    if (!heads.includes(name)) throw new Error(`The column ${name} is missing.`);
    return heads.indexOf(name);
  };
  return { inputs: columns ? columns.map(find) : inputs, groups: by.map(find) };
}

function answer(predictions, own, classes, groups) {
  const mean = predictions.reduce((sum, one) => sum + one.set.size, 0) / predictions.length;
  const kind = own?.kind === "probabilities" ? "Likeliest by itself" : "Model by itself";
  const columns = [["Row", (_, place) => String(place + 1)],
    ...(groups ? [["Group", (one, place) => [groups[place]].flat().join(", ")]] : []),
    ["Set", (one) => setWords(one.set, classes)], ["Size", (one) => number(one.set.size), true],
    ...(own ? [[kind, (one, place) => inShort(own.kind, own.outputs[place], classes)]] : []),
    ["Member", (one) => String(one.member), true]];
  const shown = predictions.slice(0, SHOWN).map((one, place) => columns.map(([, show]) => show(one, place)));
  return [element("p", {}, `${number(predictions.length)} sets, of size ${number(mean)} on average. `,
    element("button", { type: "button", class: "plain",
      onclick: () => saveFile("sets.csv", csvOf(predictions, columns), "text/csv") }, "Download as CSV")),
  table(predictions.length > SHOWN ? `The first ${SHOWN}` : "Sets", columns.map(([name, , isNumber]) => [name, isNumber]),
    shown)];
}

function csvOf(predictions, columns) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const all = [...columns, ["prediction_id", (one) => one.prediction_id]];
  return [all.map(([name]) => name.toLowerCase().replaceAll(" ", "_")).join(","),
    ...predictions.map((one, place) => all.map(([, show]) => quoted(show(one, place))).join(",")), ""].join("\n");
}
