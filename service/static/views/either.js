/* Two ways to choose something: an existing one, or a new one. */
import { element } from "/static/dom.js";

export function either(legend, name, known, existing, fresh) {
  const hasKnown = known.length > 0;
  const radios = [["known", "an existing one"], ["new", "a new one"]].map(([value, text]) => {
    const radio = element("input", { type: "radio", name, value, checked: (value === "known") === hasKnown,
      disabled: value === "known" && !hasKnown, onchange: () => show() });
    return element("label", {}, radio, ` ${text} `);
  });
  const chosen = () => radios.map((one) => one.querySelector("input")).find((one) => one.checked).value;
  const show = () => {
    existing.hidden = chosen() !== "known";
    fresh.hidden = chosen() !== "new";
  };
  show();
  return { chosen, part: element("fieldset", {}, element("legend", {}, legend), element("p", { class: "row" }, radios),
    existing, fresh) };
}
