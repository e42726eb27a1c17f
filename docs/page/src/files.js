// Files: what the commands say of them, the way to text and back, and recordings.
import { $, make, save, say } from "./dom.js";
import { Editor } from "./editor.js";

/** Endings of shaders' sources, which the editor takes. */
const SOURCES = /\.(vert|frag|vs|fs|glsl|wgsl|s|asm)$/i;

const LANGUAGES = [["glsl", "GLSL", "glsl"], ["wgsl", "WGSL", "wgsl"], ["hlsl", "HLSL", "hlsl"], ["msl", "Metal", "metal"], ["spirv", "SPIR-V", "spv"], ["vbc", "VBC", "vbc"]];

/** Text forms that can be assembled: the extension that selects the language, and that of the result. */
const ASSEMBLED = { vbc: ["spvasm", "vbc"], spirv: ["spvasm", "spv"], mbs: ["s", "mbs"], gp: ["s", "mbs"], pp: ["s", "mbs"], sl: ["s0", "sl"] };

/** Whether a source's text becomes a stage in the editor, rather than a file here. */
const isSource = (name, bytes) => SOURCES.test(name) && !bytes.subarray(0, 4096).includes(0);

export class Files {
  /** `onsource` gets the name and text of a shader's source; answers whether it was taken. */
  constructor(engine, onsource) {
    this.engine = engine;
    this.onsource = onsource;
    const input = $("open");
    input.addEventListener("change", () => this.take(input.files));
    const drop = $("drop");
    for (const target of [document.documentElement]) {
      target.addEventListener("dragover", (event) => {
        event.preventDefault();
        drop.classList.add("over");
      });
      target.addEventListener("dragleave", () => drop.classList.remove("over"));
      target.addEventListener("drop", (event) => {
        event.preventDefault();
        drop.classList.remove("over");
        this.take(event.dataTransfer.files);
      });
    }
    addEventListener("message", (event) => this.asked(event));
  }

  async take(files) {
    for (const file of files) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      await this.open(file.name, bytes);
    }
  }

  /** Opens bytes by a name, whatever they are. */
  async open(name, bytes) {
    if (isSource(name, bytes) && this.onsource(name, new TextDecoder().decode(bytes))) return;
    $("to-files").click();
    const format = $("format").value || undefined;
    let answer;
    try {
      answer = await this.engine.ask("look", { name, bytes, format });
    } catch (error) {
      answer = { info: { message: error.message }, check: { message: error.message } };
    }
    this.show(name, bytes, answer, format);
  }

  show(name, bytes, answer, format) {
    const place = $("opened");
    const says = (verb) => (typeof answer[verb] === "string" ? make("pre", {}, answer[verb]) : make("pre", { class: "refusal" }, answer[verb].message));
    const title = make("h2", { tabindex: "-1" }, name, make("small", {}, ` ${answer.format ?? "no known format"}, ${bytes.length} bytes`));
    const parts = [
      make("section", { "aria-label": "info", "data-verb": "info" }, make("h3", {}, "info"), says("info")),
      make("section", { "aria-label": "check", "data-verb": "check" }, make("h3", {}, "check"), says("check")),
    ];
    if (answer.format === "trace") parts.push(this.recording(name, bytes));
    else if (answer.format) parts.push(this.text(name, bytes, answer, format));
    if (["vbc", "mbs", "spirv", "sksl", "gp", "pp"].includes(answer.format)) parts.push(this.convert(name, bytes, answer, format));
    place.replaceChildren(title, ...parts);
    title.focus();
    say(`${name}: ${answer.format ?? "no known format"}`);
  }

  /** The file as text; what can be assembled can be edited. */
  text(name, bytes, { format: found, stages = [] }, format) {
    const place = make("div", { class: "editor tall" });
    const problem = make("pre", { class: "refusal", role: "alert", hidden: true });
    const stage = make("select", { "aria-label": "Stage" }, stages.map((one) => make("option", {}, one)));
    const isVbc = stages.length > 0;
    const [language, ending] = ASSEMBLED[found] ?? [];
    const stem = name.replace(/\.[^.]*$/, "");
    const refuse = (error) => {
      problem.textContent = error?.message ?? "";
      problem.hidden = !error;
    };
    let editor;
    const load = async () => {
      try {
        const text = await this.engine.ask("dis", { name, bytes, format, stage: isVbc ? stage.value : undefined });
        editor ??= new Editor(place, { label: `${name} as text` });
        editor.show(editor.state(text, "assembly", `${name} as text`));
        place.hidden = false;
        refuse();
      } catch (error) {
        place.hidden = true;
        refuse(error);
      }
    };
    stage.addEventListener("change", load);
    const again = async () => {
      try {
        const vbc = isVbc ? { bytes, stage: stage.value } : undefined;
        const made = await this.engine.ask("assemble", { name: `${stem}.${language}`, text: editor.text, vbc });
        refuse();
        editor.diagnose([]);
        const same = made.length === bytes.length && made.every((byte, at) => byte === bytes[at]);
        say(same ? "Assembled: the same bytes as the file" : `Assembled: ${made.length} bytes`);
        save(`${stem}.${ending}`, made);
      } catch (error) {
        refuse(error);
        editor.diagnose([{ line: error.line, column: error.column, message: error.message, severity: "error" }]);
      }
    };
    const keep = () => editor && save(`${stem}.${language ?? "txt"}`, editor.text, "text/plain");
    const bar = make("div", { class: "bar" }, isVbc ? stage : null,
      ending ? make("button", { type: "button", onclick: again, "data-do": "assemble" }, "Assemble and save") : null,
      make("button", { type: "button", onclick: keep, "data-do": "save-text" }, "Save text"));
    load();
    return make("section", { "aria-label": "dis", "data-verb": "dis" }, make("h3", {}, "dis"), bar, place, problem);
  }

  /** The file in another language. */
  convert(name, bytes, { stages = [] }, format) {
    const to = make("select", { "aria-label": "Language to write" }, LANGUAGES.map(([value, label]) => make("option", { value }, label)));
    const writable = ["vert", "frag", "comp"];
    const choices = stages.length > 0 ? stages.filter((one) => writable.includes(one)) : writable;
    const stage = make("select", { "aria-label": "Stage to convert" }, stages.length > 0 ? null : make("option", { value: "" }, "the only stage"), choices.map((one) => make("option", {}, one)));
    const result = make("pre", { "aria-live": "polite" });
    let written;
    const go = async () => {
      written = undefined;
      result.className = "";
      try {
        written = await this.engine.ask("convert", { name, bytes, format, to: to.value, stage: stage.value || undefined });
        const binary = ["spirv", "vbc"].includes(to.value);
        result.textContent = binary ? `${written.length} bytes` : new TextDecoder().decode(written);
      } catch (error) {
        result.textContent = error.message;
        result.className = "refusal";
      }
    };
    const ending = () => LANGUAGES.find(([value]) => value === to.value)[2];
    const bar = make("div", { class: "bar" }, to, stage,
      make("button", { type: "button", onclick: go, "data-do": "convert" }, "Convert"),
      make("button", { type: "button", onclick: () => written && save(`${name}.${ending()}`, written), "data-do": "save" }, "Save"));
    return make("section", { "aria-label": "convert", "data-verb": "convert" }, make("h3", {}, "convert"), bar, result);
  }

  /** The inspector, in a frame; what it asks is answered by `asked`. */
  recording(name, bytes) {
    const section = make("section", { "aria-label": "inspect", "data-verb": "inspect" }, make("h3", {}, "inspect"), make("p", { class: "quiet" }, "The recording runs…"));
    this.engine.ask("recording", { name, bytes }).then((page) => {
      // Its links are places on itself: of a page from disk neither a blob's address nor `srcdoc` lets them be followed.
      this.frame = make("iframe", { src: `data:text/html;charset=utf-8,${encodeURIComponent(page)}`, sandbox: "allow-scripts", title: `Inspector of ${name}`, class: "inspector" });
      const keep = make("button", { type: "button", onclick: () => save(`${name}.html`, page, "text/html") }, "Save the page");
      section.replaceChildren(make("h3", {}, "inspect"), make("div", { class: "bar" }, keep), this.frame);
    }, (error) => section.replaceChildren(make("h3", {}, "inspect"), make("pre", { class: "refusal" }, error.message)));
    return section;
  }

  async asked({ source, data }) {
    if (!this.frame || source !== this.frame.contentWindow || !Array.isArray(data?.history)) return;
    const [job, x, y] = data.history.map(Number);
    let html;
    try {
      html = await this.engine.ask("history", { job, x, y });
    } catch (error) {
      html = make("section", { class: "history", "data-pixel": `${x},${y}` }, make("p", {}, error.message)).outerHTML;
    }
    source.postMessage({ history: data.history, html }, "*");
  }
}
