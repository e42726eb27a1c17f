//! One quad through a PP program (docs/spec/mali/pp.md). The four fragments go together; where they part at a branch, the
//! ones that are furthest behind go first, so that they meet again.

use super::numbers::Numbers;
use crate::exec::inputs::{Inputs, SLOTS};
use crate::exec::observe::{FragmentStep, Observer, Outside};
use crate::exec::{BUDGET, FragmentContext, Fragments, MAX_FRAGMENTS, Quad};
use crate::fault::{Fault, FaultKind, Result};
use crate::silicon::{Silicon, Switch};
use crate::texture::Lod;
use num::lanes::One;
use num::{half, math};
use utgard::field::Code;
use utgard::pp::ops::Origin;
use utgard::pp::{
    ALL, AccOp, Alignment, Branch, BranchKind, Combine, Constant, Form, Instruction, LevelOfDetail, Load, LoadSource,
    Modifier, MulOp, Register, Sampler, Scalar, ScalarFunction, ScalarSource, ScalarUnit, Store, StoreTarget, Swizzle,
    Varying, VaryingKind, VectorFunction, VectorSource,
};

type Vec4 = [f32; 4];

/// One fragment's state.
#[derive(Clone)]
struct Fragment {
    /// Registers 0 to 11, then the pipeline: constants, texture, uniform.
    registers: [Vec4; 16],
    vec_mul: Vec4,
    float_mul: f32,
    temporaries: Vec<f32>,
    /// Word of its next instruction; `END` when it is done.
    pc: u32,
    discarded: bool,
}

const END: u32 = u32::MAX;

/// What the units of an instruction write, kept until all of its stage have read.
#[derive(Clone, Copy, Default)]
struct Write {
    register: Register,
    mask: u32,
    value: Vec4,
}

struct Lanes<'a, O> {
    context: &'a FragmentContext<'a>,
    inputs: &'a Inputs,
    quad: Quad,
    fragments: [Fragment; 4],
    silicon: Silicon,
    numbers: Numbers,
    /// The bias of the next instruction, where that one reads it before this one has written it.
    early_bias: Option<[f32; 4]>,
    /// The present fragment is at another instruction: what it computes is there for its neighbours alone.
    waits: bool,
    observer: &'a mut O,
}

pub(super) fn run<O: Observer>(
    context: &FragmentContext<'_>,
    inputs: &Inputs,
    quad: Quad,
    number: usize,
    out: &mut Fragments,
    silicon: Silicon,
    observer: &mut O,
) -> Result<()> {
    observer.quad(context.program, quad.x, quad.y, quad.live);
    let (low, high) = context.program.temporaries.unwrap_or((0, -1));
    let fragment = Fragment {
        registers: [[0.0; 4]; 16],
        vec_mul: [0.0; 4],
        float_mul: 0.0,
        temporaries: vec![0.0; (high - low + 1).max(0) as usize],
        pc: 0,
        discarded: false,
    };
    let mut lanes = Lanes {
        context,
        inputs,
        quad,
        fragments: std::array::from_fn(|_| fragment.clone()),
        silicon,
        numbers: Numbers::new(silicon),
        early_bias: None,
        waits: false,
        observer,
    };
    let mut budget = BUDGET;
    loop {
        let pc = lanes.fragments.iter().map(|fragment| fragment.pc).min().unwrap_or(END);
        if pc == END {
            break;
        }
        budget -= 1;
        if budget == 0 {
            return Err(Fault::new(FaultKind::Budget, "a fragment does not come to its end").pc(pc));
        }
        out.instructions += lanes.active(pc).into_iter().map(u64::from).sum::<u64>();
        lanes.step(pc).map_err(|fault| fault.pc(pc))?;
    }
    lanes.finish(number, out);
    Ok(())
}

impl<O: Observer> Lanes<'_, O> {
    fn active(&self, pc: u32) -> [bool; 4] {
        std::array::from_fn(|lane| self.fragments[lane].pc == pc)
    }

    /// One instruction for the fragments that are at it.
    fn step(&mut self, pc: u32) -> Result<()> {
        let active = self.active(pc);
        let index = self.context.program.index_of(pc);
        let Some((_, i)) = index.and_then(|index| self.context.program.instructions.get(index)) else {
            return Err(Fault::new(FaultKind::Program, "no instruction begins here"));
        };
        let before = O::ON.then(|| self.fragments.each_ref().map(|fragment| fragment.registers));
        for fragment in &mut self.fragments {
            let halves = |constant: &Constant| halves(constant).map(|value| self.numbers.loaded(value));
            let constant = |constant: &Option<Constant>| constant.as_ref().map_or([0.0; 4], halves);
            let pipeline = [constant(&i.const0), constant(&i.const1), [0.0; 4], [0.0; 4]];
            fragment.registers[Register::CONST0.index()..].copy_from_slice(&pipeline);
            (fragment.vec_mul, fragment.float_mul) = ([0.0; 4], 0.0);
        }
        let bias = self.early_bias.take();
        let late = self.context.program.bias_written_late(pc);
        self.early_bias = late
            .filter(|_| !self.silicon.has(Switch::BiasAfterVarying))
            .map(|register| std::array::from_fn(|lane| self.scalar(lane, register)));
        let coordinates = i
            .varying
            .as_ref()
            .map(|unit| self.varying(unit, &active))
            .transpose()?
            .unwrap_or_default();
        if let Some(unit) = &i.sampler {
            self.sample(unit, &coordinates, bias)?;
        }
        // Values that only this instruction reads are computed for all fragments, for derivatives.
        for (lane, active) in active.into_iter().enumerate() {
            self.waits = !active;
            if let Some(unit) = &i.load {
                self.load(lane, unit)?;
            }
            self.multiply(lane, i)?;
        }
        self.waits = false;
        self.accumulate(i, &active)?;
        for lane in (0..4).filter(|lane| active[*lane]) {
            if let Some(unit) = &i.combine {
                self.combine(lane, unit)?;
            }
            if let Some(unit) = &i.store {
                self.store(lane, unit)?;
            }
            self.fragments[lane].pc = self.next(lane, pc, i)?;
        }
        if let Some(before) = before {
            for lane in (0..4).filter(|lane| active[*lane]) {
                let bias = bias.map(|bias| bias[lane]);
                self.observed(lane, index.unwrap_or_default(), i, &before[lane], bias);
            }
        }
        Ok(())
    }

    /// Tells the observer what a fragment just did.
    fn observed(
        &mut self,
        lane: usize,
        number: usize,
        instruction: &Instruction,
        before: &[Vec4; 16],
        early_bias: Option<f32>,
    ) {
        let fragment = &self.fragments[lane];
        self.observer.fragment(&FragmentStep {
            lane,
            number,
            instruction,
            before,
            after: &fragment.registers,
            products: (fragment.vec_mul, fragment.float_mul),
            early_bias,
            temporaries: &fragment.temporaries,
            next: (fragment.pc != END).then_some(fragment.pc),
            discarded: fragment.discarded,
        });
    }

    /// Tells the observer that something is not there.
    fn outside(&mut self, lane: usize, what: Outside, index: i64) {
        if O::ON && !self.waits {
            self.observer.outside(lane, what, index);
        }
    }

    /// Where a fragment goes from here.
    fn next(&mut self, lane: usize, pc: u32, i: &Instruction) -> Result<u32> {
        let fragment = &mut self.fragments[lane];
        if let Some(branch) = &i.branch {
            if branch.is_discard() {
                // Every discard that is known has all conditions set ([?] in docs/spec/mali/pp.md, section 12: whether they count).
                fragment.discarded = true;
                return Ok(END);
            }
            if let BranchKind::Undocumented(kind) = branch.kind {
                return Err(unknown(format!("branch kind {kind}")));
            }
            if taken(fragment, branch) {
                let target = i64::from(pc) + i64::from(branch.signed_target());
                return u32::try_from(target)
                    .map_err(|_| Fault::new(FaultKind::Program, "a branch leaves the program"));
            }
        }
        Ok(if i.control.stop { END } else { pc + i.words() })
    }

    fn position(&self, lane: usize) -> (u32, u32) {
        (self.quad.x + (lane as u32 & 1), self.quad.y + (lane as u32 >> 1))
    }

    /// Registers are fp16; only some of the components are written.
    fn write(&mut self, lane: usize, write: Write) {
        if write.register.is_pipeline() {
            return;
        }
        let register = &mut self.fragments[lane].registers[write.register.index()];
        for (component, value) in write.value.into_iter().enumerate() {
            if write.mask >> component & 1 == 1 {
                register[component] = self.numbers.half(value);
            }
        }
        if O::ON && write.mask != 0 {
            self.observer.write(lane, write.register, write.mask, *register);
        }
    }

    /// The varying unit's results, of all fragments of the quad, for the sampler looks at its neighbours.
    fn varying(&mut self, unit: &Varying, active: &[bool; 4]) -> Result<[Vec4; 4]> {
        let mut values = [[0.0; 4]; 4];
        for (lane, value) in values.iter_mut().enumerate() {
            *value = self.varying_value(lane, unit)?;
        }
        if let Some(register) = unit.written() {
            for lane in (0..4).filter(|lane| active[*lane]) {
                let write = Write {
                    register,
                    mask: unit.mask,
                    value: values[lane],
                };
                self.write(lane, write);
            }
        }
        Ok(values)
    }

    fn varying_value(&mut self, lane: usize, unit: &Varying) -> Result<Vec4> {
        let value = match unit.kind.row().origin {
            Origin::Builtin => [0.0; 4],
            Origin::Memory => self.interpolated(lane, unit),
            Origin::Register => {
                let value = swizzled(self.fragments[lane].registers[unit.register.index()], unit.swizzle());
                value.map(|value| modified(value, unit.absolute, unit.negate))
            }
        };
        let [x, y, z, w] = value;
        Ok(match unit.kind {
            VaryingKind::DivideZ | VaryingKind::RegisterDivideZ => [x / z, y / z, 1.0, w],
            VaryingKind::DivideW | VaryingKind::RegisterDivideW => [x / w, y / w, z / w, 1.0],
            VaryingKind::Normalize => {
                let scale = math::rsqrt::<One>(x * x + (y * y + z * z));
                [x * scale, y * scale, z * scale, w]
            }
            // A cube map's direction stays as it is: the sampler finds the face ([?]: what a register would get).
            VaryingKind::Plain | VaryingKind::Register | VaryingKind::Cube | VaryingKind::RegisterCube => value,
            VaryingKind::FragCoord => self.frag_coord(lane),
            VaryingKind::PointCoord => {
                let [x, y] = self.offset(lane);
                [self.inputs.point[0].at(x, y), self.inputs.point[1].at(x, y), 0.0, 1.0]
            }
            VaryingKind::FrontFacing => [math::truth::<One>(self.inputs.front); 4],
            VaryingKind::Kind1
            | VaryingKind::Kind5
            | VaryingKind::Builtin14
            | VaryingKind::Builtin15
            | VaryingKind::Undocumented(_) => return Err(unknown(format!("varying kind {}", unit.kind.code()))),
        })
    }

    /// Distance of a fragment from the primitive's origin.
    fn offset(&self, lane: usize) -> [f32; 2] {
        let (column, row) = self.position(lane);
        self.inputs.offset(column, row)
    }

    fn frag_coord(&self, lane: usize) -> Vec4 {
        let (column, row) = self.position(lane);
        let [x, y] = self.inputs.offset(column, row);
        let orientation = self.context.orientation;
        let row = if orientation.flip {
            orientation.y - row as f32
        } else {
            orientation.y + row as f32
        };
        [
            column as f32 + orientation.x,
            row,
            self.inputs.z.at(x, y),
            1.0 / self.inputs.inverse_w.at(x, y),
        ]
    }

    /// A varying of the vertices; components from the index on, as many as the alignment says.
    fn interpolated(&mut self, lane: usize, unit: &Varying) -> Vec4 {
        let offset = unit.offset().map_or(0, |scalar| self.scalar(lane, scalar) as i32);
        let first = (unit.index as i32)
            .wrapping_add(offset)
            .wrapping_shl(unit.alignment.shift());
        let offset = self.offset(lane);
        let mut value = [0.0, 0.0, 0.0, 1.0];
        for (component, value) in value.iter_mut().enumerate().take(unit.alignment.components()) {
            let at = first.wrapping_add(component as i32);
            if !(0..4 * SLOTS as i32).contains(&at) {
                self.outside(lane, Outside::Varying, i64::from(at));
            }
            *value = self.inputs.varying(at as usize, offset);
        }
        value
    }

    fn scalar(&self, lane: usize, scalar: Scalar) -> f32 {
        self.fragments[lane].registers[scalar.register().index()][scalar.component()]
    }

    fn source(&self, lane: usize, source: ScalarSource) -> f32 {
        modified(self.scalar(lane, source.scalar), source.absolute, source.negate)
    }

    /// `early_bias` is what a bias was when it was read, where that was before it was written.
    fn sample(&mut self, unit: &Sampler, coordinates: &[Vec4; 4], early_bias: Option<[f32; 4]>) -> Result<()> {
        // One texture for the quad: which one is the first fragment's choice.
        let offset = unit.offset().map_or(0, |scalar| self.scalar(0, scalar) as i32);
        let index = i64::from(unit.index) + i64::from(offset);
        let texture = usize::try_from(index)
            .ok()
            .and_then(|index| self.context.textures.get(index));
        let lod = |lane: usize| match unit.level() {
            LevelOfDetail::Explicit(scalar) => Lod::Level(self.scalar(lane, scalar)),
            LevelOfDetail::Bias(scalar) => {
                let shared = !unit.is_cube() && self.silicon.has(Switch::OneBiasPerQuad);
                let lane = if shared { 0 } else { lane };
                Lod::Bias(early_bias.map_or_else(|| self.scalar(lane, scalar), |bias| bias[lane]))
            }
            LevelOfDetail::Implicit => Lod::Bias(0.0),
        };
        let lods = std::array::from_fn(lod);
        let texels = match texture {
            Some(texture) => texture.sample(coordinates, &lods, unit.is_cube()),
            // What a missing texture gives is not known; nothing may go wrong ([?]).
            None => {
                self.outside(0, Outside::Texture, index);
                [[0.0, 0.0, 0.0, 1.0]; 4]
            }
        };
        for (fragment, texel) in self.fragments.iter_mut().zip(texels) {
            fragment.registers[Register::TEXTURE.index()] = texel;
        }
        Ok(())
    }

    /// Float number of an index.
    fn place(&self, lane: usize, index: i32, alignment: Alignment, offset: Option<Scalar>) -> i32 {
        let offset = offset.map_or(0, |scalar| self.scalar(lane, scalar) as i32);
        index.wrapping_add(offset).wrapping_shl(alignment.shift())
    }

    fn load(&mut self, lane: usize, unit: &Load) -> Result<()> {
        let first = self.place(lane, unit.signed_index(), unit.alignment, unit.offset());
        let mut value = [0.0; 4];
        for (component, value) in value.iter_mut().enumerate().take(unit.alignment.components()) {
            let at = first.wrapping_add(component as i32);
            *value = match unit.source {
                LoadSource::Uniform => self.uniform(lane, at),
                LoadSource::Temporary => self.temporary(lane, at, false).map_or(0.0, |value| *value),
                LoadSource::Undocumented(source) => return Err(unknown(format!("load source {source}"))),
            };
        }
        self.fragments[lane].registers[Register::UNIFORM.index()] = value;
        Ok(())
    }

    fn uniform(&mut self, lane: usize, at: i32) -> f32 {
        let value = usize::try_from(at).ok().and_then(|at| self.context.uniforms.get(at));
        match value {
            Some(value) => self.numbers.loaded(*value),
            None => {
                self.outside(lane, Outside::Uniform, i64::from(at));
                0.0
            }
        }
    }

    fn temporary(&mut self, lane: usize, at: i32, write: bool) -> Option<&mut f32> {
        let (low, _) = self.context.program.temporaries?;
        let index = usize::try_from(i64::from(at) - i64::from(low)).ok();
        let have = self.fragments[lane].temporaries.len();
        let index = index.filter(|index| *index < have);
        if O::ON && !self.waits {
            match index {
                Some(_) => self.observer.temporary(lane, i64::from(at), write),
                None => self.outside(lane, Outside::Temporary, i64::from(at)),
            }
        }
        self.fragments[lane].temporaries.get_mut(index?)
    }

    fn multiply(&mut self, lane: usize, i: &Instruction) -> Result<()> {
        let fragment = &self.fragments[lane];
        let mut writes = [Write::default(); 2];
        let (mut vec_mul, mut float_mul) = (fragment.vec_mul, fragment.float_mul);
        if let Some(unit) = &i.vec_mul {
            let vector = unit.unit();
            let (a, b) = (vector_of(fragment, &vector.a), vector_of(fragment, &vector.b));
            for component in 0..4 {
                vec_mul[component] = outcome(
                    multiplied(self.numbers, unit.op, a[component], b[component])?,
                    unit.modifier,
                );
            }
            writes[0] = Write {
                register: unit.destination,
                mask: unit.mask,
                value: vec_mul,
            };
        }
        if let Some(unit) = &i.float_mul {
            let scalar = unit.unit();
            let (a, b) = (self.source(lane, scalar.a), self.source(lane, scalar.b));
            float_mul = outcome(multiplied(self.numbers, unit.op, a, b)?, unit.modifier);
            writes[1] = scalar_write(&scalar, float_mul);
        }
        (self.fragments[lane].vec_mul, self.fragments[lane].float_mul) = (vec_mul, float_mul);
        if !self.waits {
            writes.into_iter().for_each(|write| self.write(lane, write));
        }
        Ok(())
    }

    /// Both adders of all fragments read before any of them writes: derivatives look at the neighbours.
    fn accumulate(&mut self, i: &Instruction, active: &[bool; 4]) -> Result<()> {
        let mut writes = [[Write::default(); 2]; 4];
        if let Some(acc) = &i.vec_acc {
            let unit = acc.unit();
            let operands: [(Vec4, Vec4); 4] = std::array::from_fn(|lane| {
                let fragment = &self.fragments[lane];
                let a = if acc.a_is_mul {
                    mixed(fragment.vec_mul, &unit.a)
                } else {
                    vector_of(fragment, &unit.a)
                };
                (a, vector_of(fragment, &unit.b))
            });
            for lane in (0..4).filter(|lane| active[*lane]) {
                let mut value = [0.0; 4];
                for (component, value) in value.iter_mut().enumerate() {
                    let [x, y, z, w] = operands[lane].0;
                    let of = |lane: usize| (operands[lane].0[component], operands[lane].1[component]);
                    *value = match acc.op {
                        AccOp::Sum3 => x + (y + z),
                        AccOp::Sum4 => (x + y) + (z + w),
                        op => self.added(lane, op, of)?,
                    };
                    *value = outcome(*value, unit.modifier);
                }
                writes[lane][0] = Write {
                    register: unit.destination,
                    mask: unit.mask,
                    value,
                };
            }
        }
        // The scalar adder sees a register the vec4 multiplier wrote, and not what the vec4 adder writes.
        if let Some(acc) = &i.float_acc {
            let unit = acc.unit();
            let operands: [(f32, f32); 4] = std::array::from_fn(|lane| {
                let a = if acc.a_is_mul {
                    modified(self.fragments[lane].float_mul, unit.a.absolute, unit.a.negate)
                } else {
                    self.source(lane, unit.a)
                };
                (a, self.source(lane, unit.b))
            });
            for lane in (0..4).filter(|lane| active[*lane]) {
                let value = self.added(lane, acc.op, |lane| operands[lane])?;
                writes[lane][1] = scalar_write(&unit, outcome(value, unit.modifier));
            }
        }
        for (lane, writes) in writes.into_iter().enumerate() {
            for write in writes {
                self.write(lane, write);
            }
        }
        Ok(())
    }

    /// An adder's operation but for the sums; `of` gives a fragment's operands.
    fn added(&self, lane: usize, op: AccOp, of: impl Fn(usize) -> (f32, f32)) -> Result<f32> {
        let (a, b) = of(lane);
        Ok(match op {
            AccOp::Add => a + b,
            AccOp::Fract => math::fract::<One>(a),
            AccOp::Ne => math::truth::<One>(a != b),
            AccOp::Gt => math::truth::<One>(a > b),
            AccOp::Ge => math::truth::<One>(a >= b),
            AccOp::Eq => math::truth::<One>(a == b),
            AccOp::Floor => a.floor(),
            AccOp::Ceil => math::ceil::<One>(a),
            AccOp::Min => self.numbers.minimum(a, b),
            AccOp::Max => self.numbers.maximum(a, b),
            // The right fragment's first operand and the left one's second.
            AccOp::DFdx => of(lane | 1).0 + of(lane & !1).1,
            AccOp::DFdy if self.context.orientation.flip_derivative => of(lane & !2).0 + of(lane | 2).1,
            AccOp::DFdy => of(lane | 2).0 + of(lane & !2).1,
            AccOp::Select => {
                if self.fragments[lane].float_mul != 0.0 {
                    a
                } else {
                    b
                }
            }
            AccOp::Mov => a,
            // The scalar adder has no sums.
            AccOp::Sum3 | AccOp::Sum4 | AccOp::Undocumented(_) => {
                return Err(unknown(format!("acc operation {}", op.code())));
            }
        })
    }

    fn combine(&mut self, lane: usize, unit: &Combine) -> Result<()> {
        let a = self.source(lane, unit.a_source());
        let scalar = |value: f32| Write {
            register: unit.destination.register(),
            mask: 1 << unit.destination.component(),
            value: [outcome(value, unit.modifier); 4],
        };
        let (register, mask) = unit.destination_vector();
        let vector = |value: Vec4| Write { register, mask, value };
        let write = match unit.form() {
            Form::Scalar(op) => scalar(function(self.numbers, op, a)?),
            // The atan chain: the first part gives the finished angle, the second passes it on ([?] in docs/spec/mali/pp.md, section 10).
            Form::AtanPart2(b) => scalar(vector_of(&self.fragments[lane], &b)[0]),
            Form::Scale(b) => vector(vector_of(&self.fragments[lane], &b).map(|b| self.numbers.product(a, b))),
            Form::Vector(VectorFunction::AtanPart1) => vector([math::atan::<One>(a), 1.0, 0.0, 0.0]),
            Form::Vector(VectorFunction::Atan2Part1) => {
                let b = self.source(lane, unit.b_source());
                vector([math::atan2::<One>(a, b), 1.0, 0.0, 0.0])
            }
            Form::Vector(VectorFunction::Undocumented(op)) => return Err(unknown(format!("combine operation {op}"))),
        };
        self.write(lane, write);
        Ok(())
    }

    fn store(&mut self, lane: usize, unit: &Store) -> Result<()> {
        if unit.reads_tile() {
            let (column, row) = self.position(lane);
            let (color, depth) = self.context.tile.map_or(([0.0; 4], 0.0), |tile| tile(column, row));
            let value = match unit.target {
                StoreTarget::Depth => [depth, 0.0, 0.0, 0.0],
                StoreTarget::TemporaryOrColor | StoreTarget::Undocumented(_) => color,
            };
            self.write(
                lane,
                Write {
                    register: unit.source.register(),
                    mask: ALL,
                    value,
                },
            );
            return Ok(());
        }
        let first = self.place(lane, unit.signed_index(), unit.alignment, unit.offset());
        for component in 0..unit.alignment.components() {
            let value = self.scalar(lane, unit.first().behind(component as u32));
            let value = self.numbers.half(value);
            if let Some(slot) = self.temporary(lane, first.wrapping_add(component as i32), true) {
                *slot = value;
            }
        }
        Ok(())
    }

    fn finish(&self, number: usize, out: &mut Fragments) {
        let mut live = 0;
        for (lane, fragment) in self.fragments.iter().enumerate() {
            let at = 4 * number + lane;
            let output = |register| FragmentContext::output(register).map_or([0.0; 4], |at| fragment.registers[at]);
            let put = |rows: &mut [[f32; MAX_FRAGMENTS]; 4], register| {
                rows.iter_mut()
                    .zip(output(register))
                    .for_each(|(row, value)| row[at] = value);
            };
            put(&mut out.color, self.context.color_register);
            if let Some(register) = self.context.second_register {
                put(&mut out.second, register);
            }
            if let Some(register) = self.context.depth_register {
                out.depth[at] = output(register)[0];
            }
            live |= u8::from(!fragment.discarded) << lane;
        }
        out.live[number] = live & self.quad.live;
    }
}

fn halves(constant: &Constant) -> Vec4 {
    constant.halves().map(half::to_f32)
}

fn swizzled(value: Vec4, swizzle: Swizzle) -> Vec4 {
    std::array::from_fn(|at| value[swizzle.index(at)])
}

/// Absolute value first, then negation.
fn modified(value: f32, absolute: bool, negate: bool) -> f32 {
    let value = if absolute { value.abs() } else { value };
    if negate { -value } else { value }
}

/// Destination modifiers (docs/spec/mali/pp.md, section 4).
fn outcome(value: f32, modifier: Modifier) -> f32 {
    match modifier {
        Modifier::None => value,
        Modifier::Saturate => math::saturate::<One>(value),
        Modifier::Positive => {
            if value > 0.0 {
                value
            } else {
                0.0
            }
        }
        Modifier::Integer => value.trunc(),
    }
}

/// The fault of a number that no table has.
fn unknown(what: String) -> Fault {
    Fault::new(FaultKind::Program, format!("{what} is unknown"))
}

/// A vector as an operand has it.
fn mixed(value: Vec4, source: &VectorSource) -> Vec4 {
    swizzled(value, source.swizzle).map(|value| modified(value, source.absolute, source.negate))
}

fn vector_of(fragment: &Fragment, source: &VectorSource) -> Vec4 {
    mixed(fragment.registers[source.register.index()], source)
}

fn scalar_write(unit: &ScalarUnit, value: f32) -> Write {
    Write {
        register: unit.destination.register(),
        mask: u32::from(unit.write) << unit.destination.component(),
        value: [value; 4],
    }
}

/// The multipliers' operations.
fn multiplied(numbers: Numbers, op: MulOp, a: f32, b: f32) -> Result<f32> {
    let truth = math::truth::<One>;
    Ok(match op {
        MulOp::Mul => numbers.product(a, b),
        MulOp::MulX2 | MulOp::MulX4 | MulOp::MulX8 | MulOp::MulD16 | MulOp::MulD8 | MulOp::MulD4 | MulOp::MulD2 => {
            numbers.product(a, b) * op.scale().unwrap_or(1.0)
        }
        MulOp::Not => truth(a == 0.0),
        MulOp::And => truth((a != 0.0) & (b != 0.0)),
        MulOp::Or => truth((a != 0.0) | (b != 0.0)),
        MulOp::Xor => truth((a != 0.0) ^ (b != 0.0)),
        MulOp::Ne => truth(a != b),
        MulOp::Gt => truth(a > b),
        MulOp::Ge => truth(a >= b),
        MulOp::Eq => truth(a == b),
        MulOp::Min => numbers.minimum(a, b),
        MulOp::Max => numbers.maximum(a, b),
        MulOp::Mov => a,
        MulOp::Undocumented(op) => return Err(unknown(format!("mul operation {op}"))),
    })
}

/// The combine unit's functions of one number.
fn function(numbers: Numbers, op: ScalarFunction, a: f32) -> Result<f32> {
    Ok(match op {
        ScalarFunction::Rcp => numbers.reciprocal(a),
        ScalarFunction::Mov => a,
        ScalarFunction::Sqrt => a.sqrt(),
        ScalarFunction::Rsqrt => math::rsqrt::<One>(a),
        ScalarFunction::Exp2 => math::exp2::<One>(a),
        ScalarFunction::Log2 => math::log2::<One>(a),
        ScalarFunction::Sin => math::sin_turns::<One>(a),
        ScalarFunction::Cos => math::cos_turns::<One>(a),
        ScalarFunction::Undocumented(op) => return Err(unknown(format!("combine operation {op}"))),
    })
}

fn taken(fragment: &Fragment, branch: &Branch) -> bool {
    let value = |scalar: Scalar| fragment.registers[scalar.register().index()][scalar.component()];
    let (a, b) = (value(branch.a), value(branch.b));
    let wanted = branch.condition;
    branch.always() || wanted.greater() && a > b || wanted.equal() && a == b || wanted.less() && a < b
}
