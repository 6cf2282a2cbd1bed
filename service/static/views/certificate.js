/* A certificate: what is promised, as a sentence and as a picture, what it rests on, and how to check it. */
import { get, getText } from "/static/api.js";
import { ADVICE } from "/static/advice.js";
import { figureOrReason } from "/static/charts.js";
import { atLeast, atMost, badge, cut, element, idText, link, measured, moment, number, numbers, statusBadge,
  unbroken } from "/static/dom.js";
import { explained, term } from "/static/glossary.js";
import { auditCard } from "/static/views/certificate_audit.js";
import { candidates, groupTable, isPool, memberTable, selectionCard } from "/static/views/certificate_members.js";
import { allNumbers } from "/static/views/certificate_numbers.js";
import { groupFigures } from "/static/views/groups.js";
import { promiseStrip } from "/static/views/promise_strip.js";

const ROWS = { proved: "proved to treat rows one by one", one_by_one: "called for one row at a time" };

export async function certificate(id, { say }) {
  const [text, checked, key] = await Promise.all([
    getText(`/certificates/${id}`), get(`/certificates/${id}/verify`), get("/certificates/key"),
  ]);
  const content = JSON.parse(text);
  const fileHash = await sha256(text);
  const [about, drawings] = await Promise.all([get(`/predictors/${content.predictor_id}`).catch(() => null),
    Promise.all(figuresOf(content).map(async ([title, path]) => element("div", { class: "card screen" },
      element("h2", {}, title), await figureOrReason(path))))]);
  return element("section", { class: density(content) },
    element("h1", {}, about?.name ? `Certificate of ${about.name}` : "Certificate"),
    element("div", { class: "card" }, standing(checked.status),
      element("blockquote", { class: "statement" }, unbroken(content.statement)),
      promiseStrip(content.coverage),
      element("p", { class: "row screen" },
        badge(checked.valid ? "numbers and signature hold" : "NOT valid", checked.valid ? "good" : "bad"),
        statusBadge(checked.status), link(`#/predictors/${content.predictor_id}`, "Try the predictor"),
        link(`#/predictors/${content.predictor_id}/monitor`, "Monitor")),
      keyNumbers(content), sizeSentence(content)),
    caveats(content),
    element("div", { class: "two" }, aboutCard(fileHash, content, checked), assumptionsCard(content)),
    groupTable(content),
    await groupFigures(id, content),
    element("div", { class: "card" }, candidates(content.coverage), memberTable(content)),
    ...auditCard(id, text, checked, key, say),
    element("div", { class: "two screen" }, drawings),
    selectionCard(content.selection), allNumbers(content));
}

/** How small letters must be on paper, so that all is on one page. */
function density({ groups, members, caveats: found = [], coverage, assumptions }) {
  const lines = Math.min(groups?.length ?? 0, 10) + Math.min(members.length, 8) + 3 * found.length
    + coverage.union.choices.length + assumptions.length;
  return lines > 27 ? "certificate densest" : lines > 17 ? "certificate dense" : "certificate";
}

/** Of groups with thresholds of their own there are others; one member by itself makes no picture. */
function figuresOf({ id, groups, members, predictor_id }) {
  if (groups?.length) return [];
  return [[isPool(members) ? "Room below delta, and the chosen ranks" : "KL budget, and the chosen point",
    `/certificates/${id}/figures/budget`],
  ...(members.length > 1 ? [["Members", `/certificates/${id}/figures/members`]] : []),
  ["Set sizes on the uploaded rows", `/predictors/${predictor_id}/figures/sizes`]];
}

function standing(status) {
  if (status === "contradicted") {
    return element("p", { class: "warning" },
      "Outcomes contradict this certificate. Do not rely on it: find out what has " +
      "changed, and recalibrate on new data.");
  }
  return status === "withdrawn" ? element("p", { class: "warning" },
    "The predictor of this certificate was deleted, and " +
    "is no longer served.") : null;
}

function keyNumbers({ coverage, efficiency, provenance, groups }) {
  return numbers([
    [term("coverage", "covers at least"), atLeast(1 - coverage.pool_miscoverage_bound)],
    [term("confidence", "with confidence"), atLeast(1 - coverage.delta - coverage.pool_delta)],
    [term("calibration rows", "rows that calibrate"), number(coverage.n)],
    [term("tuned on", "rows that tune"), number(provenance.n_tune)],
    [term("measured size", `measured size (${efficiency.measure})`), measured(efficiency.empirical)],
    [term("certified size", `certified size${efficiency.upper_bound === null ? "" : cut(efficiency)}`),
      efficiency.upper_bound === null ? groups?.length ? "by group" : "none"
      : `≤ ${atMost(efficiency.upper_bound)}`],
  ]);
}

const sizeSentence = (content) => (content.size_statement ? element("p", {}, unbroken(content.size_statement)) : null);

/** In amber, each with what to do; the account of attempts is among them once there were more than planned. */
function caveats({ caveats: found = [], account, provenance }) {
  const many = account && account.attempt > account.family;
  const all = found.map((one) => element("li", { class: "caveat" }, element("strong", {}, "Caveat: "), explained(one.message), " ",
    ADVICE[one.code] ? element("em", {}, `What to do: ${ADVICE[one.code]}`) : null));
  if (many) {
    all.push(element("li", { class: "caveat" }, element("strong", {}, "Caveat: "), unbroken(account.statement), " ",
      element("em", {}, `What to do: ${ADVICE.attempts}`)));
  }
  const notes = [account && !many ? account.statement : null, ...provenance.messages].filter(Boolean);
  if (!all.length && !notes.length) return null;
  return element("div", { class: "card" }, all.length ? element("h2", {}, term("caveat", "Caveats")) : null,
    element("ul", { class: "caveats" }, all), notes.map((note) => element("p", { class: "small soft" }, explained(note))));
}

function aboutCard(fileHash, { names = {}, data, model, provenance, coverage, issued_at, id, predictor_id }, checked) {
  const rows = [
    ["Model", [names.model ?? "–",
      model ? `, ${ROWS[model.rows] ?? model.rows}` : ""]],
    ["Data", [names.dataset ?? "–",
      data ? `, ${number(data.rows)} rows${data.clusters ? ` in ${number(data.clusters)} clusters` : ""}` : ""]],
    ["Made by", [term("method", `method ${provenance.method}`), ", ", term("score", `score ${provenance.score}`), ", ",
      term("guarantee", `guarantee ${coverage.guarantee}`)]],
    ["Issued", [`${moment(issued_at)}${names.issuer ? ` by ${names.issuer}` : ""}`]],
    ["Key", [idText(names.key_id ?? checked.signed_by ?? "–")]],
    ["Predictor", [idText(predictor_id)]],
    ["Certificate", [idText(id)]],
    ["Data file", [idText(short(provenance.dataset_sha256))]],
    ["Model weights", [idText(short(provenance.model_sha256))]],
    ["This file", [fileHash ? idText(short(fileHash)) : "–"]],
  ];
  return element("div", { class: "card" }, element("h2", {}, "What it is about"),
    element("dl", { class: "pairs" }, rows.map(([name, parts]) =>
      [element("dt", {}, name), element("dd", {}, parts)]).flat()));
}

/** Of the certificate's file, as sha256sum says it and the report has it; browsers compute it only on safe connections. */
async function sha256(text) {
  if (!crypto.subtle) return null;
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const short = (hash) => `sha256 ${hash.slice(0, 16)}…`;

function assumptionsCard({ assumptions }) {
  return element("div", { class: "card" }, element("h2", {}, "It holds if"),
    element("ul", { class: "plain" }, assumptions.map((one) => element("li", {}, one))));
}
