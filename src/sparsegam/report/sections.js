// The remaining sections, and the code that fills the page.

function hideUnless(section, condition) {
  section.hidden = !condition;
  return condition;
}

function showClasses() {
  const section = byId("classes");
  if (!hideUnless(section, content.parts)) return;
  const links = content.names.map((name, i) => make("li", {}, content.parts[i] === report ? make("b", { "aria-current": "page" }, name) : make("a", { href: `?class=${i}` }, name)));
  section.append(note("One model separates each class from the rest. The class with the highest probability is predicted; the probabilities are normalised to sum to 1. This page describes the model of one class:"), make("ul", { class: "choices" }, ...links));
  const part = content.overall;
  if (!part) return;
  section.append(make("p", {}, `All classes together, on ${plural(part.rows, "row")} of ${part.held_out ? "test" : "training"} data: accuracy ${percent(part.accuracy)}, log loss ${number(part.log_loss, 4)}${part.ignores_weights ? " (without sample weights)" : ""}.`));
  section.append(table("Confusion matrix", ["actual class", ...content.names.map((name) => `predicted ${name}`)], part.confusion.map((row, i) => [content.names[i], ...row.map(count)])));
}

function showAbout() {
  const section = byId("about");
  if (!hideUnless(section, report.about.length)) return;
  for (const [title, text] of report.about) section.append(make("h3", {}, title), ...text.split(/\n\s*\n/).map((part) => make("p", {}, part)));
}

function showTermStatistics() {
  const section = byId("term-statistics"), part = report.term_statistics;
  if (!hideUnless(section, part)) return;
  section.append(note("Number of training rows for which a term is 1, or below the knot t for a ramp min(x − t, 0). “Smaller group” is the smaller number of the rows with and without the term; it limits the precision of the coefficient. Intervals are those of the coefficient without the shrinkage of the ridge and therefore not centred at the coefficient. Standard errors and intervals ignore that the terms were selected and are therefore too small."));
  const hasEvents = part.intercept.events !== null, error = (value) => (value === null ? "–" : number(value)), interval = (ends) => (ends ? `${signed(ends[0], 3)} to ${signed(ends[1], 3)}` : "–");
  const rows = part.terms.map((term) => {
    const smaller = term.ramp ? term.rows : Math.min(term.rows, part.intercept.rows - term.rows);
    return [term.condition, coefficient(term, 4), error(term.error), interval(term.interval), count(term.rows), ...(hasEvents ? [count(term.events)] : []), count(smaller) + (smaller < part.few_rows ? " (few)" : "")];
  });
  const intercept = ["(intercept)", signed(report.intercept, 4), error(part.intercept.error), "", count(part.intercept.rows), ...(hasEvents ? [count(part.intercept.events)] : []), ""];
  section.append(table("Coefficients and rows of the terms", ["term", "coefficient", "std. error", "95 % interval", "rows", ...(hasEvents ? [`${report.classes[1]} rows`] : []), "smaller group"], [intercept, ...rows]));
}

function showStability() {
  const section = byId("stability"), part = report.stability;
  if (!hideUnless(section, part)) return;
  const hasRamps = part.terms.some((term) => term.ramp), sampling = part.method === "half" ? "half of the rows, drawn without replacement" : "as many rows, drawn with replacement";
  section.append(note(`The model was refitted to ${part.n_resamples} resamples of the training data (${sampling}), with ${part.n_terms[0]} to ${part.n_terms[1]} terms. A term counts as selected again if a refitted model has a term of the same feature and direction that differs for at most ${number(100 * part.tolerance)} % of the rows${hasRamps ? `; for a ramp, if at most ${number(500 * part.tolerance)} % of the rows are between the two knots` : ""}.`));
  const share = (value) => make("span", { class: "share" }, make("meter", { min: 0, max: 1, value }), ` ${Math.round(100 * value)} %`);
  const rows = part.terms.map((term) => [term.condition, share(part.features[term.feature] || 0), share(term.share), coefficient(term), term.low === null ? "–" : `${signed(term.low)} to ${signed(term.high)}`]);
  section.append(table("Selection frequencies", ["term", "feature selected", "term selected", "coefficient", "90 % range when selected"], rows));
  const others = part.other_features.slice(0, 8).map((name) => `${name} (${Math.round(100 * part.features[name])} %)`);
  if (others.length) section.append(note(`Selected in resamples, but not part of this model: ${others.join(", ")}${part.other_features.length > 8 ? ", …" : ""}.`));
}

function showScorecard() {
  const section = byId("scorecard"), part = report.scorecard;
  if (!hideUnless(section, part)) return;
  const text = [`The total is the sum of ${part.base ? `${part.base} base points and ` : ""}the points of each feature.`, `Higher totals mean ${part.rising ? "higher" : "lower"} risk of ${report.classes[1]}.`, `${part.formula}.`];
  if (part.rounding) text.push(`Rounding: ${part.rounding}.`);
  section.append(note(text.join(" ")));
  const hasRows = part.lines.some((line) => line.rows !== undefined);
  const rows = part.lines.map((line, i) => [i && part.lines[i - 1].feature === line.feature ? "" : line.feature, line.step, String(line.points).replace("-", "−"), ...(hasRows ? [count(line.rows), percent(line.share), count(line.events), percent(line.event_rate), line.woe === null ? "–" : signed(line.woe), fixed(line.iv, 4)] : [])]);
  section.append(table("Points", ["feature", "value", "points", ...(hasRows ? ["rows", "share", report.classes[1], "rate", "WoE", "IV"] : [])], rows));
  if (part.risks.length) section.append(table("Risk by total points", ["points", "rows", report.classes[1], "observed rate", "predicted risk"], part.risks.map((one) => [one.low === one.high ? String(one.low) : `${one.low} to ${one.high}`, count(one.rows), count(one.events), percent(one.rate), percent(one.risk)])));
  if (part.values.length) section.append(note("Information values: " + part.values.map(([name, value]) => `${name} ${fixed(value)}`).join(", ") + "."));
}

function showSize() {
  const section = byId("size"), part = report.frontier;
  if (!hideUnless(section, part)) return;
  const grid = make("div", { class: "grid" });
  section.append(note("The best model found for each number of terms. The diamond marks this model. Filled dots are optimal for some penalty per term (lambda0)."), grid);
  grid.append(sizeCard(part, part.objective, part.model.objective, "Training objective (loss + ridge)"));
  if (part.score) grid.append(sizeCard(part, part.score, part.model.score, (report.performance.held_out ? "Test " : "Training ") + part.score_name));
  const changes = [[1, "One term more"], [-1, "One term fewer"]].map(([by, name]) => neighbourCard(part, part.selected + by, name)).filter((card) => card);
  grid.append(make("div", { class: "stack" }, ...changes));
  const rows = part.n_terms.map((k, i) => [String(k) + (k === part.selected ? " (this size)" : ""), number(part.objective[i], 6), part.lambda0[i] === null ? "–" : number(part.lambda0[i], 4), part.score ? fixed(part.score[i], 4) : "–"]);
  section.append(collapsible("As a table", table("Models by number of terms", ["terms", "objective", "optimal below lambda0", part.score_name], rows)));
}

function neighbourCard(part, terms, name) {
  const k = part.n_terms.indexOf(terms), change = part.neighbours[String(terms)];
  if (k < 0 || !change) return null;
  const difference = part.objective[k] - part.model.objective;
  const scored = part.score ? ` The ${part.score_name} changes from ${fixed(part.model.score, 4)} to ${fixed(part.score[k], 4)}.` : "";
  const items = [...change.added.map((term) => `added: ${term.condition} (${coefficient(term)})`), ...change.removed.map((term) => `removed: ${term.condition} (${coefficient(term)})`)];
  const list = make("ul", {}, ...items.map((item) => make("li", {}, item)));
  const shown = items.length <= 3 ? list : collapsible(`${change.added.length} terms added, ${change.removed.length} removed`, list);
  return make("div", { class: "card" }, make("h3", {}, name), make("p", {}, `${difference < 0 ? "Lowers" : "Raises"} the training objective by ${number(Math.abs(difference))}.${scored}`), shown);
}

function sizeCard(part, heights, own, name) {
  const all = [...heights.filter((height) => height !== null), own], low = Math.min(...all), high = Math.max(...all);
  const { svg, x, y, card } = chart(name + " by number of terms", [part.n_terms[0], part.n_terms[part.n_terms.length - 1]], [low, high], "number of terms", name);
  const known = part.n_terms.map((k, i) => [k, i]).filter(([, i]) => heights[i] !== null);
  svg.append(line(known.map(([k, i]) => [k, heights[i]]), x, y, "step"));
  known.forEach(([k, i]) => svg.append(draw("circle", { class: part.lambda0[i] === null && i > 0 ? "hollow" : "dot", cx: x(k), cy: y(heights[i]), r: 3 }, draw("title", {}, `${plural(k, "term")}: ${number(heights[i], 6)}`))));
  svg.append(draw("path", { class: "mark", d: `M${x(part.selected)} ${y(own) - 7}l7 7l-7 7l-7 -7z` }, draw("title", {}, `this model: ${plural(part.selected, "term")}, ${number(own, 6)}`)));
  return card;
}

function showAlternatives() {
  const section = byId("alternatives"), part = report.alternatives;
  if (!hideUnless(section, part && (part.terms.length || part.note))) return;
  if (part.note) { section.append(note("Not available: " + part.note)); return; }
  section.append(note("Increase of the training objective if a term is removed, or replaced by the best term of any feature, with all other terms refitted. Replacements that lose more than half of the improvement due to the term are not listed."));
  const rows = [...part.terms].sort((a, b) => b.drop_cost - a.drop_cost).map(({ term, drop_cost, substitutes }) => {
    const list = make("ul", {}, ...substitutes.map((one) => make("li", {}, `${one.term.condition} (${coefficient(one.term)}): ${signed(one.cost)}`)));
    return [term.condition, coefficient(term), signed(drop_cost), substitutes.length ? list : "none"];
  });
  section.append(table("Removing or replacing each term", ["term", "coefficient", "if removed", "replacements and their increase"], rows));
}

function showColumns() {
  const section = byId("columns"), isFull = report.columns.some((column) => column.kind);
  if (isFull) section.append(note(`${plural(report.provenance.rows, "training row")}. Numbers, dates and ordered levels can be split at thresholds (x ≤ t)${report.terms.some((term) => term.ramp) ? ", and numbers can have ramps min(x − t, 0)" : ""}. Categories, missing values and special values have separate terms. A value that does not occur in the training data (missing, special or a new level) ${report.new_value_rule}.`));
  const rows = report.columns.map((column) => (isFull ? [column.name, column.used ? "yes" : "no", column.kind, column.detail, count(column.missing), column.special, count(column.bins)] : [column.name, column.used ? "yes" : "no"]));
  section.append(table("Columns", isFull ? ["column", "in the model", "type", "values", "missing", "special", "bins"] : ["column", "in the model"], rows));
}

function showRanges() {
  const section = byId("ranges"), part = report.ranges, kinds = ["a missing value", "a special value", "a new level"];
  if (!hideUnless(section, part && part.features.length)) return;
  section.append(note(`Predictions for such values are extrapolations. Below the lowest and above the highest training value, the contribution of a feature stays constant. A missing value, a special value or a new level that does not occur in the training data ${report.new_value_rule}.`));
  const rows = part.features.map((one) => [one.name, one.ends ? `${one.ends[0]} to ${one.ends[1]}` : "", one.absent.join(", ") || "–", ...(part.has_test ? [count(one.outside), count(kinds.reduce((sum, kind) => sum + (one.new_values[kind] || 0), 0))] : [])]);
  section.append(table("Range of the training data", ["feature", "training range", "not in training data", ...(part.has_test ? ["test rows outside the range", "test rows with new values"] : [])], rows));
}

function showProvenance() {
  const section = byId("provenance"), part = report.provenance;
  const rows = [...Object.entries({ loss: report.loss, ...part.settings }), ...Object.entries(part.versions), ["created", part.date], ...Object.entries(part.hashes).map(([name, value]) => ["SHA-256 of the " + name, make("span", { class: "hash" }, value)])];
  section.append(table("Settings, versions and hashes", ["name", "value"], rows));
  if (part.edits.length) section.append(table("Manual edits", ["date", "author", "change", "reason", "loss", "AUC"], part.edits));
}

function activateFilters() {
  for (const [input, items] of [[byId("form-filter"), "#form .field"], [byId("shape-filter"), "#shape-grid .card"]]) {
    input.parentElement.hidden = report.features.length < 8;
    input.addEventListener("input", () => { for (const item of document.querySelectorAll(items)) item.hidden = ![item.dataset.feature, item.querySelector("label, h3").textContent].some((name) => name.toLowerCase().includes(input.value.toLowerCase())); });
  }
}

byId("form").addEventListener("submit", (event) => event.preventDefault());
report.features.forEach((feature, i) => byId("form").append(formField(feature, i)));
createCounterfactual();
updateResult();
if (isLinear) byId("score").querySelector(".hint").textContent = "Enter the values of one case.";
if (report.centred) for (const id of ["score", "shapes"]) byId(id).querySelector(".hint").append(" Contributions are relative to their mean over the training data.");
if (report.interactions.length) byId("shapes").querySelector(".hint").append(" Interactions are added to the contributions of the single features.");
const cards = [...mainEffects.map((feature) => [feature, shapeCard]), ...report.interactions.map((one) => [one, interactionCard])];
byId("shape-grid").append(...cards.sort(([a], [b]) => b.importance - a.importance).map(([part, card]) => card(part)));
for (const show of [showClasses, showAbout, showTermStatistics, showStability, showScorecard, showPerformance, showSize, showAlternatives, showColumns, showRanges, showProvenance, activateFilters, showHead]) show();

// In print all collapsible elements are open, except the counterfactual.
let opened = [];
addEventListener("beforeprint", () => { opened = [...document.querySelectorAll("details:not([open]):not(#counterfactual)")]; for (const one of opened) one.open = true; });
addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
