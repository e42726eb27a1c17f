// The editor: CodeMirror, with what each line costs in a gutter of its own.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { shader } from "@codemirror/legacy-modes/mode/clike";
import { simpleMode } from "@codemirror/legacy-modes/mode/simple-mode";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, EditorView, GutterMarker, drawSelection, gutter, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

const wgsl = simpleMode({
  start: [
    { regex: /\/\/.*/, token: "comment" },
    { regex: /\/\*/, token: "comment", next: "comment" },
    { regex: /@[a-z_]+/, token: "meta" },
    { regex: /\b(?:fn|let|var|const|override|struct|return|if|else|for|while|loop|switch|case|default|break|continue|continuing|discard|alias|enable)\b/, token: "keyword" },
    { regex: /\b(?:bool|[iuf]32|f16|vec[234][iuf]?|mat[234]x[234]f?|array|atomic|ptr|sampler|texture_[a-z0-9_]+)\b/, token: "type" },
    { regex: /\b(?:true|false)\b/, token: "atom" },
    { regex: /(?:0x[0-9a-f]+|\d+\.?\d*(?:e[+-]?\d+)?)[iufh]?/i, token: "number" },
    { regex: /[a-z_]\w*/i, token: "variable" },
    { regex: /[-+*/%&|^!=<>]+/, token: "operator" },
  ],
  comment: [{ regex: /.*?\*\//, token: "comment", next: "start" }, { regex: /.*/, token: "comment" }],
  languageData: { commentTokens: { line: "//" } },
});

const assembly = simpleMode({
  start: [
    { regex: /[#;].*/, token: "comment" },
    { regex: /\s*\.[a-z]+/, token: "meta", sol: true },
    { regex: /\s*\w+:/, token: "atom", sol: true },
    { regex: /\b(?:stop|sync|nop|discard|set)\b|\b[a-z][a-z0-9_]*(?:\.[a-z0-9]+)+/, token: "keyword" },
    { regex: /\^\w+|\$\w+(?:\.[xyzw]+)?|[avt]\d+(?:\.[xyzw]+)?/, token: "type" },
    { regex: /0x[0-9a-f]+|-?\d+\.?\d*(?:e[+-]?\d+)?/i, token: "number" },
    { regex: /\w+/, token: "variable" },
  ],
  languageData: { commentTokens: { line: "#" } },
});

const LANGUAGES = { glsl: shader, wgsl, assembly, toml, text: assembly };

// Colours are the page's own variables, so that light and dark need no second style.
const highlighting = syntaxHighlighting(HighlightStyle.define([
  { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.controlKeyword], color: "var(--keyword)" },
  { tag: [tags.typeName, tags.standard(tags.variableName)], color: "var(--type)" },
  { tag: [tags.number, tags.atom, tags.bool], color: "var(--number)" },
  { tag: [tags.meta, tags.processingInstruction], color: "var(--meta)" },
  { tag: tags.string, color: "var(--number)" },
]));

const theme = EditorView.theme({
  "&": { height: "100%", fontSize: "13px", backgroundColor: "var(--field)", color: "var(--text)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--quiet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--selected)" },
  ".cm-costs": { minWidth: "3.4em", textAlign: "right" },
  ".cm-costs .cm-gutterElement": { padding: "0 6px 0 4px" },
  ".cm-traced": { backgroundColor: "var(--traced)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-diagnosticText": { whiteSpace: "pre-wrap" },
});

class Cost extends GutterMarker {
  constructor({ cost, operations, instructions }, share) {
    super();
    Object.assign(this, { cost, operations, instructions, share });
  }

  eq(other) {
    return other.cost === this.cost && other.operations === this.operations && other.share === this.share;
  }

  toDOM() {
    const dom = document.createElement("span");
    dom.className = "cost";
    dom.textContent = this.cost.toFixed(this.cost < 9.95 ? 1 : 0);
    dom.title = `${this.operations} operations in ${this.instructions} instructions, cost ${this.cost.toFixed(2)}`;
    dom.style.setProperty("--share", this.share);
    return dom;
  }
}

const setCosts = StateEffect.define();
const costs = StateField.define({
  create: () => new Map(),
  update: (value, transaction) => transaction.effects.reduce((now, effect) => (effect.is(setCosts) ? effect.value : now), value),
});

const setTraced = StateEffect.define();
const traced = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    let now = value.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setTraced)) continue;
      const doc = transaction.state.doc;
      const lines = [...new Set(effect.value)].filter((line) => line >= 1 && line <= doc.lines).sort((a, b) => a - b);
      now = Decoration.set(lines.map((line) => Decoration.line({ class: "cm-traced" }).range(doc.line(line).from)));
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const costGutter = gutter({
  class: "cm-costs",
  lineMarker(view, line) {
    return view.state.field(costs).get(view.state.doc.lineAt(line.from).number) ?? null;
  },
  lineMarkerChange: (update) => update.startState.field(costs) !== update.state.field(costs),
});

/** One editor; documents are states that come and go. */
export class Editor {
  constructor(parent, { label, onchange = () => {}, online = () => {}, withCosts = false, readOnly = false }) {
    this.label = label;
    this.onchange = onchange;
    this.online = online;
    this.withCosts = withCosts;
    this.readOnly = readOnly;
    this.view = new EditorView({ parent, state: this.state("", "text") });
    // It takes the focus when it is clicked on.
    this.view.scrollDOM.setAttribute("role", "group");
    this.view.scrollDOM.setAttribute("aria-label", `${label}, scrolled`);
  }

  state(text, language, label = this.label) {
    const listen = EditorView.updateListener.of((update) => {
      if (update.docChanged) this.onchange(update.state.doc.toString());
      if (update.docChanged || update.selectionSet) this.online(this.line());
    });
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        this.withCosts ? [costs, costGutter] : [],
        traced,
        lintGutter(),
        history(),
        drawSelection(),
        bracketMatching(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        indentUnit.of("    "),
        StreamLanguage.define(LANGUAGES[language]),
        highlighting,
        theme,
        // Tab goes on to the next control; Ctrl+] indents.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorState.readOnly.of(this.readOnly),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
        listen,
      ],
    });
  }

  /** Shows another document; what was undone stays with it. */
  show(state) {
    this.view.setState(state);
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  line() {
    const state = this.view.state;
    return state.doc.lineAt(state.selection.main.head).number;
  }

  /** What each line costs, of `all` instructions. */
  costs(lines, all) {
    if (!this.withCosts) return;
    const dearest = Math.max(1e-9, ...lines.map(({ cost }) => cost));
    const value = new Map(lines.filter(({ line }) => line).map((line) => [line.line, new Cost(line, line.cost / dearest)]));
    this.view.dispatch({ effects: setCosts.of(value) });
  }

  /** Marks lines that an instruction does something for. */
  trace(lines) {
    this.view.dispatch({ effects: setTraced.of(lines) });
  }

  /** Errors and warnings with line and column, from 1. */
  diagnose(found) {
    const doc = this.view.state.doc;
    const placed = found.filter(({ line }) => line && line <= doc.lines).map(({ line, column, message, severity }) => {
      const at = doc.line(line);
      const from = Math.min(at.to, at.from + Math.max(0, (column ?? 1) - 1));
      const word = /^\w+|^[^\w\s]+/.exec(at.text.slice(from - at.from))?.[0] ?? "";
      return { from: column ? from : at.from, to: column ? Math.min(at.to, from + Math.max(1, word.length)) : at.to, severity, message };
    });
    this.view.dispatch(setDiagnostics(this.view.state, placed));
  }

  goTo(line) {
    const doc = this.view.state.doc;
    if (line < 1 || line > doc.lines) return;
    this.view.dispatch({ selection: { anchor: doc.line(line).from }, scrollIntoView: true });
    this.view.focus();
  }
}
