//! Values and statements as a naga module with one entry point.

use crate::interface::{Interface, Place, Shape};
use crate::ssa::{Function, Gather, Id, Input, Lane, Level, Op, Relation};
use crate::structure::{Statement, structure};
use std::collections::HashMap;
use translate::ShaderStage;
use translate::naga::{self, Expression, Handle, Literal, Span, TypeInner, VectorSize};

type Value = Handle<Expression>;

/// What there is to decide about the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convention {
    /// Clip space and pixels count rows downwards, as Vulkan has it; otherwise upwards, as OpenGL and WebGPU have clip
    /// space.
    pub rows_down: bool,
    /// Rows of the target, from which `gl_FragCoord.y` is counted upwards; without it rows are counted from the top.
    pub height: Option<f32>,
}

/// A list that statements are put into, and where it stands in the nesting.
struct Scope {
    /// The list around it.
    outer: Option<usize>,
}

struct Emitter<'a> {
    source: &'a Function,
    interface: &'a Interface,
    stage: ShaderStage,
    convention: Convention,
    module: naga::Module,
    function: naga::Function,
    /// Statements of the list that is being filled.
    body: Vec<naga::Statement>,
    /// First and last expression that wait to be emitted.
    waiting: Option<(Value, Value)>,
    values: HashMap<Id, Value>,
    /// Variables of phis, and of values that are used outside of the list they are made in.
    phis: HashMap<Id, Handle<naga::LocalVariable>>,
    spilled: HashMap<Id, Handle<naga::LocalVariable>>,
    target: Option<Handle<naga::LocalVariable>>,
    memory: Option<Handle<naga::LocalVariable>>,
    stage_inputs: Option<Handle<naga::LocalVariable>>,
    uniforms: Option<Handle<naga::GlobalVariable>>,
    named_uniforms: bool,
    textures: Vec<(Handle<naga::GlobalVariable>, Handle<naga::GlobalVariable>)>,
    arguments: HashMap<Argument, u32>,
    /// Arguments and vectors of uniforms that have been named already.
    known: HashMap<Known, Value>,
    result: Option<Handle<naga::Type>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    Argument(Argument),
    /// Member, element and column of a uniform.
    Uniform(usize, u32, u32),
    /// A vec4 of uniforms without names.
    Plain(u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Argument {
    Location(usize),
    Position,
    FrontFacing,
    PointCoord,
}

fn size(width: usize) -> VectorSize {
    match width {
        2 => VectorSize::Bi,
        3 => VectorSize::Tri,
        _ => VectorSize::Quad,
    }
}

const COMPONENTS: [naga::SwizzleComponent; 4] = naga::SwizzleComponent::XYZW;

/// A function's module.
pub fn emit(source: &Function, interface: &Interface, stage: ShaderStage, convention: Convention) -> naga::Module {
    let statements = structure(source);
    let mut interface = interface.clone();
    // Who draws the result has a viewport of its own.
    if let Some(float) = interface
        .viewport
        .filter(|float| !reads_uniforms(source, *float..*float + 8))
    {
        interface.uniforms.retain(|uniform| uniform.float != float);
    }
    let mut emitter = Emitter {
        source,
        interface: &interface,
        stage,
        convention,
        module: naga::Module::default(),
        function: naga::Function::default(),
        body: Vec::new(),
        waiting: None,
        values: HashMap::new(),
        phis: HashMap::new(),
        spilled: HashMap::new(),
        target: None,
        memory: None,
        stage_inputs: None,
        uniforms: None,
        named_uniforms: false,
        textures: Vec::new(),
        arguments: HashMap::new(),
        known: HashMap::new(),
        result: None,
    };
    emitter.globals();
    emitter.arguments();
    emitter.result();
    emitter.variables(&statements);
    emitter.inputs();
    emitter.list(&statements);
    emitter.finish()
}

impl Emitter<'_> {
    fn type_of(&mut self, name: Option<&str>, inner: TypeInner) -> Handle<naga::Type> {
        let ty = naga::Type {
            name: name.map(str::to_owned),
            inner,
        };
        self.module.types.insert(ty, Span::UNDEFINED)
    }

    fn vector_type(&mut self, width: usize, scalar: naga::Scalar) -> Handle<naga::Type> {
        let inner = match width {
            1 => TypeInner::Scalar(scalar),
            _ => TypeInner::Vector {
                size: size(width),
                scalar,
            },
        };
        self.type_of(None, inner)
    }

    fn floats(&mut self, width: usize) -> Handle<naga::Type> {
        self.vector_type(width, naga::Scalar::F32)
    }

    /// Uniforms and textures.
    fn globals(&mut self) {
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
        self.named_uniforms = !at_random && !unnamed;
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
        for number in 0..self.interface.samplers.len() {
            self.texture(number as u32);
        }
    }

    fn texture(&mut self, number: u32) {
        let sampler = &self.interface.samplers[number as usize];
        let (name, cube) = (sampler.name.clone(), sampler.cube);
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

    /// A block of uniforms with their names, each where std140 puts it.
    fn named_block(&mut self) -> Handle<naga::Type> {
        let (mut members, mut offset) = (Vec::new(), 0);
        for uniform in self.interface.uniforms.clone() {
            let (ty, alignment, bytes) = self.uniform_type(uniform.shape);
            offset = u32::next_multiple_of(offset, alignment);
            members.push(naga::StructMember {
                name: Some(uniform.name),
                ty,
                binding: None,
                offset,
            });
            offset += bytes;
        }
        let span = offset.next_multiple_of(16).max(16);
        self.type_of(Some("Uniforms"), TypeInner::Struct { members, span })
    }

    /// A uniform's type, alignment and bytes.
    fn uniform_type(&mut self, shape: Shape) -> (Handle<naga::Type>, u32, u32) {
        let rows = usize::from(shape.rows);
        // Elements of arrays have 16 bytes each, so small ones are kept as vec4s.
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

    fn array(&mut self, base: Handle<naga::Type>, count: u32, stride: u32) -> Handle<naga::Type> {
        let size =
            naga::ArraySize::Constant(std::num::NonZeroU32::new(count.max(1)).unwrap_or(std::num::NonZeroU32::MIN));
        self.type_of(None, TypeInner::Array { base, size, stride })
    }

    /// Uniforms as an array of vec4s; all that can be addressed when the program looks wherever it likes.
    fn plain_block(&mut self, at_random: bool) -> Handle<naga::Type> {
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

    /// The arguments of the entry point: what the program reads of its inputs.
    fn arguments(&mut self) {
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

    fn argument(&mut self, argument: Argument, name: &str, ty: Handle<naga::Type>, binding: naga::Binding) {
        self.arguments.insert(argument, self.function.arguments.len() as u32);
        self.function.arguments.push(naga::FunctionArgument {
            name: Some(name.to_owned()),
            ty,
            binding: Some(binding),
        });
    }

    fn location(&self, location: u32, interpolated: bool) -> naga::Binding {
        naga::Binding::Location {
            location,
            interpolation: interpolated.then_some(naga::Interpolation::Perspective),
            sampling: interpolated.then_some(naga::Sampling::Center),
            blend_src: None,
            per_primitive: false,
        }
    }

    /// The type of the result: one member for each of the function's results.
    fn result(&mut self) {
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

    fn local(&mut self, name: String, ty: Handle<naga::Type>) -> Handle<naga::LocalVariable> {
        let variable = naga::LocalVariable {
            name: Some(name),
            ty,
            init: None,
        };
        self.function.local_variables.append(variable, Span::UNDEFINED)
    }

    fn value_type(&mut self, id: Id) -> Handle<naga::Type> {
        let node = self.source.node(id);
        let scalar = if node.op.is_truth() {
            naga::Scalar::BOOL
        } else {
            naga::Scalar::F32
        };
        self.vector_type(usize::from(node.width), scalar)
    }

    /// Makes the variables that the program needs: phis, values that leave their list, its memory.
    fn variables(&mut self, statements: &[Statement]) {
        let mut scopes = Scopes {
            source: self.source,
            scopes: vec![Scope { outer: None }],
            made: HashMap::new(),
            used: Vec::new(),
        };
        scopes.list(statements, 0);
        for id in scopes.spilled() {
            let ty = self.value_type(id);
            let variable = self.local(format!("v{id}"), ty);
            self.spilled.insert(id, variable);
        }
        for id in 0..self.source.nodes.len() as Id {
            match self.source.node(id).op {
                Op::Phi => {
                    let ty = self.value_type(id);
                    let variable = self.local(format!("r{id}"), ty);
                    self.phis.insert(id, variable);
                }
                Op::Load | Op::Store if self.memory.is_none() => {
                    let base = self.floats(1);
                    let ty = self.array(base, MEMORY, 4);
                    self.memory = Some(self.local("temporaries".to_owned(), ty));
                }
                Op::Input(Input::StageAt) if self.stage_inputs.is_none() => {
                    let base = self.floats(1);
                    let ty = self.array(base, INPUTS, 4);
                    self.stage_inputs = Some(self.local("inputs".to_owned(), ty));
                }
                _ => {}
            }
        }
        if uses_target(statements) {
            let ty = self.vector_type(1, naga::Scalar::U32);
            self.target = Some(self.local("target".to_owned(), ty));
        }
    }

    /// Reads, at the program's beginning, all inputs that do not depend on anything.
    fn inputs(&mut self) {
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

    fn argument_value(&mut self, argument: Argument) -> Value {
        let known = Known::Argument(argument);
        if let Some(value) = self.known.get(&known) {
            return *value;
        }
        let index = self.arguments.get(&argument).copied().unwrap_or_default();
        let value = self.pre(Expression::FunctionArgument(index));
        self.known.insert(known, value);
        value
    }

    /// A float of the inputs: its vector, the vector's width and the component; nothing where there is none.
    fn stage_input(&mut self, float: u32) -> Option<(Value, usize, u32)> {
        let mut inputs = self.interface.inputs.iter().enumerate();
        let (at, input) =
            inputs.find(|(_, input)| (input.float..input.float + u32::from(input.components)).contains(&float))?;
        let value = self.argument_value(Argument::Location(at));
        Some((value, usize::from(input.components), float - input.float))
    }

    /// A vector of components of others; what is nowhere is 0, and 1 as the last of four.
    fn gathered(&mut self, lanes: &[Option<(Value, usize, u32)>]) -> Value {
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

    /// Uniforms from a float on.
    fn uniform(&mut self, first: u32, width: usize) -> Value {
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

    fn plain_uniform(&mut self, vector: u32) -> Value {
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

    /// A vector of a named uniform, and how wide it is.
    fn named_uniform(&mut self, place: Place) -> (Value, usize) {
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
            index: place.member as u32,
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

    /// `gl_FragCoord` as the program sees it: w itself, and rows counted upwards where their number is known.
    fn frag_coord(&mut self) -> Value {
        let position = self.argument_value(Argument::Position);
        let [x, y, z, w] = [0, 1, 2, 3].map(|at| self.component(position, 4, at));
        let y = match self.convention.height {
            Some(height) => {
                let height = self.literal(height);
                self.binary(naga::BinaryOperator::Subtract, height, y)
            }
            None => y,
        };
        // The program reads w where the others give 1/w.
        let one = self.literal(1.0);
        let w = self.binary(naga::BinaryOperator::Divide, one, w);
        self.compose(4, vec![x, y, z, w])
    }

    // Expressions.

    /// An expression that needs no statement.
    fn pre(&mut self, expression: Expression) -> Value {
        self.flush();
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    /// An expression that is made here.
    fn push(&mut self, expression: Expression) -> Value {
        let value = self.function.expressions.append(expression, Span::UNDEFINED);
        self.waiting = Some((self.waiting.map_or(value, |(first, _)| first), value));
        value
    }

    fn flush(&mut self) {
        if let Some((first, last)) = self.waiting.take() {
            self.body
                .push(naga::Statement::Emit(naga::Range::new_from_bounds(first, last)));
        }
    }

    fn statement(&mut self, statement: naga::Statement) {
        self.flush();
        self.body.push(statement);
    }

    fn literal(&mut self, value: f32) -> Value {
        self.pre(Expression::Literal(Literal::F32(value)))
    }

    /// Numbers that are no literals in naga's languages are made of such.
    fn number(&mut self, bits: u32) -> Value {
        let value = f32::from_bits(bits);
        if value.is_finite() {
            return self.literal(value);
        }
        let word = self.pre(Expression::Literal(Literal::U32(bits)));
        let word = self.push(Expression::Splat {
            size: VectorSize::Bi,
            value: word,
        });
        let word = self.push(Expression::AccessIndex { base: word, index: 0 });
        self.push(Expression::As {
            expr: word,
            kind: naga::ScalarKind::Float,
            convert: None,
        })
    }

    fn literal_vector(&mut self, bits: &[u32]) -> Value {
        let parts: Vec<_> = bits.iter().map(|bits| self.number(*bits)).collect();
        match parts.as_slice() {
            [one] => *one,
            _ => self.compose(parts.len(), parts),
        }
    }

    fn compose(&mut self, width: usize, components: Vec<Value>) -> Value {
        let ty = self.floats(width);
        self.push(Expression::Compose { ty, components })
    }

    fn component(&mut self, base: Value, width: usize, index: u32) -> Value {
        if width == 1 {
            return base;
        }
        self.push(Expression::AccessIndex { base, index })
    }

    fn splat(&mut self, value: Value, width: usize) -> Value {
        if width == 1 {
            return value;
        }
        self.push(Expression::Splat {
            size: size(width),
            value,
        })
    }

    fn splat_of(&mut self, value: f32, width: usize) -> Value {
        let value = self.literal(value);
        self.splat(value, width)
    }

    fn binary(&mut self, op: naga::BinaryOperator, left: Value, right: Value) -> Value {
        self.push(Expression::Binary { op, left, right })
    }

    fn math(&mut self, fun: naga::MathFunction, arg: Value, arg1: Option<Value>) -> Value {
        self.push(Expression::Math {
            fun,
            arg,
            arg1,
            arg2: None,
            arg3: None,
        })
    }

    fn truth(&mut self, condition: Value, width: usize) -> Value {
        let (accept, reject) = (self.splat_of(1.0, width), self.splat_of(0.0, width));
        self.push(Expression::Select {
            condition,
            accept,
            reject,
        })
    }

    // Values.

    fn value(&mut self, id: Id) -> Value {
        if let Some(variable) = self.spilled.get(&id) {
            let pointer = self.pre(Expression::LocalVariable(*variable));
            return self.push(Expression::Load { pointer });
        }
        match self.values.get(&id) {
            Some(value) => *value,
            // A value of a block that nothing leads to.
            None => self.literal(0.0),
        }
    }

    /// An operand.
    fn gather(&mut self, lanes: &[Lane]) -> Value {
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

    fn args(&mut self, args: &[Gather]) -> Vec<Value> {
        args.iter().map(|lanes| self.gather(lanes)).collect()
    }

    /// Makes the value of a node.
    fn node(&mut self, id: Id) {
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

    fn operation(&mut self, op: Op, args: &[Value], width: usize) -> Value {
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

    /// A matrix of the uniforms times a vector.
    fn transform(&mut self, float: u32, vector: Value) -> Value {
        let Some((block, place)) = self.uniforms.zip(self.interface.place(float)) else {
            return vector;
        };
        let base = self.pre(Expression::GlobalVariable(block));
        let mut pointer = self.push(Expression::AccessIndex {
            base,
            index: place.member as u32,
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

    /// What a register keeps of a number: the nearest half, and zero for what would be a denormal.
    fn half(&mut self, value: Value, width: usize) -> Value {
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

    fn sample(&mut self, number: u32, level: Level, coordinate: Value, second: Option<Value>) -> Value {
        let Some((image, sampler)) = self.textures.get(number as usize).copied() else {
            return self.literal_vector(&[0, 0, 0, 1f32.to_bits()]);
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

    /// A float as an index from 0 to a limit.
    fn index(&mut self, value: Value, limit: u32) -> Value {
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

    fn memory_place(&mut self, number: Value) -> Value {
        let index = self.index(number, MEMORY);
        let base = match self.memory {
            Some(memory) => self.pre(Expression::LocalVariable(memory)),
            None => number,
        };
        self.push(Expression::Access { base, index })
    }

    /// An input by a number that is computed.
    fn indexed(&mut self, input: Input, number: Value) -> Value {
        if input == Input::StageAt {
            let index = self.index(number, INPUTS);
            let base = match self.stage_inputs {
                Some(inputs) => self.pre(Expression::LocalVariable(inputs)),
                None => number,
            };
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

    fn block_vec4s(&self, block: Handle<naga::GlobalVariable>) -> u32 {
        match self.module.types[self.module.global_variables[block].ty].inner {
            TypeInner::Struct { span, .. } => span / 16,
            _ => 1,
        }
    }

    // Statements.

    fn list(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.one(statement);
        }
        self.flush();
    }

    fn nested(&mut self, statements: &[Statement]) -> naga::Block {
        self.flush();
        let outer = std::mem::take(&mut self.body);
        self.list(statements);
        naga::Block::from_vec(std::mem::replace(&mut self.body, outer))
    }

    fn one(&mut self, statement: &Statement) {
        match statement {
            Statement::Values(block) => {
                let nodes = self.source.blocks[*block].nodes.clone();
                nodes.into_iter().for_each(|id| self.node(id));
            }
            Statement::Copies(from, to) => self.copies(*from, *to),
            Statement::If(truth, yes, no) => {
                let condition = self.gather(&[*truth]);
                let (accept, reject) = (self.nested(yes), self.nested(no));
                self.statement(naga::Statement::If {
                    condition,
                    accept,
                    reject,
                });
            }
            Statement::Loop(body) => {
                let body = self.nested(body);
                self.statement(naga::Statement::Loop {
                    body,
                    continuing: naga::Block::new(),
                    break_if: None,
                });
            }
            Statement::Once(body) => {
                let mut body = self.nested(body);
                // A loop that is left at its end: every writer knows how to break out of it. A continue that is meant
                // for a loop around it cannot pass through, so such lists are switches.
                if continues(&body) {
                    let selector = self.pre(Expression::Literal(Literal::I32(0)));
                    self.statement(naga::Statement::Switch {
                        selector,
                        cases: vec![naga::SwitchCase {
                            value: naga::SwitchValue::Default,
                            body,
                            fall_through: false,
                        }],
                    });
                    return;
                }
                if !ends(&body) {
                    body.push(naga::Statement::Break, Span::UNDEFINED);
                }
                self.statement(naga::Statement::Loop {
                    body,
                    continuing: naga::Block::new(),
                    break_if: None,
                });
            }
            Statement::Break => self.statement(naga::Statement::Break),
            Statement::Continue => self.statement(naga::Statement::Continue),
            Statement::Return => {
                let components = self.results();
                let value = self.result.map(|ty| self.push(Expression::Compose { ty, components }));
                self.statement(naga::Statement::Return { value });
            }
            Statement::Discard => {
                self.statement(naga::Statement::Kill);
                self.nothing();
            }
            Statement::SetTarget(to) => self.set_target(*to),
            Statement::IfTarget(to, steps) => {
                let condition = self.is_target(*to);
                let accept = self.nested(steps);
                self.statement(naga::Statement::If {
                    condition,
                    accept,
                    reject: naga::Block::new(),
                });
            }
            Statement::Dispatch(cases) => self.dispatch(cases),
        }
    }

    /// A result nobody looks at, for languages that want one behind a discard.
    fn nothing(&mut self) {
        let value = self.result.map(|ty| self.pre(Expression::ZeroValue(ty)));
        self.statement(naga::Statement::Return { value });
    }

    fn results(&mut self) -> Vec<Value> {
        let results = self.source.results.clone();
        let mut values: Vec<_> = results.iter().map(|lanes| self.gather(lanes)).collect();
        if self.stage == ShaderStage::Vertex && self.convention.rows_down {
            let [x, y, z, w] = [0, 1, 2, 3].map(|at| self.component(values[0], 4, at));
            let y = self.push(Expression::Unary {
                op: naga::UnaryOperator::Negate,
                expr: y,
            });
            values[0] = self.compose(4, vec![x, y, z, w]);
        }
        values
    }

    /// Phis of one block get their values all at once.
    fn copies(&mut self, from: usize, to: usize) {
        let block = &self.source.blocks[to];
        let Some(way) = block.before.iter().position(|before| *before == from) else {
            return;
        };
        let phis: Vec<Id> = block
            .nodes
            .iter()
            .copied()
            .filter(|id| self.phis.contains_key(id))
            .collect();
        let values: Vec<_> = phis
            .iter()
            .map(|id| self.gather(&self.source.node(*id).args[way].clone()))
            .collect();
        for (id, value) in phis.into_iter().zip(values) {
            let pointer = self.pre(Expression::LocalVariable(self.phis[&id]));
            self.statement(naga::Statement::Store { pointer, value });
        }
    }

    fn set_target(&mut self, to: u32) {
        let Some(target) = self.target else { return };
        let pointer = self.pre(Expression::LocalVariable(target));
        let value = self.pre(Expression::Literal(Literal::U32(to)));
        self.statement(naga::Statement::Store { pointer, value });
    }

    fn is_target(&mut self, to: u32) -> Value {
        let Some(target) = self.target else {
            return self.pre(Expression::Literal(Literal::Bool(false)));
        };
        let pointer = self.pre(Expression::LocalVariable(target));
        let left = self.push(Expression::Load { pointer });
        let right = self.pre(Expression::Literal(Literal::U32(to)));
        self.binary(naga::BinaryOperator::Equal, left, right)
    }

    fn dispatch(&mut self, cases: &[(u32, Vec<Statement>)]) {
        let Some(target) = self.target else { return };
        self.flush();
        let outer = std::mem::take(&mut self.body);
        let pointer = self.pre(Expression::LocalVariable(target));
        let selector = self.push(Expression::Load { pointer });
        let mut arms = Vec::new();
        for (number, steps) in cases {
            arms.push(naga::SwitchCase {
                value: naga::SwitchValue::U32(*number),
                body: self.nested(steps),
                fall_through: false,
            });
        }
        arms.push(naga::SwitchCase {
            value: naga::SwitchValue::Default,
            body: naga::Block::new(),
            fall_through: false,
        });
        self.statement(naga::Statement::Switch { selector, cases: arms });
        let body = naga::Block::from_vec(std::mem::replace(&mut self.body, outer));
        self.statement(naga::Statement::Loop {
            body,
            continuing: naga::Block::new(),
            break_if: None,
        });
    }

    fn finish(mut self) -> naga::Module {
        self.flush();
        let body = naga::Block::from_vec(std::mem::take(&mut self.body));
        let stops = ends(&body);
        self.function.body = body;
        if !stops {
            self.nothing();
            let last = std::mem::take(&mut self.body);
            self.function.body.append(&mut naga::Block::from_vec(last));
        }
        self.module.entry_points.push(naga::EntryPoint {
            name: "main".to_owned(),
            stage: self.stage,
            early_depth_test: None,
            workgroup_size: [0; 3],
            workgroup_size_overrides: None,
            function: self.function,
            mesh_info: None,
            task_payload: None,
            incoming_ray_payload: None,
        });
        self.module
    }
}

/// Floats of a program's own memory.
pub const MEMORY: u32 = 4 * 512;

/// Floats of a stage's inputs: twelve varyings or sixteen attributes.
const INPUTS: u32 = 64;

/// The program reads one of these uniforms, or it is not known which.
fn reads_uniforms(source: &Function, floats: std::ops::Range<u32>) -> bool {
    source.nodes.iter().any(|node| match node.op {
        Op::Input(Input::Uniform(first)) => first < floats.end && floats.start < first + u32::from(node.width),
        Op::Input(Input::UniformAt) => true,
        _ => false,
    })
}

fn is_indexed(input: Input) -> bool {
    matches!(input, Input::StageAt | Input::UniformAt)
}

fn in_order(lanes: &[Lane]) -> bool {
    lanes.iter().enumerate().all(|(at, lane)| usize::from(lane.lane) == at)
}

/// The list leaves what it is in.
fn ends(block: &naga::Block) -> bool {
    use naga::Statement::{Block, Break, Continue, If, Kill, Return};
    match block.last() {
        Some(Break | Continue | Return { .. } | Kill) => true,
        Some(If { accept, reject, .. }) => ends(accept) && ends(reject),
        Some(Block(inner)) => ends(inner),
        _ => false,
    }
}

/// The list has a continue for a loop around it.
fn continues(block: &naga::Block) -> bool {
    block.iter().any(|statement| match statement {
        naga::Statement::Continue => true,
        naga::Statement::If { accept, reject, .. } => continues(accept) || continues(reject),
        naga::Statement::Block(inner) => continues(inner),
        naga::Statement::Switch { cases, .. } => cases.iter().any(|case| continues(&case.body)),
        _ => false,
    })
}

fn uses_target(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::SetTarget(_) | Statement::IfTarget(..) | Statement::Dispatch(_) => true,
        Statement::If(_, yes, no) => uses_target(yes) || uses_target(no),
        Statement::Loop(body) | Statement::Once(body) => uses_target(body),
        _ => false,
    })
}

/// Finds the values that are used outside of the list they are made in.
struct Scopes<'a> {
    source: &'a Function,
    scopes: Vec<Scope>,
    made: HashMap<Id, usize>,
    used: Vec<(Id, usize)>,
}

impl Scopes<'_> {
    fn list(&mut self, statements: &[Statement], scope: usize) {
        for statement in statements {
            match statement {
                Statement::Values(block) => {
                    for id in &self.source.blocks[*block].nodes {
                        let node = self.source.node(*id);
                        if node.op != Op::Phi {
                            self.used
                                .extend(node.args.iter().flatten().map(|lane| (lane.value, scope)));
                        }
                        self.made.insert(*id, scope);
                    }
                }
                Statement::Copies(from, to) => {
                    let block = &self.source.blocks[*to];
                    let way = block.before.iter().position(|before| before == from);
                    let phis = block
                        .nodes
                        .iter()
                        .map(|id| self.source.node(*id))
                        .filter(|node| node.op == Op::Phi);
                    let lanes = phis.filter_map(|node| node.args.get(way?)).flatten();
                    self.used.extend(lanes.map(|lane| (lane.value, scope)));
                }
                Statement::If(truth, yes, no) => {
                    self.used.push((truth.value, scope));
                    self.inner(yes, scope);
                    self.inner(no, scope);
                }
                Statement::Loop(body) | Statement::Once(body) | Statement::IfTarget(_, body) => self.inner(body, scope),
                Statement::Dispatch(cases) => cases.iter().for_each(|(_, steps)| self.inner(steps, scope)),
                Statement::Return => {
                    let lanes = self.source.results.iter().flatten();
                    self.used.extend(lanes.map(|lane| (lane.value, scope)));
                }
                Statement::Break | Statement::Continue | Statement::Discard | Statement::SetTarget(_) => {}
            }
        }
    }

    fn inner(&mut self, statements: &[Statement], outer: usize) {
        self.scopes.push(Scope { outer: Some(outer) });
        self.list(statements, self.scopes.len() - 1);
    }

    /// The values that need variables, in order.
    fn spilled(&self) -> Vec<Id> {
        let leaves = |(id, scope): &(Id, usize)| {
            let node = self.source.node(*id);
            let fixed = matches!(node.op, Op::Constant(_)) || matches!(node.op, Op::Input(input) if !is_indexed(input));
            let made = self.made.get(id)?;
            let mut at = Some(*scope);
            while let Some(scope) = at {
                if scope == *made {
                    return None;
                }
                at = self.scopes[scope].outer;
            }
            (!fixed).then_some(*id)
        };
        let mut ids: Vec<Id> = self.used.iter().filter_map(leaves).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}
