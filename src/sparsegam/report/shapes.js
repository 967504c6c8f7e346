// Shape functions, drawn as steps and straight pieces over the density of the data; and charts with two number axes.
// ---- shape functions

const WIDE = 360, HIGH = 200, LEFT = 42, RIGHT = 8, TOP = 12, BOTTOM = 24, APART = 46;

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
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", tabindex: "0", "aria-label": `What ${feature.label} adds: ${feature.pieces.length} pieces. Use the arrow keys to read them.` });
  const readout = make("div", { class: "readout", "aria-live": "polite" }, "\u00a0");
  const places = feature.kind === "category" ? drawLevels(svg, feature) : drawSteps(svg, feature);
  const cursor = draw("rect", { class: "cursor", y: TOP, height: HIGH - TOP - BOTTOM, width: 0, x: 0 });
  if (feature.kind === "category") { cursor.setAttribute("x", LEFT); cursor.setAttribute("width", WIDE - LEFT - RIGHT); cursor.setAttribute("height", 0); }
  svg.append(cursor);
  let at = -1;
  const show = (i, across) => {
    at = i;
    const place = places[i], piece = feature.pieces[place.piece];
    for (const [name, value] of Object.entries(place.box)) cursor.setAttribute(name, value);
    readout.textContent = (piece.slope ? sloped(feature, place, piece, across) : `${piece.label}: adds ${signed(piece.value, 4)}${plusMinus(piece)}`) + (piece.count === null ? "" : ` · ${count(piece.count)} rows`);
  };
  const find = (event) => {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * WIDE, y = ((event.clientY - box.top) / box.height) * HIGH;
    const i = places.findIndex(({ box: b }) => x >= b.x && x <= b.x + b.width && (b.y === undefined || (y >= b.y && y <= b.y + b.height)));
    if (i >= 0 && (i !== at || feature.pieces[places[i].piece].slope)) show(i, x);
  };
  svg.addEventListener("pointermove", find);
  svg.addEventListener("pointerdown", find);
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    show(Math.min(places.length - 1, Math.max(0, at + by)));
  });
  return make("div", { class: "card", "data-feature": feature.name }, make("h3", {}, titled(feature)), svg, readout, pieceTable(feature));
}

const fromTo = (piece) => (piece.slope ? `${signed(piece.start)} to ${signed(piece.value)}` : signed(piece.value, 4));
// What is read of a sloped piece: where the pointer is, or from one end to the other.
function sloped(feature, place, piece, across) {
  if (across === undefined) return `${piece.label}: adds ${fromTo(piece)}`;
  const exact = place.value(across), value = feature.whole ? Math.round(exact) : Number(exact.toPrecision(3));
  return `at ${words(feature, value)}: adds ${signed(shown(feature, Math.min(Math.max(value, piece.low), piece.high)))}, ${signed(piece.slope)} per unit`;
}

function pieceTable(feature) {
  const slopes = feature.pieces.some((piece) => piece.slope);
  const error = (piece) => (piece.error === null ? "–" : piece.errors.length ? `${number(piece.errors[0])} to ${number(piece.error)}` : number(piece.error));
  const named = (piece) => piece.label + (piece.kind === "other" && feature.members.length ? ": " + feature.members.map(([level, rows]) => level + (rows === null ? "" : ` (${count(rows)})`)).join(", ") : "");
  const rows = feature.pieces.map((piece) => [named(piece), fromTo(piece), ...(slopes ? [piece.slope ? signed(piece.slope) : "–"] : []), error(piece), count(piece.count)]);
  return folded("As a table", table(`What ${feature.label} adds to the score`, ["value", "adds", ...(slopes ? ["per unit"] : []), "std. error", "rows"], rows));
}

// Half of a 95 % interval: as far as the picture has room for it.
const reach = (piece) => (piece.error === null ? 0 : 1.96 * piece.error);
const plusMinus = (piece) => (piece.error === null ? "" : ` ± ${number(reach(piece), 2)}`);

// The ends of a piece and, of a sloped one, some places between them: [share of the way, what it adds, how far the interval reaches].
function along(piece) {
  if (!piece.slope) return [0, 1].map((share) => [share, piece.value, reach(piece)]);
  const n = Math.max(piece.errors.length, 2) - 1;
  return Array.from({ length: n + 1 }, (_, i) => [i / n, piece.start + (i / n) * (piece.value - piece.start), 1.96 * (piece.errors[i] || 0)]);
}

function band(svg, piece, from, to, y, [low, high]) {
  const wide = Math.max(to - from, 0.5), place = ([share, value, by], sign) => `${from + share * wide} ${y(Math.min(Math.max(value + sign * by, low), high))}`;
  if (piece.error) svg.append(draw("polygon", { class: "band", points: [...along(piece).map((one) => place(one, 1)), ...along(piece).reverse().map((one) => place(one, -1))].join(" ") }));
}

function heights(feature) {
  const all = [0, ...feature.pieces.flatMap((piece) => [piece.start, piece.value])];
  const tall = Math.max(...all) - Math.min(...all) || 1, room = tall * 0.12;
  const ends = feature.pieces.flatMap((piece) => along(piece).flatMap(([, value, by]) => [-1, 1].map((sign) => value + sign * Math.min(by, tall / 2))));
  const low = Math.min(...all, ...ends), high = Math.max(...all, ...ends);
  return [low - room - (feature.density.counts.length ? 2.6 * room : 0), high + room];
}

function drawSteps(svg, feature) {
  const apart = feature.pieces.map((piece, i) => [piece, i]).filter(([piece]) => piece.kind !== "step" && piece.drawn && (piece.value !== 0 || piece.count !== 0));
  const end = WIDE - RIGHT - (apart.length ? 6 + APART * apart.length : 0);
  const steps = feature.kind === "boolean" ? 2 : feature.levels.length; // values that are apart, with nothing between them
  const [low, high] = steps ? [-0.5, steps - 0.5] : feature.range;
  const x = (value) => LEFT + (0.04 + (0.92 * (value - low)) / (high - low)) * (end - LEFT);
  const limits = heights(feature), y = yAxis(svg, ...limits);
  density(svg, feature, x, end);
  svg.append(draw("line", { class: "zero", x1: LEFT, x2: WIDE - RIGHT, y1: y(0), y2: y(0) }));
  const places = [];
  let path = "";
  const edge = (value) => x(steps ? value + 0.5 : value);
  feature.pieces.forEach((piece, i) => {
    if (piece.kind !== "step") return;
    const from = piece.low === null ? LEFT : edge(piece.low), to = piece.high === null ? end : edge(piece.high);
    band(svg, piece, from, to, y, limits);
    path += `${path ? "V" + y(piece.start) : `M${from} ${y(piece.start)}`}L${to} ${y(piece.value)}`;
    places.push({ piece: i, box: { x: from, width: Math.max(to - from, 1) }, value: (across) => low + (((across - LEFT) / (end - LEFT) - 0.04) / 0.92) * (high - low) });
  });
  svg.append(draw("path", { class: "step", d: path }));
  const names = xLabels(svg, feature, x, end);
  apart.forEach(([piece, i], k) => {
    const middle = end + 6 + APART * (k + 0.5), height = y(piece.value);
    svg.append(draw("line", { class: "whisker", x1: middle, x2: middle, y1: y(Math.min(piece.value + reach(piece), limits[1])), y2: y(Math.max(piece.value - reach(piece), limits[0])) }));
    svg.append(draw("path", { class: "mark", d: `M${middle} ${height - 5}l5 5l-5 5l-5 -5z` }));
    names.push([middle, piece.label.replace("= ", "")]);
    places.push({ piece: i, box: { x: middle - APART / 2, width: APART } });
  });
  writeBelow(svg, names);
  return places;
}

// Labels below the axis: side by side where they fit, else at an angle, with the picture made taller; never cut off.
function writeBelow(svg, names) {
  const wide = (name) => 6.2 * name.length, sorted = [...names].sort((a, b) => a[0] - b[0]);
  const fit = sorted.every(([at, name], i) => !i || at - sorted[i - 1][0] >= (wide(name) + wide(sorted[i - 1][1])) / 2 + 4);
  if (fit) { for (const [at, name] of sorted) svg.append(draw("text", { x: Math.min(at, WIDE - wide(name) / 2), y: HIGH - 8, "text-anchor": "middle" }, name)); return; }
  const down = Math.max(...sorted.map(([, name]) => wide(name))) * 0.6 + 6;
  svg.setAttribute("viewBox", `0 0 ${WIDE} ${HIGH + down}`);
  for (const [at, name] of sorted) svg.append(draw("text", { x: at + 3, y: HIGH - 12, "text-anchor": "end", transform: `rotate(-38 ${at + 3} ${HIGH - 12})` }, name));
}

function density(svg, feature, x, end) {
  const { counts, ends } = feature.density, most = Math.max(...counts, 1), tall = 0.24 * (HIGH - TOP - BOTTOM), at = (i) => x(ends[0] + (i / counts.length) * (ends[1] - ends[0]));
  counts.forEach((rows, i) => {
    const from = Math.max(at(i) + 0.3, LEFT), to = Math.min(at(i + 1) - 0.3, end), high = Math.max((rows / most) * tall, 1);
    if (rows && to > from) svg.append(draw("rect", { class: "density", x: from, width: to - from, y: HIGH - BOTTOM - high, height: high }));
  });
}

// Where an axis of dates or times has its marks: at years, months, days or hours, in as few characters as tell them apart.
function timeMarks(feature, low, high) {
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
  svg.append(draw("line", { class: "axis", x1: LEFT, x2: end, y1: HIGH - BOTTOM, y2: HIGH - BOTTOM }));
  const [low, high] = feature.range;
  const marks = feature.kind === "boolean" ? [[0, "False"], [1, "True"]] : feature.kind === "date" || feature.kind === "datetime" ? timeMarks(feature, low, high) : feature.levels.length ? feature.levels.map((level, i) => [i, level]) : ticks(low, high, 5).map((tick) => [tick, number(tick, 4)]);
  for (const [at] of marks) svg.append(draw("line", { class: "axis", x1: x(at), x2: x(at), y1: HIGH - BOTTOM, y2: HIGH - BOTTOM + 3 }));
  return marks.map(([at, name]) => [x(at), name]);
}

// A level has its whole name and its rows on a line of their own, and its bar below.
function drawLevels(svg, feature) {
  const apart = ([piece, i]) => (piece.kind === "other" && feature.members.length && feature.members.length <= 15 ? feature.members.map(([level, rows]) => [{ ...piece, label: level, count: rows }, i]) : [[piece, i]]);
  const shown = feature.pieces.map((piece, i) => [piece, i]).filter(([piece]) => piece.drawn).flatMap(apart).slice(0, 60), start = LEFT - 20, WRAP = 54;
  const lines = shown.map(([piece]) => `${piece.label}${piece.count === null ? "" : ` · ${count(piece.count)} rows`}`.match(new RegExp(`.{1,${WRAP}}(?:\\s|$)|.{1,${WRAP}}`, "g")));
  const tallest = Math.max(...shown.map(([piece]) => Math.abs(piece.value)), 0);
  const all = [0, ...shown.flatMap(([piece]) => [-1, 1].map((sign) => piece.value + sign * Math.min(reach(piece), tallest)))];
  const low = Math.min(...all), high = Math.max(...all), height = lines.reduce((sum, one) => sum + 13 * one.length + 22, TOP) + BOTTOM;
  svg.setAttribute("viewBox", `0 0 ${WIDE} ${height}`);
  const x = (value) => start + 8 + ((value - low) / (high - low || 1)) * (WIDE - RIGHT - 16 - start);
  svg.append(draw("line", { class: "zero", x1: x(0), x2: x(0), y1: TOP, y2: height - BOTTOM }));
  for (const tick of ticks(low, high > low ? high : low + 1, 4)) svg.append(draw("text", { x: x(tick), y: height - 8, "text-anchor": "middle" }, number(tick)));
  let top = TOP;
  return shown.map(([piece, i], k) => {
    const y = top, bar = y + 13 * lines[k].length + 4, middle = bar + 6;
    top = bar + 18;
    lines[k].forEach((text, n) => svg.append(draw("text", { class: "label", x: start, y: y + 11 + 13 * n }, text.trim())));
    svg.append(draw("rect", { class: "levelbar", x: Math.min(x(0), x(piece.value)), width: Math.max(Math.abs(x(piece.value) - x(0)), 1), y: bar, height: 12 }));
    svg.append(draw("line", { class: "error", x1: Math.max(x(piece.value - reach(piece)), start), x2: Math.min(x(piece.value + reach(piece)), WIDE - RIGHT), y1: middle, y2: middle }));
    return { piece: i, box: { x: 0, width: WIDE, y, height: top - y } };
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
