/* The promise by two sliders, with a live answer from the bounds: whether the rows are enough, and for what. */
import { get } from "/static/api.js";
import { atLeast, element, number, percent } from "/static/dom.js";
import { term } from "/static/glossary.js";

const RANGES = { alpha: [0.01, 0.3, 0.005], delta: [0.001, 0.2, 0.001] };
const HINTS = { alpha: "the share of future inputs whose set may miss the truth",
  delta: "the probability that the calibration rows are such an unlucky draw" };
const TITLES = { alpha: "How many inputs may be missed", delta: "How likely the promise may fail" };

/** `fields`: those of the options; alpha and delta move into this part and get a slider each. */
export function promisePart(fields) {
  const answer = element("p", { class: "answer-live", role: "status", "aria-live": "polite" });
  let rows = null;
  let groups = null;
  let waiting = null;

  const value = (name) => Number(fields[name].control.value);
  async function ask() {
    const [alpha, delta] = [value("alpha"), value("delta")];
    if (!(alpha >= 1e-6 && alpha < 1 && delta >= 1e-6 && delta < 1)) return answer.replaceChildren();
    const words = `At least ${atLeast(1 - alpha)} of future inputs covered, with confidence ${atLeast(1 - delta)}. `;
    try {
      const query = new URLSearchParams({ n: rows ?? 2, alpha, delta });
      if (groups) query.set("groups", groups.join(","));
      answer.replaceChildren(words, ...sentence(await get(`/budget?${query}`), rows !== null));
    } catch {
      answer.replaceChildren(words);
    }
  }
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 120);
  };

  const parts = Object.entries(RANGES).map(([name, [min, max, step]]) => {
    const box = fields[name].control;
    const slider = element("input", { type: "range", min, max, step, value: box.value,
      "aria-label": `${TITLES[name]}, as a slider` });
    slider.addEventListener("input", () => {
      box.value = slider.value;
      soon();
    });
    box.addEventListener("input", () => {
      slider.value = box.value;
      soon();
    });
    fields[name].querySelector(".hint").textContent = HINTS[name];
    return element("div", { class: "promise" }, element("p", {}, element("strong", {}, TITLES[name]), " ", term(name)),
      slider, fields[name]);
  });
  ask();
  return {
    part: element("div", {}, element("div", { class: "two" }, parts), answer),
    setRows(count) {
      rows = count ?? null;
      ask();
    },
    setGroups(counts) {
      groups = counts?.length ? counts : null;
      ask();
    },
  };
}

function sentence(budget, known) {
  const needed = `This promise needs at least ${number(budget.least)} rows.`;
  if (!known) return [needed];
  if (!budget.enough) {
    return [element("strong", { class: "bad-text" },
      `${number(budget.n)} rows are too few: at least ${number(budget.least)} are needed. `),
      "Allow more to be missed, or a smaller confidence."];
  }
  const found = [`With ${number(budget.n)} rows that calibrate, thresholds are set at level ${number(budget.level)}: sets miss about `,
    `${percent(budget.level)} on average, so that ${percent(budget.alpha)} is kept. ${needed}`];
  if (budget.groups) {
    found.push(` ${budget.groups_enough} of your ${budget.groups} groups are large enough; `,
      `${number(budget.group_least)} rows are enough for any.`);
  }
  return found;
}
