"use strict";
const form = document.getElementById("key-form");
const message = document.getElementById("message");
const table = document.getElementById("predictors");

async function ask(path, key) {
  const answer = await fetch(path, { headers: { Authorization: `Bearer ${key}` } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail);
  return body;
}

function row(predictor, certificate) {
  const line = document.createElement("tr");
  for (const text of [predictor.name || predictor.id, predictor.task, predictor.members, certificate.statement]) {
    line.appendChild(document.createElement("td")).textContent = text;
  }
  return line;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const key = form.elements.key.value;
  try {
    const { items } = await ask("/predictors", key);
    const lines = await Promise.all(
      items.map(async (predictor) => row(predictor, await ask(`/certificates/${predictor.certificate_id}`, key))),
    );
    table.tBodies[0].replaceChildren(...lines);
    table.hidden = lines.length === 0;
    message.textContent = lines.length === 0 ? "Nothing is served yet." : "";
  } catch (error) {
    message.textContent = error.message;
  }
});
