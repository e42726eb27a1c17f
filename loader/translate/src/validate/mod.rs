//! Third-party validators of SPIR-V modules: naga, rspirv and spirv-val, beside our own rules.
//!
//! A module is invalid if our rules or spirv-val say so ([`Table::refusal`]); naga and rspirv are only informative, and
//! a panic in either counts as no verdict.

use crate::guard::caught;
use crate::read::parse_spirv;
use crate::{Error, ErrorKind};
pub use loader::spirv::spirv_val;
use loader::spirv::{self, Grammar};
use serde::Serialize;
use std::fmt;

/// A validator's verdict on a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No violation found.
    Valid,
    /// A rule is broken.
    Invalid {
        /// The validator's message.
        reason: String,
        /// Byte offset in the module, if the validator reports one.
        offset: Option<u64>,
    },
    /// No verdict: the validator lacks a feature that the module uses, or it panicked.
    Unsupported(String),
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
        }
    }
}

impl Verdict {
    /// Lower-case name for JSON, the reason and the byte offset.
    fn parts(&self) -> (&'static str, Option<&str>, Option<u64>) {
        match self {
            Self::Valid => ("valid", None, None),
            Self::Invalid { reason, offset } => ("invalid", Some(reason), *offset),
            Self::Unsupported(reason) => ("unsupported", Some(reason), None),
        }
    }
}

impl From<&Error> for Verdict {
    fn from(error: &Error) -> Self {
        let reason = match error.kind() {
            ErrorKind::Module { message, .. } => message.clone(),
            ErrorKind::Panicked { message, .. } => format!("panicked: {message}"),
            _ => error.to_string(),
        };
        let offset = error.offset();
        match error.is_unsupported() {
            true => Self::Unsupported(reason),
            false => Self::Invalid { reason, offset },
        }
    }
}

/// A validator. [`VALIDATORS`] lists all of them, ours first.
pub struct Validator {
    /// Its name.
    pub name: &'static str,
    /// Whether its verdict of invalid is decisive.
    pub decides: bool,
    ask: fn(&Grammar, &[u32]) -> Option<Verdict>,
}

/// Every validator; ours comes first.
pub const VALIDATORS: &[Validator] = &[
    Validator {
        name: "skrymir",
        decides: true,
        ask: |grammar, words| Some(ours(grammar, words)),
    },
    Validator {
        name: "naga",
        decides: false,
        ask: |_, words| Some(naga(words)),
    },
    Validator {
        name: "naga, samplers split",
        decides: false,
        ask: |_, words| match spirv::split_samplers(words) {
            Ok(split) => (split != words).then(|| naga(&split)),
            Err(error) => Some(Verdict::Unsupported(error.to_string())),
        },
    },
    Validator {
        name: "rspirv parser",
        decides: false,
        ask: |_, words| Some(guarded(|| rspirv_parser(words))),
    },
    Validator {
        name: "rspirv loader",
        decides: false,
        ask: |_, words| Some(guarded(|| rspirv_loader(words))),
    },
    Validator {
        name: "spirv-val",
        decides: true,
        ask: |_, words| spirv_val_verdict(words),
    },
];

/// One validator's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The validator.
    pub validator: &'static str,
    /// Its verdict.
    pub verdict: Verdict,
}

/// All validators' results for one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The stage, in files with several modules; otherwise empty.
    pub stage: String,
    /// The results of the applicable, installed validators.
    pub rows: Vec<Row>,
}

/// Runs every validator on a module; spirv-val only if it is installed.
pub fn all(grammar: &Grammar, stage: &str, words: &[u32]) -> Table {
    let answer = |validator: &Validator| {
        let verdict = (validator.ask)(grammar, words)?;
        Some(Row {
            validator: validator.name,
            verdict,
        })
    };
    Table {
        stage: stage.to_owned(),
        rows: VALIDATORS.iter().filter_map(answer).collect(),
    }
}

impl Table {
    /// Why the module is invalid: the result of a decisive validator.
    pub fn refusal(&self) -> Option<&Row> {
        let decides = |row: &&Row| {
            VALIDATORS
                .iter()
                .any(|known| known.decides && known.name == row.validator)
        };
        let mut rows = self.rows.iter().filter(decides);
        rows.find(|row| matches!(row.verdict, Verdict::Invalid { .. }))
    }

    /// Whether one validator accepts the module and another finds a broken rule.
    pub fn disagrees(&self) -> bool {
        let any = |test: fn(&Verdict) -> bool| self.rows.iter().any(|row| test(&row.verdict));
        any(|verdict| *verdict == Verdict::Valid) && any(|verdict| matches!(verdict, Verdict::Invalid { .. }))
    }
}

impl Serialize for Row {
    /// `{validator, verdict, reason, offset}`; absent values are null.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let (verdict, reason, offset) = self.verdict.parts();
        let mut row = serializer.serialize_struct("Row", 4)?;
        row.serialize_field("validator", self.validator)?;
        row.serialize_field("verdict", verdict)?;
        row.serialize_field("reason", &reason)?;
        row.serialize_field("offset", &offset)?;
        row.end()
    }
}

impl Serialize for Table {
    /// `{stage, disagreement, verdicts}`; the stage of a file with one module is null.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let stage = Some(&self.stage).filter(|stage| !stage.is_empty());
        let mut table = serializer.serialize_struct("Table", 3)?;
        table.serialize_field("stage", &stage)?;
        table.serialize_field("disagreement", &self.disagrees())?;
        table.serialize_field("verdicts", &self.rows)?;
        table.end()
    }
}

impl fmt::Display for Table {
    /// A line per validator, and one more where they disagree.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.stage.as_str() {
            "" => String::new(),
            stage => format!("stage {stage}: "),
        };
        for Row { validator, verdict } in &self.rows {
            writeln!(f, "  note[verdict]: {stage}{validator}: {verdict}")?;
        }
        if self.disagrees() {
            writeln!(f, "  warning[disagreement]: {stage}the validators do not agree")?;
        }
        Ok(())
    }
}

fn ours(grammar: &Grammar, words: &[u32]) -> Verdict {
    let report = spirv::validate_for(grammar, words, spirv::TargetEnv::UNIVERSAL);
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

/// Runs a third-party validator; a panic becomes its verdict and prints nothing.
pub fn guarded(ask: impl FnOnce() -> Result<(), Verdict>) -> Verdict {
    match caught(ask) {
        Ok(Ok(())) => Verdict::Valid,
        Ok(Err(verdict)) => verdict,
        Err(panic) => Verdict::Unsupported(format!("panicked: {panic}")),
    }
}

/// naga's verdict on a module.
pub fn naga(words: &[u32]) -> Verdict {
    match parse_spirv(words, false, false) {
        Ok(_) => Verdict::Valid,
        Err(error) => (&error).into(),
    }
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
    match &state {
        ParseState::OpcodeUnknown(..) => Verdict::Unsupported(reason),
        ParseState::ConsumerError(error) if has_no_place(error.as_ref()) => Verdict::Unsupported(reason),
        _ => Verdict::Invalid { reason, offset: None },
    }
}

/// Whether rspirv's data model lacks a place for an instruction that SPIR-V allows outside functions.
fn has_no_place(error: &(dyn std::error::Error + 'static)) -> bool {
    use rspirv::spirv::Op;
    let Some(rspirv::dr::Error::DetachedInstruction(Some(instruction))) = error.downcast_ref() else {
        return false;
    };
    let opcode = instruction.class.opcode;
    // Non-semantic sets and debug information, modes by id, and globals without a type.
    matches!(opcode, Op::ExtInst | Op::ExecutionModeId | Op::UntypedVariableKHR)
}

fn rspirv_parser(words: &[u32]) -> Result<(), Verdict> {
    rspirv::binary::parse_words(words, &mut Nothing).map_err(rspirv_verdict)
}

fn rspirv_loader(words: &[u32]) -> Result<(), Verdict> {
    rspirv::dr::load_words(words).map(drop).map_err(rspirv_verdict)
}

/// spirv-val's verdict; `None` if it is not installed. Scalar layout is allowed, as in our rules.
fn spirv_val_verdict(words: &[u32]) -> Option<Verdict> {
    Some(match spirv_val::ask(words, &["--scalar-block-layout"])? {
        spirv_val::Answer::Valid => Verdict::Valid,
        spirv_val::Answer::Invalid(rejection) => Verdict::Invalid {
            reason: rejection.first_line().to_owned(),
            offset: None,
        },
        spirv_val::Answer::None(why) => Verdict::Unsupported(why),
    })
}
