//! Emits values and statements as a naga module with one entry point.

mod interface;
mod scopes;
mod statements;
mod values;

use crate::interface::{Interface, Place, Shape};
use crate::ssa::{Function, Gather, Id, Input, Lane, Level, Op, Relation};
use crate::structure::{Statement, structure};
use std::collections::HashMap;
use translate::ShaderStage;
use translate::naga::{self, Expression, Handle, Literal, Span, TypeInner, VectorSize};

type Value = Handle<Expression>;

/// Conventions of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convention {
    /// Clip space and pixels count rows downwards, as in Vulkan; otherwise upwards, as in OpenGL's and WebGPU's clip
    /// space.
    pub rows_down: bool,
    /// Rows of the target, needed to count `gl_FragCoord.y` upwards; without it rows are counted from the top.
    pub height: Option<f32>,
}

struct Emitter<'a> {
    source: &'a Function,
    interface: &'a Interface,
    stage: ShaderStage,
    convention: Convention,
    /// Whether results must match the hardware's bits.
    exact: bool,
    module: naga::Module,
    function: naga::Function,
    /// Statements of the current list.
    body: Vec<naga::Statement>,
    /// First and last expression not yet emitted.
    waiting: Option<(Value, Value)>,
    values: HashMap<Id, Value>,
    /// Variables for phis, and for values that are used outside the list that defines them.
    phis: HashMap<Id, Handle<naga::LocalVariable>>,
    spilled: HashMap<Id, Handle<naga::LocalVariable>>,
    target: Option<Handle<naga::LocalVariable>>,
    memory: Option<Handle<naga::LocalVariable>>,
    stage_inputs: Option<Handle<naga::LocalVariable>>,
    uniforms: Option<Handle<naga::GlobalVariable>>,
    named_uniforms: bool,
    /// All uniforms in order, if the program computes an index.
    uniform_table: Option<Handle<naga::LocalVariable>>,
    textures: Vec<(Handle<naga::GlobalVariable>, Handle<naga::GlobalVariable>)>,
    arguments: HashMap<Argument, u32>,
    /// Arguments and uniform vectors already named.
    known: HashMap<Known, Value>,
    result: Option<Handle<naga::Type>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    Argument(Argument),
    /// Member, element and column of a uniform.
    Uniform(usize, u32, u32),
    /// A vec4 of unnamed uniforms.
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
pub(crate) fn emit(
    source: &Function,
    interface: &Interface,
    stage: ShaderStage,
    (convention, exact): (Convention, bool),
) -> naga::Module {
    let statements = structure(source);
    let mut interface = interface.clone();
    // The result is drawn with the API's own viewport.
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
        exact,
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
        uniform_table: None,
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

    /// Creates the variables that the program needs: phis, values used outside their list, its memory.
    fn variables(&mut self, statements: &[Statement]) {
        for id in scopes::spilled(self.source, statements) {
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
                Op::Input(Input::UniformAt) if self.named_uniforms && self.uniform_table.is_none() => {
                    let base = self.floats(1);
                    let ty = self.array(base, self.interface.uniform_floats, 4);
                    self.uniform_table = Some(self.local("uniform_table".to_owned(), ty));
                }
                _ => {}
            }
        }
        if uses_target(statements) {
            let ty = self.vector_type(1, naga::Scalar::U32);
            self.target = Some(self.local("target".to_owned(), ty));
        }
    }

    // Expressions.

    /// An expression that needs no statement.
    fn pre(&mut self, expression: Expression) -> Value {
        self.flush();
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    /// Adds an expression here.
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

    /// Numbers that are not valid literals in naga's languages are made from their bits.
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

    fn finish(mut self) -> naga::Module {
        self.flush();
        let body = naga::Block::from_vec(std::mem::take(&mut self.body));
        let stops = statements::ends(&body);
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

/// Floats of a program's memory.
pub(crate) const MEMORY: u32 = 4 * 512;

/// Floats of a stage's inputs: twelve varyings or sixteen attributes.
const INPUTS: u32 = 64;

/// Whether the program reads one of these uniforms, or a computed one.
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

fn uses_target(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::SetTarget(_) | Statement::IfTarget(..) | Statement::Dispatch(_) => true,
        Statement::If(_, yes, no) => uses_target(yes) || uses_target(no),
        Statement::Loop(body) | Statement::Once(body) => uses_target(body),
        _ => false,
    })
}
