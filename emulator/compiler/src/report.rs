//! What a program costs.

use crate::emit::{Code, Emitted};
use crate::front::Shader;
use crate::interface::Stage;
use crate::ir::{Op, Span};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use utgard::stats;

/// Cost of a line of the source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its number, from 1.
    pub line: u32,
    /// Operations that came of it.
    pub operations: u32,
    /// Instructions those are in.
    pub instructions: u32,
}

/// A unit and how many instructions use it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unit {
    /// Its name.
    pub name: &'static str,
    /// Instructions that use it.
    pub instructions: u32,
}

/// Cost of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Stage.
    pub stage: Stage,
    /// Instructions.
    pub instructions: u32,
    /// Words of 32 bits they take.
    pub words: u32,
    /// Cycles of the shortest way through.
    pub shortest: Option<u32>,
    /// Cycles of the longest way through; nothing where a loop is on it.
    pub longest: Option<u32>,
    /// Units by how often they are used.
    pub units: Vec<Unit>,
    /// The unit that is used most: what bounds the program.
    pub bound: Option<&'static str>,
    /// Vec4 registers.
    pub registers: u32,
    /// Floats of temporaries.
    pub temporaries: u32,
    /// Stores that keep what found no register.
    pub spill_stores: u32,
    /// Loads of it.
    pub spill_loads: u32,
    /// Floats of uniforms, constants not counted.
    pub uniforms: u32,
    /// Floats of varyings.
    pub varyings: u32,
    /// Cost of the source's lines.
    pub lines: Vec<Line>,
    /// Where the hardware's numbers may not be enough.
    pub warnings: Vec<String>,
}

/// Number of the line a place is in.
fn line_of(text: &str, start: u32) -> u32 {
    let before = &text.as_bytes()[..(start as usize).min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1
}

fn lines(spans: &[Vec<Span>], text: &str) -> Vec<Line> {
    let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
    for instruction in spans {
        let mut here: Vec<u32> = instruction
            .iter()
            .flatten()
            .map(|(start, _)| line_of(text, *start))
            .collect();
        for line in &here {
            let entry = lines.entry(*line).or_insert(Line {
                line: *line,
                operations: 0,
                instructions: 0,
            });
            entry.operations += 1;
        }
        here.sort_unstable();
        here.dedup();
        for line in here {
            if let Some(entry) = lines.get_mut(&line) {
                entry.instructions += 1;
            }
        }
    }
    lines.into_values().collect()
}

/// Constants that fp16 cannot hold, and varyings that lose precision on their way to a texture.
fn warnings(shader: &Shader, text: Option<&str>) -> Vec<String> {
    if shader.stage == Stage::Vertex {
        return Vec::new();
    }
    let place = |span: Span| match (span, text) {
        (Some((start, _)), Some(text)) => format!("line {}: ", line_of(text, start)),
        _ => String::new(),
    };
    let function = &shader.function;
    let mut warnings = Vec::new();
    for block in function.order() {
        for value in &function.block(block).insts {
            let inst = function.inst(*value);
            for arg in &inst.args {
                let Some(number) = function.constant(*arg).filter(|number| number.is_finite()) else {
                    continue;
                };
                let half = num::half::round(number);
                if half.is_infinite() {
                    warnings.push(format!("{}{number} is more than fp16 holds (65504)", place(inst.span)));
                } else if half == 0.0 && number != 0.0 {
                    warnings.push(format!(
                        "{}{number:e} is less than fp16 holds (6.1e-5)",
                        place(inst.span)
                    ));
                }
            }
            if let Op::Texture { .. } = inst.op {
                let computed = |arg: &crate::ir::Value| !matches!(function.inst(*arg).op, Op::Input(_));
                if inst.args.iter().take(2).any(computed) {
                    warnings.push(format!(
                        "{}coordinates that were computed are fp16: steps of 1/2048 between 0.5 and 1",
                        place(inst.span)
                    ));
                }
            }
        }
    }
    warnings.sort();
    warnings.dedup();
    warnings
}

pub(crate) fn report(emitted: &Emitted, shader: &Shader, text: Option<&str>) -> Report {
    let stats = stats::stats(&emitted.program);
    let (spans, temporaries, spills) = match &emitted.code {
        Code::Vertex(program) => (&program.spans, 0, [0, 0]),
        Code::Fragment(program) => (&program.spans, program.temporaries, program.spills),
    };
    let units: Vec<Unit> = stats
        .units
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, instructions)| Unit {
            name,
            instructions: *instructions,
        })
        .collect();
    let bound = units
        .iter()
        .filter(|unit| !unit.name.starts_with("const"))
        .max_by_key(|unit| unit.instructions);
    Report {
        stage: shader.stage,
        instructions: stats.instructions,
        words: stats.words,
        shortest: stats.paths.shortest,
        longest: stats.paths.longest,
        bound: bound.map(|unit| unit.name),
        units,
        registers: stats.registers,
        temporaries,
        spill_stores: spills[0],
        spill_loads: spills[1],
        uniforms: emitted.uniforms,
        varyings: shader.interface.varyings.iter().map(|varying| varying.scalars()).sum(),
        lines: text.map(|text| lines(spans, text)).unwrap_or_default(),
        warnings: warnings(shader, text),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cycles = |cycles: Option<u32>| cycles.map_or("unbounded".to_owned(), |cycles| cycles.to_string());
        let stage = match self.stage {
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
        };
        writeln!(
            f,
            "{stage} program: {} instructions, {} words",
            self.instructions, self.words
        )?;
        writeln!(
            f,
            "  cycles: shortest path {}, longest path {}; bound by {}",
            cycles(self.shortest),
            cycles(self.longest),
            self.bound.unwrap_or("nothing")
        )?;
        let mut units = String::new();
        for unit in &self.units {
            let _ = write!(units, " {} {}", unit.name, unit.instructions);
        }
        writeln!(f, "  units:{units}")?;
        writeln!(
            f,
            "  registers {}, temporaries {}, spill stores {}, spill loads {}, uniforms {}, varyings {}",
            self.registers, self.temporaries, self.spill_stores, self.spill_loads, self.uniforms, self.varyings
        )?;
        for line in &self.lines {
            writeln!(
                f,
                "  line {:4}: {} operations in {} instructions",
                line.line, line.operations, line.instructions
            )?;
        }
        for warning in &self.warnings {
            writeln!(f, "  warning: {warning}")?;
        }
        Ok(())
    }
}
