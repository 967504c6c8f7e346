// The head of the page and the scoring form: a row in, its score out, as the model gives it.
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

const linear = report.features.some((feature) => feature.weight !== undefined);
const titled = (feature) => feature.label + (feature.unit ? ` (${feature.unit})` : "");

// ---- scoring: the same sums in the same order as Model.decision_function

function contribution(feature, value) {
  if (feature.weight !== undefined) return feature.weight * (value - feature.centre);
  if (Number.isNaN(value)) return feature.missing;
  if (feature.levels.length && value < 0) return feature.unseen;
  if (feature.kind === "category") return feature.level_values[value];
  for (const special of feature.special) if (value === special.number) return special.value;
  let low = 0, high = feature.edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (feature.edges[middle] < value) low = middle + 1; else high = middle;
  }
  const end = feature.values[low], slope = feature.slopes[low], start = feature.starts[low];
  if (!slope) return end;
  return Math.min(Math.max(end + slope * (value - feature.edges[low]), Math.min(start, end)), Math.max(start, end)); // rounding leads beyond neither end
}
// What is shown of it: against the mean over the training rows, where that is known.
const shown = (feature, value) => contribution(feature, value) - feature.mean;
const byName = new Map(report.features.map((feature) => [feature.name, feature]));
const inOrder = report.features.filter((feature) => feature.own).sort((a, b) => a.place - b.place);
function score(values) {
  let sum = report.intercept;
  for (const feature of inOrder) sum += contribution(feature, values.get(feature));
  for (const pair of report.pairs) sum += together(pair, values);
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
  box.append(make("div", { class: "name" }, make("label", { for: id }, titled(feature)), output), row);
  if (control.slider) box.append(control.slider);
  refreshers.push(() => {
    const value = values.get(feature);
    const adds = value === null ? null : shown(feature, value);
    output.textContent = adds === null ? "?" : feature.own ? signed(adds) : "";
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
  const slider = make("input", { type: "range", min: low, max: high, step: feature.whole && !time ? 1 : "any", "aria-label": feature.label + ", slider" });
  const write = (value) => (Number.isNaN(value) ? "" : time ? dateText(feature, value) : String(value));
  const parse = (text) => {
    if (text.trim() === "") return feature.weight === undefined ? NaN : null;
    const value = time ? Date.parse(text + (feature.kind === "date" ? "T00:00:00Z" : "Z")) * (feature.kind === "date" ? 1 / DAY : 1000) : Number(text.trim().replace("−", "-"));
    return Number.isFinite(value) ? value : null;
  };
  const place = (value) => { input.value = write(value); slide(value); set(value); };
  const slide = (value) => { if (value !== null && !Number.isNaN(value)) slider.value = value; };
  input.addEventListener("input", () => { const value = parse(input.value); input.setAttribute("aria-invalid", String(value === null)); slide(value); set(value); });
  slider.addEventListener("input", () => { const value = time ? Math.round(slider.valueAsNumber) : feature.whole ? slider.valueAsNumber : Number(slider.valueAsNumber.toPrecision(5)); input.value = write(value); input.setAttribute("aria-invalid", "false"); set(value); });
  const button = (label, value) => { const b = make("button", { type: "button", "aria-label": feature.label + ": " + label }, label); b.addEventListener("click", () => place(value)); row.append(b); };
  if (feature.weight === undefined) button("missing", NaN);
  for (const special of feature.special.slice(0, 6)) button(special.label, special.number);
  const start = feature.start === null ? NaN : feature.start;
  input.value = write(start);
  slide(start);
  return { element: input, slider, start };
}

function refresh() {
  for (const show of refreshers) show();
  const bad = [...values].filter(([, value]) => value === null).map(([feature]) => feature.label);
  const result = byId("result");
  result.replaceChildren();
  if (bad.length) {
    delete result.dataset.score;
    result.append(make("p", {}, `${bad[0]}: please type a number${linear ? "" : ", or leave the field empty for a missing value"}.`));
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
  showChange();
}

function waterfall() {
  const parts = [...inOrder.map((feature) => [feature, shown(feature, values.get(feature))]), ...report.pairs.map((pair) => [pair, together(pair, values) - pair.mean])];
  const bars = parts.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 16);
  const most = Math.max(1e-12, ...bars.map(([, value]) => Math.abs(value)));
  const rows = [make("span", {}, report.centred ? "(mean score)" : "(start)"), make("span", {}), make("span", { class: "number" }, number(report.baseline))];
  for (const [feature, value] of bars) {
    const inner = make("i", { class: value > 0 ? "up" : "down" });
    inner.style.left = value > 0 ? "50%" : 50 - (50 * -value) / most + "%";
    inner.style.width = (50 * Math.abs(value)) / most + "%";
    rows.push(make("span", { title: feature.label }, feature.label), make("div", { class: "track", "aria-hidden": "true" }, inner), make("span", { class: "number " + (value > 0 ? "up" : value < 0 ? "down" : "") }, signed(value)));
  }
  byId("waterfall").replaceChildren(make("div", { class: "fall", "aria-label": "Contributions, the largest first", role: "group" }, ...rows));
}
