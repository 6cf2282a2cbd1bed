/* For the auditor: the files to take along, and every check in words. */
import { getFile, getText } from "/static/api.js";
import { badge, element, idText, number, saveFile, table } from "/static/dom.js";
import { groupedChecks } from "/static/checks_words.js";

export function auditCard(id, text, checked, key, say) {
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
  const keep = (fetched, name, type) => async () => {
    try {
      saveFile(`${id}.${name}`, await fetched(), type);
    } catch (error) {
      say(error.message);
    }
  };
  const good = checked.checks.filter((one) => one.ok).length;
  const plain = { type: "button", class: "plain" };
  return [printed(id, checked.checks.length, good), element("div", { class: "card screen" },
    element("h2", {}, "For the auditor"),
    element("p", {}, "The file has every number from which the promises follow. Check it offline with"),
    element("pre", { class: "scroll", tabindex: "0" }, element("code", {},
      `certiset verify ${id}.json --key ${signer}`)),
    element("p", {}, "with a key that you have from the issuer, and not from this page alone. The attestation can be " +
      "checked with openssl, without this program; the status says, dated and signed, what has become of it."),
    element("p", { class: "row" },
      element("button", { type: "button", onclick: () => saveFile(`${id}.json`, text) }, "Download"),
      element("button", { ...plain, onclick: keep(() => getFile(`/certificates/${id}/report.pdf`), "pdf",
        "application/pdf") }, "Report (PDF)"),
      element("button", { ...plain, onclick: () => print() }, "Print"),
      element("button", { ...plain, onclick: keep(() => getText(`/certificates/${id}/attestation`),
        "attestation.json") }, "Attestation"),
      element("button", { ...plain, onclick: keep(() => getText(`/certificates/${id}/status`), "status.json") },
        "Status"),
      element("button", { ...plain, onclick: copy }, "Copy the public key")),
    element("div", { id: "checks" }, element("h3", {}, `${checked.checks.length} checks, ${good} hold`),
      groupedChecks(checked.checks).map(accordion)))];
}

/** On paper, in place of the buttons. */
const printed = (id, made, good) => element("div", { class: "card print-only" }, element("h2", {}, "How to check it"),
  element("p", {}, `${number(good)} of ${number(made)} checks hold, recomputed when this page was printed. Ask the issuer for ` +
    `the file ${id}.json and for the public key, and run: certiset verify ${id}.json --key KEY. The hash of this file ` +
    "above is the beginning of its SHA-256."));

function accordion({ title, meaning, checks }) {
  const failing = checks.filter((one) => !one.ok).length;
  const rows = checks.map((one) => [one.name, badge(one.ok ? "holds" : "fails", one.ok ? "good" : "bad"),
    show(one.expected), show(one.found)]);
  return element("details", { class: "check", open: failing > 0 },
    element("summary", {}, `${title} `, badge(failing ? `${failing} fail` : `${checks.length} hold`,
      failing ? "bad" : "good")),
    element("p", {}, meaning),
    table(`${title}, recomputed from the certificate's own numbers`, [["Check"], ["Result"], ["Expected"], ["Found"]], rows));
}

export function show(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return number(value, 6);
  if (typeof value === "object") {
    const parts = Object.entries(value);
    return parts.some(([, one]) => one !== null && typeof one === "object") ? element("code", {}, JSON.stringify(value))
      : parts.map(([name, one]) => `${name.replaceAll("_", " ")} ${number(one, 6)}`).join(", ");
  }
  return typeof value === "string" && value.length > 24 ? idText(value) : String(value);
}
