// Pairs of features: what they add together, as a grid of cells to be pointed at or walked through with the arrow keys.

const WALL = 92, CELL = 44; // room for the names of rows; the height of a cell

// What a pair adds to a row, and what is shown of it: against the mean over the training rows, where that is known.
function together(pair, values) {
  const [first, second] = pair.names.map((name, i) => contribution(pair.cells[i], values.get(byName.get(name))));
  return pair.values[first][second];
}

function pairCard(pair) {
  const { grid } = pair, places = grid.drawn.map((kept) => kept.flatMap((is, i) => (is ? [i] : [])));
  const [across, up] = places, height = TOP + CELL * up.length + BOTTOM + 14;
  const svg = draw("svg", { viewBox: `0 0 ${WIDE} ${height}`, role: "img", tabindex: "0", "aria-label": `What ${pair.label} add together: ${across.length} by ${up.length} cells. Use the arrow keys to read them.` });
  const readout = make("div", { class: "readout", "aria-live": "polite" }, "\u00a0");
  const wide = (WIDE - WALL - RIGHT) / across.length, most = Math.max(1e-12, ...across.flatMap((i) => up.map((j) => Math.abs(grid.adds[i][j]))));
  const left = (a) => WALL + a * wide, top = (b) => TOP + (up.length - 1 - b) * CELL;
  up.forEach((j, b) => svg.append(draw("text", { x: WALL - 6, y: top(b) + CELL / 2 + 4, "text-anchor": "end" }, cut(grid.labels[1][j], 15))));
  across.forEach((i, a) => svg.append(draw("text", { x: left(a) + wide / 2, y: height - BOTTOM - 1, "text-anchor": "middle" }, cut(grid.labels[0][i], wide / 7))));
  svg.append(draw("text", { x: (WALL + WIDE - RIGHT) / 2, y: height - 6, "text-anchor": "middle" }, `${cut(pair.labels[0], 20)} → · ↑ ${cut(pair.labels[1], 20)}`));
  across.forEach((i, a) => up.forEach((j, b) => {
    const value = grid.adds[i][j], middle = left(a) + wide / 2, lines = [signed(value, 2), ...(grid.counts ? [count(grid.counts[i][j])] : [])];
    svg.append(draw("rect", { class: "cell " + (value > 0 ? "more" : "less"), x: left(a) + 1, y: top(b) + 1, width: wide - 2, height: CELL - 2, "fill-opacity": 0.04 + (0.5 * Math.abs(value)) / most }));
    if (wide > 34) lines.forEach((text, k) => svg.append(draw("text", { class: k ? "" : "adds", x: middle, y: top(b) + CELL / 2 + 4 + 15 * (k - (lines.length - 1) / 2), "text-anchor": "middle" }, text)));
  }));
  const cursor = draw("rect", { class: "cursor", x: 0, y: 0, width: 0, height: 0 });
  svg.append(cursor);
  let at = null;
  const show = (a, b) => {
    at = [a, b];
    for (const [name, value] of Object.entries({ x: left(a), y: top(b), width: wide, height: CELL })) cursor.setAttribute(name, value);
    const i = across[a], j = up[b], rows = grid.counts ? ` · ${count(grid.counts[i][j])} rows` : "";
    readout.textContent = `${pair.labels[0]} ${grid.labels[0][i]}, ${pair.labels[1]} ${grid.labels[1][j]}: add ${signed(grid.adds[i][j], 4)}${plusMinus({ error: cellError(grid, i, j) })}${rows}`;
  };
  const find = (event) => {
    const box = svg.getBoundingClientRect();
    const a = Math.floor((((event.clientX - box.left) / box.width) * WIDE - WALL) / wide), b = up.length - 1 - Math.floor((((event.clientY - box.top) / box.height) * height - TOP) / CELL);
    if (a >= 0 && a < across.length && b >= 0 && b < up.length && !(at && at[0] === a && at[1] === b)) show(a, b);
  };
  svg.addEventListener("pointermove", find);
  svg.addEventListener("pointerdown", find);
  svg.addEventListener("keydown", (event) => {
    const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!by) return;
    event.preventDefault();
    const within = (value, n) => Math.min(n - 1, Math.max(0, value));
    if (at) show(within(at[0] + by[0], across.length), within(at[1] + by[1], up.length)); else show(0, 0);
  });
  return make("div", { class: "card", "data-feature": pair.name }, make("h3", {}, pair.label), svg, readout, cellTable(pair));
}

const cut = (text, most) => (text.length > Math.max(most, 4) ? text.slice(0, Math.max(most, 4) - 1) + "…" : text);
const cellError = (grid, i, j) => (grid.errors ? grid.errors[i][j] : null);

function cellTable({ label, labels, grid }) {
  const rows = grid.labels[0].flatMap((first, i) => grid.labels[1].map((second, j) => [first, second, signed(grid.adds[i][j], 4), number(cellError(grid, i, j)), grid.counts ? count(grid.counts[i][j]) : ""]));
  return folded("As a table", table(`What ${label} add to the score together`, [...labels, "add", "std. error", "rows"], rows));
}
