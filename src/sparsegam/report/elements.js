// Functions that create elements, tables and formatted numbers.

// A model with more than two classes has one report for each class against the rest; the query string selects one.
const content = JSON.parse(document.getElementById("content").textContent);
const report = content.parts ? content.parts[Number(new URLSearchParams(location.search).get("class")) || 0] || content.parts[0] : content;
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// All data are inserted as text and attributes, never as markup.
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

const isAbsent = (value) => value === null || value === undefined;
const number = (value, digits = 3) => (isAbsent(value) ? "–" : Number(value.toPrecision(digits)).toString().replace("-", "−"));
const fixed = (value, digits = 3) => (isAbsent(value) ? "–" : value.toFixed(digits).replace("-", "−"));
const percent = (value, digits = 1) => (isAbsent(value) ? "–" : fixed(100 * value, digits) + " %");
const signed = (value, digits = 3) => (value > 0 ? "+" : "") + (value === 0 ? "0" : number(value, digits));
const coefficient = (term, digits = 3) => signed(term.coef, digits) + (term.ramp ? " per unit" : "");
const count = (value) => (isAbsent(value) ? "" : value.toLocaleString("en"));
const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

const note = (text) => make("p", { class: "note" }, text);

// Collapsible elements are open in print.
const collapsible = (title, ...children) => make("details", {}, make("summary", {}, title), ...children);

// Columns whose cells are all numbers are aligned to the right.
function table(caption, header, rows, label = caption) {
  const numeric = header.map((_, j) => rows.length > 0 && rows.every((row) => typeof row[j] === "string" && /^(?:[+−\d.,\s%–]|e-|e−|to|per unit)*$/.test(row[j])));
  const cell = (tag, value, j) => make(tag, { class: numeric[j] ? "number" : null, scope: tag === "th" ? "col" : null, role: tag === "th" ? "columnheader" : "cell", "data-label": tag === "td" ? header[j] : null }, value);
  const body = rows.map((row) => make("tr", { role: "row" }, ...row.map((value, j) => cell("td", value, j))));
  const inner = make("table", { role: "table" }, make("caption", {}, caption), make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...header.map((value, j) => cell("th", value, j)))), make("tbody", { role: "rowgroup" }, ...body));
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, inner);
}
