// One file out of the page's parts: scripts by esbuild, the libraries as base64 of gzip. Beside it, what each part weighs.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const [npm, parts, out] = process.argv.slice(2).map((path) => resolve(path));
const { build } = createRequire(`${npm}/package.json`)("esbuild");
process.chdir(dirname(fileURLToPath(import.meta.url)));

/** A script and all it imports, for a page that is opened from disk: no modules, which browsers do not load from there. */
async function script(entry) {
  const { outputFiles } = await build({
    absWorkingDir: process.cwd(),
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    target: "es2022",
    legalComments: "inline",
    nodePaths: [`${npm}/node_modules`],
    alias: { skrymir: `${parts}/skrymir.js` },
    loader: { ".vert": "text", ".frag": "text", ".wgsl": "text", ".toml": "text", ".s": "text" },
    // The glue would look for the module beside itself; it is given one.
    define: { "import.meta.url": "''" },
    logLevel: "warning",
  });
  // What would end the element that it stands in.
  return outputFiles[0].text.replaceAll("</script", "<\\/script");
}

const wasm = readFileSync(`${parts}/skrymir_bg.wasm`);
const engine = gzipSync(wasm, { level: 9 });
const main = await script("src/main.js");
const worker = await script("src/worker.js");
const style = readFileSync("src/style.css", "utf8");
// Only this script runs, and it cannot connect to anything: what is dropped cannot leave.
const scripts = [main, ...["early", "pictures", "places", "viewer"].map((name) => readFileSync(`../../emulator/inspect/src/page/${name}.js`, "utf8"))];
// The inspector in its frame lives under this policy and its own.
const hashes = scripts.map((text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`).join(" ");
const policy = `default-src 'none'; script-src ${hashes} 'wasm-unsafe-eval'; worker-src blob:; style-src 'unsafe-inline'; `
  + "img-src blob: data:; frame-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'";
const put = { CSP: policy, STYLE: style, ENGINE: engine.toString("base64"), WORKER: worker, SCRIPT: main };
const page = readFileSync("src/index.html", "utf8").replace(/\$(CSP|STYLE|ENGINE|WORKER|SCRIPT)\b/g, (_, name) => put[name]);
writeFileSync(`${out}/index.html`, page);

const row = (part, text) => ({ part, bytes: Buffer.byteLength(text), gzip: gzipSync(text, { level: 9 }).length });
const sizes = [row("libraries (WebAssembly)", wasm), row("scripts", main), row("worker", worker), row("style", style), row("the page in all", page)];
writeFileSync(`${out}/sizes.json`, `${JSON.stringify(sizes, null, 2)}\n`);
for (const { part, bytes, gzip } of sizes) console.log(`${part.padEnd(24)} ${String(bytes).padStart(9)} bytes, ${String(gzip).padStart(9)} compressed`);
const most = 4e6;
const whole = sizes.at(-1).gzip;
if (whole > most) throw new Error(`the page has ${whole} bytes compressed: ${most} are the most`);
