/* The promise as a picture: a strip of 100 future inputs, of which so many may be missed. */
import { element } from "/static/dom.js";

const SPACE = "http://www.w3.org/2000/svg";
const SIDE = 10;
const COLUMNS = 25;

export function promiseStrip({ pool_miscoverage_bound: missed }) {
  const covered = Math.floor(100 * (1 - missed) + 1e-9);
  const words = `Of 100 future inputs, on average at least ${covered} have a set that contains the truth; ` +
    `${100 - covered} may be missed.`;
  const drawing = document.createElementNS(SPACE, "svg");
  for (const [name, value] of [["viewBox", `0 0 ${COLUMNS * SIDE} ${(100 / COLUMNS) * SIDE}`], ["role", "img"],
    ["aria-label", words]]) {
    drawing.setAttribute(name, value);
  }
  for (let place = 0; place < 100; place++) {
    const square = document.createElementNS(SPACE, "rect");
    const attributes = { x: SIDE * (place % COLUMNS) + 1, y: SIDE * Math.floor(place / COLUMNS) + 1, width: SIDE - 2,
      height: SIDE - 2, rx: 1.5, class: place < covered ? "covered" : "missed" };
    for (const [name, value] of Object.entries(attributes)) square.setAttribute(name, value);
    drawing.append(square);
  }
  return element("figure", { class: "strip" }, drawing, element("figcaption", { class: "small soft" }, words));
}
