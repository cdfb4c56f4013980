// The monitor of a trial: when its log has grown, the parts that changed are replaced, and nothing else.
"use strict";
(() => {
  const monitor = document.getElementById("monitor");
  const state = document.getElementById("live");
  const shown = new Map(); // id of a part → its HTML as the service sent it
  const note = (root) => { for (const part of root.querySelectorAll("[data-part]")) shown.set(part.id, part.outerHTML); };
  note(monitor);

  function replace(old, part) {
    const open = [...old.querySelectorAll("details")].map((one) => one.open);
    const heights = [...old.querySelectorAll(".drawing")].map((one) => one.offsetHeight);
    old.replaceWith(part);
    part.querySelectorAll("details").forEach((one, i) => { one.open = open[i] ?? one.open; });
    part.querySelectorAll(".drawing").forEach((one, i) => { if (heights[i]) one.style.minHeight = `${heights[i]}px`; });
    part.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
  }

  function show(text) {
    const fresh = [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("[data-part]")];
    const same = fresh.length === monitor.querySelectorAll("[data-part]").length && fresh.every((part) => shown.has(part.id));
    if (!same) { // parts came or went: all of them, in their order
      shown.clear();
      monitor.replaceChildren(...fresh.map((part) => document.adoptNode(part)));
      note(monitor);
      monitor.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
      return;
    }
    for (const part of fresh) {
      const html = part.outerHTML;
      if (shown.get(part.id) === html) continue;
      shown.set(part.id, html);
      replace(document.getElementById(part.id), document.adoptNode(part));
    }
  }

  let asking = false, again = false, told = "";
  async function refresh(head = "") {
    told = head;
    if (asking) { again = true; return; }
    asking = true;
    do {
      again = false;
      try {
        const answer = await fetch(`${location.pathname}?head=${told}`, { headers: { "HX-Request": "true" } });
        if (answer.ok) show(await answer.text());
        else if (answer.status === 401) location.reload();
        else if (!monitor.querySelector("[data-part]")) monitor.innerHTML = await answer.text(); // what went wrong
      } catch { say("Not connected"); }
    } while (again);
    asking = false;
  }
  const say = (text) => { if (state.textContent !== text) state.textContent = text; };

  let source = null, retry = 0;
  function listen() {
    source = new EventSource(monitor.dataset.events);
    source.addEventListener("open", () => say("Live"));
    source.addEventListener("error", () => {
      say("Not connected");
      if (source.readyState !== EventSource.CLOSED) return; // the browser asks again by itself
      // Refused: the session has ended, which the refreshed page shows, or too many pages listen; then this one asks later.
      say(`Not live; next update in ${Math.round(monitor.dataset.retry / 1000)} s`);
      refresh();
      retry = setTimeout(listen, Number(monitor.dataset.retry));
    });
    source.addEventListener("changed", (event) => {
      if (event.data === monitor.querySelector("[data-head]")?.dataset.head) return;
      refresh(event.data);
    });
  }
  // A page that nobody sees does not listen: over HTTP/1.1 a browser has six connections to a host, for all its tabs.
  function hear() {
    if (document.visibilityState === "visible") { if (!source) listen(); }
    else { source?.close(); source = null; clearTimeout(retry); }
  }
  document.addEventListener("visibilitychange", hear);
  hear();
  if (!monitor.querySelector("[data-part]")) refresh();
})();
