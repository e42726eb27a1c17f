//! PP programs taken apart into operations on rows, once per program.

use super::alu::{Alu, Operand, Source};
use utgard::pp::{self, Alignment, Load, Sampler, Store};

/// Rows of the pipeline and of what a batch is given; registers are rows 0 to 63.
pub(crate) mod row {
    /// The sampler's result, also [`Register::TEXTURE`](utgard::pp::Register::TEXTURE).
    pub(crate) const TEXTURE: u16 = 56;
    /// A load's result, also [`Register::UNIFORM`](utgard::pp::Register::UNIFORM).
    pub(crate) const UNIFORM: u16 = 60;
    /// The vec4 multiplier's result.
    pub(crate) const VEC_MUL: u16 = 64;
    /// The scalar multiplier's result.
    pub(crate) const FLOAT_MUL: u16 = 68;
    /// The varying unit's result, for the sampler.
    pub(crate) const COORDINATES: u16 = 69;
    /// Room for what must not be written yet.
    pub(crate) const SPARE: u16 = 73;
    /// The bias, where the instruction in front has kept it.
    pub(crate) const BIAS: u16 = 95;
    /// Distance from the primitive's origin.
    pub(crate) const X: u16 = 96;
    /// Distance from the primitive's origin.
    pub(crate) const Y: u16 = 97;
    /// w, where the primitive is in perspective.
    pub(crate) const W: u16 = 98;
    /// Column of the pixel.
    pub(crate) const COLUMN: u16 = 99;
    /// Row of the pixel.
    pub(crate) const ROW: u16 = 100;
    /// Depth of a fragment that is tested behind its program, in the buffer's steps.
    pub(crate) const DEPTH: u16 = 101;
    /// What the tile has of depth and stencil there.
    pub(crate) const TILE_DEPTH: u16 = 102;
    /// The stencil.
    pub(crate) const TILE_STENCIL: u16 = 103;
    /// Not zero where the fragment is wanted.
    pub(crate) const ARRIVED: u16 = 104;
    /// The bias of the next instruction, as it is before this one writes it.
    pub(crate) const EARLY_BIAS: u16 = 105;
    /// First row of the temporaries.
    pub(crate) const TEMPORARIES: u16 = 106;

    /// Whether a row is computed for all fragments, for derivatives and look-ups: only the instruction that computes it
    /// reads it, or the next one, which no other fragments are at.
    pub(crate) fn is_local(row: u16) -> bool {
        (TEXTURE..X).contains(&row) || row == EARLY_BIAS
    }
}

/// Floats of temporaries that have rows: a row's number has 16 bits, and other rows stand in front of and behind them.
pub(crate) const MAX_TEMPORARIES: i32 = (1 << 16) - 1024;

/// An input of the vertices for one component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interpolate {
    /// Float number of the varying, or the built-in inputs behind them.
    pub what: Input,
    /// Row of the result.
    pub to: u16,
}

/// What is interpolated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// A varying's component.
    Varying(u16),
    /// Depth.
    Z,
    /// w.
    W,
    /// A component of `gl_PointCoord`.
    Point(u8),
    /// 1.0 for the front.
    Front,
}

/// An operation on rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Arithmetic.
    Alu(Alu),
    /// An input; for all lanes.
    Interpolate(Interpolate),
    /// Inputs by an offset: index, alignment, offset, first row of the result.
    InterpolateAt(u16, Alignment, Source, u16),
    /// A texture look-up, with its level and what is added to its index.
    Sample(Sampler, Source, Source),
    /// A load by an offset.
    Load(Load, Source),
    /// A store of some components by an offset.
    Store(Store, Source, Vec<Source>),
    /// The tile's colour or depth to a register's rows.
    Tile(u16, bool),
}

/// Where an instruction goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// To the one behind it.
    On(usize),
    /// To the end.
    End,
    /// To the end, leaving no fragment.
    Discard,
    /// To the target where the comparison holds, else on (or to the end).
    Branch(Condition, usize, Option<usize>),
    /// What the program does here is not known.
    Fault(String),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// Outcomes that are wanted.
    pub wanted: pp::Condition,
    /// What is compared.
    pub operands: [Operand; 2],
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Number of its control word.
    pub word: u32,
    /// Its operations.
    pub ops: Vec<Op>,
    /// Where it goes.
    pub next: Next,
}

/// A program as operations on rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FragmentCode {
    /// The instructions, numbered as in the program.
    pub steps: Vec<Step>,
    /// Rows that must be zero at the start.
    pub clear: Vec<u16>,
    /// Registers' rows that are written on every way through, a bit each.
    pub written: u64,
    /// Rows there are.
    pub rows: usize,
    /// The first float of the temporaries.
    pub temporary_base: i32,
    /// Columns and rows of the pixels are read.
    pub places: bool,
}

impl FragmentCode {
    /// The code of a program's steps; `temporaries` are the lowest and the highest float of them that it can name.
    pub fn of(steps: Vec<Step>, temporaries: Option<(i32, i32)>) -> Self {
        let (low, high) = temporaries.unwrap_or((0, -1));
        let mut code = Self {
            steps,
            clear: Vec::new(),
            written: 0,
            rows: usize::from(row::TEMPORARIES) + (high - low + 1).max(0) as usize,
            temporary_base: low,
            places: false,
        };
        code.read_first();
        code
    }

    /// Finds the rows that may be read before they are written: all that are read when there are branches.
    fn read_first(&mut self) {
        let straight = self.steps.iter().all(|step| !matches!(step.next, Next::Branch(..)));
        let mut written = vec![false; self.rows];
        let mut clear = vec![false; self.rows];
        let mut read = |from: Source, written: &[bool]| {
            if let Source::Row(row) = from {
                clear[usize::from(row)] |= !(straight && written[usize::from(row)]);
            }
        };
        for step in &self.steps {
            for op in &step.ops {
                op.reads(self.rows, &mut |from| read(from, &written));
                op.writes(&mut |row| written[usize::from(row)] = true);
            }
            if let Next::Branch(condition, ..) = &step.next {
                condition
                    .operands
                    .iter()
                    .for_each(|operand| read(operand.from, &written));
            }
        }
        if straight {
            self.written = (0..64).filter(|row| written[*row]).map(|row| 1 << row).sum();
        }
        // What a batch is given needs no zeros, nor does a bias that the instruction in front always keeps.
        let given = usize::from(row::X)..usize::from(row::TEMPORARIES);
        self.places = clear[usize::from(row::COLUMN)] || clear[usize::from(row::ROW)];
        self.clear = clear
            .iter()
            .enumerate()
            .filter(|(row, clear)| **clear && !given.contains(row))
            .map(|(row, _)| row as u16)
            .collect();
    }
}

impl Op {
    /// Everything it reads. What goes by an offset may read any temporary.
    fn reads(&self, rows: usize, read: &mut impl FnMut(Source)) {
        match self {
            Self::Alu(alu) => alu.operands.iter().for_each(|operand| read(operand.from)),
            Self::Interpolate(_) | Self::Tile(..) => {}
            Self::InterpolateAt(_, _, offset, _) => read(*offset),
            Self::Sample(_, lod, offset) => {
                [*lod, *offset].into_iter().for_each(&mut *read);
                (0..4).for_each(|at| read(Source::Row(row::COORDINATES + at)));
            }
            Self::Load(_, offset) => {
                read(*offset);
                (row::TEMPORARIES..rows as u16).for_each(|row| read(Source::Row(row)));
            }
            Self::Store(_, offset, sources) => {
                read(*offset);
                sources.iter().copied().for_each(&mut *read);
            }
        }
    }

    /// Rows it writes for every lane.
    fn writes(&self, write: &mut impl FnMut(u16)) {
        match self {
            Self::Alu(alu) => write(alu.to),
            Self::Interpolate(input) => write(input.to),
            Self::InterpolateAt(_, _, _, to) => (0..4).for_each(|at| write(to + at)),
            Self::Sample(..) => (0..4).for_each(|at| write(row::TEXTURE + at)),
            Self::Load(..) => (0..4).for_each(|at| write(row::UNIFORM + at)),
            Self::Tile(first, _) => (0..4).for_each(|at| write(first + at)),
            Self::Store(..) => {}
        }
    }
}

/// Power of two of an index's unit in floats, and components.
pub(crate) fn extent(alignment: Alignment) -> (u32, u32) {
    (alignment.shift(), alignment.components() as u32)
}
