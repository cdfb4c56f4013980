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
  document.addEventListener("htmx:load", (event) => showTimes(event.target));
  showTimes(document);
})();
