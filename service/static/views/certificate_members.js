/* Who answers: members with their weights and thresholds, groups with their sizes, and what was compared before. */
import { atMost, cut, element, number, percent, table, unbroken } from "/static/dom.js";
import { explained, term } from "/static/glossary.js";
import { groupName } from "/static/views/groups.js";

const MANY = 8;

/** Whether members have weights: then each was calibrated on a block of its own, and the promise is for their mean. */
export const isPool = (members) => members.some((one) => (one.weight ?? null) !== null);

export function memberTable({ members, efficiency }) {
  const size = `size (${efficiency.measure})`;
  const columns = isPool(members)
    ? [["Member", (one) => String(one.member), "member"],
      ["Served with chance", (one) => percent(one.weight), "weight"],
      ["Tuned on", (one) => number(one.tuned_on), "tuned on"], ["Block", (one) => number(one.n)],
        ["Rank k", (one) => number(one.k), "rank"],
      ["Level", (one) => number(one.k / (one.n + 1), 4), "alpha_hat"],
        ["Threshold tau", (one) => number(one.tau, 5), "tau"],
      [`Measured ${size}`, (one) => number(one.efficiency_bound ?? measured(one, efficiency), 4), "measured size"]]
    : [["Member", (one) => String(one.member), "member"],
      ...(members.length > 1 ? [["Served with chance", () => percent(1 / members.length), "weight"]] : []),
      ...(members.some((one) => one.distance !== undefined)
        ? [["Distance from the prior", (one) => number(one.distance), "distance"]] : []),
      ["Rank k", (one) => number(one.k), "rank"],
      ["Threshold tau", (one) => number(one.tau, 5), "tau"],
        ["Log-ratio", (one) => number(one.log_ratio, 4), "log-ratio"],
      ["Miscoverage at most", (one) => atMost(one.miscoverage_bound), "coverage"],
      [`Measured ${size}`, (one) => number(measured(one, efficiency), 4), "measured size"],
      [`Certified ${size}`, (one) => atMost(one.efficiency_bound), "certified size"]];
  if (members.some((one) => one.tie !== undefined)) {
    const place = 1 + columns.findIndex(([name]) => name === "Threshold tau");
    columns.splice(place, 0, ["Largest hash of ties", (one) => number(one.tie, 4)]);
  }
  const rows = members.map((one) => columns.map(([, value]) => value(one)));
  const caption = isPool(members) ? "Members: one computes each set, drawn by these chances"
    : "Members: the stored pairs, one of which computes each set";
  const made = table(caption, columns.map(([name, , word]) => [word ? term(word, name) : name, true]), rows);
  return rows.length > MANY
    ? element("details", { class: "screen" }, element("summary", {}, `${rows.length} members`), made) : made;
}

const measured = (one, efficiency) => ((one.efficiency_empirical ?? null) === null ? null
  : efficiency.cap * one.efficiency_empirical);

/** A promise for each group, with a bar for the size of its sets. */
export function groupTable(content) {
  const { groups, efficiency } = content;
  if (!groups?.length) return null;
  const largest = Math.max(...groups.map((one) => one.size ?? 0)) || 1;
  const bar = (size) => element("meter", { min: "0", max: String(largest), value: String(size ?? largest),
    "aria-label": size === null ? "unbounded" : number(size) });
  const rows = groups.map((one) => [groupName(one, content), number(one.n),
    one.k ? number(one.k) : "everything is in its sets",
      one.size === null || one.size === undefined ? "unbounded" : number(one.size, 4),
    bar(one.size ?? null), atMost(one.upper_bound), atMost(one.size_quantile ?? null), one.lacking ? `${number(one.lacking)} more rows` : "–"]);
  return element("div", { class: "card" }, table("Groups: the promise holds for each",
    [["Group"], [term("calibration rows", "Rows"), true],
    [term("rank", "Rank k"), true], [term("measured size", `Measured size (${efficiency.measure})`), true], [""],
    [term("certified size", `Certified size${groups.some((one) => one.upper_bound && one.bound !== "exact")
      ? cut({ ...efficiency, bound: null }) : ""}`), true], [term("size quantile", "Nine in ten sets at most"), true], ["Needs"]], rows));
}

/** Of one candidate there is nothing to say. */
export function candidates(coverage) {
  if (coverage.union.choices.length < 2) return null;
  const rows = coverage.union.choices.map((name, place) => [explained(name), percent(coverage.union.weights[place]),
    place === coverage.union.taken ? "taken" : ""]);
  return table("Candidates, each with its share of delta",
    [[term("candidate", "Candidate")], [term("delta", "Share of delta"), true], [""]],
    rows, (place) => place === coverage.union.taken);
}

/** What the fit looked at before it chose; it calibrates nothing and costs no delta. */
export function selectionCard(selection) {
  if (!selection) return null;
  const { compared, revealed, reason, taken } = selection;
  // A candidate that was looked at twice was taken as it was last seen.
  const last = compared.map((one) => one.name).lastIndexOf(taken);
  const rows = [["as given", "–", number(1), taken === "as given" ? "taken" : ""], ...compared.map((one, place) => [
    explained(one.name), number(one.rows), number(one.size, 4), place === last ? "taken" : ""])];
  return element("div", { class: "card screen", id: "selection" }, element("h2", {}, "How it was chosen"),
    element("p", {}, explained(unbroken(reason))),
    compared.length ? table(`Compared on revealed rows alone, ${number(revealed)} in all, which calibrate nothing`,
      [["Candidate"], ["Tuned on rows", true], ["Size (as given: 1)", true], [""]], rows,
      (place) => rows[place].at(-1) === "taken") : null,
    compared.length ? element("p", { class: "small soft" }, "Each candidate made sets for rows that it was not tuned " +
      "on. A pull holds parameters at those of the model as given: the larger, the more firmly.") : null);
}
