// The parts on quality, size, alternatives, reading and facts; and what puts all parts on the page.
// ---- what terms stand on, and which come back

function standing() {
  const section = byId("standing"), part = report.standing;
  if (!part) { section.hidden = true; return; }
  section.append(make("p", { class: "note" }, "Rows of the fit for which a term holds, and on its smaller side: no coefficient is known better than these tell. A ramp, min(x − t, 0), stands on the rows below its knot t. Standard errors are as if the terms had been given; they were chosen, so the errors are too small."));
  const events = part.start.events !== null, error = (value) => (value === null ? "–" : number(value));
  const rows = part.terms.map((term) => {
    const least = term.ramp ? term.rows : Math.min(term.rows, part.start.rows - term.rows);
    return [term.condition, perUnit(term, 4), error(term.error), count(term.rows), ...(events ? [count(term.events)] : []), count(least) + (least < part.few ? " (few)" : "")];
  });
  const start = ["(start)", signed(report.intercept, 4), error(part.start.error), count(part.start.rows), ...(events ? [count(part.start.events)] : []), ""];
  section.append(table("Terms and their rows", ["term", "adds", "std. error", "rows", ...(events ? [`rows with ${report.classes[1]}`] : []), "smaller side"], [start, ...rows]));
}

function stability() {
  const section = byId("stability"), part = report.stability;
  if (!part) { section.hidden = true; return; }
  const ramps = part.steps.some((step) => step.ramp), how = part.method === "half" ? "half of the rows each" : "as many rows, drawn with replacement";
  section.append(make("p", { class: "note" }, `The search was made again on ${part.n} samples of the rows (${how}), which gave ${part.n_terms[0]} to ${part.n_terms[1]} terms. A step is back where a sample has one of the same feature and direction that differs on at most ${number(100 * part.tolerance)} % of the rows${ramps ? `, a ramp where at most ${number(500 * part.tolerance)} % of the rows are between the two knots` : ""}. This is the honest measure of how far a term can be trusted.`));
  const share = (value) => make("span", { class: "share" }, make("meter", { min: 0, max: 1, value }), ` ${Math.round(100 * value)} %`);
  const rows = part.steps.map((step) => [step.condition, share(part.features[step.feature] || 0), share(step.share), perUnit(step), step.low === null ? "–" : `${signed(step.low)} to ${signed(step.high)}`]);
  section.append(table("Terms in samples of the rows", ["term", "feature is back", "term is back", "adds", "when back, nine in ten"], rows));
  if (part.others.length) section.append(make("p", { class: "note" }, "Not in this model, but in samples: " + part.others.slice(0, 8).map((name) => `${name} (${Math.round(100 * part.features[name])} %)`).join(", ") + (part.others.length > 8 ? ", …" : "") + "."));
}

// ---- quality

function quality() {
  const section = byId("quality"), part = report.quality;
  if (!part) { section.append(make("p", { class: "note" }, "No rows were given to measure the model on.")); return; }
  section.append(make("p", { class: "note" }, (part.prevalence ? `${count(part.prevalence.events)} of ${count(part.rows)} rows are ${report.classes[1]} (${percent(part.prevalence.share)}). ` : "") + (part.held_out ? `Measured on ${count(part.rows)} rows that the model was not fitted to.` : `Measured on the ${count(part.rows)} rows that were given as training rows: numbers on new rows will be somewhat worse.`)));
  const rows = part.metrics.map((metric) => [metric.name, number(metric.value, 4), `${number(metric.low, 4)} to ${number(metric.high, 4)}`, metric.better]);
  section.append(table("Metrics with 95 % confidence intervals", ["metric", "value", "interval", "better"], rows));
  const grid = make("div", { class: "grid" });
  grid.style.marginTop = "1rem";
  section.append(grid);
  grid.append(calibrationCard(part.calibration));
  if (part.roc) grid.append(rocCard(part.roc), gainsCard(part.gains), benefitCard(part.benefit), confusionCard(part.confusion));
  if (part.groups) section.append(make("h3", { class: "apart" }, "In groups of rows"), groupsTable(part.groups));
}

function calibrationCard(bins) {
  const all = report.classes ? [0, 1] : bins.flatMap((bin) => [bin.predicted, bin.low, bin.high]);
  const ends = [Math.min(...all), Math.max(...all)];
  const { svg, x, y, card } = chart("Calibration: observed against predicted", ends, ends, "predicted", report.classes ? `Calibration: share of ${report.classes[1]} observed` : "Calibration: mean observed");
  svg.append(line([[ends[0], ends[0]], [ends[1], ends[1]]], x, y, "ideal"), line(bins.map((bin) => [bin.predicted, bin.observed]), x, y, "step"));
  for (const bin of bins) svg.append(draw("line", { class: "whisker", x1: x(bin.predicted), x2: x(bin.predicted), y1: y(bin.low), y2: y(bin.high) }), draw("circle", { class: "dot", cx: x(bin.predicted), cy: y(bin.observed), r: 3.5 }, draw("title", {}, `${count(bin.count)} rows: predicted ${number(bin.predicted)}, observed ${number(bin.observed)}`)));
  const rows = bins.map((bin) => [number(bin.predicted), number(bin.observed), `${number(bin.low)} to ${number(bin.high)}`, count(bin.count)]);
  card.append(folded("As a table", table("Calibration", ["predicted", "observed", "interval", "rows"], rows)));
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
    if (benefitMark) benefitMark(i);
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
  section.append(folded("All sizes as a table", table("The frontier", ["terms", "loss", "best below lambda0", part.score_name], rows)));
}

function neighbour(part, terms, name) {
  const k = part.n_terms.indexOf(terms), change = part.neighbours[String(terms)];
  if (k < 0 || !change) return null;
  const difference = part.objective[k] - part.own.objective;
  const scored = part.score ? ` and move ${part.score_name} from ${fixed(part.own.score, 4)} to ${fixed(part.score[k], 4)}` : "";
  const items = [...change.added.map((term) => `in: ${term.condition} (${perUnit(term)})`), ...change.removed.map((term) => `out: ${term.condition} (${perUnit(term)})`)];
  const list = make("ul", {}, ...items.map((item) => make("li", {}, item)));
  const shown = items.length <= 3 ? list : folded(`${change.added.length} terms come in, ${change.removed.length} go out`, list);
  return make("div", { class: "card" }, make("h3", {}, name), make("p", {}, `would ${difference < 0 ? "lower" : "raise"} the loss by ${number(Math.abs(difference))}${scored}.`), shown);
}

function frontierCard(part, heights, own, name) {
  const all = [...heights.filter((height) => height !== null), own], low = Math.min(...all), high = Math.max(...all);
  const { svg, x, y, card } = chart(name + " by number of terms", [part.n_terms[0], part.n_terms[part.n_terms.length - 1]], [low, high], "number of terms", name);
  const known = part.n_terms.map((k, i) => [k, i]).filter(([, i]) => heights[i] !== null);
  svg.append(line(known.map(([k, i]) => [k, heights[i]]), x, y, "step"));
  known.forEach(([k, i]) => svg.append(draw("circle", { class: part.lambda0[i] === null && i > 0 ? "hollow" : "dot", cx: x(k), cy: y(heights[i]), r: 3 }, draw("title", {}, `${k} terms: ${number(heights[i], 6)}`))));
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
    const list = make("ul", { style: null }, ...substitutes.map((s) => make("li", {}, `${s.term.condition} (${perUnit(s.term)}): ${signed(s.cost)}`)));
    return [term.condition, perUnit(term), signed(drop_cost), substitutes.length ? list : "none"];
  });
  section.append(table("Alternatives", ["term", "adds", "loss without it", "nearly as good, and what it costs"], rows));
}

function reading() {
  const section = byId("reading");
  const full = report.reading.some((column) => column.kind);
  if (full) section.append(make("p", { class: "note" }, `${count(report.facts.rows)} training rows. Numbers, dates and ordered levels become thresholds (x ≤ t)${report.terms.some((term) => term.ramp) ? ", numbers ramps too (min(x − t, 0))" : ""}, categories one column per level; missing and special values are columns of their own. A value that no training row had (missing, special or of a new level) ${report.later}.`));
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
    input.addEventListener("input", () => { for (const item of document.querySelectorAll(items)) item.hidden = ![item.dataset.feature, item.querySelector("label, h3").textContent].some((name) => name.toLowerCase().includes(input.value.toLowerCase())); });
  }
}

byId("form").addEventListener("submit", (event) => event.preventDefault());
report.features.forEach((feature, i) => byId("form").append(field(feature, i)));
changePart();
refresh();
if (linear) byId("score").querySelector(".hint").textContent = "Type or slide the values of one case.";
if (report.centred) for (const id of ["score", "shapes"]) byId(id).querySelector(".hint").append(" What a feature adds is measured against its mean over the training rows.");
if (report.pairs.length) byId("shapes").querySelector(".hint").append(" What two features add together comes on top of what each adds by itself.");
const cards = [...inOrder.map((feature) => [feature, shapeCard]), ...report.pairs.map((pair) => [pair, pairCard])];
byId("shape-grid").append(...cards.sort(([a], [b]) => b.importance - a.importance).map(([part, card]) => card(part)));
classes();
about();
standing();
stability();
points();
quality();
size();
alternatives();
reading();
unseen();
facts();
filters();
head();
// In print everything is unfolded, and folded again after it.
const closed = () => [...document.querySelectorAll("details:not([open]):not(#change)")];
let unfolded = [];
addEventListener("beforeprint", () => { unfolded = closed(); for (const one of unfolded) one.open = true; });
addEventListener("afterprint", () => { for (const one of unfolded) one.open = false; });
