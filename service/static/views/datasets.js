/* Data sets: the list, and one with its columns, its target, its copies and where it was used. */
import { get, list, remove } from "/static/api.js";
import { element, idText, link, moment, number, numbers, percent, table } from "/static/dom.js";
import { term } from "/static/glossary.js";
import { bars } from "/static/views/bars.js";
import { namedHeading } from "/static/views/rename.js";
import { deleteButton, usedBy } from "/static/views/used_by.js";

const SHOWN = 10;
const WIDEST = 10;

export async function datasets() {
  const found = await list("/datasets");
  const rows = found.map((one) => [link(`#/datasets/${one.id}`, one.name || one.id), number(one.rows),
    one.x_shape.join(" x "),
    one.y_kind, moment(one.created_at)]);
  return element("section", {}, element("h1", {}, "Data sets"), element("div", { class: "card" }, rows.length
    ? table("Newest first", [["Name"], ["Rows", true], ["Shape of a row"], ["Target"], ["Uploaded"]], rows)
    : element("p", {}, "No data yet. ", link("#/new", "Upload some"), ".")));
}

export async function dataset(id, { say }) {
  const [about, rows, profile, used, facts] = await Promise.all([get(`/datasets/${id}`),
    get(`/datasets/${id}/rows?limit=${SHOWN}`),
    get(`/datasets/${id}/profile`), usedBy("dataset", id), get(`/certificates?dataset=${id}&limit=1`)]);
  const data = facts.items.find((one) => one.data)?.data;
  return element("section", {}, namedHeading(`/datasets/${id}`, about.name, id, say),
    element("div", { class: "card" }, numbers([
      ["rows", number(about.rows)], ["numbers in a row", number(about.x_shape.reduce((a, b) => a * b, 1))],
      ["target", about.target ? `${about.target} (${about.y_kind})` : "none"],
        ["different inputs", distinct(about, profile, data)],
      [term("order test", "order test, p-value"), data?.order_p_value === undefined || data === undefined
        ? "not tested yet" : number(data.order_p_value)],
      ["size of the file", `${number(Math.ceil(about.bytes / 1024))} kB`],
    ]), element("p", { class: "row" }, link(`#/new?dataset=${id}`, "Calibrate with it", { class: "button" }),
      deleteButton("Delete this data set? Predictors and certificates made with it go on working.",
        () => remove(`/datasets/${id}`), "#/datasets", say),
      element("span", { class: "small soft" }, `uploaded ${moment(about.created_at)}, `, idText(about.id)))),
    element("div", { class: "two" }, targetCard(about, profile),
      element("div", {}, columnsCard(about), ...groupCards(profile))),
    element("div", { class: "card" }, preview(about, rows)), used);
}

function distinct(about, profile, data) {
  const found = profile.distinct === null ? data?.distinct_rows : profile.distinct;
  if (found === null || found === undefined) return "–";
  return found === profile.rows ? "all" : `${number(found)} (${percent(1 - found / profile.rows)} copies)`;
}

function targetCard(about, profile) {
  if (profile.classes) {
    return element("div", { class: "card" }, element("h2", {}, `Classes of ${about.target || "y"}`),
      bars(profile.classes.map((one) => [one.value, one.rows])));
  }
  if (!profile.edges) return null;
  const between = profile.edges.slice(0, -1).map((low, place) =>
    `${number(low)} to ${number(profile.edges[place + 1])}`);
  return element("div", { class: "card" }, element("h2", {}, `Values of ${about.target || "y"}`),
    bars(profile.heights.map((rows, place) => [between[place], rows])));
}

const groupCards = (profile) => Object.entries(profile.groups).slice(0,
  4).map(([name, counts]) => element("div", { class: "card" },
  element("h2", {}, `Values of ${name}`), bars(counts.map((one) => [one.value, one.rows]))));

function columnsCard(about) {
  if (!about.columns?.length) return null;
  return element("div", { class: "card" }, table("Columns",
    [["Name"], ["Kind"], ["Missing", true], ["Different values", true]],
    about.columns.slice(0, 50).map((one) => [one.name, one.kind, number(one.missing),
      one.distinct >= 1000 ? "1,000 or more" : number(one.distinct)])));
}

function preview(about, rows) {
  const heads = (rows.columns ?? rows.x[0]?.map((_, place) => `x${place}`) ?? []).slice(0, WIDEST);
  const further = Object.entries(rows.further ?? {}).slice(0, WIDEST);
  const more = (rows.x[0]?.length ?? 0) > WIDEST ? `, ${WIDEST} of ${number(rows.x[0].length)} columns` : "";
  return table(`The first ${rows.x.length} rows${more}`, [[about.target || "y"], ...further.map(([name]) => [name]),
    ...heads.map((name) => [name, true])],
    rows.x.map((row, place) => [truth(rows, place), ...further.map(([, values]) => shownValue(values[place])),
      ...row.slice(0, WIDEST).map(shownValue)]), () => false, true);
}

const shownValue = (value) => (Array.isArray(value) ? value.map((one) => number(one)).join(", ") : number(value, 4));

/** A class by its name, where it has one. */
export const truth = ({ y, y_names: names }, place) => names?.[y[place]] ?? shownValue(y[place]);
