/* A chart to take along: as a drawing, as a picture, or as its numbers. */
import { element, saveFile } from "/static/dom.js";

const SHARP = 2;

export function chartDownloads(svg, data) {
  const name = (svg.querySelector("title")?.textContent ?? "chart").toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const button = (text, press) => element("button", { type: "button", class: "link", onclick: press,
    "aria-label": `Download ${text} of ${name}` }, text);
  return element("p", { class: "downloads" },
    button("SVG", () => saveFile(`${name}.svg`, standing(svg), "image/svg+xml")),
    button("PNG", () => picture(svg, name)),
    button("CSV", () => saveFile(`${name}.csv`, table(data), "text/csv")));
}

/** The drawing in the page's colours, which it would lose outside of it. */
function standing(svg) {
  const copy = svg.cloneNode(true);
  const style = getComputedStyle(svg);
  copy.setAttribute("color", style.color);
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of [["width", "100%"], ["height", "100%"],
    ["fill", getComputedStyle(document.body).backgroundColor]]) {
    ground.setAttribute(name, value);
  }
  copy.prepend(ground);
  return new XMLSerializer().serializeToString(copy);
}

async function picture(svg, name) {
  const { width, height } = svg.viewBox.baseVal;
  const image = new Image(width * SHARP, height * SHARP);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standing(svg))}`;
  await image.decode();
  const canvas = element("canvas", { width: width * SHARP, height: height * SHARP });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => saveFile(`${name}.png`, blob, "image/png"));
}

function table({ x, y, series }) {
  const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
  const rows = series.flatMap(({ name, points }) => points.map(([a, b]) => [quoted(name), a, b].join(",")));
  return [["series", quoted(x), quoted(y)].join(","), ...rows, ""].join("\n");
}
