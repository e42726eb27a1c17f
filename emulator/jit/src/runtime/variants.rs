//! A graph as machine code, in a variant for each kind of call: few lanes or many, all or some, whole tiles.

use super::code::Code;
use crate::analysis::schedule::Schedule;
use crate::call::{Bailout, Call, Mode, Which};
use crate::codegen::emit::{Copies, emit};
use crate::graph::{Effect, Graph, Kind, Node};
use crate::isa::Isa;
use num::rows::LANES;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A compiled graph. Code for all lanes of rows is there from the beginning; variants for other calls are compiled when they are
/// first needed.
#[derive(Debug)]
pub struct Variants {
    graph: Graph,
    isa: Isa,
    /// Code reads the words' destination.
    blends: bool,
    whole: Code,
    few: OnceLock<Option<Code>>,
    masked: [OnceLock<Option<Code>>; 2],
    /// For whole tiles.
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
    /// Compiles a graph; nothing where the processor lacks the instruction set, there is no memory for code, or the graph needs
    /// more stack than code may use.
    ///
    /// # Panics
    /// When the graph was made for another instruction set.
    pub fn new(graph: Graph, isa: Isa) -> Option<Self> {
        let whole = Code::new(emit(&graph, Mode::exact(isa, Which::All), Copies::Best)?)?;
        Some(Self {
            blends: graph.nodes.contains(&Node::Destination),
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
        let make = || emit(&self.graph, Mode::exact(self.isa, which), copies).and_then(Code::new);
        form.get_or_init(make).as_ref()
    }

    /// The code for whole tiles; nothing where more than words and one row, of alphas, is wanted of it.
    fn tile(&self) -> Option<&Code> {
        let stores = |effect: &&Effect| matches!(effect, Effect::Store(..) | Effect::StoreAll(..));
        let make = || {
            if self.graph.effects.iter().filter(stores).count() > 1 || !self.graph.takes_tiles() {
                return None;
            }
            emit(&self.graph, Mode::exact(self.isa, Which::Tile), Copies::Best).and_then(Code::new)
        };
        self.tile.get_or_init(make).as_ref()
    }

    /// The code for whole tiles with speculative roundings, where there is one and it is worth another try. The call may have to
    /// be run again, so code that blends has none.
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
            emit(graph, Mode::speculative(*isa, Which::Tile), Copies::Best).and_then(Code::new)
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

    /// Bytes of the code for all lanes.
    pub fn size(&self) -> usize {
        self.whole.size()
    }

    /// For each texture whether the code reads it; none behind the last that it reads.
    pub fn textures(&self) -> &[bool] {
        &self.graph.textures
    }

    /// Whether the code reads [`Call::words`] before it writes them.
    pub fn blends(&self) -> bool {
        self.blends
    }

    /// Whether the code has guards, so that [`Variants::run`] may fail.
    pub fn has_guards(&self) -> bool {
        self.graph
            .effects
            .iter()
            .any(|effect| matches!(effect, Effect::Guard(_)))
    }

    /// Whether calls may have the lanes of whole tiles.
    pub fn takes_tiles(&self) -> bool {
        self.tile().is_some()
    }

    /// Runs the code. False where a guard failed, or there is no code for such a call: what was written is invalid then.
    ///
    /// # Panics
    /// When the call has less than the code needs: rows, inputs, texels of a texture that is read, words; or more lanes than
    /// [`TILES`](crate::TILES) tiles have.
    pub fn run(&self, mut call: Call<'_>) -> bool {
        let Some(code) = self.code(call.lanes, call.mask.is_some()) else {
            return false;
        };
        if call.lanes > LANES
            && let Some(speculative) = self.speculative()
        {
            let left = speculative.run(&mut call);
            let is_right = left != Bailout::Roundings;
            self.speculation.backoff.note(is_right);
            if is_right {
                return left == Bailout::Nothing;
            }
        }
        code.run(&mut call) == Bailout::Nothing
    }
}
