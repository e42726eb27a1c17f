//! Prints modules, as the reference disassembler (`spirv-dis` of SPIRV-Tools) does.
//!
//! Instructions missing from the grammar are printed as raw words, `!number`, which the assembler reads back.

use super::grammar::{Grammar, Row, Shape};
use super::names::{self, Names};
use super::number::{push_literal, push_u32};
use super::operand::{Context, Operand, Operands, bits, operands};
use super::{HEADER_WORDS, Instruction, MAGIC, instructions, op};
use crate::{Error, Result};

/// Printer options.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Ids as numbers instead of names.
    pub raw_id: bool,
    /// Align results to the left of a column.
    pub indent: bool,
    /// The byte offset after every instruction.
    pub offsets: bool,
    /// Headings before sections.
    pub comment: bool,
    /// The module's header as comments.
    pub header: bool,
    /// Indent instructions two columns further than their block's label, and blocks of a construct two further than the
    /// block that branches to them.
    pub nested: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            raw_id: false,
            indent: true,
            offsets: false,
            comment: false,
            header: true,
            nested: false,
        }
    }
}

/// Limit on bytes of text per byte of module, because a long name may be used everywhere. Real modules need about five.
const MOST: usize = 64;

const INDENT: usize = 15;
const BLANKS: &[u8] = &[b' '; INDENT];

/// Names registered for generators in the registry's `spir-v.xml`.
const GENERATORS: [&str; 37] = [
    "Khronos",
    "LunarG",
    "Valve",
    "Codeplay",
    "NVIDIA",
    "ARM",
    "Khronos LLVM/SPIR-V Translator",
    "Khronos SPIR-V Tools Assembler",
    "Khronos Glslang Reference Front End",
    "Qualcomm",
    "AMD",
    "Intel",
    "Imagination",
    "Google Shaderc over Glslang",
    "Google spiregg",
    "Google rspirv",
    "X-LEGEND Mesa-IR/SPIR-V Translator",
    "Khronos SPIR-V Tools Linker",
    "Wine VKD3D Shader Compiler",
    "Tellusim Clay Shader Compiler",
    "W3C WebGPU Group WHLSL Shader Translator",
    "Google Clspv",
    "Google MLIR SPIR-V Serializer",
    "Google Tint Compiler",
    "Google ANGLE Shader Compiler",
    "Netease Games Messiah Shader Compiler",
    "Xenia Xenia Emulator Microcode Translator",
    "Embark Studios Rust GPU Compiler Backend",
    "gfx-rs community Naga",
    "Mikkosoft Productions MSP Shader Compiler",
    "SpvGenTwo community SpvGenTwo SPIR-V IR Tools",
    "Google Skia SkSL",
    "TornadoVM SPIRV Beehive Toolkit",
    "DragonJoker ShaderWriter",
    "Rayan Hatout SPIRVSmith",
    "Saarland University Shady",
    "Taichi Graphics Taichi",
];

/// A module as text.
///
/// # Errors
/// Invalid if the header is missing, its magic is wrong, or an instruction's length is impossible; Unsupported if long
/// names make the text too large.
pub fn disassemble(grammar: &Grammar, words: &[u32], options: Options) -> Result<String> {
    print(grammar, words, options, |_, _| {})
}

/// An instruction of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its index among the module's words.
    pub position: usize,
    /// Its opcode.
    pub opcode: u16,
    /// It as text, without indentation and comments.
    pub text: String,
}

/// The instructions of a module, of which the options determine only how ids are printed.
///
/// # Errors
/// Those of [`disassemble`].
pub fn lines(grammar: &Grammar, words: &[u32], options: Options) -> Result<Vec<Line>> {
    let options = Options {
        raw_id: options.raw_id,
        indent: false,
        header: false,
        ..Options::default()
    };
    let mut ends = Vec::new();
    let text = print(grammar, words, options, |instruction, end| {
        ends.push((instruction.position, instruction.opcode, end));
    })?;
    let mut start = 0;
    let line = |(position, opcode, end): (usize, u16, usize)| {
        let text = text[std::mem::replace(&mut start, end)..end].trim_end().to_owned();
        Line { position, opcode, text }
    };
    Ok(ends.into_iter().map(line).collect())
}

/// Prints a module; `each` gets every instruction, and the length of the text with it.
fn print(
    grammar: &Grammar,
    words: &[u32],
    options: Options,
    mut each: impl FnMut(&Instruction<'_>, usize),
) -> Result<String> {
    if words.len() < HEADER_WORDS {
        return Err(Error::invalid("spirv", "shorter than a header", words.len() as u64 * 4));
    }
    if words[0] != MAGIC {
        return Err(Error::invalid(
            "spirv",
            format!("magic number is {:#010x}", words[0]),
            0,
        ));
    }
    let mut printer = Printer {
        grammar,
        names: (!options.raw_id).then(|| names::friendly(grammar, words)),
        options,
        out: Vec::with_capacity(words.len() * 12),
        headed: [false; 3],
        limit: words.len() * 4 * MOST + (1 << 20),
        nesting: Nesting::default(),
    };
    if options.header {
        printer.header(words);
    }
    let mut context = Context::new(words);
    for instruction in instructions(words) {
        let instruction = instruction?;
        printer.line(&mut context, &instruction);
        if printer.out.len() > printer.limit {
            let message = format!("the text is more than {MOST} times as long as the module: print raw ids");
            return Err(Error::unsupported("spirv", message).at(instruction.position as u64 * 4));
        }
        each(&instruction, printer.out.len());
    }
    // Everything pushed is ASCII or a string checked to be UTF-8.
    String::from_utf8(printer.out).map_err(|error| {
        Error::new(crate::ErrorKind::Invalid, "spirv", "text is not UTF-8").caused_by(error.utf8_error())
    })
}

/// One instruction as [`disassemble`] prints it without indentation; `None` if no instruction begins there.
pub fn one(grammar: &Grammar, words: &[u32], position: usize) -> Option<String> {
    let mut printer = Printer {
        grammar,
        names: Some(names::friendly(grammar, words)),
        options: Options {
            indent: false,
            ..Options::default()
        },
        out: Vec::new(),
        headed: [false; 3],
        limit: 1 << 20,
        nesting: Nesting::default(),
    };
    let mut context = Context::new(words);
    for instruction in instructions(words).map_while(Result::ok) {
        if instruction.position == position {
            printer.line(&mut context, &instruction);
            return Some(String::from_utf8(printer.out).ok()?.trim_end().to_owned());
        }
        context.note(grammar, grammar.row(instruction.opcode), &instruction);
    }
    None
}

/// The registered name of a generator.
pub(super) fn generator_name(tool: u32) -> Option<&'static str> {
    GENERATORS.get(tool as usize).copied()
}

/// Parses the generator in a header comment, such as `Khronos; 3`, into its word.
pub(super) fn generator(text: &str) -> Option<u32> {
    let (tool, misc) = text.rsplit_once("; ")?;
    let number = tool
        .strip_prefix("Unknown(")
        .and_then(|t| t.strip_suffix(')')?.parse::<u16>().ok());
    let tool = number
        .map(u32::from)
        .or_else(|| GENERATORS.iter().position(|name| *name == tool).map(|at| at as u32))?;
    Some(tool << 16 | u32::from(misc.parse::<u16>().ok()?))
}

struct Printer<'g> {
    grammar: &'g Grammar,
    names: Option<Names>,
    options: Options,
    out: Vec<u8>,
    headed: [bool; 3],
    /// Length of text beyond which ids are printed as numbers and printing ends with an error.
    limit: usize,
    nesting: Nesting,
}

/// The state of nested indentation.
#[derive(Default)]
struct Nesting {
    /// Merge blocks of the open constructs, innermost last.
    merges: Vec<u32>,
    /// Merge block of the construct that this block's last instruction begins.
    next: Option<u32>,
    inside: bool,
}

/// Limit on indented construct levels; deeper ones are not indented further.
const MAX_NESTING: usize = 64;

impl Nesting {
    /// Indentation of an instruction in columns.
    fn columns(&mut self, instruction: &Instruction<'_>) -> usize {
        let first = instruction.words.get(1).copied().unwrap_or(0);
        match instruction.opcode {
            op::FUNCTION | op::FUNCTION_END => {
                *self = Self::default();
                return 0;
            }
            op::LABEL => {
                self.inside = true;
                self.merges.extend(self.next.take());
                // A block may end several constructs at once.
                if let Some(at) = self.merges.iter().position(|merge| *merge == first) {
                    self.merges.truncate(at);
                }
                return 2 * self.merges.len().min(MAX_NESTING);
            }
            op::SELECTION_MERGE | op::LOOP_MERGE => self.next = Some(first),
            _ => {}
        }
        match self.inside {
            true => 2 * self.merges.len().min(MAX_NESTING) + 2,
            false => 0,
        }
    }
}

impl<'g> Printer<'g> {
    fn header(&mut self, words: &[u32]) {
        let (tool, misc) = (words[2] >> 16, words[2] & 0xffff);
        let tool = match generator_name(tool) {
            Some(name) => name.to_owned(),
            None => format!("Unknown({tool})"),
        };
        let text = format!(
            "; SPIR-V\n; Version: {}.{}\n; Generator: {tool}; {misc}\n; Bound: {}\n; Schema: {}\n",
            words[1] >> 16 & 0xff,
            words[1] >> 8 & 0xff,
            words[3],
            words[4]
        );
        self.out.extend_from_slice(text.as_bytes());
    }

    fn line(&mut self, context: &mut Context, instruction: &Instruction<'_>) {
        let row = self.grammar.row(instruction.opcode);
        if self.options.comment {
            self.heading(instruction);
        }
        context.note(self.grammar, row, instruction);
        let columns = match self.options.nested {
            true => self.nesting.columns(instruction),
            false => 0,
        };
        let start = self.out.len();
        if row.is_none_or(|row| self.instruction(context, row, instruction, columns).is_none()) {
            self.out.truncate(start);
            self.raw(instruction, columns);
        }
        if self.options.comment && instruction.opcode == op::NAME && instruction.words.len() > 1 {
            self.out.extend_from_slice(b"  ; id %");
            push_u32(&mut self.out, instruction.words[1]);
        }
        if self.options.offsets {
            let text = format!(" ; 0x{:08x}", instruction.position * 4);
            self.out.extend_from_slice(text.as_bytes());
        }
        self.out.push(b'\n');
    }

    fn heading(&mut self, instruction: &Instruction<'_>) {
        let opcode = instruction.opcode;
        let (slot, text) = match opcode {
            op::FUNCTION => (None, "; Function "),
            op::DECORATE..=op::GROUP_MEMBER_DECORATE
            | op::DECORATE_ID
            | op::DECORATE_STRING
            | op::MEMBER_DECORATE_STRING => (Some(0), "; Annotations"),
            op::SOURCE..=op::LINE | op::NO_LINE | op::MODULE_PROCESSED => (Some(1), "; Debug Information"),
            _ if self.grammar.row(opcode).is_some_and(|r| r.is_type()) => (Some(2), "; Types, variables and constants"),
            _ => return,
        };
        if slot.is_some_and(|slot: usize| std::mem::replace(&mut self.headed[slot], true)) {
            return;
        }
        self.out.push(b'\n');
        self.indent();
        self.out.extend_from_slice(text.as_bytes());
        if slot.is_none() {
            self.id(instruction.words.get(2).copied().unwrap_or(0), false);
        }
        self.out.push(b'\n');
    }

    fn further(&mut self, columns: usize) {
        self.out.resize(self.out.len() + columns, b' ');
    }

    fn indent(&mut self) {
        if self.options.indent {
            self.out.extend_from_slice(BLANKS);
        }
    }

    /// An instruction that the grammar cannot print, as words.
    fn raw(&mut self, instruction: &Instruction<'_>, columns: usize) {
        self.indent();
        self.further(columns);
        self.out
            .extend_from_slice(format!("!{:#010x}", instruction.words[0]).as_bytes());
        for word in &instruction.words[1..] {
            self.out.extend_from_slice(b" !");
            push_u32(&mut self.out, *word);
        }
    }

    #[inline]
    fn id(&mut self, id: u32, percent: bool) {
        if percent {
            self.out.push(b'%');
        }
        match self.names.as_ref().map(|names| names.get(id)) {
            None | Some([]) => push_u32(&mut self.out, id),
            Some(_) if self.out.len() > self.limit => push_u32(&mut self.out, id),
            Some(name) => self.out.extend_from_slice(name),
        }
    }

    fn instruction(
        &mut self,
        context: &Context,
        row: &'g Row,
        instruction: &Instruction<'_>,
        columns: usize,
    ) -> Option<()> {
        if row.has_result {
            let id = *instruction.words.get(if row.has_type { 2 } else { 1 })?;
            let start = self.out.len();
            self.indent();
            self.id(id, true);
            // The name ends three columns before the instruction, if there is room.
            if self.options.indent {
                let length = self.out.len() - start - INDENT;
                let drop = (length + 3).min(INDENT);
                self.out.copy_within(start + drop.., start);
                self.out.truncate(self.out.len() - drop);
            }
            self.out.extend_from_slice(b" = ");
        } else {
            self.indent();
        }
        self.further(columns);
        self.out.extend_from_slice(row.name.as_bytes());
        let mut walk = operands(self.grammar, context, Some(row), instruction);
        while let Some(operand) = walk.next() {
            self.operand(&operand.ok()?, &walk)?;
        }
        Some(())
    }

    #[inline]
    fn operand(&mut self, operand: &Operand<'_, 'g>, walk: &Operands<'_, 'g, '_>) -> Option<()> {
        let word = operand.words[0];
        if *operand.shape == Shape::Result {
            return Some(());
        }
        self.out.push(b' ');
        match operand.shape {
            Shape::Id | Shape::ResultType => self.id(word, true),
            Shape::Integer | Shape::Float | Shape::ContextNumber => {
                push_literal(&mut self.out, operand.words, operand.number);
            }
            Shape::String => return self.string(operand.words),
            Shape::Value => {
                let row = self.grammar.kind(operand.kind)?.value(word)?;
                self.out.extend_from_slice(row.name.as_bytes());
            }
            Shape::Mask => self.mask(operand.kind, word)?,
            Shape::ExtInst => match walk.ext_inst(word) {
                Some(row) => self.out.extend_from_slice(row.name.as_bytes()),
                None => push_u32(&mut self.out, word),
            },
            Shape::SpecOp => match self.grammar.row(word as u16).filter(|_| word <= 0xffff) {
                Some(row) => self
                    .out
                    .extend_from_slice(row.name.strip_prefix("Op").unwrap_or(&row.name).as_bytes()),
                None => push_raw(&mut self.out, word),
            },
            Shape::Raw | Shape::Composite(_) | Shape::Result => push_raw(&mut self.out, word),
        }
        Some(())
    }

    fn mask(&mut self, kind: u16, word: u32) -> Option<()> {
        let table = self.grammar.kind(kind)?;
        if word == 0 {
            self.out.extend_from_slice(table.value(0)?.name.as_bytes());
        }
        for (n, bit) in bits(word).enumerate() {
            if n > 0 {
                self.out.push(b'|');
            }
            self.out.extend_from_slice(table.value(bit)?.name.as_bytes());
        }
        Some(())
    }

    /// A string; `None` if it could not be read back (not UTF-8, or non-zero bytes after its end).
    fn string(&mut self, words: &[u32]) -> Option<()> {
        self.out.push(b'"');
        let start = self.out.len();
        let mut ended = false;
        for byte in words.iter().flat_map(|w| w.to_le_bytes()) {
            if ended && byte != 0 {
                return None;
            }
            ended |= byte == 0;
            if !ended {
                if byte == b'"' || byte == b'\\' {
                    self.out.push(b'\\');
                }
                self.out.push(byte);
            }
        }
        std::str::from_utf8(&self.out[start..]).ok()?;
        self.out.push(b'"');
        Some(())
    }
}

fn push_raw(out: &mut Vec<u8>, word: u32) {
    out.push(b'!');
    push_u32(out, word);
}
