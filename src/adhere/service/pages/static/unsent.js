// Taps whose answer does not come are kept on this device and sent again under the same key, until they are answered.
// They are kept for whoever made them, and forgotten once answered and at sign-out (pages.js). An answer replaces no
// page about another subject, and none on which something is being typed: it is listed there. A refusal stays listed
// until it is dismissed.
"use strict";
(() => {
  const STORE = "adhere-unsent", ANSWER_WITHIN = 15000, AGAIN_AFTER = 10000;
  const GONE_WRONG = new Set([408, 425, 429, 500, 502, 503, 504]); // nothing was said about the request itself
  const SIGN_IN_AGAIN = new Set([401, 403]); // the session has ended: kept until one signs in again
  const TYPED = "textarea, input:not([type=radio], [type=checkbox])";
  const DELETE = "Delete what was not sent? If only the answer was lost, it is recorded already: look at the subject’s page afterwards.";
  const banner = document.getElementById("unsent");
  const meta = (name) => document.querySelector(`meta[name="${name}"]`).content;
  function all() {
    try {
      return JSON.parse(localStorage.getItem(STORE) ?? "[]");
    } catch { // not written by this script
      localStorage.removeItem(STORE);
      return [];
    }
  }
  const own = () => all().filter((tap) => tap.holder === banner.dataset.holder);
  const save = (taps) => (taps.length ? localStorage.setItem(STORE, JSON.stringify(taps)) : localStorage.removeItem(STORE));
  const keep = (tap) => save([...all().filter((one) => one.key !== tap.key), tap]);
  const forget = (key) => save(all().filter((tap) => tap.key !== key));
  let ahead = null; // by how much this device's clock is ahead of the service's, in milliseconds
  let sending = false;
  const recorded = []; // answered while this page stays

  fetch(`${meta("root")}/healthz`, { cache: "no-store" })
    .then((answer) => { ahead = Date.now() - Date.parse(answer.headers.get("date")); })
    .catch(() => {});

  function element(name, text, more = {}) {
    return Object.assign(document.createElement(name), { textContent: text }, more);
  }

  function button(text, act) {
    const made = element("button", text, { type: "button", className: "second" });
    made.addEventListener("click", act);
    return made;
  }

  function line(tap, said = "", ...more) {
    const made = element("li", `${tap.what}, ${new Date(tap.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}${said} `);
    made.append(...more);
    return made;
  }

  // A link to the page of a tap's recommendation, or to the search for a code that got none.
  function linkTo(tap) {
    const subject = new URLSearchParams(tap.body).get("subject");
    return tap.action.endsWith("/site")
      ? element("a", "Find this code", { href: `${tap.action}?subject=${encodeURIComponent(subject)}#find` })
      : element("a", "Open the subject’s page", { href: tap.action.replace(/\/[^/]*$/, "") });
  }

  function show(problem = "", ended = false) {
    const taps = own(), waiting = taps.filter((tap) => !tap.refused), refused = taps.filter((tap) => tap.refused);
    for (const form of document.querySelectorAll("form[data-unsent]")) {
      const waits = waiting.some((tap) => tap.key === form.elements.key.value);
      for (const one of form.querySelectorAll("button")) one.disabled = waits;
    }
    banner.hidden = !taps.length && !recorded.length;
    banner.replaceChildren();
    const part = (title, lines, ...more) => {
      if (!lines.length) return;
      const list = document.createElement("ul");
      list.append(...lines);
      banner.append(element("h2", title), list, ...more);
    };
    part("Recorded", recorded.map((tap) => line(tap, ": recorded.", element("a", "Show it", { href: tap.to }))));
    part("Not recorded", refused.map((tap) => line(
      tap, `: ${tap.refused}`, linkTo(tap), button("Dismiss", () => { forget(tap.key); show(); }),
    )));
    const signIn = element("a", "Sign in", { className: "button", href: `${meta("root")}/app/sign-in?next=${encodeURIComponent(location.pathname)}` });
    part(
      "Not sent yet", waiting.map((tap) => line(tap)),
      element("p", problem || "It is kept on this device and sent when the connection is back, once. Signing out deletes it."),
      ended ? signIn : button("Send now", sendAll),
      button("Delete", () => { if (confirm(DELETE)) { release(waiting); waiting.forEach((tap) => forget(tap.key)); show(); } }),
    );
  }

  async function send(tap) {
    const body = new URLSearchParams(tap.body);
    body.set("csrf", meta("csrf"));
    const answer = await fetch(tap.action, {
      method: "POST", body, headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(ANSWER_WITHIN),
    });
    if (GONE_WRONG.has(answer.status)) throw new Error(`the service answered ${answer.status}`);
    return { status: answer.status, to: answer.headers.get("hx-redirect"), html: await answer.text() };
  }

  async function sendAll() {
    if (sending) return;
    sending = true;
    const answered = [];
    const next = () => own().find((tap) => !tap.refused);
    let isLost = false, ended = false;
    try {
      for (let tap = next(); tap && !ended; tap = next()) {
        const answer = await send(tap);
        ended = SIGN_IN_AGAIN.has(answer.status);
        if (ended) break;
        answered.push({ ...tap, to: answer.to });
        forget(tap.key);
        if (answer.to) continue;
        if (isHere(tap) && !isTyped(answered)) {
          recorded.push(...answered.filter((one) => one.to));
          return refuse(answer.html);
        }
        keep({ ...tap, refused: sentenceOf(answer.html) });
      }
    } catch {
      isLost = true;
    } finally {
      sending = false;
    }
    const sent = answered.filter((tap) => tap.to);
    if (!isLost && !ended && isAboutOne(sent) && !isTyped(answered)) return location.assign(sent.at(-1).to);
    recorded.push(...sent);
    release(answered);
    show(ended ? "Your session has ended. Sign in again, and it is sent." : "", ended);
  }

  // The form that a tap was made with, if this page has it; whether this page is about the same subject.
  const formOf = (tap) => [...document.querySelectorAll("form[data-unsent]")].find((form) => form.elements.key.value === tap.key);
  const isHere = (tap) => Boolean(formOf(tap)) || tap.action.startsWith(`${location.pathname}/`);

  // Whether these taps are about one recommendation, and this page is about no other.
  function isAboutOne(taps) {
    const pages = new Set(taps.map((tap) => tap.to.split("?")[0]));
    return pages.size === 1 && (isHere(taps[0]) || location.pathname.endsWith("/site"));
  }

  // Whether something is being typed or chosen here that was not in these taps, and would be gone with the page.
  function isTyped(taps) {
    const forms = new Map(taps.map((tap) => [formOf(tap), tap]));
    return [...document.querySelectorAll("main input:not([type=hidden]), main textarea, main select")].some((field) => {
      const tap = forms.get(field.form);
      return (tap ? !isUnchanged(field.form, tap) : isChanged(field)) || (field === document.activeElement && field.matches(TYPED));
    });
  }
  function isUnchanged(form, tap) {
    const body = new URLSearchParams(tap.body);
    return [...new FormData(form)].every(([name, value]) => name === "csrf" || body.getAll(name).includes(value));
  }
  function isChanged(field) {
    if (field.options) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((one) => one.defaultSelected));
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  }

  // What is sent next with the forms of these taps is another request, with another key.
  function release(taps) {
    for (const tap of taps) {
      const form = formOf(tap);
      if (!form) continue;
      if (tap.to && isUnchanged(form, tap)) form.reset();
      form.elements.key.value = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    }
  }

  function sentenceOf(html) {
    const answer = new DOMParser().parseFromString(html, "text/html");
    const said = [...answer.querySelectorAll('[role="alert"]')].map((one) => one.textContent.trim().replace(/\s+/g, " "));
    return said.join(" ") || "The service refused it.";
  }

  // The page with what is wrong, or a question; or only the sentence.
  function refuse(html) {
    const answer = new DOMParser().parseFromString(html, "text/html");
    const main = answer.querySelector("main");
    const shown = document.querySelector("main");
    if (main) shown.replaceWith(main);
    else shown.prepend(...answer.body.childNodes);
    const now = main ?? shown;
    const place = now.querySelector("#unsent");
    if (main && place) place.replaceWith(banner);
    now.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
    show();
    (now.querySelector('[aria-invalid="true"]') ?? now).focus();
    now.querySelector('[role="alert"]')?.scrollIntoView({ block: "center" });
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("[data-unsent]") || event.defaultPrevented) return;
    if (form.noValidate && !form.checkValidity()) { // incomplete: it is not kept, and the answer says all that is missing
      if (navigator.onLine) return;
      event.preventDefault();
      form.reportValidity();
      return;
    }
    const fields = new FormData(form, event.submitter);
    const at = new Date();
    if ("happened" in form.dataset && ahead !== null) fields.set("happened", new Date(at - ahead).toISOString());
    fields.delete("csrf");
    const what = form.dataset.unsent.replace("{subject}", fields.get("subject") ?? "");
    const choice = event.submitter?.classList.contains("big") && event.submitter.name ? `: ${event.submitter.textContent.trim()}` : "";
    try {
      keep({
        key: fields.get("key"), holder: banner.dataset.holder, action: form.getAttribute("action"), what: what + choice,
        at: at.toISOString(), body: new URLSearchParams(fields).toString(),
      });
    } catch {
      return; // this device keeps nothing: the browser sends it, once
    }
    event.preventDefault();
    for (const one of form.querySelectorAll("button")) one.disabled = true;
    document.activeElement.blur(); // a field that has the focus from now on is being typed into
    sendAll();
  });

  addEventListener("online", sendAll);
  setInterval(() => { if (own().some((tap) => !tap.refused)) sendAll(); }, AGAIN_AFTER);
  show();
  sendAll();
})();
