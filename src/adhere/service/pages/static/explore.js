// Explore: sliders move their numbers, shares add up to 1, and what follows from them is fetched when one is let go.
"use strict";
(() => {
  const form = document.getElementById("explore");
  const status = document.getElementById("status");
  const numbers = [...form.querySelectorAll("input[data-kind]")];
  const shares = numbers.filter((one) => one.dataset.kind === "share");
  const slider = (number) => form.querySelector(`input[data-for="${number.name}"]`);
  const round = (value) => Math.round(value * 1e4) / 1e4;
  let preset = form.querySelector("[data-preset][aria-current]")?.dataset.preset ?? "";
  let before = shares.map((one) => Number(one.value)); // the shares when a slider was last let go
  let asked = null;

  function set(number, value) {
    number.value = String(value);
    slider(number).value = String(value);
  }

  // The others keep their proportions; where they are all 0, compliers take the rest, or never-takers from compliers.
  function share(moved) {
    const place = shares.indexOf(moved), value = Number(moved.value), rest = 1 - value;
    const others = before.reduce((sum, one, i) => (i === place ? sum : sum + one), 0);
    const heir = shares.findIndex((one) => one.name === (moved.name === "compliers" ? "never_takers" : "compliers"));
    const next = before.map((one, i) => (i === place ? value : others > 0 ? round((one * rest) / others) : i === heir ? round(rest) : 0));
    const largest = next.reduce((best, one, i) => (i !== place && (best < 0 || one > next[best]) ? i : best), -1);
    next[largest] = round(next[largest] + 1 - next.reduce((sum, one) => sum + one, 0));
    next.forEach((one, i) => { if (i !== place) set(shares[i], one); });
  }

  function query() {
    const found = new URLSearchParams();
    if (preset) found.set("preset", preset);
    else for (const one of numbers) found.set(one.name, one.value);
    found.set("policies", [...form.querySelectorAll('input[name="policies"]:checked')].map((one) => one.value).join(","));
    for (const name of ["patients", "runs", "seed"]) found.set(name, form.elements[name].value);
    return found;
  }

  function fill(figure, { values, label }) {
    figure.querySelector(".drawing").setAttribute("aria-label", label);
    const columns = JSON.parse(figure.querySelector('script[type="application/json"]').textContent).usermeta.columns;
    const step = Math.max(1, Math.ceil(values.length / 60)); // as rendering.py does it
    const places = [...new Set(values.map((row) => row[columns[0]]))].reverse();
    const kept = new Set(places.filter((_, i) => i % step === 0));
    const body = document.createElement("tbody");
    for (const row of values.filter((one) => kept.has(one[columns[0]]))) {
      const line = body.insertRow();
      for (const name of columns) line.insertCell().textContent = typeof row[name] === "number" ? String(Number(row[name].toPrecision(4))) : row[name] ?? "–";
    }
    figure.querySelector("tbody").replaceWith(body);
  }

  async function show(text, isPreset) {
    const found = new DOMParser().parseFromString(text, "text/html");
    for (const id of ["sentence", "believed", "fared"]) document.getElementById(id).replaceWith(found.getElementById(id));
    const updates = JSON.parse(found.getElementById("updates").textContent);
    const state = JSON.parse(found.getElementById("state").textContent);
    if (isPreset) for (const one of numbers) set(one, state[one.name]);
    before = shares.map((one) => Number(one.value));
    mark(state.preset);
    const figures = Object.keys(updates).map((name) => [name, form.querySelector(`[data-chart="${name}"] figure`)]);
    await Promise.all(figures.map(([name, figure]) => charts.update(figure, updates[name].values)));
    for (const [name, figure] of figures) fill(figure, updates[name]);
  }

  function mark(name) {
    preset = name;
    for (const one of form.querySelectorAll("[data-preset]")) one.toggleAttribute("aria-current", one.dataset.preset === name);
    for (const one of form.querySelectorAll("[data-about]")) one.hidden = one.dataset.about !== name;
  }

  async function redraw(isPreset = false) {
    asked?.abort();
    const mine = (asked = new AbortController());
    const address = `${form.action}?${query()}`;
    history.replaceState(null, "", address);
    const slow = setTimeout(() => { status.textContent = "Simulating… A policy that was never used here is compiled first."; }, 600);
    try {
      const reply = await fetch(address, { headers: { "HX-Request": "true" }, signal: mine.signal });
      const text = await reply.text();
      if (mine !== asked) return;
      if (reply.ok) await show(text, isPreset);
      status.textContent = reply.ok ? "" : new DOMParser().parseFromString(text, "text/html").body.textContent.trim();
      if (reply.ok) form.dispatchEvent(new Event("redrawn"));
      if (reply.status === 409) setTimeout(() => mine === asked && redraw(isPreset), 300); // another page of the same user
    } catch (error) {
      if (error.name !== "AbortError") status.textContent = "The service cannot be reached; move a slider to try again.";
    } finally {
      clearTimeout(slow);
    }
  }

  form.addEventListener("input", ({ target }) => {
    const number = target.dataset.for ? form.elements[target.dataset.for] : target;
    if (!number.dataset.kind || number.value === "") return;
    if (target === number) slider(number).value = number.value;
    else number.value = target.value;
    if (Number(number.value) >= 0 && Number(number.value) <= 1 && number.dataset.kind === "share") share(number);
  });
  form.addEventListener("change", ({ target }) => {
    if (target.dataset.kind || target.dataset.for) preset = "";
    const wrong = form.querySelector("input:invalid");
    if (wrong) status.textContent = `${wrong.getAttribute("aria-label") ?? wrong.name}: ${wrong.validationMessage}`;
    else redraw();
  });
  form.addEventListener("click", (event) => {
    const link = event.target.closest("[data-preset]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    preset = link.dataset.preset;
    redraw(true);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); redraw(); });
  if (form.dataset.ready === "no") fetch(location.href, { headers: { "HX-Request": "true" } }).then((reply) => reply.ok && location.reload());
})();
