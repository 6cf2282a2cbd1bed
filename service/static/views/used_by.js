/* Where a data set or a model was used: the rows of the overview that name it. */
import { get } from "/static/api.js";
import { element, link, statusBadge, table } from "/static/dom.js";
import { age, shownName } from "/static/views/overview_columns.js";

export async function usedBy(kind, id) {
  const { items, next_cursor: more } = await get(`/overview?${kind}=${id}&limit=20`);
  const rows = items.map((row) => [
    link(row.predictor_id ? `#/predictors/${row.predictor_id}` : `#/calibrations/${row.calibration_id}`,
      shownName(row)),
    statusBadge(row.status), row.method ?? "–", age(row.created_at)]);
  return element("div", { class: "card" }, rows.length
    ? table(`Where it was used${more ? ", newest first" : ""}`, [["Name"], ["Status"], ["Method"], ["Age", true]], rows)
    : element("p", { class: "soft" }, "It was not used yet."));
}

/** Deletes after asking, and goes to the list. */
export function deleteButton(words, act, to, say) {
  const dialog = element("dialog", { "aria-label": words }, element("p", {}, words),
    element("p", { class: "row" }, element("button", { type: "button", class: "danger", onclick: async () => {
      dialog.close();
      try {
        await act();
        location.hash = to;
      } catch (error) {
        say(error.message);
      }
    } }, "Delete"), element("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Keep it")));
  return element("span", {}, element("button", { type: "button", class: "plain danger",
    onclick: () => dialog.showModal() }, "Delete …"), dialog);
}
