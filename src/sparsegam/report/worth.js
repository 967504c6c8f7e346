// What is asked by those who use a score: who wrote it and what for, gains, net benefit, groups of rows, points, what was not seen.

// Of more than two classes: the way to each of them, and how they are told apart.
function classes() {
  const section = byId("classes");
  if (!whole.parts) { section.hidden = true; return; }
  const links = whole.names.map((name, i) => make("li", {}, whole.parts[i] === report ? make("b", { "aria-current": "page" }, name) : make("a", { href: `?class=${i}` }, name)));
  section.append(make("p", { class: "note" }, "There is one model for each class against the rest, and the likeliest class is predicted; probabilities are divided by their sum. This page is on one of them:"), make("ul", { class: "choices" }, ...links));
  const part = whole.overall;
  if (!part) return;
  section.append(make("p", {}, `All classes together, on ${count(part.rows)} rows ${part.held_out ? "that the models were not fitted to" : "of the fit"}: accuracy ${percent(part.accuracy)}, log loss ${number(part.log_loss, 4)}.`));
  section.append(table("Who is taken for whom", ["class", ...whole.names.map((name) => `called ${name}`)], part.confusion.map((row, i) => [whole.names[i], ...row.map(count)])));
}

function about() {
  const section = byId("about");
  if (!report.about.length) { section.hidden = true; return; }
  for (const [title, text] of report.about) section.append(make("h3", {}, title), ...text.split(/\n\s*\n/).map((part) => make("p", {}, part)));
}

const percent = (value, digits = 1) => (value === null || value === undefined ? "–" : fixed(100 * value, digits) + " %");

function gainsCard(bands) {
  const { svg, x, y, card } = chart("Cumulative gains", [0, 1], [0, 1], "share of rows, highest scores first", `Gains: share of all ${report.classes[1]} found`);
  svg.append(line([[0, 0], [1, 1]], x, y, "ideal"), line([[0, 0], ...bands.map((band) => [band.cumulative_share, band.cumulative_gain])], x, y, "step"));
  for (const band of bands) svg.append(draw("circle", { class: "dot", cx: x(band.cumulative_share), cy: y(band.cumulative_gain), r: 3 }, draw("title", {}, `${percent(band.cumulative_share, 0)} of the rows: ${percent(band.cumulative_gain)} of all ${report.classes[1]}, lift ${number(band.cumulative_lift)}`)));
  const rows = bands.map((band) => [percent(band.cumulative_share, 0), count(band.rows), count(band.events), percent(band.rate), fixed(band.lift, 2), percent(band.cumulative_gain), fixed(band.cumulative_lift, 2)]);
  card.append(folded("Gains and lift as a table", table("Rows from the highest scores down", ["rows up to", "rows", report.classes[1], "rate", "lift", "gain", "lift up to here"], rows)));
  return card;
}

let benefitMark = null;
function benefitCard(part) {
  const n = part.model.length, top = Math.max(...part.model, 0.01), shown = [-0.15 * top, 1.05 * top];
  const inside = (values) => values.map((value, i) => [i / n, value]).filter(([, value]) => value >= shown[0]);
  const { svg, x, y, card } = chart("Net benefit of acting on the model, on all rows, on none", [0, 1], shown, "threshold", "Net benefit per row");
  svg.append(line([[0, 0], [1, 0]], x, y, "ideal"), line(inside(part.all), x, y, "other"), line(inside(part.model), x, y, "step"));
  const dot = draw("path", { class: "mark", d: "M0 -6l6 6l-6 6l-6 -6z" });
  svg.append(dot);
  const told = make("p", { class: "note" });
  benefitMark = (i) => {
    const at = Math.min(i, n - 1), value = part.model[at];
    dot.setAttribute("transform", `translate(${x(at / n)} ${y(Math.max(value, shown[0]))})`);
    told.textContent = `At ${fixed(at / n, 3)}: ${number(value)} by the model, ${number(part.all[at])} by acting on all rows, 0 by acting on none. Solid: the model; dashed: all rows.`;
  };
  card.append(told);
  return card;
}

function groupsTable(part) {
  const classes = report.classes, header = ["group", "of it", "rows", classes ? `share of ${classes[1]}` : "mean observed", "mean predicted", ...(classes ? ["AUC", "interval", "called", "sensitivity", "specificity"] : ["R²"])];
  const rows = part.lines.map((one) => [one.name, one.level, count(one.rows), ...(classes ? [percent(one.observed), percent(one.predicted), fixed(one.performance), one.low === null ? "–" : `${fixed(one.low)} to ${fixed(one.high)}`, percent(one.selection_rate), percent(one.sensitivity), percent(one.specificity)] : [number(one.observed, 4), number(one.predicted, 4), fixed(one.performance)])]);
  return table(classes ? `Groups of rows, called ${classes[1]} above ${number(part.threshold)}` : "Groups of rows", header, rows);
}

function points() {
  const section = byId("points"), part = report.points;
  if (!part) { section.hidden = true; return; }
  section.append(make("p", { class: "note" }, `Add ${part.base ? `${part.base} base points and ` : ""}the points of the first line that holds for each feature. Totals ${part.rising ? "rise" : "fall"} with the risk of ${report.classes[1]}. ${part.formula}.${part.rounding ? ` Rounding, ${part.rounding}.` : ""}`));
  const counted = part.lines.some((line) => line.rows !== undefined);
  const rows = part.lines.map((line, i) => [i && part.lines[i - 1].feature === line.feature ? "" : line.feature, line.step, String(line.points).replace("-", "−"), ...(counted ? [count(line.rows), percent(line.share), count(line.events), percent(line.event_rate), line.woe === null ? "–" : signed(line.woe), fixed(line.iv, 4)] : [])]);
  section.append(table("Points", ["feature", "value", "points", ...(counted ? ["rows", "share", report.classes[1], "rate", "WoE", "IV"] : [])], rows));
  if (part.risks.length) section.append(table("Totals and risk", ["points", "rows", report.classes[1], "observed", "risk by the formula"], part.risks.map((one) => [one.low === one.high ? String(one.low) : `${one.low} to ${one.high}`, count(one.rows), count(one.events), percent(one.rate), percent(one.risk)])));
  if (part.values.length) section.append(make("p", { class: "note" }, "Information values: " + part.values.map(([name, value]) => `${name} ${fixed(value)}`).join(", ") + "."));
}

function unseen() {
  const section = byId("unseen"), part = report.unseen, kinds = ["a missing value", "a special value", "a new level"];
  if (!part || !part.lines.length) { section.hidden = true; return; }
  section.append(make("p", { class: "note" }, `Nothing is known of values that no training row had: beyond the lowest and highest a feature goes on as it is there; a value that is missing, special or of a new level where none was ${report.later}.`));
  const rows = part.lines.map((one) => [one.name, one.ends ? `below ${one.ends[0]}, above ${one.ends[1]}` : "", one.never.join(", ") || "–", ...(part.measured ? [count(one.beyond), count(kinds.reduce((sum, kind) => sum + (one.kinds[kind] || 0), 0))] : [])]);
  section.append(table("Not seen in training", ["feature", "beyond", "never came up", ...(part.measured ? ["test rows beyond", "test rows with new values"] : [])], rows));
}
