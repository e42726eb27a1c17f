//! The report of observed programs, as text and for coverage tools.

use std::fmt::Write;

/// Which processor a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The GP.
    Vertex,
    /// The PP.
    Fragment,
}

impl Stage {
    /// For names of files and titles.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
        }
    }
}

/// An instruction of an observed program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its place: the instruction's number in vertex programs, the number of its first word in fragment programs.
    pub address: u32,
    /// Its text, one line or several.
    pub text: String,
    /// How many vertices or fragments ran it, helpers included.
    pub hits: u64,
    /// How many did not take its branch, and how many took it.
    pub ways: Option<[u64; 2]>,
}

/// A program that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// What it is for.
    pub stage: Stage,
    /// Its instructions in the order of memory.
    pub lines: Vec<Line>,
    /// Its source text, where that is known.
    pub source: Option<Text>,
}

/// A text that a program was assembled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Its file.
    pub path: String,
    /// The line of each instruction, from 1.
    pub lines: Vec<u32>,
}

/// A possible error in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Number of the program.
    pub program: usize,
    /// Where: see [`Line::address`].
    pub address: u32,
    /// What.
    pub message: String,
    /// How often.
    pub count: u64,
}

/// A number or vector that a step read or wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// Its name as texts have it, with its components.
    pub name: String,
    /// The components' values.
    pub values: Vec<f32>,
}

/// An instruction that a fragment at the observed pixel ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where: see [`Line::address`].
    pub address: u32,
    /// The instruction's text.
    pub text: String,
    /// What its units read, in their order.
    pub reads: Vec<Operand>,
    /// Their results.
    pub gives: Vec<Operand>,
    /// Word of the next instruction; `None` when this was the last.
    pub next: Option<u32>,
    /// The fragment was discarded.
    pub discarded: bool,
}

/// What a fragment's colour did to the tile at the observed pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Painted {
    /// The tile's colour before.
    pub before: [f32; 4],
    /// The program's colour; nothing if the fragment was discarded.
    pub color: Option<[f32; 4]>,
    /// The tile's colour after.
    pub after: [f32; 4],
}

/// A fragment at the observed pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelFragment {
    /// Number of its program.
    pub program: usize,
    /// Column and row.
    pub pixel: (u32, u32),
    /// It was a helper, for derivatives.
    pub helps: bool,
    /// Its instructions, up to a limit.
    pub steps: Vec<Step>,
    /// What its colour did to the tile; nothing for helpers.
    pub painted: Option<Painted>,
}

/// The report. Programs are numbered in the order they first ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The programs.
    pub programs: Vec<Watched>,
    /// Possible errors.
    pub findings: Vec<Finding>,
    /// The fragments at the observed pixel, in order.
    pub pixel: Vec<PixelFragment>,
}

impl Watched {
    /// Cycles of its processor at least: both do an instruction a cycle of one vertex or fragment (\[I\]: stalls, such as
    /// for textures, are not known).
    pub fn cycles(&self) -> u64 {
        self.lines.iter().map(|line| line.hits).sum()
    }

    /// The program as text that assembles.
    pub fn listing(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }
}

impl Report {
    /// Name of a program for titles and files, such as `fragment1`.
    pub fn name(&self, program: usize) -> String {
        let stage = self
            .programs
            .get(program)
            .map_or("program", |watched| watched.stage.name());
        format!("{stage}{program}")
    }

    /// Sets the source file of the only program of a stage. Without effect if there are several, or its instructions are
    /// not those of the text.
    pub fn is_of(&mut self, stage: Stage, text: &Text) {
        let mut programs = self.programs.iter_mut().filter(|program| program.stage == stage);
        if let (Some(only), None) = (programs.next(), programs.next())
            && only.lines.len() == text.lines.len()
        {
            only.source = Some(text.clone());
        }
    }

    /// Every instruction with how often it ran, and the cycles.
    pub fn profile(&self) -> String {
        let mut text = String::new();
        for (number, program) in self.programs.iter().enumerate() {
            let cycles = program.cycles();
            let _ = write!(text, "{}: {cycles} cycles at least", self.name(number));
            let _ = match &program.source {
                Some(source) => writeln!(text, " ({})", source.path),
                None => writeln!(text),
            };
            for (at, line) in program.lines.iter().enumerate() {
                let share = line.hits as f64 * 100.0 / cycles.max(1) as f64;
                let _ = write!(text, "{:>12} {share:>5.1} %  {}", line.hits, indented(&line.text));
                if let Some(source) = &program.source {
                    let _ = write!(text, "  # line {}", source.lines[at]);
                }
                if let Some([on, taken]) = line.ways {
                    let _ = write!(text, "  # taken {taken}, not taken {on}");
                }
                text.push('\n');
            }
        }
        text
    }

    /// Possible errors, a line each.
    pub fn findings(&self) -> Vec<String> {
        let line = |finding: &Finding| {
            let (name, count) = (self.name(finding.program), finding.count);
            let times = if count == 1 {
                "once".to_owned()
            } else {
                format!("{count} times")
            };
            format!("{name}, at {}: {}, {times}", finding.address, finding.message)
        };
        self.findings.iter().map(line).collect()
    }

    /// Coverage as LCOV's info over the programs' texts, or over listings where there are none; `path` says where a
    /// program's listing is.
    pub fn lcov(&self, path: impl Fn(&str) -> String) -> String {
        let mut text = String::from("TN:\n");
        for (number, program) in self.programs.iter().enumerate() {
            let file = match &program.source {
                Some(source) => source.path.clone(),
                None => path(&self.name(number)),
            };
            let _ = writeln!(text, "SF:{file}");
            let (mut row, mut branches, mut ways_hit, mut hit) = (1, 0, 0, 0);
            let mut lines = String::new();
            for (at, line) in program.lines.iter().enumerate() {
                if let Some(source) = &program.source {
                    row = source.lines[at] as usize;
                }
                let _ = writeln!(lines, "DA:{row},{}", line.hits);
                hit += u32::from(line.hits > 0);
                if let Some(ways) = line.ways {
                    for (way, count) in ways.into_iter().enumerate() {
                        let _ = writeln!(text, "BRDA:{row},0,{way},{count}");
                        ways_hit += u32::from(count > 0);
                    }
                    branches += 2;
                }
                row += line.text.lines().count();
            }
            let _ = write!(
                text,
                "BRF:{branches}\nBRH:{ways_hit}\n{lines}LF:{}\nLH:{hit}\nend_of_record\n",
                program.lines.len()
            );
        }
        text
    }
}

/// Further lines of a text under the first, behind a profile's columns.
fn indented(text: &str) -> String {
    text.replace('\n', "\n                      ")
}
