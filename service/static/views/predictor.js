/* Try a predictor: enter an input, get its set and, once it is known, report the truth. */
import { get, post } from "/static/api.js";
import {
  atLeast, badge, choice, element, field, figureOrReason, idText, link, number, numbers, percent, statusBadge, unbroken,
} from "/static/dom.js";
import { truthForm } from "/static/views/outcomes.js";

const SAMPLES = 12;

export async function predictor(id, { say, again }) {
  const about = await get(`/predictors/${id}`);
  const certificate = await get(`/certificates/${about.certificate_id}`);
  const fit = await get(`/calibrations/${about.calibration_id}`);
  const rows = await samples(fit.dataset_id, certificate.data?.columns);
  const width = about.input_shape.reduce((a, b) => a * b, 1);
  const classes = about.task === "classification" ? await classesOf(fit.model_id) : null;
  const input = element("textarea", { rows: "3", spellcheck: "false", required: true });
  const member = choice([["", "drawn at random"],
    ...certificate.members.map((one) => [String(one.member),
      `member ${one.member}${one.weight ? `, drawn for ${percent(one.weight)} of the inputs` : ""}`])], "");
  const answer = element("div", { id: "answer", role: "status", "aria-live": "polite" });
  const box = field("Input", input, `${number(width)} ${width === 1 ? "number" : "comma-separated numbers"}`);
  const status = element("span", {}, statusBadge(about.certificate_status));
  const judged = (state) => status.replaceChildren(statusBadge(state.status));
  let picked = null;
  let sample = null;

  async function ask(event) {
    event?.preventDefault();
    box.wrong("");
    const x = input.value.trim().replaceAll(/[\s,;]+/g, ",");
    try {
      const query = new URLSearchParams({ predictor: id, x });
      if (member.value) query.set("member", member.value);
      const found = x.length < 7000 ? await get(`/predict_set?${query}`)
        : (await post("/predict_set", { predictor: id, x: [x.split(",").map(Number)],
          member: member.value ? Number(member.value) : null })).predictions[0];
      answer.replaceChildren(shown(found, classes), input.value === sample ? element("p", { class: "small soft" },
        "This row is part of the calibration data, so its truth is no evidence about the certificate.") : truthForm(found, about.task, judged));
    } catch (error) {
      box.wrong(error.message);
      answer.replaceChildren();
    }
  }

  function use(place) {
    picked = place;
    input.value = rows.x[place].map((value) => Number(value.toPrecision(6))).join(", ");
    sample = input.value;
    ask();
  }

  const serving = choice([["random", "a random member for each input"], ["best", "always the best member"]], about.serve);
  serving.addEventListener("change", async () => {
    try {
      await post(`/predictors/${id}`, { serve: serving.value }, "PATCH");
      again();
    } catch (error) {
      say(error.message);
      serving.value = about.serve;
    }
  });
  const [title, name] = width === 1 && about.task === "regression" ? ["Band over the data", "band"]
    : ["Set sizes on the uploaded rows", "sizes"];
  const drawing = element("div", { class: "card" }, element("h2", {}, title),
    await figureOrReason(`/predictors/${id}/figures/${name}`));
  return element("section", {},
    element("h1", {}, about.name || about.id),
    element("div", { class: "card" }, element("p", { class: "row" }, status,
      link(`#/certificates/${about.certificate_id}`, "Certificate"), link(`#/predictors/${id}/monitor`, "Monitor"),
      link(`#/calibrations/${about.calibration_id}`, "Fit"), idText(about.id)),
    element("p", {}, unbroken(certificate.statement))),
    element("div", { class: "two" },
      element("div", { class: "card" }, element("h2", {}, "Try it"),
        rows.x.length ? pictures(rows, about.input_shape, use, () => picked) : null,
        element("form", { onsubmit: ask }, box,
          element("div", { class: "fields" }, field("Member", member, "choose one to replay its answer")),
          element("p", {}, element("button", {}, "Predict"))),
        answer),
      element("div", {}, drawing, element("div", { class: "card" }, element("h2", {}, "Serving"),
        numbers([["members", number(about.members)], ["score", about.score],
          [`mean size (${certificate.efficiency.measure})`, number(certificate.efficiency.empirical)]]),
        field("Which member answers", serving, certificate.members.every((one) => one.miscoverage_bound !== null)
          ? "The promise holds for each member, so the best one alone may serve."
          : "The promise is for the mean over all members, so they must be drawn at random.")))));
}

/** Some rows of the data, as the model takes them: of a table, the columns that are inputs. */
async function samples(datasetId, inputs) {
  try {
    const rows = await get(`/datasets/${datasetId}/rows?limit=${SAMPLES}`);
    if (!inputs || !rows.columns) return rows;
    const places = inputs.map((name) => rows.columns.indexOf(name));
    return { ...rows, x: rows.x.map((row) => places.map((place) => row[place])) };
  } catch {
    return { x: [], y: [] };
  }
}

async function classesOf(modelId) {
  try {
    return (await get(`/models/${modelId}`)).classes;
  } catch {
    return null;
  }
}

/** Rows of the calibration data to pick from, shown as images if they look like images. */
function pictures(rows, shape, use, picked) {
  const side = Math.sqrt(rows.x[0].length);
  const isPicture = rows.x[0].length >= 49 && Number.isInteger(side) && (shape.length === 1 || shape.at(-1) === side);
  const buttons = rows.x.map((row, place) => {
    const words = `row ${place + 1}: ${label(rows.y[place])}`;
    const press = () => {
      use(place);
      buttons.forEach((one, n) => one.setAttribute("aria-pressed", String(n === picked())));
    };
    return element("button", { type: "button", class: "plain", "aria-pressed": "false", onclick: press,
      "aria-label": isPicture ? words : null, title: isPicture ? words : null },
    isPicture ? canvas(row, side) : `row ${place + 1}`);
  });
  return element("div", { role: "group", "aria-label": "Rows of the calibration data" },
    element("p", { class: "small soft" }, "Pick a row of the calibration data, or enter an input below."),
    element("div", { class: "pictures" }, buttons));
}

const label = (y) => (Array.isArray(y) ? y.map((value) => number(value)).join(", ") : number(y));

function canvas(row, side) {
  const made = element("canvas", { width: String(side), height: String(side), "aria-hidden": "true" });
  const low = Math.min(...row);
  const span = Math.max(...row) - low || 1;
  const context = made.getContext("2d");
  const picture = context.createImageData(side, side);
  row.forEach((value, place) => {
    const shade = Math.round((255 * (value - low)) / span);
    picture.data.set([shade, shade, shade, 255], 4 * place);
  });
  context.putImageData(picture, 0, 0);
  return made;
}

function shown(found, classes) {
  const { set } = found;
  const parts = [element("p", { class: "answer" }, set.empty ? "The set: the empty set" : `The set: ${words(set)}`)];
  if (set.labels) {
    const all = classes && classes <= 100 ? [...Array(classes).keys()] : set.labels;
    parts.push(element("ul", { class: "labels", "aria-hidden": "true" },
      all.map((one) => element("li", { class: set.labels.includes(one) ? "in" : null }, String(one)))));
  }
  parts.push(element("p", {}, `Size ${number(set.size)}, computed by member ${found.member}. Covers at least ` +
    `${atLeast(found.certificate.coverage)} of future inputs, with confidence ${atLeast(1 - found.certificate.delta)}. `,
  found.certificate.status === "contradicted" ? badge("contradicted by outcomes", "bad") : null));
  return element("div", {}, parts);
}

const SAID_ELSEWHERE = ["kind", "size", "empty", "unbounded"];

/** A set of any kind as text: its labels, its lower and upper end, or each of its fields by name. */
function words(set) {
  const value = (one) => (Array.isArray(one) ? `(${one.map((v) => number(v)).join(", ")})` : number(one, 5));
  if (set.labels) return set.labels.length ? `{ ${set.labels.join(", ")} }` : "the empty set";
  if ("lower" in set && "upper" in set) return `from ${value(set.lower)} to ${value(set.upper)}`;
  return [set.kind, ...Object.entries(set).filter(([name]) => !SAID_ELSEWHERE.includes(name))
    .map(([name, one]) => `${name} ${value(one)}`)].join(", ");
}
