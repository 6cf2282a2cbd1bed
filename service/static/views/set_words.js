/* A prediction set for people: its labels by name, its ends, or whatever else it has. */
import { element, number } from "/static/dom.js";

/** A label by its name, where it has one. */
export const className = (label, classes) => String(classes?.[label] ?? label);

const SAID_ELSEWHERE = ["kind", "size", "empty", "unbounded", "names"];

/** A set of any kind as text. `classes`: names of the labels, where the model has some. */
export function setWords(set, classes = null) {
  const value = (one) => (Array.isArray(one) ? `(${one.map((v) => number(v)).join(", ")})` : number(one, 5));
  if (set.labels) {
    const shown = set.names ?? set.labels.map((label) => className(label, classes));
    return shown.length ? `{ ${shown.join(", ")} }` : "the empty set";
  }
  if ("lower" in set && "upper" in set) return `from ${value(set.lower)} to ${value(set.upper)}`;
  return [set.kind, ...Object.entries(set).filter(([name]) => !SAID_ELSEWHERE.includes(name))
    .map(([name, one]) => `${name} ${value(one)}`)].join(", ");
}

/** All labels, those in the set marked. */
export function labelList(set, count, classes) {
  if (!set.labels) return null;
  const all = count && count <= 100 ? [...Array(count).keys()] : set.labels;
  return element("ul", { class: "labels", "aria-hidden": "true" },
    all.map((one) => element("li", { class: set.labels.includes(one) ? "in" : null }, className(one, classes))));
}
