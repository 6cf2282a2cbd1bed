/* Rows that were ticked: compared side by side, or deleted together. */
import { remove } from "/static/api.js";
import { element, link } from "/static/dom.js";
import { shownName } from "/static/views/overview_columns.js";

const MOST = 6;

export function selection(say, changed) {
  const rows = new Map();
  const said = element("span", { role: "status" });
  const compare = link("#/", "Compare", { class: "button" });
  const erase = element("button", { type: "button", class: "plain danger", onclick: () => ask.showModal() },
    "Delete …");
  const clear = element("button", { type: "button", class: "plain",
    onclick: () => { rows.clear(); changed(); show(); } }, "Select none");
  const names = element("ul", { class: "plain" });
  const ask = element("dialog", { "aria-labelledby": "delete-title" },
    element("h2", { id: "delete-title" }, "Delete these?"), names,
    element("p", {}, "Predictors are no longer served; their certificates stay readable, marked as withdrawn. " +
      "A calibration that has not ended must be cancelled first."),
    element("p", { class: "row" }, element("button", { type: "button", class: "danger", onclick: () => eraseAll() },
      "Delete"),
      element("button", { type: "button", class: "plain", onclick: () => ask.close() }, "Keep them")));
  const bar = element("div", { class: "row selection", hidden: true }, said, compare, erase, clear, ask);

  function show() {
    const made = [...rows.values()].filter((row) => row.predictor_id);
    bar.hidden = rows.size === 0;
    said.textContent = `${rows.size} selected`;
    compare.hidden = made.length < 2 || made.length > MOST || made.length < rows.size;
    compare.href = `#/compare?ids=${made.map((row) => row.predictor_id).join(",")}`;
    names.replaceChildren(...[...rows.values()].map((row) => element("li", {}, shownName(row))));
  }

  async function eraseAll() {
    ask.close();
    try {
      for (const [key, row] of rows) {
        await remove(row.predictor_id ? `/predictors/${row.predictor_id}` : `/calibrations/${row.calibration_id}`);
        rows.delete(key);
      }
      say("");
    } catch (error) {
      say(error.message);
    }
    show();
    await changed();
  }

  return {
    bar,
    box(row) {
      const key = row.calibration_id;
      const made = element("input", { type: "checkbox", checked: rows.has(key),
        "aria-label": `Select ${shownName(row)}` });
      made.addEventListener("change", () => {
        if (made.checked) rows.set(key, row);
        else rows.delete(key);
        show();
      });
      return made;
    },
  };
}
