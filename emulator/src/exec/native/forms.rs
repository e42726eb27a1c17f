//! A graph as machine code, in a form for each occasion: few lanes or many, all or some, whole tiles.

use super::call::{Call, Hope, Left, MAX_TEXTURES, Rounding, Which};
use super::code::Code;
use super::emit::{Copies, emit, emit_rounding};
use super::graph::{Effect, Graph, Node};
use super::hopes::looks;
use super::isa::Isa;
use crate::exec::FragmentContext;
use crate::exec::inputs::Inputs;
use crate::exec::lanes::{LANES, Mask};
use crate::exec::wide::alu::Machine;
use crate::exec::wide::stretch::{Stretch, Work};
use std::borrow::Cow;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, OnceLock};

/// Code for the occasions there are.
#[derive(Debug)]
pub struct Forms {
    graph: Graph,
    isa: Isa,
    /// Code reads the words' destination.
    blends: bool,
    /// Code leaves nothing to others.
    is_sure: bool,
    whole: Code,
    few: OnceLock<Option<Code>>,
    masked: [OnceLock<Option<Code>>; 2],
    tile: OnceLock<Option<Code>>,
    /// The same for whole tiles with hopeful roundings, by what is hoped for.
    hopeful: [Hopeful; HOPES.len()],
}

/// Code with hopeful roundings, and how that went.
#[derive(Debug, Default)]
struct Hopeful {
    code: OnceLock<Option<Code>>,
    luck: Luck,
}

/// What is hoped for, in turn, while it goes well.
pub(super) const HOPES: [Hope; 3] = [Hope::SmallFromZero, Hope::Small, Hope::Any];

/// How often something was tried, and how often in vain.
#[derive(Debug, Default)]
pub(super) struct Luck {
    tried: AtomicU32,
    failed: AtomicU32,
}

impl Luck {
    /// Whether it is worth another try: one in vain costs about what the other way does, one that is not saves a tenth of that.
    fn holds(&self) -> bool {
        self.failed.load(Relaxed) <= 4 + self.tried.load(Relaxed) / 32
    }

    fn note(&self, is_right: bool) {
        self.tried.fetch_add(1, Relaxed);
        self.failed.fetch_add(u32::from(!is_right), Relaxed);
        #[cfg(test)]
        OUTCOMES[usize::from(is_right)].fetch_add(1, Relaxed);
    }
}

/// How often hopes of any code were in vain, and how often they were not.
#[cfg(test)]
pub(super) static OUTCOMES: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

/// Roundings for which it is worth to ask the processor whether they were right.
const WORTH_HOPING: usize = 4;

impl Forms {
    /// Makes code of a graph; nothing where there can be none.
    pub(super) fn new(graph: Graph, isa: Isa) -> Option<Self> {
        let whole = Code::new(emit(&graph, isa, Which::All, Copies::Best)?)?;
        Some(Self {
            blends: graph.nodes.contains(&Node::Destination),
            is_sure: graph.textures.is_empty()
                && !graph.effects.iter().any(|effect| matches!(effect, Effect::Require(_))),
            graph,
            isa,
            whole,
            few: OnceLock::new(),
            masked: [OnceLock::new(), OnceLock::new()],
            tile: OnceLock::new(),
            hopeful: Default::default(),
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

    /// The code for whole tiles with hopeful roundings that is worth another try, if any is. What it leaves to others must be as
    /// it was, so it blends with nothing.
    fn hopeful(&self) -> Option<(&Code, &Luck)> {
        let number = self.hopeful.iter().position(|hopeful| hopeful.luck.holds())?;
        let Hopeful { code, luck } = &self.hopeful[number];
        let code = code.get_or_init(|| self.hoping(HOPES[number], number.checked_sub(1).map(|number| HOPES[number])));
        code.as_ref().map(|code| (code, luck))
    }

    /// Code with such roundings, unless it is the same as with others.
    fn hoping(&self, hope: Hope, before: Option<Hope>) -> Option<Code> {
        let Self { graph, isa, .. } = self;
        if !isa.hopes() || self.blends || graph.roundings() < WORTH_HOPING {
            return None;
        }
        if before.is_some_and(|before| looks(graph, before) == looks(graph, hope)) {
            return None;
        }
        let emitted = emit_rounding(graph, *isa, Which::Tile, Copies::Best, Rounding::Hopeful(hope));
        emitted.and_then(Code::new)
    }

    /// The code for so many lanes, all or some of them.
    fn code(&self, lanes: usize, masked: bool) -> Option<&Code> {
        if lanes > LANES {
            return self.tile();
        }
        self.form(!lanes.is_multiple_of(self.whole.lanes()), masked)
    }

    /// Finds the texels of the textures that code looks into; false where nobody looked at them yet.
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
    pub(super) fn size(&self) -> usize {
        self.whole.size()
    }

    /// Runs it for vertices: without a primitive, textures and words.
    pub(super) fn run_vertices(&self, machine: &mut Machine<'_>, mask: Option<Mask>) -> bool {
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
pub(super) static NO_INPUTS: LazyLock<Inputs> = LazyLock::new(Inputs::default);

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

impl Stretch for Forms {
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
        // What is blended with stays as it is, for whoever takes over.
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
            && let Some((hopeful, luck)) = self.hopeful()
        {
            let left = attempt(hopeful);
            let is_right = left != Left::Roundings;
            luck.note(is_right);
            if is_right {
                return left == Left::Nothing;
            }
        }
        attempt(code) == Left::Nothing
    }

    fn is_sure(&self) -> bool {
        self.is_sure
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
