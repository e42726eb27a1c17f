//! Mali-200/400 binary shaders on the command line.

use super::{Format, Info, Verb, listing};
use crate::cli::args::{AsArgs, CheckArgs, DisArgs, RewriteArgs};
use crate::cli::outcome::{Failure, Outcome, bad_text};
use loader::mbs::chunk::{Body, Chunk};
use loader::mbs::{self, Mbs as File, Program, ProgramSummary, Stage, Symbol};
use loader::{Report, Severity};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use translate::validate::Table;
use utgard::stats::{Stats, stats};
use utgard::{gp, pp, shader};

/// Mali-200/400 binary shaders.
pub(crate) struct Mbs;

impl Format for Mbs {
    fn name(&self) -> &'static str {
        mbs::FORMAT
    }

    fn detect(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&mbs::MAGIC)
    }

    fn flags(&self, verb: Verb) -> &'static [&'static str] {
        match verb {
            Verb::Dis => &["tree", "json"],
            Verb::As => &["gp", "pp"],
            _ => &[],
        }
    }

    fn info(&self, bytes: &[u8]) -> Outcome<Info> {
        Ok(info(mbs::FORMAT, &mbs::read(bytes)?.programs()?))
    }

    /// The rules of the container, then those of the code.
    fn check(&self, bytes: &[u8], _args: &CheckArgs) -> Outcome<(Report, Vec<Table>)> {
        let mut report = mbs::check(bytes);
        let programs = mbs::read(bytes).and_then(|file| file.programs());
        for program in programs.unwrap_or_default() {
            check_code(&program, None, &mut report);
        }
        Ok((report, Vec::new()))
    }

    fn rewrite(&self, bytes: &[u8], _args: &RewriteArgs) -> Outcome<Vec<u8>> {
        Ok(File::read(bytes)?.write())
    }

    fn dis(&self, bytes: &[u8], args: &DisArgs) -> Outcome<String> {
        let mbs = File::read(bytes)?;
        if args.json {
            let programs: Vec<_> = mbs.programs()?.iter().map(listing::program).collect();
            return Ok(listing::text(
                &json!({ "format": mbs::FORMAT, "programs": programs, "chunk": to_json(&mbs.root) }),
            ));
        }
        if args.tree {
            let mut text = String::new();
            tree(&mbs.root, 0, &mut text);
            return Ok(text);
        }
        Ok(shader::disassemble(&mbs)?)
    }

    fn assembles(&self, text: &str, args: &AsArgs) -> bool {
        args.gp || args.pp || shader::recognises(text)
    }

    fn assemble(&self, text: &str, args: &AsArgs) -> Outcome<Vec<u8>> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let bare = args.gp || args.pp;
        let bytes = match (args.gp, args.pp) {
            // A whole program's text, of which only the code is wanted.
            _ if bare && shader::recognises(text) => match shader::assemble(text) {
                Ok(mbs) => return code_of(&mbs, args.gp),
                Err(error) => Err(error),
            },
            (true, _) => gp::assemble(text).map(|code| words(code.as_flattened())),
            (_, true) => pp::assemble(text).map(|code| words(&code)),
            _ => shader::assemble(text).map(|mbs| mbs.write()),
        };
        bytes.map_err(|error| bad_text(&args.file, "mbs", &error, text))
    }
}

/// The rules of a program's code; `first` is the byte offset of its first word, where the file is nothing but words.
pub(super) fn check_code(program: &Program, first: Option<u64>, report: &mut Report) {
    let (name, unit) = match program.stage {
        Stage::Vertex => (program.stage.name(), 16),
        Stage::Fragment => (program.stage.name(), 4),
    };
    for finding in stats(program).findings {
        let place = format!("{name} program, instruction {}", finding.address);
        let offset = first.map(|first| first + unit * u64::from(finding.address));
        report.push(Severity::Error, finding.rule, place, finding.message, offset);
    }
}

/// The code of a file's only program, which must be of the stage asked for.
fn code_of(mbs: &File, vertex: bool) -> Outcome<Vec<u8>> {
    let stage = if vertex { Stage::Vertex } else { Stage::Fragment };
    let program = mbs.program(stage)?;
    let missing = || Failure::bad(format_args!("mbs: the text has no {} program", stage.name()));
    let words = program.ok_or_else(missing)?.code;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// A chunk as JSON: bytes, or other chunks.
fn to_json(chunk: &Chunk) -> Value {
    let mut json = json!({ "name": chunk.name(), "offset": chunk.offset, "size": chunk.size() });
    match &chunk.body {
        Body::Leaf(bytes) => json["bytes"] = bytes.as_slice().into(),
        Body::Node { .. } => json["chunks"] = chunk.children().iter().map(to_json).collect(),
    }
    json
}

/// The chunks with their offsets and sizes.
fn tree(chunk: &Chunk, depth: usize, out: &mut String) {
    let _ = write!(
        out,
        "{:#06x} {:indent$}{} {} bytes",
        chunk.offset,
        "",
        chunk.name(),
        chunk.size(),
        indent = 2 * depth
    );
    match &chunk.body {
        Body::Leaf(bytes) if bytes.len() <= 32 => {
            let _ = writeln!(
                out,
                ": {}",
                bytes
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect::<Vec<_>>()
                    .join(" ")
            );
        }
        _ => out.push('\n'),
    }
    chunk.children().iter().for_each(|child| tree(child, depth + 1, out));
}

/// A program and its cost.
#[derive(Serialize)]
struct WithStats {
    #[serde(flatten)]
    program: ProgramSummary,
    instructions: u32,
    registers: u32,
    memory: u32,
    units: BTreeMap<&'static str, u32>,
    cycles: Cycles,
}

/// Cycles of the paths through a program; a loop has no bound.
#[derive(Serialize)]
struct Cycles {
    shortest: Option<u32>,
    longest: Option<u32>,
}

/// The programs of a file, and their cost.
pub(super) fn info(format: &str, all: &[Program]) -> Info {
    let mut text = String::new();
    let mut programs = Vec::new();
    for program in all {
        let stats = stats(program);
        print_program(program, &stats, &mut text);
        programs.push(WithStats {
            program: program.into(),
            instructions: stats.instructions,
            registers: stats.registers,
            memory: stats.memory,
            units: stats.units.iter().copied().collect(),
            cycles: Cycles {
                shortest: stats.paths.shortest,
                longest: stats.paths.longest,
            },
        });
    }
    let json = json!({ "format": format, "programs": programs });
    Info { text, json }
}

fn print_program(program: &Program, stats: &Stats, out: &mut String) {
    let _ = writeln!(
        out,
        "{} program for {} (core version {})",
        program.stage.name(),
        program.version,
        program.version.0
    );
    let _ = writeln!(out, "  {} instructions, {} words", stats.instructions, stats.words);
    let _ = writeln!(out, "  {} registers, {} vec4s of memory", stats.registers, stats.memory);
    let used: Vec<String> = stats
        .units
        .iter()
        .filter(|unit| unit.1 > 0)
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let _ = writeln!(out, "  units: {}", used.join(", "));
    let cycles = |cycles: Option<u32>| cycles.map_or("unbounded".to_owned(), |cycles| cycles.to_string());
    let [shortest, longest] = [stats.paths.shortest, stats.paths.longest].map(cycles);
    let _ = writeln!(
        out,
        "  cycles: shortest path {shortest}, longest path {longest}{}",
        limits(program, stats)
    );
    if let Some([size, start]) = program.stack {
        let _ = writeln!(
            out,
            "  stack {size}, start {start}; discard {}",
            program.discard.unwrap_or(0)
        );
    }
    if let Some(buffers) = program.buffers {
        let names = [
            "reads color",
            "writes color",
            "reads depth",
            "writes depth",
            "reads stencil",
            "writes stencil",
        ];
        let set: Vec<&str> = names
            .iter()
            .zip(buffers)
            .filter(|(_, byte)| *byte != 0)
            .map(|(name, _)| *name)
            .collect();
        let _ = writeln!(out, "  {}", set.join(", "));
    }
    if let Some([_, count, prefetch]) = program.instructions {
        let _ = writeln!(
            out,
            "  {count} instructions declared, attributes are read before instruction {prefetch}"
        );
    }
    for (table, symbols) in program.tables().iter().filter(|(_, symbols)| !symbols.is_empty()) {
        let space = if *table == "uniform" {
            format!(" in {} floats", program.uniform_space)
        } else {
            String::new()
        };
        let _ = writeln!(out, "  {table}s{space}:");
        for symbol in *symbols {
            let _ = writeln!(out, "    {}", symbol_line(symbol));
        }
    }
}

/// Other limits of a program's speed: units with one operation per cycle.
fn limits(program: &Program, stats: &Stats) -> String {
    if program.stage == Stage::Vertex {
        return String::new();
    }
    let count = |name: &str| stats.units.iter().find(|unit| unit.0 == name).map_or(0, |unit| unit.1);
    format!(
        "; {} texture look-ups and {} varying loads, one of each a cycle at most",
        count("sampler"),
        count("varying")
    )
}

fn symbol_line(symbol: &Symbol) -> String {
    let mut text = format!("{:18} {}", symbol.type_name(), symbol.name());
    if symbol.is_used() {
        let _ = write!(
            text,
            " at {} (size {}, stride {})",
            symbol.offset, symbol.size, symbol.stride
        );
    } else {
        text += " unused";
    }
    let precision = ["", "lowp", "mediump", "highp"]
        .get(usize::from(symbol.precision))
        .copied()
        .unwrap_or("");
    let _ = write!(text, " {precision}, flags {:#x}", symbol.flags);
    if symbol.invariant != 0 {
        text += ", invariant";
    }
    if let Some(initial) = &symbol.initial {
        let floats: Vec<String> = initial.iter().map(|bits| f32::from_bits(*bits).to_string()).collect();
        let _ = write!(text, " = {}", floats.join(" "));
    }
    text
}
