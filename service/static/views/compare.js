/* Two to six predictors side by side: what differs is marked, and their sizes are drawn in one chart. */
import { get } from "/static/api.js";
import { figureOrReason } from "/static/charts.js";
import { atLeast, atMost, cut, element, link, measured, moment, number, percent, statusBadge } from "/static/dom.js";
import { term } from "/static/glossary.js";

const LINES = [
  ["Status", (one) => one.about.certificate_status],
  ["Model", (one) => one.certificate.names?.model ?? one.fit?.model_id],
  ["Data set", (one) => one.certificate.names?.dataset ?? one.fit?.dataset_id],
  ["Method", (one) => one.certificate.provenance.method, "method"],
  ["Score", (one) => one.about.score, "score"],
  ["Guarantee", (one) => one.certificate.coverage.guarantee, "guarantee"],
  ["Covers at least", (one) => atLeast(1 - one.certificate.coverage.pool_miscoverage_bound), "coverage"],
  ["With confidence", (one) => atLeast(1 - one.certificate.coverage.delta - one.certificate.coverage.pool_delta),
    "confidence"],
  ["Calibration rows", (one) => number(one.certificate.coverage.n), "calibration rows"],
  ["Rows that tune", (one) => number(one.certificate.provenance.n_tune), "tuned on"],
  ["Members", (one) => number(one.certificate.members.length), "member"],
  ["Measured size", (one) => `${measured(one.certificate.efficiency.empirical)} ${one.certificate.efficiency.measure}`,
    "measured size"],
  ["Certified size", (one) => certified(one.certificate.efficiency), "certified size"],
  ["Caveats", (one) => (one.certificate.caveats ?? []).map((caveat) => caveat.code.replaceAll("_", " ")).join(", ")
    || "none", "caveat"],
  ["Outcomes", (one) => number(one.monitor.outcomes)],
  ["Coverage seen", (one) => (one.monitor.outcomes ? percent(1 - one.monitor.miscoverage) : "–"), "coverage seen"],
  ["Serves", (one) => one.about.serve],
  ["Issued", (one) => moment(one.certificate.issued_at)],
];
const certified = (efficiency) => (efficiency.upper_bound === null ? "–"
  : `${atMost(efficiency.upper_bound)}${cut(efficiency)}`);
const BEST = { "Measured size": (one) => one.certificate.efficiency.empirical,
  "Certified size": (one) => one.certificate.efficiency.upper_bound };

export async function compare({ query }) {
  const ids = (query.get("ids") ?? "").split(",").filter(Boolean).slice(0, 6);
  const all = await Promise.all(ids.map(load));
  const drawing = await figureOrReason(`/figures/compare?predictors=${ids.join(",")}`);
  return element("section", {}, element("h1", {}, `${ids.length} predictors side by side`),
    element("div", { class: "card" }, tableOf(all)),
    element("div", { class: "card" }, element("h2", {}, "Sizes of their sets"), drawing));
}

async function load(id) {
  const about = await get(`/predictors/${id}`);
  const [certificate, monitor, fit] = await Promise.all([get(`/certificates/${about.certificate_id}`),
    get(`/predictors/${id}/monitor`), get(`/calibrations/${about.calibration_id}`).catch(() => null)]);
  return { about, certificate, monitor, fit };
}

function tableOf(all) {
  const only = element("input", { type: "checkbox" });
  const made = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Side by side" },
    element("table", { class: "compare" },
      element("thead", {}, element("tr", {}, element("td", {}),
        all.map(({ about }) => element("th", { scope: "col" },
          link(`#/predictors/${about.id}`, about.name || about.id))))),
      element("tbody", {}, LINES.map((line) => lineOf(all, line)))));
  only.addEventListener("change", () => made.classList.toggle("differing", only.checked));
  return element("div", {}, element("p", {}, element("label", {}, only, " only what differs")), made,
    element("p", { class: "small soft" }, "≠ marks what differs, and ★ the smallest sets."));
}

function lineOf(all, [title, show, word]) {
  const cells = all.map(show);
  const differs = new Set(cells.map(String)).size > 1;
  const sizes = BEST[title] ? all.map(BEST[title]) : [];
  const comparable = new Set(all.map((one) => one.certificate.efficiency.measure)).size === 1;
  const least = comparable ? Math.min(...sizes.filter((size) => size !== null)) : null;
  return element("tr", { class: differs ? "differs" : "same" },
    element("th", { scope: "row" }, word ? term(word, title) : title,
      differs ? element("span", { class: "mark", title: "differs" }, " ≠") : ""),
    cells.map((cell, place) => element("td", {}, title === "Status" ? statusBadge(cell) : cell,
      differs && sizes[place] === least && least !== null ? " ★" : "")));
}
