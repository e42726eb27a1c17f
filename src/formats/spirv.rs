//! SPIR-V modules on the command line.

use super::Format;
use crate::cli::{AsArgs, CheckArgs, DisArgs, Failure, Outcome, SpirvDisArgs, grammar};
use loader::spirv::{Grammar, asm, check, dis, to_words};
use loader::{Error, Report};
use translate::validate::{self, Table};

/// SPIR-V modules.
pub struct Spirv;

impl Format for Spirv {
    fn name(&self) -> &'static str {
        "spirv"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&[3, 2, 0x23, 7]) || bytes.starts_with(&[7, 0x23, 2, 3])
    }

    /// Our findings, with the built-in grammar.
    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Report {
        match to_words(bytes) {
            Ok(words) => check(Grammar::builtin(), &words),
            Err(error) => unreadable(&error),
        }
    }

    /// Our findings and the verdict of every judge, with the grammars given.
    fn judged(&self, bytes: &[u8], args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        let grammar = grammar::extended(&args.grammar)?;
        Ok(match to_words(bytes) {
            Ok(words) => (check(&grammar, &words), vec![validate::all(&grammar, "", &words)]),
            Err(error) => (unreadable(&error), Vec::new()),
        })
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

fn unreadable(error: &Error) -> Report {
    Report {
        diagnostics: vec![error.into()],
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
