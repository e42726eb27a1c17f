// A fragment, instruction by instruction, forward and back.
import { $, make } from "./dom.js";

const number = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : value);
const vector = (values) => values.map(number).join(", ");
const LETTERS = "xyzw";

/** The contents of the registers after each step. */
function registers(steps) {
  let now = {};
  return [now, ...steps.map(({ gives }) => {
    now = { ...now };
    for (const { name, values } of gives) {
      const [register, mask = name.startsWith("$") ? LETTERS : "x"] = name.split(".");
      const have = [...(now[register] ?? ["", "", "", ""])];
      [...mask].forEach((letter, at) => (have[LETTERS.indexOf(letter)] = values[at]));
      now[register] = have;
    }
    return now;
  })];
}

export class Stepper {
  /** `onstep` gets the program's name and the address of the present instruction; nothing when the stepper closes. */
  constructor(onstep) {
    this.onstep = onstep;
    this.place = $("stepper");
    this.place.addEventListener("keydown", ({ key }) => key === "Escape" && this.close());
  }

  get isOpen() {
    return !this.place.hidden;
  }

  close() {
    // The picture is where it was opened from.
    if (this.place.contains(document.activeElement)) $("canvas").focus();
    this.place.hidden = true;
    this.onstep(undefined);
  }

  open({ pixel, findings }) {
    this.pixel = pixel;
    this.findings = findings;
    this.fragments = pixel.fragments.filter(({ helps }) => !helps);
    this.place.hidden = false;
    const title = make("h2", {}, `Pixel ${pixel.x}, ${pixel.y}`);
    const close = make("button", { type: "button", class: "close", onclick: () => this.close(), "aria-label": "Close the stepper" }, "×");
    this.bar = make("div", { class: "bar" }, title, make("span", { class: "gap" }), close);
    if (this.fragments.length === 0) {
      this.place.replaceChildren(this.bar, make("p", {}, "No fragment covers this pixel: it has the clear colour."));
      this.onstep(undefined);
      return;
    }
    this.which = make("select", { "aria-label": "Fragment", onchange: () => this.choose(this.which.selectedIndex) },
      this.fragments.map((_, at) => make("option", {}, `fragment ${at + 1} of ${this.fragments.length}`)));
    const by = (step, label, text) => make("button", { type: "button", "aria-label": label, onclick: () => this.go(this.at + step) }, text);
    this.slider = make("input", { type: "range", min: 0, value: 0, "aria-label": "Instruction", oninput: () => this.go(this.slider.valueAsNumber) });
    this.count = make("output", { "aria-label": "Step" });
    const controls = make("div", { class: "bar", role: "group", "aria-label": "Steps" }, this.which,
      by(-Infinity, "First instruction", "«"), by(-1, "Instruction before", "‹"), this.slider, by(1, "Next instruction", "›"), by(Infinity, "Last instruction", "»"), this.count);
    this.body = make("div", { class: "step", "aria-live": "polite" });
    this.place.replaceChildren(this.bar, controls, this.body);
    this.choose(this.fragments.length - 1);
  }

  choose(which) {
    this.which.selectedIndex = which;
    this.fragment = this.fragments[which];
    this.held = registers(this.fragment.steps);
    this.slider.max = this.fragment.steps.length - 1;
    this.go(0);
  }

  go(to) {
    const { steps, program, painted } = this.fragment;
    this.at = Math.max(0, Math.min(steps.length - 1, to));
    const step = steps[this.at];
    this.slider.value = this.at;
    this.slider.setAttribute("aria-valuetext", `instruction at ${step.address}`);
    this.count.value = `step ${this.at + 1} of ${steps.length}`;
    const operands = (title, list) => list.length === 0 ? null : make("div", {}, make("h3", {}, title),
      make("dl", {}, list.map(({ name, values }) => [make("dt", {}, name), make("dd", {}, vector(values))])));
    const [before, after] = [this.held[this.at], this.held[this.at + 1]];
    const names = Object.keys(after).sort();
    const rows = names.map((name) => make("tr", {}, make("th", { scope: "row" }, name),
      after[name].map((value, at) => make("td", { class: before[name]?.[at] === value ? "" : "new" }, value === "" ? "" : number(value)))));
    const table = make("table", { class: "registers" }, make("caption", {}, "Registers after it"),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, ""), [...LETTERS].map((letter) => make("th", { scope: "col" }, letter)))),
      make("tbody", {}, rows));
    const goes = step.discarded ? "The fragment is discarded." : step.next == null ? "The program ends." : `Continues at ${step.next}.`;
    const paints = this.at === steps.length - 1 && painted
      ? make("p", {}, painted.color ? `Writes (${vector(painted.color)}); ` : "Writes nothing; ", `the pixel changes from (${vector(painted.before)}) to (${vector(painted.after)}).`) : null;
    const last = this.at === steps.length - 1 ? this.findings.map((finding) => make("p", { class: "near" }, finding)) : [];
    this.body.replaceChildren(make("pre", {}, step.text),
      make("div", { class: "columns" }, ...[operands("Reads", step.reads), operands("Writes", step.gives), table].filter(Boolean)),
      make("p", {}, goes), ...[paints, ...last].filter(Boolean));
    this.onstep({ program, address: step.address });
  }
}
