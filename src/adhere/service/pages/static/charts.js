// Draws the charts of a page: Vega-Lite in JSON beside each figure, colours from the style sheet, no eval.
"use strict";
globalThis.charts = (() => {
  const drawn = new Map(); // figure → Vega's view
  const updated = new WeakMap(); // figure → the values it shows instead of those of its page
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function config(width) {
    const [ink, quiet, line, font] = ["--ink", "--quiet", "--line", "--small"].map(token);
    const text = { labelColor: quiet, titleColor: ink, labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 };
    return {
      background: null, font, view: { stroke: null },
      axis: { ...text, gridColor: line, domainColor: line, tickColor: line, gridOpacity: 0.6, labelSeparation: 6 },
      legend: { ...text, orient: "top", direction: "horizontal", symbolStrokeWidth: 3, symbolOpacity: 1, title: null, columns: Math.max(1, Math.floor(width / 190)) },
      header: text, title: { color: ink, font, fontSize: 13, anchor: "start" }, text: { color: ink, font },
      rule: { color: quiet }, line: { strokeWidth: 2 }, bar: { color: token("--series-1") }, point: { color: token("--series-1"), filled: true },
      range: { category: [1, 2, 3, 4, 5, 6, 7].map((number) => token(`--series-${number}`)), arms: [token("--series-6"), token("--series-5")] },
    };
  }

  function draw(figure) {
    drawn.get(figure)?.finalize();
    const spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    if (updated.has(figure)) spec.data.values = updated.get(figure);
    const filled = { width: "container", autosize: { type: "fit-x", contains: "padding" }, ...spec, config: { ...config(figure.clientWidth), ...spec.config } };
    const parsed = vega.parse(vegaLite.compile(filled).spec, null, { ast: true });
    const view = new vega.View(parsed, {
      expr: vegaInterpreter.expressionInterpreter, renderer: "svg", container: figure.querySelector(".drawing"), hover: true,
    });
    drawn.set(figure, view);
    return view.runAsync().then(() => {
      figure.querySelector(".drawing svg").setAttribute("aria-hidden", "true"); // the figure says what it shows
      figure.dataset.drawn = "";
    });
  }

  function drawAll(root = document) {
    for (const figure of drawn.keys()) if (!figure.isConnected) { drawn.get(figure).finalize(); drawn.delete(figure); }
    // One after the other: the first is seen before the last is compiled.
    return [...root.querySelectorAll("figure.chart")].reduce((before, figure) => before.then(() => draw(figure)), Promise.resolve());
  }

  // Other values for a chart that is drawn already, without drawing its axes and legend from the beginning.
  function update(figure, values, name = "source_0") {
    updated.set(figure, values);
    return drawn.get(figure)?.data(name, values).runAsync(); // one that is not drawn yet will be, with these
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll());
  document.addEventListener("htmx:load", (event) => { if (event.target !== document.body) drawAll(event.target); });
  drawAll();
  return { draw, drawAll, update };
})();
