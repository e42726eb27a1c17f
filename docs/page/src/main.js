// The page: texts to programs to pictures, and what hangs on them.
import { $, make, save, say, tabs } from "./dom.js";
import { Editor } from "./editor.js";
import { Engine } from "./engine.js";
import { EXAMPLES, LANGUAGES } from "./examples.js";
import { Files } from "./files.js";
import { isSize, isTime, showInputs } from "./inputs.js";
import { markRows, showNone, showProgram } from "./listing.js";
import { fromHash, toHash } from "./share.js";
import { Stepper } from "./stepper.js";

/** Longest pause between keys that are one edit, in milliseconds. */
const PAUSE = 30;

const state = {
  language: "glsl",
  /** A document for each text of the language, and for the scene. */
  documents: [],
  shown: 0,
  /** The answer about the texts: programs, refusals, inputs. */
  answer: undefined,
  /** Numbers that were set beside the scene. */
  uniforms: {},
  /** Those that the scene's text gives. */
  given: {},
  textures: new Map(),
  program: "fragment",
  size: undefined,
  time: 0,
  picture: undefined,
};

const names = () => LANGUAGES[state.language].texts.map(({ name }) => name);
const SCENE = "scene.toml";

const engine = new Engine(async () => {
  for (const [name, { png }] of state.textures) await engine.ask("texture", { name, png }).catch(() => {});
});
engine.ready.then(() => ($("version").textContent = engine.version), (error) => say(`The engine does not start: ${error.message}`));

const editor = new Editor($("editor"), { label: "Source", withCosts: true, onchange: edited, online: () => mark() });
const stepper = new Stepper((at) => {
  state.step = at;
  if (at) showStage(at.program.replace(/\d+$/, ""));
  mark();
});

// Texts

function load({ language, texts, scene, uniforms = {} }) {
  state.language = LANGUAGES[language] ? language : "glsl";
  const { texts: stages, mode } = LANGUAGES[state.language];
  const documents = stages.map(({ label, name }, at) => ({ label, name, state: editor.state(texts[at] ?? "", mode, label) }));
  documents.push({ label: "Scene", name: SCENE, state: editor.state(scene, "toml", "Scene") });
  state.documents = documents;
  state.uniforms = { ...uniforms };
  state.answer = undefined;
  $("language").value = state.language;
  $("texts").replaceChildren(...documents.map(({ label }, at) => make("button", { type: "button", role: "tab", id: `text-${at}`, "aria-controls": "editor", "aria-selected": "false", "data-at": at }, label)));
  state.shown = Math.min(1, stages.length - 1);
  editor.show(documents[state.shown].state);
  textTabs.choose($(`text-${state.shown}`));
  edited();
}

const textTabs = tabs($("texts"), (tab) => {
  state.documents[state.shown].state = editor.view.state;
  state.shown = Number(tab.dataset.at);
  editor.show(state.documents[state.shown].state);
  $("editor").setAttribute("aria-labelledby", tab.id);
  annotate();
});

function texts() {
  state.documents[state.shown].state = editor.view.state;
  return state.documents.map((one) => one.state.doc.toString());
}

// Work: one thing at a time, and only the newest of what is asked for meanwhile.

let asked = 0;
let wanted = { compile: false, draw: false };
let working = false;
let timer;

/** Everything that is asked for has a number; the newest that is done stands beside it, for those who wait. */
function count() {
  asked++;
  document.documentElement.dataset.asked = asked;
}

function edited() {
  count();
  clearTimeout(timer);
  timer = setTimeout(() => {
    timer = undefined;
    want({ compile: true });
  }, PAUSE);
}

function want(what) {
  if (!what.compile) count();
  wanted = { compile: wanted.compile || what.compile, draw: wanted.draw || what.draw || what.compile };
  if (!working) work();
}

async function work() {
  working = true;
  let done = asked;
  try {
    while (wanted.compile || wanted.draw) {
      done = asked;
      const { compile } = wanted;
      wanted = { compile: false, draw: false };
      try {
        if (compile) await compiled();
        if (state.answer?.inputs && !state.sceneRefusal) await drawn();
      } catch (error) {
        refuse(error);
      }
    }
  } finally {
    working = false;
  }
  if (timer === undefined) document.documentElement.dataset.edit = done;
}

async function compiled() {
  const all = texts();
  const scene = all.pop();
  state.answer = await engine.ask("compile", { names: names(), texts: all });
  state.sceneRefusal = undefined;
  state.refusal = undefined;
  try {
    const uniforms = state.answer.inputs?.uniforms.map(({ name }) => name) ?? [];
    state.given = await engine.ask("scene", { text: scene, names: uniforms });
  } catch (error) {
    state.sceneRefusal = { message: error.message, file: SCENE, line: error.line, column: error.column };
  }
  inputs();
  program();
  annotate();
}

/** The controls are made again where what the shaders take has changed: fields keep the focus. */
function inputs() {
  const found = state.answer.inputs ?? { uniforms: [], samplers: [] };
  if (!state.answer.inputs) return;
  const key = JSON.stringify([found, state.given, [...state.textures.keys()]]);
  if (key === state.inputsKey) return;
  state.inputsKey = key;
  showInputs(found, {
    value: ({ name, value }) => state.uniforms[name] ?? state.given[name] ?? value,
    textures: state.textures,
    onuniform(name, values) {
      state.uniforms[name] = values;
      want({ draw: true });
    },
    async ontexture(name, texture) {
      try {
        await engine.ask("texture", { name, png: texture.png });
      } catch (error) {
        refuse(error);
        return false;
      }
      state.textures.set(name, texture);
      want({ draw: true });
      return true;
    },
  });
}

/** Numbers for the shaders that are there: what was set, the clock, the size. */
function uniforms() {
  const all = {};
  for (const one of state.answer.inputs.uniforms) {
    const count = one.rows * one.columns * one.elements;
    const set = state.uniforms[one.name];
    if (isTime(one)) all[one.name] = [state.time];
    else if (isSize(one)) all[one.name] = [...(state.size ?? state.given.size ?? [state.picture?.width ?? 256, state.picture?.height ?? 256]), 1].slice(0, one.rows);
    else if (set?.length === count) all[one.name] = set;
  }
  return all;
}

const given = () => ({ uniforms: uniforms(), size: state.size });

async function drawn() {
  const { picture, notes, milliseconds } = await engine.ask("draw", given());
  const canvas = $("canvas");
  if (canvas.width !== picture.width || canvas.height !== picture.height) {
    canvas.width = picture.width;
    canvas.height = picture.height;
  }
  canvas.getContext("2d", { willReadFrequently: true }).putImageData(new ImageData(new Uint8ClampedArray(picture.rgba), picture.width, picture.height), 0, 0);
  const first = !state.picture;
  state.picture = picture;
  state.refusal = undefined;
  state.notes = notes;
  $("took").value = `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
  $("column").max = picture.width - 1;
  $("row").max = picture.height - 1;
  refusal();
  if (first) document.documentElement.dataset.firstPicture = performance.now().toFixed(0);
  document.documentElement.dataset.pictures = Number(document.documentElement.dataset.pictures ?? 0) + 1;
}

// What is wrong

function refuse(error) {
  state.refusal = { message: error.message, file: error.file, line: error.line, column: error.column };
  refusal();
}

/** Everything that is wrong now, each once. */
function refusals() {
  const { vertex, fragment, refusal } = state.answer ?? {};
  const all = [vertex?.refusal, fragment?.refusal, refusal, state.sceneRefusal, state.refusal].filter(Boolean);
  return all.filter(({ message }, at) => all.findIndex((other) => other.message === message) === at);
}

function refusal() {
  const all = refusals();
  const place = $("refusal");
  const text = all.map(({ message }) => message).join("\n\n");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = all.length === 0;
  $("canvas").classList.toggle("stale", all.length > 0);
  const warnings = [
    ...["vertex", "fragment"].flatMap((stage) => state.answer?.[stage]?.program?.report?.warnings.map((one) => ({ ...one, stage })) ?? []),
    ...(state.notes ?? []).map((message) => ({ message })),
  ];
  $("warnings").replaceChildren(...warnings.map(({ stage, line, message }) => make("li", {}, stage ? `${stage}${line ? `, line ${line}` : ""}: ` : "", message)));
}

/** The stage whose text is shown; both are in one text of WGSL and of assembly. */
const stagesOf = (at) => (LANGUAGES[state.language].texts.length === 1 ? ["vertex", "fragment"] : [["vertex", "fragment"][at]]).filter(() => at < LANGUAGES[state.language].texts.length);

/** Errors, warnings and costs at their lines of the text that is shown. */
function annotate() {
  if (!state.answer) return;
  const { name } = state.documents[state.shown];
  const stages = stagesOf(state.shown);
  const reports = stages.map((stage) => state.answer[stage]?.program?.report).filter(Boolean);
  const found = refusals().filter(({ file, line }) => file === name && line).map((one) => ({ ...one, severity: "error" }));
  for (const { warnings } of reports) found.push(...warnings.map((one) => ({ ...one, severity: "warning" })));
  editor.diagnose(found);
  const lines = new Map();
  for (const { lines: costs } of reports) {
    for (const one of costs) {
      const have = lines.get(one.line);
      lines.set(one.line, have ? { line: one.line, cost: have.cost + one.cost, operations: have.operations + one.operations, instructions: have.instructions + one.instructions } : one);
    }
  }
  editor.costs([...lines.values()]);
  refusal();
  mark();
}

// The program

const shownProgram = () => state.answer?.[state.program]?.program;

function program() {
  const shown = shownProgram();
  if (shown) showProgram(shown, (row) => {
    state.pointed = row;
    mark();
  });
  else showNone();
  state.pointed = undefined;
  mark();
}

function showStage(stage) {
  if (state.program === stage) return;
  programTabs.choose($(`to-${stage}`));
}

const programTabs = tabs($("programs"), (tab) => {
  state.program = tab.id.slice("to-".length);
  $("listing").setAttribute("aria-labelledby", tab.id);
  program();
});

/** Lines and rows that belong to each other. */
function mark() {
  const shown = shownProgram();
  const here = state.step && state.step.program.startsWith(state.program) ? shown?.rows.find(({ address }) => address === state.step.address) : undefined;
  const isOfText = stagesOf(state.shown).includes(state.program);
  // Not while the editor tells of a change.
  queueMicrotask(() => editor.trace(isOfText ? (state.pointed ?? here)?.lines ?? [] : []));
  markRows(isOfText ? editor.line() : undefined, here?.address, shown?.rows ?? []);
}

$("save-text").addEventListener("click", () => shownProgram() && save(`${state.program}.s`, shownProgram().text, "text/plain"));
$("save-mbs").addEventListener("click", async () => shownProgram() && save(`${state.program}.mbs`, await engine.ask("mbs", { stage: state.program })));

// The picture

function color(x, y) {
  const { width, rgba } = state.picture;
  return [...rgba.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)];
}

/** Chooses a pixel: marks it, tells its colour, and may step through its fragments. */
async function pick(x, y, open) {
  if (!state.picture) return;
  const { width, height } = state.picture;
  x = Math.max(0, Math.min(width - 1, x));
  y = Math.max(0, Math.min(height - 1, y));
  $("column").value = x;
  $("row").value = y;
  $("color").value = color(x, y).join(" ");
  const mark = $("mark");
  mark.hidden = false;
  mark.style.left = `${(100 * (x + 0.5)) / width}%`;
  mark.style.top = `${(100 * (y + 0.5)) / height}%`;
  if (!open) return;
  stop();
  try {
    stepper.open(await engine.ask("trace", { ...given(), at: [x, y] }));
    say(`Pixel ${x}, ${y}`);
  } catch (error) {
    refuse(error);
  }
}

const picked = () => [$("column").valueAsNumber || 0, $("row").valueAsNumber || 0];

$("canvas").addEventListener("click", (event) => {
  const box = $("canvas").getBoundingClientRect();
  const at = (from, size, pixels) => Math.floor((from / size) * pixels);
  pick(at(event.clientX - box.left, box.width, $("canvas").width), at(event.clientY - box.top, box.height, $("canvas").height), true);
});
$("canvas").addEventListener("keydown", (event) => {
  const [x, y] = picked();
  const by = event.shiftKey ? 16 : 1;
  const to = { ArrowLeft: [x - by, y], ArrowRight: [x + by, y], ArrowUp: [x, y - by], ArrowDown: [x, y + by] }[event.key];
  if (to) pick(...to, false);
  else if (event.key === "Enter") pick(x, y, true);
  else return;
  event.preventDefault();
});
$("pick").addEventListener("submit", (event) => {
  event.preventDefault();
  pick(...picked(), true);
});

$("save-picture").addEventListener("click", () => $("canvas").toBlob((blob) => save("picture.png", blob, "image/png")));
$("inspect").addEventListener("click", async () => {
  try {
    files.open("draw.trace", await engine.ask("record", given()));
  } catch (error) {
    refuse(error);
  }
});
$("size").addEventListener("change", () => {
  const size = Number($("size").value);
  state.size = size ? [size, size] : undefined;
  want({ compile: true });
});

// Time

let running;

function stop() {
  cancelAnimationFrame(running);
  running = undefined;
  $("run").setAttribute("aria-pressed", "false");
}

$("run").addEventListener("click", () => {
  if (running) return stop();
  $("run").setAttribute("aria-pressed", "true");
  const start = performance.now() - 1000 * state.time;
  const tick = () => {
    running = requestAnimationFrame(tick);
    if (working) return;
    state.time = (performance.now() - start) / 1000;
    $("time").value = state.time.toFixed(1);
    want({ draw: true });
  };
  running = requestAnimationFrame(tick);
});
$("time").addEventListener("input", () => {
  stop();
  state.time = $("time").valueAsNumber || 0;
  want({ draw: true });
});

// Files, links, the page itself

const files = new Files(engine, (name, text) => {
  const ending = /\.(\w+)$/.exec(name)[1].toLowerCase();
  const isAssembly = ["s", "asm"].includes(ending);
  const language = ending === "wgsl" ? "wgsl" : isAssembly ? "assembly" : "glsl";
  // A stage goes beside the one that is there; other languages begin anew.
  const stage = ["vert", "vs"].includes(ending) ? 0 : ["frag", "fs"].includes(ending) ? 1 : LANGUAGES[language].texts.length === 1 ? 0 : -1;
  if (stage < 0) return false;
  const have = state.language === language ? texts() : undefined;
  const example = EXAMPLES.find((one) => one.language === language);
  const all = have?.slice(0, -1) ?? [...example.texts];
  all[stage] = text;
  load({ language, texts: all, scene: have?.at(-1) ?? example.scene });
  roomTabs.choose($("to-shaders"));
  textTabs.choose($(`text-${stage}`));
  say(`${name} is in the editor`);
  return true;
});

const roomTabs = tabs(document.querySelector(".rooms"), (tab) => {
  for (const room of ["shaders", "files"]) $(room).hidden = tab.id !== `to-${room}`;
});

$("example").append(...EXAMPLES.map(({ title }, at) => make("option", { value: at }, title)));
$("example").addEventListener("change", () => load(EXAMPLES[$("example").value]));
$("language").append(...Object.entries(LANGUAGES).map(([value, { label }]) => make("option", { value }, label)));
$("language").addEventListener("change", () => {
  const at = EXAMPLES.findIndex(({ language }) => language === $("language").value);
  $("example").value = at;
  load(EXAMPLES[at]);
});

$("share").addEventListener("click", async () => {
  const all = texts();
  const scene = all.pop();
  const hash = await toHash({ language: state.language, texts: all, scene, uniforms: state.uniforms });
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied. It holds the texts and the uniforms; pictures are not in it.");
  } catch {
    say("The link is in the address bar. It holds the texts and the uniforms; pictures are not in it.");
  }
});

const THEMES = [["", "Auto", "as the system has them"], ["light", "Light", "light"], ["dark", "Dark", "dark"]];

function theme(at) {
  const [value, label, words] = THEMES[at];
  document.documentElement.dataset.theme = value;
  $("theme").textContent = label;
  $("theme").setAttribute("aria-label", `Colours: ${words}`);
  $("theme").dataset.at = at;
  try {
    localStorage.setItem("skrymir-theme", at);
  } catch {
    // A page from disk may have no storage.
  }
}
$("theme").addEventListener("click", () => theme((Number($("theme").dataset.at) + 1) % THEMES.length));
let themed = 0;
try {
  themed = Number(localStorage.getItem("skrymir-theme")) % THEMES.length || 0;
} catch {
  // As above.
}
theme(themed);

/** For those who measure. */
window.skrymirMemory = () => engine.ask("memory");

async function begin() {
  let shared;
  try {
    shared = await fromHash(location.hash);
  } catch (error) {
    say(`The link cannot be read: ${error.message}`);
  }
  load(shared ?? EXAMPLES[0]);
}
addEventListener("hashchange", () => location.hash.startsWith("#s=") && begin());
begin();
