//! SPIR-V modules on the command line.

use super::{Format, Info, Verb, listing};
use crate::cli::args::{AsArgs, CheckArgs, DisArgs, RUN_SOURCE_FLAGS};
use crate::cli::grammars;
use crate::cli::outcome::{Outcome, bad_text};
use loader::Report;
use loader::spirv::{self, Grammar, TargetEnv, asm, dis, validate_for};
use serde_json::json;
use std::borrow::Cow;
use std::io::IsTerminal;
use translate::validate::{Table, all};

/// SPIR-V modules.
pub(crate) struct Spirv;

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
            Verb::Dis => DIS_FLAGS,
            Verb::As => &["preserve-numeric-ids", "exact", "grammar", "target-env"],
            Verb::Run => RUN_SOURCE_FLAGS,
            _ => &[],
        }
    }

    fn takes_stages(&self) -> bool {
        true
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Info::of(&spirv::summary(&spirv::read(bytes)?)?)
    }

    /// Our findings and the verdict of every validator, with the grammars given.
    fn check(&self, bytes: &[u8], args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        let grammar = grammars::extended(&args.grammar)?;
        Ok(match spirv::read(bytes) {
            // The other validators are not asked with an environment's rules: only ours answer then.
            Ok(words) => match args.target_env {
                Some(env) => (validate_for(&grammar, &words, env), Vec::new()),
                None => (
                    validate_for(&grammar, &words, TargetEnv::UNIVERSAL),
                    vec![all(&grammar, "", &words)],
                ),
            },
            Err(error) => ((&error).into(), Vec::new()),
        })
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        if args.json {
            let (grammar, options) = printing(args)?;
            let instructions = listing::module(&spirv::read(bytes)?, &grammar, options)?;
            return Ok(listing::text(
                &json!({ "format": spirv::FORMAT, "instructions": instructions }),
            ));
        }
        print_words(&spirv::read(bytes)?, args)
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
        let grammar = grammars::extended(&args.grammar)?;
        let options = asm::Options {
            preserve_numeric_ids: args.preserve_numeric_ids,
            exact: args.exact,
            version: args.target_env.map(TargetEnv::version),
        };
        match asm::assemble(&grammar, text, options) {
            Ok(words) => Ok(spirv::write(&words)?),
            Err(error) => Err(bad_text(&args.file, "spirv", &error, text)),
        }
    }
}

/// Flags of `dis` for SPIR-V.
pub(super) const DIS_FLAGS: &[&str] = &[
    "raw-id",
    "no-indent",
    "nested-indent",
    "no-header",
    "offsets",
    "comment",
    "color",
    "no-color",
    "grammar",
    "json",
];

/// A module as text; the stages of other formats come here too.
///
/// # Errors
/// Bad when the module has no header, or a grammar given is none.
pub(crate) fn print_words(words: &[u32], args: &DisArgs) -> Outcome<String> {
    let spirv = &args.spirv;
    let (grammar, options) = printing(args)?;
    let text = dis::disassemble(&grammar, words, options)?;
    let printed = args.output.is_none() && std::io::stdout().is_terminal();
    let wanted = printed && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Ok(match spirv.color || wanted && !spirv.no_color {
        true => colored(&text),
        false => text,
    })
}

/// The grammar and the options of the arguments.
///
/// # Errors
/// When a grammar of the arguments is invalid.
pub(super) fn printing(args: &DisArgs) -> Outcome<(Cow<'static, Grammar>, dis::Options)> {
    let spirv = &args.spirv;
    let options = dis::Options {
        raw_id: spirv.raw_id,
        indent: !spirv.no_indent,
        offsets: spirv.offsets,
        comment: spirv.comment,
        header: !spirv.no_header,
        nested: spirv.nested_indent,
    };
    Ok((grammars::extended(&spirv.grammar)?, options))
}

/// A module's text for a terminal, coloured as `spirv-dis` does.
fn colored(text: &str) -> String {
    const RESET: &str = "\x1b[0m";
    const RED: &str = "\x1b[31m";
    const GREEN: &str = "\x1b[32m";
    const YELLOW: &str = "\x1b[33m";
    const BLUE: &str = "\x1b[34m";
    const GREY: &str = "\x1b[90m";
    let mut out = String::with_capacity(2 * text.len());
    for line in text.lines() {
        let gives = line.trim_start().starts_with('%');
        let (mut rest, mut first) = (line, true);
        while let Some(letter) = rest.chars().next() {
            let length = match letter {
                ';' => rest.len(),
                '"' => string_length(rest),
                letter if letter.is_whitespace() => rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()),
                _ => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            };
            let (word, behind) = rest.split_at(length);
            let color = match letter {
                ';' => GREY,
                '"' => GREEN,
                '%' if gives && first => BLUE,
                '%' => YELLOW,
                '0'..='9' | '-' | '!' => RED,
                _ => "",
            };
            first &= letter.is_whitespace();
            match color {
                "" => out.push_str(word),
                _ => out.extend([color, word, RESET]),
            }
            rest = behind;
        }
        out.push('\n');
    }
    out
}

/// Bytes of the string that a text begins with, its quotes counted.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            _ => escaped = letter == '\\' && !escaped,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_reference() {
        let text = "; Bound: 5\n       %main = OpString \"a \\\" b\"\nOpStore %a 12\n";
        let wanted = "\x1b[90m; Bound: 5\x1b[0m\n       \x1b[34m%main\x1b[0m = OpString \
                      \x1b[32m\"a \\\" b\"\x1b[0m\nOpStore \x1b[33m%a\x1b[0m \x1b[31m12\x1b[0m\n";
        assert_eq!(colored(text), wanted);
    }
}
