/* Deployments: names that clients use in place of a predictor's id, what they stood for when, and how to switch them. */
import { get, list, post, remove } from "/static/api.js";
import { choice, element, field, link, moment, number, numbers, percent, statusBadge, table } from "/static/dom.js";
import { term } from "/static/glossary.js";
import { deleteButton } from "/static/views/used_by.js";

const HOW = { created: "created", switched: "switched by hand", rolled_back: "rolled back",
  recalibrated: "recalibrated on outcomes",
  deleted: "deleted" };
const path = (name) => `/deployments/${encodeURIComponent(name)}`;

export async function deployments({ say }) {
  const [found, served] = await Promise.all([list("/deployments"), list("/predictors")]);
  const rows = found.map((one) => [link(`#/deployments/${one.name}`, one.name), statusBadge(one.certificate_status),
    link(`#/predictors/${one.predictor}`, nameOf(served, one.predictor)), number(one.version), moment(one.since)]);
  return element("section", {}, element("h1", {}, "Deployments"), element("div", { class: "card" },
    element("p", {},
      "A deployment is a name that clients use in place of a predictor's id, so that the predictor behind it can be replaced."),
    rows.length ? table("By name", [["Name"], ["Status"], ["Stands for"], ["Version", true], ["Since"]], rows)
      : element("p", { class: "soft" }, "There is none yet.")),
  newForm(served, say));
}

const nameOf = (served, id) => served.find((one) => one.id === id)?.name || id;
/** By their names; where two have one name, with the end of their ids. */
function predictorChoice(served, chosen) {
  const called = (name) => served.filter((one) => one.name === name).length;
  return choice(served.map((one) => [one.id, !one.name ? one.id : called(one.name) > 1
    ? `${one.name} (${one.id.slice(-6)})` : one.name]), chosen);
}

function newForm(served, say) {
  const name = field("Name", element("input", { required: true, pattern: "[a-z0-9][a-z0-9.\\-]*" }),
    "lower-case letters, digits, dots and dashes");
  const predictor = field("Stands for", predictorChoice(served));
  const every = field("Recalibrate every", element("input", { type: "number", min: "1" }), "empty: never");
  const unit = field("Counted in", choice([["rows", "reported outcomes"], ["days", "days"]]),
    "outcomes that bring their input again are the calibration rows of the next predictor");
  const population = field("Served population", element("input", { type: "checkbox" }),
    "recalibrate for it, though the predictor was made for another one");
  const total = field("Total risk", element("input", { type: "number", min: "0", max: "1", step: "any" }),
    "of all predictors together; empty: each has the delta of the first one, and the sum is stated");
  const over = field("Shared among", element("input", { type: "number", min: "1", value: "20" }), "predictors, each with an equal part");
  const fields = { name, predictor, every, unit, population, total, over };
  const submit = async (event) => {
    event.preventDefault();
    Object.values(fields).forEach((one) => one.wrong(""));
    const body = { predictor: predictor.control.value };
    if (every.control.value) {
      body.recalibrate = { every: { [unit.control.value]: Number(every.control.value) }, on_contradiction: true };
      if (population.control.checked) body.recalibrate.population = "served";
    }
    if (total.control.value) body.spend = { total: Number(total.control.value), over: Number(over.control.value) };
    try {
      await post(path(name.control.value), body, "PUT");
      location.hash = `#/deployments/${name.control.value}`;
    } catch (error) {
      const [section, part] = error.errors?.[0]?.where?.split(".") ?? [];
      const at = { recalibrate: fields[part] ?? every, spend: fields[part] ?? total };
      (at[section] ?? fields[section] ?? name).wrong(error.message);
      say("");
    }
  };
  return element("form", { class: "card", onsubmit: submit }, element("h2", {}, "New deployment"),
    element("div", { class: "fields" }, Object.values(fields)), element("p", {}, element("button", {}, "Deploy")));
}

export async function deployment(name, { say, again }) {
  const [about, past, served] = await Promise.all([get(path(name)), get(`${path(name)}/history`), list("/predictors")]);
  const act = (step) => async () => {
    try {
      await step();
      again();
    } catch (error) {
      say(error.message);
    }
  };
  const next = field("Switch to", predictorChoice(served, about.predictor));
  const change = () => post(path(name), { predictor: next.control.value, recalibrate: about.recalibrate ?? null,
    spend: about.spend }, "PUT");
  const rows = past.items.map((one) => [String(one.version), HOW[one.how] ?? one.how,
    one.predictor ? link(`#/predictors/${one.predictor}`, nameOf(served, one.predictor)) : "–", moment(one.since),
      one.until ? moment(one.until) : "now"]);
  return element("section", {}, element("h1", {}, `Deployment ${name}`),
    element("div", { class: "card" }, element("p", { class: "row" }, statusBadge(about.certificate_status),
      link(`#/predictors/${about.predictor}`, nameOf(served, about.predictor)),
        link(`#/certificates/${about.certificate_id}`, "Certificate"),
      link(`#/predictors/${about.predictor}/monitor`, "Monitor")),
    numbers([["version", number(about.version)], ["predictors so far", number(about.predictors)],
      [term("risk of all", "risk of all of them"), percent(about.delta_all)],
      ...(about.block ? [["rows collected", number(about.block.rows)],
        ["sets issued meanwhile", number(about.block.issued)]] : [])]),
    element("p", {}, plan(about.recalibrate)), element("p", {}, "Clients ask ", element("code", {}, `GET /predict_set?predictor=${name}&x=…`))),
    element("div", { class: "card" }, table("What it stood for, newest first",
      [["Version"], ["How"], ["Predictor"], ["Since"], ["Until"]], rows)),
    element("div", { class: "card" }, element("h2", {}, "Change it"), element("div", { class: "long-field" }, next),
      element("p", { class: "row" }, element("button", { type: "button", onclick: act(change) }, "Switch"),
        about.version > 1 ? element("button", { type: "button", class: "plain",
          onclick: act(() => post(`${path(name)}/rollback`)) }, "Roll back") : null,
        deleteButton(`Delete ${name}? Clients that use it are refused; predictors and certificates stay.`,
          () => remove(path(name)), "#/deployments", say))));
}

function plan(recalibrate) {
  if (!recalibrate) return "It is switched by hand alone.";
  const { rows, days } = recalibrate.every;
  const whose = recalibrate.population ? ", for the population that is served" : "";
  return `It is calibrated anew on every ${rows ? `${number(rows)} outcomes` : `${number(days)} days of outcomes`} that bring `
    + `their input again${whose}${recalibrate.on_contradiction ? "; after a contradiction, on later ones alone" : ""}.`;
}
