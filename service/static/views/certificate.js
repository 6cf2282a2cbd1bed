/* A certificate: its statement, the numbers behind it, and how to check them. */
import { get, getText } from "/static/api.js";
import {
  atLeast, atMost, badge, element, figureOrReason, idText, link, moment, number, numbers, percent, save, statusBadge, table,
  unbroken,
} from "/static/dom.js";

const MANY = 12;
const TINY = 0.0001;

export async function certificate(id, { say }) {
  const [text, checked, key] = await Promise.all([
    getText(`/certificates/${id}`), get(`/certificates/${id}/verify`), get("/certificates/key"),
  ]);
  const content = JSON.parse(text);
  const { coverage, efficiency, members, provenance } = content;
  const [budget, ranks, sizes] = await Promise.all([
    figureOrReason(`/certificates/${id}/figures/budget`), figureOrReason(`/certificates/${id}/figures/members`),
    figureOrReason(`/predictors/${content.predictor_id}/figures/sizes`),
  ]);
  return element("section", {},
    element("h1", {}, "Certificate"),
    element("div", { class: "card" },
      checked.status === "contradicted" ? element("p", { class: "warning" }, "Outcomes contradict this certificate. Do " +
        "not rely on it: find out what has changed, and recalibrate on new data.") : null,
      checked.status === "withdrawn" ? element("p", { class: "warning" }, "The predictor of this certificate was " +
        "deleted, and is no longer served.") : null,
      element("blockquote", { class: "statement" }, unbroken(content.statement)),
      element("p", { class: "row" },
        badge(checked.valid ? "numbers and signature hold" : "NOT valid", checked.valid ? "good" : "bad"),
        statusBadge(checked.status), link(`#/predictors/${content.predictor_id}`, "Try the predictor"),
        link(`#/predictors/${content.predictor_id}/monitor`, "Monitor")),
      numbers([
        ["covers at least", atLeast(1 - coverage.pool_miscoverage_bound)],
        ["with confidence", atLeast(1 - coverage.delta - coverage.pool_delta)],
        ["calibration points", number(coverage.n)],
        [`mean size (${efficiency.measure})`, number(efficiency.empirical)],
        [`certified mean size${cut(efficiency)}, confidence ${atLeast(1 - efficiency.gamma)}`,
          atMost(efficiency.upper_bound)],
      ]),
      content.size_statement ? element("p", {}, unbroken(content.size_statement)) : null,
      content.account ? element("p", { class: content.account.attempt > content.account.family ? "caveat" : "small soft" },
        content.account.statement) : null,
      (content.caveats ?? []).map((one) => element("p", { class: "caveat" }, element("strong", {}, "Caveat: "), one.message)),
      element("h2", {}, "Assumptions"),
      element("ul", { class: "plain" }, content.assumptions.map((one) => element("li", {}, one))),
      provenance.messages.length ? element("h2", {}, "Notes") : null,
      element("ul", { class: "plain" }, provenance.messages.map((one) => element("li", {}, one)))),
    element("div", { class: "two" },
      element("div", { class: "card" }, element("h2", {}, isPool(members) ? "Room below delta, and the chosen ranks"
        : "KL budget, and the chosen point"), budget),
      element("div", { class: "card" }, element("h2", {}, "Members"), ranks),
      element("div", { class: "card" }, element("h2", {}, "Set sizes on the uploaded rows"), sizes),
      audit(id, text, checked, key, say)),
    selectionCard(content.selection),
    element("div", { class: "card" }, choices(coverage), memberTable(members, efficiency)),
    element("div", { class: "two" },
      element("div", { class: "card" }, pairs("Coverage", coverage, ["union", "ranks", "rank_weights", "sizes"]),
        dataTable(content)),
      element("div", { class: "card" }, pairs("Size", efficiency, ["size_counts"]),
        pairs("Provenance", { ...provenance, issued_at: moment(content.issued_at), id: content.id,
          predictor_id: content.predictor_id }, ["messages"]))));
}

/** What is known of the rows that were given; nothing of it is on certificates of format 1. */
function dataTable({ data, names }) {
  if (!data) return null;
  const rows = [
    ["data", names?.dataset], ["model", names?.model], ["rows", number(data.rows)],
    ["rows with different inputs", number(data.distinct_rows)],
    ["clusters", `${number(data.clusters)}${data.cluster_column ? ` (${data.cluster_column})` : ""}`],
    ["order of the rows, p-value", data.order_p_value < TINY ? `below ${TINY}` : number(data.order_p_value)],
    ["inputs", data.columns?.join(", ")],
  ];
  return table("Data", [["Name"], ["Value"]], rows.filter(([, value]) => (value ?? "–") !== "–"));
}

/** What a certified mean of widths or volumes leaves out; a number of labels is never cut. */
function cut(efficiency) {
  return efficiency.upper_bound === null || efficiency.measure === "labels" || efficiency.bound === "exact"
    ? "" : ` (sizes above ${atMost(efficiency.cap)} count as ${atMost(efficiency.cap)})`;
}

function audit(id, text, checked, key, say) {
  const rows = checked.checks.map((one) => [one.name, badge(one.ok ? "holds" : "fails", one.ok ? "good" : "bad"),
    show(one.expected), show(one.found)]);
  // One that was issued before the key was replaced is still signed by the old one.
  const signer = checked.signed_by ?? key.public_key;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(signer);
      say("The key was copied.");
    } catch {
      say("The browser does not allow copying: select the key and copy it.");
    }
  };
  const keep = (name) => async () => {
    try {
      save(`${id}.${name}.json`, await getText(`/certificates/${id}/${name}`));
    } catch (error) {
      say(error.message);
    }
  };
  return element("div", { class: "card" }, element("h2", {}, "For the auditor"),
    element("p", {}, "The file has every number from which the promises follow. Check it offline with"),
    element("pre", { class: "scroll", tabindex: "0" },
      element("code", {}, `certiset verify ${id}.json --key ${signer}`)),
    element("p", {}, "with a key that you have from the issuer, and not from this page alone. The attestation can be " +
      "checked with openssl, without this program; the status says, dated and signed, what has become of it."),
    element("p", { class: "row" },
      element("button", { type: "button", onclick: () => save(`${id}.json`, text) }, "Download"),
      element("button", { type: "button", class: "plain", onclick: keep("attestation") }, "Attestation"),
      element("button", { type: "button", class: "plain", onclick: keep("status") }, "Status"),
      element("button", { type: "button", class: "plain", onclick: copy }, "Copy the public key")),
    element("details", { id: "checks" },
      element("summary", {}, `${rows.length} checks, ${rows.filter((_, n) => checked.checks[n].ok).length} hold`),
      table("Recomputed from the certificate's own numbers", [["Check"], ["Result"], ["Expected"], ["Found"]], rows)));
}

/** What the fit looked at before it chose; it calibrates nothing and costs no delta. */
function selectionCard(selection) {
  if (!selection) return null;
  const { compared, revealed, reason, taken } = selection;
  // A candidate that was looked at twice was taken as it was last seen.
  const last = compared.map((one) => one.name).lastIndexOf(taken);
  const rows = [["as given", "–", number(1), taken === "as given" ? "taken" : ""], ...compared.map((one, place) => [
    one.name, number(one.rows), number(one.size, 4), place === last ? "taken" : ""])];
  return element("div", { class: "card", id: "selection" }, element("h2", {}, "How it was chosen"),
    element("p", {}, unbroken(reason)),
    compared.length ? table(`Compared on ${number(revealed)} revealed rows, which calibrate nothing`,
      [["Candidate"], ["Tuned on rows", true], ["Size (as given: 1)", true], [""]], rows,
      (place) => rows[place].at(-1) === "taken") : null,
    compared.length ? element("p", { class: "small soft" }, "Each candidate made sets for rows that it was not tuned " +
      "on. A pull holds parameters at those of the model as given: the larger, the more firmly.") : null);
}

/** Of one candidate there is nothing to say. */
function choices(coverage) {
  if (coverage.union.choices.length < 2) return null;
  const rows = coverage.union.choices.map((name, place) => [name, percent(coverage.union.weights[place]),
    place === coverage.union.taken ? "taken" : ""]);
  return table("Candidates, each with its share of delta", [["Candidate"], ["Share of delta", true], [""]], rows,
    (place) => place === coverage.union.taken);
}

/** Whether members have weights: then each was calibrated on a block of its own, and the promise is for their mean. */
const isPool = (members) => members.some((one) => (one.weight ?? null) !== null);

function memberTable(members, efficiency) {
  const size = `size (${efficiency.measure})`;
  const columns = isPool(members)
    ? [["Member", "member"], ["Served with chance", (one) => percent(one.weight)], ["Tuned on", (one) => number(one.tuned_on)],
      ["Block", (one) => number(one.n)], ["Rank k", (one) => number(one.k)],
      ["Level", (one) => number(one.k / (one.n + 1), 4)], ["Threshold tau", (one) => number(one.tau, 5)],
      [`Measured ${size}`, (one) => number(one.efficiency_bound ?? (one.efficiency_empirical === null ? null
        : efficiency.cap * one.efficiency_empirical), 4)]]
    : [["Member", "member"], ["Rank k", (one) => number(one.k)], ["Threshold tau", (one) => number(one.tau, 5)],
      ["Log-ratio", (one) => number(one.log_ratio, 4)], ["Miscoverage at most", (one) => atMost(one.miscoverage_bound)],
      [`Certified ${size}`, (one) => atMost(one.efficiency_bound)]];
  if (members.some((one) => one.tie !== undefined)) {
    const place = 1 + columns.findIndex(([name]) => name === "Threshold tau");
    columns.splice(place, 0, ["Largest hash of ties", (one) => number(one.tie, 4)]);
  }
  const rows = members.map((one) => columns.map(([, value]) => (value === "member" ? String(one.member) : value(one))));
  const caption = isPool(members) ? "Members: one computes each set, drawn by these chances"
    : "Members: the stored pairs, one of which computes each set";
  const made = table(caption, columns.map(([name]) => [name, true]), rows);
  return rows.length > MANY
    ? element("details", {}, element("summary", {}, `${rows.length} members`), made) : made;
}

function pairs(caption, content, without) {
  const rows = Object.entries(content).filter(([name]) => !without.includes(name)).map(([name, value]) => [
    name.replaceAll("_", " "), show(value)]);
  return table(caption, [["Name"], ["Value"]], rows);
}

function show(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return number(value, 6);
  if (typeof value === "object") {
    const parts = Object.entries(value);
    return parts.some(([, one]) => one !== null && typeof one === "object") ? element("code", {}, JSON.stringify(value))
      : parts.map(([name, one]) => `${name.replaceAll("_", " ")} ${number(one, 6)}`).join(", ");
  }
  return typeof value === "string" && value.length > 24 ? idText(value) : String(value);
}
