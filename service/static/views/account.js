/* What the tenant uses of what it may, and, for admins, who did what. */
import { get } from "/static/api.js";
import { badge, element, idText, moment, number, refill, table } from "/static/dom.js";

const NAMES = { bytes: "stored files", rows: "rows", datasets: "data sets", models: "models", predictors: "predictors",
  queued_jobs: "queued fits", running_jobs: "running fits" };

const UNITS = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]];

function bytes(value) {
  const [unit, size] = UNITS.find(([, step]) => value >= step) ?? ["bytes", 1];
  return `${number(value / size)}\u00a0${unit}`;
}

export async function account({ say }) {
  const usage = await get("/usage");
  const rows = Object.entries(NAMES).map(([name, title]) => {
    const limit = usage.limits[name];
    const show = name === "bytes" ? bytes : number;
    return [title, show(usage[name]), limit === null ? "no limit" : show(limit), limit
      ? element("meter", { min: "0", max: "1", high: "0.9", value: String(usage[name] / limit),
        "aria-label": `${title}: share of the limit` }) : ""];
  });
  return element("section", {}, element("h1", {}, "Usage and audit"),
    element("div", { class: "card" }, table(`Tenant ${usage.tenant}`,
      [["What"], ["Used", true], ["Allowed", true], [""]], rows)),
    await audit(say));
}

async function audit(say) {
  const place = element("div", { class: "card" });
  async function show(cursor) {
    const page = await get(`/audit?limit=50${cursor ? `&cursor=${cursor}` : ""}`);
    const rows = page.items.map((one) => [element("span", { class: "nowrap" }, moment(one.at)), one.action,
      badge(one.result, { ok: "good", refused: "", failed: "bad" }[one.result]),
      one.object_id ? idText(one.object_id) : "–", one.key_id ? idText(one.key_id) : one.user ?? "–",
        one.address ?? "–", number(one.count)]);
    refill(place, table("Who did what, newest first", [["When"], ["What"], ["Result"], ["To"], ["By"], ["From"],
      ["Times", true]], rows),
      page.next_cursor ? element("p", {}, element("button", { type: "button", class: "plain",
        onclick: () => show(page.next_cursor).catch((error) => say(error.message)) }, "Older entries")) : "");
  }
  try {
    await show(null);
    return place;
  } catch (error) {
    return error.status === 403 ? element("p", { class: "soft" }, "Who did what is shown to keys with the scope admin.")
      : Promise.reject(error);
  }
}
