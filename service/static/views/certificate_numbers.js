/* All numbers of a certificate, for who wants to see them on the page. */
import { element, moment, number, table } from "/static/dom.js";
import { show } from "/static/views/certificate_audit.js";

const TINY = 0.0001;

export function allNumbers(content) {
  const { coverage, efficiency, provenance } = content;
  return element("details", { class: "card screen", id: "numbers" }, element("summary", {}, "All numbers"),
    element("div", { class: "two" },
      element("div", {}, pairs("Coverage", coverage, ["union", "ranks", "rank_weights", "sizes"]), dataTable(content)),
      element("div", {}, pairs("Size", efficiency, ["size_counts"]),
        pairs("Provenance", { ...provenance, issued_at: moment(content.issued_at), id: content.id,
          predictor_id: content.predictor_id }, ["messages"]))));
}

/** What is known of the rows that were given; nothing of it is on certificates of format 1. */
function dataTable({ data, names }) {
  if (!data) return null;
  const rows = [
    ["data", names?.dataset], ["model", names?.model], ["rows", number(data.rows)],
    ["rows with different inputs", number(data.distinct_rows)],
    ["clusters", `${number(data.clusters)}${data.cluster_column ? ` (${data.cluster_column})` : ""}`],
    ["order of the rows, p-value", data.order_p_value < TINY ? `below ${TINY}` : number(data.order_p_value)],
    ["inputs", data.columns?.join(", ")],
  ];
  return table("Data", [["Name"], ["Value"]], rows.filter(([, value]) => (value ?? "–") !== "–"));
}

function pairs(caption, content, without) {
  const rows = Object.entries(content).filter(([name]) => !without.includes(name)).map(([name, value]) => [
    name.replaceAll("_", " "), show(value)]);
  return table(caption, [["Name"], ["Value"]], rows);
}
