/* Technical words on the page, with their meanings on hover or focus. */
import { element, unbroken } from "/static/dom.js";
import { GLOSSARY } from "/static/glossary_words.js";

export { GLOSSARY };

/** A sentence in which the first of each technical word has its meaning on hover or focus. */
export function explained(text) {
  const said = new Set();
  const words = Object.keys(GLOSSARY).sort((a, b) => b.length - a.length).map((word) => word.replace("-", "\\-"));
  return unbroken(text).split(new RegExp(`\\b(${words.join("|")})\\b`)).map((part) => {
    if (!GLOSSARY[part] || said.has(part)) return part;
    said.add(part);
    return term(part);
  });
}

/** The word, with its meaning on hover or focus. */
export function term(name, text = name) {
  const meaning = GLOSSARY[name];
  return meaning ? element("span", { class: "term", tabindex: "0", "data-tip": meaning }, text) : text;
}
