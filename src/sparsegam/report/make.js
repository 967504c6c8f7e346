// Makers of elements and of numbers as text; the first part of the script of a report.
// Of more than two classes there is a report for each against the rest; the address says which.
const whole = JSON.parse(document.getElementById("content").textContent);
const report = whole.parts ? whole.parts[Number(new URLSearchParams(location.search).get("class")) || 0] || whole.parts[0] : whole;
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// ---- small makers: everything that came from data goes in as text, never as markup

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const number = (value, digits = 3) => (value === null || value === undefined ? "–" : Number(value.toPrecision(digits)).toString().replace("-", "−"));
const fixed = (value, digits = 3) => (value === null || value === undefined ? "–" : value.toFixed(digits).replace("-", "−"));
const signed = (value, digits = 3) => (value > 0 ? "+" : "") + (value === 0 ? "0" : number(value, digits));
const perUnit = (term, digits = 3) => signed(term.coef, digits) + (term.ramp ? " per unit" : "");
const count = (value) => (value === null || value === undefined ? "" : value.toLocaleString("en"));

// Parts that are shown on demand, and always in print.
const folded = (title, ...parts) => make("details", {}, make("summary", {}, title), ...parts);

function table(caption, header, rows, label = caption) {
  const numeric = header.map((_, j) => rows.length > 0 && rows.every((row) => typeof row[j] === "string" && /^(?:[+−\d.,\s%–]|e-|e−|to|per unit)*$/.test(row[j])));
  const cell = (tag, value, j) => make(tag, { class: numeric[j] ? "number" : null, scope: tag === "th" ? "col" : null, role: tag === "th" ? "columnheader" : "cell", "data-label": tag === "td" ? header[j] : null }, value);
  const body = rows.map((row) => make("tr", { role: "row" }, ...row.map((value, j) => cell("td", value, j))));
  const inner = make("table", { role: "table" }, make("caption", {}, caption), make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...header.map((value, j) => cell("th", value, j)))), make("tbody", { role: "rowgroup" }, ...body));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, inner);
}
