// Shape functions, drawn as lines over a histogram of the training data, and charts with two numeric axes.

// Sizes in units of the viewBox; a marker is the space of a special or missing value.
const WIDTH = 360, HEIGHT = 200, LEFT = 42, RIGHT = 8, TOP = 12, BOTTOM = 24, MARKER = 46;

function ticks(low, high, n) {
  const step = 10 ** Math.floor(Math.log10((high - low) / n || 1));
  const nice = [1, 2, 5, 10].map((m) => m * step).find((s) => (high - low) / s <= n) || step;
  const out = [];
  for (let t = Math.ceil(low / nice - 1e-9) * nice; t <= high + 1e-9 * nice; t += nice) out.push(Math.abs(t) < 1e-9 * nice ? 0 : t);
  return out;
}

function yAxis(svg, low, high) {
  const y = (value) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  for (const tick of ticks(low, high, 4)) svg.append(draw("line", { class: "axis", x1: LEFT - 3, x2: LEFT, y1: y(tick), y2: y(tick) }), draw("text", { x: LEFT - 5, y: y(tick) + 4, "text-anchor": "end" }, number(tick)));
  svg.append(draw("line", { class: "axis", x1: LEFT, x2: LEFT, y1: TOP, y2: HEIGHT - BOTTOM }));
  return y;
}

function shapeCard(feature) {
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", tabindex: "0", "aria-label": `Contribution of ${feature.label}: ${feature.pieces.length} pieces. Use the arrow keys to read them.` });
  const readout = make("div", { class: "readout", "aria-live": "polite" }, "\u00a0");
  const regions = feature.kind === "category" ? drawLevels(svg, feature) : drawLine(svg, feature);
  const cursor = draw("rect", { class: "cursor", y: TOP, height: HEIGHT - TOP - BOTTOM, width: 0, x: 0 });
  if (feature.kind === "category") { cursor.setAttribute("x", LEFT); cursor.setAttribute("width", WIDTH - LEFT - RIGHT); cursor.setAttribute("height", 0); }
  svg.append(cursor);
  let current = -1;
  const show = (i, pointerX) => {
    current = i;
    const region = regions[i], piece = feature.pieces[region.piece];
    for (const [name, value] of Object.entries(region.box)) cursor.setAttribute(name, value);
    readout.textContent = (piece.slope ? rampText(feature, region, piece, pointerX) : `${piece.label}: ${signed(piece.value, 4)}${piece.interval ? intervalText(intervalOf(piece)) : ""}`) + (piece.count === null ? "" : ` · ${plural(piece.count, "row")}`);
  };
  const find = (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDTH, y = ((event.clientY - box.top) / box.height) * HEIGHT;
    const i = regions.findIndex(({ box: b }) => x >= b.x && x <= b.x + b.width && (b.y === undefined || (y >= b.y && y <= b.y + b.height)));
    if (i >= 0 && (i !== current || feature.pieces[regions[i].piece].slope)) show(i, x);
  };
  svg.addEventListener("pointermove", find);
  svg.addEventListener("pointerdown", find);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(Math.min(regions.length - 1, Math.max(0, current + step)));
  });
  return make("div", { class: "card", "data-feature": feature.name }, make("h3", {}, labelWithUnit(feature)), svg, readout, pieceTable(feature));
}

const fromTo = (piece) => (piece.slope ? `${signed(piece.start)} to ${signed(piece.value)}` : signed(piece.value, 4));
// The readout of a ramp: the contribution at the pointer or, without one, from end to end.
function rampText(feature, region, piece, pointerX) {
  if (pointerX === undefined) return `${piece.label}: ${fromTo(piece)}`;
  const exact = region.value(pointerX), value = feature.is_whole ? Math.round(exact) : Number(exact.toPrecision(3));
  return `at ${valueText(feature, value)}: ${signed(shownContribution(feature, Math.min(Math.max(value, piece.low), piece.high)))}, ${signed(piece.slope)} per unit`;
}

function pieceTable(feature) {
  const slopes = feature.pieces.some((piece) => piece.slope);
  const error = (piece) => (piece.error === null ? "–" : piece.errors.length ? `${number(piece.errors[0])} to ${number(piece.error)}` : number(piece.error));
  const named = (piece) => piece.label + (piece.kind === "other" && feature.other_levels.length ? ": " + feature.other_levels.map(([level, rows]) => level + (rows === null ? "" : ` (${count(rows)})`)).join(", ") : "");
  const rows = feature.pieces.map((piece) => [named(piece), fromTo(piece), ...(slopes ? [piece.slope ? signed(piece.slope) : "–"] : []), error(piece), count(piece.count)]);
  return collapsible("As a table", table(`Contribution of ${feature.label}`, ["value", "contribution", ...(slopes ? ["per unit"] : []), "std. error", "rows"], rows));
}

// The 95 % interval of a piece, at its upper end; it is not centred at the contribution, which the ridge shrinks.
const intervalOf = (piece) => (piece.interval ? piece.interval.map((ends) => ends[ends.length - 1]) : [piece.value, piece.value]);
const intervalText = ([low, high]) => ` (95 %: ${signed(low, 2)} to ${signed(high, 2)})`;

// Points on a piece: [share of the way from its lower to its upper end, contribution, lower and upper end of the interval].
function pointsOn(piece) {
  if (!piece.slope) return [0, 1].map((share) => [share, piece.value, ...intervalOf(piece)]);
  const n = piece.interval ? piece.interval[0].length - 1 : 1;
  return Array.from({ length: n + 1 }, (_, i) => {
    const value = piece.start + (i / n) * (piece.value - piece.start);
    return [i / n, value, ...(piece.interval ? piece.interval.map((ends) => ends[i]) : [value, value])];
  });
}

function band(svg, piece, from, to, y, [low, high]) {
  const span = Math.max(to - from, 0.5), point = (share, end) => `${from + share * span} ${y(Math.min(Math.max(end, low), high))}`;
  if (piece.interval) svg.append(draw("polygon", { class: "band", points: [...pointsOn(piece).map(([share, , , upper]) => point(share, upper)), ...pointsOn(piece).reverse().map(([share, , lower]) => point(share, lower))].join(" ") }));
}

function yLimits(feature) {
  const all = [0, ...feature.pieces.flatMap((piece) => [piece.start, piece.value])];
  const tall = Math.max(...all) - Math.min(...all) || 1, room = tall * 0.12;
  const ends = feature.pieces.flatMap((piece) => pointsOn(piece).flatMap(([, value, lower, upper]) => [Math.max(lower, value - tall / 2), Math.min(upper, value + tall / 2)]));
  const low = Math.min(...all, ...ends), high = Math.max(...all, ...ends);
  return [low - room - (feature.histogram.counts.length ? 2.6 * room : 0), high + room];
}

function drawLine(svg, feature) {
  // Special and missing values have markers to the right of the line.
  const markers = feature.pieces.map((piece, i) => [piece, i]).filter(([piece]) => piece.kind !== "interval" && piece.drawn && (piece.value !== 0 || piece.count !== 0));
  const end = WIDTH - RIGHT - (markers.length ? 6 + MARKER * markers.length : 0);
  // Between discrete values, the contribution changes half-way.
  const nDiscrete = feature.kind === "boolean" ? 2 : feature.levels.length;
  const [low, high] = nDiscrete ? [-0.5, nDiscrete - 0.5] : feature.range;
  const x = (value) => LEFT + (0.04 + (0.92 * (value - low)) / (high - low)) * (end - LEFT);
  const limits = yLimits(feature), y = yAxis(svg, ...limits);
  drawHistogram(svg, feature, x, end);
  svg.append(draw("line", { class: "zero", x1: LEFT, x2: WIDTH - RIGHT, y1: y(0), y2: y(0) }));
  const regions = [];
  let path = "";
  const edge = (value) => x(nDiscrete ? value + 0.5 : value);
  feature.pieces.forEach((piece, i) => {
    if (piece.kind !== "interval") return;
    const from = piece.low === null ? LEFT : edge(piece.low), to = piece.high === null ? end : edge(piece.high);
    band(svg, piece, from, to, y, limits);
    path += `${path ? "V" + y(piece.start) : `M${from} ${y(piece.start)}`}L${to} ${y(piece.value)}`;
    regions.push({ piece: i, box: { x: from, width: Math.max(to - from, 1) }, value: (pointerX) => low + (((pointerX - LEFT) / (end - LEFT) - 0.04) / 0.92) * (high - low) });
  });
  svg.append(draw("path", { class: "step", d: path }));
  const labels = xLabels(svg, feature, x, end);
  markers.forEach(([piece, i], k) => {
    const middle = end + 6 + MARKER * (k + 0.5), height = y(piece.value);
    svg.append(draw("line", { class: "whisker", x1: middle, x2: middle, y1: y(Math.min(intervalOf(piece)[1], limits[1])), y2: y(Math.max(intervalOf(piece)[0], limits[0])) }));
    svg.append(draw("path", { class: "mark", d: `M${middle} ${height - 5}l5 5l-5 5l-5 -5z` }));
    labels.push([middle, piece.label.replace("= ", "")]);
    regions.push({ piece: i, box: { x: middle - MARKER / 2, width: MARKER } });
  });
  drawLabels(svg, labels);
  return regions;
}

// Labels below the axis: horizontal if they fit, otherwise rotated in a taller picture, so that none is cut off.
function drawLabels(svg, labels) {
  const width = (name) => 6.2 * name.length, sorted = [...labels].sort((a, b) => a[0] - b[0]);
  const fits = sorted.every(([at, name], i) => !i || at - sorted[i - 1][0] >= (width(name) + width(sorted[i - 1][1])) / 2 + 4);
  if (fits) { for (const [at, name] of sorted) svg.append(draw("text", { x: Math.min(at, WIDTH - width(name) / 2), y: HEIGHT - 8, "text-anchor": "middle" }, name)); return; }
  const extra = Math.max(...sorted.map(([, name]) => width(name))) * 0.6 + 6;
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT + extra}`);
  for (const [at, name] of sorted) svg.append(draw("text", { x: at + 3, y: HEIGHT - 12, "text-anchor": "end", transform: `rotate(-38 ${at + 3} ${HEIGHT - 12})` }, name));
}

function drawHistogram(svg, feature, x, end) {
  const { counts, ends } = feature.histogram, most = Math.max(...counts, 1), tall = 0.24 * (HEIGHT - TOP - BOTTOM), at = (i) => x(ends[0] + (i / counts.length) * (ends[1] - ends[0]));
  counts.forEach((rows, i) => {
    const from = Math.max(at(i) + 0.3, LEFT), to = Math.min(at(i + 1) - 0.3, end), high = Math.max((rows / most) * tall, 1);
    if (rows && to > from) svg.append(draw("rect", { class: "histogram", x: from, width: to - from, y: HEIGHT - BOTTOM - high, height: high }));
  });
}

// Ticks of dates and times at years, months, days or hours, with labels as short as possible.
function timeTicks(feature, low, high) {
  const unit = feature.kind === "date" ? DAY : 1e-3, [from, to] = [low * unit, high * unit], days = (to - from) / DAY, out = [];
  const months = days > 90 ? [1, 2, 3, 6, 12, 24, 60, 120, 240, 600].find((m) => days / 30.4 / m <= 5) || 1200 : 0;
  if (months) {
    const first = new Date(from), index = Math.ceil((first.getUTCFullYear() * 12 + first.getUTCMonth()) / months) * months;
    for (let m = index; ; m += months) {
      const at = Date.UTC(Math.floor(m / 12), m % 12, 1);
      if (at > to) break;
      if (at >= from) out.push([at / unit, new Date(at).toISOString().slice(0, months % 12 ? 7 : 4)]);
    }
    return out;
  }
  const step = [1 / 24, 0.125, 0.25, 0.5, 1, 2, 5, 10, 20, 40].find((d) => days / d <= 4) * DAY;
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) out.push([at / unit, step < DAY ? new Date(at).toISOString().slice(5, 16).replace("T", " ") : new Date(at).toISOString().slice(0, 10)]);
  return out;
}

function xLabels(svg, feature, x, end) {
  svg.append(draw("line", { class: "axis", x1: LEFT, x2: end, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }));
  const [low, high] = feature.range;
  const marks = feature.kind === "boolean" ? [[0, "False"], [1, "True"]] : feature.kind === "date" || feature.kind === "datetime" ? timeTicks(feature, low, high) : feature.levels.length ? feature.levels.map((level, i) => [i, level]) : ticks(low, high, 5).map((tick) => [tick, number(tick, 4)]);
  for (const [at] of marks) svg.append(draw("line", { class: "axis", x1: x(at), x2: x(at), y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 3 }));
  return marks.map(([at, name]) => [x(at), name]);
}

// Levels that are drawn, and characters in a line of a level's name.
const MAX_LEVELS = 60, WRAP = 54;

// The full name and the number of rows of a level are above its bar; a few levels without terms are listed one by one.
function drawLevels(svg, feature) {
  const expand = ([piece, i]) => (piece.kind === "other" && feature.other_levels.length && feature.other_levels.length <= 15 ? feature.other_levels.map(([level, rows]) => [{ ...piece, label: level, count: rows }, i]) : [[piece, i]]);
  const shown = feature.pieces.map((piece, i) => [piece, i]).filter(([piece]) => piece.drawn).flatMap(expand).slice(0, MAX_LEVELS), start = LEFT - 20;
  const lines = shown.map(([piece]) => `${piece.label}${piece.count === null ? "" : ` · ${count(piece.count)} rows`}`.match(new RegExp(`.{1,${WRAP}}(?:\\s|$)|.{1,${WRAP}}`, "g")));
  const largest = Math.max(...shown.map(([piece]) => Math.abs(piece.value)), 0);
  const all = [0, ...shown.flatMap(([piece]) => [Math.max(intervalOf(piece)[0], piece.value - largest), Math.min(intervalOf(piece)[1], piece.value + largest)])];
  const low = Math.min(...all), high = Math.max(...all), height = lines.reduce((sum, one) => sum + 13 * one.length + 22, TOP) + BOTTOM;
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  const x = (value) => start + 8 + ((value - low) / (high - low || 1)) * (WIDTH - RIGHT - 16 - start);
  svg.append(draw("line", { class: "zero", x1: x(0), x2: x(0), y1: TOP, y2: height - BOTTOM }));
  for (const tick of ticks(low, high > low ? high : low + 1, 4)) svg.append(draw("text", { x: x(tick), y: height - 8, "text-anchor": "middle" }, number(tick)));
  let top = TOP;
  return shown.map(([piece, i], k) => {
    const y = top, bar = y + 13 * lines[k].length + 4, middle = bar + 6;
    top = bar + 18;
    lines[k].forEach((text, n) => svg.append(draw("text", { class: "label", x: start, y: y + 11 + 13 * n }, text.trim())));
    svg.append(draw("rect", { class: "levelbar", x: Math.min(x(0), x(piece.value)), width: Math.max(Math.abs(x(piece.value) - x(0)), 1), y: bar, height: 12 }));
    svg.append(draw("line", { class: "error", x1: Math.max(x(intervalOf(piece)[0]), start), x2: Math.min(x(intervalOf(piece)[1]), WIDTH - RIGHT), y1: middle, y2: middle }));
    return { piece: i, box: { x: 0, width: WIDTH, y, height: top - y } };
  });
}

// ---- charts with two numeric axes

function chart(label, [xLow, xHigh], [yLow, yHigh], xName, yName) {
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} 260`, role: "img", "aria-label": label });
  const x = (value) => LEFT + 6 + ((value - xLow) / (xHigh - xLow || 1)) * (WIDTH - LEFT - RIGHT - 12), y = (value) => 10 + ((yHigh - value) / (yHigh - yLow || 1)) * (260 - 10 - 40);
  for (const tick of ticks(yLow, yHigh, 5)) svg.append(draw("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), opacity: 0.6 }), draw("text", { x: LEFT - 4, y: y(tick) + 4, "text-anchor": "end" }, number(tick, 4)));
  for (const tick of ticks(xLow, xHigh, 6)) svg.append(draw("text", { x: x(tick), y: 235, "text-anchor": "middle" }, number(tick, 4)));
  svg.append(draw("text", { x: (WIDTH + LEFT) / 2, y: 254, "text-anchor": "middle" }, xName));
  const title = make("h3", {}, yName);
  return { svg, x, y, card: make("div", { class: "card" }, title, svg) };
}
const line = (points, x, y, name) => draw("path", { class: name, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a)} ${y(b)}`).join(""), fill: "none" });
