// Taps whose answer does not come are kept on this device and sent again under the same key, until they are answered.
// They are kept for whoever made them, and forgotten once answered and at sign-out (pages.js).
"use strict";
(() => {
  const STORE = "adhere-unsent", ANSWER_WITHIN = 15000, AGAIN_AFTER = 10000;
  const GONE_WRONG = new Set([408, 425, 429, 500, 502, 503, 504]); // nothing was said about the request itself
  const SIGN_IN_AGAIN = new Set([401, 403]); // the session has ended: kept until one signs in again
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

  fetch(`${meta("root")}/healthz`, { cache: "no-store" })
    .then((answer) => { ahead = Date.now() - Date.parse(answer.headers.get("date")); })
    .catch(() => {});

  function element(name, text, more = {}) {
    return Object.assign(document.createElement(name), { textContent: text }, more);
  }

  function show(problem = "", ended = false) {
    const taps = own();
    banner.hidden = !taps.length;
    banner.replaceChildren();
    for (const form of document.querySelectorAll("form[data-unsent]")) {
      const waits = taps.some((tap) => tap.key === form.elements.key.value);
      for (const button of form.querySelectorAll("button")) button.disabled = waits;
    }
    if (!taps.length) return;
    const list = document.createElement("ul");
    for (const tap of taps) {
      const line = element("li", `${tap.what}, ${new Date(tap.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`);
      list.append(line);
    }
    const now = element("button", "Send now", { type: "button", className: "second" });
    now.addEventListener("click", sendAll);
    const never = element("button", "Delete", { type: "button", className: "second" });
    never.addEventListener("click", () => { if (confirm("Delete what was not sent?")) { taps.forEach((tap) => forget(tap.key)); show(); } });
    const signIn = element("a", "Sign in", { className: "button", href: `${meta("root")}/app/sign-in?next=${encodeURIComponent(location.pathname)}` });
    banner.append(
      element("h2", "Not sent yet"), list,
      element("p", problem || "It is kept on this device and sent when the connection is back, once. Signing out deletes it."), ended ? signIn : now, never,
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
    let to = null;
    const sent = new Set();
    try {
      for (let [tap] = own(); tap; [tap] = own()) {
        const answer = await send(tap);
        if (SIGN_IN_AGAIN.has(answer.status)) return show("Your session has ended. Sign in again, and it is sent.", true);
        forget(tap.key);
        sent.add(tap.key);
        if (!answer.to) return refused(answer.html);
        to = answer.to;
      }
    } catch {
      return show();
    } finally {
      sending = false;
    }
    if (to && !isTypedOutside(sent)) location.assign(to);
    else if (to) showSent(to);
  }

  // Whether something is typed in forms other than those that were sent, and would be gone with the page.
  function isTypedOutside(sent) {
    const typed = [...document.querySelectorAll("main input:not([type=hidden]), main textarea")];
    return typed.some((field) => field.value !== field.defaultValue && !sent.has(field.form?.elements.key?.value));
  }

  function showSent(to) {
    banner.hidden = false;
    banner.replaceChildren(
      element("h2", "Sent"), element("p", "What was kept here is recorded now. This page stays, since you are typing."),
      element("a", "Show it", { className: "button second", href: to }),
    );
  }

  // The page with what is wrong, or a question; or only the sentence.
  function refused(html) {
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
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    sendAll();
  });

  addEventListener("online", sendAll);
  setInterval(() => { if (own().length) sendAll(); }, AGAIN_AFTER);
  show();
  if (own().length) sendAll();
})();
