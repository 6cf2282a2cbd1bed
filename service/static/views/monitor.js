/* How often served sets missed the truth, and whether that contradicts the certificate. */
import { get } from "/static/api.js";
import { atLeast, element, every, figure, link, moment, number, numbers, percent, refill, statusBadge } from "/static/dom.js";
import { correctionForm } from "/static/views/outcomes.js";

export async function monitor(id, { signal, say }) {
  const about = await get(`/predictors/${id}`);
  const drawing = await figure(`/predictors/${id}/figures/monitor`);
  const head = element("div", { class: "card" });

  async function refresh() {
    const state = await get(`/predictors/${id}/monitor`);
    const [low, high] = state.interval;
    refill(head, element("p", { class: "row" }, statusBadge(state.status),
      link(`#/predictors/${id}`, "Try it"), link(`#/certificates/${about.certificate_id}`, "Certificate")),
    element("p", {}, sentence(state)),
    (state.caveats ?? []).map((one) => element("p", { class: "caveat" }, element("strong", {}, "Caveat: "), one)),
    numbers([
      ["sets issued", number(state.issued)], ["outcomes reported", number(state.reported)],
      ["reported share", state.share === null ? "–" : percent(state.share)],
      ["outcomes that count", number(state.outcomes)], ["misses", number(state.misses)],
      ["promised miscoverage", percent(state.promised_miscoverage)],
      ["observed miscoverage", state.miscoverage === null ? "–" : percent(state.miscoverage)],
      ["true miscoverage is within", `${percent(low)} – ${percent(high)}`],
      ["capital", number(Math.exp(state.log_capital))], ["contradicted at", number(Math.exp(state.log_threshold))],
      ...sizeNumbers(state.size),
    ]),
    element("p", { class: "small soft" }, `The interval holds at all times simultaneously with probability ` +
      `${atLeast(1 - state.eta)}; a correct certificate is contradicted with probability at most ` +
      `${percent(state.eta)}, however often you look at this page${state.size ? ", half of it each for misses and sizes" : ""}. ` +
      "An outcome counts once a case."));
  }

  const reload = () => Promise.all([refresh(), drawing.refresh()]);
  await refresh();
  every(signal, 5000, say, reload);
  return element("section", {}, element("h1", {}, `Monitor of ${about.name || about.id}`), head,
    element("div", { class: "card" }, element("h2", {}, "Capital of a bet against the certificate"), drawing),
    correctionForm(id, reload));
}

/** Sizes of the sets whose outcome counts, against the certified mean. */
function sizeNumbers(size) {
  return size ? [["certified mean size", number(size.promised)],
    [`mean size, at most ${number(size.cap)} each`, size.mean === null ? "–" : number(size.mean)],
    ["capital against the size", number(Math.exp(size.log_capital))],
    ["size contradicted at", number(Math.exp(size.log_threshold))]] : [];
}

function sentence(state) {
  if (state.status === "contradicted") {
    const what = state.contradicted_by.includes("coverage") ? "Outcomes have" : "Sizes of sets have";
    return `${what} contradicted the certificate since ${moment(state.contradicted_at)}: the data have changed, or an ` +
      "assumption does not hold. Recalibrate on new data. A truth that was wrong can be corrected below.";
  }
  return state.outcomes ? "The outcomes so far are consistent with the certificate."
    : "No outcome has been reported yet: POST /outcomes, or report one on the predictor's page.";
}
