/* Counts as bars with their numbers, readable at every width and without a picture. */
import { element, number } from "/static/dom.js";

const MOST = 30;

export function bars(counts) {
  const largest = Math.max(...counts.map(([, rows]) => rows), 1);
  return element("div", {}, element("ul", { class: "bars" },
    counts.slice(0, MOST).map(([name, rows]) => element("li", {},
    element("span", {}, name), element("meter", { min: "0", max: String(largest), value: String(rows),
      "aria-label": `${name}: ${rows} rows` }),
    element("span", { class: "number" }, number(rows))))),
  counts.length > MOST ? element("p", { class: "small soft" }, `and ${number(counts.length - MOST)} more`) : null);
}
