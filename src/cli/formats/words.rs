//! Bare words of Mali-400 programs on the command line: code without a container, as drivers and debuggers write it.

use super::{Format, Info, Verb, listing, mbs};
use crate::cli::args::{CheckArgs, DisArgs, RewriteArgs};
use crate::cli::outcome::{Failure, Outcome};
use loader::mbs::{Program, Stage};
use loader::{Error, Report};
use serde_json::json;
use translate::validate::Table;
use utgard::{gp, pp, shader};

/// Words of one processor. No first bytes tell them: they are asked for by name.
pub(crate) struct BareWords(Stage);

/// Words of the vertex processor.
pub(crate) const GP: BareWords = BareWords(Stage::Vertex);

/// Words of the fragment processor.
pub(crate) const PP: BareWords = BareWords(Stage::Fragment);

impl BareWords {
    /// Bytes of the smallest instruction.
    fn unit(&self) -> usize {
        match self.0 {
            Stage::Vertex => 16,
            Stage::Fragment => 4,
        }
    }

    /// The program that the bytes are.
    ///
    /// # Errors
    /// Bad when they are no whole words, or no whole instructions of the vertex processor.
    pub(crate) fn program(&self, bytes: &[u8]) -> Result<Program, Error> {
        let unit = self.unit();
        if bytes.is_empty() || !bytes.len().is_multiple_of(unit) {
            let message = format!("{} bytes are no multiple of {unit}", bytes.len());
            let end = bytes.len() - bytes.len() % unit;
            return Err(Error::invalid(self.name(), message, end as u64));
        }
        let words = bytes
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        Ok(Program::new(self.0, words.collect()))
    }
}

impl Format for BareWords {
    fn name(&self) -> &'static str {
        match self.0 {
            Stage::Vertex => "gp",
            Stage::Fragment => "pp",
        }
    }

    fn detect(&self, _bytes: &[u8]) -> bool {
        false
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match (verb, self.0) {
            (Verb::Dis, Stage::Vertex) => &["gp", "json"],
            (Verb::Dis, Stage::Fragment) => &["pp", "json"],
            (Verb::Info | Verb::Check, Stage::Vertex) => &["gp"],
            (Verb::Info | Verb::Check, Stage::Fragment) => &["pp"],
            _ => &[],
        }
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Ok(mbs::info(self.name(), &[self.program(bytes)?]))
    }

    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        let program = match self.program(bytes) {
            Ok(program) => program,
            Err(error) => return Ok(((&error).into(), Vec::new())),
        };
        let mut report = Report::default();
        mbs::check_code(&program, Some(0), &mut report);
        Ok((report, Vec::new()))
    }

    fn rewrite(&self, bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        let program = self.program(bytes)?;
        let code = match self.0 {
            Stage::Vertex => gp::assemble(&self.text(&program)).map(|code| code.as_flattened().to_vec()),
            Stage::Fragment => pp::assemble(&self.text(&program)),
        };
        let code = code.map_err(|error| Failure::bad(format_args!("{}: {error}", self.name())))?;
        Ok(code.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        let program = self.program(bytes)?;
        if args.json {
            let programs = [listing::program(&program)];
            return Ok(listing::text(&json!({ "format": self.name(), "programs": programs })));
        }
        Ok(self.text(&program))
    }
}

impl BareWords {
    fn text(&self, program: &Program) -> String {
        match self.0 {
            Stage::Vertex => gp::disassemble(&shader::instructions(&program.code), gp::Options { words: true }),
            Stage::Fragment => pp::disassemble(&program.code, pp::Options { words: true }),
        }
    }
}
