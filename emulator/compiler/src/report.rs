//! What a program costs.

use crate::debug::debug;
use crate::emit::{Code, Emitted};
use crate::front::Shader;
use crate::interface::Stage;
use crate::ir::{Function, Input, Inst, Op, Span, Value};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};
use utgard::debug::Debug;
use utgard::stats;

/// Cost of a line of the source, or of what the compiler added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its number, from 1; nothing for what comes of no line.
    pub line: Option<u32>,
    /// Operations that came of it.
    pub operations: u32,
    /// Instructions those are in; one that does something for several lines counts for each.
    pub instructions: u32,
    /// Its part of all instructions, each divided evenly among its operations: these add up to the program's length.
    pub cost: f64,
}

/// Where the hardware's numbers may not be enough.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Warning {
    /// Line of the source, where it is a text.
    pub line: Option<u32>,
    /// What.
    pub message: String,
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
    /// Floats that uniforms take, constants not counted.
    pub uniforms: u32,
    /// Floats of varyings.
    pub varyings: u32,
    /// Cost of the source's lines.
    pub lines: Vec<Line>,
    /// The lines each instruction does something for, in the order of the code.
    pub places: Vec<Vec<u32>>,
    /// Where the hardware's numbers may not be enough.
    pub warnings: Vec<Warning>,
    /// What debuggers show; empty without a text.
    #[serde(skip)]
    pub debug: Debug,
}

/// Where the lines of a text end.
struct LineEnds(Vec<u32>);

impl LineEnds {
    fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at as u32).collect())
    }

    /// Number of the line that a byte is in.
    fn line_of(&self, byte: u32) -> u32 {
        self.0.partition_point(|end| *end < byte) as u32 + 1
    }
}

fn lines(spans: &[Vec<Span>], text: &LineEnds) -> Vec<Line> {
    let mut lines: BTreeMap<Option<u32>, Line> = BTreeMap::new();
    for instruction in spans {
        // An instruction that only waits came of no line.
        let idle = [None];
        let operations = if instruction.is_empty() { &idle[..] } else { instruction };
        let mut seen = Vec::new();
        for span in operations {
            let line = span.map(|place| text.line_of(place.start));
            let entry = lines.entry(line).or_insert(Line {
                line,
                operations: 0,
                instructions: 0,
                cost: 0.0,
            });
            entry.operations += u32::from(!instruction.is_empty());
            entry.cost += 1.0 / operations.len() as f64;
            if !seen.contains(&line) {
                entry.instructions += 1;
                seen.push(line);
            }
        }
    }
    lines.into_values().collect()
}

/// The lines of each instruction, each line once, in order.
fn places(spans: &[Vec<Span>], text: &LineEnds) -> Vec<Vec<u32>> {
    let of = |instruction: &Vec<Span>| {
        let lines = instruction.iter().flatten().map(|place| text.line_of(place.start));
        lines.collect::<BTreeSet<u32>>().into_iter().collect()
    };
    spans.iter().map(of).collect()
}

/// What fp16 does to an operation's numbers.
fn of_operation(function: &Function, inst: &Inst) -> Vec<String> {
    let mut warnings = Vec::new();
    let constants = inst.args.iter().filter_map(|arg| function.constant(*arg));
    for number in constants.filter(|number| number.is_finite()) {
        let half = num::half::round(number);
        if half.is_infinite() {
            warnings.push(format!("{number} is more than fp16 holds (65504)"));
        } else if half == 0.0 && number != 0.0 {
            warnings.push(format!("{number:e} is less than fp16 holds (6.1e-5)"));
        }
    }
    if let Op::Texture { cube, .. } = inst.op {
        let computed = |arg: &Value| !matches!(function.inst(*arg).op, Op::Input(_) | Op::Const(_));
        if !cube && inst.args.iter().take(2).any(computed) {
            warnings.push("coordinates that were computed are fp16: steps of 1/2048 between 0.5 and 1".to_owned());
        }
    }
    let of_window = |arg: &Value| matches!(function.inst(*arg).op, Op::Input(Input::FragCoord(0 | 1)));
    if inst.span.is_some() && inst.args.iter().any(of_window) {
        warnings.push(
            "the position in the window is fp16: no halves from 1024 on, no single pixels from 2048 on".to_owned(),
        );
    }
    warnings
}

/// What the source said about precision, constants that fp16 cannot hold, and what loses precision on its way.
fn warnings(shader: &Shader, text: Option<&LineEnds>) -> Vec<Warning> {
    let line = |span: Span| span.zip(text).map(|(place, text)| text.line_of(place.start));
    let notes = shader.notes.iter().map(|note| (note.span, note.message.clone()));
    let mut warnings: Vec<(Span, String)> = notes.collect();
    if shader.stage == Stage::Fragment {
        let function = &shader.function;
        for block in function.order() {
            for value in &function.block(block).insts {
                let inst = function.inst(*value);
                let found = of_operation(function, inst);
                warnings.extend(found.into_iter().map(|message| (inst.span, message)));
            }
        }
    }
    let mut warnings: Vec<Warning> = warnings
        .into_iter()
        .map(|(span, message)| Warning {
            line: line(span),
            message,
        })
        .collect();
    warnings.sort();
    warnings.dedup();
    warnings
}

pub(crate) fn report(emitted: &Emitted, shader: &Shader, text: Option<&str>) -> Report {
    let stats = stats::stats(&emitted.program);
    let text = text.map(LineEnds::new);
    let text = text.as_ref();
    let (spans, assigned, temporaries, spills) = match &emitted.code {
        Code::Vertex(program) => (&program.spans, &program.assigned, program.temporaries, program.spills),
        Code::Fragment(program) => (&program.spans, &program.assigned, program.temporaries, program.spills),
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
        places: text.map(|text| places(spans, text)).unwrap_or_default(),
        warnings: warnings(shader, text),
        debug: text
            .map(|text| debug(&shader.function, spans, assigned, |start| text.line_of(start)))
            .unwrap_or_default(),
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
            let name = line.line.map_or("no line".to_owned(), |line| format!("line {line:4}"));
            writeln!(
                f,
                "  {name}: {} operations in {} instructions, cost {:.2}",
                line.operations, line.instructions, line.cost
            )?;
        }
        for warning in &self.warnings {
            let place = warning.line.map_or(String::new(), |line| format!("line {line}: "));
            writeln!(f, "  warning: {place}{}", warning.message)?;
        }
        Ok(())
    }
}
