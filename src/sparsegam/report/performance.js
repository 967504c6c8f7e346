// The section on performance: metrics, calibration, ROC curve, gains, net benefit, confusion matrix and subgroups.

function showPerformance() {
  const section = byId("performance"), part = report.performance;
  if (!part) { section.append(note("Not available: the report was created without X and y.")); return; }
  const events = part.prevalence ? `${count(part.prevalence.events)} of ${plural(part.rows, "row")} (${percent(part.prevalence.share)}) are in class ${report.classes[1]}. ` : "";
  section.append(note(events + (part.held_out ? `Measured on ${plural(part.rows, "row")} of test data.` : `Measured on the ${plural(part.rows, "row")} of training data: expect worse values on new data.`) + (part.ignores_weights ? " Each row counts once: sample weights are not used here." : "")));
  const rows = part.metrics.map((metric) => [metric.name, number(metric.value, 4), metric.low === null ? "–" : `${number(metric.low, 4)} to ${number(metric.high, 4)}`, metric.better]);
  section.append(table("Metrics with 95 % confidence intervals", ["metric", "value", "interval", "better"], rows));
  const grid = make("div", { class: "grid" });
  grid.style.marginTop = "1rem";
  section.append(grid);
  grid.append(calibrationCard(part.calibration));
  if (part.roc) grid.append(rocCard(part.roc), gainsCard(part.gains), benefitCard(part.net_benefit), confusionCard(part.confusion));
  if (part.subgroups) section.append(make("h3", { class: "subsection" }, "Subgroups"), subgroupTable(part.subgroups));
}

function calibrationCard(bins) {
  const all = report.classes ? [0, 1] : bins.flatMap((bin) => [bin.predicted, bin.low, bin.high]);
  const ends = [Math.min(...all), Math.max(...all)];
  const { svg, x, y, card } = chart("Calibration: observed against predicted", ends, ends, "predicted", report.classes ? `Calibration: observed proportion of ${report.classes[1]}` : "Calibration: observed mean");
  svg.append(line([[ends[0], ends[0]], [ends[1], ends[1]]], x, y, "reference"), line(bins.map((bin) => [bin.predicted, bin.observed]), x, y, "step"));
  for (const bin of bins) svg.append(draw("line", { class: "whisker", x1: x(bin.predicted), x2: x(bin.predicted), y1: y(bin.low), y2: y(bin.high) }), draw("circle", { class: "dot", cx: x(bin.predicted), cy: y(bin.observed), r: 3.5 }, draw("title", {}, `${plural(bin.count, "row")}: predicted ${number(bin.predicted)}, observed ${number(bin.observed)}`)));
  const rows = bins.map((bin) => [number(bin.predicted), number(bin.observed), `${number(bin.low)} to ${number(bin.high)}`, count(bin.count)]);
  card.append(collapsible("As a table", table("Calibration", ["predicted", "observed", "interval", "rows"], rows)));
  return card;
}

const DIAMOND = "M0 -6l6 6l-6 6l-6 -6z";

// The slider of the confusion matrix moves the markers in the ROC curve and in the net benefit.
const thresholdListeners = [];

function rocCard(roc) {
  const { svg, x, y, card } = chart("ROC curve", [0, 1], [0, 1], "false positive rate", "ROC curve: true positive rate");
  svg.append(line([[0, 0], [1, 1]], x, y, "reference"), line(roc.false.map((value, i) => [value, roc.true[i]]), x, y, "step"));
  const marker = draw("path", { class: "mark", d: DIAMOND });
  svg.append(marker);
  thresholdListeners.push((i, falseRate, trueRate) => marker.setAttribute("transform", `translate(${x(falseRate)} ${y(trueRate)})`));
  return card;
}

function gainsCard(bands) {
  const { svg, x, y, card } = chart("Cumulative gains", [0, 1], [0, 1], "share of rows, highest scores first", `Cumulative gains: share of all ${report.classes[1]}`);
  svg.append(line([[0, 0], [1, 1]], x, y, "reference"), line([[0, 0], ...bands.map((band) => [band.cumulative_share, band.cumulative_gain])], x, y, "step"));
  for (const band of bands) svg.append(draw("circle", { class: "dot", cx: x(band.cumulative_share), cy: y(band.cumulative_gain), r: 3 }, draw("title", {}, `${percent(band.cumulative_share, 0)} of the rows: ${percent(band.cumulative_gain)} of all ${report.classes[1]}, lift ${number(band.cumulative_lift)}`)));
  const rows = bands.map((band) => [percent(band.cumulative_share, 0), count(band.rows), count(band.events), percent(band.rate), fixed(band.lift, 2), percent(band.cumulative_gain), fixed(band.cumulative_lift, 2)]);
  card.append(collapsible("Gains and lift as a table", table("Bands of rows, highest scores first", ["top", "rows", report.classes[1], "rate", "lift", "total gain", "total lift"], rows)));
  return card;
}

function benefitCard(part) {
  const n = part.model.length, top = Math.max(...part.model, 0.01), limits = [-0.15 * top, 1.05 * top];
  const inside = (values) => values.map((value, i) => [i / n, value]).filter(([, value]) => value >= limits[0]);
  const { svg, x, y, card } = chart("Net benefit of using the model, of treating all rows and of treating none", [0, 1], limits, "threshold", "Net benefit per row");
  svg.append(line([[0, 0], [1, 0]], x, y, "reference"), line(inside(part.treat_all), x, y, "other"), line(inside(part.model), x, y, "step"));
  const marker = draw("path", { class: "mark", d: DIAMOND });
  svg.append(marker);
  const reading = note("");
  thresholdListeners.push((i) => {
    const at = Math.min(i, n - 1), value = part.model[at];
    marker.setAttribute("transform", `translate(${x(at / n)} ${y(Math.max(value, limits[0]))})`);
    reading.textContent = `Threshold ${fixed(at / n, 3)}: ${number(value)} with the model (solid), ${number(part.treat_all[at])} if all rows are treated (dashed), 0 if none is.`;
  });
  card.append(reading);
  return card;
}

function confusionCard(part) {
  const n = part.true.length - 1, [negative, positive] = report.classes;
  const slider = make("input", { id: "threshold", type: "range", min: 0, max: n, value: n / 2, step: 1 });
  const output = make("div", { role: "status", "aria-live": "polite" });
  const update = () => {
    const i = Number(slider.value), tp = part.true[i], fp = part.false[i], fn = part.positives - tp, tn = part.negatives - fp;
    slider.setAttribute("aria-valuetext", fixed(i / n, 3));
    const rate = (a, b) => (b ? percent(a / b) : "–");
    const row = (name, ...cells) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((value) => make("td", { class: "number" }, count(value))));
    const head = make("tr", {}, make("td", {}), ...[positive, negative].map((name) => make("th", { scope: "col", class: "number" }, `predicted ${name}`)));
    output.replaceChildren(make("table", { class: "confusion" }, make("caption", {}, `Predicted ${positive} if the probability is above ${fixed(i / n, 3)}`), make("thead", {}, head), make("tbody", {}, row(`actual ${positive}`, tp, fn), row(`actual ${negative}`, fp, tn))),
      note(`Accuracy ${rate(tp + tn, part.positives + part.negatives)} · sensitivity ${rate(tp, part.positives)} · specificity ${rate(tn, part.negatives)} · precision ${rate(tp, tp + fp)}`));
    for (const listener of thresholdListeners) listener(i, fp / Math.max(part.negatives, 1), tp / Math.max(part.positives, 1));
  };
  slider.addEventListener("input", update);
  const card = make("div", { class: "card" }, make("h3", {}, make("label", { for: "threshold" }, "Confusion matrix at a threshold")), slider, output);
  update();
  return card;
}

function subgroupTable(part) {
  const classes = report.classes;
  const header = ["variable", "subgroup", "rows", ...(classes ? [`observed ${classes[1]}`, "mean probability", "AUC", "interval", `predicted ${classes[1]}`, "sensitivity", "specificity"] : ["mean observed", "mean predicted", "R²"])];
  const rows = part.lines.map((one) => {
    const statistics = classes
      ? [percent(one.observed), percent(one.predicted), fixed(one.performance), one.low === null ? "–" : `${fixed(one.low)} to ${fixed(one.high)}`, percent(one.selection_rate), percent(one.sensitivity), percent(one.specificity)]
      : [number(one.observed, 4), number(one.predicted, 4), fixed(one.performance)];
    return [one.name, one.level, count(one.rows), ...statistics];
  });
  return table(classes ? `Performance by subgroup; predicted ${classes[1]} if the probability is above ${number(part.threshold)}` : "Performance by subgroup", header, rows);
}
