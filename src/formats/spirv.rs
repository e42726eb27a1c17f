//! SPIR-V modules on the command line.

use super::Format;
use crate::cli::{AsArgs, CheckArgs, DisArgs, Failure, Outcome, SpirvDisArgs, grammar};
use crate::judges;
use loader::spirv::{Grammar, asm, check, dis, to_words};
use loader::{Report, Severity};

/// SPIR-V modules.
pub struct Spirv;

impl Format for Spirv {
    fn name(&self) -> &'static str {
        "spirv"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&[3, 2, 0x23, 7]) || bytes.starts_with(&[7, 0x23, 2, 3])
    }

    /// Our findings, then the verdict of every judge, then whether they disagree.
    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Report {
        let words = match to_words(bytes) {
            Ok(words) => words,
            Err(error) => {
                return Report {
                    diagnostics: vec![(&error).into()],
                };
            }
        };
        let grammar = Grammar::builtin();
        let mut report = check(grammar, &words);
        let table = judges::all(grammar, &words);
        for (judge, verdict) in &table {
            let offset = match verdict {
                judges::Verdict::Invalid { offset, .. } => *offset,
                _ => None,
            };
            let text = match verdict {
                judges::Verdict::Invalid { reason, .. } => format!("Invalid: {reason}"),
                other => other.to_string(),
            };
            report.push(Severity::Note, "verdict", judge, text, offset);
        }
        if judges::disagree(&table) {
            report.push(Severity::Warning, "disagreement", "", "the judges do not agree", None);
        }
        report
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        print_words(&to_words(bytes)?, &args.spirv)
    }

    fn assembles(&self, text: &str, args: &AsArgs) -> bool {
        let by_name = args.file.extension().is_some_and(|ext| ext == "spvasm");
        let begins = |line: &str| line.starts_with("Op") || (line.starts_with('%') && line.contains(" = Op"));
        let code = text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with(';'));
        by_name || text.starts_with("; SPIR-V") || code.is_some_and(begins)
    }

    fn assemble(&self, text: &str, args: &AsArgs) -> Outcome<Vec<u8>> {
        let grammar = grammar::extended(&args.grammar)?;
        let options = asm::Options {
            preserve_numeric_ids: args.preserve_numeric_ids,
            exact: args.exact,
        };
        match asm::assemble(&grammar, text, options) {
            Ok(words) => Ok(words.iter().flat_map(|w| w.to_le_bytes()).collect()),
            Err(error) => {
                let text = error.render(text, &args.file.display().to_string());
                Err(Failure::Bad(anyhow::anyhow!("spirv: {error}\n{}", text.trim_end())))
            }
        }
    }
}

/// A module as text; the stages of other formats come here too.
///
/// # Errors
/// Bad when the module has no header, or a grammar given is none.
pub fn print_words(words: &[u32], args: &SpirvDisArgs) -> Outcome<String> {
    let grammar = grammar::extended(&args.grammar)?;
    let options = dis::Options {
        raw_id: args.raw_id,
        indent: !args.no_indent,
        offsets: args.offsets,
        comment: args.comment,
        header: !args.no_header,
    };
    Ok(dis::disassemble(&grammar, words, options)?)
}
