// What every page does: forms of htmx carry the session's secret, times are shown in the reader's own zone.
"use strict";
(() => {
  const csrf = document.querySelector('meta[name="csrf"]').content;
  document.addEventListener("htmx:configRequest", (event) => {
    if (csrf) event.detail.headers["X-CSRF-Token"] = csrf;
  });
  const format = new Intl.DateTimeFormat(undefined, {
    year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short",
  });
  function showTimes(root) {
    for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
      time.textContent = format.format(new Date(time.dateTime));
      time.dataset.local = "";
    }
  }
  // What cannot be undone is asked about first.
  document.addEventListener("click", (event) => {
    const question = event.target.closest("[data-confirm]")?.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });
  // A form is sent once, however often its button is clicked; those of the site page and of htmx see to it themselves.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.matches("[data-unsent], [hx-post]")) return;
    if ("sent" in form.dataset) event.preventDefault();
    else form.dataset.sent = "";
  });
  addEventListener("pageshow", () => { for (const form of document.forms) delete form.dataset.sent; });
  // Nothing that one typed stays on the device once one signs out: one's taps that were not sent (unsent.js) are
  // deleted. Those of somebody else wait for them.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".who")) return;
    const question = "What was not sent yet is deleted when you sign out. Sign out?";
    const holder = document.querySelector('meta[name="holder"]').content;
    const kept = JSON.parse(localStorage.getItem("adhere-unsent") ?? "[]");
    const others = kept.filter((tap) => tap.holder !== holder);
    if (others.length < kept.length && !confirm(question)) {
      event.preventDefault();
      delete event.target.dataset.sent;
    }
    else if (others.length) localStorage.setItem("adhere-unsent", JSON.stringify(others));
    else localStorage.removeItem("adhere-unsent");
  });
  // The tabs of a trial scroll sideways on a phone: show the one of this page.
  const tabs = document.querySelector(".tabs"), tab = tabs?.querySelector("[aria-current]");
  if (tab) tabs.scrollLeft = tab.offsetLeft - tabs.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2;
  // What is shown once is gone when one leaves the page, comes back to it or loads it again, and nothing is sent anew.
  const once = document.querySelector("[data-shown-once]");
  if (once) {
    history.replaceState(null, "", once.dataset.shownOnce);
    addEventListener("pagehide", () => { once.textContent = "This was shown once."; });
  }
  document.addEventListener("htmx:load", (event) => showTimes(event.target));
  showTimes(document);
})();
