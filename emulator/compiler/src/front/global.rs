//! Global variables and entry points: what they are to the hardware.

use super::place::{Owner, Place, Root, scalars};
use super::{Coordinates, Ev, Front, Var, Walk};
use crate::error::{Error, Result};
use crate::glsl_es::{Declared, Role};
use crate::interface::{Sampler, Stage, TARGET_HEIGHT, Variable, end};
use crate::ir::{Input, Op, Output, Span, Value};
use loader::mbs::SymbolType;
use naga::{AddressSpace, Binding, BuiltIn, Handle, ImageClass, ImageDimension, ScalarKind, Type, TypeInner};
use std::ops::Range;

/// A name, a type, and whether it is an array of it.
struct Leaf {
    name: String,
    kind: SymbolType,
    rows: u32,
    columns: u32,
    entries: u32,
}

/// A global variable's name as symbols can have it: what has none is called by its binding.
fn name(global: &naga::GlobalVariable) -> String {
    let given = global.name.as_deref().filter(|name| !name.is_empty());
    match (given, &global.binding) {
        (Some(name), _) => sayable(name),
        (None, Some(binding)) if binding.group == 0 => format!("binding{}", binding.binding),
        (None, Some(binding)) => format!("set{}binding{}", binding.group, binding.binding),
        (None, None) => "constants".to_owned(),
    }
}

/// Modules may call a variable anything; in a symbol it is one word.
fn sayable(name: &str) -> String {
    let fits = |c: char| c.is_ascii_graphic() && !matches!(c, ',' | '#' | '=' | ';');
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

impl Leaf {
    /// Puts it behind variables; its scalars among theirs.
    fn behind(self, variables: &mut Vec<Variable>, span: Span) -> Range<u32> {
        let first = end(variables);
        variables.push(Variable {
            name: self.name,
            kind: self.kind,
            rows: self.rows,
            columns: self.columns,
            entries: self.entries,
            first,
            span,
        });
        first..end(variables)
    }
}

impl<'a> Front<'a> {
    /// The global variables: those with a role in the order of the source, which modules of glslang do not keep.
    fn ordered_globals(&self) -> Vec<(Handle<naga::GlobalVariable>, &'a naga::GlobalVariable)> {
        let mut all: Vec<_> = self.module.global_variables.iter().collect();
        let number = |global: &naga::GlobalVariable| {
            let name = global.name.as_deref()?;
            Some(self.roles?.get(name)?.number)
        };
        all.sort_by_key(|(_, global)| number(global).unwrap_or(usize::MAX));
        all
    }

    pub(super) fn globals(&mut self) -> Walk {
        for (handle, global) in self.ordered_globals() {
            let span = self.module.global_variables.get_span(handle).to_range();
            self.b.span = crate::ir::span(span.clone(), 0);
            self.global(handle, global).map_err(|stop| match stop {
                super::Stop::Error(error) => super::Stop::Error(error.at(span)),
                other => other,
            })?;
        }
        self.b.span = None;
        Ok(())
    }

    fn declared(&self, global: &naga::GlobalVariable) -> Option<&'a Declared> {
        self.roles?.get(global.name.as_deref()?)
    }

    fn role(&self, global: &naga::GlobalVariable) -> Option<&'a Role> {
        Some(&self.declared(global)?.role)
    }

    /// A varying of GLSL ES that is not interpolated, of which the hardware has none: its name.
    pub(super) fn not_interpolated(&self, global: &naga::GlobalVariable) -> Option<&'a str> {
        let declared = self.declared(global).filter(|declared| declared.flat)?;
        match &declared.role {
            Role::VaryingIn(name) => Some(name),
            _ => None,
        }
    }

    fn global(&mut self, handle: Handle<naga::GlobalVariable>, global: &'a naga::GlobalVariable) -> Walk {
        let ty = global.ty;
        let name = name(global);
        if let Some(name) = self.not_interpolated(global) {
            // Refused where it is read.
            let leaves = self.leaves(ty, name)?;
            self.add_varyings(leaves);
            return Ok(());
        }
        if let Some(role) = self.role(global) {
            return self.es_global(handle, ty, role.clone());
        }
        match global.space {
            AddressSpace::Private | AddressSpace::Function => {
                let count = scalars(self.module, ty)?;
                let place = self.storage(Owner::Global(handle), count);
                self.globals.insert(handle, place.clone());
                let values = match global.init {
                    Some(init) => self.constant_expression(init)?,
                    None => vec![self.b.number(0.0); count as usize],
                };
                self.store(&place, &values)
            }
            AddressSpace::Uniform | AddressSpace::Immediate => {
                let first = end(&self.interface.uniforms);
                let block = matches!(self.module.types[ty].inner, TypeInner::Struct { .. });
                let leaves = self.leaves(ty, if block { "" } else { &name })?;
                self.add_uniforms(leaves, if block { &name } else { "" });
                self.globals.insert(handle, self.uniform_place(handle, first));
                Ok(())
            }
            AddressSpace::Handle => self.texture_global(handle, ty, name),
            // Refused where it is used.
            _ => Ok(()),
        }
    }

    fn uniform_place(&self, handle: Handle<naga::GlobalVariable>, first: u32) -> Place {
        Place {
            root: Root::Uniforms(first),
            offset: 0,
            dynamic: Vec::new(),
            owner: Owner::Global(handle),
        }
    }

    /// Whether members of blocks are called `block.member`, as packed files call them: there is more than one block.
    fn names_blocks(&self) -> bool {
        let is_block = |global: &naga::GlobalVariable| {
            matches!(global.space, AddressSpace::Uniform | AddressSpace::Immediate)
                && matches!(self.module.types[global.ty].inner, TypeInner::Struct { .. })
        };
        let globals = self.module.global_variables.iter();
        globals.filter(|(_, global)| is_block(global)).count() > 1
    }

    fn add_uniforms(&mut self, leaves: Vec<Leaf>, block: &str) {
        let names_blocks = !block.is_empty() && self.names_blocks();
        for mut leaf in leaves {
            let is_taken = || self.interface.uniforms.iter().any(|have| have.name == leaf.name);
            if names_blocks || is_taken() {
                leaf.name = format!("{block}.{}", leaf.name);
            }
            leaf.behind(&mut self.interface.uniforms, self.b.span);
        }
    }

    fn texture_global(&mut self, handle: Handle<naga::GlobalVariable>, ty: Handle<Type>, name: String) -> Walk {
        let TypeInner::Image { dim, arrayed, class } = self.module.types[ty].inner else {
            return Ok(());
        };
        let cube = match (dim, arrayed, class) {
            (ImageDimension::D2, false, ImageClass::Sampled { multi: false, .. }) => false,
            (ImageDimension::Cube, false, ImageClass::Sampled { .. }) => true,
            // Refused where they are used.
            _ => return Ok(()),
        };
        self.units.insert(handle, self.interface.samplers.len() as u32);
        let taken = self.interface.samplers.iter().any(|have| have.name == name);
        let name = if taken {
            format!("{name}_{}", self.interface.samplers.len())
        } else {
            name
        };
        let span = self.b.span;
        self.interface.samplers.push(Sampler { name, cube, span });
        Ok(())
    }

    fn es_global(&mut self, handle: Handle<naga::GlobalVariable>, ty: Handle<Type>, role: Role) -> Walk {
        match role {
            Role::Sampler(name) => self.texture_global(handle, ty, name),
            Role::Uniform(name) => {
                let first = end(&self.interface.uniforms);
                let leaves = self.leaves(ty, &name)?;
                self.add_uniforms(leaves, "");
                self.globals.insert(handle, self.uniform_place(handle, first));
                Ok(())
            }
            Role::Attribute(name) | Role::VaryingIn(name) => {
                let values = self.input(ty, &name)?;
                let place = self.storage(Owner::Global(handle), values.len() as u32);
                self.globals.insert(handle, place.clone());
                self.store(&place, &values)
            }
            Role::VaryingOut(name) => {
                let leaves = self.leaves(ty, &name)?;
                let count = scalars(self.module, ty)?;
                let place = self.storage(Owner::Global(handle), count);
                self.globals.insert(handle, place.clone());
                self.add_varyings(leaves);
                let zero = self.b.number(0.0);
                self.store(&place, &vec![zero; count as usize])
            }
            Role::FragCoord | Role::PointCoord | Role::FrontFacing => {
                let values = self.builtin(match role {
                    Role::FragCoord => BuiltIn::Position { invariant: false },
                    Role::PointCoord => BuiltIn::PointCoord,
                    _ => BuiltIn::FrontFacing,
                })?;
                let place = self.storage(Owner::Global(handle), values.len() as u32);
                self.globals.insert(handle, place.clone());
                self.store(&place, &values)
            }
            Role::Position | Role::PointSize | Role::Color => {
                let count = scalars(self.module, ty)?;
                let place = self.storage(Owner::Global(handle), count);
                self.globals.insert(handle, place.clone());
                let zero = self.b.number(0.0);
                self.store(&place, &vec![zero; count as usize])
            }
        }
    }

    fn add_varyings(&mut self, leaves: Vec<Leaf>) -> u32 {
        let start = end(&self.interface.varyings);
        for leaf in leaves {
            leaf.behind(&mut self.interface.varyings, self.b.span);
        }
        start
    }

    /// An attribute or varying that comes in: its scalars.
    fn input(&mut self, ty: Handle<Type>, name: &str) -> Walk<Vec<Value>> {
        let count = scalars(self.module, ty)?;
        let leaves = self.leaves(ty, name)?;
        self.b.tag = self.b.fresh_tag();
        let mut values = Vec::new();
        if self.stage == Stage::Vertex {
            for leaf in leaves {
                for scalar in leaf.behind(&mut self.interface.attributes, self.b.span) {
                    values.push(self.b.op(Op::Input(Input::Attribute(scalar)), &[]));
                }
            }
        } else {
            let first = self.add_varyings(leaves);
            for at in 0..count {
                values.push(self.b.op(Op::Input(Input::Varying(first + at)), &[]));
            }
        }
        self.b.tag = 0;
        Ok(values)
    }

    fn builtin(&mut self, builtin: BuiltIn) -> Walk<Vec<Value>> {
        self.b.tag = self.b.fresh_tag();
        let inputs: Vec<Input> = match (builtin, self.stage) {
            (BuiltIn::Position { .. }, Stage::Fragment) => (0..4).map(Input::FragCoord).collect(),
            (BuiltIn::PointCoord, Stage::Fragment) => (0..2).map(Input::PointCoord).collect(),
            (BuiltIn::FrontFacing, Stage::Fragment) => vec![Input::FrontFacing],
            (BuiltIn::VertexIndex, Stage::Vertex) => {
                let leaf = Leaf {
                    name: "gl_VertexIndex".to_owned(),
                    kind: SymbolType::INT,
                    rows: 1,
                    columns: 1,
                    entries: 0,
                };
                leaf.behind(&mut self.interface.attributes, self.b.span)
                    .map(Input::Attribute)
                    .collect()
            }
            (other, _) => return Err(Error::unsupported(format!("the built-in {other:?}")).into()),
        };
        let mut values: Vec<Value> = inputs
            .into_iter()
            .map(|input| self.b.op(Op::Input(input), &[]))
            .collect();
        self.b.tag = 0;
        if let (BuiltIn::Position { .. }, [_, row, ..]) = (builtin, &mut values[..])
            && self.coordinates != Coordinates::OpenGl
        {
            *row = self.row_from_above(*row);
        }
        Ok(values)
    }

    /// A row of the window counted from above, where the hardware counts upwards.
    fn row_from_above(&mut self, row: Value) -> Value {
        let leaf = Leaf {
            name: TARGET_HEIGHT.to_owned(),
            kind: SymbolType::FLOAT,
            rows: 1,
            columns: 1,
            entries: 0,
        };
        let height = leaf.behind(&mut self.interface.uniforms, self.b.span).start;
        let (height, row) = (self.b.op(Op::Uniform(height), &[]), self.b.op(Op::Neg, &[row]));
        self.b.op(Op::Add, &[height, row])
    }

    /// The arguments of the entry point.
    pub(super) fn entry_arguments(&mut self, function: &'a naga::Function) -> Walk<Vec<Ev>> {
        let mut arguments = Vec::new();
        for argument in &function.arguments {
            let name = argument.name.clone();
            arguments.push(Ev::Flat(self.bound(argument.ty, argument.binding.as_ref(), name)?));
        }
        Ok(arguments)
    }

    fn bound(&mut self, ty: Handle<Type>, binding: Option<&'a Binding>, name: Option<String>) -> Walk<Vec<Value>> {
        match (binding, &self.module.types[ty].inner) {
            (Some(Binding::BuiltIn(builtin)), _) => self.builtin(*builtin),
            (
                Some(Binding::Location {
                    location,
                    interpolation,
                    ..
                }),
                _,
            ) => {
                if *interpolation == Some(naga::Interpolation::Flat) && self.stage == Stage::Fragment {
                    return Err(Error::unsupported(format!("flat interpolation of location {location}")).into());
                }
                let attribute = name.filter(|name| self.stage == Stage::Vertex && !name.is_empty());
                let name = attribute
                    .as_deref()
                    .map(sayable)
                    .unwrap_or_else(|| format!("location{location}"));
                self.input(ty, &name)
            }
            (None, TypeInner::Struct { members, .. }) => {
                let mut values = Vec::new();
                for member in members {
                    values.extend(self.bound(member.ty, member.binding.as_ref(), member.name.clone())?);
                }
                Ok(values)
            }
            _ => Err(Error::invalid("an argument of the entry point without a location").into()),
        }
    }

    /// What global variables of GLSL ES leave behind.
    pub(super) fn global_outputs(&mut self) -> Walk<Vec<(Output, Value)>> {
        let mut outputs = Vec::new();
        let mut varying = 0;
        for (handle, global) in self.ordered_globals() {
            let Some(role) = self.role(global) else { continue };
            let role = role.clone();
            let count = scalars(self.module, global.ty)?;
            let Some(place) = self.globals.get(&handle).cloned() else {
                continue;
            };
            let as_output: fn(u32, u32) -> Output = match role {
                Role::Position => |at, _| Output::Position(at as u8),
                Role::PointSize => |_, _| Output::PointSize,
                Role::Color => |at, _| Output::Color(at as u8),
                Role::VaryingOut(_) => |at, first| Output::Varying(first + at),
                _ => continue,
            };
            let first = varying;
            if matches!(role, Role::VaryingOut(_)) {
                varying += count;
            }
            let values = self.load(&place, count)?;
            let values = values.into_iter().enumerate();
            outputs.extend(values.map(|(at, value)| (as_output(at as u32, first), value)));
        }
        Ok(outputs)
    }

    /// What the entry point's result leaves behind.
    pub(super) fn result_outputs(
        &mut self,
        result: &'a naga::FunctionResult,
        vars: Var,
        outputs: &mut Vec<(Output, Value)>,
    ) -> Walk {
        let mut at = vars.0;
        self.result_part(result.ty, result.binding.as_ref(), &mut at, outputs)
    }

    fn result_part(
        &mut self,
        ty: Handle<Type>,
        binding: Option<&'a Binding>,
        at: &mut u32,
        outputs: &mut Vec<(Output, Value)>,
    ) -> Walk {
        if let (None, TypeInner::Struct { members, .. }) = (binding, &self.module.types[ty].inner) {
            for member in members {
                self.result_part(member.ty, member.binding.as_ref(), at, outputs)?;
            }
            return Ok(());
        }
        let count = scalars(self.module, ty)?;
        let values: Vec<Value> = (0..count).map(|number| self.b.read(Var(*at + number))).collect();
        *at += count;
        let first = match (binding, self.stage) {
            (Some(Binding::Location { location, .. }), Stage::Vertex) => {
                let leaves = self.leaves(ty, &format!("location{location}"))?;
                self.add_varyings(leaves)
            }
            _ => 0,
        };
        for (number, value) in values.into_iter().enumerate() {
            let component = number as u8;
            let output = match (binding, self.stage) {
                (Some(Binding::BuiltIn(BuiltIn::Position { .. })), Stage::Vertex) => Output::Position(component),
                (Some(Binding::BuiltIn(BuiltIn::PointSize)), Stage::Vertex) => Output::PointSize,
                (Some(Binding::Location { .. }), Stage::Vertex) => Output::Varying(first + number as u32),
                (Some(Binding::Location { location: 0, .. }), Stage::Fragment) => Output::Color(component),
                (Some(Binding::Location { location, .. }), Stage::Fragment) => {
                    return Err(Error::unsupported(format!("several colour outputs: location {location}")).into());
                }
                (Some(Binding::BuiltIn(builtin)), _) => {
                    return Err(Error::unsupported(format!("the built-in output {builtin:?}")).into());
                }
                (None, _) => return Err(Error::invalid("a result of the entry point without a location").into()),
            };
            outputs.push((output, value));
        }
        Ok(())
    }

    /// Vectors, matrices and arrays of them that a type is made of, with their names.
    fn leaves(&self, ty: Handle<Type>, name: &str) -> Result<Vec<Leaf>> {
        let mut leaves = Vec::new();
        self.collect(ty, name.to_owned(), &mut leaves)?;
        Ok(leaves)
    }

    fn collect(&self, ty: Handle<Type>, name: String, leaves: &mut Vec<Leaf>) -> Result<()> {
        let kind = |kind: ScalarKind| match kind {
            ScalarKind::Bool => SymbolType::BOOL,
            ScalarKind::Sint | ScalarKind::Uint => SymbolType::INT,
            _ => SymbolType::FLOAT,
        };
        let leaf = |inner: &TypeInner| match *inner {
            TypeInner::Scalar(scalar) => Some((kind(scalar.kind), 1, 1)),
            TypeInner::Vector { size, scalar } => Some((kind(scalar.kind), size as u32, 1)),
            TypeInner::Matrix { columns, rows, .. } => Some((SymbolType::MATRIX, rows as u32, columns as u32)),
            _ => None,
        };
        let push =
            |leaves: &mut Vec<Leaf>, name: String, (kind, rows, columns): (SymbolType, u32, u32), entries: u32| {
                if leaves.len() > 2000 {
                    return Err(Error::limit("too many members"));
                }
                // Symbols know square matrices only: others are arrays of their columns.
                let (kind, columns, entries) = if columns > 1 && columns != rows {
                    (SymbolType::FLOAT, 1, columns * entries.max(1))
                } else {
                    (kind, columns, entries)
                };
                leaves.push(Leaf {
                    name,
                    kind,
                    rows,
                    columns,
                    entries,
                });
                Ok(())
            };
        let inner = &self.module.types[ty].inner;
        if let Some(found) = leaf(inner) {
            return push(leaves, name, found, 0);
        }
        match inner {
            TypeInner::Array { base, .. } => {
                let count = scalars(self.module, ty)? / scalars(self.module, *base)?.max(1);
                if let Some(found) = leaf(&self.module.types[*base].inner) {
                    return push(leaves, name, found, count);
                }
                for at in 0..count {
                    self.collect(*base, format!("{name}[{at}]"), leaves)?;
                }
                Ok(())
            }
            TypeInner::Struct { members, .. } => {
                for (at, member) in members.iter().enumerate() {
                    let given = member.name.as_deref().filter(|name| !name.is_empty());
                    let is_wrapper = members.len() == 1
                        && given.is_none()
                        && matches!(self.module.types[member.ty].inner, TypeInner::Struct { .. });
                    if is_wrapper {
                        self.collect(member.ty, name, leaves)?;
                        break;
                    }
                    let own = given.map_or_else(|| format!("member{at}"), sayable);
                    let path = if name.is_empty() { own } else { format!("{name}.{own}") };
                    self.collect(member.ty, path, leaves)?;
                }
                Ok(())
            }
            _ => Err(Error::unsupported("a uniform of a type that symbols do not know")),
        }
    }
}
