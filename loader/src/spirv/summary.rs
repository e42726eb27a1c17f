//! The summary of a module: target, interface and sizes.

use super::{FORMAT, Grammar, Image, Located, ModuleIndex, Node, class, decoration, dim, dis, op, operand};
use crate::Result;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write};

/// Version, entry points with their interfaces, resources, capabilities and sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Always `spirv`.
    pub format: &'static str,
    /// Version, such as `1.5`.
    pub version: String,
    /// Number of the generator, and its version.
    pub generator: [u32; 2],
    /// The generator's registered name, if any.
    pub generator_name: Option<&'static str>,
    /// Id bound.
    pub bound: u32,
    /// Length in words.
    pub words: usize,
    /// Number of functions.
    pub functions: usize,
    /// Capabilities declared, in module order; unknown ones are numbers.
    pub capabilities: Vec<String>,
    /// Extensions and extended instruction sets used.
    pub extensions: Vec<String>,
    /// Entry points, in module order.
    pub entry_points: Vec<EntryPoint>,
    /// Resources by descriptor set and binding, ascending.
    pub bindings: Vec<Resource>,
    /// Blocks of push constants.
    pub push_constants: Vec<Resource>,
    /// Specialisation constants.
    pub spec_constants: Vec<SpecConstant>,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EntryPoint {
    /// Execution model.
    pub model: String,
    /// Name.
    pub name: String,
    /// Execution modes with their numbers, such as `LocalSize 8 8 1`.
    pub modes: Vec<String>,
    /// Inputs from the previous stage.
    pub inputs: Vec<Variable>,
    /// Outputs to the next stage.
    pub outputs: Vec<Variable>,
}

/// An input or output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    /// Location; `None` for built-ins.
    pub location: Option<u32>,
    /// Built-in; `None` if it has a location.
    pub built_in: Option<String>,
    /// Type in GLSL's notation.
    pub ty: String,
    /// Name, if the module has one.
    pub name: Option<String>,
}

/// A resource or block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// Descriptor set; none for push constants.
    pub set: Option<u32>,
    /// Binding in the set; none for push constants.
    pub binding: Option<u32>,
    /// Storage class.
    pub class: String,
    /// Type in GLSL's notation.
    pub ty: String,
    /// Bytes of a block, without a runtime array at its end.
    pub bytes: Option<u32>,
    /// Name, if the module has one.
    pub name: Option<String>,
}

/// A specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpecConstant {
    /// Its `SpecId`; `None` for one computed from others.
    pub id: Option<u32>,
    /// Type in GLSL's notation.
    pub ty: String,
    /// Name, if the module has one.
    pub name: Option<String>,
    /// The default value, if it is one word.
    pub default: Option<u32>,
}

/// Limit on the nesting of types; an invalid module can have recursive types.
const MAX_DEPTH: u32 = 16;

/// Summarises a module.
///
/// # Errors
/// Invalid if an instruction's length is wrong or a declaration lacks its result.
pub fn summary(words: &[u32]) -> Result<Summary> {
    let index = ModuleIndex::new(words)?;
    let module = Module::new(&index);
    let [_, version, generator, bound, _] = index.header();
    let capabilities = index.capabilities().iter();
    let resources = |wanted: fn(&ModuleIndex, &Located) -> bool| {
        let mut found: Vec<Resource> = index
            .globals()
            .filter(|variable| wanted(&index, variable))
            .map(|variable| module.resource(&variable))
            .collect();
        found.sort_by_key(|resource| (resource.set, resource.binding));
        found
    };
    Ok(Summary {
        format: FORMAT,
        version: format!("{}.{}", version >> 16 & 0xff, version >> 8 & 0xff),
        generator: [generator >> 16, generator & 0xffff],
        generator_name: dis::generator_name(generator >> 16),
        bound,
        words: words.len(),
        functions: index.bodies().filter(|node| node.opcode == op::FUNCTION).count(),
        capabilities: capabilities.map(|number| enumerant("Capability", *number)).collect(),
        extensions: module.extensions(),
        entry_points: index.entry_points().map(|node| module.entry_point(&node)).collect(),
        bindings: resources(|index, variable| index.place(variable.id).is_some()),
        push_constants: resources(|_, variable| variable.class == class::PUSH_CONSTANT),
        spec_constants: index
            .instructions()
            .filter_map(|node| module.spec_constant(&node))
            .collect(),
    })
}

/// An enumerant by name; a number if unknown.
fn enumerant(kind: &str, number: u32) -> String {
    let kind = Grammar::builtin().kind_of(kind);
    let row = kind.and_then(|kind| kind.value(number));
    row.map_or_else(|| number.to_string(), |row| row.name.to_string())
}

/// The string operand at some word, and its operand count.
fn string(node: &Node, from: usize) -> Option<(String, usize)> {
    operand::string(&node.tail(from).collect::<Vec<u32>>())
}

/// A module with its names.
struct Module<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    names: HashMap<u32, String>,
}

impl<'i, 'a> Module<'i, 'a> {
    fn new(index: &'i ModuleIndex<'a>) -> Self {
        let name = |node: Node| {
            let named = (node.opcode == op::NAME).then(|| string(&node, 1))?;
            let (name, _) = named.filter(|(name, _)| !name.is_empty())?;
            Some((node.operand(0)?, name))
        };
        Self {
            index,
            names: index.instructions().filter_map(name).collect(),
        }
    }

    fn name(&self, id: u32) -> Option<String> {
        self.names.get(&id).cloned()
    }

    fn extensions(&self) -> Vec<String> {
        let name = |node: Node| match node.opcode {
            op::EXTENSION => Some(string(&node, 0)?.0),
            op::EXT_INST_IMPORT => Some(string(&node, 1)?.0),
            _ => None,
        };
        self.index.instructions().filter_map(name).collect()
    }

    fn entry_point(&self, node: &Node) -> EntryPoint {
        let (name, length) = string(node, 2).unwrap_or_default();
        let interface: HashSet<u32> = node.tail(2 + length).collect();
        let of_class = |class: u32| {
            let globals = self.index.globals();
            let wanted = globals.filter(|variable| variable.class == class && interface.contains(&variable.id));
            let mut found: Vec<Variable> = wanted.map(|variable| self.variable(&variable)).collect();
            found.sort_by_key(|variable| (variable.location.is_none(), variable.location));
            found
        };
        EntryPoint {
            model: enumerant("ExecutionModel", node.operand(0).unwrap_or(0)),
            name,
            modes: self.modes(node.operand(1).unwrap_or(0)),
            inputs: of_class(class::INPUT),
            outputs: of_class(class::OUTPUT),
        }
    }

    fn modes(&self, function: u32) -> Vec<String> {
        let modes = self.index.instructions().filter(|node| {
            matches!(node.opcode, op::EXECUTION_MODE | op::EXECUTION_MODE_ID) && node.operand(0) == Some(function)
        });
        let text = |node: Node| {
            let mut text = enumerant("ExecutionMode", node.operand(1)?);
            for number in node.tail(2) {
                let number = match node.opcode {
                    op::EXECUTION_MODE_ID => self.index.constant(number).unwrap_or(number),
                    _ => number,
                };
                let _ = write!(text, " {number}");
            }
            Some(text)
        };
        modes.filter_map(text).collect()
    }

    fn variable(&self, variable: &Located) -> Variable {
        let built_in = self.index.decoration(variable.id, decoration::BUILT_IN);
        // Built-ins of a block are decorated on its members.
        let first = |_| {
            self.index
                .member_decoration(self.inner(variable.pointee), 0, decoration::BUILT_IN)
        };
        let members = self.index.members(self.inner(variable.pointee)).map(|_| ());
        Variable {
            location: self.index.decoration(variable.id, decoration::LOCATION),
            built_in: built_in
                .or_else(|| members.and_then(first))
                .map(|number| enumerant("BuiltIn", number)),
            ty: self.ty(variable.pointee, 0),
            name: self.name(variable.id),
        }
    }

    fn resource(&self, variable: &Located) -> Resource {
        let place = self.index.place(variable.id);
        let inner = self.inner(variable.pointee);
        Resource {
            set: place.map(|(set, _)| set),
            binding: place.map(|(_, binding)| binding),
            class: enumerant("StorageClass", variable.class),
            ty: self.ty(variable.pointee, 0),
            bytes: self.index.members(inner).map(|_| self.bytes(inner, 0)),
            name: self.name(variable.id).or_else(|| self.name(inner)),
        }
    }

    fn spec_constant(&self, node: &Node) -> Option<SpecConstant> {
        let spec = op::SPEC_CONSTANT_TRUE..=op::SPEC_CONSTANT_OP;
        let [ty, id] = node.head().filter(|_| spec.contains(&node.opcode))?;
        Some(SpecConstant {
            id: self.index.decoration(id, decoration::SPEC_ID),
            ty: self.ty(ty, 0),
            name: self.name(id),
            default: match node.opcode {
                op::SPEC_CONSTANT_TRUE => Some(1),
                SPEC_CONSTANT_FALSE => Some(0),
                op::SPEC_CONSTANT if node.operand_count() == 3 => node.operand(2),
                _ => None,
            },
        })
    }

    /// The innermost element type of nested arrays.
    fn inner(&self, ty: u32) -> u32 {
        let mut inner = ty;
        for _ in 0..MAX_DEPTH {
            let sized: Option<[u32; 2]> = self.index.operands(inner, op::TYPE_ARRAY);
            match sized.or_else(|| self.index.operands(inner, op::TYPE_RUNTIME_ARRAY)) {
                Some([_, element]) => inner = element,
                None => break,
            }
        }
        inner
    }

    /// A type in GLSL's notation; a struct by its name.
    fn ty(&self, id: u32, depth: u32) -> String {
        if depth > MAX_DEPTH {
            return "...".to_owned();
        }
        let inner = |id: u32| self.ty(id, depth + 1);
        let Some(node) = self.index.declaration(id) else {
            return format!("%{id}");
        };
        let operand = |at: usize| node.operand(at).unwrap_or(0);
        match node.opcode {
            op::TYPE_VOID => "void".to_owned(),
            op::TYPE_BOOL => "bool".to_owned(),
            op::TYPE_INT | op::TYPE_FLOAT => number(node.opcode, operand(1), operand(2) == 1),
            op::TYPE_VECTOR => match inner(operand(1)).as_str() {
                "float" => format!("vec{}", operand(2)),
                "double" => format!("dvec{}", operand(2)),
                "int" => format!("ivec{}", operand(2)),
                "uint" => format!("uvec{}", operand(2)),
                "bool" => format!("bvec{}", operand(2)),
                other => format!("{other}vec{}", operand(2)),
            },
            op::TYPE_MATRIX => {
                let rows = self.index.operands(operand(1), op::TYPE_VECTOR);
                let rows = rows.map_or(0, |[_, _, rows]: [u32; 3]| rows);
                match operand(2) {
                    columns if columns == rows => format!("mat{columns}"),
                    columns => format!("mat{columns}x{rows}"),
                }
            }
            op::TYPE_ARRAY => match self.index.constant(operand(2)) {
                Some(length) => format!("{}[{length}]", inner(operand(1))),
                None => format!("{}[spec]", inner(operand(1))),
            },
            op::TYPE_RUNTIME_ARRAY => format!("{}[]", inner(operand(1))),
            op::TYPE_POINTER => format!("{}*", inner(operand(2))),
            op::TYPE_SAMPLER => "sampler".to_owned(),
            op::TYPE_SAMPLED_IMAGE => self.image(operand(1), "sampler"),
            op::TYPE_IMAGE => self.image(id, "texture"),
            op::TYPE_STRUCT => self
                .name(id)
                .map_or("struct".to_owned(), |name| format!("struct {name}")),
            opcode => Grammar::builtin().row(opcode).map_or_else(
                || format!("%{id}"),
                |row| row.name.trim_start_matches("OpType").to_owned(),
            ),
        }
    }

    /// An image's type: `kind` is the prefix of types that are read with a sampler.
    fn image(&self, id: u32, kind: &str) -> String {
        let Some(image) = self.index.image(id) else {
            return kind.to_owned();
        };
        let letter = match self.ty(image.sampled_type, MAX_DEPTH).as_str() {
            "int" => "i",
            "uint" => "u",
            _ => "",
        };
        let kind = match image.sampled {
            _ if image.is_subpass() => return format!("{letter}subpassInput{}", samples(image.multisampled)),
            Image::STORAGE => "image",
            _ => kind,
        };
        let dim = match image.dim {
            dim::BUFFER => "Buffer".to_owned(),
            other => enumerant("Dim", other),
        };
        let array = if image.arrayed == 1 { "Array" } else { "" };
        let shadow = if image.depth == 1 && kind == "sampler" {
            "Shadow"
        } else {
            ""
        };
        let mut text = format!("{letter}{kind}{dim}{}{array}{shadow}", samples(image.multisampled));
        if kind == "image" && image.format != 0 {
            let _ = write!(text, " {}", enumerant("ImageFormat", image.format).to_lowercase());
        }
        text
    }

    /// Bytes of a type in a block, by its decorations.
    fn bytes(&self, id: u32, depth: u32) -> u32 {
        if depth > MAX_DEPTH {
            return 0;
        }
        if let Some(members) = self.index.members(id) {
            let ends = (0u32..).zip(members).map(|(number, member)| {
                let of = |kind: u32| self.index.member_decoration(id, number, kind);
                let matrix: Option<[u32; 3]> = self.index.operands(self.inner(member), op::TYPE_MATRIX);
                let size = match (matrix, of(decoration::MATRIX_STRIDE)) {
                    (Some([_, column, columns]), Some(stride)) if self.inner(member) == member => {
                        let rows = self.index.operands(column, op::TYPE_VECTOR);
                        let rows = rows.map_or(0, |[_, _, rows]: [u32; 3]| rows);
                        let row_major = of(decoration::ROW_MAJOR).is_some();
                        stride.saturating_mul(if row_major { rows } else { columns })
                    }
                    _ => self.bytes(member, depth + 1),
                };
                of(decoration::OFFSET).unwrap_or(0).saturating_add(size)
            });
            return ends.max().unwrap_or(0);
        }
        if let Some((element, length)) = self.index.array(id) {
            let stride = self.index.decoration(id, decoration::ARRAY_STRIDE);
            let stride = stride.unwrap_or_else(|| self.bytes(element, depth + 1));
            return stride.saturating_mul(length);
        }
        let vector: Option<[u32; 3]> = self.index.operands(id, op::TYPE_VECTOR);
        let matrix: Option<[u32; 3]> = self.index.operands(id, op::TYPE_MATRIX);
        if let Some([_, element, count]) = vector.or(matrix) {
            return self.bytes(element, depth + 1).saturating_mul(count);
        }
        let node = self.index.declaration(id);
        match node.map(|node| (node.opcode, node.operand(1).unwrap_or(0))) {
            Some((op::TYPE_INT | op::TYPE_FLOAT, bits)) => bits / 8,
            Some((op::TYPE_POINTER, _)) => 8,
            _ => 0,
        }
    }
}

/// `OpSpecConstantFalse`.
const SPEC_CONSTANT_FALSE: u16 = op::SPEC_CONSTANT_TRUE + 1;

fn samples(multisampled: u32) -> &'static str {
    if multisampled == 1 { "MS" } else { "" }
}

/// A numeric type.
fn number(opcode: u16, bits: u32, signed: bool) -> String {
    match (opcode, bits, signed) {
        (op::TYPE_FLOAT, 32, _) => "float".to_owned(),
        (op::TYPE_FLOAT, 64, _) => "double".to_owned(),
        (op::TYPE_FLOAT, bits, _) => format!("float{bits}_t"),
        (_, 32, true) => "int".to_owned(),
        (_, 32, false) => "uint".to_owned(),
        (_, bits, true) => format!("int{bits}_t"),
        (_, bits, false) => format!("uint{bits}_t"),
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.location, &self.built_in) {
            (Some(location), _) => write!(f, "location {location}: ")?,
            (None, Some(built_in)) => write!(f, "{built_in}: ")?,
            (None, None) => {}
        }
        typed(f, &self.ty, self.name.as_deref())
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.set, self.binding) {
            (Some(set), Some(binding)) => write!(f, "set {set}, binding {binding}: {} ", self.class)?,
            _ => write!(f, "push constants: ")?,
        }
        typed(f, &self.ty, self.name.as_deref())?;
        match self.bytes {
            Some(bytes) => write!(f, ", {bytes} bytes"),
            None => Ok(()),
        }
    }
}

fn typed(f: &mut fmt::Formatter<'_>, ty: &str, name: Option<&str>) -> fmt::Result {
    match name {
        Some(name) => write!(f, "{ty} {}", name.escape_debug()),
        None => f.write_str(ty),
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [tool, revision] = self.generator;
        let (functions, bound) = (self.functions, self.bound);
        let plural = if functions == 1 { "" } else { "s" };
        let words = self.words;
        writeln!(
            f,
            "SPIR-V {}, {words} words, {functions} function{plural}, ids below {bound}",
            self.version
        )?;
        match self.generator_name {
            Some(name) => writeln!(f, "generator: {name}, version {revision}")?,
            None => writeln!(f, "generator: number {tool}, version {revision}")?,
        }
        writeln!(f, "capabilities: {}", self.capabilities.join(" "))?;
        if !self.extensions.is_empty() {
            let names: Vec<String> = self
                .extensions
                .iter()
                .map(|name| name.escape_debug().to_string())
                .collect();
            writeln!(f, "extensions: {}", names.join(" "))?;
        }
        for entry in &self.entry_points {
            write!(f, "entry point: {} {}", entry.model, entry.name.escape_debug())?;
            entry.modes.iter().try_for_each(|mode| write!(f, ", {mode}"))?;
            writeln!(f)?;
            entry.inputs.iter().try_for_each(|one| writeln!(f, "  in   {one}"))?;
            entry.outputs.iter().try_for_each(|one| writeln!(f, "  out  {one}"))?;
        }
        let mut resources = self.bindings.iter().chain(&self.push_constants);
        resources.try_for_each(|one| writeln!(f, "{one}"))?;
        for constant in &self.spec_constants {
            match constant.id {
                Some(id) => write!(f, "constant {id}: ")?,
                None => write!(f, "constant of others: ")?,
            }
            typed(f, &constant.ty, constant.name.as_deref())?;
            match (constant.default, constant.ty.as_str()) {
                (Some(word), "float") => write!(f, " = {}", f32::from_bits(word))?,
                (Some(word), "int") => write!(f, " = {}", word.cast_signed())?,
                (Some(word), _) => write!(f, " = {word}")?,
                (None, _) => {}
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
