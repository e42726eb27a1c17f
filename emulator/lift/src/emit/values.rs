//! Expressions: gathers operands and emits operations.

use super::*;

impl Emitter<'_> {
    pub(super) fn value(&mut self, id: Id) -> Value {
        if let Some(variable) = self.spilled.get(&id) {
            let pointer = self.pre(Expression::LocalVariable(*variable));
            return self.push(Expression::Load { pointer });
        }
        match self.values.get(&id) {
            Some(value) => *value,
            // A value of an unreachable block.
            None => self.literal(0.0),
        }
    }

    /// An operand.
    pub(super) fn gather(&mut self, lanes: &[Lane]) -> Value {
        let first = lanes[0];
        let width = usize::from(self.source.node(first.value).width);
        if lanes.iter().all(|lane| lane.value == first.value) {
            let value = self.value(first.value);
            return match (width, lanes.len()) {
                (1, count) => self.splat(value, count),
                (_, 1) => self.component(value, width, first.lane.into()),
                (_, count) if count == width && in_order(lanes) => value,
                (_, count) => {
                    let mut pattern = [naga::SwizzleComponent::X; 4];
                    let places = pattern.iter_mut().zip(lanes);
                    places.for_each(|(place, lane)| *place = COMPONENTS[usize::from(lane.lane)]);
                    self.push(Expression::Swizzle {
                        size: size(count),
                        vector: value,
                        pattern,
                    })
                }
            };
        }
        let mut parts = Vec::new();
        for run in lanes.chunk_by(|a, b| a.value == b.value) {
            parts.push(self.gather(run));
        }
        let truths = self.source.node(first.value).op.is_truth();
        let scalar = if truths { naga::Scalar::BOOL } else { naga::Scalar::F32 };
        let ty = self.vector_type(lanes.len(), scalar);
        self.push(Expression::Compose { ty, components: parts })
    }

    pub(super) fn args(&mut self, args: &[Gather]) -> Vec<Value> {
        args.iter().map(|lanes| self.gather(lanes)).collect()
    }

    /// Emits the value of a node.
    pub(super) fn node(&mut self, id: Id) {
        let node = self.source.node(id).clone();
        if matches!(node.op, Op::Constant(_)) || matches!(node.op, Op::Input(input) if !is_indexed(input)) {
            return;
        }
        let value = match node.op {
            Op::Phi => {
                let Some(variable) = self.phis.get(&id).copied() else {
                    return;
                };
                let pointer = self.pre(Expression::LocalVariable(variable));
                self.push(Expression::Load { pointer })
            }
            Op::Store => {
                let args = self.args(&node.args);
                let pointer = self.memory_place(args[0]);
                self.statement(naga::Statement::Store {
                    pointer,
                    value: args[1],
                });
                return;
            }
            op => {
                let args = self.args(&node.args);
                self.operation(op, &args, usize::from(node.width))
            }
        };
        match self.spilled.get(&id).copied() {
            Some(variable) => {
                let pointer = self.pre(Expression::LocalVariable(variable));
                self.statement(naga::Statement::Store { pointer, value });
            }
            None => {
                self.values.insert(id, value);
            }
        }
    }

    pub(super) fn operation(&mut self, op: Op, args: &[Value], width: usize) -> Value {
        use naga::{BinaryOperator as B, MathFunction as M, UnaryOperator as U};
        let a = args.first().copied();
        let (Some(a), b) = (a, args.get(1).copied()) else {
            return self.literal(0.0);
        };
        let second = b.unwrap_or(a);
        match op {
            Op::Neg => self.push(Expression::Unary { op: U::Negate, expr: a }),
            Op::Abs => self.math(M::Abs, a, None),
            Op::Half => self.half(a, width),
            Op::Saturate => self.math(M::Saturate, a, None),
            Op::Trunc => self.math(M::Trunc, a, None),
            Op::Floor => self.math(M::Floor, a, None),
            Op::Ceil => self.math(M::Ceil, a, None),
            Op::Fract => self.math(M::Fract, a, None),
            Op::Sign => self.math(M::Sign, a, None),
            Op::Sqrt => self.math(M::Sqrt, a, None),
            Op::Rsqrt => self.math(M::InverseSqrt, a, None),
            Op::Exp2 => self.math(M::Exp2, a, None),
            Op::Log2 => self.math(M::Log2, a, None),
            Op::Atan => self.math(M::Atan, a, None),
            Op::Normalize => self.math(M::Normalize, a, None),
            Op::Atan2 => self.math(M::Atan2, a, b),
            Op::Min => self.math(M::Min, a, b),
            Op::Max => self.math(M::Max, a, b),
            Op::Dot => self.math(M::Dot, a, b),
            Op::Rcp => {
                let one = self.splat_of(1.0, width);
                self.binary(B::Divide, one, a)
            }
            Op::SinTurns | Op::CosTurns => {
                let turn = self.splat_of(std::f32::consts::TAU, width);
                let angle = self.binary(B::Multiply, a, turn);
                self.math(if op == Op::SinTurns { M::Sin } else { M::Cos }, angle, None)
            }
            Op::Add => self.binary(B::Add, a, second),
            Op::Sub => self.binary(B::Subtract, a, second),
            Op::Transform { float, .. } => self.transform(float, a),
            Op::Mul => self.binary(B::Multiply, a, second),
            Op::Div => self.binary(B::Divide, a, second),
            // NaN differs from everything; naga's comparison returns false for it.
            Op::Compare(Relation::NotEqual) if self.exact => {
                let same = self.binary(B::Equal, a, second);
                self.push(Expression::Unary {
                    op: U::LogicalNot,
                    expr: same,
                })
            }
            Op::Compare(relation) => {
                let relation = match relation {
                    Relation::Equal => B::Equal,
                    Relation::NotEqual => B::NotEqual,
                    Relation::Less => B::Less,
                    Relation::LessEqual => B::LessEqual,
                };
                self.binary(relation, a, second)
            }
            Op::And if width == 1 => self.binary(B::LogicalAnd, a, second),
            Op::Or if width == 1 => self.binary(B::LogicalOr, a, second),
            Op::And => self.binary(B::And, a, second),
            Op::Or => self.binary(B::InclusiveOr, a, second),
            Op::Xor => self.binary(B::NotEqual, a, second),
            Op::Truth => self.truth(a, width),
            Op::Select => self.push(Expression::Select {
                condition: a,
                accept: second,
                reject: args.get(2).copied().unwrap_or(second),
            }),
            Op::DerivativeX | Op::DerivativeY => {
                let axis = match op {
                    Op::DerivativeX => naga::DerivativeAxis::X,
                    _ => naga::DerivativeAxis::Y,
                };
                self.push(Expression::Derivative {
                    axis,
                    ctrl: naga::DerivativeControl::Fine,
                    expr: a,
                })
            }
            Op::Texture { sampler, level, .. } => self.sample(sampler, level, a, b),
            Op::Load => {
                let pointer = self.memory_place(a);
                self.push(Expression::Load { pointer })
            }
            Op::Input(input) => self.indexed(input, a),
            Op::Constant(_) | Op::Copy | Op::Phi | Op::Store => a,
        }
    }

    /// A uniform matrix times a vector.
    pub(super) fn transform(&mut self, float: u32, vector: Value) -> Value {
        let Some((block, place)) = self.uniforms.zip(self.interface.place(float)) else {
            return vector;
        };
        let base = self.pre(Expression::GlobalVariable(block));
        let mut pointer = self.push(Expression::AccessIndex {
            base,
            index: self.member(place.member),
        });
        if self.interface.uniforms[place.member].shape.elements.is_some() {
            pointer = self.push(Expression::AccessIndex {
                base: pointer,
                index: place.element,
            });
        }
        let matrix = self.push(Expression::Load { pointer });
        self.binary(naga::BinaryOperator::Multiply, matrix, vector)
    }

    /// A number as a register stores it: the nearest half, with denormals flushed to zero.
    pub(super) fn half(&mut self, value: Value, width: usize) -> Value {
        let rounded = self.math(naga::MathFunction::QuantizeToF16, value, None);
        let magnitude = self.math(naga::MathFunction::Abs, rounded, None);
        let smallest = self.splat_of(num::half::SMALLEST, width);
        let condition = self.binary(naga::BinaryOperator::Less, magnitude, smallest);
        let accept = self.splat_of(0.0, width);
        self.push(Expression::Select {
            condition,
            accept,
            reject: rounded,
        })
    }

    pub(super) fn sample(&mut self, number: u32, level: Level, coordinate: Value, second: Option<Value>) -> Value {
        // Sampler numbers may have gaps.
        let mut samplers = self.interface.samplers.iter();
        let place = samplers.position(|sampler| sampler.number == number);
        let Some((place, (image, sampler))) = place.and_then(|at| Some((at, *self.textures.get(at)?))) else {
            return self.literal_vector(&[0, 0, 0, 1f32.to_bits()]);
        };
        let coordinate = match self.exact && self.interface.samplers[place].cube {
            true => self.on_one_face(coordinate),
            false => coordinate,
        };
        let image = self.pre(Expression::GlobalVariable(image));
        let sampler = self.pre(Expression::GlobalVariable(sampler));
        let level = match (level, second) {
            (Level::Bias, Some(bias)) => naga::SampleLevel::Bias(bias),
            (Level::Exact, Some(level)) => naga::SampleLevel::Exact(level),
            _ => naga::SampleLevel::Auto,
        };
        self.push(Expression::ImageSample {
            image,
            sampler,
            gather: None,
            coordinate,
            array_index: None,
            offset: None,
            level,
            depth_ref: None,
            clamp_to_edge: false,
        })
    }

    /// A direction adjusted to the face that the hardware chooses for axes of equal length: y before x before z (\[?\]
    /// in docs/spec/mali/textures.md). The axis grows by less than one texel; the choice of other devices is
    /// unspecified.
    fn on_one_face(&mut self, direction: Value) -> Value {
        use naga::{BinaryOperator as B, MathFunction};
        let size = self.math(MathFunction::Abs, direction, None);
        let [x, y, z] = [0, 1, 2].map(|axis| self.component(size, 3, axis));
        let other = self.math(MathFunction::Max, x, Some(z));
        let upright = self.binary(B::Equal, y, other);
        let (level, low) = (self.binary(B::Equal, x, z), self.binary(B::Less, y, x));
        let level = self.binary(B::LogicalAnd, level, low);
        let (grown, one) = (self.literal(1.0 + 1.0 / 4096.0), self.literal(1.0));
        let mut factor = |condition| {
            self.push(Expression::Select {
                condition,
                accept: grown,
                reject: one,
            })
        };
        let factors = vec![factor(level), factor(upright), one];
        let factors = self.compose(3, factors);
        self.binary(B::Multiply, direction, factors)
    }

    /// A float as an index from 0 to a limit.
    pub(super) fn index(&mut self, value: Value, limit: u32) -> Value {
        let (low, high) = (self.literal(0.0), self.literal((limit - 1) as f32));
        let inside = self.push(Expression::Math {
            fun: naga::MathFunction::Clamp,
            arg: value,
            arg1: Some(low),
            arg2: Some(high),
            arg3: None,
        });
        self.push(Expression::As {
            expr: inside,
            kind: naga::ScalarKind::Uint,
            convert: Some(4),
        })
    }

    pub(super) fn memory_place(&mut self, number: Value) -> Value {
        let index = self.index(number, MEMORY);
        let base = match self.memory {
            Some(memory) => self.pre(Expression::LocalVariable(memory)),
            None => number,
        };
        self.push(Expression::Access { base, index })
    }

    /// An input at a computed index.
    pub(super) fn indexed(&mut self, input: Input, number: Value) -> Value {
        if input == Input::StageAt {
            let index = self.index(number, INPUTS);
            let base = match self.stage_inputs {
                Some(inputs) => self.pre(Expression::LocalVariable(inputs)),
                None => number,
            };
            let pointer = self.push(Expression::Access { base, index });
            return self.push(Expression::Load { pointer });
        }
        if let Some(table) = self.uniform_table {
            let index = self.index(number, self.interface.uniform_floats.max(1));
            let base = self.pre(Expression::LocalVariable(table));
            let pointer = self.push(Expression::Access { base, index });
            return self.push(Expression::Load { pointer });
        }
        let Some(block) = self.uniforms else { return number };
        let vec4s = self.block_vec4s(block);
        let index = self.index(number, 4 * vec4s);
        let four = self.pre(Expression::Literal(Literal::U32(4)));
        let vector = self.binary(naga::BinaryOperator::Divide, index, four);
        let component = self.binary(naga::BinaryOperator::Modulo, index, four);
        let base = self.pre(Expression::GlobalVariable(block));
        let array = self.push(Expression::AccessIndex { base, index: 0 });
        let vector = self.push(Expression::Access {
            base: array,
            index: vector,
        });
        let pointer = self.push(Expression::Access {
            base: vector,
            index: component,
        });
        self.push(Expression::Load { pointer })
    }

    pub(super) fn block_vec4s(&self, block: Handle<naga::GlobalVariable>) -> u32 {
        match self.module.types[self.module.global_variables[block].ty].inner {
            TypeInner::Struct { span, .. } => span / 16,
            _ => 1,
        }
    }
}

fn in_order(lanes: &[Lane]) -> bool {
    lanes.iter().enumerate().all(|(at, lane)| usize::from(lane.lane) == at)
}
