//! A graph as machine code, in a form for each occasion: few lanes or many, all or some, whole tiles.

use super::call::{Call, Hope, Left, MAX_TEXTURES, Rounding, TILE_ROWS, Which};
use super::code::Code;
use super::emit::{Copies, emit, emit_rounding};
use super::graph::{Effect, Graph, Kind, Node};
use super::isa::Isa;
use super::order::Order;
use super::ranges::Ranges;
use crate::exec::FragmentContext;
use crate::exec::inputs::{Inputs, Plane};
use crate::exec::lanes::{LANES, Mask, Row};
use crate::exec::wide::alu::Machine;
use crate::exec::wide::fragment_code::Input;
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
    /// Those for whole tiles, and over which all planes are from 0 to 1.
    tiles: [Tiles; 2],
    /// It matters whether planes are that.
    asks_planes: OnceLock<bool>,
}

/// Code for whole tiles, and with hopeful roundings, by what is hoped for.
#[derive(Debug, Default)]
struct Tiles {
    exact: OnceLock<Option<Code>>,
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

/// How much more often something was tried in vain than is worth it. While all goes well nobody writes there: it would go back
/// and forth between threads with every try.
#[derive(Debug, Default)]
pub(super) struct Luck {
    debt: AtomicU32,
}

/// Tries that went well for each that was in vain: that costs about what the other way does, and one that went well saves a tenth
/// of it.
const IN_VAIN: u32 = 32;

/// Debt that ends all tries.
const TOO_MUCH: u32 = 5 * IN_VAIN;

impl Luck {
    /// Whether it is worth another try.
    fn holds(&self) -> bool {
        self.debt.load(Relaxed) < TOO_MUCH
    }

    fn note(&self, is_right: bool) {
        let paid = |debt: u32| debt.checked_sub(1).filter(|_| debt < TOO_MUCH);
        match is_right {
            true if self.debt.load(Relaxed) == 0 => {}
            // Nothing is paid of what ended the tries.
            true => drop(self.debt.fetch_update(Relaxed, Relaxed, paid)),
            false => drop(self.debt.fetch_add(IN_VAIN, Relaxed)),
        }
        #[cfg(test)]
        OUTCOMES[usize::from(is_right)].fetch_add(1, Relaxed);
    }
}

/// How often hopes of any code were in vain, and how often they were not.
#[cfg(test)]
pub(super) static OUTCOMES: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

/// Roundings for which it is worth to ask the processor whether they were right; with 512 bits as many more for each time words
/// are gathered, for the units that round have time beside that (Zen 4).
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
            tiles: Default::default(),
            asks_planes: OnceLock::new(),
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

    /// The code for whole tiles; nothing where more than words and one row, of alphas, is wanted of it. `units`: all planes are
    /// from 0 to 1.
    fn tile(&self, units: bool) -> Option<&Code> {
        let stores = |effect: &&Effect| matches!(effect, Effect::Store(..) | Effect::StoreAll(..));
        let make = || {
            if self.graph.effects.iter().filter(stores).count() > 1 || !self.graph.takes_tiles() {
                return None;
            }
            emit(&self.graph, self.isa, Which::Tile { units }, Copies::Best).and_then(Code::new)
        };
        self.tiles[usize::from(units)].exact.get_or_init(make).as_ref()
    }

    /// The code for whole tiles with hopeful roundings, where there is one and it is worth another try. What it leaves to
    /// others must be as it was, so it blends with nothing.
    fn hopeful(&self, units: bool) -> Option<(&Code, &Luck)> {
        let all = &self.tiles[usize::from(units)].hopeful;
        let number = all.iter().position(|hopeful| hopeful.luck.holds())?;
        let Hopeful { code, luck } = &all[number];
        let make = || self.hoping(units, HOPES[number], number.checked_sub(1).map(|number| HOPES[number]));
        code.get_or_init(make).as_ref().map(|code| (code, luck))
    }

    /// Whether there may be such code that is worth a try.
    fn may_hope(&self) -> bool {
        let Self { graph, isa, .. } = self;
        if !isa.hopes() || self.blends {
            return false;
        }
        let order = Order::new(graph);
        let gathers = match isa.evex() {
            true => order.count(graph, |kind| matches!(kind, Kind::Gather(_))),
            false => 0,
        };
        order.count(graph, |kind| kind == Kind::RoundHalf) >= WORTH_HOPING * (1 + gathers)
    }

    /// Code with such roundings, unless it is the same as with others.
    fn hoping(&self, units: bool, hope: Hope, before: Option<Hope>) -> Option<Code> {
        let Self { graph, isa, .. } = self;
        if !self.may_hope() {
            return None;
        }
        let which = Which::Tile { units };
        let ranges = |hope| Ranges::new(graph, which, Rounding::Hopeful(hope));
        if before.is_some_and(|before| !ranges(before).matters(&ranges(hope), graph)) {
            return None;
        }
        let emitted = emit_rounding(graph, *isa, which, Copies::Best, Rounding::Hopeful(hope));
        emitted.and_then(Code::new)
    }

    /// Whether all planes are from 0 to 1 over whole tiles, as far as that matters.
    fn has_units(&self, inputs: &Inputs, rows: &[Row], lanes: usize) -> bool {
        let asks = || {
            let hopes = [Rounding::Hopeful(Hope::SmallFromZero)]
                .into_iter()
                .filter(|_| self.may_hope());
            let is_other = |rounding| {
                let [units, any] = [true, false].map(|units| Ranges::new(&self.graph, Which::Tile { units }, rounding));
                units.matters(&any, &self.graph)
            };
            self.graph.takes_tiles() && hopes.chain([Rounding::Exact]).any(is_other)
        };
        *self.asks_planes.get_or_init(asks)
            && corners(rows, lanes).is_some_and(|corners| {
                let mut planes = self.graph.planes.iter().map(|(_, what)| plane(inputs, *what));
                planes.all(|plane| plane.is_some_and(|plane| is_unit(plane, &corners)))
            })
    }

    /// The code for so many lanes, all or some of them; of whole tiles' all planes may be from 0 to 1.
    fn code(&self, lanes: usize, masked: bool, units: bool) -> Option<&Code> {
        if lanes > LANES {
            return self.tile(units);
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
        let Some(code) = self.code(machine.lanes, mask.is_some(), false) else {
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

/// Columns and rows of the corners of whole tiles beside each other.
fn corners(rows: &[Row], lanes: usize) -> Option<[[f32; 4]; 2]> {
    let last = (lanes / LANES).checked_sub(1)?;
    let ends = |rows: &[Row]| Some([*rows.first()?.first()?, *rows.get(last)?.last()?]);
    let ([left, right], [top, bottom]) = (ends(rows)?, ends(rows.get(TILE_ROWS..)?)?);
    Some([[left, right, left, right], [top, top, bottom, bottom]])
}

/// Whether a plane is from 0 to 1 between corners. Its values there are between those at the corners, for so are roundings.
#[inline]
fn is_unit(plane: &Plane, [columns, rows]: &[[f32; 4]; 2]) -> bool {
    let values: [f32; 4] = std::array::from_fn(|corner| plane.at(columns[corner], rows[corner]));
    values
        .iter()
        .fold(true, |all, value| all & (*value >= 0.0) & (*value <= 1.0))
}

/// The plane of what is linear over the picture.
fn plane(inputs: &Inputs, what: Input) -> Option<&Plane> {
    match what {
        Input::Varying(at) => inputs.varyings.as_flattened().get(usize::from(at)),
        Input::Point(axis) => inputs.point.get(usize::from(axis)),
        Input::Z => Some(&inputs.z),
        Input::W | Input::Front => None,
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
        let units = lanes > LANES && self.has_units(work.inputs, work.machine.rows, lanes);
        let Some(code) = self.code(lanes, work.mask.is_some(), units) else {
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
            && let Some((hopeful, luck)) = self.hopeful(units)
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
        self.tile(false).is_some()
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
