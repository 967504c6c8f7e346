// The scoring form: enter a row and read its score, computed exactly as in Python.

// ---- values of a feature: numbers on its scale, as in Python (NaN is missing, -1 is a new level)

const DAY = 86400000;
function dateText(feature, value) {
  if (feature.kind === "date") return new Date(value * DAY).toISOString().slice(0, 10);
  return new Date(value / 1000).toISOString().slice(0, 19);
}
function valueText(feature, value) {
  if (Number.isNaN(value)) return "missing";
  if (feature.kind === "date" || feature.kind === "datetime") return dateText(feature, value).replace("T", " ");
  if (feature.kind === "boolean") return value === 1 ? "True" : value === 0 ? "False" : String(value);
  if (feature.levels.length) return value < 0 ? "new level" : feature.levels[value];
  return number(value, 6);
}

const isLinear = report.features.some((feature) => feature.weight !== undefined);
const labelWithUnit = (feature) => feature.label + (feature.unit ? ` (${feature.unit})` : "");

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
  // Rounding must not lead beyond the ends of the piece, so that monotone functions stay monotone.
  return Math.min(Math.max(end + slope * (value - feature.edges[low]), Math.min(start, end)), Math.max(start, end));
}
// Contributions are shown relative to their mean over the training data, if it is known.
const shownContribution = (feature, value) => contribution(feature, value) - feature.mean;
const byName = new Map(report.features.map((feature) => [feature.name, feature]));
const mainEffects = report.features.filter((feature) => feature.has_main_effect).sort((a, b) => a.position - b.position);
function score(values) {
  let sum = report.intercept;
  for (const feature of mainEffects) sum += contribution(feature, values.get(feature));
  for (const interaction of report.interactions) sum += interactionContribution(interaction, values);
  return sum;
}
const probability = (sum) => 0.5 * (1 + Math.tanh(0.5 * report.log_odds_slope * sum));

// ---- the head of the page

function showHead() {
  byId("title").textContent = report.title;
  byId("summary").textContent = report.summary;
  byId("equation-text").textContent = report.equation;
  const chip = (value, name) => make("span", { class: "chip" }, make("b", {}, value), make("small", {}, name));
  byId("headline").append(chip(String(report.terms.length), report.terms.length === 1 ? "term" : "terms"), chip(String(report.features.length), report.features.length === 1 ? "feature" : "features"));
  for (const metric of report.performance ? report.performance.metrics : []) byId("headline").append(chip(number(metric.value), metric.name));
  const links = [...document.querySelectorAll("main section")].filter((section) => !section.hidden).map((section) => make("li", {}, make("a", { href: "#" + section.id }, section.querySelector("h2").textContent)));
  byId("contents").append(make("ul", {}, ...links));
  const button = byId("theme");
  const isDark = () => (document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const update = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; update(); });
  update();
}

// ---- the fields; the value of a field that cannot be read is null

const values = new Map();
const outputUpdates = [];

function formField(feature, i) {
  const id = "field-" + i;
  const output = make("output", { for: id });
  const box = make("div", { class: "field", "data-feature": feature.name });
  const row = make("div", { class: "row" });
  const set = (value) => { values.set(feature, value); box.classList.toggle("bad", value === null); updateResult(); };
  const control = feature.levels.length || feature.kind === "boolean" ? selectField(feature, id, set) : textField(feature, id, set, row);
  row.prepend(control.element);
  box.append(make("div", { class: "name" }, make("label", { for: id }, labelWithUnit(feature)), output), row);
  if (control.slider) box.append(control.slider);
  outputUpdates.push(() => {
    const value = values.get(feature);
    const shown = value === null ? null : shownContribution(feature, value);
    output.textContent = shown === null ? "?" : feature.has_main_effect ? signed(shown) : "";
    output.className = shown > 0 ? "up" : shown < 0 ? "down" : "";
  });
  values.set(feature, control.initial);
  return box;
}

function selectField(feature, id, set) {
  const names = feature.kind === "boolean" ? ["False", "True"] : feature.levels;
  const select = make("select", { id });
  names.forEach((name, i) => select.append(make("option", { value: String(i) }, name)));
  if (feature.levels.length) select.append(make("option", { value: "-1" }, "(new level)"));
  select.append(make("option", { value: "NaN" }, "(missing)"));
  const initial = feature.initial === null ? 0 : feature.initial;
  select.value = String(initial);
  select.addEventListener("input", () => set(Number(select.value)));
  return { element: select, initial };
}

function textField(feature, id, set, row) {
  const isTime = feature.kind === "date" || feature.kind === "datetime";
  const input = make("input", { id, type: feature.kind === "date" ? "date" : isTime ? "datetime-local" : "text", inputmode: isTime ? null : "decimal", step: feature.kind === "datetime" ? "1" : null, spellcheck: "false" });
  const [low, high] = feature.range;
  const slider = make("input", { type: "range", min: low, max: high, step: feature.is_whole && !isTime ? 1 : "any", "aria-label": feature.label + ", slider" });
  const write = (value) => (Number.isNaN(value) ? "" : isTime ? dateText(feature, value) : String(value));
  const parse = (text) => {
    if (text.trim() === "") return feature.weight === undefined ? NaN : null;
    const value = isTime ? Date.parse(text + (feature.kind === "date" ? "T00:00:00Z" : "Z")) * (feature.kind === "date" ? 1 / DAY : 1000) : Number(text.trim().replace("−", "-"));
    return Number.isFinite(value) ? value : null;
  };
  const moveSlider = (value) => { if (value !== null && !Number.isNaN(value)) slider.value = value; };
  input.addEventListener("input", () => { const value = parse(input.value); input.setAttribute("aria-invalid", String(value === null)); moveSlider(value); set(value); });
  slider.addEventListener("input", () => { const value = isTime ? Math.round(slider.valueAsNumber) : feature.is_whole ? slider.valueAsNumber : Number(slider.valueAsNumber.toPrecision(5)); input.value = write(value); input.setAttribute("aria-invalid", "false"); set(value); });
  const addButton = (label, value) => {
    const button = make("button", { type: "button", "aria-label": feature.label + ": " + label }, label);
    button.addEventListener("click", () => { input.value = write(value); moveSlider(value); set(value); });
    row.append(button);
  };
  if (feature.weight === undefined) addButton("missing", NaN);
  for (const special of feature.special.slice(0, 6)) addButton(special.label, special.number);
  const initial = feature.initial === null ? NaN : feature.initial;
  input.value = write(initial);
  moveSlider(initial);
  return { element: input, slider, initial };
}

function updateResult() {
  for (const update of outputUpdates) update();
  const invalid = [...values].filter(([, value]) => value === null).map(([feature]) => feature.label);
  const result = byId("result");
  result.replaceChildren();
  if (invalid.length) {
    delete result.dataset.score;
    result.append(make("p", {}, `${invalid[0]}: enter a number${isLinear ? "" : ", or leave the field empty for a missing value"}.`));
    return;
  }
  const sum = score(values);
  result.dataset.score = String(sum);
  if (report.classes) {
    const p = probability(sum);
    result.dataset.probability = String(p);
    const bar = make("i", {});
    bar.style.width = 100 * p + "%";
    result.append(make("div", { class: "big" }, fixed(100 * p, 1) + " %"), make("div", {}, `probability of ${report.classes[1]}`), make("div", { class: "bar", "aria-hidden": "true" }, bar), make("div", {}, `score ${fixed(sum, 4)}`));
  } else result.append(make("div", { class: "big" }, number(sum, 6)), make("div", {}, "prediction"));
  showWaterfall();
  showCounterfactual();
}

const MAX_BARS = 16;

function showWaterfall() {
  const parts = [...mainEffects.map((feature) => [feature, shownContribution(feature, values.get(feature))]), ...report.interactions.map((one) => [one, interactionContribution(one, values) - one.mean])];
  const bars = parts.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, MAX_BARS);
  const largest = Math.max(1e-12, ...bars.map(([, value]) => Math.abs(value)));
  const cells = [make("span", {}, report.centred ? "(training mean)" : "(intercept)"), make("span", {}), make("span", { class: "number" }, number(report.baseline))];
  for (const [part, value] of bars) {
    const bar = make("i", { class: value > 0 ? "up" : "down" });
    bar.style.left = value > 0 ? "50%" : 50 - (50 * -value) / largest + "%";
    bar.style.width = (50 * Math.abs(value)) / largest + "%";
    cells.push(make("span", { title: part.label }, part.label), make("div", { class: "track", "aria-hidden": "true" }, bar), make("span", { class: "number " + (value > 0 ? "up" : value < 0 ? "down" : "") }, signed(value)));
  }
  byId("waterfall").replaceChildren(make("div", { class: "fall", "aria-label": "Contributions, largest first", role: "group" }, ...cells));
}
