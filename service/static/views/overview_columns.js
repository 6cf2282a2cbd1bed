/* The columns of the overview: what each shows, and by what the server sorts it. */
import { atLeast, atMost, element, link, measured, moment, number, percent, statusBadge } from "/static/dom.js";

const place = (row) => (row.predictor_id ? `#/predictors/${row.predictor_id}` : `#/calibrations/${row.calibration_id}`);
export const shownName = (row) => row.name || row.predictor_id || row.calibration_id;

/** name, title, what to show; sort: the server's word; term: in the glossary; number: whether it is one. */
export const COLUMNS = [
  { name: "name", title: "Name", sort: "name", always: true, show: (row) => link(place(row), shownName(row)) },
  { name: "status", title: "Status", show: status },
  { name: "model", title: "Model", show: (row) => link(`#/models/${row.model_id}`, row.model_name || row.model_id) },
  { name: "data", title: "Data set",
    show: (row) => link(`#/datasets/${row.dataset_id}`, row.dataset_name || row.dataset_id) },
  { name: "method", title: "Method", term: "method", show: (row) => row.method ?? "–" },
  { name: "promise", title: "Promise", term: "promise", sort: "alpha", number: true, show: promise },
  { name: "n", title: "n", term: "calibration rows", sort: "n", number: true, show: (row) => number(row.n) },
  { name: "size", title: "Measured size", term: "measured size", sort: "size", number: true,
    show: (row) => (row.size === null ? "–" : `${measured(row.size)}\u00a0${row.measure}`) },
  { name: "certified", title: "Certified size", term: "certified size", sort: "certified_size", number: true,
    show: (row) => (row.certified_size === null ? none(row) : `≤\u00a0${atMost(row.certified_size)}`) },
  { name: "coverage", title: "Coverage seen", term: "coverage seen", number: true, show: seen },
  { name: "task", title: "Task", hidden: true, show: (row) => row.task },
  { name: "guarantee", title: "Guarantee", term: "guarantee", hidden: true, show: (row) => row.guarantee ?? "–" },
  { name: "age", title: "Age", sort: "newest", number: true,
    show: (row) => element("time", { datetime: row.created_at, title: moment(row.created_at) }, age(row.created_at)) },
];

function status(row) {
  if (row.status !== "running") return element("span", row.error ? { "data-tip": row.error, tabindex: "0" } : {},
    statusBadge(row.status));
  return element("span", {}, statusBadge(row.status), ` ${percent(row.fraction ?? 0, 2)}`);
}

/** Groups have sizes of their own, which are on the certificate. */
const none = (row) => (row.certificate_id ? element("span", { tabindex: "0", "data-tip": "No mean over all sets is " +
  "certified. Where groups have thresholds of their own, the certificate has a size for each." }, "–") : "–");

function promise(row) {
  if (row.alpha === null) return "–";
  const words = `${atLeast(1 - row.alpha)}\u00a0·\u00a0${atLeast(1 - (row.delta ?? 0))}`;
  return row.certificate_id ? link(`#/certificates/${row.certificate_id}`, words) : words;
}

function seen(row) {
  if (!row.outcomes) return "–";
  const share = `${percent(1 - row.misses / row.outcomes)}\u00a0of\u00a0${number(row.outcomes)}`;
  return link(`#/predictors/${row.predictor_id}/monitor`, share);
}

const STEPS = [["d", 86400], ["h", 3600], ["min", 60]];

export function age(text) {
  const seconds = Math.max(0, (Date.now() - new Date(text)) / 1000);
  const [unit, length] = STEPS.find(([, step]) => seconds >= step) ?? ["s", 1];
  return `${Math.floor(seconds / length)}\u00a0${unit}`;
}
