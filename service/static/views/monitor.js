/* How often served sets missed the truth, and whether that contradicts the certificate: in words, then in numbers. */
import { get } from "/static/api.js";
import { figure } from "/static/charts.js";
import { atLeast, atMost, element, every, link, moment, number, numbers, percent, refill, statusBadge,
  table, within } from "/static/dom.js";
import { term } from "/static/glossary.js";
import { correctionForm } from "/static/views/outcomes.js";

export async function monitor(id, { signal, say }) {
  const about = await get(`/predictors/${id}`);
  const content = await get(`/certificates/${about.certificate_id}`);
  const drawings = await Promise.all(["coverage", "monitor", ...(content.groups?.length ? ["group_outcomes"] : [])]
    .map((name) => figure(`/predictors/${id}/figures/${name}`)));
  const [coverage, capital, byGroup] = drawings;
  const head = element("div", { class: "card" });

  async function refresh() {
    const state = await get(`/predictors/${id}/monitor`);
    const bad = state.status === "contradicted";
    refill(head, element("p", { class: "row" }, statusBadge(state.status),
      link(`#/predictors/${id}`, "Try it"), link(`#/certificates/${about.certificate_id}`, "Certificate")),
    element("p", { class: bad ? "warning" : "verdict" }, sentence(state)),
    (state.caveats ?? []).map((one) => element("p", { class: "caveat" }, element("strong", {}, "Caveat: "), one)),
    reporting(state), element("h2", {}, "Coverage"), coverageNumbers(state),
    groupTable(state), state.size ? element("h2", {}, "Sizes") : "", state.size ? sizeNumbers(state.size) : "",
    element("p", { class: "small soft" }, `The interval holds at all times simultaneously with probability ` +
      `${atLeast(1 - state.eta)}; a correct certificate is contradicted with probability at most ` +
      `${percent(state.eta)}, however often you look at this page${state.size ? ", half of it each for misses and sizes" : ""}. ` +
      "An outcome counts once a case."));
  }

  const reload = () => Promise.all([refresh(), ...drawings.map((one) => one.refresh())]);
  await refresh();
  every(signal, 5000, say, reload);
  return element("section", {}, element("h1", {}, `Monitor of ${about.name || about.id}`), head,
    element("div", { class: "two" },
      element("div", { class: "card" }, element("h2", {}, "Coverage so far"), coverage),
      element("div", { class: "card" }, element("h2", {}, term("capital", "Capital of a bet against the certificate")),
        capital),
      byGroup ? element("div", { class: "card" }, element("h2", {}, "Outcomes by group"), byGroup) : null),
    correctionForm(id, reload, content.model?.labels ?? null));
}

const reporting = (state) => numbers([["sets issued", number(state.issued)],
  ["outcomes reported", number(state.reported)],
  ["reported share", state.share === null ? "–" : percent(state.share)],
    ["outcomes that count", number(state.outcomes)],
  ["misses", number(state.misses)]]);

function coverageNumbers(state) {
  const [low, high] = state.interval;
  return numbers([["promised", `≥ ${atLeast(1 - state.promised_miscoverage)}`],
    [term("coverage seen", "seen"), state.miscoverage === null ? "–" : percent(1 - state.miscoverage)],
    ["the true coverage is within", within(1 - high, 1 - low)], ...bet(state)]);
}

/** Every group that has a promise of its own. */
function groupTable({ groups }) {
  if (!groups?.length) return "";
  return table("By group", [["Group"], ["Outcomes", true], ["Misses", true], ["Coverage seen", true],
    ["True coverage within", true], [""]],
    groups.map((one) => [nameOf(one), number(one.outcomes), number(one.misses),
      one.miscoverage === null ? "–" : percent(1 - one.miscoverage),
        within(1 - one.interval[1], 1 - one.interval[0]),
      statusBadge(one.contradicted ? "contradicted" : "consistent")]));
}

/** Sizes of the sets whose outcome counts, against the certified mean. */
const sizeNumbers = (size) => numbers([["certified mean size", `≤ ${atMost(size.promised)}`],
  [`seen, at most ${number(size.cap)} each`, size.mean === null ? "–" : number(size.mean)], ...bet(size)]);

const bet = (one) => [[term("capital", "capital, begun with 1"), number(Math.exp(one.log_capital))],
  [term("threshold", "threshold of the capital"), number(Math.exp(one.log_threshold))]];

/** The moment of contradiction in words, and what contradicts. */
function sentence(state) {
  if (state.status !== "contradicted") {
    return state.outcomes ? "The outcomes so far are consistent with the certificate."
      : "No outcome has been reported yet: POST /outcomes, or report one on the predictor's page.";
  }
  const first = state.path.find((point) => point.log_capital >= state.log_threshold);
  const groups = (state.groups ?? []).filter((one) => one.contradicted).map(nameOf).join(", ");
  const by = { coverage: first ? `misses (${number(first.misses)} of the first ${number(first.outcomes)} outcomes)`
    : "more misses than promised", size: "sets that are larger than certified",
  groups: `groups that are missed more often than promised (${groups})` };
  return `Contradicted since ${moment(state.contradicted_at)}, by `
    + `${state.contradicted_by.map((name) => by[name] ?? name).join(", and by ")}. The data have changed, or an assumption `
    + "does not hold: recalibrate on new data. A truth that was wrong can be corrected below.";
}

const nameOf = (one) => one.label ?? one.name.join(", ");
