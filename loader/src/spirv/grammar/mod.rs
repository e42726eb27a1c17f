//! The grammar of SPIR-V as tables: opcodes, operand kinds, enumerants, extended instruction sets.
//!
//! [`Grammar::builtin`] is made from `core.grammar`, generated from Khronos' JSON (SPIRV-Headers 1.4.335.0) by `skrymir
//! grammar --generate`; [`Grammar::extend`] adds or replaces parts from any JSON grammar.

pub mod compact;
pub mod model;
mod rules;

pub use rules::read as read_json;

use model::{Model, Needs, Text};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The text of the built-in grammar.
pub const BUILTIN: &str = include_str!("core.grammar");

/// How the walker reads an operand kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Result type.
    ResultType,
    /// Result.
    Result,
    /// A reference of any kind.
    Id,
    /// Integer of one word (wider only in the pairs of OpSwitch).
    Integer,
    /// A 32-bit float.
    Float,
    /// UTF-8, closed by a zero byte.
    String,
    /// Number with the width and type of the result type.
    ContextNumber,
    /// Number of an instruction in an extended set.
    ExtInst,
    /// Opcode inside OpSpecConstantOp.
    SpecOp,
    /// One of the kind's enumerants.
    Value,
    /// Any of the kind's bits.
    Mask,
    /// Several operands together.
    Composite(Vec<u16>),
    /// A bare word of unknown meaning.
    Raw,
}

/// How often an operand appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// Exactly once.
    One,
    /// At most once.
    Optional,
    /// Any number of times.
    Many,
}

impl Quantifier {
    /// The quantifier of a mark as the JSON grammar writes it.
    fn of(mark: &str) -> Self {
        match mark {
            "?" => Self::Optional,
            "*" => Self::Many,
            _ => Self::One,
        }
    }
}

/// One operand of a [`Row`].
#[derive(Clone, Debug)]
pub struct Rule {
    /// Index into [`Grammar::kinds`].
    pub kind: u16,
    /// How often.
    pub quantifier: Quantifier,
    /// Short description; may be empty.
    pub name: Text,
}

/// Conditions that enable an instruction or enumerant.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Any one of these capabilities.
    pub capabilities: Vec<u32>,
    /// Any one of these extensions.
    pub extensions: Vec<Text>,
    /// First version that has it without an extension, as in the header (`0x10300`); `u32::MAX` for never.
    pub version: u32,
    /// Last version.
    pub last_version: u32,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name, with `Op` in the core grammar.
    pub name: Text,
    /// Opcode, or number within a set.
    pub opcode: u32,
    /// Operands in order.
    pub operands: Vec<Rule>,
    /// Whether the first operand is a result type.
    pub has_type: bool,
    /// Whether there is a result.
    pub has_result: bool,
    /// Conditions that enable it.
    pub gate: Gate,
}

impl Row {
    /// Whether the instruction declares a type, forward pointers included.
    pub(crate) fn is_type(&self) -> bool {
        self.name.starts_with("OpType")
    }
}

/// A value of an enumeration.
#[derive(Clone, Debug)]
pub struct Enumerant {
    /// Name.
    pub name: Text,
    /// Number or bit.
    pub value: u32,
    /// Kinds of the operands that follow.
    pub parameters: Vec<Rule>,
    /// Conditions that enable it.
    pub gate: Gate,
}

/// An operand kind.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Name.
    pub name: String,
    /// How the walker reads it.
    pub shape: Shape,
    /// Values by number; of aliases the grammar's first comes first.
    pub enumerants: Vec<Enumerant>,
    dense: Vec<u16>,
}

const NONE: u16 = u16::MAX;
const DENSE: usize = 256;

impl Kind {
    /// The enumerant of a value; for masks, of one bit.
    #[inline]
    pub fn value(&self, value: u32) -> Option<&Enumerant> {
        if let Some(&at) = self.dense.get(value as usize) {
            return self.enumerants.get(at as usize);
        }
        let at = self.enumerants.partition_point(|e| e.value < value);
        self.enumerants.get(at).filter(|e| e.value == value)
    }

    /// The enumerant with this name, aliases included.
    pub fn by_name(&self, name: &str) -> Option<&Enumerant> {
        self.enumerants.iter().find(|e| e.name == name)
    }

    fn index(&mut self) {
        self.enumerants.sort_by_key(|e| e.value);
        let last = self
            .enumerants
            .iter()
            .map(|e| e.value as usize)
            .filter(|v| *v < DENSE)
            .max();
        self.dense = vec![NONE; last.map_or(0, |v| v + 1)];
        for (at, row) in self.enumerants.iter().enumerate().rev() {
            if let Some(slot) = self.dense.get_mut(row.value as usize) {
                *slot = at as u16;
            }
        }
    }
}

/// An extended instruction set.
#[derive(Clone, Debug)]
pub struct Set {
    /// Name as OpExtInstImport gives it.
    pub name: String,
    /// Instructions by number.
    pub rows: Vec<Row>,
}

impl Set {
    /// The instruction with this number.
    pub fn row(&self, number: u32) -> Option<&Row> {
        let at = self.rows.partition_point(|r| r.opcode < number);
        self.rows.get(at).filter(|r| r.opcode == number)
    }
}

/// The whole grammar, indexed.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    /// Operand kinds; those of extended sets follow those of the core.
    pub kinds: Vec<Kind>,
    /// Extended instruction sets.
    pub sets: Vec<Set>,
    rows: Vec<Row>,
    by_opcode: Vec<u16>,
    by_name: HashMap<Text, u16>,
    by_kind: HashMap<String, u16>,
}

/// What the names in the core grammar or a set stand for, besides those that the grammar has already.
struct Names {
    /// What precedes the names of its kinds in the whole grammar.
    prefix: String,
    /// Indices of the kinds of a set.
    kinds: HashMap<Text, u16>,
    /// Numbers of its capabilities.
    capabilities: HashMap<Text, u32>,
}

impl Names {
    /// The names of a set, or without one of the core grammar, before any is known.
    fn new(set: Option<&str>) -> Self {
        Self {
            prefix: set.map(|set| format!("{set}/")).unwrap_or_default(),
            kinds: HashMap::new(),
            capabilities: HashMap::new(),
        }
    }
}

impl Grammar {
    /// The built-in grammar.
    pub fn builtin() -> &'static Self {
        static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
        GRAMMAR.get_or_init(|| compact::grammar(BUILTIN).expect("the checked-in grammar reads, as a test shows"))
    }

    /// Adds a core grammar's kinds, enumerants and instructions; those of the same name are replaced.
    pub fn extend(&mut self, model: &Model) {
        let rows = self.add_model(model, None);
        self.add_rows(rows);
    }

    /// Adds an extended instruction set, or replaces the one with that name.
    pub fn extend_set(&mut self, name: &str, model: &Model) {
        let rows = self.add_model(model, Some(name));
        self.add_set(name, rows);
    }

    /// Adds a model's kinds, and returns its rows.
    fn add_model(&mut self, model: &Model, set: Option<&str>) -> Vec<Row> {
        let model = model.clone().spelled(|_, _| false);
        let mut names = Names::new(set);
        // Register names first: parameters may have kinds that are defined later.
        for kind in &model.operand_kinds {
            self.register(&kind.kind, &mut names);
            if kind.kind == "Capability" {
                let number = |row: &model::Enumerant| Some((row.enumerant.clone(), row.value.value()?));
                names.capabilities.extend(kind.enumerants.iter().filter_map(number));
            }
        }
        for kind in &model.operand_kinds {
            let enumerants = kind.enumerants.iter().map(|e| Enumerant {
                name: e.enumerant.clone(),
                value: e.value.value().unwrap_or_default(),
                parameters: self.rules_of(&e.parameters, &names),
                gate: self.gate_of(&e.needs, &names),
            });
            let enumerants = enumerants.collect();
            let bases = kind.bases.iter().map(|base| &**base);
            self.define(&kind.category, &kind.kind, bases, enumerants, &names);
        }
        let row = |row: &model::Instruction| {
            let (operands, gate) = (self.rules_of(&row.operands, &names), self.gate_of(&row.needs, &names));
            self.row_of(row.opname.clone(), row.opcode, operands, gate)
        };
        model.instructions.iter().map(row).collect()
    }

    /// Adds instructions to the core grammar, or replaces those with their names.
    fn add_rows(&mut self, rows: Vec<Row>) {
        self.rows.reserve(rows.len());
        self.by_name.reserve(rows.len());
        for row in rows.into_iter().filter(|row| row.opcode <= 0xffff) {
            match self.by_name.get(&row.name) {
                Some(&at) => self.rows[at as usize] = row,
                None => {
                    self.by_name.insert(row.name.clone(), self.rows.len() as u16);
                    self.rows.push(row);
                }
            }
        }
        // Aliases share an opcode; the first one is printed.
        let last = self.rows.iter().map(|r| r.opcode as usize).max();
        self.by_opcode = vec![NONE; last.map_or(0, |n| n + 1)];
        for (at, row) in self.rows.iter().enumerate() {
            let slot = &mut self.by_opcode[row.opcode as usize];
            if *slot == NONE {
                *slot = at as u16;
            }
        }
    }

    /// Adds a set, or replaces the one with that name.
    fn add_set(&mut self, name: &str, mut rows: Vec<Row>) {
        rows.sort_by_key(|r| r.opcode);
        self.sets.retain(|set| set.name != name);
        self.sets.push(Set {
            name: name.to_owned(),
            rows,
        });
    }

    /// Gives a kind an index; [`Self::define`] says what it is.
    fn register(&mut self, kind: &str, names: &mut Names) {
        let name = format!("{}{kind}", names.prefix);
        let known = self.by_kind.get(&name).copied();
        if known.is_none() && self.kinds.len() >= usize::from(NONE) {
            return;
        }
        let at = known.unwrap_or(self.kinds.len() as u16);
        if !names.prefix.is_empty() {
            names.kinds.insert(kind.to_owned().into(), at);
        }
        if known.is_none() {
            self.by_kind.insert(name.clone(), at);
            self.kinds.push(Kind {
                name,
                shape: Shape::Raw,
                enumerants: Vec::new(),
                dense: Vec::new(),
            });
        }
    }

    /// Says how a registered kind is read, and adds its enumerants; those of the same name are replaced.
    fn define<'t>(
        &mut self,
        category: &str,
        kind: &str,
        bases: impl Iterator<Item = &'t str>,
        enumerants: Vec<Enumerant>,
        names: &Names,
    ) {
        let shape = match (category, kind) {
            ("BitEnum", _) => Shape::Mask,
            ("ValueEnum", _) => Shape::Value,
            ("Id", "IdResultType") => Shape::ResultType,
            ("Id", "IdResult") => Shape::Result,
            ("Id", _) => Shape::Id,
            ("Literal", "LiteralInteger") => Shape::Integer,
            ("Literal", "LiteralFloat") => Shape::Float,
            ("Literal", "LiteralString") => Shape::String,
            ("Literal", "LiteralContextDependentNumber") => Shape::ContextNumber,
            ("Literal", "LiteralExtInstInteger") => Shape::ExtInst,
            ("Literal", "LiteralSpecConstantOpInteger") => Shape::SpecOp,
            ("Composite", _) => Shape::Composite(bases.map(|base| self.kind_named(base, names)).collect()),
            _ => Shape::Raw,
        };
        let at = self.kind_named(kind, names);
        let Some(slot) = self.kinds.get_mut(at as usize) else {
            return;
        };
        slot.shape = shape;
        slot.enumerants
            .retain(|old| !enumerants.iter().any(|new| new.name == old.name));
        slot.enumerants.extend(enumerants);
        slot.index();
    }

    /// Index of a kind: the set's own take precedence over the core's.
    fn kind_named(&self, name: &str, names: &Names) -> u16 {
        let own = names.kinds.get(name);
        own.or_else(|| self.by_kind.get(name)).copied().unwrap_or(NONE)
    }

    fn rules_of(&self, operands: &[model::Operand], names: &Names) -> Vec<Rule> {
        let rule = |operand: &model::Operand| Rule {
            kind: self.kind_named(&operand.kind, names),
            quantifier: Quantifier::of(operand.quantifier.as_deref().unwrap_or_default()),
            name: operand.name.clone().unwrap_or_default(),
        };
        operands.iter().map(rule).collect()
    }

    fn gate_of(&self, needs: &Needs, names: &Names) -> Gate {
        let capabilities = needs.capabilities.iter().map(|name| &**name);
        let versions = (needs.version.as_deref(), needs.last_version.as_deref());
        self.gate(capabilities, needs.extensions.clone(), versions, names)
    }

    /// Conditions from names of capabilities, and the first and last version.
    fn gate<'t>(
        &self,
        capabilities: impl Iterator<Item = &'t str>,
        extensions: Vec<Text>,
        (first, last): (Option<&str>, Option<&str>),
        names: &Names,
    ) -> Gate {
        let number = |name: &str| {
            let own = names.capabilities.get(name).copied();
            own.or_else(|| self.number("Capability", name))
        };
        Gate {
            capabilities: capabilities.filter_map(number).collect(),
            extensions,
            version: first.map_or(0x10000, |text| version(text).unwrap_or(u32::MAX)),
            last_version: last.and_then(version).unwrap_or(u32::MAX),
        }
    }

    fn row_of(&self, name: Text, opcode: u32, operands: Vec<Rule>, gate: Gate) -> Row {
        let has = |shape| operands.iter().any(|r| self.shape(r.kind) == &shape);
        let (has_type, has_result) = (has(Shape::ResultType), has(Shape::Result));
        Row {
            name,
            opcode,
            operands,
            has_type,
            has_result,
            gate,
        }
    }

    /// The instruction with this opcode.
    #[inline]
    pub fn row(&self, opcode: u16) -> Option<&Row> {
        let at = *self.by_opcode.get(opcode as usize)?;
        self.rows.get(at as usize)
    }

    /// The instruction with this name, including `Op`; aliases included.
    pub fn row_named(&self, name: &str) -> Option<&Row> {
        self.by_name.get(name).map(|&at| &self.rows[at as usize])
    }

    /// Every instruction of the core grammar.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The operand kind at an index.
    pub fn kind(&self, kind: u16) -> Option<&Kind> {
        self.kinds.get(kind as usize)
    }

    /// The shape of a kind; raw if the kind is unknown.
    #[inline]
    pub fn shape(&self, kind: u16) -> &Shape {
        self.kinds.get(kind as usize).map_or(&Shape::Raw, |k| &k.shape)
    }

    /// The kind with this name.
    pub fn kind_of(&self, name: &str) -> Option<&Kind> {
        self.kind(*self.by_kind.get(name)?)
    }

    /// Number of a named enumerant.
    pub fn number(&self, kind: &str, name: &str) -> Option<u32> {
        self.kind_of(kind)?.by_name(name).map(|e| e.value)
    }

    /// Index of the extended set that a module imports by this name.
    pub fn set(&self, name: &str) -> Option<usize> {
        let exact = self.sets.iter().position(|set| set.name == name);
        // Revisions of these sets differ by a number after the name and only add instructions.
        const NUMBERED: [&str; 2] = ["NonSemantic.ClspvReflection.", "NonSemantic.VkspReflection."];
        exact.or_else(|| {
            let set = NUMBERED.into_iter().find(|set| name.starts_with(set))?;
            self.sets.iter().position(|known| known.name == set)
        })
    }
}

/// Parses `1.3` into the header's form: `0x10300`.
pub fn version(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once('.')?;
    let (major, minor) = (major.parse::<u8>().ok()?, minor.parse::<u8>().ok()?);
    Some(u32::from(major) << 16 | u32::from(minor) << 8)
}

/// The set that a grammar file of SPIRV-Headers describes, by its file name; the JSON lacks the name.
pub fn set_of_file(file: &str) -> Option<&str> {
    let stem = file.strip_prefix("extinst.")?.strip_suffix(".grammar.json")?;
    Some(match stem {
        "debuginfo" => "DebugInfo",
        "glsl.std.450" => "GLSL.std.450",
        "arm.motion-engine.100" => "Arm.MotionEngine.100",
        "nonsemantic.debugbreak" => "NonSemantic.DebugBreak",
        "nonsemantic.vkspreflection" => "NonSemantic.VkspReflection.",
        "tosa.001000.1" => "TOSA.001000.1",
        "nonsemantic.clspvreflection" => "NonSemantic.ClspvReflection.",
        "nonsemantic.debugprintf" => "NonSemantic.DebugPrintf",
        "nonsemantic.shader.debuginfo.100" => "NonSemantic.Shader.DebugInfo.100",
        "opencl.debuginfo.100" => "OpenCL.DebugInfo.100",
        "opencl.std.100" => "OpenCL.std",
        "spv-amd-gcn-shader" => "SPV_AMD_gcn_shader",
        "spv-amd-shader-ballot" => "SPV_AMD_shader_ballot",
        "spv-amd-shader-explicit-vertex-parameter" => "SPV_AMD_shader_explicit_vertex_parameter",
        "spv-amd-shader-trinary-minmax" => "SPV_AMD_shader_trinary_minmax",
        other => other,
    })
}

/// Compact text of a folder of SPIRV-Headers (`spirv.core.grammar.json` and the `extinst.*` files).
///
/// Enumerants and instructions keep the alias that the built-in grammar prints. NonSemantic.DebugPrintf is left out,
/// because the reference disassembler prints its instructions by number.
///
/// # Errors
/// Invalid if a file is not a grammar; the message says which one and why.
pub fn generate(files: &[(String, String)]) -> crate::Result<String> {
    let find = files.iter().find(|f| f.0 == "spirv.core.grammar.json");
    let missing = || crate::Error::new(crate::ErrorKind::Invalid, "spirv", "no spirv.core.grammar.json there");
    let (core, _) = read_json(&find.ok_or_else(missing)?.1, None)?;
    let mut sets = Vec::new();
    for (file, text) in files {
        if let Some(name) = set_of_file(file).filter(|name| *name != "NonSemantic.DebugPrintf") {
            sets.push((
                name.to_owned(),
                read_json(text, Some(&core)).map_err(|e| e.within(file))?.0,
            ));
        }
    }
    sets.sort_by(|a, b| a.0.cmp(&b.0));
    let builtin = Grammar::builtin();
    let printed = |kind: &str, name: &str| match kind {
        "" => {
            let row = builtin.row_named(name);
            row.is_some_and(|row| builtin.row(row.opcode as u16).is_some_and(|first| first.name == name))
        }
        kind => {
            let kind = builtin.kind_of(kind);
            let row = kind.and_then(|kind| kind.value(kind.by_name(name)?.value));
            row.is_some_and(|row| row.name == name)
        }
    };
    let mut core = core.spelled(printed);
    for kind in &mut core.operand_kinds {
        keep_names(kind, builtin);
    }
    Ok(compact::write(&core, &sets))
}

/// Names printed by the built-in grammar that newer files lack stay before the new ones.
fn keep_names(kind: &mut model::OperandKind, builtin: &Grammar) {
    let old = builtin.kind_of(&kind.kind).map_or(&[][..], |kind| &kind.enumerants);
    for row in old {
        let same = |new: &model::Enumerant| new.value.value() == Some(row.value);
        let known = kind.enumerants.iter().any(|new| new.enumerant == row.name);
        if let Some(at) = kind.enumerants.iter().position(same).filter(|_| !known) {
            let enumerant = row.name.clone();
            let new = model::Enumerant {
                enumerant,
                ..kind.enumerants[at].clone()
            };
            kind.enumerants.insert(at, new);
        }
    }
}
