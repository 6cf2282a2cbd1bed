/* A heading whose name can be changed where it stands. */
import { post } from "/static/api.js";
import { element } from "/static/dom.js";

export function namedHeading(path, name, id, say) {
  const shown = element("span", {}, name || id);
  const input = element("input", { "aria-label": "New name", maxlength: "200" });
  const edit = element("button", { type: "button", class: "link", onclick: () => open(true) }, "Rename");
  const form = element("form", { class: "row rename", hidden: true, onsubmit: save }, input,
    element("button", {}, "Save"),
    element("button", { type: "button", class: "plain", onclick: () => open(false) }, "Cancel"));

  function open(yes) {
    form.hidden = !yes;
    edit.hidden = yes;
    input.value = shown.textContent;
    if (yes) input.select();
    else edit.focus();
  }

  async function save(event) {
    event.preventDefault();
    try {
      shown.textContent = (await post(path, { name: input.value }, "PATCH")).name;
      say("");
      open(false);
    } catch (error) {
      say(error.message);
    }
  }

  return element("div", { class: "row title" }, element("h1", {}, shown), edit, form);
}
