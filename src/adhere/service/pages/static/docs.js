"use strict";
// Tries requests from the page. Only to this service: the page's policy allows no other address.
const token = document.getElementById("token");
token.form.addEventListener("submit", (event) => event.preventDefault());

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID() is missing on plain HTTP
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function requestOf(form) {
  const headers = {};
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const input of form.querySelectorAll("[data-in]")) {
    if (input.dataset.in === "path") path = path.replace(`{${input.name}}`, encodeURIComponent(input.value));
    if (input.dataset.in === "query") query.set(input.name, input.value);
    if (input.dataset.in === "header") headers[input.name] = input.value || newKey();
  }
  if (token.value.trim()) headers.Authorization = `Bearer ${token.value.trim()}`;
  const options = { method: form.dataset.method, headers, cache: "no-store" };
  if (form.elements.body) {
    headers["Content-Type"] = "application/json";
    options.body = form.elements.body.value;
  }
  return [`.${path}${query.size ? `?${query}` : ""}`, options];
}

async function textOf(response) {
  const type = response.headers.get("Content-Type") || "";
  if (type.includes("parquet")) return `${(await response.blob()).size} bytes of Parquet`;
  const text = await response.text();
  return type.includes("json") && !type.includes("ndjson") ? JSON.stringify(JSON.parse(text), null, 2) : text;
}

for (const form of document.querySelectorAll("form[data-method]")) {
  const answer = form.querySelector(".answer");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    answer.hidden = false;
    answer.textContent = "…";
    try {
      const response = await fetch(...requestOf(form));
      answer.textContent = `${response.status} ${response.statusText}\n${await textOf(response)}`;
    } catch (error) {
      answer.textContent = `no answer: ${error.message}`;
    }
  });
}

// A link to an operation or object opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
addEventListener("hashchange", openTarget);
openTarget();
