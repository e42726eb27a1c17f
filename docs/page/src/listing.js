// A program: its instructions as a table with a column for each unit, what it costs, and which limits are near.
import { $, make } from "./dom.js";

/** Rows of a table that are shown at most; the text that is saved has all. */
const MOST = 2048;

/** How full a limit is that is called near. */
const NEAR = 0.75;

/** Shows a program; `onrow` gets the row that is pointed at, or nothing. */
export function showProgram(program, onrow) {
  const shown = program.rows.slice(0, MOST);
  const units = program.units.filter((unit) => shown.some((row) => unit in row.cells));
  const head = make("tr", {}, make("th", { scope: "col" }, "at"), units.map((unit) => make("th", { scope: "col" }, unit)),
    make("th", { scope: "col" }, "lines"));
  const rows = shown.map((row, number) => {
    const cells = units.map((unit) => make("td", { class: unit in row.cells ? "busy" : "" }, row.cells[unit] ?? ""));
    const element = make("tr", { "data-row": number, "data-address": row.address },
      make("th", { scope: "row" }, String(row.address)), cells, make("td", { class: "of" }, row.lines.join(", ")));
    element.addEventListener("pointerenter", () => onrow(row));
    element.addEventListener("pointerleave", () => onrow(undefined));
    return element;
  });
  const caption = `The ${program.stage} program, an instruction a row`;
  const table = make("table", {}, make("caption", { class: "hidden" }, caption), make("thead", {}, head), make("tbody", {}, rows));
  const more = program.rows.length - shown.length;
  $("listing").replaceChildren(table, ...(more > 0 ? [make("p", {}, `and ${more} more, which the saved text has`)] : []));
  figures(program);
}

function figures(program) {
  const { report, shortest, longest } = program;
  const cycles = (count) => count ?? "unbounded";
  const range = shortest === longest ? `${cycles(shortest)}` : `${cycles(shortest)} to ${cycles(longest)}`;
  const parts = [`${program.instructions} instructions`, `${range} cycles`];
  if (report?.bound) parts.push(`bound by ${report.bound}`);
  if (report && report.spill_stores + report.spill_loads) parts.push(`${report.spill_stores} spills, ${report.spill_loads} loads of them`);
  $("figures").textContent = parts.join(" · ");
  $("limits").replaceChildren(...program.limits.map(({ name, used, most }) => {
    const near = used / most >= NEAR;
    return make("li", { class: near ? "near" : "" },
      make("span", {}, `${name} `, make("b", {}, String(used)), ` of ${most}`, near ? make("span", { class: "flag" }, " near") : null),
      make("meter", { min: 0, max: most, high: NEAR * most, value: used, "aria-label": `${name}: ${used} of ${most}` }));
  }), ...program.findings.map((finding) => make("li", { class: "near" }, finding)));
}

/** No program: why, is said beside the source. */
export function showNone() {
  $("listing").replaceChildren(make("p", { class: "quiet" }, "There is no program: the source's errors say why."));
  $("figures").textContent = "";
  $("limits").replaceChildren();
}

/** Marks the rows that do something for a line, and the one at an address. */
export function markRows(line, address, rows) {
  for (const element of $("listing").querySelectorAll("tbody tr")) {
    const row = rows[element.dataset.row];
    element.classList.toggle("of-line", Boolean(row?.lines.includes(line)));
    const here = row?.address === address;
    element.classList.toggle("here", here);
    if (here) {
      element.setAttribute("aria-current", "step");
      // The table alone is moved, not the page.
      const [list, head] = [$("listing"), 28];
      if (element.offsetTop < list.scrollTop + head) list.scrollTop = element.offsetTop - head;
      else if (element.offsetTop + element.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = element.offsetTop + element.offsetHeight - list.clientHeight;
    } else element.removeAttribute("aria-current");
  }
}
