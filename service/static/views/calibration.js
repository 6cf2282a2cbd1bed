/* One fit, live while it runs: what it does, why, and how far it is. */
import { get, post, watch } from "/static/api.js";
import { figure } from "/static/charts.js";
import { element, idText, link, moment, number, numbers, refill, statusBadge } from "/static/dom.js";

const PHASES = {
  prepare: "reading the data", compare: "comparing ways to adapt the model, on revealed rows", tune: "tuning the model",
  fit: "spending the KL budget on a posterior", calibrate: "calibrating and certifying", done: "done",
};
/** Why it does what it does: for who waits. */
const REASONS = {
  prepare: "Rows are checked for copies and for an order that means something; the split is fixed before "
    + "anything is seen.",
  compare: "Candidates are compared on rows that are revealed for this and calibrate nothing, so that "
    + "choosing costs no confidence.",
  tune: "The model is adapted on rows that do not calibrate, so that the sets become smaller; the promise "
    + "does not depend on it.",
  fit: "Members are moved towards smaller sets, as far as the bound allows for the rows that certify them.",
  calibrate: "Thresholds are set on rows that nothing has looked at before, and the sizes are certified.",
};
const OPEN = ["queued", "running"];
/** name, title, and by which methods there is one */
const FIGURES = [["loss", "Loss"], ["kl", "KL spent and its budget", ["pac_bayes"]]];

function progressOf(fit) {
  const share = fit.progress ? fit.progress.fraction : 0;
  return element("progress", { max: "1", value: String(share), "aria-label": `Progress of ${fit.name || fit.id}` });
}

export async function calibration(id, { signal, say }) {
  let fit = await get(`/calibrations/${id}`);
  const head = element("div", { class: "card" });
  const drawings = element("div", { class: "two" });
  const view = element("section", {}, element("h1", {}, `Fit ${fit.name || fit.id}`), head, drawings,
    element("details", { class: "card" }, element("summary", {}, "Requested options"),
      element("pre", { class: "scroll", tabindex: "0" }, element("code", {}, JSON.stringify(fit.options, null, 2))),
      element("p", { class: "small" }, link(`#/datasets/${fit.dataset_id}`, "Its data"), ", ",
        link(`#/models/${fit.model_id}`, "its model"), ", ", idText(fit.id))));
  const shown = FIGURES.filter(([, , methods]) => !methods || methods.includes(fit.options.method));
  const drawn = await Promise.all(shown.map(([name]) => figure(`/calibrations/${id}/figures/${name}`)));
  drawings.append(...shown.map(([, title], place) => element("div", { class: "card" }, element("h2", {}, title),
    drawn[place])));

  const reason = element("p", { class: "soft" });
  let drawing = null;
  const draw = () => {
    // One at a time; the last state is always drawn.
    drawing ??= Promise.all(drawn.map((one) => one.refresh())).catch(() => {}).finally(() => { drawing = null; });
    return drawing;
  };

  function update() {
    const open = OPEN.includes(fit.status);
    const metrics = fit.progress?.metrics ?? {};
    refill(head, element("p", { class: "row" }, statusBadge(fit.status),
      element("span", { id: "phase" }, fit.error ?? (!open ? "" : fit.progress
        ? PHASES[fit.progress.phase] ?? fit.progress.phase
        : "waiting for a worker")),
      open && "Notification" in window && Notification.permission === "default"
        ? element("button", { class: "plain", type: "button",
        onclick: () => Notification.requestPermission().then(update) }, "Tell me when it ends") : null,
      open ? element("button", { class: "plain", type: "button", onclick: cancel, disabled: fit.cancel_requested },
        fit.cancel_requested ? "Cancelling …" : "Cancel") : null),
    progressOf(fit), reason,
    open && fit.progress && REASONS[fit.progress.phase] ? element("p", { class: "soft" }, REASONS[fit.progress.phase])
      : "",
    Object.keys(metrics).length ? numbers(Object.entries(metrics).map(([name, value]) => [
      { loss: "loss", kl: "KL spent", budget: "KL budget" }[name] ?? name, number(value)])) : "",
    fit.certificate_id ? element("p", { class: "row" },
      link(`#/certificates/${fit.certificate_id}`, "See the certificate", { class: "button" }),
      link(`#/predictors/${fit.predictor_id}`, "Try it", { class: "button plain" })) : "",
    element("p", { class: "small soft" }, `requested ${moment(fit.created_at)}, started ${moment(fit.started_at)}, ` +
      `ended ${moment(fit.finished_at)}, attempt ${fit.attempts}`));
  }

  /** The start time and the attempt are known only once it runs. */
  async function learnWhen() {
    const { started_at, attempts } = await get(`/calibrations/${id}`);
    if (!fit.started_at) fit = { ...fit, started_at, attempts };
  }

  async function cancel() {
    try {
      fit = await post(`/calibrations/${id}/cancel`);
      update();
    } catch (error) {
      say(error.message);
    }
  }

  /** What auto found, and why it chose; the certificate keeps it. */
  async function explain() {
    drawn.forEach((one) => { one.closest(".card").hidden = !one.querySelector("polyline"); });
    if (fit.certificate_id) reason.textContent = (await get(`/certificates/${fit.certificate_id}`)).selection?.reason ?? "";
  }

  update();
  if (!OPEN.includes(fit.status)) explain().catch(() => {});
  if (OPEN.includes(fit.status)) {
    watch(`/calibrations/${id}/events`, (name, data) => {
      fit = name === "done" ? data : { ...fit, status: data.status, progress: data };
      if (!fit.started_at) learnWhen().catch(() => {});
      update();
      const redrawn = draw();
      if (name === "done") {
        redrawn.then(draw).then(explain).catch(() => {});
        ended(fit);
      }
    }, signal, say).catch((error) => say(error.message));
  }
  return view;
}

/** A notification, where the browser was allowed to show one; the tab's title says it in any case. */
function ended(fit) {
  const words = `${fit.name || fit.id}: ${fit.status}`;
  document.title = `${fit.status === "succeeded" ? "✓" : "✗"} ${words}`;
  if ("Notification" in window && Notification.permission === "granted" && document.hidden) new Notification("certiset",
    { body: words });
}
