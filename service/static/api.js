/* Talks to the service with the key of this tab. */
const STORED = "certiset-key";

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `The service answered ${status}.`);
    this.status = status;
    this.errors = body.errors || [];
  }
}

/** A link such as /#key=… passes a key; it is kept for this tab and removed from the address. */
export function takeKeyFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (given) {
    sessionStorage.setItem(STORED, given);
    history.replaceState(null, "", "#/");
  }
}

export const key = () => sessionStorage.getItem(STORED);
export const rememberKey = (value) => sessionStorage.setItem(STORED, value);
export const forgetKey = () => sessionStorage.removeItem(STORED);

async function send(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { Authorization: `Bearer ${key()}`, ...options.headers } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The service does not answer: is it running?" });
  }
  if (answer.ok) return answer;
  let body = {};
  try {
    body = await answer.json();
  } catch { /* a proxy's error need not be JSON */ }
  throw new Problem(answer.status, body);
}

export const get = async (path) => (await send(path)).json();
export const getText = async (path) => (await send(path)).text();
export const getFile = async (path) => (await send(path)).blob();

export async function post(path, body, method = "POST") {
  const form = body instanceof FormData;
  const options = { method, body: form ? body : JSON.stringify(body ?? {}) };
  if (!form) options.headers = { "Content-Type": "application/json" };
  return (await send(path, options)).json();
}

export async function remove(path) {
  await send(path, { method: "DELETE" });
}

/** All items of a list, page by page, up to a few hundred. */
export async function list(path, most = 200) {
  const items = [];
  let cursor = null;
  do {
    const join = path.includes("?") ? "&" : "?";
    const page = await get(`${path}${join}limit=50${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && items.length < most);
  return items;
}

/** Server-sent events by fetch, since EventSource cannot send a key; reconnects after a break and resumes where it was. */
export async function watch(path, onEvent, signal, say) {
  let last = null;
  for (;;) {
    try {
      const headers = last === null ? {} : { "Last-Event-ID": last };
      const reader = (await send(path, { headers, signal })).body.pipeThrough(new TextDecoderStream()).getReader();
      say("");
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop();
        for (const part of parts) {
          const fields = Object.fromEntries(
            part.split("\n").filter((line) => line && !line.startsWith(":")).map((line) => {
              const at = line.indexOf(": ");
              return [line.slice(0, at), line.slice(at + 2)];
            }),
          );
          if (!fields.event) continue;
          last = fields.id;
          onEvent(fields.event, JSON.parse(fields.data));
          if (fields.event === "done") return;
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && error.status >= 400 && error.status < 500) throw error;
      say("Connection lost; reconnecting.");
    }
    await new Promise((go) => setTimeout(go, 1500));
    if (signal.aborted) return;
  }
}
