// Tests the example of emulator/wasm/README.md on a package: types by the TypeScript compiler, output by running it.
//
//   node docs/page/example.mjs MODULES PACKAGE    node_modules with the compiler, the package's folder
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [modules, pack] = process.argv.slice(2).map((path) => resolve(path));
const readme = readFileSync(new URL("../../emulator/wasm/README.md", import.meta.url), "utf8");
const block = (language) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(readme)[1];
const run = (...words) => execFileSync(process.execPath, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

const folder = mkdtempSync(join(tmpdir(), "skrymir-"));
try {
  const installed = join(folder, "node_modules");
  mkdirSync(installed);
  cpSync(pack, join(installed, "skrymir"), { recursive: true });
  symlinkSync(join(modules, "@types"), join(installed, "@types"));
  symlinkSync(join(modules, "undici-types"), join(installed, "undici-types"));
  const options = { strict: true, target: "es2022", module: "nodenext", types: ["node"], noEmitOnError: true };
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["example.ts"] }));
  const compile = (text) => {
    writeFileSync(join(folder, "example.ts"), text);
    try {
      run(join(modules, "typescript/bin/tsc"), "-p", ".");
      return "";
    } catch (error) {
      return error.stdout;
    }
  };
  const example = block("ts");
  const errors = compile(example);
  if (errors) throw new Error(errors);
  const output = run("example.js");
  if (output !== block("text")) throw new Error(`the example of README.md prints\n${output}`);
  // The control: the types reject a wrong argument.
  if (!compile(example.replace('mbs("fragment")', 'mbs("pixel")')).includes('"pixel"')) throw new Error("no stage is wrong");
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log("README.md's example: typed, run, and its output compared");
