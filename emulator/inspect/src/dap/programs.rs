//! The programs of a recording, with their listings and sources.

use super::Source;
use super::names::ProgramNames;
use crate::recorded;
use emulator::exec::observed::{Line, Stage, Watched};
use emulator::exec::{FragmentProgram, VertexProgram};
use emulator::gpu::commands::Commands;
use emulator::memory::Memory;
use loader::trace::{Pipe, Record, Trace};
use std::sync::Arc;
use utgard::frame::GpFrame;
use utgard::gp;
use utgard::state::RenderState;
use utgard::stream::{ListCommand, VertexCommand};

/// Limit on the number of listed programs.
const MAX_PROGRAMS: usize = 1 << 12;

/// Instruction addresses in the protocol: each program's begin at a multiple of this.
const SPAN: u64 = 1 << 16;

/// Identity of a program.
#[derive(PartialEq)]
enum Key {
    Vertex(Vec<gp::Instruction>),
    Fragment(Vec<(u32, utgard::pp::Instruction)>),
}

/// A program.
pub(super) struct Program {
    key: Key,
    /// Its name, such as `fragment1`.
    pub name: String,
    /// Its instructions in memory order.
    pub lines: Vec<Line>,
    /// Its source: the file, and the lines of each instruction.
    pub source: Option<Source>,
    /// The names of the source.
    pub names: Arc<ProgramNames>,
}

impl Program {
    /// The text of the listing.
    pub(super) fn listing(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    /// Index of the instruction at an address.
    pub(super) fn index(&self, address: u32) -> Option<usize> {
        self.lines.iter().position(|line| line.address == address)
    }

    /// Line in the listing, from 1, where an instruction begins.
    pub(super) fn row(&self, index: usize) -> usize {
        let before = self.lines.iter().take(index);
        1 + before.map(|line| line.text.lines().count()).sum::<usize>()
    }

    /// Source line of an instruction.
    pub(super) fn source_line(&self, address: u32) -> Option<u32> {
        let lines = self.source.as_ref()?.lines.get(self.index(address)?)?;
        lines.first().copied()
    }

    /// Address of the first instruction at or after a line of the listing, and its line.
    pub(super) fn at_row(&self, row: usize) -> Option<(u32, usize)> {
        let rows = (0..self.lines.len()).map(|index| (self.lines[index].address, self.row(index)));
        let mut rows = rows.zip(&self.lines);
        let found = rows.find(|((_, begins), line)| row < begins + line.text.lines().count());
        found.map(|((address, begins), _)| (address, begins))
    }

    /// Addresses of the instructions at a source line, or the next line with code; and that line.
    pub(super) fn at_source_line(&self, line: u32) -> Option<(Vec<u32>, u32)> {
        let source = self.source.as_ref()?;
        let found = source.lines.iter().flatten().filter(|at| **at >= line).min()?;
        let with = |is: &dyn Fn(&Vec<u32>) -> bool| -> Vec<u32> {
            let has = source.lines.iter().zip(&self.lines).filter(|(lines, _)| is(lines));
            has.map(|(_, line)| line.address).collect()
        };
        // A stop shows the first line of its instruction, so that these come before others with the line.
        let shown = with(&|lines| lines.first() == Some(found));
        let all = match shown.is_empty() {
            true => with(&|lines| lines.contains(found)),
            false => shown,
        };
        // For contiguous instructions of a line, only the first counts.
        Some((self.beginnings(&all), *found))
    }

    /// The instructions whose predecessor is not in the list.
    fn beginnings(&self, all: &[u32]) -> Vec<u32> {
        let before = |address: &u32| self.index(*address)?.checked_sub(1).map(|at| self.lines[at].address);
        let begins = |address: &&u32| before(address).is_none_or(|before| !all.contains(&before));
        all.iter().filter(begins).copied().collect()
    }
}

/// All programs, numbered in order of discovery.
#[derive(Default)]
pub(super) struct Programs {
    all: Vec<Program>,
    /// Files with their programs and numbers of instructions.
    sources: Vec<(Source, Key, usize)>,
}

/// The identity of a source's program, and the number of its instructions; `None` for what is no program.
fn identity(source: &Source) -> Option<(Key, usize)> {
    let code = &source.program.code;
    let (key, watched) = match source.stage {
        Stage::Vertex => {
            let words = code.as_chunks::<{ gp::WORDS }>().0;
            let program = VertexProgram::new(words.iter().map(|words| gp::Instruction::decode(*words)).collect());
            (Key::Vertex(program.instructions.clone()), Watched::vertex(&program))
        }
        Stage::Fragment => {
            let program = FragmentProgram::read(code).ok()?;
            (Key::Fragment(program.instructions.clone()), Watched::fragment(&program))
        }
    };
    Some((key, watched.lines.len()))
}

impl Programs {
    /// The programs of a recording's jobs, as far as they are in the recorded memory.
    pub(super) fn of(trace: &Trace<'_>, sources: Vec<Source>) -> Self {
        let sources = sources.into_iter().filter_map(|source| {
            let (key, lines) = identity(&source)?;
            Some((source, key, lines))
        });
        let mut programs = Self {
            all: Vec::new(),
            sources: sources.collect(),
        };
        let mut memory = Memory::default();
        for (_, record) in &trace.records {
            // Errors are reported when the job runs.
            let _ = recorded::lay(&mut memory, record);
            if let Record::Submit {
                pipe: Pipe::Gp, frame, ..
            } = record
            {
                programs.of_job(&memory, &GpFrame::from_words(frame));
            }
        }
        programs
    }

    fn of_job(&mut self, memory: &Memory, frame: &GpFrame) {
        let mut commands = Commands::new(memory, frame.vertex_start, frame.vertex_end);
        let (mut length, mut code) = (0, Vec::new());
        while let Ok(Some((_, words))) = commands.step() {
            match VertexCommand::decode(words) {
                VertexCommand::ProgramInfo(info) => length = usize::from(info.last) + 1,
                VertexCommand::Program(at) => {
                    let count = u32::from(at.instructions) * gp::WORDS as u32;
                    let words = memory.words(at.address, count).unwrap_or_default();
                    let words = words.as_chunks::<{ gp::WORDS }>().0;
                    code = words.iter().map(|words| gp::Instruction::decode(*words)).collect();
                }
                VertexCommand::RunVertices(_) => {
                    self.vertex(&VertexProgram::new(code.iter().take(length).copied().collect()));
                }
                _ => {}
            }
        }
        let mut commands = Commands::new(memory, frame.list_start, frame.list_end);
        while let Ok(Some((_, words))) = commands.step() {
            match ListCommand::decode(words) {
                ListCommand::End(_) => break,
                ListCommand::BindState(bind) => {
                    let words = memory.words(bind.state, RenderState::WORDS as u32);
                    let state = RenderState::from_words(&words.unwrap_or_default());
                    let words = recorded::fragment_program(memory, state.program.0);
                    if let Some(Ok(program)) = words.map(|words| FragmentProgram::read(&words)) {
                        self.fragment(&program);
                    }
                }
                _ => {}
            }
        }
    }

    /// The number of a vertex program; adds it if it is new.
    pub(super) fn vertex(&mut self, program: &VertexProgram) -> usize {
        let is = |key: &Key| matches!(key, Key::Vertex(have) if *have == program.instructions);
        self.number(is, || {
            (Key::Vertex(program.instructions.clone()), Watched::vertex(program))
        })
    }

    /// The number of a fragment program; adds it if it is new.
    pub(super) fn fragment(&mut self, program: &FragmentProgram) -> usize {
        let is = |key: &Key| matches!(key, Key::Fragment(have) if *have == program.instructions);
        self.number(is, || {
            (Key::Fragment(program.instructions.clone()), Watched::fragment(program))
        })
    }

    fn number(&mut self, is: impl Fn(&Key) -> bool, new: impl FnOnce() -> (Key, Watched)) -> usize {
        if let Some(number) = self.all.iter().position(|program| is(&program.key)) {
            return number;
        }
        if self.all.len() >= MAX_PROGRAMS {
            return self.all.len() - 1;
        }
        let (key, watched) = new();
        let number = self.all.len();
        let of_stage = || self.sources.iter().filter(|(source, ..)| source.stage == watched.stage);
        // Linking renumbers registers and memory, but does not move instructions.
        let same = of_stage().find(|(_, own, _)| *own == key);
        let source = same.or_else(|| of_stage().find(|(.., lines)| *lines == watched.lines.len()));
        let source = source.map(|(source, ..)| source);
        self.all.push(Program {
            key,
            name: format!("{}{number}", watched.stage.name()),
            names: source
                .map(|source| ProgramNames::of(source, &watched.lines))
                .unwrap_or_default()
                .into(),
            source: source.filter(|source| !source.lines.is_empty()).cloned(),
            lines: watched.lines,
        });
        number
    }

    /// A program.
    pub(super) fn get(&self, number: usize) -> Option<&Program> {
        self.all.get(number)
    }

    /// All of them with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Program)> {
        self.all.iter().enumerate()
    }

    /// Address of an instruction in the protocol.
    pub(super) fn address(program: usize, at: u32) -> String {
        format!("{:#x}", SPAN * (program as u64 + 1) + u64::from(at))
    }

    /// The program and address behind it.
    pub(super) fn place(&self, address: &str) -> Option<(usize, u32)> {
        let digits = address.trim().strip_prefix("0x")?;
        let address = u64::from_str_radix(digits, 16).ok()?;
        let program = usize::try_from((address / SPAN).checked_sub(1)?).ok()?;
        self.get(program)?;
        Some((program, (address % SPAN) as u32))
    }
}
