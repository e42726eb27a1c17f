// A link that holds the texts: JSON, deflated, in the part of the address that browsers do not send.

const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();

export async function toHash(state) {
  const packed = new Uint8Array(await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw")));
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return `#s=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Most bytes of a link's texts, as a few compressed bytes can expand to any number. */
const MOST = 1 << 20;

/** What a link holds; nothing where it is none. */
export async function fromHash(hash) {
  const text = /^#s=([\w-]+)$/.exec(hash)?.[1];
  if (!text) return undefined;
  const packed = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST) throw new Error("the link holds more than a megabyte");
    parts.push(value);
  }
  const state = JSON.parse(await new Blob(parts).text());
  const isText = (value) => typeof value === "string";
  if (!isText(state.language) || !Array.isArray(state.texts) || !state.texts.every(isText) || !isText(state.scene)) {
    throw new Error("the link holds something else");
  }
  const uniforms = Object.entries(state.uniforms ?? {}).filter(([, values]) => Array.isArray(values) && values.every(Number.isFinite));
  return { language: state.language, texts: state.texts, scene: state.scene, uniforms: Object.fromEntries(uniforms) };
}
