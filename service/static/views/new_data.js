/* Calibration data: an existing data set, or a new file; its first ten rows are shown before anything starts. */
import { get, post } from "/static/api.js";
import { choice, element, field, number, table } from "/static/dom.js";
import { readTable } from "/static/csv.js";
import { truth } from "/static/views/datasets.js";
import { either } from "/static/views/either.js";

const SHOWN = 10;
const WIDEST = 12;

export function dataPart(all, suffixes, wanted) {
  const known = all.filter((one) => one.y_kind !== "none");
  const pick = field("Data set", choice(known.map((one) => [one.id,
    `${one.name || one.id}: ${number(one.rows)} rows of ${one.x_shape.join(" x ")}, y: ${one.y_kind}`]), wanted));
  const file = field("File", element("input", { type: "file", accept: suffixes.join(",") }),
    `${suffixes.join(", ")}; an .npz file has arrays x and y`);
  const name = field("Name", element("input", {}), "optional");
  const target = field("Target", element("input", { value: "y", list: "target-columns" }),
    "the column of y, in tables");
  const names = element("datalist", { id: "target-columns" });
  const way = either("1. Calibration data", "data", known, pick,
    element("div", { class: "fields" }, file, name, target, names));
  const preview = element("div", { class: "preview", "aria-live": "polite" });
  way.part.append(preview);
  const listeners = [];
  let about = {};
  let turn = 0;

  function tell(found) {
    about = found;
    listeners.forEach((listen) => listen(found));
  }

  /** The newest request wins: a slow answer must not overwrite a later choice. */
  async function look() {
    const mine = ++turn;
    try {
      const found = way.chosen() === "known" ? await stored(pick.control.value)
        : await local(file.control.files[0], target.control);
      if (mine !== turn) return;
      names.replaceChildren(...(found.header ?? []).map((one) => element("option", { value: one })));
      preview.replaceChildren(...(found.table ? [found.table] : []));
      tell(found);
    } catch (error) {
      if (mine === turn) preview.replaceChildren(element("p", { class: "wrong" }, error.message));
    }
  }
  way.part.addEventListener("change", look);
  if (way.chosen() === "known") queueMicrotask(look);

  return {
    part: way.part, about: () => about,
    /** What the calibration is called unless somebody says otherwise. */
    title: () => (way.chosen() === "known" ? known.find((one) => one.id === pick.control.value)?.name
      : name.control.value || file.control.files[0]?.name) ?? "",
    onChange: (listen) => listeners.push(listen),
    groupCounts: (column) => (column ? about.counts?.(column) : null),
    fields: () => ({ file, target, dataset_id: way.chosen() === "known" ? pick : file }),
    async chosen() {
      if (way.chosen() === "known") return pick.control.value;
      const [given] = file.control.files;
      if (!given) {
        file.wrong("Choose a file.");
        throw new Error("No file of calibration data was chosen.");
      }
      const form = new FormData();
      form.set("file", given);
      form.set("name", name.control.value || given.name);
      form.set("target", target.control.value || "y");
      return (await post("/datasets", form)).id;
    },
  };
}

/** What the service has. */
async function stored(id) {
  const [about, rows, profile] = await Promise.all([get(`/datasets/${id}`), get(`/datasets/${id}/rows?limit=${SHOWN}`),
    get(`/datasets/${id}/profile`).catch(() => null)]);
  const columns = rows.columns ?? rows.x[0]?.map((_, place) => `x${place}`) ?? [];
  const further = Object.entries(rows.further ?? {}).slice(0, WIDEST);
  const cells = rows.x.map((row, place) => [truth(rows, place), ...further.map(([, values]) => show(values[place])),
    ...row.slice(0, WIDEST).map(show)]);
  return { rows: about.rows, columns: (about.columns ?? []).map((one) => one.name), kind: about.y_kind,
    width: about.x_shape.reduce((a, b) => a * b, 1),
    classes: profile?.classes?.length, counts: (name) => profile?.groups[name]?.map((one) => one.rows),
    table: shown([about.target || "y", ...further.map(([name]) => name), ...columns.slice(0, WIDEST)], cells,
      columns.length) };
}

/** What a table on this machine has, before it is uploaded. Other files are read by the service. */
async function local(given, target) {
  if (!given) return {};
  if (!given.name.toLowerCase().endsWith(".csv")) return { rows: null };
  const found = await readTable(given);
  if (!found.header.includes(target.value)) target.value = found.header.includes("y") ? "y" : found.header.at(-1);
  const place = found.header.indexOf(target.value);
  const truths = found.values(place);
  const whole = truths.length > 0 && truths.every((value) => /^\s*\d+\s*$/.test(value));
  const cells = found.rows.slice(0, SHOWN).map((row) => row.slice(0, WIDEST));
  return { rows: found.rows.length, header: found.header, columns: found.header.filter((_, n) => n !== place),
    kind: whole ? "labels" : "numbers", classes: whole ? new Set(truths.map((value) => value.trim())).size : null,
    counts: (name) => found.counts(name), table: shown(found.header.slice(0, WIDEST), cells, found.header.length) };
}

function shown(heads, cells, columns) {
  const more = columns > WIDEST ? `, and ${columns - WIDEST} columns more` : "";
  return table(`The first ${cells.length} rows${more}`, heads.map((head) => [head]), cells, () => false, true);
}

const show = (value) => (Array.isArray(value) ? value.map((one) => number(one)).join(", ") : number(value, 4));
