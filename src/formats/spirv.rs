//! SPIR-V modules on the command line.

use super::{Format, Info, Verb};
use crate::args::{AsArgs, CheckArgs, DisArgs, SpirvDisArgs};
use crate::grammar;
use crate::outcome::{Failure, Outcome};
use loader::Report;
use loader::spirv::{self, asm, dis, validate, validate_for};
use translate::validate::{Table, all};

/// SPIR-V modules.
pub struct Spirv;

impl Format for Spirv {
    fn name(&self) -> &'static str {
        "spirv"
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        spirv::detect(bytes)
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Check => &["grammar", "target-env"],
            Verb::Dis => &["raw-id", "no-indent", "no-header", "offsets", "comment", "grammar"],
            Verb::As => &["preserve-numeric-ids", "exact", "grammar"],
            _ => &[],
        }
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Info::of(&spirv::summary(&spirv::read(bytes)?)?)
    }

    /// Our findings and the verdict of every validator, with the grammars given.
    fn check(&self, bytes: &[u8], args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        let grammar = grammar::extended(&args.grammar)?;
        Ok(match spirv::read(bytes) {
            // The other validators are not asked with an environment's rules: only ours answer then.
            Ok(words) => match args.target_env {
                Some(env) => (validate_for(&grammar, &words, env), Vec::new()),
                None => (validate(&grammar, &words), vec![all(&grammar, "", &words)]),
            },
            Err(error) => ((&error).into(), Vec::new()),
        })
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        print_words(&spirv::read(bytes)?, &args.spirv)
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
            Ok(words) => Ok(spirv::write(&words)),
            Err(error) => {
                let text = error.render(text, &args.file.display().to_string());
                Err(Failure::bad(format_args!("spirv: {error}\n{}", text.trim_end())))
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
