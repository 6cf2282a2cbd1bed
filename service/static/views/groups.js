/* Groups with thresholds of their own: in the form of a calibration, drawn on a certificate, and beside a set. */
import { figureOrReason } from "/static/charts.js";
import { element, field } from "/static/dom.js";

/** The option of a calibration: columns, which cross where there are several. */
export function groupsOption(property) {
  const made = field("Groups", element("input", { value: "", placeholder: "a column, several with commas, or class" }),
    property.description);
  made.given = () => {
    const names = made.control.value.split(",").map((one) => one.trim()).filter((one) => one !== "");
    return names.length === 0 ? null : names.length === 1 ? names[0] : names;
  };
  return made;
}

/** Coverage and size of every group, with intervals; nothing where there are none. */
export async function groupFigures(id, { groups }) {
  if (!groups?.length) return null;
  const drawn = await Promise.all(["group_coverage", "group_sizes"]
    .map((name) => figureOrReason(`/certificates/${id}/figures/${name}`)));
  return element("div", { class: "two screen", id: "groups" }, drawn.map((one) => element("div", { class: "card" }, one)));
}

/** The columns by which a predictor's inputs are grouped; none where it has no groups, or every class is one. */
export function groupColumns({ groups, options }) {
  const named = groups?.length ? options?.groups ?? null : null;
  return named === null || named === "class" ? [] : [named].flat();
}

/** The place of a stored row's group, by its columns; the first where they do not say. */
export function groupOf(rows, place, certificate) {
  const values = groupColumns(certificate).map((name) => {
    const at = rows.columns?.indexOf(name) ?? -1;
    return String(rows.further?.[name]?.[place] ?? (at < 0 ? "" : rows.all[place][at]));
  });
  return Math.max(0, certificate.groups.findIndex(({ name }) => name.every((value, n) => value === values[n])));
}

/** Of a certificate: a class by its name, any other group by its values. */
export const groupName = ({ name }, { options, model }) => (options?.groups === "class"
  ? String(model?.labels?.[Number(name[0])] ?? name[0]) : name.join(", "));

/** Why everything is in a set, if that is because of its group. */
export function groupWords({ whole_space: reason }) {
  const words = { unknown_group: "The group is not one of those that were calibrated: everything is in its set.",
    too_few_rows: "The group has too few calibration rows: everything is in its set." };
  return reason in words ? element("p", { class: "caveat" }, words[reason]) : "";
}
