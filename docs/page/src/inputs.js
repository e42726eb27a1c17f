// Uniforms as sliders, and textures as files that are dropped.
import { $, make } from "./dom.js";

/** Uniforms that the page fills itself. */
export const isTime = ({ name, base, rows, columns, elements }) => /(^|[._])(u_|i)?time$/i.test(name) && base === "float" && rows * columns * elements === 1;
export const isSize = ({ name, rows, columns, elements }) => /(^|[._])(u_|i)?resolution$/i.test(name) && columns * elements === 1 && (rows === 2 || rows === 3);

/** Where a slider of a number ends. */
function range(name, base, value) {
  if (base !== "float") return [Math.min(0, value), Math.max(10, 2 * value), 1];
  const signed = /offset|shift|trans|dir|pos|light|center|centre|angle|rot/i.test(name) || value < 0;
  const reach = Math.abs(value) <= 1 ? 1 : 2 * Math.abs(value);
  return [signed ? -reach : 0, reach, reach / 200];
}

const text = (value) => String(Number(value.toPrecision(4)));

/** A slider with a field beside it, which also takes what the slider does not reach. */
function slider(label, [min, max, step], value, onchange) {
  const range = make("input", { type: "range", min, max, step, value, "aria-label": label });
  const field = make("input", { type: "number", step: "any", value: text(value), "aria-label": `${label}, as a number` });
  range.addEventListener("input", () => {
    field.value = text(range.valueAsNumber);
    onchange(range.valueAsNumber);
  });
  field.addEventListener("input", () => {
    if (!Number.isFinite(field.valueAsNumber)) return;
    range.value = field.valueAsNumber;
    onchange(field.valueAsNumber);
  });
  return make("div", { class: "slider" }, range, field);
}

const hex = (values) => `#${values.slice(0, 3).map((value) => Math.round(Math.min(1, Math.max(0, value)) * 255).toString(16).padStart(2, "0")).join("")}`;

function uniform({ name, base, rows, columns, elements }, value, onchange) {
  const values = [...value];
  const change = (at, number) => {
    values[at] = number;
    onchange([...values]);
  };
  const parts = [];
  const single = columns === 1 && elements === 1;
  if (single && base === "bool") {
    const box = make("input", { type: "checkbox", checked: values[0] !== 0, "aria-label": name, onchange: () => change(0, Number(box.checked)) });
    parts.push(box);
  } else if (single) {
    const isColor = rows >= 3 && /col|tint/i.test(name);
    if (isColor) {
      const pick = make("input", { type: "color", value: hex(values), "aria-label": `${name}, as a colour`, oninput: () => {
        for (const at of [0, 1, 2]) values[at] = parseInt(pick.value.slice(1 + 2 * at, 3 + 2 * at), 16) / 255;
        onchange([...values]);
      } });
      parts.push(pick);
    }
    for (let at = isColor ? 3 : 0; at < rows; at++) {
      const label = rows === 1 ? name : `${name}.${"xyzw"[at]}`;
      parts.push(slider(label, range(name, base, values[at]), values[at], (number) => change(at, number)));
    }
  } else {
    const field = make("input", { type: "text", value: values.map(text).join(", "), "aria-label": name, oninput: () => {
      const given = field.value.split(/[\s,]+/).filter(Boolean).map(Number);
      const fits = given.length === values.length && given.every(Number.isFinite);
      field.setAttribute("aria-invalid", !fits);
      if (fits) onchange(given);
    } });
    parts.push(field);
  }
  const type = columns > 1 ? `mat${columns}` : rows > 1 ? `vec${rows}` : base;
  return make("div", { class: "uniform", "data-name": name }, make("span", { class: "name" }, name, make("small", {}, ` ${type}${elements > 1 ? `[${elements}]` : ""}`)), make("div", { class: "parts" }, parts));
}

/** A picture as PNG, whatever it is in. */
async function asPng(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0x89 && bytes[1] === 0x50) return bytes;
  const bitmap = await createImageBitmap(file, { premultiplyAlpha: "none", colorSpaceConversion: "none" });
  const canvas = make("canvas", { width: bitmap.width, height: bitmap.height });
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return new Uint8Array(await blob.arrayBuffer());
}

function sampler({ name, kind }, have, ontexture) {
  const status = make("span", { class: "quiet" }, have ? have.name : "a checker");
  const take = async (file) => {
    if (!file) return;
    let png;
    try {
      png = await asPng(file);
    } catch {
      status.textContent = `${file.name} is no picture`;
      return;
    }
    if (await ontexture(name, { name: file.name, png })) status.textContent = file.name;
  };
  const input = make("input", { type: "file", accept: "image/*", "aria-label": `Picture for ${name}`, onchange: () => take(input.files[0]) });
  const zone = make("div", { class: "texture" }, make("span", { class: "name" }, name, make("small", {}, ` ${kind}`)),
    make("label", { class: "button" }, "Picture ", input), status);
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    event.stopPropagation();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  return zone;
}

/** Shows what shaders take. `value` gives the numbers of a uniform, `textures` what samplers were given. */
export function showInputs({ uniforms, samplers }, { value, textures, onuniform, ontexture }) {
  const rows = [];
  for (const one of uniforms) {
    if (isTime(one) || isSize(one)) {
      rows.push(make("div", { class: "uniform" }, make("span", { class: "name" }, one.name), make("span", { class: "quiet" }, isTime(one) ? "seconds, from the clock above" : "the picture's size")));
    } else rows.push(uniform(one, value(one), (values) => onuniform(one.name, values)));
  }
  for (const one of samplers) rows.push(sampler(one, textures.get(one.name), ontexture));
  if (rows.length === 0) rows.push(make("p", { class: "quiet" }, "The shaders take no uniforms and no textures."));
  $("inputs").replaceChildren(...rows);
}
