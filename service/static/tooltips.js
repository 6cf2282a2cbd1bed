/* One tooltip for the whole page: whatever has data-tip shows it, by pointer or by keyboard; Escape hides it. */
import { element } from "/static/dom.js";

const MARGIN = 8;
const tip = element("div", { id: "tooltip", role: "tooltip", hidden: true });
// Within a landmark, as all content should be.
document.querySelector("header").append(tip);
let owner = null;

/** Shows text beside a place on the screen, within the window. */
export function showTip(text, { left, top, bottom }) {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const above = top - height - MARGIN;
  const x = Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN));
  tip.style.left = `${x}px`;
  tip.style.top = `${above > MARGIN ? above : bottom + MARGIN}px`;
}

export function hideTip() {
  tip.hidden = true;
  owner?.removeAttribute("aria-describedby");
  owner = null;
}

function open(event) {
  const found = event.target.closest?.("[data-tip]");
  if (!found || found === owner) return;
  hideTip();
  owner = found;
  showTip(found.dataset.tip, found.getBoundingClientRect());
  if (!found.hasAttribute("aria-describedby")) found.setAttribute("aria-describedby", "tooltip");
}

function close(event) {
  if (owner && !owner.contains(event.relatedTarget)) hideTip();
}

document.addEventListener("pointerover", open);
document.addEventListener("pointerout", close);
document.addEventListener("focusin", open);
document.addEventListener("focusout", close);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});
addEventListener("scroll", hideTip, { passive: true, capture: true });
addEventListener("hashchange", hideTip);
