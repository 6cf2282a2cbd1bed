/* Which view the address asks for, and what all views have in common. */
import { Problem, forgetKey, key, rememberKey, get, takeKeyFromAddress } from "/static/api.js";
import { readAddress } from "/static/address.js";
import { element, field } from "/static/dom.js";
import "/static/tooltips.js";
import { overview } from "/static/views/overview.js";
import { compare } from "/static/views/compare.js";
import { account } from "/static/views/account.js";
import { dataset, datasets } from "/static/views/datasets.js";
import { deployment, deployments } from "/static/views/deployments.js";
import { model, models } from "/static/views/models.js";
import { newCalibration } from "/static/views/new.js";
import { calibration } from "/static/views/calibration.js";
import { certificate } from "/static/views/certificate.js";
import { predictor } from "/static/views/predictor.js";
import { monitor } from "/static/views/monitor.js";

const ROUTES = [
  [/^\/?$/, overview],
  [/^\/compare$/, compare],
  [/^\/new$/, newCalibration],
  [/^\/account$/, account],
  [/^\/datasets$/, datasets],
  [/^\/datasets\/([\w-]+)$/, dataset],
  [/^\/deployments$/, deployments],
  [/^\/deployments\/([\w.-]+)$/, deployment],
  [/^\/models$/, models],
  [/^\/models\/([\w-]+)$/, model],
  [/^\/calibrations\/([\w-]+)$/, calibration],
  [/^\/certificates\/([\w-]+)$/, certificate],
  [/^\/predictors\/([\w-]+)$/, predictor],
  [/^\/predictors\/([\w-]+)\/monitor$/, monitor],
];
/** What is reached from there. */
const OF_THE_OVERVIEW = /^\/(compare|calibrations|certificates|predictors)\b/;
const main = document.getElementById("main");
const message = document.getElementById("message");
const leave = document.getElementById("leave");
let current = new AbortController();
let arrived = true;

export function say(text) {
  message.textContent = text;
}

async function show() {
  const { path, query } = readAddress();
  if (path === "main") return;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  say("");
  leave.hidden = !key();
  for (const item of document.querySelectorAll("nav a")) {
    const place = item.getAttribute("href").slice(1);
    if (place === path) item.setAttribute("aria-current", "page");
    else if (path.startsWith(`${place}/`) || (place === "/" && OF_THE_OVERVIEW.test(path))) {
      item.setAttribute("aria-current", "true");
    } else item.removeAttribute("aria-current");
  }
  if (!key()) {
    place(askForKey());
    return;
  }
  const found = ROUTES.map(([pattern, view]) => [pattern.exec(path), view]).find(([match]) => match);
  if (!found) {
    place(element("section", {}, element("h1", {}, "Page not found"), element("a", { href: "#/" }, "Overview")));
    return;
  }
  main.setAttribute("aria-busy", "true");
  try {
    const made = await found[1](...found[0].slice(1), { signal, say, query, again: show });
    if (!signal.aborted) place(made);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Problem && error.status === 401) {
      forgetKey();
      place(askForKey());
      say("Unknown API key.");
      return;
    }
    place(element("section", {}, element("h1", {}, "This page cannot be shown"),
      element("p", {}, element("button", { type: "button", onclick: show }, "Try again"))));
    say(error.message);
  } finally {
    main.removeAttribute("aria-busy");
  }
}

function place(view) {
  main.replaceChildren(view);
  const heading = view.querySelector("h1");
  if (heading) {
    heading.tabIndex = -1;
    document.title = `${heading.textContent} · certiset`;
    // After a link, focus moves to the new heading; on the first page it stays at the top, as usual.
    if (!arrived) heading.focus({ preventScroll: true });
    arrived = false;
    scrollTo(0, 0);
  }
}

function askForKey() {
  const input = element("input", { type: "password", autocomplete: "off", required: true, name: "key" });
  const hint = "It was printed when the service first started, and is saved in the file var/key.";
  const submit = async (event) => {
    event.preventDefault();
    rememberKey(input.value.trim());
    try {
      await get("/predictors?limit=1");
      show();
    } catch (error) {
      forgetKey();
      say(error.status === 401 ? "Unknown API key." : error.message);
    }
  };
  return element("form", { class: "card", onsubmit: submit },
    element("h1", {}, "Prediction sets with certificates"),
    element("p", {}, "Sets that contain the truth with a promised probability, small enough to act on, each with a " +
      "certificate that can be checked."),
    field("API key", input, hint), element("p", {}, element("button", {}, "Open")));
}

leave.addEventListener("click", () => {
  forgetKey();
  show();
});
addEventListener("hashchange", () => {
  takeKeyFromAddress();
  show();
});
takeKeyFromAddress();
show();
