//! A batch of quads through a PP program.

use super::alu::{CONSTANT_ROWS, Machine, Source, plane_at};
use super::fragment_code::{FragmentCode, Input, Next, Op, Step, extent, row};
use super::groups::{Group, Groups};
use super::region::{Piece, Region, RegionCode, Regions, Work};
use crate::exec::inputs::{Inputs, Plane, SLOTS};
use crate::exec::lanes::{LANES, Mask, Row};
use crate::exec::{BUDGET, FragmentContext, Fragments, MAX_FRAGMENTS, Quad, places};
use crate::fault::{Fault, FaultKind, Result};
use crate::simd::{Found, dispatch};
use crate::texture::levels::Wanted;
use crate::texture::{Lod, Texture};
use num::half;
use num::lanes::QuadLanes;
use std::cell::RefCell;
use utgard::pp::{Alignment, Condition, LevelOfDetail, Load, LoadSource, Sampler, Store};

thread_local! {
    /// Rows of the thread's last batch: what they hold does not matter, only that they need not be made again.
    static ROWS: RefCell<Vec<Row>> = const { RefCell::new(Vec::new()) };
}

/// Runs at most 32 quads, those of the batch that `base` quads come before; with what the native engine made of the
/// program, where there is that.
pub(in crate::exec) fn run(
    found: Found,
    context: &FragmentContext<'_>,
    inputs: &Inputs,
    (quads, base): (&[Quad], usize),
    regions: Option<&Regions>,
    out: &mut Fragments,
) -> Result<()> {
    context.with_code(|code| {
        let mut batch = Batch {
            context,
            code,
            inputs,
            quads,
            base,
            regions,
            machine: Machine {
                rows: &mut [],
                uniforms: context.uniforms,
                lanes: 0,
            },
            discarded: 0,
        };
        let before = out.instructions;
        if !batch.on_rows(found, out)? {
            // The native engine leaves it to us.
            batch.regions = None;
            (batch.discarded, out.instructions) = (0, before);
            batch.on_rows(found, out)?;
        }
        Ok(())
    })
}

struct Batch<'a> {
    context: &'a FragmentContext<'a>,
    code: &'a FragmentCode,
    inputs: &'a Inputs,
    quads: &'a [Quad],
    base: usize,
    regions: Option<&'a Regions>,
    machine: Machine<'a>,
    discarded: Mask,
}

/// What of a region is done at a time.
enum Part<'a> {
    Code(&'a dyn RegionCode),
    Ops(&'a [Op]),
}

/// A part by its number: of a region, or all operations of an instruction.
fn piece<'a>(code: &'a FragmentCode, region: Option<&'a Region>, at: usize, number: usize) -> Option<Part<'a>> {
    let Some(region) = region else {
        return (number == 0).then(|| Part::Ops(&code.steps[at].ops));
    };
    Some(match region.pieces.get(number)? {
        Piece::Code(region) => Part::Code(&**region),
        Piece::Op(step, op) => Part::Ops(&code.steps[*step].ops[*op..=*op]),
    })
}

/// Runs a batch; false where it has to be run again without the native engine.
#[inline(always)]
fn batch_run<L: QuadLanes>(batch: &mut Batch<'_>, out: &mut Fragments) -> Result<bool> {
    batch.prepare();
    batch.places::<L>();
    batch.perspective::<L>();
    let lanes = batch.quads.len() * 4;
    let mut groups = Groups::new(Mask::MAX >> (LANES - lanes));
    let mut budget = BUDGET;
    let all = Mask::MAX >> (LANES - lanes);
    while let Some(Group { mut at, lanes }) = groups.take(|at| batch.code.steps[at].word) {
        let (code, regions) = (batch.code, batch.regions);
        let mut ran = 0;
        let (last, planned) = loop {
            let region = regions.and_then(|regions| regions.region(at, lanes == all));
            // Near the end of the budget instructions go one by one, so that the fault names the right one.
            let region = region.filter(|region| budget > region.steps);
            let (last, steps) = region.map_or((at, 1), |region| (region.last, region.steps));
            budget -= steps;
            if budget == 0 {
                let fault = Fault::new(FaultKind::Budget, "a fragment does not come to its end");
                return Err(fault.pc(code.steps[at].word));
            }
            ran += u64::from(steps);
            let mut number = 0;
            // One place for the wide engine's operations: what is compiled here is large.
            while let Some(piece) = piece(code, region, at, number) {
                number += 1;
                match piece {
                    Part::Code(region) => {
                        if !batch.quicker(region, (lanes != all).then_some(lanes), out) {
                            return Ok(false);
                        }
                    }
                    Part::Ops(ops) => {
                        for op in ops {
                            batch.op::<L>(op, lanes);
                        }
                    }
                }
            }
            // No other group waits: go on at once.
            match code.steps[last].next {
                Next::On(next) if groups.is_empty() => at = next,
                _ => break (last, region.is_some()),
            }
        };
        // Words are machine code's.
        let ends = matches!(code.steps[last].next, Next::End);
        if ends && !planned && regions.is_some_and(|regions| regions.words) {
            return Ok(false);
        }
        out.instructions += ran * u64::from(lanes.count_ones());
        batch.go::<L>(&code.steps[last], lanes, &mut groups)?;
    }
    batch.finish(out);
    Ok(true)
}

impl<'a> Batch<'a> {
    /// Runs on the thread's rows; false where it has to be run again without the native engine.
    fn on_rows(&mut self, found: Found, out: &mut Fragments) -> Result<bool> {
        ROWS.with_borrow_mut(|rows| {
            let wanted = self.code.rows + CONSTANT_ROWS;
            if rows.len() < wanted {
                rows.resize(wanted, Row::splat(0.0));
            }
            let step = if self.regions.is_some() { 32 } else { 16 };
            let mut batch = Batch {
                machine: Machine {
                    rows: &mut rows[..wanted],
                    uniforms: self.machine.uniforms,
                    lanes: (self.quads.len() * 4).next_multiple_of(step),
                },
                ..*self
            };
            let batch = &mut batch;
            dispatch!(batch_run(batch: &mut Batch<'_>, out: &mut Fragments) -> Result<bool>, found, 256)
        })
    }

    /// Runs machine code for lanes, or all; false where it leaves the batch to others.
    fn quicker(&mut self, region: &dyn RegionCode, mask: Option<Mask>, out: &mut Fragments) -> bool {
        region.run(Work {
            machine: &mut self.machine,
            inputs: self.inputs,
            context: self.context,
            mask,
            words: &mut out.words[4 * self.base..],
            destination: Some(&out.destination[4 * self.base..]),
        })
    }

    /// Fills the rows every program may read: places of the pixels, and zeros.
    fn prepare(&mut self) {
        let (rows, lanes) = (&mut *self.machine.rows, self.machine.lanes);
        for at in &self.code.clear {
            rows[usize::from(*at)][..lanes].fill(0.0);
        }
        let context = self.context;
        let outputs = [
            Some(context.color_register),
            context.second_register,
            context.depth_register,
        ];
        for register in outputs.into_iter().flatten() {
            for at in (4 * (register & 15)..)
                .take(4)
                .filter(|at| self.code.written >> at & 1 == 0)
            {
                rows[at][..lanes].fill(0.0);
            }
        }
    }

    /// Number of the batch's first quad in a tile, row by row, when it is half of one.
    fn half_of_tile(&self) -> Option<usize> {
        let half = LANES / 4;
        let from = self
            .quads
            .first()
            .map(|first| if first.y & 8 == 0 { 0 } else { half })?;
        (self.quads.len() == half && places::is_of_tile(self.quads, from)).then_some(from)
    }

    /// Places of the pixels.
    #[inline(always)]
    fn places<L: QuadLanes>(&mut self) {
        let lanes = self.machine.lanes;
        let half = self.half_of_tile();
        let [columns, rows, ..] = &mut self.machine.rows[usize::from(row::X)..] else {
            return;
        };
        let [columns, rows] = [&mut columns[..lanes], &mut rows[..lanes]];
        match (half, self.quads.first()) {
            (Some(from), Some(first)) => {
                let tile = [first.x & !15, first.y & !15];
                places::of_tile::<L>(places::middle(tile), 4 * from, self.inputs.origin, [columns, rows]);
            }
            _ => places::of_quads(self.quads, self.inputs, [columns, rows]),
        }
        if self.code.places
            && let [columns, rows, ..] = &mut self.machine.rows[usize::from(row::COLUMN)..]
        {
            places::pixels(self.quads, [&mut columns[..lanes], &mut rows[..lanes]]);
        }
    }

    /// w of every fragment, for primitives in perspective.
    #[inline(always)]
    fn perspective<L: QuadLanes>(&mut self) {
        if !self.inputs.flat {
            self.interpolate::<L>(Input::W, row::W);
        }
    }

    #[inline(always)]
    fn op<L: QuadLanes>(&mut self, op: &Op, lanes: Mask) {
        match op {
            Op::Alu(alu) => {
                let is_local = row::is_local(alu.to);
                self.machine.run::<L>(alu, if is_local { Mask::MAX } else { lanes });
            }
            Op::Interpolate(input) => self.interpolate::<L>(input.what, input.to),
            Op::InterpolateAt(index, alignment, offset, to) => self.interpolate_at(*index, *alignment, *offset, *to),
            Op::Sample(unit, lod, offset) => {
                if !self.sample_plain::<L>(unit) && !self.sample_levels::<L>(unit, *lod) {
                    self.sample(unit, *lod, *offset);
                }
            }
            Op::Load(unit, offset) => self.load(unit, *offset),
            Op::Store(unit, offset, sources) => self.store::<L>(unit, *offset, sources, lanes),
            Op::Tile(first, depth) => self.tile(*first, *depth, lanes),
        }
    }

    #[inline(always)]
    fn interpolate<L: QuadLanes>(&mut self, what: Input, to: u16) {
        let varying = |at: u16| {
            let slot = self.inputs.varyings.get(usize::from(at / 4));
            slot.map_or(Plane::default(), |slot| slot[usize::from(at % 4)])
        };
        match what {
            Input::Varying(at) => self.plane::<L>(varying(at), to, !self.inputs.flat),
            Input::Z => self.plane::<L>(self.inputs.z, to, false),
            Input::Point(axis) => self.plane::<L>(self.inputs.point[usize::from(axis & 1)], to, false),
            Input::Front => self.machine.rows[usize::from(to)] = Row::splat(f32::from(u8::from(self.inputs.front))),
            Input::W => {
                self.plane::<L>(self.inputs.inverse_w, to, false);
                for at in (0..self.machine.lanes).step_by(L::COUNT) {
                    let row = &mut self.machine.rows[usize::from(to)][at..];
                    let value = L::div(L::splat(1.0), L::load(row));
                    L::store(row, value);
                }
            }
        }
    }

    /// A plane's values, times w in perspective; in the order [`Plane::at`] has.
    #[inline(always)]
    fn plane<L: QuadLanes>(&mut self, plane: Plane, to: u16, perspective: bool) {
        let (base, dx, dy) = (L::splat(plane.base), L::splat(plane.dx), L::splat(plane.dy));
        let mut at = 0;
        while at < self.machine.lanes {
            let rows = &mut *self.machine.rows;
            let x = L::load(&rows[usize::from(row::X)][at..]);
            let y = L::load(&rows[usize::from(row::Y)][at..]);
            let mut value = plane_at::<L>([base, dx, dy], x, y);
            if perspective {
                value = L::mul(value, L::load(&rows[usize::from(row::W)][at..]));
            }
            L::store(&mut rows[usize::from(to)][at..], value);
            at += L::COUNT;
        }
    }

    /// One lane's number.
    fn lane(&self, from: Source, lane: usize) -> f32 {
        match from {
            Source::Row(row) => self.machine.rows[usize::from(row)][lane],
            Source::Value(value) => value,
            Source::Uniform(at) => self.machine.uniforms.get(usize::from(at)).copied().unwrap_or(0.0),
        }
    }

    fn interpolate_at(&mut self, index: u16, alignment: Alignment, offset: Source, to: u16) {
        let (shift, count) = extent(alignment);
        for lane in 0..self.machine.lanes {
            let first = i32::from(index)
                .wrapping_add(self.lane(offset, lane) as i32)
                .wrapping_shl(shift);
            let rows = &mut *self.machine.rows;
            let (x, y) = (rows[usize::from(row::X)][lane], rows[usize::from(row::Y)][lane]);
            let w = if self.inputs.flat {
                1.0
            } else {
                rows[usize::from(row::W)][lane]
            };
            for component in 0..count {
                let at = first.wrapping_add(component as i32);
                let inside = (0..4 * SLOTS as i32).contains(&at);
                let plane = inside.then(|| self.inputs.varyings[at as usize / 4][at as usize % 4]);
                let linear = plane.map_or(0.0, |plane| plane.at(x, y));
                rows[usize::from(to) + component as usize][lane] = if self.inputs.flat { linear } else { linear * w };
            }
        }
    }

    /// Samples a texture that goes the short way, the same for all lanes; false where there is none.
    #[inline(always)]
    fn sample_plain<L: QuadLanes>(&mut self, unit: &Sampler) -> bool {
        let texture = self.context.textures.get(unit.index as usize);
        let Some((texture, plain)) = texture
            .filter(|_| !unit.offset_enable)
            .and_then(|texture| Some((texture, texture.plain(unit.is_cube())?)))
        else {
            return false;
        };
        let [s, t, first] = [row::COORDINATES, row::COORDINATES + 1, row::TEXTURE].map(usize::from);
        let all = L::bits(L::eq(L::splat(0.0), L::splat(0.0)));
        let mut at = 0;
        while at < self.machine.lanes {
            let rows = &mut *self.machine.rows;
            let (color, near) = plain.sample::<L>(L::load(&rows[s][at..]), L::load(&rows[t][at..]));
            L::store(&mut rows[first][at..], color[0]);
            L::store(&mut rows[first + 1][at..], color[1]);
            L::store(&mut rows[first + 2][at..], color[2]);
            L::store(&mut rows[first + 3][at..], color[3]);
            let far = all & !L::bits(near);
            if far != 0 {
                self.sample_far(texture, at, far, &[0.0; 16]);
            }
            at += L::COUNT;
        }
        true
    }

    /// Samples a texture of several levels that go the short way; false where there is none.
    #[inline(always)]
    fn sample_levels<L: QuadLanes>(&mut self, unit: &Sampler, lod: Source) -> bool {
        let texture = self.context.textures.get(unit.index as usize);
        let Some((texture, levels)) = texture
            .filter(|_| !unit.offset_enable)
            .and_then(|texture| Some((texture, texture.short_levels(unit.is_cube())?)))
        else {
            return false;
        };
        let [s, t, r] = [0, 1, 2].map(|axis| usize::from(row::COORDINATES + axis));
        let first = usize::from(row::TEXTURE);
        let all = L::bits(L::eq(L::splat(0.0), L::splat(0.0)));
        let mut at = 0;
        while at < self.machine.lanes {
            let rows = &*self.machine.rows;
            let place = [
                L::load(&rows[s][at..]),
                L::load(&rows[t][at..]),
                L::load(&rows[r][at..]),
            ];
            let given = match lod {
                Source::Row(row) => L::load(&rows[usize::from(row)][at..]),
                Source::Value(value) => L::splat(value),
                Source::Uniform(number) => {
                    L::splat(self.machine.uniforms.get(usize::from(number)).copied().unwrap_or(0.0))
                }
            };
            let look = levels.look::<L>(place, Wanted::of(unit.level(), given));
            let Some(texels) = texture.texels_for::<L>(look.first) else {
                return false;
            };
            let two = levels.may_blend() && L::bits(look.blends) != 0;
            let (color, near) = levels.colors::<L>(texels, &look, two);
            let rows = &mut *self.machine.rows;
            L::store(&mut rows[first][at..], color[0]);
            L::store(&mut rows[first + 1][at..], color[1]);
            L::store(&mut rows[first + 2][at..], color[2]);
            L::store(&mut rows[first + 3][at..], color[3]);
            let far = all & !L::bits(near);
            if far != 0 {
                let mut numbers = [0.0; 16];
                L::store(&mut numbers, look.level);
                self.sample_far(texture, at, far, &numbers);
            }
            at += L::COUNT;
        }
        true
    }

    /// Samples lanes from `at` on, at their levels, that are too far outside for the short way.
    #[cold]
    fn sample_far(&mut self, texture: &Texture<'_>, at: usize, far: u32, levels: &[f32; 16]) {
        let rows = &mut *self.machine.rows;
        for (lane, level) in levels.iter().enumerate().filter(|(lane, _)| far >> lane & 1 == 1) {
            let coordinates = [0, 1, 2, 3].map(|axis| rows[usize::from(row::COORDINATES) + axis][at + lane]);
            for (channel, value) in texture.sample_far_level(coordinates, *level).into_iter().enumerate() {
                rows[usize::from(row::TEXTURE) + channel][at + lane] = value;
            }
        }
    }

    fn sample(&mut self, unit: &Sampler, lod: Source, offset: Source) {
        for quad in 0..self.quads.len() {
            let first = 4 * quad;
            let offset = if unit.offset_enable {
                self.lane(offset, first) as i32
            } else {
                0
            };
            let index = usize::try_from(i64::from(unit.index) + i64::from(offset));
            let texture = index.ok().and_then(|index| self.context.textures.get(index));
            let lods = std::array::from_fn(|lane| match unit.level() {
                LevelOfDetail::Explicit(_) => Lod::Level(self.lane(lod, first + lane)),
                LevelOfDetail::Bias(_) => Lod::Bias(self.lane(lod, first + lane)),
                LevelOfDetail::Implicit => Lod::Bias(0.0),
            });
            let coordinate =
                |lane: usize, axis: u16| self.machine.rows[usize::from(row::COORDINATES + axis)][first + lane];
            let coordinates = std::array::from_fn(|lane| [0, 1, 2, 3].map(|axis| coordinate(lane, axis)));
            let texels = match texture {
                Some(texture) => texture.sample(&coordinates, &lods, unit.is_cube()),
                None => [[0.0, 0.0, 0.0, 1.0]; 4],
            };
            for (lane, texel) in texels.into_iter().enumerate() {
                for (channel, value) in texel.into_iter().enumerate() {
                    self.machine.rows[usize::from(row::TEXTURE) + channel][first + lane] = value;
                }
            }
        }
    }

    /// Row of a temporary's float, where there is one.
    fn temporary(&self, at: i32) -> Option<usize> {
        let number = usize::try_from(i64::from(at) - i64::from(self.code.temporary_base)).ok()?;
        let row = usize::from(row::TEMPORARIES) + number;
        (row < self.code.rows).then_some(row)
    }

    /// For each lane the number of the first float at an index plus an offset, both in units of `1 << shift` floats.
    #[inline(always)]
    fn firsts(&self, index: i32, offset: Source, shift: u32) -> [i32; LANES] {
        let first = |offset: f32| index.wrapping_add(offset as i32).wrapping_shl(shift);
        match offset {
            Source::Row(row) => self.machine.rows[usize::from(row)].map(first),
            _ => [first(self.lane(offset, 0)); LANES],
        }
    }

    #[inline(always)]
    fn load(&mut self, unit: &Load, offset: Source) {
        let (shift, count) = extent(unit.alignment);
        let firsts = self.firsts(unit.signed_index(), offset, shift);
        let (lanes, uniforms, base) = (
            self.machine.lanes,
            self.machine.uniforms,
            i64::from(self.code.temporary_base),
        );
        let rows = &mut self.machine.rows[..self.code.rows];
        let (others, temporaries) = rows.split_at_mut(usize::from(row::TEMPORARIES));
        for (component, to) in (0..).zip(&mut others[usize::from(row::UNIFORM)..][..4]) {
            let to = &mut to[..lanes];
            if component >= count {
                to.fill(0.0);
                continue;
            }
            let ats = firsts.iter().map(|first| first.wrapping_add(component as i32));
            let values = to.iter_mut().zip(ats);
            match unit.source {
                LoadSource::Uniform => values.for_each(|(to, at)| {
                    let have = usize::try_from(at).ok().and_then(|at| uniforms.get(at));
                    *to = have.copied().unwrap_or(0.0);
                }),
                LoadSource::Temporary | LoadSource::Undocumented(_) => {
                    values.enumerate().for_each(|(lane, (to, at))| {
                        let number = usize::try_from(i64::from(at) - base).ok();
                        let have = number.and_then(|number| temporaries.get(number));
                        *to = have.map_or(0.0, |row| row[lane]);
                    })
                }
            }
        }
    }

    #[inline(always)]
    fn store<L: QuadLanes>(&mut self, unit: &Store, offset: Source, sources: &[Source], lanes: Mask) {
        let (shift, _) = extent(unit.alignment);
        let firsts = self.firsts(unit.signed_index(), offset, shift);
        for (component, source) in (0..).zip(sources) {
            let mut values = Row::splat(half::round(self.lane(*source, 0)));
            if let Source::Row(from) = *source {
                for at in (0..self.machine.lanes).step_by(L::COUNT) {
                    let from = L::load(&self.machine.rows[usize::from(from)][at..]);
                    L::store(&mut values[at..], L::round_half(from));
                }
            }
            for lane in (0..self.machine.lanes).filter(|lane| lanes >> lane & 1 == 1) {
                if let Some(row) = self.temporary(firsts[lane].wrapping_add(component)) {
                    self.machine.rows[row][lane] = values[lane];
                }
            }
        }
    }

    fn tile(&mut self, first: u16, depth: bool, lanes: Mask) {
        for lane in (0..self.quads.len() * 4).filter(|lane| lanes >> lane & 1 == 1) {
            let quad = self.quads[lane / 4];
            let (x, y) = (quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1 & 1));
            let (color, have) = self.context.tile.map_or(([0.0; 4], 0.0), |tile| tile(x, y));
            let value = if depth { [have, 0.0, 0.0, 0.0] } else { color };
            for (channel, value) in value.into_iter().enumerate() {
                self.machine.rows[usize::from(first) + channel][lane] = half::round(value);
            }
        }
    }

    /// Sends lanes where their instruction goes.
    #[inline(always)]
    fn go<L: QuadLanes>(&mut self, step: &Step, lanes: Mask, groups: &mut Groups) -> Result<()> {
        match &step.next {
            Next::On(at) => groups.put(*at, lanes),
            Next::End => {}
            Next::Discard => self.discarded |= lanes,
            Next::Branch(condition, target, on) => {
                let [a, b] = &condition.operands;
                let taken = match condition.wanted {
                    Condition::Always => Mask::MAX,
                    wanted => self.machine.compare::<L>(a, b, wanted),
                };
                groups.put(*target, lanes & taken);
                if let Some(on) = on {
                    groups.put(*on, lanes & !taken);
                }
            }
            Next::Fault(message) => return Err(Fault::new(FaultKind::Program, message.clone()).pc(step.word)),
        }
        Ok(())
    }

    fn finish(&self, out: &mut Fragments) {
        let (start, count) = (4 * self.base, 4 * self.quads.len());
        let discarded = self.discarded.to_le_bytes();
        for (number, (quad, live)) in self.quads.iter().zip(&mut out.live[self.base..]).enumerate() {
            *live = quad.live & !(discarded[number / 2] >> (number % 2 * 4));
        }
        let copy = |register: usize, component: usize, into: &mut [f32; MAX_FRAGMENTS]| {
            let into = &mut into[start..start + count];
            match FragmentContext::output(register) {
                Some(register) => into.copy_from_slice(&self.machine.rows[4 * register + component][..count]),
                None => into.fill(0.0),
            }
        };
        if self.regions.is_some_and(|regions| regions.words) {
            if self.context.wants_alpha {
                copy(self.context.color_register, 3, &mut out.color[3]);
            }
            return;
        }
        for (channel, row) in out.color.iter_mut().enumerate() {
            copy(self.context.color_register, channel, row);
        }
        if let Some(register) = self.context.second_register {
            for (channel, row) in out.second.iter_mut().enumerate() {
                copy(register, channel, row);
            }
        }
        if let Some(register) = self.context.depth_register {
            copy(register, 0, &mut out.depth);
        }
        if out.has_words {
            // The other batches of this call came as words.
            for at in start..start + count {
                let color = out.color.each_ref().map(|row| row[at]);
                out.words[at] = self.context.word(color, out.destination[at]);
            }
        }
    }
}
