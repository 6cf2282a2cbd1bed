/* Try a predictor: enter, pick or draw an input, get its set and, once it is known, report the truth. */
import { get, post } from "/static/api.js";
import { figureOrReason } from "/static/charts.js";
import {
  atLeast, badge, choice, element, field, idText, link, measured, number, numbers, percent, refill, statusBadge, unbroken,
} from "/static/dom.js";
import { drawingBoard, pictureSide } from "/static/views/drawing.js";
import { groupColumns, groupOf, groupWords } from "/static/views/groups.js";
import { truthForm } from "/static/views/outcomes.js";
import { beside, ownOutputs } from "/static/views/own_outputs.js";
import { namedHeading } from "/static/views/rename.js";
import { pictures } from "/static/views/sample_rows.js";
import { labelList, setWords } from "/static/views/set_words.js";
import { tryMany } from "/static/views/try_many.js";

const SAMPLES = 12;

export async function predictor(id, { say, again }) {
  const about = await get(`/predictors/${id}`);
  const certificate = await get(`/certificates/${about.certificate_id}`);
  const fit = await get(`/calibrations/${about.calibration_id}`).catch(() => null);
  const [rows, model] = await Promise.all([samples(fit, certificate.data?.columns), modelOf(fit)]);
  const width = about.input_shape.reduce((a, b) => a * b, 1);
  const classes = about.task === "classification" ? certificate.model?.labels ?? model?.manifest.labels ?? null : null;
  const grouped = groupColumns(certificate).length > 0;
  const [title, name] = grouped ? ["Sizes by group", null]
    : width === 1 && about.task === "regression" ? ["Band over the data", "band"]
      : ["Set sizes on the uploaded rows", "sizes"];
  const status = element("span", {}, statusBadge(about.certificate_status));
  const tried = tryOne({ id, about, certificate, rows, width, classes, count: model?.classes ?? null,
    judged: (state) => status.replaceChildren(statusBadge(state.status)) });
  const drawing = await figureOrReason(grouped ? `/certificates/${about.certificate_id}/figures/group_sizes`
    : `/predictors/${id}/figures/${name}`);
  return element("section", {},
    namedHeading(`/predictors/${id}`, about.name, id, say),
    element("div", { class: "card" }, element("p", { class: "row" }, status,
      link(`#/certificates/${about.certificate_id}`, "Certificate"), link(`#/predictors/${id}/monitor`, "Monitor"),
      fit ? link(`#/calibrations/${about.calibration_id}`, "Fit") : null, idText(about.id)),
    element("p", {}, unbroken(certificate.statement))),
    element("div", { class: "two" },
      element("div", {}, tried, tryMany(id, width, certificate, classes)),
      element("div", {}, element("div", { class: "card" }, element("h2", {}, title), drawing),
        servingCard(id, about, certificate, say, again))));
}

function tryOne({ id, about, certificate, rows, width, classes, count, judged }) {
  const input = element("textarea", { rows: width > 8 ? "3" : "1", spellcheck: "false", required: true });
  const member = choice([["", "drawn at random"],
    ...certificate.members.map((one) => [String(one.member),
      `member ${one.member}${one.weight ? `, drawn for ${percent(one.weight)} of the inputs` : ""}`])], "");
  const byClass = certificate.options?.groups === "class";
  const group = certificate.groups?.length && !byClass ? field("Group",
    choice(certificate.groups.map((one, place) => [String(place), one.name.join(", ")])),
    "whose threshold is used") : null;
  const answer = element("div", { id: "answer", role: "status", "aria-live": "polite" });
  const before = element("ul", { class: "plain small", id: "asked" });
  const box = field("Input", input, `${number(width)} ${width === 1 ? "number" : "comma-separated numbers"}`);
  let picked = null;
  let sample = null;
  let asked = null;

  async function ask(event) {
    event?.preventDefault();
    box.wrong("");
    const x = input.value.trim().replaceAll(/[\s,;]+/g, ",");
    try {
      const query = new URLSearchParams({ predictor: id, x });
      if (member.value) query.set("member", member.value);
      const name = group ? certificate.groups[Number(group.control.value)].name : null;
      name?.forEach((value) => query.append("group", value));
      const groups = name ? { groups: [name.length > 1 ? name : name[0]] } : {};
      const own = ownOutputs(id, [x.split(",").map(Number)]);
      const found = x.length < 7000 ? await get(`/predict_set?${query}`)
        : (await post("/predict_set", { predictor: id, x: [x.split(",").map(Number)],
          member: member.value ? Number(member.value) : null, ...groups })).predictions[0];
      if (x !== asked) before.replaceChildren();
      asked = x;
      if (certificate.members.length > 1) {
        before.append(element("li", {}, `member ${found.member}: ${setWords(found.set, classes)}`));
      }
      refill(answer, shown(found, count, classes, certificate.members.length), groupWords(found),
        beside(await own, found.set, classes), againPart(certificate, ask), input.value === sample
        ? element("p", { class: "small soft" },
          "This row is part of the uploaded data, so its truth is no evidence about the certificate.")
        : truthForm(found, about.task, judged, classes));
    } catch (error) {
      box.wrong(error.message);
      answer.replaceChildren();
    }
  }

  const enter = (values) => {
    input.value = values.map((value) => Number(value.toPrecision(6))).join(", ");
    ask();
  };
  const use = (place) => {
    picked = place;
    if (group) group.control.value = String(groupOf(rows, place, certificate));
    enter(rows.x[place]);
    sample = input.value;
  };
  const side = rows.x.length ? pictureSide(about.input_shape, width) : null;
  const all = rows.x.flat();
  return element("div", { class: "card" }, element("h2", {}, "Try it"),
    rows.x.length ? pictures(rows, side, use, () => picked, classes) : null,
    side ? drawingBoard(side, [Math.min(...all), Math.max(...all)], enter) : null,
    element("form", { onsubmit: ask }, box,
      element("div", { class: "fields" }, certificate.members.length > 1
        ? field("Member", member, "choose one to replay its answer") : null, group),
      element("p", {}, element("button", {}, "Predict"))),
    answer, before);
}

function shown(found, count, classes, members) {
  const { set } = found;
  return element("div", {}, element("p", { class: "answer" },
    set.empty ? "The set: the empty set" : `The set: ${setWords(set, classes)}`),
    labelList(set, count, classes),
    element("p", {}, `Size ${number(set.size)}${members > 1 ? `, computed by member ${found.member}` : ""}. `
      + `Such sets cover at least ${atLeast(found.certificate.coverage)} of future inputs, with confidence `
      + `${atLeast(1 - found.certificate.delta)}. `,
    found.certificate.status === "contradicted" ? badge("contradicted by outcomes", "bad") : null));
}

/** The same input again: another member may answer, which is part of the promise. */
function againPart({ members }, ask) {
  if (members.length < 2) return null;
  const weighted = members.some((one) => (one.weight ?? null) !== null);
  return element("p", { class: "row" }, element("button", { type: "button", class: "plain", onclick: ask },
    "Ask again"),
    element("span", { class: "small soft" }, weighted
      ? "Each time a member is drawn by its weight, and sets may differ: the promise is for this mixture, not for one member."
      : "Each time a member is drawn, and sets may differ: the promise holds for each of them."));
}

function servingCard(id, about, certificate, say, again) {
  const serving = choice([["random", "a random member for each input"], ["best", "always the best member"]],
    about.serve);
  serving.addEventListener("change", async () => {
    try {
      await post(`/predictors/${id}`, { serve: serving.value }, "PATCH");
      again();
    } catch (error) {
      say(error.message);
      serving.value = about.serve;
    }
  });
  return element("div", { class: "card" }, element("h2", {}, "Serving"),
    numbers([["members", number(about.members)], ["score", about.score],
      [`measured size (${certificate.efficiency.measure})`, measured(certificate.efficiency.empirical)]]),
    about.members === 1 ? element("p", { class: "soft" }, "Its one member answers for every input.")
      : field("Which member answers", serving, certificate.members.every((one) => one.miscoverage_bound !== null)
      ? "The promise holds for each member, so the best one alone may serve."
      : "The promise is for the mean over all members, so they must be drawn at random."));
}

/** Some rows of the data, as the model takes them: of a table, the columns that are inputs. */
async function samples(fit, inputs) {
  try {
    const rows = await get(`/datasets/${fit.dataset_id}/rows?limit=${SAMPLES}`);
    if (!inputs || !rows.columns) return { ...rows, all: rows.x };
    const places = inputs.map((name) => rows.columns.indexOf(name));
    return { ...rows, all: rows.x, x: rows.x.map((row) => places.map((place) => row[place])) };
  } catch {
    return { x: [], y: [], all: [] };
  }
}

const modelOf = async (fit) => (fit ? get(`/models/${fit.model_id}`).catch(() => null) : null);
