"use strict";
(() => {
  const report = JSON.parse(document.getElementById("content").textContent);
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";

  // ---- small makers: everything that came from data goes in as text, never as markup

  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function draw(tag, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const number = (value, digits = 3) => (value === null || value === undefined ? "–" : Number(value.toPrecision(digits)).toString().replace("-", "−"));
  const fixed = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));
  const signed = (value, digits = 3) => (value > 0 ? "+" : "") + (value === 0 ? "0" : number(value, digits));
  const count = (value) => (value === null || value === undefined ? "" : value.toLocaleString("en"));

  function table(caption, header, rows, label = caption) {
    const numeric = header.map((_, j) => rows.length > 0 && rows.every((row) => typeof row[j] === "string" && /^[+−\d.,\s%–]*$/.test(row[j])));
    const cell = (tag, value, j) => make(tag, { class: numeric[j] ? "number" : null, scope: tag === "th" ? "col" : null, role: tag === "th" ? "columnheader" : "cell", "data-label": tag === "td" ? header[j] : null }, value);
    const body = rows.map((row) => make("tr", { role: "row" }, ...row.map((value, j) => cell("td", value, j))));
    const inner = make("table", { role: "table" }, make("caption", {}, caption), make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...header.map((value, j) => cell("th", value, j)))), make("tbody", { role: "rowgroup" }, ...body));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, inner);
  }

  // ---- the scale of a feature: text in a field <-> a number, as Python has them (NaN stands for missing, -1 for an unseen level)

  const DAY = 86400000;
  function dateText(feature, value) {
    if (feature.kind === "date") return new Date(value * DAY).toISOString().slice(0, 10);
    return new Date(value / 1000).toISOString().slice(0, 19);
  }
  function words(feature, value) {
    if (Number.isNaN(value)) return "missing";
    if (feature.kind === "date" || feature.kind === "datetime") return dateText(feature, value).replace("T", " ");
    if (feature.kind === "boolean") return value === 1 ? "True" : value === 0 ? "False" : String(value);
    if (feature.levels.length) return value < 0 ? "another level" : feature.levels[value];
    return number(value, 6);
  }

  // ---- scoring: the same sums in the same order as Model.decision_function

  function contribution(feature, value) {
    if (Number.isNaN(value)) return feature.missing !== 0 ? feature.missing : feature.kind === "category" ? 0 : feature.values[feature.values.length - 1];
    if (feature.kind === "category") return value < 0 ? 0 : feature.level_values[value];
    if (feature.kind === "ordered" && value < 0) return 0;
    for (const special of feature.special) if (value === special.number) return special.value;
    let low = 0, high = feature.edges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (feature.edges[middle] < value) low = middle + 1; else high = middle;
    }
    return feature.values[low];
  }
  const inOrder = [...report.features].sort((a, b) => a.place - b.place);
  function score(values) {
    let sum = report.intercept;
    for (const feature of inOrder) sum += contribution(feature, values.get(feature));
    return sum;
  }
  const probability = (sum) => 0.5 * (1 + Math.tanh(0.5 * report.slope * sum));

  // ---- the head of the page

  function head() {
    byId("title").textContent = report.title;
    byId("sentence").textContent = report.sentence;
    byId("equation-text").textContent = report.equation;
    const chip = (value, name) => make("span", { class: "chip" }, make("b", {}, value), make("small", {}, name));
    byId("headline").append(chip(String(report.terms.length), report.terms.length === 1 ? "term" : "terms"), chip(String(report.features.length), report.features.length === 1 ? "feature" : "features"));
    for (const metric of report.quality ? report.quality.metrics : []) byId("headline").append(chip(number(metric.value), metric.name));
    const links = [...document.querySelectorAll("main section")].filter((section) => !section.hidden).map((section) => make("li", {}, make("a", { href: "#" + section.id }, section.querySelector("h2").textContent)));
    byId("contents").append(make("ul", {}, ...links));
    const button = byId("theme");
    const dark = () => (document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    const show = () => button.setAttribute("aria-pressed", String(dark()));
    button.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; show(); });
    show();
  }

  // ---- the scoring form

  const values = new Map();
  const refreshers = [];

  function field(feature, i) {
    const id = "field-" + i;
    const output = make("output", { for: id });
    const box = make("div", { class: "field", "data-feature": feature.name });
    const row = make("div", { class: "row" });
    const set = (value) => { values.set(feature, value); box.classList.toggle("bad", value === null); refresh(); };
    const control = feature.levels.length || feature.kind === "boolean" ? choice(feature, id, set) : typed(feature, id, set, row);
    row.prepend(control.element);
    box.append(make("div", { class: "name" }, make("label", { for: id }, feature.name), output), row);
    if (control.slider) box.append(control.slider);
    refreshers.push(() => {
      const value = values.get(feature);
      const adds = value === null ? null : contribution(feature, value);
      output.textContent = adds === null ? "?" : signed(adds);
      output.className = adds > 0 ? "up" : adds < 0 ? "down" : "";
    });
    values.set(feature, control.start);
    return box;
  }

  function choice(feature, id, set) {
    const names = feature.kind === "boolean" ? ["False", "True"] : feature.levels;
    const select = make("select", { id });
    names.forEach((name, i) => select.append(make("option", { value: String(i) }, name)));
    if (feature.levels.length) select.append(make("option", { value: "-1" }, "(another level)"));
    select.append(make("option", { value: "NaN" }, "(missing)"));
    const start = feature.start === null ? 0 : feature.start;
    select.value = String(start);
    select.addEventListener("input", () => set(Number(select.value)));
    return { element: select, start };
  }

  function typed(feature, id, set, row) {
    const time = feature.kind === "date" || feature.kind === "datetime";
    const input = make("input", { id, type: feature.kind === "date" ? "date" : time ? "datetime-local" : "text", inputmode: time ? null : "decimal", step: feature.kind === "datetime" ? "1" : null, spellcheck: "false" });
    const [low, high] = feature.range;
    const slider = make("input", { type: "range", min: low, max: high, step: feature.whole && !time ? 1 : "any", "aria-label": feature.name + ", slider" });
    const write = (value) => (Number.isNaN(value) ? "" : time ? dateText(feature, value) : String(value));
    const parse = (text) => {
      if (text.trim() === "") return NaN;
      const value = time ? Date.parse(text + (feature.kind === "date" ? "T00:00:00Z" : "Z")) * (feature.kind === "date" ? 1 / DAY : 1000) : Number(text.trim().replace("−", "-"));
      return Number.isFinite(value) ? value : null;
    };
    const place = (value) => { input.value = write(value); slide(value); set(value); };
    const slide = (value) => { if (value !== null && !Number.isNaN(value)) slider.value = value; };
    input.addEventListener("input", () => { const value = parse(input.value); input.setAttribute("aria-invalid", String(value === null)); slide(value); set(value); });
    slider.addEventListener("input", () => { const value = time ? Math.round(slider.valueAsNumber) : feature.whole ? slider.valueAsNumber : Number(slider.valueAsNumber.toPrecision(5)); input.value = write(value); input.setAttribute("aria-invalid", "false"); set(value); });
    const button = (label, value) => { const b = make("button", { type: "button", "aria-label": feature.name + ": " + label }, label); b.addEventListener("click", () => place(value)); row.append(b); };
    button("missing", NaN);
    for (const special of feature.special.slice(0, 6)) button(special.label, special.number);
    const start = feature.start === null ? NaN : feature.start;
    input.value = write(start);
    slide(start);
    return { element: input, slider, start };
  }

  function refresh() {
    for (const show of refreshers) show();
    const bad = [...values].filter(([, value]) => value === null).map(([feature]) => feature.name);
    const result = byId("result");
    result.replaceChildren();
    if (bad.length) {
      delete result.dataset.score;
      result.append(make("p", {}, `${bad[0]}: please type a number, or leave the field empty for a missing value.`));
      return;
    }
    const sum = score(values);
    result.dataset.score = String(sum);
    if (report.classes) {
      const p = probability(sum);
      result.dataset.probability = String(p);
      const inner = make("i", {});
      inner.style.width = 100 * p + "%";
      result.append(make("div", { class: "big" }, fixed(100 * p, 1) + " %"), make("div", {}, `probability of ${report.classes[1]}`), make("div", { class: "bar", "aria-hidden": "true" }, inner), make("div", {}, `score ${fixed(sum, 4)}`));
    } else result.append(make("div", { class: "big" }, number(sum, 6)), make("div", {}, "prediction"));
    waterfall();
  }

  function waterfall() {
    const bars = inOrder.map((feature) => [feature, contribution(feature, values.get(feature))]).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 16);
    const most = Math.max(1e-12, ...bars.map(([, value]) => Math.abs(value)));
    const rows = [make("span", {}, "(start)"), make("span", {}), make("span", { class: "number" }, number(report.intercept))];
    for (const [feature, value] of bars) {
      const inner = make("i", { class: value > 0 ? "up" : "down" });
      inner.style.left = value > 0 ? "50%" : 50 - (50 * -value) / most + "%";
      inner.style.width = (50 * Math.abs(value)) / most + "%";
      rows.push(make("span", { title: feature.name }, feature.name), make("div", { class: "track", "aria-hidden": "true" }, inner), make("span", { class: "number " + (value > 0 ? "up" : value < 0 ? "down" : "") }, signed(value)));
    }
    byId("waterfall").replaceChildren(make("div", { class: "fall", "aria-label": "Contributions, the largest first", role: "group" }, ...rows));
  }

  // ---- shape functions

  const WIDE = 360, HIGH = 200, LEFT = 42, RIGHT = 8, TOP = 12, BOTTOM = 24;

  function ticks(low, high, n) {
    const step = 10 ** Math.floor(Math.log10((high - low) / n || 1));
    const nice = [1, 2, 5, 10].map((m) => m * step).find((s) => (high - low) / s <= n) || step;
    const out = [];
    for (let t = Math.ceil(low / nice - 1e-9) * nice; t <= high + 1e-9 * nice; t += nice) out.push(Math.abs(t) < 1e-9 * nice ? 0 : t);
    return out;
  }

  function yAxis(svg, low, high) {
    const y = (value) => TOP + ((high - value) / (high - low)) * (HIGH - TOP - BOTTOM);
    for (const tick of ticks(low, high, 4)) svg.append(draw("line", { class: "axis", x1: LEFT - 3, x2: LEFT, y1: y(tick), y2: y(tick) }), draw("text", { x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end" }, number(tick)));
    svg.append(draw("line", { class: "axis", x1: LEFT, x2: LEFT, y1: TOP, y2: HIGH - BOTTOM }));
    return y;
  }

  function shapeCard(feature) {
    const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", tabindex: "0", "aria-label": `What ${feature.name} adds: ${feature.pieces.length} steps. Use the arrow keys to read them.` });
    const readout = make("div", { class: "readout", "aria-live": "polite" }, "\u00a0");
    const places = feature.kind === "category" ? drawLevels(svg, feature) : drawSteps(svg, feature);
    const cursor = draw("rect", { class: "cursor", y: TOP, height: HIGH - TOP - BOTTOM, width: 0, x: 0 });
    if (feature.kind === "category") { cursor.setAttribute("x", LEFT); cursor.setAttribute("width", WIDE - LEFT - RIGHT); cursor.setAttribute("height", 0); }
    svg.append(cursor);
    let at = -1;
    const show = (i) => {
      at = i;
      const place = places[i], piece = feature.pieces[place.piece];
      for (const [name, value] of Object.entries(place.box)) cursor.setAttribute(name, value);
      readout.textContent = `${piece.label}: adds ${signed(piece.value, 4)}` + (piece.count === null ? "" : ` · ${count(piece.count)} rows`);
    };
    const find = (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * WIDE, y = ((event.clientY - box.top) / box.height) * HIGH;
      const i = places.findIndex(({ box: b }) => x >= b.x && x <= b.x + b.width && (b.y === undefined || (y >= b.y && y <= b.y + b.height)));
      if (i >= 0 && i !== at) show(i);
    };
    svg.addEventListener("pointermove", find);
    svg.addEventListener("pointerdown", find);
    svg.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      show(Math.min(places.length - 1, Math.max(0, at + by)));
    });
    const rows = feature.pieces.map((piece) => [piece.label, signed(piece.value, 4), count(piece.count)]);
    const steps = make("details", {}, make("summary", {}, "As a table"), table(`What ${feature.name} adds to the score`, ["value", "adds", "rows"], rows));
    return make("div", { class: "card", "data-feature": feature.name }, make("h3", {}, feature.name), svg, readout, steps);
  }

  function heights(feature) {
    const all = [0, ...feature.pieces.map((piece) => piece.value)];
    const low = Math.min(...all), high = Math.max(...all), room = (high - low || 1) * 0.12;
    return [low - room - (feature.density.length ? 2 * room : 0), high + room];
  }

  function drawSteps(svg, feature) {
    const apart = feature.pieces.map((piece, i) => [piece, i]).filter(([piece]) => piece.kind !== "step" && (piece.value !== 0 || piece.count !== 0));
    const end = WIDE - RIGHT - (apart.length ? 6 + 34 * apart.length : 0);
    const [low, high] = feature.range;
    const x = (value) => LEFT + (0.04 + (0.92 * (value - low)) / (high - low)) * (end - LEFT);
    const y = yAxis(svg, ...heights(feature));
    density(svg, feature, x(low), x(high));
    svg.append(draw("line", { class: "zero", x1: LEFT, x2: WIDE - RIGHT, y1: y(0), y2: y(0) }));
    const places = [];
    let path = "";
    feature.pieces.forEach((piece, i) => {
      if (piece.kind !== "step") return;
      const from = piece.low === null ? LEFT : x(piece.low), to = piece.high === null ? end : x(piece.high);
      path += `${path ? "V" + y(piece.value) : `M${from} ${y(piece.value)}`}H${to}`;
      places.push({ piece: i, box: { x: from, width: Math.max(to - from, 1) } });
    });
    svg.append(draw("path", { class: "step", d: path }));
    xLabels(svg, feature, x, end);
    apart.forEach(([piece, i], k) => {
      const middle = end + 6 + 34 * k + 17, height = y(piece.value);
      svg.append(draw("path", { class: "mark", d: `M${middle} ${height - 5}l5 5l-5 5l-5 -5z` }), draw("text", { x: middle, y: HIGH - 8, "text-anchor": "middle" }, piece.label.replace("= ", "").replace("missing", "miss.").slice(0, 6)));
      places.push({ piece: i, box: { x: middle - 17, width: 34 } });
    });
    return places;
  }

  function density(svg, feature, start, end) {
    const most = Math.max(...feature.density, 1), width = (end - start) / feature.density.length, tall = 0.17 * (HIGH - TOP - BOTTOM);
    feature.density.forEach((rows, i) => { if (rows) svg.append(draw("rect", { class: "density", x: start + i * width, width, y: HIGH - BOTTOM - (rows / most) * tall, height: (rows / most) * tall })); });
  }

  function xLabels(svg, feature, x, end) {
    svg.append(draw("line", { class: "axis", x1: LEFT, x2: end, y1: HIGH - BOTTOM, y2: HIGH - BOTTOM }));
    const [low, high] = feature.range;
    const time = feature.kind === "date" || feature.kind === "datetime";
    const marks = time ? [low + 0.2 * (high - low), low + 0.75 * (high - low)] : feature.levels.length ? feature.levels.map((_, i) => i) : ticks(low, high, 5);
    for (const mark of marks) svg.append(draw("text", { x: x(mark), y: HIGH - 8, "text-anchor": "middle" }, time ? dateText(feature, Math.round(mark)).slice(0, 10) : feature.levels.length ? feature.levels[mark].slice(0, 8) : number(mark, 4)));
  }

  function drawLevels(svg, feature) {
    const shown = feature.pieces.map((piece, i) => [piece, i]).slice(0, 40), tall = Math.max(22, (HIGH - TOP - BOTTOM) / shown.length);
    const height = TOP + tall * shown.length + BOTTOM;
    svg.setAttribute("viewBox", `0 0 ${WIDE} ${height}`);
    const all = [0, ...shown.map(([piece]) => piece.value)], low = Math.min(...all), high = Math.max(...all), start = 120;
    const x = (value) => start + ((value - low) / (high - low || 1)) * (WIDE - RIGHT - 8 - start);
    svg.append(draw("line", { class: "zero", x1: x(0), x2: x(0), y1: TOP, y2: height - BOTTOM }));
    for (const tick of ticks(low, high > low ? high : low + 1, 4)) svg.append(draw("text", { x: x(tick), y: height - 8, "text-anchor": "middle" }, number(tick)));
    return shown.map(([piece, i], k) => {
      const y = TOP + k * tall;
      svg.append(draw("rect", { class: "levelbar", x: Math.min(x(0), x(piece.value)), width: Math.max(Math.abs(x(piece.value) - x(0)), 1), y: y + tall * 0.22, height: Math.min(tall * 0.56, 26) }), draw("text", { x: start - 8, y: y + tall * 0.22 + Math.min(tall * 0.56, 26) / 2 + 4, "text-anchor": "end" }, piece.label.length > 17 ? piece.label.slice(0, 16) + "…" : piece.label));
      return { piece: i, box: { x: 0, width: WIDE, y, height: tall } };
    });
  }

  // ---- charts with two number axes

  function chart(label, [xLow, xHigh], [yLow, yHigh], xName, yName) {
    const svg = draw("svg", { viewBox: `0 0 ${WIDE} 260`, role: "img", "aria-label": label });
    const x = (value) => LEFT + 6 + ((value - xLow) / (xHigh - xLow || 1)) * (WIDE - LEFT - RIGHT - 12), y = (value) => 10 + ((yHigh - value) / (yHigh - yLow || 1)) * (260 - 10 - 40);
    for (const tick of ticks(yLow, yHigh, 5)) svg.append(draw("line", { class: "axis", x1: LEFT, x2: WIDE - RIGHT, y1: y(tick), y2: y(tick), opacity: 0.6 }), draw("text", { x: LEFT - 4, y: y(tick) + 4, "text-anchor": "end" }, number(tick, 4)));
    for (const tick of ticks(xLow, xHigh, 6)) svg.append(draw("text", { x: x(tick), y: 235, "text-anchor": "middle" }, number(tick, 4)));
    svg.append(draw("text", { x: (WIDE + LEFT) / 2, y: 254, "text-anchor": "middle" }, xName));
    const title = make("h3", {}, yName);
    return { svg, x, y, card: make("div", { class: "card" }, title, svg) };
  }
  const line = (points, x, y, name) => draw("path", { class: name, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a)} ${y(b)}`).join(""), fill: "none" });

  // ---- quality

  function quality() {
    const section = byId("quality"), part = report.quality;
    if (!part) { section.append(make("p", { class: "note" }, "No rows were given to measure the model on.")); return; }
    section.append(make("p", { class: "note" }, part.held_out ? `Measured on ${count(part.rows)} rows that the model was not fitted to.` : `Measured on the ${count(part.rows)} rows that were given as training rows: numbers on new rows will be somewhat worse.`));
    const rows = part.metrics.map((metric) => [metric.name, number(metric.value, 4), `${number(metric.low, 4)} to ${number(metric.high, 4)}`, metric.better + " is better"]);
    section.append(table("Metrics with 95 % confidence intervals", ["metric", "value", "interval", ""], rows));
    const grid = make("div", { class: "grid" });
    grid.style.marginTop = "1rem";
    section.append(grid);
    grid.append(calibrationCard(part.calibration));
    if (part.roc) grid.append(rocCard(part.roc), confusionCard(part.confusion));
  }

  function calibrationCard(bins) {
    const all = report.classes ? [0, 1] : bins.flatMap((bin) => [bin.predicted, bin.low, bin.high]);
    const ends = [Math.min(...all), Math.max(...all)];
    const { svg, x, y, card } = chart("Calibration: observed against predicted", ends, ends, "predicted", report.classes ? `Calibration: share of ${report.classes[1]} observed` : "Calibration: mean observed");
    svg.append(line([[ends[0], ends[0]], [ends[1], ends[1]]], x, y, "ideal"), line(bins.map((bin) => [bin.predicted, bin.observed]), x, y, "step"));
    for (const bin of bins) svg.append(draw("line", { class: "whisker", x1: x(bin.predicted), x2: x(bin.predicted), y1: y(bin.low), y2: y(bin.high) }), draw("circle", { class: "dot", cx: x(bin.predicted), cy: y(bin.observed), r: 3.5 }, draw("title", {}, `${count(bin.count)} rows: predicted ${number(bin.predicted)}, observed ${number(bin.observed)}`)));
    const rows = bins.map((bin) => [number(bin.predicted), number(bin.observed), `${number(bin.low)} to ${number(bin.high)}`, count(bin.count)]);
    card.append(make("details", {}, make("summary", {}, "As a table"), table("Calibration", ["predicted", "observed", "interval", "rows"], rows)));
    return card;
  }

  let rocMark = null;
  function rocCard(roc) {
    const { svg, x, y, card } = chart("ROC curve", [0, 1], [0, 1], "false positive rate", "ROC: true positive rate");
    svg.append(line([[0, 0], [1, 1]], x, y, "ideal"), line(roc.false.map((value, i) => [value, roc.true[i]]), x, y, "step"));
    const dot = draw("path", { class: "mark", d: "M0 -6l6 6l-6 6l-6 -6z" });
    svg.append(dot);
    rocMark = (a, b) => dot.setAttribute("transform", `translate(${x(a)} ${y(b)})`);
    return card;
  }

  function confusionCard(part) {
    const n = part.true.length - 1, [lower, upper] = report.classes;
    const slider = make("input", { id: "threshold", type: "range", min: 0, max: n, value: n / 2, step: 1 });
    const out = make("div", { role: "status", "aria-live": "polite" });
    const show = () => {
      const i = Number(slider.value), tp = part.true[i], fp = part.false[i], fn = part.positives - tp, tn = part.negatives - fp;
      slider.setAttribute("aria-valuetext", fixed(i / n, 3));
      const share = (a, b) => (b ? fixed((100 * a) / b, 1) + " %" : "–");
      const row = (name, ...cells) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((value) => make("td", { class: "number" }, count(value))));
      const head = make("tr", {}, make("td", {}), make("th", { scope: "col", class: "number" }, `called ${upper}`), make("th", { scope: "col", class: "number" }, `called ${lower}`));
      out.replaceChildren(make("table", { class: "confusion" }, make("caption", {}, `Called ${upper} where the probability is above ${fixed(i / n, 3)}`), make("thead", {}, head), make("tbody", {}, row(`is ${upper}`, tp, fn), row(`is ${lower}`, fp, tn))),
        make("p", { class: "note" }, `Accuracy ${share(tp + tn, part.positives + part.negatives)} · sensitivity ${share(tp, part.positives)} · specificity ${share(tn, part.negatives)} · precision ${share(tp, tp + fp)}`));
      if (rocMark) rocMark(fp / Math.max(part.negatives, 1), tp / Math.max(part.positives, 1));
    };
    slider.addEventListener("input", show);
    const card = make("div", { class: "card" }, make("h3", {}, make("label", { for: "threshold" }, "Confusion at a threshold")), slider, out);
    show();
    return card;
  }

  // ---- the frontier

  function size() {
    const section = byId("size"), part = report.frontier;
    if (!part) { section.hidden = true; return; }
    const grid = make("div", { class: "grid" });
    section.append(make("p", { class: "note" }, "The best model found of each size; the diamond is this one. Filled dots are best at some price per term (lambda0)."), grid);
    grid.append(frontierCard(part, part.objective, part.own.objective, "Loss (with ridge), summed over rows"));
    if (part.score) grid.append(frontierCard(part, part.score, part.own.score, part.score_name + (report.quality.held_out ? " on the test rows" : " on the training rows")));
    const changes = [[1, "One more term"], [-1, "One term fewer"]].map(([by, name]) => neighbour(part, part.chosen + by, name)).filter((card) => card);
    grid.append(make("div", { class: "stack" }, ...changes));
    const rows = part.n_terms.map((k, i) => [String(k) + (k === part.chosen ? " (this size)" : ""), number(part.objective[i], 6), part.lambda0[i] === null ? "–" : number(part.lambda0[i], 4), part.score ? fixed(part.score[i], 4) : "–"]);
    section.append(make("details", {}, make("summary", {}, "All sizes as a table"), table("The frontier", ["terms", "loss", "best below lambda0", part.score_name], rows)));
  }

  function neighbour(part, terms, name) {
    const k = part.n_terms.indexOf(terms), change = part.neighbours[String(terms)];
    if (k < 0 || !change) return null;
    const difference = part.objective[k] - part.own.objective;
    const scored = part.score ? ` and move ${part.score_name} from ${fixed(part.own.score, 4)} to ${fixed(part.score[k], 4)}` : "";
    const items = [...change.added.map((term) => `in: ${term.condition} (${signed(term.coef)})`), ...change.removed.map((term) => `out: ${term.condition} (${signed(term.coef)})`)];
    const list = make("ul", {}, ...items.map((item) => make("li", {}, item)));
    const shown = items.length <= 3 ? list : make("details", {}, make("summary", {}, `${change.added.length} terms come in, ${change.removed.length} go out`), list);
    return make("div", { class: "card" }, make("h3", {}, name), make("p", {}, `would ${difference < 0 ? "lower" : "raise"} the loss by ${number(Math.abs(difference))}${scored}.`), shown);
  }

  function frontierCard(part, heights, own, name) {
    const low = Math.min(...heights, own), high = Math.max(...heights, own);
    const { svg, x, y, card } = chart(name + " by number of terms", [part.n_terms[0], part.n_terms[part.n_terms.length - 1]], [low, high], "number of terms", name);
    svg.append(line(part.n_terms.map((k, i) => [k, heights[i]]), x, y, "step"));
    part.n_terms.forEach((k, i) => svg.append(draw("circle", { class: part.lambda0[i] === null && i > 0 ? "hollow" : "dot", cx: x(k), cy: y(heights[i]), r: 3 }, draw("title", {}, `${k} terms: ${number(heights[i], 6)}`))));
    svg.append(draw("path", { class: "mark", d: `M${x(part.chosen)} ${y(own) - 7}l7 7l-7 7l-7 -7z` }, draw("title", {}, `this model: ${part.chosen} terms, ${number(own, 6)}`)));
    return card;
  }

  // ---- alternatives, reading, facts

  function alternatives() {
    const section = byId("alternatives"), part = report.alternatives;
    if (!part || (!part.terms.length && !part.note)) { section.hidden = true; return; }
    if (part.note) { section.append(make("p", { class: "note" }, "Not available: " + part.note)); return; }
    section.append(make("p", { class: "note" }, "How much the total loss would rise (all other terms refitted) if a term were dropped, or if the best column of a feature took its place. Substitutes that lose more than half of what the term brings are not listed: where there are none, the term is hard to replace."));
    const rows = [...part.terms].sort((a, b) => b.drop_cost - a.drop_cost).map(({ term, drop_cost, substitutes }) => {
      const list = make("ul", { style: null }, ...substitutes.map((s) => make("li", {}, `${s.term.condition} (${signed(s.term.coef)}): ${signed(s.cost)}`)));
      return [term.condition, signed(term.coef), signed(drop_cost), substitutes.length ? list : "none"];
    });
    section.append(table("Alternatives", ["term", "adds", "loss without it", "nearly as good, and what it costs"], rows));
  }

  function reading() {
    const section = byId("reading");
    const full = report.reading.some((column) => column.kind);
    if (full) section.append(make("p", { class: "note" }, `${count(report.facts.rows)} training rows. Numbers, dates and ordered levels become thresholds (x ≤ t), categories one column per level; missing and special values are columns of their own.`));
    const rows = report.reading.map((column) => (full ? [column.name, column.used ? "yes" : "no", column.kind, column.detail, count(column.missing), column.special, count(column.bins)] : [column.name, column.used ? "yes" : "no"]));
    section.append(table("Columns", full ? ["column", "in the model", "read as", "values", "missing", "special", "bins"] : ["column", "in the model"], rows));
  }

  function facts() {
    const part = report.facts, section = byId("facts");
    const hash = (value) => make("span", { class: "hash" }, value);
    const rows = [...Object.entries({ loss: report.loss, ...part.settings }), ...Object.entries(part.versions), ["written", part.date], ...Object.entries(part.hashes).map(([name, value]) => ["SHA-256 of the " + name, hash(value)])];
    section.append(table("Settings, versions, hashes", ["what", "value"], rows));
    if (part.edits.length) section.append(table("Edits by hand", ["when", "who", "what", "why", "loss", "AUC"], part.edits));
  }

  function filters() {
    for (const [input, items] of [[byId("form-filter"), "#form .field"], [byId("shape-filter"), "#shape-grid .card"]]) {
      if (report.features.length < 8) input.parentElement.hidden = true;
      input.addEventListener("input", () => { for (const item of document.querySelectorAll(items)) item.hidden = !item.dataset.feature.toLowerCase().includes(input.value.toLowerCase()); });
    }
  }

  byId("form").addEventListener("submit", (event) => event.preventDefault());
  report.features.forEach((feature, i) => byId("form").append(field(feature, i)));
  refresh();
  byId("shape-grid").append(...report.features.map(shapeCard));
  quality();
  size();
  alternatives();
  reading();
  facts();
  filters();
  head();
})();
