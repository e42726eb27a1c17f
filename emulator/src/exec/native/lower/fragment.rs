//! A program cut into regions that run from their first instruction to their last: as machine code, but for the few
//! operations that are left to the wide engine in between.

use crate::exec::FragmentContext;
use crate::exec::inputs::Inputs;
use crate::exec::native::formulas;
use crate::exec::native::key::{Key, PLACES, SAMPLES};
use crate::exec::native::lower::paths::Paths;
use crate::exec::wide::alu::{Alu, AluOp, CONSTANT_ROWS, Source, plane_at};
use crate::exec::wide::fragment_code::{Condition, FragmentCode, Input, Interpolate, Next, Op, row};
use crate::exec::wide::region::{Piece, Region, Regions};
use crate::texture::levels::{Levels, Wanted};
use jit::graph::{Effect, Graph, Kind, Node, RowTypes, Value};
use jit::tracer::{self, Tracer};
use jit::{Isa, MAX_TEXTURES, Variants};
use num::lanes::Lanes;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::sync::Arc;
use utgard::pp::{self, LevelOfDetail, Load, LoadSource, Sampler};

/// A program and the state that it is compiled for.
#[derive(Clone, Copy)]
pub struct ProgramState<'a> {
    /// The program.
    pub code: &'a FragmentCode,
    /// The draw.
    pub context: &'a FragmentContext<'a>,
    /// What the code depends on beside the program.
    pub key: &'a Key,
    /// The instruction set.
    pub isa: Isa,
}

/// A program as machine code.
#[derive(Debug)]
pub struct Program {
    /// Its regions.
    pub regions: Regions,
    /// Operations that are left to the wide engine.
    pub left: Vec<&'static str>,
    /// Bytes of all code that was made at once.
    pub size: usize,
    /// Rows it works on.
    pub rows: usize,
    /// It reads the columns and rows of pixels.
    pub reads_pixels: bool,
    /// Planes whose values are in the last rows, where fragments of many primitives are batched.
    pub batched: Vec<Input>,
    /// One piece is all of it, from the fragments' places to words.
    is_straight: bool,
    /// Ways through a program that branches, each of which may be one piece.
    pub(crate) paths: Option<Paths<Arc<Program>>>,
}

impl Program {
    /// The region that is all of the program, if one is: of one piece, from the places of fragments to words.
    pub fn straight(&self) -> Option<&Region> {
        let first = self.regions.regions.first()?.as_ref();
        first.filter(|_| self.is_straight)
    }

    /// Compiles a program for a state; nothing where there can be no code.
    pub fn new(state: ProgramState<'_>) -> Option<Self> {
        let ProgramState { code, key, .. } = state;
        // Lanes that end in a branch that other lanes take never reach the end of a region.
        let parts_ways = |next: &Next| matches!(next, Next::Branch(_, _, None));
        let words = key.words && !code.steps.iter().any(|step| parts_ways(&step.next));
        Self::made(state, words)
    }

    /// The same with words, as far as all fragments can have them, or without.
    fn made(state: ProgramState<'_>, words: bool) -> Option<Self> {
        let ProgramState { code, key, .. } = state;
        let branches = code.steps.iter().any(|step| matches!(step.next, Next::Branch(..)));
        let ends = !code
            .steps
            .iter()
            .any(|step| matches!(step.next, Next::Discard | Next::Fault(_)));
        let mut program = Self {
            regions: Regions {
                regions: Vec::new(),
                words,
            },
            left: Vec::new(),
            size: 0,
            rows: code.rows + CONSTANT_ROWS,
            reads_pixels: code.places,
            batched: Vec::new(),
            is_straight: words && !branches && ends,
            paths: None,
        };
        let leaders = leaders(code);
        if leaders.iter().filter(|leader| **leader).count() > MAX_REGIONS {
            return None;
        }
        program.regions.regions.resize_with(code.steps.len(), || None);
        for first in (0..code.steps.len()).filter(|step| leaders[*step]) {
            let mut builder = Builder::new(state, branches, words, &mut program.left, &mut program.batched);
            if first == 0 {
                builder.begin();
            }
            let (last, steps) = builder.region(first, &leaders)?;
            if words && branches && !builder.some && matches!(code.steps[last].next, Next::End) {
                // Where fragments that end apart from others are the wide engine's, all colours are.
                return Self::made(state, false);
            }
            program.size += builder.size;
            program.is_straight &= first == 0 && builder.of_places && builder.pieces.len() == 1;
            let region = Region {
                some: builder.some,
                pieces: builder.pieces,
                last,
                steps,
            };
            program.regions.regions[first] = Some(region);
        }
        program.rows += program.batched.len();
        // What leaves something is of several pieces.
        let is_one = |region: &Region| matches!(region.pieces[..], [] | [Piece::Code(_)]);
        let is_whole = program.regions.regions.iter().flatten().all(is_one);
        if branches && key.words && !key.batched && is_whole {
            program.paths = Paths::of(code);
        }
        Some(program)
    }

    /// Makes code of one way through a program, for fragments that all go it: at each branch it is taken or not. Nothing
    /// where something of it is not machine code.
    pub(crate) fn along(state: ProgramState<'_>, turns: &[bool]) -> Option<Self> {
        let (mut left, mut batched) = (Vec::new(), Vec::new());
        let mut builder = Builder::new(state, false, true, &mut left, &mut batched);
        builder.begin();
        let (last, steps) = builder.along(turns)?;
        let region = Region {
            some: builder.some,
            pieces: builder.pieces,
            last,
            steps,
        };
        Some(Self {
            is_straight: builder.of_places && region.pieces.len() == 1,
            size: builder.size,
            regions: Regions {
                regions: vec![Some(region)],
                words: true,
            },
            left,
            rows: state.code.rows + CONSTANT_ROWS,
            reads_pixels: state.code.places,
            batched,
            paths: None,
        })
    }
}

/// Regions of a program at most, and instructions of a region: generating code must take
/// bounded time for any program.
const MAX_REGIONS: usize = 256;
const MAX_LENGTH: usize = 96;

/// Instructions that something else than the one in front of them leads to, and some more in what is very long.
fn leaders(code: &FragmentCode) -> Vec<bool> {
    let mut leaders = vec![false; code.steps.len()];
    let mut lead = |step: usize| {
        if let Some(leader) = leaders.get_mut(step) {
            *leader = true;
        }
    };
    (0..code.steps.len()).step_by(MAX_LENGTH).for_each(&mut lead);
    for (at, step) in code.steps.iter().enumerate() {
        if let Next::Branch(_, target, on) = &step.next {
            lead(*target);
            on.iter().for_each(|on| lead(*on));
        }
        // In the order of memory most go on to the one behind; the few that do not begin a region.
        if let Next::On(next) = step.next
            && next != at + 1
        {
            lead(next);
        }
    }
    leaders
}

/// What rows hold, and whether memory has it.
type Rows = BTreeMap<u16, (Value, bool)>;

/// What a row holds, from now on, too.
fn held(rows: &mut Rows, graph: &mut Graph, row: u16) -> Value {
    rows.entry(row).or_insert_with(|| (graph.node(Node::Row(row)), true)).0
}

/// Makes the pieces of a region.
struct Builder<'a> {
    code: &'a FragmentCode,
    context: &'a FragmentContext<'a>,
    key: &'a Key,
    isa: Isa,
    /// The program has branches.
    branches: bool,
    words: bool,
    graph: Graph,
    rows: Rows,
    pieces: Vec<Piece>,
    some: bool,
    /// Bytes of code made.
    size: usize,
    /// Code reads no rows but those of places.
    of_places: bool,
    left: &'a mut Vec<&'static str>,
    batched: &'a mut Vec<Input>,
}

/// A graph with nothing in it.
fn empty(code: &FragmentCode, key: &Key, isa: Isa) -> Graph {
    // Registers, a bias of one and temporaries are halves; results of units are not, nor are planes that were computed
    // before.
    let behind = match key.batched {
        true => first_batched(code),
        false => u16::MAX,
    };
    let rows = RowTypes {
        halves: [0..row::TEXTURE - 8, row::EARLY_BIAS..behind],
        places: (!key.batched).then_some(PLACES),
    };
    Graph::new(isa, rows)
}

/// The first row of planes that are computed before.
fn first_batched(code: &FragmentCode) -> u16 {
    (code.rows + CONSTANT_ROWS) as u16
}

/// Byte of a plane among the inputs.
fn offset_of_plane(what: Input) -> usize {
    match what {
        Input::Varying(at) => formulas::varying(at),
        Input::Point(axis) => formulas::point(axis),
        Input::Z => offset_of!(Inputs, z),
        Input::W | Input::Front => offset_of!(Inputs, inverse_w),
    }
}

/// Whether the branch of an instruction compares a row.
fn is_compared(next: &Next, at: u16) -> bool {
    let Next::Branch(condition, ..) = next else {
        return false;
    };
    condition.operands.iter().any(|operand| operand.from == Source::Row(at))
}

/// Rows that only the instruction that writes them reads.
fn of_instruction(at: u16) -> bool {
    (FIRST_OF_INSTRUCTION..row::X).contains(&at)
}

/// The first row behind the registers.
const FIRST_OF_INSTRUCTION: u16 = 48;

impl<'a> Builder<'a> {
    /// Nothing is noted yet, of a program that may have branches and words.
    fn new(
        ProgramState {
            code,
            context,
            key,
            isa,
        }: ProgramState<'a>,
        branches: bool,
        words: bool,
        left: &'a mut Vec<&'static str>,
        batched: &'a mut Vec<Input>,
    ) -> Self {
        Self {
            code,
            context,
            key,
            isa,
            branches,
            words,
            graph: empty(code, key, isa),
            rows: BTreeMap::new(),
            pieces: Vec::new(),
            some: true,
            size: 0,
            of_places: true,
            left,
            batched,
        }
    }

    /// What rows hold before the first instruction, as the wide engine clears them.
    fn begin(&mut self) {
        let outputs = [
            Some(self.key.color_register),
            self.key.second_register,
            self.key.depth_register,
        ];
        let outputs = outputs.into_iter().flatten();
        let outputs = outputs.flat_map(|register| 4 * register as u16..4 * register as u16 + 4);
        let unwritten = outputs.filter(|row| self.code.written >> row & 1 == 0);
        let zero = self.graph.node(Node::Const(0));
        for row in self.code.clear.iter().copied().chain(unwritten) {
            self.rows.insert(row, (zero, true));
        }
    }

    /// Traces instructions from `first` on up to one that does not simply go on: that one's number, and how many there are.
    fn region(&mut self, first: usize, leaders: &[bool]) -> Option<(usize, u32)> {
        let (mut at, mut steps) = (first, 0);
        loop {
            let step = &self.code.steps[at];
            steps += 1;
            for (number, op) in step.ops.iter().enumerate() {
                if let Err(name) = self.op(op) {
                    self.leave(name, at, number)?;
                }
            }
            self.rows
                .retain(|row, _| !of_instruction(*row) || is_compared(&step.next, *row));
            match step.next {
                Next::On(next) if !leaders[next] => at = next,
                _ => break,
            }
        }
        self.finish(matches!(self.code.steps[at].next, Next::End))?;
        Some((at, steps))
    }

    /// Takes note of one way from the first instruction to the end: the last one's number, and how many there are.
    fn along(&mut self, turns: &[bool]) -> Option<(usize, u32)> {
        let (mut at, mut steps, mut turns) = (0, 0, turns.iter());
        loop {
            let step = self.code.steps.get(at)?;
            steps += 1;
            step.ops.iter().try_for_each(|op| self.op(op).ok())?;
            let next = match &step.next {
                Next::On(next) => Some(*next),
                Next::End => None,
                Next::Branch(condition, target, on) => {
                    let is_taken = *turns.next()?;
                    self.turn(condition, is_taken);
                    if is_taken { Some(*target) } else { *on }
                }
                Next::Discard | Next::Fault(_) => return None,
            };
            self.rows.retain(|row, _| !of_instruction(*row));
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        self.finish(true)?;
        Some((at, steps))
    }

    /// Fragments have to take a branch, or not to; those that do otherwise are left to others.
    fn turn(&mut self, condition: &Condition, is_taken: bool) {
        use pp::Condition::{Always, Never};
        let wanted = condition.wanted;
        if wanted == Always || wanted == Never {
            return;
        }
        let rows = &mut self.rows;
        let [a, b] = condition
            .operands
            .each_ref()
            .map(|operand| formulas::operand(&mut self.graph, operand, |graph, row| held(rows, graph, row)));
        tracer::record(&mut self.graph, || {
            let mut taken = Tracer::splat(0.0);
            let outcomes = [
                (wanted.greater(), Tracer::gt(a, b)),
                (wanted.equal(), Tracer::eq(a, b)),
                (wanted.less(), Tracer::gt(b, a)),
            ];
            for (_, mask) in outcomes.into_iter().filter(|(is_wanted, _)| *is_wanted) {
                taken = Tracer::select(mask, Tracer::splat(1.0), taken);
            }
            let as_it_is = Tracer::eq(taken, Tracer::splat(f32::from(u8::from(is_taken))));
            tracer::effect(Effect::Guard(as_it_is));
        });
    }

    /// What a row holds.
    fn row(&mut self, row: u16) -> Value {
        held(&mut self.rows, &mut self.graph, row)
    }

    fn set(&mut self, row: u16, value: Value) {
        self.rows.insert(row, (value, false));
    }

    /// Traces an operation; the name of one that is left to the wide engine.
    fn op(&mut self, op: &Op) -> Result<(), &'static str> {
        match op {
            Op::Alu(alu) => {
                self.alu(alu);
                Ok(())
            }
            Op::Interpolate(input) => self.interpolate(input),
            Op::Sample(unit, lod, _) => self.sample(unit, *lod),
            Op::InterpolateAt(..) => Err("varyings by an offset"),
            Op::Load(unit, offset) if unit.source == LoadSource::Uniform => {
                self.load(unit, *offset);
                Ok(())
            }
            Op::Load(..) | Op::Store(..) => Err("temporaries by an offset"),
            Op::Tile(..) => Err("the tile's colour"),
        }
    }

    fn alu(&mut self, alu: &Alu) {
        self.some &= !matches!(alu.op, AluOp::Ddx | AluOp::DdyUp | AluOp::DdyDown);
        let rows = &mut self.rows;
        let value = formulas::computed(&mut self.graph, alu, |graph, row| held(rows, graph, row));
        self.set(alu.to, value);
    }

    fn interpolate(&mut self, input: &Interpolate) -> Result<(), &'static str> {
        let slots = crate::exec::inputs::SLOTS as u16;
        let perspective = match input.what {
            Input::Varying(at) if at < 4 * slots => !self.key.flat,
            Input::Varying(_) => return Err("varyings that are not there"),
            Input::Front if self.key.batched => return Err("the side that is seen"),
            Input::Front => {
                let value = tracer::record(&mut self.graph, formulas::front);
                self.set(input.to, value);
                return Ok(());
            }
            Input::Z | Input::W | Input::Point(_) => false,
        };
        let value = self.plane(input.what);
        let w = perspective.then(|| self.w());
        let value = tracer::record(&mut self.graph, || match (input.what, w) {
            (Input::W, _) => Tracer::div(Tracer::splat(1.0), value),
            (_, Some(w)) => Tracer::mul(value, w),
            _ => value,
        });
        self.set(input.to, value);
        Ok(())
    }

    /// What a plane comes to: computed, or in a row where fragments are batched.
    fn plane(&mut self, what: Input) -> Value {
        if self.key.batched {
            let known = self.batched.iter().position(|have| *have == what);
            let number = known.unwrap_or_else(|| {
                self.batched.push(what);
                self.batched.len() - 1
            });
            return self.row(first_batched(self.code) + number as u16);
        }
        let [x, y] = [row::X, row::Y].map(|row| self.row(row));
        tracer::record(&mut self.graph, || {
            plane_at::<Tracer>(formulas::plane(offset_of_plane(what)), x, y)
        })
    }

    /// w of the fragments. What begins with places alone computes it; elsewhere a row has it.
    fn w(&mut self) -> Value {
        if !self.words || self.branches || !self.pieces.is_empty() || self.rows.contains_key(&row::W) {
            return self.row(row::W);
        }
        let value = self.plane(Input::W);
        let w = tracer::record(&mut self.graph, || Tracer::div(Tracer::splat(1.0), value));
        // The row has it, too.
        self.rows.insert(row::W, (w, true));
        w
    }

    fn sample(&mut self, unit: &Sampler, lod: Source) -> Result<(), &'static str> {
        let number = unit.index as usize;
        let texture = self.context.textures.get(number);
        let texture = texture.filter(|_| !unit.offset_enable && number < MAX_TEXTURES);
        let color = match texture.and_then(|texture| texture.plain(unit.is_cube())) {
            Some(plain) => {
                let [s, t] = [0, 1].map(|axis| self.row(row::COORDINATES + axis));
                tracer::record(&mut self.graph, || {
                    tracer::texture(number as u8);
                    let (color, near) = plain.sample::<Tracer>(s, t);
                    tracer::effect(Effect::Guard(near));
                    color
                })
            }
            None => {
                let levels = texture.and_then(|texture| texture.short_levels(unit.is_cube()));
                let Some(levels) = levels else {
                    self.some = false;
                    return Err("textures of other formats, or none");
                };
                self.levels(levels, number as u8, unit.level(), lod)
            }
        };
        for (channel, value) in (0..).zip(color) {
            self.set(row::TEXTURE + channel, value);
        }
        Ok(())
    }

    /// Uniforms by an offset.
    fn load(&mut self, unit: &Load, offset: Source) {
        let (offset, index) = (self.source(offset), unit.signed_index());
        let shift = unit.alignment.shift() as u8;
        let loaded = tracer::record(&mut self.graph, || formulas::uniforms_at(offset, index, shift));
        let (count, zero) = (unit.alignment.components(), self.graph.node(Node::Const(0)));
        for (component, value) in (0..).zip(loaded) {
            let is_there = usize::from(component) < count;
            self.set(row::UNIFORM + component, if is_there { value } else { zero });
        }
    }

    /// What is found somewhere.
    fn source(&mut self, source: Source) -> Value {
        match source {
            Source::Row(row) => self.row(row),
            Source::Value(value) => self.graph.node(Node::Const(value.to_bits())),
            Source::Uniform(at) => self.graph.node(Node::Uniform(at)),
        }
    }

    fn levels(&mut self, levels: Levels<'_>, number: u8, level: LevelOfDetail, lod: Source) -> [Value; 4] {
        // Other levels look at neighbours.
        self.some &= matches!(level, LevelOfDetail::Explicit(_));
        let place = [0, 1, 2].map(|axis| self.row(row::COORDINATES + axis));
        let given = self.source(lod);
        tracer::record(&mut self.graph, || {
            tracer::texture(number);
            let look = levels.look::<Tracer>(place, Wanted::of(level, given));
            tracer::effect(Effect::Guard(Tracer::ge(
                look.first,
                tracer::leaf(Node::Largest(number)),
            )));
            let (color, near) = levels.colors::<Tracer>(&[], &look, levels.may_blend());
            tracer::effect(Effect::Guard(near));
            color
        })
    }

    /// Leaves an operation to the wide engine.
    fn leave(&mut self, name: &'static str, step: usize, number: usize) -> Option<()> {
        if !self.left.contains(&name) {
            self.left.push(name);
        }
        self.flush_changed()?;
        self.pieces.push(Piece::Op(step, number));
        Some(())
    }

    /// Rows that changed to memory, and all that was noted into a piece of code.
    fn flush_changed(&mut self) -> Option<()> {
        let changed: Vec<u16> = self
            .rows
            .iter()
            .filter(|(_, (_, have))| !have)
            .map(|(row, _)| *row)
            .collect();
        self.flush(&changed)?;
        // Values do not outlive a piece; memory has them all.
        self.rows.clear();
        Some(())
    }

    /// Rows to memory, and all that was noted into a piece of code.
    fn flush(&mut self, rows: &[u16]) -> Option<()> {
        let mut stores = Vec::new();
        for row in rows {
            let (value, _) = self.rows[row];
            // A row that becomes another is read before that one is written.
            let value = match self.graph.nodes()[value as usize] {
                Node::Row(from) if from == *row => continue,
                Node::Row(_) => self.graph.node(Node::Op(Kind::Move, [value, 0, 0])),
                _ => value,
            };
            stores.push(if row::is_local(*row) {
                Effect::StoreAll(*row, value)
            } else {
                Effect::Store(*row, value)
            });
        }
        self.graph.effects.extend(stores);
        self.piece()
    }

    /// Whether a node is no row but those of fragments' places and samples, and of batched planes.
    fn is_of_places(&self, node: &Node) -> bool {
        match node {
            Node::Row(row) if self.key.batched && *row >= first_batched(self.code) => true,
            Node::Row(row) => PLACES.contains(row) || SAMPLES.contains(row),
            _ => true,
        }
    }

    fn piece(&mut self) -> Option<()> {
        let graph = std::mem::replace(&mut self.graph, empty(self.code, self.key, self.isa));
        self.of_places &= graph.nodes().iter().all(|node| self.is_of_places(node));
        if !graph.effects.is_empty() {
            let forms = Variants::new(graph, self.isa)?;
            self.size += forms.size();
            self.pieces.push(Piece::Code(Arc::new(forms)));
        }
        Some(())
    }

    /// What is left at the end of a region, which may be the program's.
    fn finish(&mut self, ends: bool) -> Option<()> {
        let key = self.key;
        let output =
            |register: Option<usize>| register.map_or(0..0, |register| 4 * register as u16..4 * register as u16 + 4);
        if ends && self.words {
            let color = output(Some(key.color_register))
                .map(|row| self.row(row))
                .collect::<Vec<Value>>();
            let color: [Value; 4] = color.try_into().ok()?;
            tracer::record(&mut self.graph, || {
                let word = match (&key.tests, &key.blending) {
                    (Some(tests), blending) => formulas::tested(tests, blending.as_ref(), color),
                    (None, Some(blending)) => formulas::blended(blending, color),
                    (None, None) => formulas::packed(color),
                };
                tracer::effect(Effect::Words(word));
            });
            let (row, [.., alpha]) = (4 * key.color_register as u16 + 3, color);
            if key.alpha && self.graph.nodes()[alpha as usize] != Node::Row(row) {
                // Last, for the row may be looked at before.
                self.graph.effects.push(Effect::Store(row, alpha));
            }
            // Lanes that are not at their end may look at what others had there.
            let looked_at = self.branches && self.context.program.needs_quads;
            let changed = self.rows.iter().filter(|(_, (_, have))| looked_at && !have);
            let changed: Vec<u16> = changed.map(|(row, _)| *row).collect();
            return self.flush(&changed);
        }
        let outputs: Vec<u16> = [Some(key.color_register), key.second_register, key.depth_register]
            .into_iter()
            .flat_map(output)
            .collect();
        // Lanes that go on, or look at neighbours that do not, want everything.
        let only_outputs = ends && (!self.branches || !self.context.program.needs_quads);
        let changed = self.rows.iter().filter(|(_, (_, have))| !have).map(|(row, _)| *row);
        let wanted: Vec<u16> = changed.filter(|row| !only_outputs || outputs.contains(row)).collect();
        self.flush(&wanted)
    }
}
