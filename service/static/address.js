/* The state of a view in the address, so that a link shows what its sender saw. */

/** "#/compare?ids=a,b" as its path and its parameters. */
export function readAddress() {
  const [path, query = ""] = (location.hash.slice(1) || "/").split("?");
  return { path, query: new URLSearchParams(query) };
}

/** Changes parameters without leaving the view; an empty value removes one. */
export function keepInAddress(changes) {
  const { path, query } = readAddress();
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  history.replaceState(null, "", `#${path}${text ? `?${text}` : ""}`);
}
