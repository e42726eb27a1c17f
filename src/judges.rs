//! What different readers think of a SPIR-V module: our rules, naga, rspirv and spirv-val.
//!
//! Foreign readers are witnesses: a panic inside one is caught and is its verdict.

use loader::spirv::{self, Grammar, Instruction};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// A judge's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to object to.
    Valid,
    /// A rule is broken.
    Invalid {
        /// Which, in the judge's words.
        reason: String,
        /// Byte offset in the module, where the judge gives one.
        offset: Option<u64>,
    },
    /// The judge cannot say.
    Unsupported(String),
    /// The judge panicked.
    Panicked(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid => write!(f, "Valid"),
            Self::Invalid {
                reason,
                offset: Some(offset),
            } if !reason.contains("(at offset ") => write!(f, "Invalid: {reason} (at offset {offset:#x})"),
            Self::Invalid { reason, .. } => write!(f, "Invalid: {reason}"),
            Self::Unsupported(reason) => write!(f, "Unsupported: {reason}"),
            Self::Panicked(reason) => write!(f, "Unsupported: panicked: {reason}"),
        }
    }
}

impl Verdict {
    /// Lower-case word for JSON, the reason and the byte offset.
    fn parts(&self) -> (&'static str, Option<&str>, Option<u64>) {
        match self {
            Self::Valid => ("valid", None, None),
            Self::Invalid { reason, offset } => ("invalid", Some(reason), *offset),
            Self::Unsupported(reason) => ("unsupported", Some(reason), None),
            Self::Panicked(reason) => ("panicked", Some(reason), None),
        }
    }
}

/// What every judge thinks of one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The stage, in files that have several modules; empty in others.
    pub stage: String,
    /// The judges' answers.
    pub rows: Vec<(&'static str, Verdict)>,
}

impl Table {
    /// Asks every judge about a module.
    pub fn new(grammar: &Grammar, stage: &str, words: &[u32]) -> Self {
        Self {
            stage: stage.to_owned(),
            rows: all(grammar, words),
        }
    }

    /// `{stage, disagreement, verdicts: [{judge, verdict, reason, offset}]}`; what there is none of is null.
    pub fn to_json(&self) -> Value {
        let row = |(judge, verdict): &(&str, Verdict)| {
            let (word, reason, offset) = verdict.parts();
            json!({ "judge": judge, "verdict": word, "reason": reason, "offset": offset })
        };
        let verdicts: Vec<Value> = self.rows.iter().map(row).collect();
        let stage = (!self.stage.is_empty()).then_some(&self.stage);
        json!({ "stage": stage, "disagreement": disagree(&self.rows), "verdicts": verdicts })
    }
}

impl fmt::Display for Table {
    /// A line per judge, and one more where they disagree.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage.as_str() {
            "" => String::new(),
            stage => format!("stage {stage}: "),
        };
        for (judge, verdict) in &self.rows {
            writeln!(f, "  note[verdict]: {stage}{judge}: {verdict}")?;
        }
        if disagree(&self.rows) {
            writeln!(f, "  warning[disagreement]: {stage}the judges do not agree")?;
        }
        Ok(())
    }
}

/// Every judge's answer, ours first; spirv-val only where it is installed.
pub fn all(grammar: &Grammar, words: &[u32]) -> Vec<(&'static str, Verdict)> {
    let mut table = vec![
        ("skrymir", ours(grammar, words)),
        ("naga", guarded(|| naga_module(words).map(drop))),
    ];
    match spirv::split_samplers(words) {
        Ok(split) if split != words => table.push(("naga, samplers split", guarded(|| naga_module(&split).map(drop)))),
        Ok(_) => {}
        Err(error) => table.push(("naga, samplers split", Verdict::Unsupported(error.to_string()))),
    }
    table.push(("rspirv parser", guarded(|| rspirv_parser(words))));
    table.push(("rspirv loader", guarded(|| rspirv_loader(words))));
    table.extend(spirv_val(words).map(|verdict| ("spirv-val", verdict)));
    table
}

/// Whether the judges that could say do not all say the same.
pub fn disagree(table: &[(&str, Verdict)]) -> bool {
    let valid = table.iter().any(|row| row.1 == Verdict::Valid);
    valid && table.iter().any(|row| matches!(row.1, Verdict::Invalid { .. }))
}

fn ours(grammar: &Grammar, words: &[u32]) -> Verdict {
    let report = spirv::check(grammar, words);
    match report
        .diagnostics
        .iter()
        .find(|d| d.severity == loader::Severity::Error)
    {
        Some(d) => Verdict::Invalid {
            reason: format!("[{}] {}: {}", d.rule, d.place, d.message),
            offset: d.offset,
        },
        None => Verdict::Valid,
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs a foreign judge; a panic is its verdict, and nothing of it is printed.
pub fn guarded(judge: impl FnOnce() -> Result<(), Verdict>) -> Verdict {
    match caught(judge) {
        Ok(Ok(())) => Verdict::Valid,
        Ok(Err(verdict)) => verdict,
        Err(panic) => Verdict::Panicked(panic),
    }
}

/// Runs foreign code; the panic's message if it panics.
///
/// # Errors
/// The message of the panic.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    QUIET.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_default()
    })
}

/// A module as naga reads and validates it.
///
/// # Errors
/// Unsupported where naga says it lacks something, Invalid otherwise.
pub fn naga_module(words: &[u32]) -> Result<(naga::Module, naga::valid::ModuleInfo), Verdict> {
    use naga::front::spv::{Frontend, Options};
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let options = Options {
        adjust_coordinate_space: false,
        strict_capabilities: false,
        block_ctx_dump_prefix: None,
    };
    let module = Frontend::new(words.iter().copied(), &options)
        .parse()
        .map_err(|error| {
            let kind = format!("{error:?}");
            let position = blamed(words, &kind);
            let (place, offset) = named(words, position);
            let reason = format!("{kind}: {error} {place}");
            let lacks = ["Unsupported", "Unknown", "Unimplemented"];
            if lacks.iter().any(|word| reason.starts_with(word)) {
                Verdict::Unsupported(reason)
            } else {
                Verdict::Invalid { reason, offset }
            }
        })?;
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| {
            use std::error::Error;
            let mut reason = error.as_inner().to_string();
            let mut source = error.as_inner().source();
            while let Some(inner) = source {
                reason += &format!(": {inner}");
                source = inner.source();
            }
            // naga's spans are byte ranges of the module; the shortest is nearest to what is wrong.
            let ranges = error.spans().filter_map(|(span, _)| span.to_range());
            let start = ranges.min_by_key(|range| range.len()).map(|range| range.start / 4);
            let position = start.and_then(|word| {
                let holds = |i: &Instruction<'_>| (i.position..i.position + i.words.len()).contains(&word);
                Some(spirv::instructions(words).flatten().find(holds)?.position)
            });
            let (place, offset) = named(words, position);
            reason += &format!(" {place}");
            Verdict::Invalid { reason, offset }
        })?;
    Ok((module, info))
}

/// The instruction a judge means, as `(at offset 0x40: %5 = OpLoad %float %4)`, or that it names none; and its offset.
fn named(words: &[u32], position: Option<usize>) -> (String, Option<u64>) {
    let text = position.and_then(|at| spirv::dis::one(Grammar::builtin(), words, at));
    match (position, text) {
        (Some(at), Some(text)) => (format!("(at offset {:#x}: {text})", at * 4), Some(at as u64 * 4)),
        _ => ("(naga names no instruction)".to_owned(), None),
    }
}

/// Position of the instruction an error of naga's reader is about, where its kind has an id or an opcode.
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

struct Nothing;

impl rspirv::binary::Consumer for Nothing {
    fn initialize(&mut self) -> rspirv::binary::ParseAction {
        rspirv::binary::ParseAction::Continue
    }
    fn finalize(&mut self) -> rspirv::binary::ParseAction {
        rspirv::binary::ParseAction::Continue
    }
    fn consume_header(&mut self, _: rspirv::dr::ModuleHeader) -> rspirv::binary::ParseAction {
        rspirv::binary::ParseAction::Continue
    }
    fn consume_instruction(&mut self, _: rspirv::dr::Instruction) -> rspirv::binary::ParseAction {
        rspirv::binary::ParseAction::Continue
    }
}

fn rspirv_verdict(state: rspirv::binary::ParseState) -> Verdict {
    use rspirv::binary::ParseState;
    let reason = state.to_string();
    match state {
        ParseState::OpcodeUnknown(..) => Verdict::Unsupported(reason),
        _ => Verdict::Invalid { reason, offset: None },
    }
}

fn rspirv_parser(words: &[u32]) -> Result<(), Verdict> {
    rspirv::binary::parse_words(words, &mut Nothing).map_err(rspirv_verdict)
}

fn rspirv_loader(words: &[u32]) -> Result<(), Verdict> {
    rspirv::dr::load_words(words).map(drop).map_err(rspirv_verdict)
}

/// spirv-val's answer; none where it is not installed. Scalar layout is allowed, as our rules allow it.
fn spirv_val(words: &[u32]) -> Option<Verdict> {
    Some(
        match crate::spirv_val::validate_as(words, &["--scalar-block-layout"])? {
            Ok(()) => Verdict::Valid,
            Err(text) => Verdict::Invalid {
                reason: text.lines().next().unwrap_or_default().to_owned(),
                offset: None,
            },
        },
    )
}
