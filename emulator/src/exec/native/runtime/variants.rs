//! A graph as machine code, in a form for each occasion: few lanes or many, all or some, whole tiles.

use crate::exec::FragmentContext;
use crate::exec::inputs::Inputs;
use crate::exec::lanes::{LANES, Mask};
use crate::exec::native::analysis::schedule::Schedule;
use crate::exec::native::call::{Bailout, Call, MAX_TEXTURES, Rounding, Which};
use crate::exec::native::codegen::emit::{Copies, emit, emit_rounding};
use crate::exec::native::isa::Isa;
use crate::exec::native::runtime::code::Code;
use crate::exec::native::trace::graph::{Effect, Graph, Kind, Node};
use crate::exec::wide::alu::Machine;
use crate::exec::wide::region::{RegionCode, Work};
use std::borrow::Cow;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, OnceLock};

/// Code for the occasions there are.
#[derive(Debug)]
pub(crate) struct Variants {
    graph: Graph,
    isa: Isa,
    /// Code reads the words' destination.
    blends: bool,
    /// Code leaves nothing to others.
    is_infallible: bool,
    whole: Code,
    few: OnceLock<Option<Code>>,
    masked: [OnceLock<Option<Code>>; 2],
    /// That for whole tiles, and the same with speculative roundings.
    tile: OnceLock<Option<Code>>,
    speculation: Speculation,
}

/// Code with speculative roundings, and how that went.
#[derive(Debug, Default)]
struct Speculation {
    code: OnceLock<Option<Code>>,
    backoff: SpeculationBackoff,
}

/// Disables speculation after too many calls that were run again. The success path writes nothing, so no cache line is contended.
#[derive(Debug, Default)]
pub(crate) struct SpeculationBackoff {
    debt: AtomicU32,
}

/// Calls that succeed for each that is run again: that costs about what exact code does, and one that succeeds saves a tenth of it.
const MISS: u32 = 32;

/// Debt that ends speculation.
const TOO_MUCH: u32 = 5 * MISS;

impl SpeculationBackoff {
    fn allows(&self) -> bool {
        self.debt.load(Relaxed) < TOO_MUCH
    }

    fn note(&self, is_right: bool) {
        let paid = |debt: u32| debt.checked_sub(1).filter(|_| debt < TOO_MUCH);
        match is_right {
            true if self.debt.load(Relaxed) == 0 => {}
            // What ended speculation is not paid back.
            true => drop(self.debt.fetch_update(Relaxed, Relaxed, paid)),
            false => drop(self.debt.fetch_add(MISS, Relaxed)),
        }
        #[cfg(test)]
        OUTCOMES[usize::from(is_right)].fetch_add(1, Relaxed);
    }
}

/// How often speculative code had to be run again, and how often it did not.
#[cfg(test)]
pub(crate) static OUTCOMES: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

/// Roundings from which on speculation is worth while; with 512 bits as many more for each gather, beside which the units that
/// round have time.
const WORTH_SPECULATING: usize = 4;

impl Variants {
    /// Makes code of a graph; nothing where there can be none.
    pub(crate) fn new(graph: Graph, isa: Isa) -> Option<Self> {
        let whole = Code::new(emit(&graph, isa, Which::All, Copies::Best)?)?;
        Some(Self {
            blends: graph.nodes.contains(&Node::Destination),
            is_infallible: graph.textures.is_empty()
                && !graph.effects.iter().any(|effect| matches!(effect, Effect::Guard(_))),
            graph,
            isa,
            whole,
            few: OnceLock::new(),
            masked: [OnceLock::new(), OnceLock::new()],
            tile: OnceLock::new(),
            speculation: Speculation::default(),
        })
    }

    fn form(&self, few: bool, masked: bool) -> Option<&Code> {
        let copies = if few { Copies::One } else { Copies::Best };
        let form = match (few, masked) {
            (false, false) => return Some(&self.whole),
            (true, false) => &self.few,
            (few, true) => &self.masked[usize::from(few)],
        };
        let which = if masked { Which::Masked } else { Which::All };
        let make = || emit(&self.graph, self.isa, which, copies).and_then(Code::new);
        form.get_or_init(make).as_ref()
    }

    /// The code for whole tiles; nothing where more than words and one row, of alphas, is wanted of it.
    fn tile(&self) -> Option<&Code> {
        let stores = |effect: &&Effect| matches!(effect, Effect::Store(..) | Effect::StoreAll(..));
        let make = || {
            if self.graph.effects.iter().filter(stores).count() > 1 || !self.graph.takes_tiles() {
                return None;
            }
            emit(&self.graph, self.isa, Which::Tile, Copies::Best).and_then(Code::new)
        };
        self.tile.get_or_init(make).as_ref()
    }

    /// The code for whole tiles with speculative roundings, where there is one and it is worth another try. What it leaves to
    /// others must be as it was, so it blends with nothing.
    fn speculative(&self) -> Option<&Code> {
        let Self { graph, isa, .. } = self;
        let make = || {
            if !isa.speculates() || self.blends {
                return None;
            }
            let schedule = Schedule::new(graph);
            let gathers = match isa.evex() {
                true => schedule.count(graph, |kind| matches!(kind, Kind::Gather(_))),
                false => 0,
            };
            if schedule.count(graph, |kind| kind == Kind::RoundHalf) < WORTH_SPECULATING * (1 + gathers) {
                return None;
            }
            emit_rounding(graph, *isa, Which::Tile, Copies::Best, Rounding::Speculative).and_then(Code::new)
        };
        let Speculation { code, backoff } = &self.speculation;
        backoff.allows().then(|| code.get_or_init(make).as_ref())?
    }

    /// The code for this number of lanes, all or some of them live.
    fn code(&self, lanes: usize, masked: bool) -> Option<&Code> {
        if lanes > LANES {
            return self.tile();
        }
        self.form(!lanes.is_multiple_of(self.whole.lanes()), masked)
    }

    /// Finds the texels of the textures that code looks into; false if they have not been looked up yet.
    fn textures<'a>(&self, context: &FragmentContext<'a>, into: &mut [(f32, &'a [u32])]) -> bool {
        let used = self.graph.textures.iter().zip(into).enumerate();
        used.filter(|(_, (used, _))| **used).all(|(number, (_, into))| {
            let texture = context.textures.get(number);
            let Some((largest, texels)) = texture.and_then(|texture| texture.texels_ready()) else {
                return false;
            };
            *into = (largest as f32, texels);
            true
        })
    }

    /// Bytes of the code for all lanes.
    pub(crate) fn size(&self) -> usize {
        self.whole.size()
    }

    /// Runs it for vertices: without a primitive, textures and words.
    pub(crate) fn run_vertices(&self, machine: &mut Machine<'_>, mask: Option<Mask>) -> bool {
        let Some(code) = self.code(machine.lanes, mask.is_some()) else {
            return false;
        };
        code.run(Call {
            uniforms: &padded(machine.uniforms, code),
            rows: machine.rows,
            lanes: machine.lanes,
            inputs: &NO_INPUTS,
            mask: mask.as_ref(),
            textures: &[],
            words: &mut [],
        })
    }
}

/// What vertices have no use for, nor code whose planes are computed before.
pub(crate) static NO_INPUTS: LazyLock<Inputs> = LazyLock::new(Inputs::default);

/// As many uniforms as code reads; what is not there is zero, as the last one is where code may read any.
fn padded<'a>(uniforms: &'a [f32], code: &Code) -> Cow<'a, [f32]> {
    let (needed, any) = code.uniforms();
    let wanted = if any { needed.max(uniforms.len() + 1) } else { needed };
    if uniforms.len() >= wanted {
        return Cow::Borrowed(uniforms);
    }
    let mut all = uniforms.to_vec();
    all.resize(wanted, 0.0);
    Cow::Owned(all)
}

impl RegionCode for Variants {
    fn run(&self, work: Work<'_, '_>) -> bool {
        let lanes = work.machine.lanes;
        let Some(code) = self.code(lanes, work.mask.is_some()) else {
            return false;
        };
        let mut textures: [(f32, &[u32]); MAX_TEXTURES];
        let mut used = &[][..];
        if !self.graph.textures.is_empty() {
            textures = [(0.0, &[]); MAX_TEXTURES];
            let of_code = &mut textures[..self.graph.textures.len()];
            if !self.textures(work.context, of_code) {
                return false;
            }
            used = of_code;
        }
        // The destination stays as it is, in case the code bails out.
        if let Some(destination) = work.destination.filter(|_| self.blends) {
            copy_some(&mut work.words[..lanes], &destination[..lanes], work.mask);
        }
        let Work { machine, words, .. } = work;
        let mut attempt = |code: &Code| {
            code.attempt(Call {
                uniforms: &padded(machine.uniforms, code),
                rows: machine.rows,
                lanes,
                inputs: work.inputs,
                mask: work.mask.as_ref(),
                textures: used,
                words,
            })
        };
        if lanes > LANES
            && let Some(speculative) = self.speculative()
        {
            let left = attempt(speculative);
            let is_right = left != Bailout::Roundings;
            self.speculation.backoff.note(is_right);
            if is_right {
                return left == Bailout::Nothing;
            }
        }
        attempt(code) == Bailout::Nothing
    }

    fn is_infallible(&self) -> bool {
        self.is_infallible
    }

    fn takes_tiles(&self) -> bool {
        self.tile().is_some()
    }
}

/// Copies the words of a mask's lanes, or all.
fn copy_some(to: &mut [u32], from: &[u32], mask: Option<Mask>) {
    let Some(mask) = mask else {
        return to.copy_from_slice(from);
    };
    let lanes = to.chunks_mut(8).zip(from.chunks(8));
    for ((to, from), mask) in lanes.zip(mask.to_le_bytes()) {
        match mask {
            0 => {}
            0xff => to.copy_from_slice(from),
            _ => {
                let pairs = to.iter_mut().zip(from).enumerate();
                pairs
                    .filter(|(lane, _)| mask >> lane & 1 == 1)
                    .for_each(|(_, (to, from))| *to = *from);
            }
        }
    }
}
