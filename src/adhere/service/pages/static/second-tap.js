// A second tap does nothing. Taps, clicks, Enter and Space are ignored until the page has been shown for the delay of
// the service's settings, and until a button has been at its place for as long. Buttons are grey until then.
// This script is loaded before the page's contents, so that nothing can be tapped without it.
"use strict";
(() => {
  const root = document.documentElement;
  const DELAY = 1000 * root.dataset.tapDelay; // in milliseconds
  if (!DELAY) return;
  const MOVED = 4; // a button that moved by more pixels is at another place
  const AROUND = 24; // how far from the last tap, in pixels, no other button may appear
  const STEP = 8;
  const LAST = "adhere-tap";
  const BUTTON = "button, .button";
  const SENDS = "main form[method=post] button:enabled:not([data-confirm])"; // at once, without a question
  const TYPED = "textarea, input:not([type=radio], [type=checkbox], [type=file], [type=range])";
  const now = () => performance.now();

  // The page: it is shown when it is loaded, when one comes back to it, when its tab becomes visible, and when it has
  // replaced its contents.
  let until = Infinity; // by the clock of events
  let timer = 0;
  function settle() {
    until = Infinity;
    root.classList.add("settling");
    requestAnimationFrame(() => requestAnimationFrame(() => { // painted
      until = now() + DELAY;
      clearTimeout(timer);
      timer = setTimeout(settled, DELAY);
    }));
  }
  function settled() {
    if (now() < until) timer = setTimeout(settled, until - now());
    else root.classList.remove("settling");
  }
  const isSettling = (at) => at < until || root.classList.contains("settling");
  // Whether the page has a form that changes something: then links and other controls wait too. Navigation never does.
  const changes = () => document.readyState === "loading" || document.querySelector("main form[method=post]") !== null;

  // Buttons: each is known by what it sends, since a part of a page that is replaced may have the same button again.
  let places = new Map(); // what a button sends → where such buttons are, and since when
  function nameOf(button) {
    const fields = [...(button.form?.elements ?? [])].filter((one) => one.type !== "hidden").map((one) => one.name);
    return [button.form?.getAttribute("action"), fields, button.name, button.value, button.textContent.trim()].join("\n");
  }
  const isVisible = (button) => button.checkVisibility?.() ?? button.offsetParent !== null;
  function placeOf(button) { // on the page, however it is scrolled
    const box = button.getBoundingClientRect();
    let { left, top } = box;
    for (let one = button.parentElement; one; one = one.parentElement) { left += one.scrollLeft; top += one.scrollTop; }
    return { left, top, since: now() };
  }
  const isSame = (one, other) => Math.abs(one.left - other.left) <= MOVED && Math.abs(one.top - other.top) <= MOVED;
  function knownPlace(button) {
    const place = placeOf(button);
    return places.get(nameOf(button))?.find((one) => isSame(one, place));
  }
  const sinceOf = (button) => knownPlace(button)?.since ?? Infinity;
  function measure() {
    const before = places, moved = [];
    places = new Map();
    for (const button of document.querySelectorAll(BUTTON)) {
      if (!isVisible(button)) continue;
      const name = nameOf(button), place = placeOf(button);
      const old = before.get(name)?.find((one) => isSame(one, place));
      if (old) place.since = old.since;
      else moved.push(button);
      places.set(name, [...(places.get(name) ?? []), place]);
    }
    return moved;
  }
  let isDue = false;
  function look() { // after the page has changed
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      if (!measure().length) return;
      if (makeRoom()) measure();
      grey();
    });
  }
  function waitFor(button, since) {
    const place = knownPlace(button);
    if (place) place.since = since;
    grey();
  }
  function grey() {
    if (!changes()) return;
    let next = Infinity;
    for (const button of document.querySelectorAll(BUTTON)) {
      const wait = isVisible(button) ? sinceOf(button) + DELAY - now() : 0;
      button.classList.toggle("settling", wait > 0);
      if (wait > 0) next = Math.min(next, wait);
    }
    if (next < Infinity) setTimeout(grey, next + 1);
  }

  // No button that sends something appears where the last tapped one was, nor around the tap: what would be there moves
  // down. Buttons that were there before the tap may stay.
  let last = null; // where, and what it sent
  function remember(tapped) {
    last = tapped;
    try {
      if (tapped) sessionStorage.setItem(LAST, JSON.stringify(tapped));
      else sessionStorage.removeItem(LAST);
    } catch { /* nothing can be kept on this device: only the delay protects */ }
  }
  function recall() {
    try {
      last = JSON.parse(sessionStorage.getItem(LAST));
      if (last) last.at = 0; // by the clock of this page, before all of it
    } catch {
      last = null;
    }
  }
  function isInTheWay(button) {
    const box = button.getBoundingClientRect();
    return isVisible(button) && nameOf(button) !== last.name && sinceOf(button) > last.at
      && box.left < last.right && box.right > last.left && box.top < last.bottom && box.bottom > last.top;
  }
  const inTheWay = () => [...document.querySelectorAll(SENDS)].find(isInTheWay);
  function makeRoom() {
    const first = last && inTheWay();
    if (first) {
      let block = first;
      while (!block.parentElement.matches("main, .site")) block = block.parentElement;
      const room = document.createElement("div");
      block.before(room);
      for (let height = STEP; height <= innerHeight && inTheWay(); height += STEP) room.style.height = `${height}px`;
    }
    if (first) remember(null);
    return Boolean(first);
  }
  function tapped(event) {
    const button = event.target.closest(SENDS);
    if (!button || !event.detail) return remember(null); // a key has no place
    const box = button.getBoundingClientRect(), { clientX: x, clientY: y } = event;
    remember({
      name: nameOf(button), at: now(),
      left: Math.min(box.left, x - AROUND), right: Math.max(box.right, x + AROUND),
      top: Math.min(box.top, y - AROUND), bottom: Math.max(box.bottom, y + AROUND),
    });
  }

  // What is ignored.
  const toggled = new WeakMap(); // when a part of the page was opened or closed
  function isIgnored(target, at) {
    const button = target.closest(BUTTON);
    if (isSettling(at)) return Boolean(button || (target.closest("main") && changes() && !target.closest(TYPED)));
    if (!changes()) return false; // as the monitor, parts of which are replaced all the time
    if (button) return at < sinceOf(button) + DELAY;
    const summary = target.closest("summary");
    return Boolean(summary) && at < (toggled.get(summary) ?? -Infinity) + DELAY;
  }
  function stop(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
  let isBegunTooEarly = false; // the tap whose end will be a click
  let isPassed = false; // the click that now submits a form
  function pass() {
    isPassed = true;
    setTimeout(() => { isPassed = false; });
  }
  const listen = (name, listener) => addEventListener(name, (event) => { if (event.target instanceof Element) listener(event); }, true);
  listen("pointerdown", (event) => {
    if (event.target.closest(BUTTON)) if (measure().length) grey();
    isBegunTooEarly = isIgnored(event.target, event.timeStamp);
  });
  listen("mousedown", (event) => { if (isBegunTooEarly) stop(event); }); // no focus either, which a key would use
  listen("click", (event) => {
    if (!event.isTrusted) return pass(); // by a script of the page
    if (isIgnored(event.target, event.timeStamp) || (event.detail && isBegunTooEarly)) {
      if (event.detail) event.target.closest(BUTTON)?.blur(); // it moved while it was tapped
      return stop(event);
    }
    const summary = event.target.closest("summary"), button = event.target.closest("button");
    if (summary) toggled.set(summary, event.timeStamp);
    if (button) waitFor(button, event.timeStamp); // if it stays where it is
    tapped(event);
    pass();
  });
  listen("keydown", (event) => {
    const { key, target, timeStamp } = event;
    const types = target.closest("textarea") || (key === " " && target.closest(TYPED));
    if ((key !== "Enter" && key !== " ") || types || !target.closest("button, a, summary, label, select, input")) return;
    if (measure().length) grey();
    const field = target.closest(TYPED);
    if (event.repeat || (field ? isSettling(timeStamp) && changes() : isIgnored(target, timeStamp))) stop(event);
  });
  listen("submit", (event) => { if (!isPassed && isSettling(event.timeStamp)) stop(event); });

  root.classList.add("settling");
  document.addEventListener("DOMContentLoaded", () => {
    settle();
    recall();
    makeRoom();
    remember(null);
    measure();
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden", "open"] });
    new ResizeObserver(look).observe(document.body);
  });
  addEventListener("pageshow", (event) => { if (event.persisted) settle(); });
  document.addEventListener("htmx:load", (event) => { if (event.target.localName === "main") settle(); });
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") settle(); });
})();
