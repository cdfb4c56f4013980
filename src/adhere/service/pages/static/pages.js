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
  // Nothing of a session stays on the device once it has ended: taps that were not sent (unsent.js) are deleted.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".who")) return;
    const question = "What was not sent yet is deleted when you sign out. Sign out?";
    if (localStorage.getItem("adhere-unsent") && !confirm(question)) event.preventDefault();
    else localStorage.removeItem("adhere-unsent");
  });
  document.addEventListener("htmx:load", (event) => showTimes(event.target));
  showTimes(document);
})();
