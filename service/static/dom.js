/* Small helpers that build the page; text is always text, never markup. */

/** element("p", {class: "soft", onclick: f}, "text", child, …) */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const link = (href, text, attributes = {}) => element("a", { href, ...attributes }, text);
export const idText = (id) => element("span", { class: "id" }, id);

const LARGE = 1e12;
const raised = (power) => [...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");

export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (Math.abs(value) >= LARGE) {
    return value.toExponential(digits - 1).replace(/e\+(\d+)/, (_, power) => `\u00a0·\u00a010${raised(power)}`);
  }
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Number(value.toPrecision(digits)).toString();
}

export const percent = (share, digits = 3) => `${Number((100 * share).toPrecision(digits))}\u00a0%`;
/** A promised share: rounded down, and never up to 100 %. */
export function atLeast(share) {
  const rounded = Math.floor(share * 1e6 + 1e-3) / 1e4;
  return `${share < 1 ? Math.min(rounded, 99.9999) : 100}\u00a0%`;
}

/** An upper bound: rounded up to four digits. */
export function atMost(value, unit = 1) {
  if (value === null || value === undefined) return "–";
  if (!(value > 0)) return String(value);
  const places = 10 ** (3 - Math.floor(Math.log10(value * unit)));
  return String(Number((Math.ceil(value * unit * places - 1e-6) / places).toPrecision(12)));
}

/** What a certified mean of widths or volumes leaves out; a number of labels is never cut. */
export function cut({ measure, cap, bound }) {
  return measure === "labels" || bound === "exact" || !cap ? "" : `, sizes above ${atMost(cap)} counted as ${atMost(cap)}`;
}

/** An interval of shares, rounded outwards. */
export const within = (low, high) => `${Math.floor(1000 * low + 1e-6) / 10} – ${Math.ceil(1000 * high - 1e-6) / 10}\u00a0%`;

/** A size that was measured, with as many digits as bounds have: with fewer it could seem to be above its own bound. */
export const measured = (size) => number(size, 4);

/** Calls f at intervals until the view is left, one call at a time; shows an error until the next success. */
export function every(signal, milliseconds, say, f) {
  if (signal.aborted) return;
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    try {
      await f();
      if (!signal.aborted) say("");
    } catch (error) {
      if (!signal.aborted) say(error.message);
    } finally {
      busy = false;
    }
  }, milliseconds);
  signal.addEventListener("abort", () => clearInterval(timer));
}

/** Replaces the content and keeps the keyboard focus on the corresponding link or button. */
export function refill(place, ...children) {
  const stops = () => [...place.querySelectorAll("a, button, input, select, summary")];
  const at = stops().indexOf(document.activeElement);
  place.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  if (at >= 0) stops()[at]?.focus({ preventScroll: true });
}

/** A sentence in which no line breaks before a percent sign. */
export const unbroken = (text) => text.replaceAll(" %", "\u00a0%");
export const moment = (text) => (text ? new Date(text).toLocaleString("en-GB") : "–");

export function badge(text, kind = "") {
  return element("span", { class: `badge ${kind}` }, text);
}

export function statusBadge(status) {
  const kinds = { succeeded: "good", consistent: "good", failed: "bad", contradicted: "bad", withdrawn: "bad" };
  return badge(status, kinds[status] || "");
}

/** Name and value pairs, large. */
export function numbers(pairs) {
  return element("dl", { class: "figures" },
    pairs.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/** rows: arrays of cells; columns: [name, isNumber]. Phones show each row as a card, but of a `wide` table, whose rows
 * are compared with each other; roles are said, since cards would otherwise lose them. */
export function table(caption, columns, rows, chosen = () => false, wide = false) {
  const labels = columns.map(([name]) => name?.textContent ?? name);
  const cell = (content, column) => element(column ? "td" : "th", { role: column ? "cell" : "rowheader",
    scope: column ? null : "row", class: columns[column][1] ? "number" : null, "data-label": labels[column] || null },
  content ?? "–");
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    element("table", { role: "table", class: wide ? null : "cards-on-phones" },
      element("caption", {}, element("span", {}, caption)),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, columns.map(([name, isNumber]) => (name
        ? element("th", { role: "columnheader", scope: "col", class: isNumber ? "number" : null }, name)
        : element("td", { role: "cell" }))))),
      element("tbody", { role: "rowgroup" }, rows.map((cells, place) => element("tr", { role: "row",
        class: chosen(place) ? "chosen" : null }, cells.map(cell))))));
}

let counter = 0;

/** A labelled field with a hint; `.wrong(text)` shows an error. */
export function field(label, control, hint = "") {
  const id = `field-${++counter}`;
  control.id = id;
  const wrong = element("p", { class: "wrong", id: `${id}-wrong` });
  const help = element("p", { class: "hint", id: `${id}-hint` }, hint);
  control.setAttribute("aria-describedby", `${id}-hint ${id}-wrong`);
  const made = element("div", { class: "field" }, element("label", { for: id }, label), control, help, wrong);
  made.control = control;
  made.wrong = (text) => {
    wrong.textContent = text;
    // Where nobody could see it, it is opened.
    for (let at = made.closest("details"); text && at; at = at.parentElement.closest("details")) at.open = true;
    control.setAttribute("aria-invalid", text ? "true" : "false");
  };
  return made;
}

export function choice(options, chosen) {
  return element("select", {}, options.map(([value, text]) =>
    element("option", { value, selected: value === chosen }, text)));
}

export function saveFile(name, content, type = "application/json") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: address, download: name }).click();
  URL.revokeObjectURL(address);
}
