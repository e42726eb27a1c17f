//! Resources that a program uses, and its minimum time: one instruction per cycle on both processors.

use super::flow::{Finding, Paths, paths};
use super::gp::{self, Source, Stored};
use super::pp::{self, StoreMode};
use loader::mbs::{Program, Stage};

/// Statistics of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Instructions.
    pub instructions: u32,
    /// Words of code.
    pub words: u32,
    /// Vec4 registers that are read or written.
    pub registers: u32,
    /// Vec4s of temporaries that fragments store to, or for vertex programs one past the highest vec4 read.
    pub memory: u32,
    /// Each unit with the number of instructions that use it.
    pub units: Vec<(&'static str, u32)>,
    /// Cycles of the paths.
    pub paths: Paths,
    /// Findings of the verifier.
    pub findings: Vec<Finding>,
}

/// Statistics of a program of either stage.
pub fn stats(program: &Program) -> Stats {
    match program.stage {
        Stage::Vertex => vertex(&program.code),
        Stage::Fragment => fragment(&program.code, program.stack.map(|[size, _]| size)),
    }
}

fn vertex(words: &[u32]) -> Stats {
    let code: Vec<gp::Instruction> = super::shader::instructions(words)
        .into_iter()
        .map(gp::Instruction::decode)
        .collect();
    let mut units: Vec<(&'static str, u32)> = gp::UNITS.iter().map(|unit| (unit.name, 0)).collect();
    let (mut registers, mut memory) = (0u32, 0);
    let (mut stores, mut branches) = (0, 0);
    for i in &code {
        for (unit, busy) in units.iter_mut().zip(i.busy()) {
            unit.1 += u32::from(busy);
        }
        for source in i.sources() {
            match source {
                Source::Port0(_) if !i.register0_is_attribute => registers |= 1 << i.register0_address,
                Source::Port1(_) => registers |= 1 << i.register1_address,
                Source::Memory(_) => memory = memory.max(u32::from(i.load_address) + 1),
                _ => {}
            }
        }
        for half in i.stores().chunks(2) {
            let stored = half.iter().any(|(stored, _)| *stored != Stored::Nothing);
            stores += u32::from(stored);
            if let (true, gp::Target::Register(address)) = (stored, half[0].1) {
                registers |= 1 << address;
            }
        }
        branches += u32::from(i.branch);
    }
    units.extend([("store", stores), ("branch", branches)]);
    Stats {
        instructions: code.len() as u32,
        words: words.len() as u32,
        registers: registers.count_ones(),
        memory,
        units,
        paths: paths(&gp::flow::nodes(&code)),
        findings: gp::flow::verify(&code),
    }
}

fn fragment(words: &[u32], stack: Option<u32>) -> Stats {
    let (code, _) = pp::flow::instructions(words);
    let mut registers = 0u32;
    let mut memory = 0;
    for (_, i) in &code {
        registers |= written(i);
        if let Some(store) = i.store.filter(|store| store.read == StoreMode::Store) {
            memory = memory.max((store.signed_index() >> (2 - store.alignment.shift())).unsigned_abs());
        }
    }
    let units = pp::UNITS
        .iter()
        .zip(pp::flow::unit_counts(&code))
        .map(|(unit, count)| (unit.0, count))
        .collect();
    Stats {
        instructions: code.len() as u32,
        words: words.len() as u32,
        registers: registers.count_ones(),
        memory,
        units,
        paths: paths(&pp::flow::nodes(&code)),
        findings: pp::flow::verify(words, stack),
    }
}

/// Mask of general registers that an instruction writes.
fn written(i: &pp::Instruction) -> u32 {
    let writes = pp::access::accesses(i).into_iter().filter_map(|access| access.writes);
    writes
        .filter(|(register, _)| !register.is_pipeline())
        .fold(0, |bits, (register, _)| bits | 1 << register.index())
}
