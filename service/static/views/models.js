/* Models: the list, and one with its manifest, how it treats rows, and where it was used. */
import { get, list, remove } from "/static/api.js";
import { element, idText, link, moment, number, numbers, table } from "/static/dom.js";
import { namedHeading } from "/static/views/rename.js";
import { deleteButton, usedBy } from "/static/views/used_by.js";

const ROWS = {
  proved: "Batches are proved to be computed as their rows would be one by one.",
  one_by_one: "Every row is computed by a call of its own, since no proof was found that rows do not mix",
};

export async function models() {
  const found = await list("/models");
  const rows = found.map((one) => [link(`#/models/${one.id}`, one.name || one.id), one.task,
    one.input_shape.join(" x "),
    number(one.classes), moment(one.created_at)]);
  return element("section", {}, element("h1", {}, "Models"), element("div", { class: "card" }, rows.length
    ? table("Newest first", [["Name"], ["Task"], ["Inputs"], ["Classes", true], ["Uploaded"]], rows)
    : element("p", {}, "No models yet. ", link("#/new", "Upload one"), ".")));
}

export async function model(id, { say }) {
  const [about, used] = await Promise.all([get(`/models/${id}`), usedBy("model", id)]);
  const { manifest } = about;
  return element("section", {}, namedHeading(`/models/${id}`, about.name, id, say),
    element("div", { class: "card" }, numbers([
      ["task", about.task], ["inputs", about.input_shape.join(" x ")], ["classes", number(about.classes)],
      ["backbone", manifest.backbone?.kind ?? "none"], ["head", manifest.head ? `${manifest.head.kind}` : "identity"],
      ["parameters of the head", number(parameters(manifest))],
        ["weights", `${number(Math.ceil(about.bytes / 1024))} kB`],
    ]),
    element("p", {},
      about.rows ? `${ROWS[about.rows] ?? about.rows}${about.rows_reason ? `: ${about.rows_reason}.` : ""}`
      : "Whether rows mix was not judged yet: it is when the model is next calibrated."),
    element("p", { class: "row" }, link(`#/new?model=${id}`, "Calibrate it", { class: "button" }),
      deleteButton("Delete this model? Predictors made with it have its weights and go on working.",
        () => remove(`/models/${id}`), "#/models", say),
      element("span", { class: "small soft" }, `uploaded ${moment(about.created_at)}, `, idText(about.id), ", sha256 ",
        idText(about.sha256.slice(0, 16))))),
    used, element("details", { class: "card" }, element("summary", {}, "Manifest"),
      element("pre", { class: "scroll", tabindex: "0" }, element("code", {}, JSON.stringify(manifest, null, 2)))));
}

/** Weights and biases between the layers of an mlp; nothing where there is no head. */
function parameters({ head }) {
  const widths = head?.widths ?? [];
  return widths.slice(1).reduce((sum, width, place) => sum + width * (widths[place] + 1), 0) || null;
}
