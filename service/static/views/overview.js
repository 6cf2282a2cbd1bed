/* Calibrations and predictors in one table, searched, sorted and paged by the server; its state is in the address. */
import { get } from "/static/api.js";
import { keepInAddress } from "/static/address.js";
import { choice, element, every, field, link, refill } from "/static/dom.js";
import { GLOSSARY } from "/static/glossary.js";
import { COLUMNS } from "/static/views/overview_columns.js";
import { selection } from "/static/views/overview_selection.js";

const REFRESH = 2500;
const PAGE = 25;
const STATUSES = [["", "any status"], ["consistent", "certified, consistent"], ["contradicted", "contradicted"],
  ["running", "running"], ["queued", "queued"], ["failed", "failed"], ["cancelled", "cancelled"]];
const METHODS = ["", "auto", "standard", "learned", "progressive", "pac_bayes"];

export async function overview({ signal, say, query }) {
  const state = { sort: query.get("sort") ?? "newest", search: query.get("search") ?? "",
    status: query.get("status") ?? "", method: query.get("method") ?? "", columns: readColumns(query.get("columns")) };
  const before = [];
  let cursor = null;
  let shown = null;
  const place = element("div", { class: "overview" });
  const pager = element("nav", { class: "row", "aria-label": "Pages" });
  const picked = selection(say, () => refresh(true));

  async function refresh(always = false) {
    const asked = new URLSearchParams({ limit: PAGE, sort: state.sort });
    for (const name of ["search", "status", "method"]) if (state[name]) asked.set(name, state[name]);
    if (cursor) asked.set("cursor", cursor);
    const page = await get(`/overview?${asked}`);
    const text = JSON.stringify(page);
    if (signal.aborted || (text === shown && !always)) return;
    shown = text;
    refill(place, page.items.length ? tableOf(page.items, state, picked, sortBy) : nothing(state));
    refill(pager, ...turning(page.next_cursor));
  }

  const again = (changes) => {
    Object.assign(state, changes);
    before.length = 0;
    cursor = null;
    keepInAddress({ sort: state.sort === "newest" ? "" : state.sort, search: state.search, status: state.status,
      method: state.method, columns: writeColumns(state.columns) });
    refresh(true).catch((error) => say(error.message));
  };
  const sortBy = (sort) => again({ sort });

  function turning(next) {
    const turn = (to) => () => { cursor = to(); refresh(true).then(() => scrollTo(0, 0)).catch((error) =>
      say(error.message)); };
    return [before.length ? element("button", { class: "plain", type: "button", onclick: turn(() => before.pop()) },
      "Newer page") : "",
      next ? element("button", { class: "plain", type: "button",
        onclick: turn(() => { before.push(cursor); return next; }) }, "Next page") : ""];
  }

  await refresh();
  every(signal, REFRESH, say, refresh);
  return element("section", {},
    element("div", { class: "row between" }, element("h1", {}, "Overview"),
      link("#/new", "New calibration", { class: "button" })),
    controls(state, again), picked.bar, place, pager);
}

function controls(state, again) {
  const search = element("input", { type: "search", value: state.search, placeholder: "name, model, data set or id" });
  let waiting = null;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => again({ search: search.value.trim() }), 200);
  });
  const status = choice(STATUSES, state.status);
  status.addEventListener("change", () => again({ status: status.value }));
  const method = choice(METHODS.map((one) => [one, one || "any method"]), state.method);
  method.addEventListener("change", () => again({ method: method.value }));
  const boxes = COLUMNS.filter((one) => !one.always).map((one) => {
    const box = element("input", { type: "checkbox", checked: state.columns.has(one.name) });
    box.addEventListener("change", () => {
      if (box.checked) state.columns.add(one.name);
      else state.columns.delete(one.name);
      again({});
    });
    return element("label", {}, box, ` ${one.title}`);
  });
  return element("form", { class: "controls", role: "search", onsubmit: (event) => event.preventDefault() },
    field("Search", search), field("Status", status), field("Method", method),
    element("details", { class: "columns" }, element("summary", {}, "Columns"),
      element("div", { class: "choices", role: "group", "aria-label": "Columns to show" }, boxes)));
}

/** Roles are said, since narrow screens show each row as a card and would otherwise lose them. */
function tableOf(rows, state, picked, sortBy) {
  const columns = COLUMNS.filter((one) => one.always || state.columns.has(one.name));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Calibrations and predictors" },
    element("table", { role: "table", class: "stacked" },
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
        element("th", { role: "columnheader", scope: "col" }, element("span", { class: "hidden" }, "Select")),
        columns.map((one) => heading(one, state.sort, sortBy)))),
      element("tbody", { role: "rowgroup" }, rows.map((row) => element("tr", { role: "row" },
        element("td", { role: "cell", class: "pick" }, picked.box(row)),
        columns.map((one, n) => element(n ? "td" : "th", { role: n ? "cell" : "rowheader", "data-label": one.title,
          scope: n ? null : "row", class: one.number ? "number" : null }, one.show(row))))))));
}

function heading(column, sort, sortBy) {
  const attributes = { role: "columnheader", scope: "col", class: column.number ? "number" : null };
  const tip = column.term ? GLOSSARY[column.term] : null;
  if (!column.sort) {
    return element("th", attributes, tip ? element("span", { class: "term", tabindex: "0", "data-tip": tip },
      column.title) : column.title);
  }
  const byAge = column.sort === "newest";
  const up = byAge ? "oldest" : column.sort;
  const down = byAge ? "newest" : `-${column.sort}`;
  const now = { [up]: "ascending", [down]: "descending" }[sort];
  const arrow = { ascending: "\u00a0↑", descending: "\u00a0↓" }[now] ?? "";
  return element("th", { ...attributes, "aria-sort": now ?? "none" },
    element("button", { type: "button", class: "sort", "data-tip": tip,
      onclick: () => sortBy(sort === up ? down : up) },
      `${column.title}${arrow}`));
}

function nothing(state) {
  if (state.search || state.status || state.method) return element("p", { class: "card" }, "Nothing fits this search.");
  return element("p", { class: "card" }, "No predictors yet. ", link("#/new", "Start a calibration"), ", or run ",
    element("code", {}, "make demo"), ".");
}

const usual = () => new Set(COLUMNS.filter((one) => !one.hidden && !one.always).map((one) => one.name));
const readColumns = (text) => (text === null ? usual() : new Set(text.split(".")));

function writeColumns(columns) {
  const shown = COLUMNS.filter((one) => columns.has(one.name)).map((one) => one.name).join(".");
  return shown === [...usual()].join(".") ? "" : shown || "none";
}
