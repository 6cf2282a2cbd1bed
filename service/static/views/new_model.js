/* The model: an existing one, one to upload, or none, if the data are already a model's outputs. */
import { post } from "/static/api.js";
import { choice, element, field } from "/static/dom.js";
import { either } from "/static/views/either.js";

const EXAMPLE = {
  name: "my model", task: "classification", classes: 10, input_shape: [64], backbone: { kind: "none" },
  head: { kind: "mlp", widths: [64, 32, 10], activation: "relu" },
};

export function modelPart(known, wanted) {
  const pick = field("Model", choice(known.map((one) => [one.id,
    `${one.name || one.id}: ${one.task}, inputs ${one.input_shape.join(" x ")}, ${one.id}`]), wanted));
  const kind = field("What x is", choice([
    ["logits", "my model's outputs (logits or predictions)"], ["weights", "inputs of a model that I upload"],
  ]));
  const task = field("Task", choice([["classification", "classification"], ["regression", "regression"]]));
  const outputs = field("Outputs", element("input", { type: "number", min: "1", value: "10" }),
    "classes, or numbers to predict");
  const manifest = field("Manifest", element("textarea", { rows: "8", spellcheck: "false" }),
    "JSON; see docs/models.md");
  manifest.control.value = JSON.stringify(EXAMPLE, null, 1);
  const weights = field("Weights", element("input", { type: "file", accept: ".safetensors" }), ".safetensors");
  const backbone = field("Backbone", element("input", { type: "file", accept: ".onnx" }),
    ".onnx, if the manifest says so");
  const plain = element("div", { class: "fields" }, task, outputs);
  const full = element("div", {}, manifest, element("div", { class: "fields" }, weights, backbone));
  const listeners = [];
  const way = either("2. Model", "model", known, pick, element("div", {}, kind, plain, full));
  let touched = false;

  const currentTask = () => {
    if (way.chosen() === "known") return known.find((one) => one.id === pick.control.value)?.task ?? "classification";
    if (kind.control.value === "logits") return task.control.value;
    try {
      return JSON.parse(manifest.control.value).task;
    } catch {
      return "classification";
    }
  };
  const show = () => {
    plain.hidden = kind.control.value !== "logits";
    full.hidden = !plain.hidden;
    listeners.forEach((tell) => tell(currentTask()));
  };
  way.part.addEventListener("change", show);
  for (const one of [task, outputs]) one.control.addEventListener("input", () => { touched = true; });
  show();

  return {
    part: way.part, fields: { manifest, weights, backbone, model_id: pick, classes: outputs },
    task: currentTask, onTask: (tell) => listeners.push(tell),
    /** Of outputs, what the data say: as many as there are columns, unless somebody has said otherwise. */
    suggest(about, taken) {
      const width = about.width ?? about.columns?.filter((name) => !taken.includes(name)).length;
      if (touched || !width) return;
      outputs.control.value = String(width);
      task.control.value = about.kind === "labels" && width > 1 ? "classification" : "regression";
      show();
    },
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
