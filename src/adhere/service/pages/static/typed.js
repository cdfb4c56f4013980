// What was typed into a form is not lost if the session has ended meanwhile: it is there again after the next sign-in.
// It is kept in this tab until then, for the same person, and for no form that asks browsers to remember nothing.
"use strict";
(() => {
  const STORE = "adhere-typed";
  const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;
  const kept = JSON.parse(sessionStorage.getItem(STORE) ?? "null");
  const back = document.querySelector("[data-session-ended]");

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== "post" || form.matches('.who, [autocomplete="off"], [hx-post]')) return;
    const fields = [...new FormData(form)].filter(([name, value]) => !["csrf", "key"].includes(name) && typeof value === "string");
    const typed = { holder: meta("holder"), page: meta("page"), action: form.getAttribute("action"), fields };
    sessionStorage.setItem(STORE, JSON.stringify(typed));
  });

  function fill(form) {
    for (const one of form.elements) if (["checkbox", "radio"].includes(one.type)) one.checked = false;
    for (const [name, value] of kept.fields) {
      const found = form.elements[name];
      const one = found instanceof RadioNodeList ? [...found].find((other) => other.value === value) : found;
      if (!one || one.type === "hidden") continue;
      if (["checkbox", "radio"].includes(one.type)) one.checked = true;
      else one.value = value;
      for (let box = one.closest("details"); box; box = box.parentElement.closest("details")) if (value) box.open = true;
    }
    const note = Object.assign(document.createElement("p"), { className: "note", textContent: "What you had typed is here again. It was not sent." });
    note.setAttribute("role", "status");
    form.prepend(note);
  }

  if (back && kept?.page) { // the page that says so
    sessionStorage.setItem(STORE, JSON.stringify({ ...kept, ended: true }));
    back.href = meta("holder") ? kept.page : `${back.href}?next=${encodeURIComponent(kept.page)}`;
    back.after(" What you typed is kept in this tab until then.");
  } else if (kept && meta("holder")) { // not on the way through the sign-in
    sessionStorage.removeItem(STORE);
    if (!kept.ended || kept.holder !== meta("holder") || kept.page !== meta("page")) return;
    const of = (form) => form.getAttribute("action") === kept.action && kept.fields.every(([name]) => name in form.elements);
    const form = [...document.forms].find(of);
    if (form) fill(form);
  }
})();
