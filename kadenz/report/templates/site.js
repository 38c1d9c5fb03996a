// SPDX-License-Identifier: Apache-2.0
"use strict";
// Routes: #/ (all series), #/series/KEY, #/side/KEY+KEY, #/run/ID. Data comes as scripts, which a
// page opened from disk may load; each calls kadenz(name, value).
const waiting = new Map(), known = new Map();
const kadenz = (name, value) => {
  known.set(name, value);
  (waiting.get(name) || []).forEach((done) => done(value));
  waiting.delete(name);
};
const load = (name) => new Promise((done) => {
  if (known.has(name)) return done(known.get(name));
  const first = !waiting.has(name);
  waiting.set(name, [...(waiting.get(name) || []), done]);
  if (!first) return;
  const script = document.createElement("script");
  script.src = "data/" + name.split("/").map(encodeURIComponent).join("/") + ".js";
  script.onerror = () => kadenz(name, null);
  document.head.append(script);
});
// A series or a run by the name in a route, which anybody may write: null if the site's own list
// does not have it. Nothing else of a route is loaded.
const find = async (kind, name) => {
  const every = await load(kind === "series" ? "index" : "runs") || [];
  const names = kind === "series" ? every.map((one) => one.key) : every;
  return names.includes(name) ? load(kind + "/" + name) : null;
};
const plotter = () => window.uPlot ? Promise.resolve() : new Promise((done) => {
  const script = document.createElement("script");
  script.src = "plot.js";
  script.onload = script.onerror = done;
  document.head.append(script);
});

// An element with its attributes and children; text is never read as HTML.
const el = (tag, attributes, ...children) => {
  const made = tag === "svg" || tag === "path" ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name.startsWith("on")) made[name] = value; else if (value !== false && value != null) made.setAttribute(name, value);
  made.append(...children.filter((child) => child != null));
  return made;
};
const figure = (n) => n == null ? "–" : Math.abs(n) >= 1e6 ? n.toLocaleString("en", { maximumFractionDigits: 0 }) : n.toLocaleString("en", { maximumSignificantDigits: 6 });
const percent = (share) => (100 * share).toLocaleString("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3, signDisplay: "exceptZero" }) + " %";
const unit = (one) => one.unit + " (" + one.class + ")";
const words = (one) => [one.bench, one.params, one.lane && one.lane !== "all" ? one.lane : "", one.conditions, one.instrument === "counter" ? "" : one.instrument, one.quick ? "quick" : ""].filter(Boolean).join(" · ");
const show = (...children) => { const main = document.getElementById("main"); main.replaceChildren(...children); window.scrollTo(0, 0); };
const missing = (what) => show(el("h1", {}, "Not here"), el("p", {}, what + " is not part of this site. ", el("a", { href: "#/" }, "All series")));

const spark = (values) => {
  const low = Math.min(...values), high = Math.max(...values), wide = Math.max(1, values.length - 1);
  const at = (v, i) => (2 + 92 * i / wide).toFixed(1) + " " + (high > low ? 18 - 16 * (v - low) / (high - low) : 10).toFixed(1);
  return el("svg", { class: "spark", viewBox: "0 0 96 20", "aria-hidden": "true" }, el("path", { d: "M" + values.map(at).join("L") + (values.length === 1 ? "h2" : "") }));
};

// ---- all series ---------------------------------------------------------------------------------
const chosen = new Set();
const PAGE = 300; // rows drawn at once
const side = () => {
  const link = document.getElementById("side");
  link.hidden = chosen.size < 2;
  link.href = "#/side/" + [...chosen].join("+");
  link.textContent = "Side by side (" + chosen.size + ")";
};
const index = async () => {
  const every = await load("index");
  if (!every) return missing("data/index.js");
  const texts = every.map((one) => [one.target, words(one), one.class].join(" ").toLowerCase());
  const field = el("input", { type: "search", placeholder: "Search: target, benchmark, condition", "aria-label": "Search" });
  const body = el("tbody"), count = el("p", { class: "muted" });
  let limit = PAGE;
  const more = el("button", { onclick: () => { limit += PAGE; draw(); } }, "More");
  const row = (one) => el("tr", {},
    el("td", {}, el("input", { type: "checkbox", "aria-label": "Side by side", checked: chosen.has(one.key) ? "" : null, onchange: (e) => { e.target.checked ? chosen.add(one.key) : chosen.delete(one.key); side(); } })),
    el("td", {}, one.target), el("td", {}, el("a", { href: "#/series/" + one.key }, words(one))),
    el("td", { class: "n" }, figure(one.latest)), el("td", {}, one.unit, " ", el("span", { class: "badge" }, one.class)),
    el("td", { class: "n" }, figure(one.worst)), el("td", {}, spark(one.spark)), el("td", { class: "n" }, String(one.runs)),
    el("td", { class: one.step > 0 ? "n up" : "n down" }, one.step == null ? "" : percent(one.step)), el("td", { class: "date" }, one.stepped), el("td", { class: "date" }, one.date));
  const draw = () => {
    const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = every.filter((_, i) => asked.every((word) => texts[i].includes(word)));
    body.replaceChildren(...found.slice(0, limit).map(row));
    count.textContent = found.length + " of " + every.length + " series";
    more.hidden = found.length <= limit;
  };
  field.oninput = () => { limit = PAGE; draw(); };
  const head = ["", "target", "figure", "latest median", "unit", "worst of the month", "last " + 24 + " runs", "runs", "last step", "", "latest run"];
  show(el("h1", {}, "Systems over time"), field, count, el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((text, i) => el("th", { class: [3, 5, 7, 8].includes(i) ? "n" : null }, text)))), body)), more);
  draw();
  side();
};

// ---- one series, or several ---------------------------------------------------------------------
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const chart = async (place, many) => {
  await plotter();
  if (!window.uPlot) return place.append(el("p", { class: "muted" }, "plot.js is missing: no plot."));
  const times = [...new Set(many.flatMap((one) => one.points.map((p) => Date.parse(p[0]) / 1000)))].sort((a, b) => a - b);
  const where = new Map(times.map((t, i) => [t, i]));
  const series = [{ label: "run" }], data = [times];
  many.forEach((one, i) => {
    const column = (pick) => { const values = Array(times.length).fill(null); one.points.forEach((p) => { values[where.get(Date.parse(p[0]) / 1000)] = pick(p); }); return values; };
    const name = many.length > 1 ? one.target + " " : "";
    series.push({ label: name + "median", stroke: css("--s" + (i % 5 + 1)), width: 1.6, spanGaps: true, points: { show: times.length < 200, size: 6 } });
    data.push(column((p) => p[1]));
    if (many.length === 1) { series.push({ label: "worst", stroke: css("--muted"), width: 1, dash: [4, 3], spanGaps: true, show: false }); data.push(column((p) => p[2])); }
  });
  const axis = { stroke: css("--muted"), grid: { stroke: css("--grid") }, ticks: { stroke: css("--rule") } };
  const moment = (one, id) => Date.parse(one.points.find((p) => p[3] === id)[0]) / 1000;
  const steps = many.length === 1 ? many[0].steps.map((s) => [moment(many[0], s.from), moment(many[0], s.to)]) : [];
  const lines = (u) => {
    // The step lies between these two runs.
    u.ctx.save(); u.ctx.fillStyle = css("--alarm"); u.ctx.globalAlpha = 0.16;
    for (const [from, to] of steps) { const x = u.valToPos(from, "x", true); u.ctx.fillRect(x, u.bbox.top, Math.max(2, u.valToPos(to, "x", true) - x), u.bbox.height); }
    u.ctx.restore();
  };
  const made = new uPlot({ width: Math.min(1190, document.getElementById("main").clientWidth - 48), height: 340, series, axes: [axis, { ...axis, size: 80, label: many[0].unit, values: (_, ticks) => ticks.map(figure) }], hooks: { draw: [lines] } }, data, place);
  if (many.length === 1) made.over.onclick = () => { const p = many[0].points.find((q) => Date.parse(q[0]) / 1000 === times[made.cursor.idx]); if (p && !made.select.width) location.hash = "#/run/" + encodeURIComponent(p[3]); };
};
const run = (id, text) => el("a", { href: "#/run/" + encodeURIComponent(id) }, text || id);
const series = async (key) => {
  const one = await find("series", key);
  if (!one) return missing("The series " + key);
  const place = el("div", { class: "plot" });
  const commit = new Map(one.points.map((p) => [p[3], p[4]]));
  const named = (id) => [run(id), commit.get(id) ? " (" + commit.get(id) + ")" : ""];
  const steps = one.steps.map((s) => el("li", {}, el("b", { class: s.after > s.before ? "up" : "down" }, percent(s.after / s.before - 1)), ": " + figure(s.before) + " → " + figure(s.after) + " " + one.unit + ", after ", ...named(s.from), ", by ", ...named(s.to), s.exact ? ", exact" : ", p = " + s.p.toFixed(3), el("ul", {}, ...s.reasons.map((r) => el("li", {}, r)))));
  const months = Object.entries(one.months).map(([month, worst]) => el("tr", {}, el("td", {}, month), el("td", { class: "n" }, figure(worst))));
  show(el("h1", {}, words(one)), el("p", { class: "muted" }, one.target + " · median in " + unit(one) + (one.host ? " · " + one.host : "") + " · click a run to open it, drag to zoom"), place,
    el("h2", {}, "Steps"), steps.length ? el("ul", { class: "steps" }, ...steps) : el("p", { class: "muted" }, one.note || "none"),
    el("h2", {}, "Worst sample of the month, " + unit(one)), el("table", { class: "months" }, el("tbody", {}, ...months)),
    el("h2", {}, "Runs"), el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...["date", "run", "commit", "median", "worst", "samples"].map((t, i) => el("th", { class: i > 2 ? "n" : null }, t)))),
      el("tbody", {}, ...one.points.slice(-PAGE).reverse().map((p) => el("tr", {}, el("td", {}, p[0].slice(0, 16).replace("T", " ")), el("td", {}, run(p[3])), el("td", {}, p[4]), ...[1, 2, 5].map((i) => el("td", { class: "n" }, figure(p[i])))))))));
  await chart(place, [one]);
};
const beside = async (keys) => {
  const many = (await Promise.all(keys.map((key) => find("series", key)))).filter(Boolean);
  if (!many.length) return missing("None of these series");
  const kinds = new Set(many.map(unit)), children = [el("h1", {}, "Side by side")];
  if (kinds.size > 1) children.push(el("p", {}, "Figures in different units or clock classes are not comparable: each has its own plot."));
  const places = [...kinds].map((kind) => { const place = el("div", { class: "plot" }); children.push(el("h2", {}, kind), place); return [kind, place]; });
  children.push(el("table", {}, el("tbody", {}, ...many.map((one) => el("tr", {}, el("td", {}, one.target), el("td", {}, el("a", { href: "#/series/" + one.key }, words(one))), el("td", { class: "n" }, figure(one.points[one.points.length - 1][1])), el("td", {}, unit(one)))))));
  show(...children);
  for (const [kind, place] of places) await chart(place, many.filter((one) => unit(one) === kind));
};

// ---- one run ------------------------------------------------------------------------------------
const oneRun = async (id) => {
  const one = await find("runs", id);
  if (!one) return missing("The run " + id);
  const facts = Object.entries(one.facts).filter(([, value]) => value !== "" && value !== false && value !== "{}").map(([name, value]) => el("tr", {}, el("th", {}, name.replace("_", " ")), el("td", {}, el("code", {}, String(value)))));
  const rows = one.rows.map((row) => el("tr", {}, ...row.map((value) => el("td", { class: typeof value === "number" ? "n" : null }, typeof value === "number" ? figure(value) : value == null ? "–" : String(value)))));
  show(el("h1", {}, one.facts.name || id), el("table", { class: "facts" }, el("tbody", {}, ...facts)), el("h2", {}, "Figures"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...one.columns.map((name) => el("th", {}, name)))), el("tbody", {}, ...rows))),
    el("p", { class: "muted" }, "kadenz archive get " + id + " writes the run folder."));
};

const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
const route = () => {
  const [, kind, rest] = location.hash.match(/^#\/(\w+)\/(.+)$/) || [];
  const name = rest && decoded(rest);
  if (kind === "series") series(name); else if (kind === "side") beside(name.split("+")); else if (kind === "run") oneRun(name); else index();
};
window.onhashchange = route;
document.addEventListener("DOMContentLoaded", route);
