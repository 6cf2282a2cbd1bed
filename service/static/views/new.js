/* A calibration in one view: data, model, promise; everything else is decided by auto unless it is opened. */
import { get, list, post } from "/static/api.js";
import { element, field } from "/static/dom.js";
import { dataPart } from "/static/views/new_data.js";
import { modelPart } from "/static/views/new_model.js";
import { promisePart } from "/static/views/new_promise.js";
import { optionsForm } from "/static/views/options_form.js";

export async function newCalibration({ signal, query }) {
  const [datasets, models, options] = await Promise.all([list("/datasets"), list("/models"), get("/options")]);
  const terms = optionsForm(options);
  const promise = promisePart(terms.fields);
  const data = dataPart(datasets, options["x-file-suffixes"], query.get("dataset"));
  const model = modelPart(models, query.get("model"));
  const name = field("Name", element("input", {}), "of the calibration; otherwise that of the data");
  const said = element("p", { role: "alert", class: "wrong" });
  const button = element("button", { class: "large" }, "Start the calibration");
  data.part.append(element("details", { class: "options" },
    element("summary", {}, "Groups, clusters, weights or order"), element("p", { class: "small soft" },
      "Columns that say something about a row besides the model's input."), terms.roles));
  model.onTask((task) => terms.setTask(task));
  terms.setTask(model.task());
  data.onChange((about) => {
    promise.setRows(about.rows);
    terms.offerColumns(about.columns ?? []);
    model.suggest(about, terms.rolesTaken());
  });
  terms.onRoles(() => {
    promise.setGroups(data.groupCounts(terms.fields.groups?.control.value));
    model.suggest(data.about(), terms.rolesTaken());
  });

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
      const made = await post("/calibrations", { dataset_id: dataset, model_id: modelId, name: name.control.value || data.title(),
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
      element("fieldset", {}, element("legend", {}, "3. Promise"), promise.part,
        element("details", { class: "options" }, element("summary", {}, "Method and other options"),
          element("p", { class: "small soft" },
            "Left as they are, auto looks at some rows and chooses the way that promises " +
            "the smallest sets; the certificate says what it compared and why it chose."), terms.part),
        element("div", { class: "fields" }, name)),
      element("p", { class: "row" }, button), element("div", { class: "field" }, said)));
}
