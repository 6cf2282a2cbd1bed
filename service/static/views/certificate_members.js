/* Who answers: members with their weights and thresholds, groups with their sizes, and what was compared before. */
import { atMost, cut, element, number, percent, table, unbroken } from "/static/dom.js";
import { explained, term } from "/static/glossary.js";
import { groupName } from "/static/views/groups.js";

const MANY = 8;
/** Groups on paper, as the style sheet has it. */
const PRINTED = 10;

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
      efficiency.bound === "exact" ? [`Size (${efficiency.measure})`, (one) => number(one.efficiency_bound, 4), "size"]
        : [`Counted ${size}`, (one) => number(counted(one, efficiency), 4), "counted size"]]
    : [["Member", (one) => String(one.member), "member"],
      ...(members.length > 1 ? [["Served with chance", () => percent(1 / members.length), "weight"]] : []),
      ...(members.some((one) => one.distance !== undefined)
        ? [["Distance from the prior", (one) => number(one.distance), "distance"]] : []),
      ["Rank k", (one) => number(one.k), "rank"],
      ["Threshold tau", (one) => number(one.tau, 5), "tau"],
        ["Log-ratio", (one) => number(one.log_ratio, 4), "log-ratio"],
      ["Miscoverage at most", (one) => atMost(one.miscoverage_bound), "coverage"],
      [`Counted ${size}`, (one) => number(counted(one, efficiency), 4), "counted size"],
      [`Certified ${size}`, (one) => atMost(one.efficiency_bound), "certified size"]];
  if (members.some((one) => one.tie !== undefined)) {
    const place = 1 + columns.findIndex(([name]) => name === "Threshold tau");
    columns.splice(place, 0, ["Largest hash of ties", (one) => number(one.tie, 4)]);
  }
  const told = columns.filter(([, value]) => members.some((one) => value(one) !== "–"));
  const rows = members.map((one) => told.map(([, value]) => value(one)));
  const caption = isPool(members) ? "Members: one computes each set, drawn by these chances"
    : "Members: the stored pairs, one of which computes each set";
  const made = table(caption, told.map(([name, , word]) => [word ? term(word, name) : name, true]), rows);
  if (rows.length <= MANY) return made;
  const paper = table(caption, told.map(([name]) => [name, true]), rows.slice(0, MANY));
  paper.removeAttribute("tabindex");
  return [element("details", { class: "screen" }, element("summary", {}, `${rows.length} members`), made),
    element("div", { class: "print-only" }, paper, others(rows.length - MANY))];
}

const others = (count) => element("p", { class: "small soft print-only" },
  `and ${number(count)} more, which the certificate's file has`);

/** The mean from which a member's bound follows: at a threshold rounded up to a grid, and in whole steps. */
const counted = (one, efficiency) => ((one.efficiency_empirical ?? null) === null ? null
  : efficiency.cap * one.efficiency_empirical);

/** A promise for each group, with a bar for the size of its sets. */
export function groupTable(content) {
  const { groups, efficiency } = content;
  if (!groups?.length) return null;
  const largest = Math.max(...groups.map((one) => one.size ?? 0)) || 1;
  const bar = (size) => element("meter", { min: "0", max: String(largest), value: String(size ?? largest),
    "aria-label": size === null ? "unbounded" : number(size) });
  const cutAt = groups.some((one) => one.upper_bound && one.bound !== "exact") ? cut({ ...efficiency, bound: null }) : "";
  const sized = `Measured size (${efficiency.measure})`;
  const columns = [["Group", (one) => groupName(one, content)],
    ["Rows", (one) => number(one.n), "calibration rows"],
    ["Rank k", (one) => (one.k ? number(one.k) : "everything is in its sets"), "rank"],
    [sized, (one) => ((one.size ?? null) === null ? "unbounded" : number(one.size, 4)), "measured size"],
    ["", (one) => bar(one.size ?? null)],
    [`Certified size${cutAt}`, (one) => atMost(one.upper_bound), "certified size"],
    ["Nine in ten sets at most", (one) => atMost(one.size_quantile ?? null), "size quantile"],
    ["Lacks", (one) => (one.lacking ? `${number(one.lacking)} rows` : "–")]];
  const told = columns.filter(([, value]) => groups.some((one) => value(one) !== "–"));
  const made = table("Groups: the promise holds for each",
    told.map(([name, , word], place) => [word ? term(word, name) : name, place > 0 && name !== ""]),
    groups.map((one) => told.map(([, value]) => value(one))));
  made.classList.add("some-printed");
  return element("div", { class: "card" }, made, groups.length > PRINTED ? others(groups.length - PRINTED) : null);
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
