// Interactions: a grid of cells with the contribution of two features together.

// Width of the row labels, and height of a cell.
const ROW_LABELS = 92, CELL = 44;

function interactionContribution(interaction, values) {
  const [i, j] = interaction.names.map((name, k) => contribution(interaction.bins[k], values.get(byName.get(name))));
  return interaction.contributions[i][j];
}

function interactionCard(interaction) {
  const { grid } = interaction, [columns, rows] = grid.drawn.map((drawn) => drawn.flatMap((is, i) => (is ? [i] : [])));
  const height = TOP + CELL * rows.length + BOTTOM + 14, [first, second] = interaction.labels;
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", tabindex: "0", "aria-label": `Interaction ${interaction.label}: ${columns.length} by ${rows.length} cells. Use the arrow keys to read them.` });
  const readout = make("div", { class: "readout", "aria-live": "polite" }, "\u00a0");
  const cellWidth = (WIDTH - ROW_LABELS - RIGHT) / columns.length, largest = Math.max(1e-12, ...columns.flatMap((i) => rows.map((j) => Math.abs(grid.contributions[i][j]))));
  const left = (a) => ROW_LABELS + a * cellWidth, top = (b) => TOP + (rows.length - 1 - b) * CELL;
  rows.forEach((j, b) => svg.append(draw("text", { x: ROW_LABELS - 6, y: top(b) + CELL / 2 + 4, "text-anchor": "end" }, truncate(grid.labels[1][j], 15))));
  columns.forEach((i, a) => svg.append(draw("text", { x: left(a) + cellWidth / 2, y: height - BOTTOM - 1, "text-anchor": "middle" }, truncate(grid.labels[0][i], cellWidth / 7))));
  svg.append(draw("text", { x: (ROW_LABELS + WIDTH - RIGHT) / 2, y: height - 6, "text-anchor": "middle" }, `${truncate(first, 20)} → · ↑ ${truncate(second, 20)}`));
  columns.forEach((i, a) => rows.forEach((j, b) => {
    const value = grid.contributions[i][j], middle = left(a) + cellWidth / 2, lines = [signed(value, 2), ...(grid.counts ? [count(grid.counts[i][j])] : [])];
    svg.append(draw("rect", { class: "cell " + (value > 0 ? "more" : "less"), x: left(a) + 1, y: top(b) + 1, width: cellWidth - 2, height: CELL - 2, "fill-opacity": 0.04 + (0.5 * Math.abs(value)) / largest }));
    if (cellWidth > 34) lines.forEach((text, k) => svg.append(draw("text", { class: k ? "" : "contribution", x: middle, y: top(b) + CELL / 2 + 4 + 15 * (k - (lines.length - 1) / 2), "text-anchor": "middle" }, text)));
  }));
  const cursor = draw("rect", { class: "cursor", x: 0, y: 0, width: 0, height: 0 });
  svg.append(cursor);
  let current = null;
  const show = (a, b) => {
    current = [a, b];
    for (const [name, value] of Object.entries({ x: left(a), y: top(b), width: cellWidth, height: CELL })) cursor.setAttribute(name, value);
    const i = columns[a], j = rows[b], counted = grid.counts ? ` · ${plural(grid.counts[i][j], "row")}` : "";
    readout.textContent = `${first} ${grid.labels[0][i]}, ${second} ${grid.labels[1][j]}: ${signed(grid.contributions[i][j], 4)}${cellError(grid, i, j) === null || !grid.interval ? "" : intervalText(grid.interval.map((ends) => ends[i][j]))}${counted}`;
  };
  const find = (event) => {
    const box = svg.getBoundingClientRect();
    const a = Math.floor((((event.clientX - box.left) / box.width) * WIDTH - ROW_LABELS) / cellWidth), b = rows.length - 1 - Math.floor((((event.clientY - box.top) / box.height) * height - TOP) / CELL);
    if (a >= 0 && a < columns.length && b >= 0 && b < rows.length && !(current && current[0] === a && current[1] === b)) show(a, b);
  };
  svg.addEventListener("pointermove", find);
  svg.addEventListener("pointerdown", find);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const clamp = (value, n) => Math.min(n - 1, Math.max(0, value));
    if (current) show(clamp(current[0] + step[0], columns.length), clamp(current[1] + step[1], rows.length)); else show(0, 0);
  });
  return make("div", { class: "card", "data-feature": interaction.name }, make("h3", {}, interaction.label), svg, readout, cellTable(interaction));
}

const truncate = (text, most) => (text.length > Math.max(most, 4) ? text.slice(0, Math.max(most, 4) - 1) + "…" : text);
const cellError = (grid, i, j) => (grid.errors ? grid.errors[i][j] : null);

function cellTable({ label, labels, grid }) {
  const rows = grid.labels[0].flatMap((first, i) => grid.labels[1].map((second, j) => [first, second, signed(grid.contributions[i][j], 4), number(cellError(grid, i, j)), grid.counts ? count(grid.counts[i][j]) : ""]));
  return collapsible("As a table", table(`Contribution of ${label}`, [...labels, "contribution", "std. error", "rows"], rows));
}
