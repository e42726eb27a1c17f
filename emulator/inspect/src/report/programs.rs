//! The programs that a job ran, with execution counts.

use super::model::{Program, ProgramLine};
use emulator::exec::observed::{Finding, Line, Observed, Report};
use emulator::exec::{FragmentProgram, VertexProgram};
use utgard::gp;

/// Limit on shown instructions of a job's programs.
const MAX_LINES: usize = 4096;

/// The engine's observations before and after a job, and the job's programs so far.
pub(super) struct Programs<'a> {
    observed: &'a Observed,
    before: &'a Report,
    now: &'a Report,
    /// The job's programs, with their indices in the observations.
    found: Vec<(usize, Program)>,
    lines: usize,
    /// Number of omitted programs.
    pub left_out: usize,
}

impl<'a> Programs<'a> {
    /// An empty collection.
    pub(super) fn new(observed: &'a Observed, before: &'a Report, now: &'a Report) -> Self {
        Self {
            observed,
            before,
            now,
            found: Vec::new(),
            lines: 0,
            left_out: 0,
        }
    }

    /// The collected programs.
    pub(super) fn take(self) -> Vec<Program> {
        self.found.into_iter().map(|(_, program)| program).collect()
    }

    /// Index of the job's program with these words; `None` if they are not a program, or never ran.
    pub(super) fn fragment(&mut self, address: u32, words: &[u32]) -> Option<usize> {
        let number = self.observed.fragment_program(&FragmentProgram::read(words).ok()?)?;
        self.find(number, address)
    }

    /// [`Programs::fragment`] for a vertex program.
    pub(super) fn vertex(&mut self, address: u32, words: &[u32]) -> Option<usize> {
        let (instructions, _) = words.as_chunks::<{ gp::WORDS }>();
        let program = VertexProgram::new(
            instructions
                .iter()
                .map(|words| gp::Instruction::decode(*words))
                .collect(),
        );
        let number = self.observed.vertex_program(&program.instructions)?;
        self.find(number, address)
    }

    fn find(&mut self, number: usize, address: u32) -> Option<usize> {
        if let Some(at) = self.found.iter().position(|(have, _)| *have == number) {
            return Some(at);
        }
        let watched = self.now.programs.get(number)?;
        if self.lines + watched.lines.len() > MAX_LINES {
            self.left_out += 1;
            return None;
        }
        self.lines += watched.lines.len();
        let before = self
            .before
            .programs
            .get(number)
            .map_or(&[][..], |program| &program.lines);
        let lines = watched.lines.iter().enumerate();
        let program = Program {
            stage: watched.stage,
            address,
            lines: lines.map(|(at, line)| since(line, before.get(at))).collect(),
            findings: self.findings(number),
        };
        self.found.push((number, program));
        Some(self.found.len() - 1)
    }

    /// Findings of this job about a program.
    fn findings(&self, number: usize) -> Vec<String> {
        let count = |report: &Report, of: &Finding| {
            let same =
                |one: &&Finding| (one.program, one.address, &one.message) == (of.program, of.address, &of.message);
            report.findings.iter().find(same).map_or(0, |one| one.count)
        };
        let own = self.now.findings.iter().filter(|finding| finding.program == number);
        own.filter_map(|finding| {
            let times = finding.count - count(self.before, finding);
            (times > 0).then(|| format!("at {}: {}, {times} times", finding.address, finding.message))
        })
        .collect()
    }
}

/// A line with the counts since `before`.
fn since(line: &Line, before: Option<&Line>) -> ProgramLine {
    let ways = |line: &Line| line.ways.unwrap_or_default();
    let earlier = before.map_or([0; 2], ways);
    ProgramLine {
        address: line.address,
        text: line.text.clone(),
        hits: line.hits - before.map_or(0, |line| line.hits),
        ways: line.ways.map(|[on, taken]| [on - earlier[0], taken - earlier[1]]),
    }
}
