/* Upload data and a model, and start a calibration. */
import { get, list, post } from "/static/api.js";
import { choice, element, field, number } from "/static/dom.js";
import { optionsForm } from "/static/views/options_form.js";

const EXAMPLE = {
  name: "my model", task: "classification", classes: 10, input_shape: [64], backbone: { kind: "none" },
  head: { kind: "mlp", widths: [64, 32, 10], activation: "relu" },
};

export async function newCalibration({ signal }) {
  const [datasets, models, options] = await Promise.all([list("/datasets"), list("/models"), get("/options")]);
  const data = dataPart(datasets, options["x-file-suffixes"]);
  const model = modelPart(models);
  const terms = optionsForm(options);
  const name = field("Name", element("input", {}), "optional");
  const said = element("p", { role: "alert", class: "wrong" });
  const button = element("button", {}, "Start the calibration");
  model.onTask((task) => terms.setTask(task));
  terms.setTask(model.task());

  async function start(event) {
    event.preventDefault();
    said.textContent = "";
    const fields = { ...data.fields(), ...model.fields, ...terms.fields };
    Object.values(fields).forEach((one) => one.wrong(""));
    if (terms.wrong()) return;
    button.disabled = true;
    button.textContent = "Uploading …";
    try {
      const dataset = await data.chosen();
      const modelId = await model.chosen();
      const made = await post("/calibrations", { dataset_id: dataset, model_id: modelId, name: name.control.value,
        ...terms.options() });
      if (!signal.aborted) location.hash = `#/calibrations/${made.id}`;
    } catch (error) {
      said.textContent = error.message;
      for (const { where, message } of error.errors ?? []) {
        const found = fields[where] ?? fields[String(where).split(".")[0]];
        if (found) found.wrong(message);
      }
    } finally {
      button.disabled = false;
      button.textContent = "Start the calibration";
    }
  }

  return element("section", {}, element("h1", {}, "New calibration"),
    element("form", { onsubmit: start, novalidate: true }, data.part, model.part,
      element("fieldset", {}, element("legend", {}, "3. Promise and method"),
        element("div", { class: "fields" }, name), terms.part),
      element("p", { class: "row" }, button), element("div", { class: "field" }, said)));
}

/** Two ways to choose something: an existing one, or a new one. */
function either(legend, name, known, existing, fresh) {
  const hasKnown = known.length > 0;
  const radios = [["known", "an existing one"], ["new", "a new one"]].map(([value, text]) => {
    const radio = element("input", { type: "radio", name, value, checked: (value === "known") === hasKnown,
      disabled: value === "known" && !hasKnown, onchange: () => show() });
    return element("label", {}, radio, ` ${text} `);
  });
  const chosen = () => radios.map((one) => one.querySelector("input")).find((one) => one.checked).value;
  const show = () => {
    existing.hidden = chosen() !== "known";
    fresh.hidden = chosen() !== "new";
  };
  show();
  return { chosen, part: element("fieldset", {}, element("legend", {}, legend), element("p", { class: "row" }, radios),
    existing, fresh) };
}

function dataPart(all, suffixes) {
  const known = all.filter((one) => one.y_kind !== "none");
  const pick = field("Dataset", choice(known.map((one) => [one.id,
    `${one.name || one.id}: ${number(one.rows)} rows of ${one.x_shape.join(" x ")}, y: ${one.y_kind}`])));
  const file = field("File", element("input", { type: "file", accept: suffixes.join(",") }),
    `${suffixes.join(", ")}; an .npz file has arrays x and y`);
  const name = field("Name", element("input", {}), "optional");
  const target = field("Target", element("input", { value: "y" }), "the column of y, in tables");
  const fresh = element("div", { class: "fields" }, file, name, target);
  const way = either("1. Calibration data", "data", known, pick, fresh);
  return {
    part: way.part,
    fields: () => ({ file, target, dataset_id: way.chosen() === "known" ? pick : file }),
    async chosen() {
      if (way.chosen() === "known") return pick.control.value;
      const [given] = file.control.files;
      if (!given) {
        file.wrong("Choose a file.");
        throw new Error("No file of calibration data was chosen.");
      }
      const form = new FormData();
      form.set("file", given);
      form.set("name", name.control.value || given.name);
      form.set("target", target.control.value || "y");
      return (await post("/datasets", form)).id;
    },
  };
}

function modelPart(known) {
  const pick = field("Model", choice(known.map((one) => [one.id, `${one.name || one.id}: ${one.task}, inputs ${one.input_shape.join(" x ")}, ${one.id}`])));
  const kind = field("What x is", choice([
    ["logits", "my model's outputs (logits or predictions)"], ["weights", "inputs of a model that I upload"],
  ]));
  const task = field("Task", choice([["classification", "classification"], ["regression", "regression"]]));
  const outputs = field("Outputs", element("input", { type: "number", min: "1", value: "10" }),
    "classes, or numbers to predict");
  const manifest = field("Manifest", element("textarea", { rows: "8", spellcheck: "false" }), "JSON; see docs/models.md");
  manifest.control.value = JSON.stringify(EXAMPLE, null, 1);
  const weights = field("Weights", element("input", { type: "file", accept: ".safetensors" }), ".safetensors");
  const backbone = field("Backbone", element("input", { type: "file", accept: ".onnx" }), ".onnx, if the manifest says so");
  const plain = element("div", { class: "fields" }, task, outputs);
  const full = element("div", {}, manifest, element("div", { class: "fields" }, weights, backbone));
  const fresh = element("div", {}, kind, plain, full);
  const listeners = [];
  const show = () => {
    plain.hidden = kind.control.value !== "logits";
    full.hidden = !plain.hidden;
    listeners.forEach((tell) => tell(currentTask()));
  };
  const way = either("2. Model", "model", known, pick, fresh);
  const currentTask = () => {
    if (way.chosen() === "known") return known.find((one) => one.id === pick.control.value)?.task ?? "classification";
    if (kind.control.value === "logits") return task.control.value;
    try {
      return JSON.parse(manifest.control.value).task;
    } catch {
      return "classification";
    }
  };
  way.part.addEventListener("change", show);
  show();
  return {
    part: way.part, fields: { manifest, weights, backbone, model_id: pick, classes: outputs },
    task: currentTask, onTask: (tell) => listeners.push(tell),
    async chosen() {
      if (way.chosen() === "known") return pick.control.value;
      const form = new FormData();
      if (kind.control.value === "logits") {
        const count = Number(outputs.control.value);
        const made = { name: `${task.control.value} outputs`, task: task.control.value, input_shape: [count] };
        if (task.control.value === "classification") made.classes = count;
        form.set("manifest", JSON.stringify(made));
      } else {
        form.set("manifest", manifest.control.value);
        for (const [name, one] of [["weights", weights], ["backbone", backbone]]) {
          if (one.control.files[0]) form.set(name, one.control.files[0]);
        }
      }
      return (await post("/models", form)).id;
    },
  };
}
