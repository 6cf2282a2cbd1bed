/* One fit, live while it runs, and the list of all fits. */
import { get, list, post, watch } from "/static/api.js";
import { element, figure, idText, link, moment, number, numbers, refill, statusBadge, table } from "/static/dom.js";

const PHASES = {
  prepare: "reading the data", compare: "comparing ways to adapt the model, on revealed rows", tune: "tuning the model",
  fit: "spending the KL budget on a posterior", calibrate: "calibrating and certifying", done: "done",
};
const OPEN = ["queued", "running"];
/** name, title, and by which methods there is one */
const FIGURES = [["loss", "Loss"], ["kl", "KL spent and its budget", ["pac_bayes"]]];

export function progressOf(fit) {
  const share = fit.progress ? fit.progress.fraction : 0;
  return element("progress", { max: "1", value: String(share), "aria-label": `Progress of ${fit.name || fit.id}` });
}

export async function calibrations({ signal }) {
  const fits = await list("/calibrations");
  if (signal.aborted) return null;
  const rows = fits.map((fit) => [link(`#/calibrations/${fit.id}`, fit.name || fit.id), statusBadge(fit.status),
    String(fit.attempts), moment(fit.created_at),
    fit.certificate_id ? link(`#/certificates/${fit.certificate_id}`, "certificate") : fit.error || "–"]);
  return element("section", {}, element("h1", {}, "Fits"), element("div", { class: "card" }, rows.length
    ? table("Newest first", [["Name"], ["Status"], ["Attempts", true], ["Requested"], ["Result"]], rows)
    : element("p", {}, "No fits yet. ", link("#/new", "Start one"), ".")));
}

export async function calibration(id, { signal, say }) {
  let fit = await get(`/calibrations/${id}`);
  const head = element("div", { class: "card" });
  const drawings = element("div", { class: "two" });
  const view = element("section", {}, element("h1", {}, `Fit ${fit.name || fit.id}`), head, drawings,
    element("details", { class: "card" }, element("summary", {}, "Requested options"),
      element("pre", { class: "scroll", tabindex: "0" }, element("code", {}, JSON.stringify(fit.options, null, 2))),
      element("p", { class: "small" }, "Data ", idText(fit.dataset_id), ", model ", idText(fit.model_id))));
  const shown = FIGURES.filter(([, , methods]) => !methods || methods.includes(fit.options.method));
  const drawn = await Promise.all(shown.map(([name]) => figure(`/calibrations/${id}/figures/${name}`)));
  drawings.append(...shown.map(([, title], place) => element("div", { class: "card" }, element("h2", {}, title), drawn[place])));

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
      element("span", { id: "phase" }, fit.error ?? (!open ? "" : fit.progress ? PHASES[fit.progress.phase] ?? fit.progress.phase
        : "waiting for a worker")),
      open ? element("button", { class: "plain", type: "button", onclick: cancel, disabled: fit.cancel_requested },
        fit.cancel_requested ? "Cancelling …" : "Cancel") : null),
    progressOf(fit),
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

  update();
  if (OPEN.includes(fit.status)) {
    watch(`/calibrations/${id}/events`, (name, data) => {
      fit = name === "done" ? data : { ...fit, status: data.status, progress: data };
      if (!fit.started_at) learnWhen().catch(() => {});
      update();
      const drawn = draw();
      if (name === "done") drawn.then(draw);
    }, signal, say).catch((error) => say(error.message));
  }
  return view;
}
