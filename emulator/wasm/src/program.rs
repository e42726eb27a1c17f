//! A program as a listing, with what it costs.

use compiler::report::Report;
use loader::mbs::{self, Mbs, Symbol};
use serde::Serialize;
use std::collections::BTreeMap;
use utgard::stats::{Stats, stats};
use utgard::text::Row;
use utgard::{gp, pp, shader};

/// A Mali-400 program.
#[derive(Clone, Debug, Serialize)]
pub struct Program {
    /// `vertex` or `fragment`.
    pub stage: &'static str,
    /// The units in the order of their columns; `control` is last.
    pub units: Vec<&'static str>,
    /// The instructions.
    pub rows: Vec<Listed>,
    /// How many.
    pub instructions: u32,
    /// Cycles of the shortest way through.
    pub shortest: Option<u32>,
    /// Cycles of the longest; nothing where a loop is on it.
    pub longest: Option<u32>,
    /// What the hardware has a number of.
    pub limits: Vec<Limit>,
    /// What cannot be right with the code.
    pub findings: Vec<String>,
    /// What the compiler tells; nothing of programs that were not compiled.
    pub report: Option<Report>,
    /// The program as text that assembles.
    pub text: String,
    /// The program as a file.
    #[serde(skip)]
    pub mbs: Vec<u8>,
}

/// An instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// Its place, as branches name it.
    pub address: u32,
    /// What each unit does that does something.
    pub cells: BTreeMap<&'static str, String>,
    /// The lines of the source that it does something for.
    pub lines: Vec<u32>,
}

/// Something that the hardware has a number of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// Of what.
    pub name: &'static str,
    /// How many the program takes.
    pub used: u32,
    /// How many there are.
    pub most: u32,
}

/// What belongs to no unit.
const CONTROL: &str = "control";

impl Program {
    /// A program, and what the compiler reports of it.
    pub(crate) fn new(program: &mbs::Program, report: Option<Report>) -> Self {
        let stats = stats(program);
        let (units, rows): (Vec<_>, _) = match program.stage {
            mbs::Stage::Vertex => (
                gp::UNITS.iter().map(|unit| unit.name).chain(["branch"]).collect(),
                gp::rows(&shader::instructions(&program.code)),
            ),
            mbs::Stage::Fragment => (
                pp::UNITS.iter().map(|(name, ..)| *name).collect(),
                pp::rows(&program.code),
            ),
        };
        let file = Mbs::of(std::slice::from_ref(program));
        let places = report
            .as_ref()
            .map(|report| report.places.as_slice())
            .unwrap_or_default();
        Self {
            stage: program.stage.name(),
            units: units.into_iter().chain([CONTROL]).collect(),
            rows: rows
                .into_iter()
                .enumerate()
                .map(|(at, row)| listed(row, places.get(at)))
                .collect(),
            instructions: stats.instructions,
            shortest: stats.paths.shortest,
            longest: stats.paths.longest,
            limits: limits(program, &stats, report.as_ref()),
            findings: stats
                .findings
                .iter()
                .map(|finding| format!("instruction {}: {}", finding.address, finding.message))
                .collect(),
            report,
            // A program that the printer has no words for is still one that runs.
            text: shader::disassemble(&file).unwrap_or_default(),
            mbs: file.write(),
        }
    }
}

fn listed(row: Row, lines: Option<&Vec<u32>>) -> Listed {
    let mut cells = BTreeMap::<&'static str, String>::new();
    for (unit, text) in row.cells {
        cells
            .entry(unit)
            .and_modify(|have| *have = format!("{have}, {text}"))
            .or_insert(text);
    }
    Listed {
        address: row.address,
        cells,
        lines: lines.cloned().unwrap_or_default(),
    }
}

/// What the program takes of what there is a number of.
fn limits(program: &mbs::Program, stats: &Stats, report: Option<&Report>) -> Vec<Limit> {
    let limit = |name, used, most| Limit { name, used, most };
    let [(_, uniforms), (_, attributes), (_, varyings)] = program.tables();
    let used = |symbols: &[Symbol]| symbols.iter().filter(|symbol| symbol.is_used()).count() as u32;
    let vec4s = report.map(|report| report.varyings.div_ceil(4));
    let varyings = limit(
        "varyings (vec4)",
        vec4s.unwrap_or_else(|| used(varyings)),
        compiler::emit::MAX_VARYINGS,
    );
    match program.stage {
        mbs::Stage::Vertex => vec![
            limit("instructions", stats.instructions, gp::flow::MAX_INSTRUCTIONS as u32),
            limit(
                "uniforms and temporaries (vec4)",
                stats.memory,
                u32::from(gp::flow::MEMORY_VEC4S),
            ),
            limit("attributes", used(attributes), compiler::emit::MAX_ATTRIBUTES),
            varyings,
        ],
        mbs::Stage::Fragment => {
            let is_sampler = |symbol: &&Symbol| {
                use mbs::SymbolType as Type;
                matches!(
                    symbol.kind,
                    Type::SAMPLER_2D | Type::SAMPLER_CUBE | Type::SAMPLER_EXTERNAL
                )
            };
            let samplers = uniforms.iter().filter(is_sampler).filter(|symbol| symbol.is_used());
            vec![
                limit("registers (vec4)", stats.registers, u32::from(pp::flow::REGISTERS)),
                limit("textures", samplers.count() as u32, compiler::emit::MAX_SAMPLERS as u32),
                varyings,
            ]
        }
    }
}
