// SPDX-License-Identifier: Apache-2.0
"use strict";
// The opening plots, drawn by uPlot: drag to zoom, double click to reset, shares at the pointer
// shown below. The SVG stays for print and for browsers without scripts.
(() => {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (n) => n >= 1e6 ? +(n / 1e6).toPrecision(4) + "M" : n >= 1e4 ? +(n / 1e3).toPrecision(4) + "k" : n.toLocaleString("en", { maximumSignificantDigits: 4 });
  const share = (y) => y >= 0.999e-4 ? +(100 * y).toPrecision(3) + " %" : "1 in " + short(Math.round(1 / y));

  // Round figures on a logarithmic axis, at most about `most` of them.
  const ticks = (low, high, most) => {
    const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
    if (high >= 3 * low) for (const mantissas of [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]]) {
      const found = [];
      for (let d = first; d <= last; d++)
        for (const m of mantissas) {
          const tick = +(m * 10 ** d).toPrecision(12);
          if (tick >= low && tick <= high) found.push(tick);
        }
      if (found.length <= most + 1 && found.length > 1) return found;
    }
    const raw = (high - low) / most, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(+(i * step).toPrecision(12));
    return found;
  };

  // The drawn curve's value at x.
  const at = (curve, x) => {
    const { xs, ys } = curve;
    if (x <= xs[0]) return ys[0];
    if (x > xs[xs.length - 1]) return curve.floor;
    let low = 0, high = xs.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (xs[middle] < x) low = middle; else high = middle;
    }
    const part = Math.log(x / xs[low]) / Math.log(xs[high] / xs[low]);
    return ys[low] * (ys[high] / ys[low]) ** part;
  };

  const read = (data, x) => {
    const found = new Map();
    for (const curve of data.curves) {
      const y = at(curve, x), known = found.get(curve.name) || [y, y];
      found.set(curve.name, [Math.min(known[0], y), Math.max(known[1], y)]);
    }
    const parts = [...found].map(([name, [low, high]]) => {
      const words = high === 0 ? "none" : low === high ? share(low) : (low ? share(low) : "none") + " to " + share(high);
      return name + " " + words;
    });
    return "At or above " + short(x) + " " + data.unit.split(" · ")[0] + ": " + parts.join(", ");
  };

  // Drawn here, because uPlot does not: deadlines, and a letter at each line's end.
  const beside = (data) => (u) => {
    const { ctx, bbox } = u, px = devicePixelRatio;
    ctx.save();
    ctx.setLineDash([]);
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.font = 12 * px + "px system-ui, sans-serif";
    for (const [value, words] of data.due) {
      const far = value > data.x[1], edge = bbox.left + bbox.width;
      const x = far ? edge : u.valToPos(value, "x", true);
      if (x < bbox.left || x > edge) continue;
      ctx.strokeStyle = ctx.fillStyle = css("--alarm");
      ctx.lineWidth = 1.5 * px;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top - 3 * px);
      ctx.lineTo(x, bbox.top + bbox.height);
      if (!far) ctx.stroke();
      const half = ctx.measureText(words).width / 2;
      ctx.fillText(words, Math.min(Math.max(x - half, 0), ctx.canvas.width - 2 * half), bbox.top - 6 * px);
    }
    ctx.font = "600 " + 13 * px + "px system-ui, sans-serif";
    const ends = new Map(), placed = [];
    for (const curve of data.curves) {
      const end = { y: curve.ys[curve.ys.length - 1], x: curve.xs[curve.xs.length - 1], curve };
      const known = ends.get(curve.name);
      if (!known || end.y < known.y || (end.y === known.y && end.x > known.x)) ends.set(curve.name, end);
    }
    for (const { x, y, curve } of ends.values()) {
      const edge = bbox.left + bbox.width;
      let left = u.valToPos(x, "x", true), top = u.valToPos(y, "y", true) + 4 * px;
      if (curve.floor) left = edge;
      if (left < bbox.left || left > edge || top < bbox.top || top > bbox.top + bbox.height + 8 * px) continue;
      while (placed.some(([a, b]) => Math.abs(a - left) < 14 * px && Math.abs(b - top) < 14 * px)) top -= 14 * px;
      placed.push([left, top]);
      ctx.fillStyle = css("--s" + curve.colour);
      ctx.fillText(curve.name, left + 5 * px, top);
    }
    ctx.restore();
  };

  const draw = (figure, data) => {
    const old = figure.querySelector(".zoom");
    if (old) old.remove();
    const box = document.createElement("div"), head = document.createElement("p");
    box.className = "zoom";
    head.className = "uhead";
    head.append(Object.assign(document.createElement("b"), { textContent: data.title }), document.createElement("br"), data.about);
    box.append(head);
    figure.prepend(box);
    const width = figure.clientWidth, small = width < 640;
    const [low, high] = data.x, least = data.y[0];
    const axis = { stroke: css("--muted"), font: "12px system-ui, sans-serif", filter: (u, s) => s,
      grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--rule"), width: 1, size: 4 } };
    const told = figure.querySelector(".readout"), hint = matchMedia("(hover:hover)").matches ? "Drag to zoom, double click for the whole." : "";
    told.textContent = hint;
    const tables = data.curves.map((curve) => curve.floor
      ? [[...curve.xs, high * 10], [...curve.ys, curve.floor]] : [curve.xs, curve.ys]);
    const joined = uPlot.join(tables);
    const first = Math.min(...data.curves.map((curve) => curve.xs[0])), bottom = 2 * least * (1 + 1e-6);
    const last = Math.max(...data.curves.map((curve) => curve.xs[curve.xs.length - 1]));
    const plot = new uPlot({
      width, height: small ? 300 : 380, legend: { show: false }, padding: [data.due.length ? 22 : 8, 24, 0, 0],
      cursor: { points: { show: false }, y: false, drag: { x: true, y: true, uni: 24 } },
      scales: {
        // Without zoom an axis has the SVG's margin.
        x: { time: false, distr: 3, range: (u, a, b) => [a <= first ? low : a, b >= last ? high : b] },
        y: { distr: 3, range: (u, a, b) => [a <= bottom ? least : a, Math.min(b, 1)] },
      },
      axes: [
        { ...axis, label: data.unit, labelFont: "12px system-ui, sans-serif", labelSize: 20, size: 30,
          splits: (u, i, a, b) => ticks(a, b, small ? 4 : 9), values: (u, s) => s.map(short) },
        { ...axis, size: 66, splits: (u, i, a, b) => ticks(a, b, 7), values: (u, s) => s.map(share) },
      ],
      series: [{}, ...data.curves.map((curve) => ({ scale: "y", stroke: css("--s" + curve.colour), width: 1.8,
        dash: curve.dash.length ? curve.dash : undefined, points: { show: false }, spanGaps: true }))],
      hooks: {
        draw: [beside(data)],
        setCursor: [(u) => { told.textContent = u.cursor.left >= 0 ? read(data, u.posToVal(u.cursor.left, "x")) : hint; }],
      },
    }, joined, box);
    return plot;
  };

  for (const figure of document.querySelectorAll("figure.over")) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    for (const curve of data.curves) { // a step has two shares at one value: shift the second slightly
      curve.xs = curve.x.map((x, i) => i && x === curve.x[i - 1] ? x * (1 + 1e-9) : x);
      curve.ys = curve.y.map((y) => y || curve.floor);
    }
    figure.classList.add("live");
    let plot = draw(figure, data);
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", figure.querySelector(".wide svg").getAttribute("aria-label"));
    let width = figure.clientWidth;
    new ResizeObserver(() => {
      if (figure.clientWidth === width || !figure.clientWidth || matchMedia("print").matches) return;
      width = figure.clientWidth;
      plot.destroy();
      plot = draw(figure, data);
    }).observe(figure);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { plot.destroy(); plot = draw(figure, data); });
  }
})();
