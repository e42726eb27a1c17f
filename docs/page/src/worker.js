// The libraries, in a thread of their own: one question at a time, one answer each.
import init, * as skrymir from "skrymir";

let shaders;
let scene;
let recording;
/** Textures by sampler, PNG. */
const textures = new Map();

const answers = {
  async start({ engine, module }) {
    module ??= await compiled(engine);
    await init({ module_or_path: module });
    return { module, version: skrymir.version() };
  },

  // Texts to programs; errors in them are part of the answer and not thrown.
  compile({ names, texts }) {
    shaders?.free();
    shaders = new skrymir.Shaders(names[0], texts[0], names[1], texts[1]);
    const answer = { vertex: shaders.vertex, fragment: shaders.fragment };
    try {
      answer.inputs = shaders.inputs();
    } catch (error) {
      answer.refusal = refusal(error);
    }
    return answer;
  },

  // The scene's text, and what was set beside it; the uniforms that the text gives.
  scene({ text, names }) {
    const read = new skrymir.Scene(text);
    scene?.free();
    scene = read;
    for (const [name, png] of textures) scene.setTexture(name, png);
    return Object.fromEntries(names.map((name) => [name, scene.uniform(name)]));
  },

  texture({ name, png }) {
    if (png) textures.set(name, png);
    else textures.delete(name);
    if (png) scene.setTexture(name, png);
  },

  draw({ uniforms, size }) {
    prepare(uniforms, size);
    const start = performance.now();
    const picture = shaders.draw(scene);
    return { picture, notes: shaders.notes(scene), milliseconds: performance.now() - start };
  },

  trace({ uniforms, size, at: [x, y] }) {
    prepare(uniforms, size);
    return shaders.trace(scene, x, y);
  },

  record({ uniforms, size }) {
    prepare(uniforms, size);
    return shaders.record(scene);
  },

  mbs: ({ stage }) => shaders.mbs(stage),

  recording({ name, bytes }) {
    const opened = new skrymir.Recording(name, bytes);
    recording?.free();
    recording = opened;
    return recording.page();
  },

  history: ({ job, x, y }) => recording?.history(job, x, y) ?? "",

  // Every verb that says something of a file; each may refuse.
  look({ name, bytes, format }) {
    const found = format ?? skrymir.format(bytes);
    const answer = { format: found };
    try {
      if (found === "vbc") answer.stages = skrymir.stages(name, bytes);
    } catch {
      // `info` has the reason.
    }
    for (const [verb, tell] of Object.entries({ info: skrymir.info, check: skrymir.check })) {
      try {
        answer[verb] = tell(name, bytes, format).text;
      } catch (error) {
        answer[verb] = refusal(error);
      }
    }
    return answer;
  },

  dis: ({ name, bytes, format, stage }) => skrymir.dis(name, bytes, format, stage),
  convert: ({ name, bytes, format, to, stage }) => skrymir.convert(name, bytes, format, to, stage),
  // `vbc` has the bytes and the stage that the text replaces, if it is a part of such a file.
  assemble({ name, text, vbc }) {
    const made = skrymir.assemble(name, text);
    return vbc ? skrymir.withStage(name, vbc.bytes, vbc.stage, made) : made;
  },

  // For those who measure.
  memory: () => skrymir.memoryBytes(),
};

function prepare(uniforms, size) {
  for (const [name, values] of Object.entries(uniforms)) scene.setUniform(name, new Float64Array(values));
  if (size) scene.setSize(...size);
}

/** WebAssembly out of what the page holds: base64 of gzip. */
async function compiled(engine) {
  const text = atob(engine);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "content-type": "application/wasm" } }));
}

function refusal(error) {
  // A trap ends the instance: its words are the panic's, and the page starts another.
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) throw error;
  return { message: error.message, file: error.file, line: error.line, column: error.column };
}

onmessage = async ({ data: { id, question, ...given } }) => {
  try {
    postMessage({ id, answer: await answers[question](given) });
  } catch (error) {
    const trapped = error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
    let words = error.message;
    try {
      words = (trapped && skrymir.lastPanic()) || words;
    } catch {
      // What trapped may not answer any more.
    }
    postMessage({ id, trapped, refusal: { message: words, file: error.file, line: error.line, column: error.column } });
  }
};
