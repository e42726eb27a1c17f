//! Reads SPIR-V with naga, and traces naga's errors back to instructions.

use crate::error::chain;
use crate::guard::guarded;
use crate::{Error, ErrorKind, Language, Result};
use loader::spirv::work::Work;
use loader::spirv::{self, Grammar, Instruction, ModuleIndex};
use naga::valid::{ModuleInfo, ValidationFlags};

/// Limit on functions times calls: naga searches all functions for each call.
const MAX_CALLS: u64 = 1 << 29;

/// Parses and validates a module with naga; `y_up` negates the y of its vertex stage's positions. An `open` one may
/// lack its stage's mandatory outputs.
///
/// # Errors
/// [`ErrorKind::Module`]: unsupported if naga lacks a feature, invalid otherwise.
pub(crate) fn parse(words: &[u32], y_up: bool, open: bool) -> Result<(naga::Module, ModuleInfo)> {
    let work = Work::of(&ModuleIndex::new(words)?);
    if let Some(why) = work.beyond(MAX_CALLS) {
        return Err(refusal(words, None, why, true));
    }
    let mut module = guarded("at reading SPIR-V", || parse_only(words, y_up))?;
    let info = super::as_open(&mut module, open, |module| {
        guarded("at validating a module", || validate(words, module))
    })?;
    Ok((module, info))
}

fn parse_only(words: &[u32], y_up: bool) -> Result<naga::Module> {
    use naga::front::spv::{Frontend, Options};
    let options = Options {
        adjust_coordinate_space: y_up,
        strict_capabilities: false,
        block_ctx_dump_prefix: None,
    };
    let parsed = Frontend::new(words.iter().copied(), &options).parse();
    parsed.map_err(|error| {
        let kind = format!("{error:?}");
        let unsupported = is_limit(words, &error);
        refusal(words, blamed(words, &kind), format!("{kind}: {error}"), unsupported)
    })
}

/// Words that naga reads without counting them in its positions: an entry point's interface, the operands of an
/// execution mode, the parameters of a function type. For each such instruction, its position and the number of such
/// words so far.
pub(crate) fn uncounted(words: &[u32]) -> Vec<(usize, usize)> {
    let mut total = 0;
    let all = spirv::instructions(words).flatten().filter_map(|i| {
        let left_out = match i.opcode {
            15 => {
                let name = i.words.iter().skip(3);
                let ends = |word: &&u32| word.to_le_bytes().contains(&0);
                let words = name
                    .clone()
                    .position(|word| ends(&word))
                    .map_or(name.len(), |at| at + 1);
                name.len() - words
            }
            16 | 33 | 331 => i.words.len().saturating_sub(3),
            _ => return None,
        };
        total += left_out;
        Some((i.position, total))
    });
    all.collect()
}

/// Whether an error of naga's reader means that naga lacks a feature, rather than that the module is invalid.
///
/// naga reads a subset of SPIR-V into a representation with WebGPU's rules, so a rejection is a limit of naga unless
/// SPIR-V itself forbids the construct.
fn is_limit(words: &[u32], error: &naga::front::spv::Error) -> bool {
    use naga::front::spv::Error;
    match error {
        Error::InvalidHeader
        | Error::InvalidWordCount
        | Error::InvalidOperandCount(..)
        | Error::IncompleteData
        | Error::BadString
        | Error::InvalidSign(_)
        | Error::WrongFunctionResultType(_)
        | Error::WrongFunctionArgumentType(_)
        | Error::FunctionCallCycle(_) => false,
        // The id is defined, but by an instruction that naga ignores.
        Error::InvalidId(id) => defines(words, *id),
        _ => true,
    }
}

/// Whether an instruction has this id as its result.
fn defines(words: &[u32], id: u32) -> bool {
    let grammar = Grammar::builtin();
    spirv::instructions(words).flatten().any(|i| {
        let Some(row) = grammar.row(i.opcode) else { return false };
        row.has_result && i.words.get(1 + usize::from(row.has_type)) == Some(&id)
    })
}

fn validate(words: &[u32], module: &naga::Module) -> Result<ModuleInfo> {
    let mut validator = naga::valid::Validator::new(ValidationFlags::all(), naga::valid::Capabilities::all());
    validator.validate(module).map_err(|error| {
        // naga's spans are byte ranges of the module; the shortest is the most specific.
        let ranges = error.spans().filter_map(|(span, _)| span.to_range());
        let start = ranges.min_by_key(|range| range.len()).map(|range| range.start / 4);
        let position = start.and_then(|word| {
            let holds = |i: &Instruction<'_>| (i.position..i.position + i.words.len()).contains(&word);
            Some(spirv::instructions(words).flatten().find(holds)?.position)
        });
        // These are rules of naga's representation, which is narrower than SPIR-V.
        refusal(words, position, chain(error.as_inner()), true)
    })
}

/// naga's error with the instruction, as `(at offset 0x40: %5 = OpLoad %float %4)`, or with a note that it names none.
fn refusal(words: &[u32], position: Option<usize>, reason: String, unsupported: bool) -> Error {
    let text = position.and_then(|at| spirv::dis::one(Grammar::builtin(), words, at));
    let (place, offset) = match (position, text) {
        (Some(at), Some(text)) => (format!("(at offset {:#x}: {text})", at * 4), Some(at as u64 * 4)),
        _ => ("(naga names no instruction)".to_owned(), None),
    };
    ErrorKind::Module {
        language: Language::Spirv,
        message: format!("{reason} {place}"),
        offset,
        unsupported,
    }
    .into()
}

/// Position of the offending instruction, if the error has an id or an opcode.
fn blamed(words: &[u32], kind: &str) -> Option<usize> {
    let number = kind
        .split(['(', ')', ',', ' '])
        .filter_map(|part| part.parse::<u32>().ok())
        .next_back();
    let grammar = Grammar::builtin();
    let about = spirv::instructions(words).flatten().find(|i| {
        let Some(row) = grammar.row(i.opcode) else { return false };
        let at = 1 + usize::from(row.has_type);
        let result = i.words.get(at).filter(|_| row.has_result);
        let short = row.name.trim_start_matches("Op");
        if kind.contains("Instruction") {
            kind.contains(&format!("{short})"))
        } else if kind.starts_with("InvalidTypeWidth") {
            matches!(short, "TypeInt" | "TypeFloat") && i.words.get(2) == number.as_ref()
        } else if kind.contains("ImageDim") {
            short == "TypeImage" && i.words.get(3) == number.as_ref()
        } else {
            kind.starts_with("Invalid") && kind.contains("Id(") && number.is_some() && result == number.as_ref()
        }
    });
    Some(about?.position)
}
