/* Truths: reported for a set that was served; one that was wrong is corrected or annulled. */
import { get, post, remove } from "/static/api.js";
import { element, field, idText, link, number, refill, statusBadge } from "/static/dom.js";

const outcome = (id) => `/outcomes/${encodeURIComponent(id)}`;
const NOT_NUMBERS = "The truth must be a number, or several, comma-separated.";

const NEITHER = "The truth must be the number or the name of a class.";

/** A label by its name or number, a number, or the numbers of a vector; null for anything else. */
function truthOf(text, classes) {
  if (classes?.includes(text.trim())) return text.trim();
  const values = text.split(/[\s,;]+/).filter(Boolean).map(Number);
  if (!values.length || values.some((value) => !Number.isFinite(value))) return null;
  return values.length === 1 ? values[0] : values;
}

/** Says at its field what the service refused; what belongs to no field, at the last one. */
function refuse(error, boxes) {
  const named = error.errors?.find(({ where }) => boxes[where]);
  (named ? boxes[named.where] : Object.values(boxes).at(-1)).wrong(error.message);
}

/** How the certificate stands now, by all outcomes. */
function verdict(predictorId) {
  const made = element("p", { class: "row" });
  made.refresh = async () => {
    const state = await get(`/predictors/${predictorId}/monitor`);
    refill(made, statusBadge(state.status), element("span", {},
      `${number(state.misses)} ${state.misses === 1 ? "miss" : "misses"} of ${number(state.outcomes)} counted ` +
      `${state.outcomes === 1 ? "outcome" : "outcomes"}`), link(`#/predictors/${predictorId}/monitor`, "Monitor"));
    return state;
  };
  return made;
}

/** Below a set: its truth, once it is known, and another one if that was wrong. `judged` hears every new verdict. */
export function truthForm(found, task, judged, classes = null) {
  const [input, names] = truthInput(classes, { required: true });
  const box = field("The truth, once you know it", input,
    `${task !== "classification" ? "a number, or several" : classes ? "a class" : "a label"}; it counts once a case`);
  const said = element("p", { role: "status" });
  const state = verdict(found.predictor);
  const submit = element("button", { class: "plain" }, "Report");
  const annul = element("button", { class: "plain", type: "button", hidden: true, onclick: () => act(withdraw) },
    "Annul");
  const kept = element("p", { class: "small soft", hidden: true }, "To correct it later, keep the prediction's id: ",
    idText(found.prediction_id));
  let reported = false;

  async function act(step) {
    box.wrong("");
    said.textContent = "";
    try {
      said.textContent = await step();
      judged(await state.refresh());
    } catch (error) {
      refuse(error, { y: box });
    }
  }

  const report = (y) => async () => {
    const done = await post("/outcomes", { prediction_id: found.prediction_id, y });
    const inside = done.covered[0] ? "Covered." : "Missed.";
    if (done.replayed) return `${inside} Replayed members do not count.`;
    reported = true;
    submit.textContent = "Correct";
    annul.hidden = kept.hidden = false;
    return `${inside} ${done.counted ? "It was counted." : "This case was already counted."}`;
  };

  const correct = (y) => async () => {
    const done = await post(outcome(found.prediction_id), { y }, "PATCH");
    annul.disabled = false;
    return corrected(done);
  };

  async function withdraw() {
    await remove(outcome(found.prediction_id));
    annul.disabled = true;
    return "Annulled: it no longer counts.";
  }

  const send = (event) => {
    event.preventDefault();
    const y = truthOf(input.value, classes);
    if (y === null) box.wrong(classes ? NEITHER : NOT_NUMBERS);
    else act(reported ? correct(y) : report(y));
  };
  return element("form", { onsubmit: send }, box, names, element("p", { class: "row" }, submit, annul), said, state,
    kept);
}

/** A field for a truth, with the classes to choose from where they have names. */
function truthInput(classes, attributes = {}) {
  if (!classes) return [element("input", { inputmode: "decimal", autocomplete: "off", ...attributes }), null];
  const names = element("datalist", { id: "class-names" }, classes.map((one) => element("option", { value: one })));
  return [element("input", { list: names.id, autocomplete: "off", ...attributes }), names];
}

const corrected = (done) => `Corrected: ${done.covered ? "covered" : "missed"}. ` +
  (done.state === "counted" ? "It counts." : "Another outcome of the same case counts.");

/** On the monitor's page: any outcome, by its prediction's id. */
export function correctionForm(predictorId, changed, classes = null) {
  const id = element("input", { autocomplete: "off", spellcheck: "false", required: true });
  const [truth, names] = truthInput(classes);
  const boxes = {
    prediction_id: field("Prediction id", id, "whose outcome was reported, as the answer named it"),
    y: field("The truth", truth, "a label, a number, or several; not needed to annul"),
  };
  const said = element("p", { role: "status" });

  async function act(step) {
    Object.values(boxes).forEach((box) => box.wrong(""));
    said.textContent = "";
    if (!id.value.trim()) {
      boxes.prediction_id.wrong("Which prediction? Its id is missing.");
      return;
    }
    try {
      said.textContent = await step(outcome(id.value.trim()));
      await changed();
    } catch (error) {
      refuse(error, boxes);
    }
  }

  const correct = async (path) => {
    const done = await post(path, { y: truthOf(truth.value, classes) }, "PATCH");
    return done.predictor_id === predictorId ? corrected(done)
      : `${corrected(done)} It was an outcome of ${done.predictor_id}.`;
  };
  const annul = async (path) => {
    await remove(path);
    return "Annulled: it no longer counts.";
  };
  const send = (event) => {
    event.preventDefault();
    if (truthOf(truth.value, classes) === null && id.value.trim()) boxes.y.wrong(classes ? NEITHER : NOT_NUMBERS);
    else act(correct);
  };
  return element("form", { class: "card", onsubmit: send, novalidate: true },
    element("h2", {}, "A truth that was wrong"),
    element("p", { class: "small soft" }, "Correct hits and misses by the same rule: the verdict is worth nothing " +
      "otherwise. The audit log says who changed what."),
    element("div", { class: "fields" }, boxes.prediction_id, boxes.y, names),
    element("p", { class: "row" }, element("button", {}, "Correct"),
      element("button", { class: "plain", type: "button", onclick: () => act(annul) }, "Annul")), said);
}
