/* Figures drawn by the server, as wide as their place; their points tell their numbers by pointer and by arrow keys. */
import { getText } from "/static/api.js";
import { element } from "/static/dom.js";
import { chartDownloads } from "/static/chart_downloads.js";
import { hideTip, showTip } from "/static/tooltips.js";

const WIDEST = 900;
const NARROWEST = 280;
const ROOM = 40;
const NEAR = 40;
const USUAL = 560;

/** Its SVG comes from our own service and has no script, and the page allows none. */
export async function figure(path, caption) {
  const frame = element("figure", { class: "figure" });
  let width = Math.min(USUAL, Math.max(NARROWEST, innerWidth - 2 * ROOM));
  const fill = async () => {
    const text = await getText(`${path}${path.includes("?") ? "&" : "?"}width=${width}`);
    const drawn = document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
    const data = JSON.parse(drawn.querySelector("metadata")?.textContent || "{}");
    frame.replaceChildren(drawn, element("figcaption", {}, caption ?? drawn.querySelector("desc")?.textContent ?? ""));
    if (data.series?.length) {
      explore(drawn, data);
      frame.append(chartDownloads(drawn, data));
    }
  };
  await fill();
  frame.refresh = fill;
  new ResizeObserver(([entry]) => {
    const wanted = Math.round(Math.max(NARROWEST, Math.min(WIDEST, entry.contentRect.width)) / 20) * 20;
    if (!frame.isConnected || entry.contentRect.width === 0 || Math.abs(wanted - width) < 20) return;
    width = wanted;
    fill().catch(() => {});
  }).observe(frame);
  return frame;
}

/** The figure, or the reason why there is none. */
export async function figureOrReason(path) {
  try {
    return await figure(path);
  } catch (error) {
    return element("p", { class: "soft" }, error.message);
  }
}

/** The nearest point has a ring around it and its numbers beside it; arrow keys go from point to point. */
function explore(svg, data) {
  const points = data.series.flatMap(({ name, points: all }) =>
    all.map(([x, y, left, top]) => ({ name, x, y, left, top })));
  if (!points.length) return;
  const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  for (const [name, value] of [["r", "7"], ["fill", "none"], ["stroke", "currentColor"],
    ["stroke-width", "2"]]) ring.setAttribute(name, value);
  ring.setAttribute("visibility", "hidden");
  svg.append(ring);
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("aria-roledescription", "chart: arrow keys go from point to point");
  const said = element("span", { class: "hidden", role: "status" });
  svg.after(said);
  let at = -1;

  function show(place, aloud = false) {
    at = place;
    const point = points[place];
    ring.setAttribute("cx", point.left);
    ring.setAttribute("cy", point.top);
    ring.setAttribute("visibility", "visible");
    const words = `${point.name ? `${point.name}: ` : ""}${data.x} ${point.x}, ${data.y} ${point.y}`;
    if (aloud) said.textContent = words;
    showTip(words, ring.getBoundingClientRect());
  }

  const leave = () => {
    ring.setAttribute("visibility", "hidden");
    hideTip();
  };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const left = (event.clientX - box.left) * scale;
    const top = (event.clientY - box.top) * scale;
    const away = points.map((point) => Math.hypot(point.left - left, point.top - top));
    const nearest = away.indexOf(Math.min(...away));
    if (away[nearest] < NEAR) show(nearest);
    else leave();
  });
  svg.addEventListener("pointerleave", leave);
  svg.addEventListener("blur", leave);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 }[event.key];
    if (event.key === "Escape") leave();
    if (!step) return;
    event.preventDefault();
    show((at + step + points.length) % points.length, true);
  });
}
