/* Rows of the uploaded data to pick from, shown as pictures if they are some. */
import { element, number } from "/static/dom.js";

export function pictures(rows, side, use, picked, classes) {
  const buttons = rows.x.map((row, place) => {
    const words = `row ${place + 1}: ${label(rows.y[place], classes ?? rows.y_names)}`;
    const press = () => {
      use(place);
      buttons.forEach((one, n) => one.setAttribute("aria-pressed", String(n === picked())));
    };
    return element("button", { type: "button", class: "plain", "aria-pressed": "false", onclick: press,
      "aria-label": side ? words : null, title: side ? words : null }, side ? canvas(row, side) : `row ${place + 1}`);
  });
  return element("div", { role: "group", "aria-label": "Rows of the uploaded data" },
    element("p", { class: "small soft" }, "Pick a row of the uploaded data, or enter an input below."),
    element("div", { class: "pictures" }, buttons));
}

const label = (y, names) => (Array.isArray(y) ? y.map((value) => number(value)).join(", ") : names?.[y] ?? number(y));

function canvas(row, side) {
  const made = element("canvas", { width: String(side), height: String(side), "aria-hidden": "true" });
  const low = Math.min(...row);
  const span = Math.max(...row) - low || 1;
  const context = made.getContext("2d");
  const picture = context.createImageData(side, side);
  row.forEach((value, place) => {
    const shade = Math.round((255 * (value - low)) / span);
    picture.data.set([shade, shade, shade, 255], 4 * place);
  });
  context.putImageData(picture, 0, 0);
  return made;
}
