//! Engines that run GP and PP programs, behind one trait. [`scalar`] is simple, and the specification of the others.

pub mod batched;
mod compiled;
pub mod configured;
mod delegate;
pub mod inputs;
mod lanes;
pub mod native;
pub mod observe;
pub mod observed;
pub(crate) mod places;
pub mod scalar;
pub mod wide;

pub use delegate::Delegate;
pub use lanes::{MAX_VERTICES, VertexRows};
pub(crate) use lanes::{MISSING, Row};

use crate::blend::Blending;
use crate::fault::{Fault, FaultKind, Result};
use crate::fragment_ops::{alpha_passes, blended, scaled};

pub use crate::fragment_ops::LateTests;
use crate::silicon::Silicon;
use crate::texture::Texture;
use batched::QuadBatcher;
use compiled::{Compiled, Uses};
use inputs::Inputs;
use num::lanes::One;
use std::sync::{Arc, OnceLock};
use utgard::pp::Scalar;
use utgard::pp::flow::{EarlyBias, early_biases};
use utgard::{gp, pp};

/// Instructions one vertex or quad may execute before its job ends with a fault.
pub const BUDGET: u32 = 1 << 20;

/// Vec4s of the GP's uniform and temporary memory that an instruction can name.
pub const VERTEX_MEMORY: usize = 512;

/// A vertex program.
#[derive(Clone, Debug, Default)]
pub struct VertexProgram {
    /// Its instructions.
    pub instructions: Vec<gp::Instruction>,
    /// The program compiled for the wide engine, on first use; nothing where that cannot run it.
    wide: OnceLock<Option<wide::VertexCode>>,
    /// Machine code of the program.
    native: Compiled<native::Isa, Option<native::VertexVariants>>,
    /// Vertices that were run before there was machine code.
    uses: Uses,
}

impl VertexProgram {
    /// A program of these instructions; it ends behind the last one.
    pub fn new(instructions: Vec<gp::Instruction>) -> Self {
        Self {
            instructions,
            wide: OnceLock::new(),
            native: Compiled::default(),
            uses: Uses::default(),
        }
    }

    /// The program compiled for the wide engine; nothing where that cannot run it.
    fn wide(&self) -> Option<&wide::VertexCode> {
        let code = self.wide.get_or_init(|| wide::VertexCode::new(&self.instructions));
        code.as_ref()
    }
}

/// Vertices of a job, all through one program.
pub struct VertexBatch<'a> {
    /// The program.
    pub program: &'a VertexProgram,
    /// Uniforms and constants; missing ones read as zero.
    pub uniforms: &'a [[f32; 4]],
    /// How many vertices, at most [`MAX_VERTICES`].
    pub vertices: usize,
    /// Their attributes and outputs; stores to missing outputs are lost.
    pub rows: &'a mut VertexRows,
    /// Instructions that vertices ran; the engine adds to it.
    pub instructions: u64,
}

/// A fragment program: its instructions in the order of memory.
#[derive(Clone, Debug, Default)]
pub struct FragmentProgram {
    /// Each instruction with the number of its control word.
    pub instructions: Vec<(u32, pp::Instruction)>,
    /// For each word the instruction that begins there, plus one.
    starts: Vec<u16>,
    /// Lowest and highest float of the temporaries that the program can name, if it names any.
    pub temporaries: Option<(i32, i32)>,
    /// The program has derivatives or textures: the fragments of a quad need each other.
    pub needs_quads: bool,
    /// The program may end fragments without output.
    pub discards: bool,
    /// The program reads the tile buffer.
    pub reads_tile: bool,
    /// Biases that are read before the instruction in front has written them, in the order of memory.
    early_biases: Vec<EarlyBias>,
    /// Samplers that the program uses, a bit each.
    samplers: u32,
    // Engines cache here what they compile, so that it is dropped with the program. That is why this file names two of their
    // types.
    /// The program compiled for the wide engine, for each orientation that was used.
    wide: Compiled<Orientation, wide::FragmentCode>,
    /// Machine code of the program, for each state that was used.
    native: Compiled<native::Key, Option<Arc<native::Program>>>,
    /// Quads that were run before there was machine code.
    uses: Uses,
    /// Its words up to the last that is reachable.
    words: Vec<u32>,
}

/// Reach of temporaries behind an offset register, in floats to each side.
const TEMPORARY_REACH: i32 = 1024;

impl FragmentProgram {
    /// Decodes a program from its first word: every instruction that can be reached.
    ///
    /// # Errors
    /// When a reachable word is no instruction.
    pub fn read(words: &[u32]) -> Result<Self> {
        let words = &words[..words.len().min(pp::MAX_PROGRAM_WORDS)];
        let mut program = Self {
            starts: vec![0; words.len()],
            ..Self::default()
        };
        let mut pending = vec![0u32];
        while let Some(at) = pending.pop() {
            let Some(start) = program.starts.get_mut(at as usize) else {
                return Err(Fault::new(FaultKind::Program, "the program goes on past its words").pc(at));
            };
            if *start != 0 {
                continue;
            }
            *start = program.instructions.len() as u16 + 1;
            let instruction = pp::Instruction::decode(&words[at as usize..])
                .map_err(|error| Fault::new(FaultKind::Program, error.to_string()).pc(at))?;
            program.note(&instruction);
            program.instructions.push((at, instruction));
            if !instruction.control.stop && !instruction.branch.is_some_and(|branch| branch.always()) {
                pending.push(at + instruction.words());
            }
            if let Some(branch) = instruction
                .branch
                .filter(|branch| !branch.is_discard() && branch.condition != pp::Condition::Never)
            {
                let target = i64::from(at) + i64::from(branch.signed_target());
                let target = u32::try_from(target);
                pending.push(target.map_err(|_| Fault::new(FaultKind::Program, "a branch leaves the program").pc(at))?);
            }
        }
        let mut in_memory = program.instructions.clone();
        in_memory.sort_unstable_by_key(|(at, _)| *at);
        program.early_biases = early_biases(&in_memory);
        let ends = program.instructions.iter().map(|(at, i)| (at + i.words()) as usize);
        program.words = words[..ends.max().unwrap_or(0).min(words.len())].to_vec();
        Ok(program)
    }

    fn note(&mut self, instruction: &pp::Instruction) {
        self.needs_quads |= instruction.needs_quad();
        if let Some(unit) = instruction.sampler.filter(|unit| unit.index < 32) {
            self.samplers |= 1 << unit.index;
        }
        self.discards |= instruction.branch.is_some_and(|branch| branch.is_discard());
        if let Some(load) = instruction.load.filter(|load| load.source == pp::LoadSource::Temporary) {
            self.reach(load.signed_index(), load.alignment, load.offset_enable);
        }
        if let Some(store) = instruction.store {
            if store.reads_tile() {
                self.reads_tile = true;
            } else {
                self.reach(store.signed_index(), store.alignment, store.offset_enable);
            }
        }
    }

    fn reach(&mut self, index: i32, alignment: pp::Alignment, indirect: bool) {
        let first = index << alignment.shift();
        let (mut low, mut high) = (first, first + 3);
        if indirect {
            (low, high) = (low - TEMPORARY_REACH, high + TEMPORARY_REACH);
        }
        let (have_low, have_high) = self.temporaries.unwrap_or((low, high));
        self.temporaries = Some((have_low.min(low), have_high.max(high)));
    }

    /// Whether it has more temporaries than any engine but the scalar one supports.
    fn has_many_temporaries(&self) -> bool {
        let floats = self.temporaries.map_or(0, |(low, high)| high - low + 1);
        floats > wide::MAX_TEMPORARIES
    }

    /// Its words up to the last that is reachable.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// Number of the instruction that begins at a word.
    pub fn index_of(&self, word: u32) -> Option<usize> {
        usize::from(*self.starts.get(word as usize)?).checked_sub(1)
    }

    /// The register that the instruction at a word writes and the one behind it samples with as it was before.
    fn bias_written_late(&self, word: u32) -> Option<Scalar> {
        let found = self.early_biases.binary_search_by_key(&word, |bias| bias.written_at);
        found.ok().map(|at| self.early_biases[at].register)
    }

    /// Whether the instruction at a word samples with a bias that the one in front has not written yet.
    fn reads_bias_early(&self, word: u32) -> bool {
        let found = self.early_biases.binary_search_by_key(&word, |bias| bias.read_at);
        found.is_ok()
    }
}

/// The directions of `gl_FragCoord` and derivatives, from the frame's registers (docs/spec/mali/frame.md, section 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation {
    /// Added to the column, in pixels.
    pub x: f32,
    /// Added to the row, or what the row is subtracted from if `flip` is set, in pixels.
    pub y: f32,
    /// Rows count upwards.
    pub flip: bool,
    /// `dFdy` adds the upper row's first operand and the lower row's second; otherwise the lower row's first and the upper
    /// row's second (\[I\]).
    pub flip_derivative: bool,
}

impl Orientation {
    /// Pixels' middles, rows from the top.
    pub const UPRIGHT: Self = Self {
        x: 0.5,
        y: 0.5,
        flip: false,
        flip_derivative: false,
    };
}

/// Colour and depth of the tile at a pixel.
pub type TileReader<'a> = dyn Fn(u32, u32) -> ([f32; 4], f32) + 'a;

/// Everything the fragments of a draw share.
pub struct FragmentContext<'a> {
    /// The program.
    pub program: &'a FragmentProgram,
    /// Uniforms as floats; missing ones read as zero.
    pub uniforms: &'a [f32],
    /// Textures by sampler number.
    pub textures: &'a [Texture<'a>],
    /// Register of the colour.
    pub color_register: usize,
    /// Register of the second colour, if blending uses one.
    pub second_register: Option<usize>,
    /// Register of the depth, if the program writes it.
    pub depth_register: Option<usize>,
    /// Directions.
    pub orientation: Orientation,
    /// Reads the tile's colour and depth at a pixel, for programs that do so.
    pub tile: Option<&'a TileReader<'a>>,
    /// Colours may be returned as words ([`Fragments::words`]): only blending and storing remain.
    pub wants_words: bool,
    /// Alphas are returned beside the words, in [`Fragments::color`].
    pub wants_alpha: bool,
    /// Words are returned blended with those of [`Fragments::destination`].
    pub blending: Option<&'a Blending>,
    /// Only fragments that pass these tests, with [`Fragments::samples`], get words; the others keep theirs.
    pub tests: Option<LateTests>,
    /// There are few fragments: compiling code for them would take longer than running them.
    pub few: bool,
}

impl<'a> FragmentContext<'a> {
    /// An upright draw without uniforms and textures, whose colour is in register 0 and is neither tested nor blended.
    pub fn new(program: &'a FragmentProgram) -> Self {
        Self {
            program,
            uniforms: &[],
            textures: &[],
            color_register: 0,
            second_register: None,
            depth_register: None,
            orientation: Orientation::UPRIGHT,
            tile: None,
            wants_words: false,
            wants_alpha: false,
            blending: None,
            tests: None,
            few: false,
        }
    }

    /// Calls `run` with the program compiled for the wide engine, in these directions.
    fn with_code<R>(&self, run: impl FnOnce(&wide::FragmentCode) -> R) -> R {
        let make = || wide::FragmentCode::new(self.program, self.orientation);
        self.program.wide.with(&self.orientation, make, run)
    }

    /// The register an output is taken from, zero where it is one of the pipeline's: what an instruction does not fill
    /// of these reads as zero, and writes to them are lost (\[?\]: no known program does either).
    fn output(register: usize) -> Option<usize> {
        let register = register & 15;
        (!pp::Register(register as u8).is_pipeline()).then_some(register)
    }

    /// The word of a colour, blended with the destination's: a byte a channel, red lowest.
    pub fn word(&self, color: [f32; 4], destination: u32) -> u32 {
        let Some(blending) = self.blending else {
            return u32::from_le_bytes(color.map(|channel| unorm(channel, 255.0) as u8));
        };
        let fails = |(how, reference)| !alpha_passes::<One>(how, reference, color[3]);
        if blending.alpha_test.is_some_and(fails) {
            return destination;
        }
        let have = destination.to_le_bytes().map(f32::from);
        let channels = blended::<One>(blending, color, [0.0; 4], have, 255.0);
        u32::from_le_bytes(channels.map(|channel| channel as u8))
    }
}

/// Four fragments: (x, y), (x+1, y), (x, y+1), (x+1, y+1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quad {
    /// Column of the first fragment, even.
    pub x: u32,
    /// Row of the first fragment, even.
    pub y: u32,
    /// Covered fragments, a bit each; the others are helpers, for derivatives.
    pub live: u8,
}

/// Quads of a batch at most: those of a tile.
pub const MAX_QUADS: usize = 64;

/// Fragments of a batch at most.
pub const MAX_FRAGMENTS: usize = 4 * MAX_QUADS;

/// Results of fragments, four for each quad of the batch.
pub struct Fragments {
    /// Red, green, blue, alpha.
    pub color: [[f32; MAX_FRAGMENTS]; 4],
    /// The second colour, if blending uses one.
    pub second: [[f32; MAX_FRAGMENTS]; 4],
    /// Depth from 0 to 1, when the program writes it.
    pub depth: [f32; MAX_FRAGMENTS],
    /// The tile's words at the fragments, which the caller fills in if words are blended.
    pub destination: [u32; MAX_FRAGMENTS],
    /// The colours as words ([`FragmentContext::word`]), if [`Fragments::has_words`] is set.
    pub words: [u32; MAX_FRAGMENTS],
    /// Colours were returned as words, and except for alphas only as words. The caller clears it before each call.
    pub has_words: bool,
    /// Fragments of each quad that were not discarded.
    pub live: [u8; MAX_QUADS],
    /// Depth and stencil for tests behind the program.
    pub samples: Samples,
    /// Instructions that fragments ran, helpers included; the engine adds to it.
    pub instructions: u64,
}

/// Depth and stencil of fragments that are tested behind their program, as integers.
pub struct Samples {
    /// The fragments' depths.
    pub depth: [f32; MAX_FRAGMENTS],
    /// The tile's depth and stencil.
    pub tile: [[f32; MAX_FRAGMENTS]; 2],
    /// The tile's depth and stencil after the tests.
    pub after: [[f32; MAX_FRAGMENTS]; 2],
    /// Not zero where a fragment is covered.
    pub arrived: [f32; MAX_FRAGMENTS],
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            depth: [0.0; MAX_FRAGMENTS],
            tile: [[0.0; MAX_FRAGMENTS]; 2],
            after: [[0.0; MAX_FRAGMENTS]; 2],
            arrived: [0.0; MAX_FRAGMENTS],
        }
    }
}

impl Default for Fragments {
    fn default() -> Self {
        Self {
            color: [[0.0; MAX_FRAGMENTS]; 4],
            second: [[0.0; MAX_FRAGMENTS]; 4],
            depth: [0.0; MAX_FRAGMENTS],
            destination: [0; MAX_FRAGMENTS],
            words: [0; MAX_FRAGMENTS],
            has_words: false,
            live: [0; MAX_QUADS],
            samples: Samples::default(),
            instructions: 0,
        }
    }
}

/// A channel as it is stored: clamped to 0 and 1, NaN as 0, to the nearest; `one` is what 1.0 becomes.
#[inline]
pub fn unorm(value: f32, one: f32) -> u16 {
    scaled::<One>(value, one) as u16
}

/// Fragments of one primitive in a tile.
#[derive(Clone, Copy, Debug)]
pub enum Quads<'a> {
    /// All of the tile whose first pixel this is, quad beside quad, row by row.
    Tile([u32; 2]),
    /// These quads.
    Some(&'a [Quad]),
}

impl Quads<'_> {
    /// How many quads.
    pub fn count(&self) -> usize {
        match self {
            Self::Tile(_) => MAX_QUADS,
            Self::Some(quads) => quads.len().min(MAX_QUADS),
        }
    }

    /// Which fragments of each quad are wanted.
    pub fn live(&self) -> [u8; MAX_QUADS] {
        match self {
            Self::Tile(_) => [15; MAX_QUADS],
            Self::Some(quads) => {
                let mut live = [0; MAX_QUADS];
                live.iter_mut().zip(*quads).for_each(|(live, quad)| *live = quad.live);
                live
            }
        }
    }
}

/// A fragment program compiled for one state, which shades all fragments of a primitive in a tile in one call.
pub trait FragmentKernel: Send + Sync {
    /// Instructions that each fragment runs at most.
    fn instruction_count(&self) -> u32;

    /// Whether fragments may run fewer, because the program branches.
    fn has_turns(&self) -> bool;

    /// Whether [`Engine::fragments`] may discard fragments that are left to it: none may be tested before they are shaded.
    fn may_discard(&self) -> bool;

    /// Whether it never leaves fragments to [`Engine::fragments`].
    fn is_infallible(&self) -> bool;

    /// Computes [`Fragments::words`] of fragments, in a context that wants them, in place of those they are blended with, and
    /// alphas if it wants those; nothing else of `out` changes. Returns the instructions that each fragment ran, or nothing where
    /// [`Engine::fragments`] has to run them: the words are invalid then.
    fn paint(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: Quads<'_>,
        out: &mut Fragments,
    ) -> Option<u32>;

    /// Computes words of all fragments of tiles beside each other, of which the first one's first pixel is `first`, in a context
    /// that wants them and no alphas, in place of those they are blended with. Returns the same as
    /// [`FragmentKernel::paint`]; where that is nothing, the words they are blended with are lost.
    fn shade_in_place(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        first: [u32; 2],
        tiles: &mut [[u32; MAX_FRAGMENTS]],
    ) -> Option<u32>;
}

/// An implementation of program execution.
pub trait Engine: Send + Sync {
    /// Its name, as on the command line.
    fn name(&self) -> &'static str;

    /// The silicon switches, also of a GPU around the engine.
    fn silicon(&self) -> Silicon {
        Silicon::default()
    }

    /// Runs vertices.
    ///
    /// # Errors
    /// A fault with the instruction's number; outputs are then unspecified.
    fn vertices(&self, batch: &mut VertexBatch<'_>) -> Result<()>;

    /// Runs at most [`MAX_QUADS`] quads of one primitive.
    ///
    /// # Errors
    /// A fault with the instruction's word; results are then unspecified.
    fn fragments(
        &self,
        context: &FragmentContext<'_>,
        inputs: &Inputs,
        quads: &[Quad],
        out: &mut Fragments,
    ) -> Result<()>;

    /// A kernel that computes words of fragments in one call, for a context that wants them; `flat`: of primitives with one w.
    /// Nothing where there is none and [`Engine::fragments`] runs all.
    fn kernel(&self, _context: &FragmentContext<'_>, _flat: bool) -> Option<Arc<dyn FragmentKernel>> {
        None
    }

    /// A kernel for fragments of many primitives, where [`Engine::kernel`] has one for
    /// one and batching is faster.
    fn batcher(&self, _context: &FragmentContext<'_>, _flat: bool) -> Option<Arc<dyn QuadBatcher>> {
        None
    }

    /// Whether a GPU around it may take fast paths ([`configured::without_fast_paths`]).
    fn fast_paths(&self) -> bool {
        true
    }

    /// The pixel that is observed: [`Engine::painted`] reports it.
    fn observed_pixel(&self) -> Option<(u32, u32)> {
        None
    }

    /// Statistics of the engine's work so far, as text.
    fn report(&self) -> Option<String> {
        None
    }

    /// Reports that a fragment of the observed pixel was drawn: the tile's colour before and after, and the fragment's unless it
    /// was discarded.
    fn painted(&self, _before: [f32; 4], _color: Option<[f32; 4]>, _after: [f32; 4]) {}
}
