/* What the model itself says, beside the sets: probabilities or predictions, for which nothing is promised. */
import { post } from "/static/api.js";
import { element, number, percent } from "/static/dom.js";
import { className } from "/static/views/set_words.js";

const AT_ONCE = 20_000;
const SHOWN = 6;
const TINY = 0.0001;

/** For rows of numbers, in parts of a few thousand; null where the service gives none. */
export async function ownOutputs(id, x) {
  const step = Math.max(1, Math.min(500, Math.floor(AT_ONCE / Math.max(1, x[0].length))));
  const found = { kind: "numbers", outputs: [] };
  try {
    for (let at = 0; at < x.length; at += step) {
      const part = await post(`/predictors/${id}/outputs`, { x: x.slice(at, at + step) });
      found.kind = part.kind;
      found.outputs.push(...part.outputs);
    }
    return found;
  } catch {
    return null;
  }
}

const shareWords = (share) => (share < TINY ? `< ${percent(TINY)}` : percent(share));

/** The classes by their probability, those of the set marked; or the predicted numbers. */
export function beside(own, set, classes) {
  if (!own) return null;
  const [row] = own.outputs;
  if (own.kind !== "probabilities") {
    return element("p", { class: "own" }, "The model by itself predicts ", element("strong", {},
      row.map((value) => number(value, 5)).join(", ")), ", without a promise.");
  }
  const order = row.map((share, label) => ({ share, label, inside: set.labels?.includes(label) }))
    .sort((a, b) => b.share - a.share);
  const shown = order.filter((one, place) => place < SHOWN || one.inside);
  const rest = order.length - shown.length;
  return element("div", { class: "own" }, element("h3", {}, "Beside it, the model's own probabilities"),
    element("ul", { class: "bars" }, shown.map(({ share, label, inside }) => {
      const name = className(label, classes);
      return element("li", { class: inside ? "in" : null },
        element("span", {}, name, inside ? element("span", { class: "mark" }, " ✓",
          element("span", { class: "hidden" }, " in the set")) : ""),
        element("meter", { min: "0", max: "1", value: String(share), "aria-label": `${name}: ${shareWords(share)}` }),
        element("span", { class: "number" }, shareWords(share)));
    })),
    element("p", { class: "small soft" }, `✓ marks what is in the set.${rest > 0
      ? ` ${number(rest)} less likely ${rest === 1 ? "class is" : "classes are"} left out.` : ""} Nothing is promised for `
      + "these probabilities: they are the model's, as it was uploaded, and the set is certified."));
}

/** The likeliest class and its probability, or the prediction, in a few words. */
export function inShort(kind, row, classes) {
  if (kind !== "probabilities") return row.map((value) => number(value, 4)).join(", ");
  const best = row.indexOf(Math.max(...row));
  return `${className(best, classes)}: ${percent(row[best])}`;
}
