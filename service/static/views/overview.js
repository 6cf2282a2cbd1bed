/* Everything at a glance: running fits and served predictors. */
import { get, list } from "/static/api.js";
import {
  atLeast, atMost, badge, element, every, link, moment, number, numbers, refill, statusBadge,
} from "/static/dom.js";
import { progressOf } from "/static/views/calibration.js";

const REFRESH = 1500;
const MOST = 50;

export async function overview({ signal, say }) {
  const fits = element("section", { class: "card", "aria-labelledby": "fits-title" });
  const served = element("ul", { class: "cards" });
  const view = element("section", {},
    element("div", { class: "row between" }, element("h1", {}, "Overview"),
      link("#/new", "New calibration", { class: "button" })),
    fits, element("h2", {}, "Predictors"), served,
    element("p", { class: "small soft" }, `The newest ${MOST} at most; GET /predictors lists them all.`));
  const certificates = new Map();
  let shown = null;

  async function refresh() {
    const [queued, running] = await Promise.all([
      list("/calibrations?status=queued"), list("/calibrations?status=running"),
    ]);
    const open = [...running, ...queued];
    showFits(fits, open);
    const predictors = await list("/predictors", MOST);
    const state = JSON.stringify(predictors);
    if (state !== shown) {
      const missing = predictors.filter(({ certificate_id: id }) => !certificates.has(id));
      await Promise.all(missing.map(async ({ certificate_id: id }) => {
        certificates.set(id, await get(`/certificates/${id}`));
      }));
      shown = state;
      refill(served, ...(predictors.length
        ? predictors.slice(0, MOST).map((one) => card(one, certificates.get(one.certificate_id)))
        : [element("li", { class: "card" }, "No predictors yet. ", link("#/new", "Start a calibration"),
          ", or run ", element("code", {}, "make demo"), ".")]));
    }
  }

  await refresh();
  every(signal, REFRESH, say, refresh);
  return view;
}

function showFits(place, open) {
  const lines = open.map((fit) => element("div", {}, element("p", { class: "row between" },
    element("span", {}, link(`#/calibrations/${fit.id}`, fit.name || fit.id), " ", statusBadge(fit.status)),
    element("span", { class: "soft" }, fit.progress ? fit.progress.phase : "waiting for a worker")),
    progressOf(fit)));
  refill(place, element("h2", { id: "fits-title" }, "Running fits"),
    ...(lines.length ? lines : [element("p", { class: "soft" }, "No fits are running. ",
      link("#/calibrations", "All fits"))]));
}

function card(predictor, certificate) {
  const { coverage, efficiency } = certificate;
  return element("li", { class: "card" },
    element("div", { class: "row between" },
      element("h3", {}, link(`#/predictors/${predictor.id}`, predictor.name || predictor.id)),
      statusBadge(predictor.certificate_status)),
    numbers([
      ["covers at least", atLeast(1 - coverage.pool_miscoverage_bound)],
      [`mean size (${efficiency.measure})`, number(efficiency.empirical)],
      ["certified size", atMost(efficiency.upper_bound)],
    ]),
    element("p", { class: "small soft" },
      `${predictor.task}, score ${predictor.score}, ${number(predictor.members)} ` +
      `${predictor.members === 1 ? "member" : "members"}, confidence ${atLeast(1 - coverage.delta - coverage.pool_delta)}, ` +
      `${moment(predictor.created_at)}`),
    element("p", { class: "row" }, link(`#/predictors/${predictor.id}`, "Try it"),
      link(`#/certificates/${predictor.certificate_id}`, "Certificate"),
      link(`#/predictors/${predictor.id}/monitor`, "Monitor"),
      predictor.serve === "best" ? badge("serves its best member") : null));
}
