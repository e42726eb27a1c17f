//! Uniforms, textures, inputs and outputs of the module: types, bindings and initial values.

use super::*;

impl Emitter<'_> {
    /// Uniforms and textures.
    pub(super) fn globals(&mut self) {
        let ops = || self.source.nodes.iter().map(|node| node.op);
        let at_random = ops().any(|op| op == Op::Input(Input::UniformAt));
        let unnamed = self.source.nodes.iter().any(|node| match node.op {
            Op::Input(Input::Uniform(first)) => {
                (first..first + u32::from(node.width)).any(|float| self.interface.place(float).is_none())
            }
            _ => false,
        });
        let reads = |op| matches!(op, Op::Input(Input::Uniform(_)) | Op::Transform { .. });
        let used = at_random || ops().any(reads);
        let known = !self.interface.uniforms.is_empty() || !self.interface.constants.is_empty();
        self.named_uniforms = !unnamed && (known || !at_random);
        if used {
            let ty = if self.named_uniforms {
                self.named_block()
            } else {
                self.plain_block(at_random)
            };
            let block = naga::GlobalVariable {
                name: Some("uniforms".to_owned()),
                space: naga::AddressSpace::Uniform,
                binding: Some(naga::ResourceBinding { group: 1, binding: 0 }),
                ty,
                init: None,
                memory_decorations: naga::MemoryDecorations::empty(),
            };
            self.uniforms = Some(self.module.global_variables.append(block, Span::UNDEFINED));
        }
        for place in 0..self.interface.samplers.len() {
            self.texture(place);
        }
    }

    /// Declares a texture and its sampler, with the code's number as binding.
    pub(super) fn texture(&mut self, place: usize) {
        let sampler = &self.interface.samplers[place];
        let (name, cube, number) = (sampler.name.clone(), sampler.cube, sampler.number);
        let image = self.type_of(
            None,
            TypeInner::Image {
                dim: if cube {
                    naga::ImageDimension::Cube
                } else {
                    naga::ImageDimension::D2
                },
                arrayed: false,
                class: naga::ImageClass::Sampled {
                    kind: naga::ScalarKind::Float,
                    multi: false,
                },
            },
        );
        let comparison = TypeInner::Sampler { comparison: false };
        let sampler = self.type_of(None, comparison);
        let pair = [
            (name.clone(), image, 2 * number),
            (format!("{name}_sampler"), sampler, 2 * number + 1),
        ];
        let [image, sampler] = pair.map(|(name, ty, binding)| {
            let variable = naga::GlobalVariable {
                name: Some(name),
                space: naga::AddressSpace::Handle,
                binding: Some(naga::ResourceBinding { group: 0, binding }),
                ty,
                init: None,
                memory_decorations: naga::MemoryDecorations::empty(),
            };
            self.module.global_variables.append(variable, Span::UNDEFINED)
        });
        self.textures.push((image, sampler));
    }

    /// A block of named uniforms with std140 offsets.
    pub(super) fn named_block(&mut self) -> Handle<naga::Type> {
        let (mut members, mut offset) = (Vec::new(), 0);
        let own = || {
            self.interface
                .uniforms
                .iter()
                .map(|uniform| (uniform.name.clone(), uniform.shape))
        };
        let block = self.interface.block.clone().unwrap_or_else(|| own().collect());
        for (name, shape) in block {
            let (ty, alignment, bytes) = self.uniform_type(shape);
            offset = u32::next_multiple_of(offset, alignment);
            members.push(naga::StructMember {
                name: Some(name),
                ty,
                binding: None,
                offset,
            });
            offset += bytes;
        }
        let span = offset.next_multiple_of(16).max(16);
        self.type_of(Some("Uniforms"), TypeInner::Struct { members, span })
    }

    /// A uniform's type, alignment and size in bytes.
    pub(super) fn uniform_type(&mut self, shape: Shape) -> (Handle<naga::Type>, u32, u32) {
        let rows = usize::from(shape.rows);
        // Array elements take 16 bytes each, so small ones are stored as vec4s.
        let rows = if shape.elements.is_some() && shape.columns == 1 {
            4
        } else {
            rows
        };
        let vector = [4, 8, 16, 16][rows - 1];
        let (mut ty, mut alignment, mut bytes) = (self.floats(rows), vector, 4 * rows as u32);
        if shape.columns > 1 {
            let matrix = TypeInner::Matrix {
                columns: size(usize::from(shape.columns)),
                rows: size(rows),
                scalar: naga::Scalar::F32,
            };
            ty = self.type_of(None, matrix);
            (alignment, bytes) = (vector, vector * u32::from(shape.columns));
        }
        if let Some(elements) = shape.elements {
            let stride = bytes.next_multiple_of(16);
            ty = self.array(ty, elements, stride);
            (alignment, bytes) = (16, stride * elements);
        }
        (ty, alignment, bytes)
    }

    pub(super) fn array(&mut self, base: Handle<naga::Type>, count: u32, stride: u32) -> Handle<naga::Type> {
        let size =
            naga::ArraySize::Constant(std::num::NonZeroU32::new(count.max(1)).unwrap_or(std::num::NonZeroU32::MIN));
        self.type_of(None, TypeInner::Array { base, size, stride })
    }

    /// Uniforms as an array of vec4s; of maximum length if the program computes indices.
    pub(super) fn plain_block(&mut self, at_random: bool) -> Handle<naga::Type> {
        let last = self.source.nodes.iter().filter_map(|node| match node.op {
            Op::Input(Input::Uniform(first)) => Some(first + u32::from(node.width)),
            _ => None,
        });
        let floats = last.max().unwrap_or(0).max(self.interface.uniform_floats);
        let known = self.interface.uniform_floats > 0;
        let vec4s = floats.div_ceil(4).max(if at_random && !known { 304 } else { 1 });
        let base = self.floats(4);
        let array = self.array(base, vec4s, 16);
        let members = vec![naga::StructMember {
            name: Some("t".to_owned()),
            ty: array,
            binding: None,
            offset: 0,
        }];
        let span = 16 * vec4s;
        self.type_of(Some("Uniforms"), TypeInner::Struct { members, span })
    }

    /// The arguments of the entry point: the inputs that the program reads.
    pub(super) fn arguments(&mut self) {
        let interface = self.interface;
        let reads = |input: fn(Input) -> bool| {
            let inputs = self.source.nodes.iter().filter_map(|node| match node.op {
                Op::Input(input) => Some(input),
                _ => None,
            });
            inputs.into_iter().any(input)
        };
        let builtins = [
            (Argument::Position, reads(|input| input == Input::FragCoord)),
            (Argument::FrontFacing, reads(|input| input == Input::FrontFacing)),
            (Argument::PointCoord, reads(|input| input == Input::PointCoord)),
        ];
        for (at, input) in interface.inputs.iter().enumerate() {
            let ty = self.floats(usize::from(input.components));
            let binding = self.location(input.location, self.stage == ShaderStage::Fragment);
            self.argument(Argument::Location(at), &input.name, ty, binding);
        }
        for (argument, _) in builtins.into_iter().filter(|(_, used)| *used) {
            let (name, builtin, width) = match argument {
                Argument::FrontFacing => ("front_facing", naga::BuiltIn::FrontFacing, 0),
                Argument::PointCoord => ("point_coord", naga::BuiltIn::PointCoord, 2),
                _ => ("frag_coord", naga::BuiltIn::Position { invariant: false }, 4),
            };
            let ty = match width {
                0 => self.vector_type(1, naga::Scalar::BOOL),
                width => self.floats(width),
            };
            self.argument(argument, name, ty, naga::Binding::BuiltIn(builtin));
        }
    }

    pub(super) fn argument(&mut self, argument: Argument, name: &str, ty: Handle<naga::Type>, binding: naga::Binding) {
        self.arguments.insert(argument, self.function.arguments.len() as u32);
        self.function.arguments.push(naga::FunctionArgument {
            name: Some(name.to_owned()),
            ty,
            binding: Some(binding),
        });
    }

    pub(super) fn location(&self, location: u32, interpolated: bool) -> naga::Binding {
        naga::Binding::Location {
            location,
            interpolation: interpolated.then_some(naga::Interpolation::Perspective),
            sampling: interpolated.then_some(naga::Sampling::Center),
            blend_src: None,
            per_primitive: false,
        }
    }

    /// The result type: one member for each of the function's results.
    pub(super) fn result(&mut self) {
        let mut members = Vec::new();
        let mut offset = 0;
        let mut add = |emitter: &mut Self, name: &str, width: usize, binding| {
            let ty = emitter.floats(width);
            members.push(naga::StructMember {
                name: Some(name.to_owned()),
                ty,
                binding: Some(binding),
                offset,
            });
            offset += 16;
        };
        let builtin = naga::Binding::BuiltIn;
        if self.stage == ShaderStage::Fragment {
            let color = self.location(0, false);
            add(self, "color", 4, color);
            if self.source.results.len() > 1 {
                add(self, "depth", 1, builtin(naga::BuiltIn::FragDepth));
            }
        } else {
            add(
                self,
                "position",
                4,
                builtin(naga::BuiltIn::Position { invariant: false }),
            );
            if self.interface.point_size.is_some() {
                add(self, "point_size", 1, builtin(naga::BuiltIn::PointSize));
            }
            for output in &self.interface.outputs {
                let binding = self.location(output.location, true);
                add(self, &output.name, usize::from(output.components), binding);
            }
        }
        let inner = TypeInner::Struct { members, span: offset };
        let ty = self.type_of(Some("Output"), inner);
        self.result = Some(ty);
        self.function.result = Some(naga::FunctionResult { ty, binding: None });
    }

    /// Reads all inputs that do not depend on computed values, at the program's start.
    pub(super) fn inputs(&mut self) {
        if let Some(variable) = self.stage_inputs {
            for (at, input) in self.interface.inputs.iter().enumerate() {
                let vector = self.argument_value(Argument::Location(at));
                for component in 0..u32::from(input.components) {
                    let value = self.component(vector, usize::from(input.components), component);
                    let pointer = self.pre(Expression::LocalVariable(variable));
                    let place = self.push(Expression::AccessIndex {
                        base: pointer,
                        index: (input.float + component).min(INPUTS - 1),
                    });
                    self.statement(naga::Statement::Store { pointer: place, value });
                }
            }
        }
        if let Some(table) = self.uniform_table {
            self.fill_uniform_table(table);
        }
        for id in 0..self.source.nodes.len() as Id {
            let node = self.source.node(id);
            let width = usize::from(node.width);
            let value = match node.op {
                Op::Constant(bits) => self.literal_vector(&bits[..width]),
                Op::Input(Input::Stage(first)) => {
                    let lanes = (first..first + width as u32).map(|float| self.stage_input(float));
                    let lanes: Vec<_> = lanes.collect();
                    self.gathered(&lanes)
                }
                Op::Input(Input::Uniform(first)) => self.uniform(first, width),
                Op::Input(Input::FragCoord) => self.frag_coord(),
                Op::Input(Input::PointCoord) => {
                    let point = self.argument_value(Argument::PointCoord);
                    let (zero, one) = (self.literal(0.0), self.literal(1.0));
                    self.compose(4, vec![point, zero, one])
                }
                Op::Input(Input::FrontFacing) => {
                    let front = self.argument_value(Argument::FrontFacing);
                    self.truth(front, 1)
                }
                _ => continue,
            };
            self.values.insert(id, value);
        }
    }

    /// Copies named uniforms and the program's constants into the layout that the program uses.
    fn fill_uniform_table(&mut self, table: Handle<naga::LocalVariable>) {
        for float in 0..self.interface.uniform_floats {
            let value = match (self.interface.constant(float), self.interface.place(float)) {
                (Some(value), _) => self.number(value.to_bits()),
                (None, Some(place)) => {
                    let (vector, width) = self.named_uniform(place);
                    self.component(vector, width, place.row)
                }
                (None, None) => continue,
            };
            let base = self.pre(Expression::LocalVariable(table));
            let pointer = self.push(Expression::AccessIndex { base, index: float });
            self.statement(naga::Statement::Store { pointer, value });
        }
    }

    pub(super) fn argument_value(&mut self, argument: Argument) -> Value {
        let known = Known::Argument(argument);
        if let Some(value) = self.known.get(&known) {
            return *value;
        }
        let index = self.arguments.get(&argument).copied().unwrap_or_default();
        let value = self.pre(Expression::FunctionArgument(index));
        self.known.insert(known, value);
        value
    }

    /// A float of the inputs: its vector, the vector's width and the component; `None` if there is none.
    pub(super) fn stage_input(&mut self, float: u32) -> Option<(Value, usize, u32)> {
        let mut inputs = self.interface.inputs.iter().enumerate();
        let (at, input) =
            inputs.find(|(_, input)| (input.float..input.float + u32::from(input.components)).contains(&float))?;
        let value = self.argument_value(Argument::Location(at));
        Some((value, usize::from(input.components), float - input.float))
    }

    /// A vector from components of others; missing ones are 0, or 1 as the last of four.
    pub(super) fn gathered(&mut self, lanes: &[Option<(Value, usize, u32)>]) -> Value {
        if let [Some((value, width, 0)), ..] = *lanes {
            let whole = lanes.iter().enumerate();
            let whole = whole
                .into_iter()
                .all(|(at, lane)| *lane == Some((value, width, at as u32)));
            if whole && width == lanes.len() {
                return value;
            }
        }
        let parts = lanes.iter().enumerate().map(|(at, lane)| match *lane {
            Some((value, width, component)) => self.component(value, width, component),
            None => self.literal(if at == 3 { 1.0 } else { 0.0 }),
        });
        let parts: Vec<_> = parts.collect();
        match parts.as_slice() {
            [one] => *one,
            _ => self.compose(parts.len(), parts),
        }
    }

    /// Uniforms starting at a float.
    pub(super) fn uniform(&mut self, first: u32, width: usize) -> Value {
        let lanes = (first..first + width as u32).map(|float| {
            if !self.named_uniforms {
                return Some((self.plain_uniform(float / 4), 4, float % 4));
            }
            let place = self.interface.place(float)?;
            let (value, width) = self.named_uniform(place);
            Some((value, width, place.row))
        });
        let lanes: Vec<_> = lanes.collect();
        self.gathered(&lanes)
    }

    pub(super) fn plain_uniform(&mut self, vector: u32) -> Value {
        if let Some(value) = self.known.get(&Known::Plain(vector)) {
            return *value;
        }
        let base = self.uniforms.map(|block| self.pre(Expression::GlobalVariable(block)));
        let Some(base) = base else { return self.literal(0.0) };
        let array = self.push(Expression::AccessIndex { base, index: 0 });
        let pointer = self.push(Expression::AccessIndex {
            base: array,
            index: vector,
        });
        let value = self.push(Expression::Load { pointer });
        self.known.insert(Known::Plain(vector), value);
        value
    }

    /// Index of a uniform among the members of its block.
    pub(super) fn member(&self, uniform: usize) -> u32 {
        let name = &self.interface.uniforms[uniform].name;
        let shared = self.interface.block.as_ref();
        let member = shared.and_then(|block| block.iter().position(|(other, _)| other == name));
        member.unwrap_or(uniform) as u32
    }

    /// A vector of a named uniform, and its width.
    pub(super) fn named_uniform(&mut self, place: Place) -> (Value, usize) {
        let shape = self.interface.uniforms[place.member].shape;
        let rows = if shape.elements.is_some() && shape.columns == 1 {
            4
        } else {
            usize::from(shape.rows)
        };
        let known = Known::Uniform(place.member, place.element, place.column);
        if let Some(value) = self.known.get(&known) {
            return (*value, rows);
        }
        let Some(block) = self.uniforms else {
            return (self.literal(0.0), 1);
        };
        let base = self.pre(Expression::GlobalVariable(block));
        let mut pointer = self.push(Expression::AccessIndex {
            base,
            index: self.member(place.member),
        });
        if shape.elements.is_some() {
            pointer = self.push(Expression::AccessIndex {
                base: pointer,
                index: place.element,
            });
        }
        if shape.columns > 1 {
            pointer = self.push(Expression::AccessIndex {
                base: pointer,
                index: place.column,
            });
        }
        let value = self.push(Expression::Load { pointer });
        self.known.insert(known, value);
        (value, rows)
    }

    /// `gl_FragCoord` as the program expects it: w not inverted, and rows counted upwards if the height is known.
    pub(super) fn frag_coord(&mut self) -> Value {
        let position = self.argument_value(Argument::Position);
        let [x, y, z, w] = [0, 1, 2, 3].map(|at| self.component(position, 4, at));
        let y = match self.convention.height {
            Some(height) => {
                let height = self.literal(height);
                self.binary(naga::BinaryOperator::Subtract, height, y)
            }
            None => y,
        };
        // The program reads w, but the target languages provide 1/w.
        let one = self.literal(1.0);
        let w = self.binary(naga::BinaryOperator::Divide, one, w);
        self.compose(4, vec![x, y, z, w])
    }
}
