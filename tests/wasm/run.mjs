// Runs the tests that a module of wasm32-unknown-unknown exports (see src/lib.rs), each in its own instance:
// `node run.mjs MODULE [WORD]`, with a word only those that have it in their name. Cargo's runner for `cargo test`:
// CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER="node PATH/run.mjs"
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const [path, ...rest] = process.argv.slice(2);
const word = rest.find((argument) => !argument.startsWith("-")) ?? "";
const module = new WebAssembly.Module(readFileSync(path));

/** Every import: a panic's message is kept; any other import traps when it is called. */
function imports(panicked) {
  const all = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    const missing = () => {
      throw new Error(`nobody has ${from}.${name} here`);
    };
    (all[from] ??= {})[name] = from === "test" && name === "panicked" ? panicked : missing;
  }
  return all;
}

/** The error of a test, or nothing. */
function fault(name) {
  let words = "";
  let instance;
  const panicked = (at, length) => {
    words += Buffer.from(instance.exports.memory.buffer, at, length).toString();
  };
  instance = new WebAssembly.Instance(module, imports(panicked));
  try {
    instance.exports[name]();
    return undefined;
  } catch (error) {
    return words || String(error.stack);
  }
}

const tests = WebAssembly.Module.exports(module).map(({ name }) => name);
const chosen = tests.filter((name) => /^(test|ignored) /.test(name) && name.includes(word));
const counts = { ok: 0, ignored: 0, FAILED: 0 };
const start = performance.now();
for (const name of chosen) {
  const [kind, ...title] = name.split(" ");
  const wrong = kind === "ignored" ? undefined : fault(name);
  const result = wrong !== undefined ? "FAILED" : kind === "ignored" ? "ignored" : "ok";
  counts[result] += 1;
  console.log(`test ${title.join(" ")} ... ${result}${wrong === undefined ? "" : `\n${wrong}`}`);
}
const seconds = ((performance.now() - start) / 1000).toFixed(2);
const { ok, ignored, FAILED } = counts;
console.log(`${basename(path)}: ${ok} passed; ${FAILED} failed; ${ignored} ignored; finished in ${seconds}s\n`);
process.exit(FAILED === 0 && (chosen.length > 0 || word !== "") ? 0 : 101);
