/** A stage of a pair. */
export type Stage = "vertex" | "fragment";
/** Formats of files. */
export type Format = "vbc" | "mbs" | "spirv" | "sl" | "trace" | "sksl" | "gp" | "pp" | "script" | "source";
/** What `convert` writes. */
export type Language = "wgsl" | "glsl" | "hlsl" | "msl" | "spirv" | "vbc";

/** Why something was not done; what is thrown has the same beside its message. */
export interface Refusal {
  message: string;
  file: string | null;
  /** From 1. */
  line: number | null;
  /** In characters, from 1. */
  column: number | null;
}

/** One of both is there. */
export interface Outcome {
  program?: Program;
  refusal?: Refusal;
}

/** A Mali-400 program. */
export interface Program {
  stage: Stage;
  /** The units in the order of their columns; "control" is last. */
  units: string[];
  rows: Row[];
  instructions: number;
  /** Cycles of the shortest way through. */
  shortest: number | null;
  /** Cycles of the longest; null where a loop is on it. */
  longest: number | null;
  limits: Limit[];
  /** What cannot be right with the code. */
  findings: string[];
  /** What the compiler tells, as `skrymir compile --report --json`; null for programs that were not compiled. */
  report: Report | null;
  /** Assembly that makes the same program. */
  text: string;
}

/** An instruction. */
export interface Row {
  address: number;
  /** What each unit does that does something. */
  cells: Record<string, string>;
  /** Lines of the source that it does something for. */
  lines: number[];
}

/** Something that the hardware has a number of. */
export interface Limit {
  name: string;
  used: number;
  most: number;
}

/** What a program costs. */
export interface Report {
  stage: Stage;
  instructions: number;
  words: number;
  shortest: number | null;
  longest: number | null;
  units: { name: string; instructions: number }[];
  bound: string | null;
  registers: number;
  temporaries: number;
  spill_stores: number;
  spill_loads: number;
  uniforms: number;
  varyings: number;
  /** What each line costs; these add up to the program's length. */
  lines: { line: number | null; operations: number; instructions: number; cost: number }[];
  /** Lines that each instruction does something for. */
  places: number[][];
  warnings: { line: number | null; message: string }[];
}

/** What shaders take. */
export interface Inputs {
  uniforms: { name: string; base: "float" | "int" | "uint" | "bool"; rows: number; columns: number; elements: number; value: number[] }[];
  samplers: { name: string; kind: "2d" | "cube" | "other" }[];
  attributes: string[];
}

/** Rows of pixels from the top, four bytes each. */
export interface Picture {
  width: number;
  height: number;
  rgba: Uint8Array;
}

/** A number or vector that a step read or gave; what is not finite is text. */
export interface Operand {
  name: string;
  values: (number | string)[];
  bits: number[];
}

/** What the fragments at a pixel did, as `skrymir draw --watch-pixel X,Y --json`. */
export interface Trace {
  pixel: {
    x: number;
    y: number;
    fragments: {
      program: string;
      /** It ran to help its neighbours only. */
      helps: boolean;
      steps: { address: number; text: string; reads: Operand[]; gives: Operand[]; next: number | null; discarded: boolean }[];
      painted: { before: (number | string)[]; color: (number | string)[] | null; after: (number | string)[] } | null;
    }[];
  };
  findings: string[];
}

/** What a verb says, for people and for programs. */
export interface Answer {
  text: string;
  json: unknown;
}
