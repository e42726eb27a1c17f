//! A rewritten text as a stage for Vulkan: its global variables become inputs, outputs and a block of uniforms.
//!
//! Attributes are at locations in the order of their declarations; varyings where the vertex stage has them by name.
//! Uniforms stand in one block at set 1, binding 0, textures in set 0. OpenGL's clip space becomes Vulkan's, so the picture
//! is the one OpenGL shows; what asks for `gl_FragCoord` gets a uniform [`TARGET_HEIGHT`].

use super::block::{Leaf, below, fixed, leaves};
use super::{Declared, Role, Text, uplift_for_vulkan};
use crate::error::{Error, Result};
use crate::interface::Stage;
use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, BinaryOperator, Binding, Block, BuiltIn, Expression, Function, FunctionArgument, FunctionResult,
    GlobalVariable, Handle, Interpolation, Literal, Module, ResourceBinding, ScalarKind, Span, Statement, StructMember,
    Type, TypeInner, UnaryOperator, VectorSize,
};
use std::collections::{BTreeMap, HashMap};

/// The uniform with the height of the picture in pixels.
pub const TARGET_HEIGHT: &str = "skrymir_TargetHeight";

/// Locations that the varyings of one name may have.
const MOST_LOCATIONS: u32 = 64;

/// What the stages of a program share, by name.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// Varyings, each with its first location and how many it has: the vertex stage gives them, the fragment stage finds
    /// them.
    varyings: BTreeMap<String, [u32; 2]>,
    /// Uniforms in the order of the block.
    uniforms: Vec<Member>,
    /// Attributes by their first location.
    attributes: BTreeMap<u32, String>,
}

/// A member of the block.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    leaf: Leaf,
    /// The uniform that it is of.
    of: String,
}

impl Linked {
    /// The attributes that the vertex stage reads, by their first location: the module has no names of inputs.
    pub fn attributes(&self) -> impl Iterator<Item = (u32, &str)> {
        self.attributes
            .iter()
            .map(|(location, name)| (*location, name.as_str()))
    }

    /// Notes the uniforms of a stage: every stage's block has those of all.
    ///
    /// # Errors
    /// What is wrong with the text, and uniforms that a block for Vulkan does not take.
    pub fn note(&mut self, text: &Text<'_>, stage: Stage) -> Result<()> {
        let uplifted = uplift_for_vulkan(text, stage)?;
        let module = uplifted.module(stage)?;
        self.gather(&module.shader.module, &uplifted.roles)
    }

    /// Takes the uniforms of a parsed stage.
    fn gather(&mut self, module: &Module, roles: &HashMap<String, Declared>) -> Result<()> {
        for known in known(module, roles) {
            match &known.role {
                Role::Uniform(name) => self.uniform(name, module, known.ty)?,
                Role::FragCoord => self.height(),
                _ => {}
            }
        }
        Ok(())
    }

    fn uniform(&mut self, name: &str, module: &Module, ty: Handle<Type>) -> Result<()> {
        for (member, leaf) in leaves(name, module, ty)? {
            match self.uniforms.iter().find(|known| known.name == member) {
                Some(known) if known.of != name => {
                    return Err(Error::unsupported(format!(
                        "the uniforms {name} and {} both have the member {member} in a block for Vulkan",
                        known.of
                    )));
                }
                Some(known) if known.leaf != leaf => {
                    return Err(Error::invalid(format!(
                        "the uniform {name} has another type in the other stage"
                    )));
                }
                Some(_) => {}
                None => self.uniforms.push(Member {
                    name: member,
                    leaf,
                    of: name.to_owned(),
                }),
            }
        }
        Ok(())
    }

    fn height(&mut self) {
        let leaf = Leaf {
            inner: TypeInner::Scalar(naga::Scalar::F32),
            count: None,
        };
        if !self.uniforms.iter().any(|known| known.name == TARGET_HEIGHT) {
            self.uniforms.push(Member {
                name: TARGET_HEIGHT.to_owned(),
                leaf,
                of: TARGET_HEIGHT.to_owned(),
            });
        }
    }
}

/// A text as SPIR-V of one stage with an entry point `main`.
///
/// # Errors
/// What is wrong with the text, and what Vulkan's interface has no place for.
pub fn to_vulkan(text: &Text<'_>, stage: Stage, linked: &mut Linked) -> Result<Vec<u32>> {
    let uplifted = uplift_for_vulkan(text, stage)?;
    let translate::Shader {
        mut module,
        info,
        entry,
    } = uplifted.module(stage)?.shader;
    linked.gather(&module, &uplifted.roles)?;
    let mut globals = known(&module, &uplifted.roles);
    // A varying that the fragment stage only declares need not come from anywhere.
    let used = info.get_entry_point(entry);
    globals.retain(|known| !matches!(known.role, Role::VaryingIn(_)) || !used[known.handle].is_empty());
    let mut wiring = Wiring::new(&mut module, stage, linked);
    wiring.globals(globals, used)?;
    wiring.finish()?;
    translate::to_spirv(module, stage.of_naga()).map_err(Error::of_reader)
}

/// The global variables that have a role, in the order of the source.
fn known(module: &Module, roles: &HashMap<String, Declared>) -> Vec<Known> {
    let all = module.global_variables.iter().filter_map(|(handle, global)| {
        let declared = roles.get(global.name.as_ref()?)?;
        let known = Known {
            handle,
            ty: global.ty,
            role: declared.role.clone(),
            flat: declared.flat,
        };
        Some((declared.number, known))
    });
    let mut all: Vec<_> = all.collect();
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, known)| known).collect()
}

/// A global variable with the role it has.
struct Known {
    handle: Handle<GlobalVariable>,
    ty: Handle<Type>,
    role: Role,
    flat: bool,
}

struct Wiring<'m> {
    module: &'m mut Module,
    function: Function,
    stage: Stage,
    linked: &'m mut Linked,
    /// Before the program's own `main`.
    before: Block,
    /// Behind it.
    after: Block,
    /// The program's own uniforms.
    uniforms: Vec<(Handle<GlobalVariable>, String)>,
    /// Whether the position in the picture is asked for.
    place: Option<Handle<GlobalVariable>>,
    outputs: Vec<(Binding, Handle<Type>, Handle<Expression>)>,
    locations: u32,
}

impl<'m> Wiring<'m> {
    fn new(module: &'m mut Module, stage: Stage, linked: &'m mut Linked) -> Self {
        let function = std::mem::take(&mut module.entry_points[0].function);
        Self {
            module,
            function,
            stage,
            linked,
            before: Block::new(),
            after: Block::new(),
            uniforms: Vec::new(),
            place: None,
            outputs: Vec::new(),
            locations: 0,
        }
    }

    /// Gives every variable with a role its place.
    fn globals(&mut self, all: Vec<Known>, used: &FunctionInfo) -> Result<()> {
        for known in all {
            match &known.role {
                Role::Sampler(_) => {}
                Role::Uniform(name) => self.uniforms.push((known.handle, name.clone())),
                Role::Attribute(name) => {
                    let location = self.locations;
                    if !used[known.handle].is_empty() {
                        self.linked.attributes.insert(location, name.clone());
                    }
                    self.locations += self.columns(known.ty).1;
                    self.input(&known, location)?;
                }
                Role::VaryingIn(name) => {
                    let location = self.varying(name, known.ty)?;
                    self.input(&known, location)?;
                }
                Role::VaryingOut(name) => {
                    let location = self.varying(name, known.ty)?;
                    self.output(&known, location)?;
                }
                Role::Color => self.output(&known, 0)?,
                Role::Position => self.position(&known),
                Role::PointSize => self.built_out(&known, BuiltIn::PointSize),
                Role::FragCoord => {
                    self.place = Some(known.handle);
                    self.built_in(&known, BuiltIn::Position { invariant: false });
                }
                Role::PointCoord => self.built_in(&known, BuiltIn::PointCoord),
                Role::FrontFacing => self.built_in(&known, BuiltIn::FrontFacing),
            }
        }
        Ok(())
    }

    /// A varying's location: that which it has, or the next behind all others.
    ///
    /// # Errors
    /// Unsupported: more columns than any device has locations.
    fn varying(&mut self, name: &str, ty: Handle<Type>) -> Result<u32> {
        let (_, columns) = self.columns(ty);
        if columns > MOST_LOCATIONS {
            let message = format!("the varying {name}: {columns} locations, of which there are {MOST_LOCATIONS}");
            return Err(Error::unsupported(message));
        }
        let next = self
            .linked
            .varyings
            .values()
            .map(|[location, columns]| location + columns)
            .max();
        let all = &mut self.linked.varyings;
        let [location, _] = *all.entry(name.to_owned()).or_insert([next.unwrap_or(0), columns]);
        Ok(location)
    }

    /// The type of what has one location, and how many of them there are: columns of matrices, elements of arrays.
    fn columns(&mut self, ty: Handle<Type>) -> (Handle<Type>, u32) {
        match self.module.types[ty].inner {
            TypeInner::Array { base, size, .. } => {
                let (column, count) = self.columns(base);
                (column, count.saturating_mul(fixed(size).unwrap_or(1)))
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let inner = TypeInner::Vector { size: rows, scalar };
                let column = self.module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
                (column, columns as u32)
            }
            _ => (ty, 1),
        }
    }

    fn binding(&self, ty: Handle<Type>, location: u32, flat: bool) -> Result<Binding> {
        let kind = self.module.types[ty].inner.scalar_kind();
        let interpolation = match kind {
            Some(ScalarKind::Float) if flat => Interpolation::Flat,
            Some(ScalarKind::Float) => Interpolation::Perspective,
            Some(ScalarKind::Sint | ScalarKind::Uint) => Interpolation::Flat,
            _ => {
                return Err(Error::unsupported(
                    "an input or output that is no number, vector or matrix",
                ));
            }
        };
        Ok(Binding::Location {
            location,
            interpolation: Some(interpolation),
            sampling: None,
            blend_src: None,
            per_primitive: false,
        })
    }

    /// An expression that has to be emitted, in a block.
    fn emit(function: &mut Function, block: &mut Block, expression: Expression) -> Handle<Expression> {
        let before = function.expressions.len();
        let handle = function.expressions.append(expression, Span::UNDEFINED);
        block.push(
            Statement::Emit(function.expressions.range_from(before)),
            Span::UNDEFINED,
        );
        handle
    }

    /// An expression that needs no emitting.
    fn plain(&mut self, expression: Expression) -> Handle<Expression> {
        self.function.expressions.append(expression, Span::UNDEFINED)
    }

    fn first(&mut self, expression: Expression) -> Handle<Expression> {
        Self::emit(&mut self.function, &mut self.before, expression)
    }

    fn last(&mut self, expression: Expression) -> Handle<Expression> {
        Self::emit(&mut self.function, &mut self.after, expression)
    }

    fn argument(&mut self, ty: Handle<Type>, binding: Binding) -> Handle<Expression> {
        let index = self.function.arguments.len() as u32;
        self.function.arguments.push(FunctionArgument {
            name: None,
            ty,
            binding: Some(binding),
        });
        self.plain(Expression::FunctionArgument(index))
    }

    fn store_first(&mut self, global: Handle<GlobalVariable>, value: Handle<Expression>) {
        let pointer = self.plain(Expression::GlobalVariable(global));
        self.before.push(Statement::Store { pointer, value }, Span::UNDEFINED);
    }

    fn input(&mut self, known: &Known, location: u32) -> Result<()> {
        let (column, count) = self.columns(known.ty);
        let mut components = Vec::new();
        for number in 0..count {
            let binding = self.binding(column, location + number, known.flat)?;
            components.push(self.argument(column, binding));
        }
        let value = self.composed(known.ty, &mut components.into_iter());
        self.store_first(known.handle, value);
        Ok(())
    }

    /// A value made of what has a location each.
    fn composed(
        &mut self,
        ty: Handle<Type>,
        columns: &mut impl Iterator<Item = Handle<Expression>>,
    ) -> Handle<Expression> {
        let components = match self.module.types[ty].inner {
            TypeInner::Array { base, size, .. } => (0..fixed(size).unwrap_or(1))
                .map(|_| self.composed(base, columns))
                .collect(),
            TypeInner::Matrix { columns: count, .. } => columns.by_ref().take(count as usize).collect(),
            _ => return columns.next().expect("there are as many as columns says"),
        };
        self.first(Expression::Compose { ty, components })
    }

    /// The other way: what has a location each of a value.
    fn parted(&mut self, ty: Handle<Type>, value: Handle<Expression>, parts: &mut Vec<Handle<Expression>>) {
        let (base, count) = match self.module.types[ty].inner {
            TypeInner::Array { base, size, .. } => (base, fixed(size).unwrap_or(1)),
            TypeInner::Matrix { columns, .. } => (self.columns(ty).0, columns as u32),
            _ => return parts.push(value),
        };
        for index in 0..count {
            let part = self.last(Expression::AccessIndex { base: value, index });
            self.parted(base, part, parts);
        }
    }

    fn built_in(&mut self, known: &Known, built_in: BuiltIn) {
        let value = self.argument(known.ty, Binding::BuiltIn(built_in));
        self.store_first(known.handle, value);
    }

    /// The value of a variable behind the program.
    fn result(&mut self, known: &Known) -> Handle<Expression> {
        let pointer = self.plain(Expression::GlobalVariable(known.handle));
        self.last(Expression::Load { pointer })
    }

    fn output(&mut self, known: &Known, location: u32) -> Result<()> {
        let (column, value) = (self.columns(known.ty).0, self.result(known));
        let mut parts = Vec::new();
        self.parted(known.ty, value, &mut parts);
        for (part, location) in parts.into_iter().zip(location..) {
            let binding = self.binding(column, location, known.flat)?;
            self.outputs.push((binding, column, part));
        }
        Ok(())
    }

    fn built_out(&mut self, known: &Known, built_in: BuiltIn) {
        let value = self.result(known);
        self.outputs.push((Binding::BuiltIn(built_in), known.ty, value));
    }

    /// OpenGL's clip space has y up and depths from -w on.
    fn position(&mut self, known: &Known) {
        let base = self.result(known);
        let [x, y, z, w] = [0, 1, 2, 3].map(|index| self.last(Expression::AccessIndex { base, index }));
        let y = self.last(Expression::Unary {
            op: UnaryOperator::Negate,
            expr: y,
        });
        let sum = self.last(Expression::Binary {
            op: BinaryOperator::Add,
            left: z,
            right: w,
        });
        let half = self.plain(Expression::Literal(Literal::F32(0.5)));
        let z = self.last(Expression::Binary {
            op: BinaryOperator::Multiply,
            left: sum,
            right: half,
        });
        let value = self.last(Expression::Compose {
            ty: known.ty,
            components: vec![x, y, z, w],
        });
        let binding = Binding::BuiltIn(BuiltIn::Position { invariant: false });
        self.outputs.push((binding, known.ty, value));
    }

    /// The block of uniforms: copied to the variables before the program runs.
    fn block(&mut self) {
        let shared = self.linked.uniforms.clone();
        if shared.is_empty() {
            return;
        }
        let mut end = 0u32;
        let mut members = Vec::new();
        for Member { name, leaf, .. } in &shared {
            let ty = leaf.insert(self.module);
            let size = self.module.types[ty].inner.size(self.module.to_ctx());
            members.push(StructMember {
                name: Some(name.clone()),
                ty,
                binding: None,
                offset: end,
            });
            end = (end + size).next_multiple_of(16);
        }
        let inner = TypeInner::Struct { members, span: end };
        let name = Some("Uniforms".to_owned());
        let ty = self.module.types.insert(Type { name, inner }, Span::UNDEFINED);
        let block = self.module.global_variables.append(
            GlobalVariable {
                name: Some("uniforms".to_owned()),
                space: AddressSpace::Uniform,
                binding: Some(ResourceBinding { group: 1, binding: 0 }),
                ty,
                init: None,
                memory_decorations: naga::MemoryDecorations::empty(),
            },
            Span::UNDEFINED,
        );
        let base = self.plain(Expression::GlobalVariable(block));
        for (global, name) in std::mem::take(&mut self.uniforms) {
            let ty = self.module.global_variables[global].ty;
            let value = self.value(base, &name, ty, None);
            self.store_first(global, value);
        }
        if let Some(place) = self.place {
            let height = self.member(base, TARGET_HEIGHT);
            let height = self.first(Expression::Load { pointer: height });
            self.flip(place, height);
        }
    }

    /// A pointer to a member of the block.
    fn member(&mut self, base: Handle<Expression>, name: &str) -> Handle<Expression> {
        let index = self.linked.uniforms.iter().position(|known| known.name == name);
        let index = index.expect("every uniform was noted") as u32;
        self.first(Expression::AccessIndex { base, index })
    }

    /// The value of a uniform, or of a part of one, made of the block's members; `at` says which element where the
    /// members are arrays for the arrays around it.
    fn value(&mut self, base: Handle<Expression>, name: &str, ty: Handle<Type>, at: Option<u32>) -> Handle<Expression> {
        let components = match self.module.types[ty].inner.clone() {
            TypeInner::Struct { members, .. } => members
                .iter()
                .enumerate()
                .map(|(number, member)| {
                    let name = below(name, member, number);
                    self.value(base, &name, member.ty, at)
                })
                .collect(),
            TypeInner::Array {
                base: element, size, ..
            } => {
                let count = fixed(size).expect("leaves refuse other arrays");
                (0..count)
                    .map(|number| self.value(base, name, element, Some(at.unwrap_or(0) * count + number)))
                    .collect()
            }
            TypeInner::Matrix {
                columns,
                rows: VectorSize::Bi,
                ..
            } => {
                let (columns, first) = (columns as u32, at.unwrap_or(0) * columns as u32);
                (first..first + columns)
                    .map(|number| self.number(base, name, Some(number)))
                    .collect()
            }
            inner if inner.scalar_kind() == Some(ScalarKind::Bool) => {
                let expr = self.number(base, name, at);
                return self.first(Expression::As {
                    expr,
                    kind: ScalarKind::Bool,
                    convert: Some(naga::BOOL_WIDTH),
                });
            }
            _ => return self.number(base, name, at),
        };
        self.first(Expression::Compose { ty, components })
    }

    /// A member of the block, or an element of one.
    fn number(&mut self, base: Handle<Expression>, name: &str, at: Option<u32>) -> Handle<Expression> {
        let member = self.member(base, name);
        let pointer = match at {
            Some(index) => self.first(Expression::AccessIndex { base: member, index }),
            None => member,
        };
        self.first(Expression::Load { pointer })
    }

    /// Rows count from below in OpenGL.
    fn flip(&mut self, place: Handle<GlobalVariable>, height: Handle<Expression>) {
        let base = self.plain(Expression::GlobalVariable(place));
        let pointer = self.first(Expression::AccessIndex { base, index: 1 });
        let above = self.first(Expression::Load { pointer });
        let value = self.first(Expression::Binary {
            op: BinaryOperator::Subtract,
            left: height,
            right: above,
        });
        self.before.push(Statement::Store { pointer, value }, Span::UNDEFINED);
    }

    fn finish(mut self) -> Result<()> {
        self.block();
        let has_position = self
            .outputs
            .iter()
            .any(|(binding, ..)| matches!(binding, Binding::BuiltIn(BuiltIn::Position { .. })));
        if self.stage == Stage::Vertex && !has_position {
            return Err(Error::invalid("a vertex shader that writes no gl_Position"));
        }
        let mut body = std::mem::take(&mut self.before);
        for (statement, span) in std::mem::take(&mut self.function.body).span_into_iter() {
            if !matches!(statement, Statement::Return { .. }) {
                body.push(statement, span);
            }
        }
        let outputs = std::mem::take(&mut self.outputs);
        let mut end = 0u32;
        let mut members = Vec::new();
        for (binding, ty, _) in &outputs {
            members.push(StructMember {
                name: None,
                ty: *ty,
                binding: Some(binding.clone()),
                offset: end,
            });
            end += 16;
        }
        let mut value = None;
        if !outputs.is_empty() {
            let inner = TypeInner::Struct { members, span: end };
            let ty = self.module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
            let components = outputs.iter().map(|(.., value)| *value).collect();
            value = Some(self.last(Expression::Compose { ty, components }));
            self.function.result = Some(FunctionResult { ty, binding: None });
        }
        for (statement, span) in std::mem::take(&mut self.after).span_into_iter() {
            body.push(statement, span);
        }
        body.push(Statement::Return { value }, Span::UNDEFINED);
        self.function.body = body;
        self.module.entry_points[0].function = self.function;
        Ok(())
    }
}
