//! The grammar of SPIR-V as tables: opcodes, operand kinds, enumerants, extended instruction sets.
//!
//! [`Grammar::builtin`] is made from `core.grammar`, generated from Khronos' JSON (SPIRV-Headers 1.4.335.0) by `skrymir
//! grammar --generate`; [`Grammar::extend`] adds or replaces parts from any JSON grammar. Of the built-in text only the
//! names are read at first: an instruction, an enumeration and a set are taken apart when they are first asked for,
//! because a module uses few of them and every command that reads SPIR-V would wait for all.

pub mod compact;
mod lazy;
pub mod model;
mod rules;

pub use rules::read as read_json;

use lazy::Lazy;
use model::{Model, Needs, Text};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

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
#[derive(Clone, Debug, Default)]
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
    details: Lazy<Details>,
}

/// What an enumerant has besides name and number.
#[derive(Clone, Debug, Default)]
struct Details {
    parameters: Vec<Rule>,
    gate: Gate,
}

impl Enumerant {
    /// Kinds of the operands that follow.
    pub fn parameters(&self) -> &[Rule] {
        &self.details.get().parameters
    }

    /// Conditions that enable it.
    pub fn gate(&self) -> &Gate {
        &self.details.get().gate
    }
}

/// An operand kind.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Name.
    pub name: String,
    /// How the walker reads it.
    pub shape: Shape,
    values: Lazy<Values>,
}

/// The enumerants of a kind, with an index.
#[derive(Clone, Debug, Default)]
struct Values {
    /// Sorted by number; of aliases the grammar's first comes first.
    rows: Vec<Enumerant>,
    /// Indices of small numbers.
    dense: Vec<u16>,
}

const NONE: u16 = u16::MAX;
const DENSE: usize = 256;

impl Values {
    fn new(mut rows: Vec<Enumerant>) -> Self {
        rows.sort_by_key(|e| e.value);
        let small = rows.iter().map(|e| e.value as usize).filter(|v| *v < DENSE);
        let mut dense = vec![NONE; small.max().map_or(0, |v| v + 1)];
        for (at, row) in rows.iter().enumerate().rev() {
            if let Some(slot) = dense.get_mut(row.value as usize) {
                *slot = at as u16;
            }
        }
        Self { rows, dense }
    }
}

impl Kind {
    /// The enumerants by number; of aliases the grammar's first comes first.
    #[inline]
    pub fn enumerants(&self) -> &[Enumerant] {
        &self.values.get().rows
    }

    /// The enumerant of a value; for masks, of one bit.
    #[inline]
    pub fn value(&self, value: u32) -> Option<&Enumerant> {
        let values = self.values.get();
        if let Some(&at) = values.dense.get(value as usize) {
            return values.rows.get(at as usize);
        }
        self.aliases(value).first()
    }

    /// All enumerants of a value.
    pub fn aliases(&self, value: u32) -> &[Enumerant] {
        let rows = self.enumerants();
        let from = rows.partition_point(|row| row.value < value);
        let to = from + rows[from..].partition_point(|row| row.value == value);
        &rows[from..to]
    }

    /// The enumerant with this name, aliases included.
    pub fn by_name(&self, name: &str) -> Option<&Enumerant> {
        self.enumerants().iter().find(|e| e.name == name)
    }
}

/// An extended instruction set.
#[derive(Clone, Debug)]
pub struct Set {
    /// Name as OpExtInstImport gives it.
    pub name: String,
    rows: Lazy<Vec<Row>>,
}

impl Set {
    /// Instructions by number.
    pub fn rows(&self) -> &[Row] {
        self.rows.get()
    }

    /// The instruction with this number.
    pub fn row(&self, number: u32) -> Option<&Row> {
        let rows = self.rows();
        let at = rows.partition_point(|r| r.opcode < number);
        rows.get(at).filter(|r| r.opcode == number)
    }
}

/// An instruction of the core grammar.
#[derive(Clone, Debug)]
struct Instruction {
    name: Text,
    opcode: u16,
    row: Lazy<Row>,
}

/// The whole grammar, indexed.
#[derive(Clone, Debug, Default)]
pub struct Grammar {
    /// Operand kinds; those of extended sets follow those of the core.
    pub kinds: Vec<Kind>,
    /// Extended instruction sets.
    pub sets: Vec<Set>,
    rows: Vec<Instruction>,
    by_opcode: Vec<u16>,
    /// Made when it is first asked for.
    by_name: OnceLock<HashMap<Text, u16>>,
    by_kind: HashMap<Text, u16>,
    /// Names of the core grammar.
    names: Arc<Names>,
}

/// What the names in the core grammar or a set stand for.
#[derive(Clone, Debug, Default)]
struct Names {
    /// Indices of its kinds.
    kinds: HashMap<Text, u16>,
    /// Numbers of its capabilities.
    capabilities: HashMap<Text, u32>,
    /// Index of the kind of results' types.
    result_type: Option<u16>,
    /// Index of the kind of results.
    result: Option<u16>,
    /// For a set, the names of the core grammar.
    core: Option<Arc<Names>>,
}

impl Names {
    /// Index of a kind: the set's own take precedence over the core's.
    fn kind(&self, name: &str) -> u16 {
        let of = |names: &Self| names.kinds.get(name).copied();
        of(self).or_else(|| of(self.core.as_deref()?)).unwrap_or(NONE)
    }

    /// Number of a capability.
    fn capability(&self, name: &str) -> Option<u32> {
        let of = |names: &Self| names.capabilities.get(name).copied();
        of(self).or_else(|| of(self.core.as_deref()?))
    }

    /// Conditions from names of capabilities, and the first and last version.
    fn gate<'t>(
        &self,
        capabilities: impl Iterator<Item = &'t str>,
        extensions: Vec<Text>,
        (first, last): (Option<&str>, Option<&str>),
    ) -> Gate {
        Gate {
            capabilities: capabilities.filter_map(|name| self.capability(name)).collect(),
            extensions,
            version: first.map_or(0x10000, |text| version(text).unwrap_or(u32::MAX)),
            last_version: last.and_then(version).unwrap_or(u32::MAX),
        }
    }

    fn row(&self, name: Text, opcode: u32, operands: Vec<Rule>, gate: Gate) -> Row {
        let core = self.core.as_deref().unwrap_or(self);
        let has = |kind: Option<u16>| kind.is_some() && operands.iter().any(|rule| Some(rule.kind) == kind);
        let (has_type, has_result) = (has(core.result_type), has(core.result));
        Row {
            name,
            opcode,
            operands,
            has_type,
            has_result,
            gate,
        }
    }

    fn rules_of(&self, operands: &[model::Operand]) -> Vec<Rule> {
        let rule = |operand: &model::Operand| Rule {
            kind: self.kind(&operand.kind),
            quantifier: Quantifier::of(operand.quantifier.as_deref().unwrap_or_default()),
            name: operand.name.clone().unwrap_or_default(),
        };
        operands.iter().map(rule).collect()
    }

    fn gate_of(&self, needs: &Needs) -> Gate {
        let capabilities = needs.capabilities.iter().map(|name| &**name);
        let versions = (needs.version.as_deref(), needs.last_version.as_deref());
        self.gate(capabilities, needs.extensions.clone(), versions)
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
        let model = model.clone().spelled(|_, _| false);
        let names = (*self.names).clone();
        let (names, rows) = self.add_model(&model, None, names);
        self.names = names;
        self.add_rows(rows);
    }

    /// Adds an extended instruction set, or replaces the one with that name.
    pub fn extend_set(&mut self, name: &str, model: &Model) {
        let model = model.clone().spelled(|_, _| false);
        let names = self.names_of_set();
        let (_, mut rows) = self.add_model(&model, Some(name), names);
        rows.sort_by_key(|row| row.opcode);
        self.add_set(name, Lazy::new(rows));
    }

    /// The names of a new set.
    fn names_of_set(&self) -> Names {
        Names {
            core: Some(self.names.clone()),
            ..Names::default()
        }
    }

    /// Adds a model's kinds, and returns its rows and what its names stand for.
    fn add_model(&mut self, model: &Model, set: Option<&str>, mut names: Names) -> (Arc<Names>, Vec<Row>) {
        // Register names first: parameters may have kinds that are defined later.
        for kind in &model.operand_kinds {
            self.register(kind.kind.clone(), set, &mut names);
            if kind.kind == "Capability" {
                let number = |row: &model::Enumerant| Some((row.enumerant.clone(), row.value.value()?));
                names.capabilities.extend(kind.enumerants.iter().filter_map(number));
            }
        }
        for kind in &model.operand_kinds {
            let enumerants = kind.enumerants.iter().map(|e| Enumerant {
                name: e.enumerant.clone(),
                value: e.value.value().unwrap_or_default(),
                details: Lazy::new(Details {
                    parameters: names.rules_of(&e.parameters),
                    gate: names.gate_of(&e.needs),
                }),
            });
            let mut enumerants: Vec<Enumerant> = enumerants.collect();
            let at = names.kind(&kind.kind);
            if let Some(kind) = self.kinds.get(at as usize) {
                let replaced = |old: &&Enumerant| enumerants.iter().any(|new| new.name == old.name);
                let kept = kind.enumerants().iter().filter(|old| !replaced(old)).cloned();
                enumerants = kept.chain(enumerants.iter().cloned()).collect();
            }
            let bases = kind.bases.iter().map(|base| &**base);
            self.define(
                &kind.category,
                &kind.kind,
                bases,
                Lazy::new(Values::new(enumerants)),
                &names,
            );
        }
        let row = |row: &model::Instruction| {
            let (operands, gate) = (names.rules_of(&row.operands), names.gate_of(&row.needs));
            names.row(row.opname.clone(), row.opcode, operands, gate)
        };
        let rows = model.instructions.iter().map(row).collect();
        (Arc::new(names), rows)
    }

    /// Adds instructions to the core grammar, or replaces those with their names.
    fn add_rows(&mut self, rows: Vec<Row>) {
        self.by_name();
        let mut by_name = self.by_name.take().unwrap_or_default();
        let mut all = std::mem::take(&mut self.rows);
        for row in rows {
            let Ok(opcode) = u16::try_from(row.opcode) else {
                continue;
            };
            let (name, row) = (row.name.clone(), Lazy::new(row));
            let instruction = Instruction { name, opcode, row };
            match by_name.get(&instruction.name) {
                Some(&at) => all[at as usize] = instruction,
                None => {
                    by_name.insert(instruction.name.clone(), all.len() as u16);
                    all.push(instruction);
                }
            }
        }
        self.set_rows(all);
        self.by_name = OnceLock::from(by_name);
    }

    /// Makes these the instructions of the core grammar; they have different names.
    fn set_rows(&mut self, rows: Vec<Instruction>) {
        (self.rows, self.by_name) = (rows, OnceLock::new());
        // Aliases share an opcode; the first one is printed.
        let last = self.rows.iter().map(|row| usize::from(row.opcode)).max();
        self.by_opcode = vec![NONE; last.map_or(0, |n| n + 1)];
        for (at, row) in self.rows.iter().enumerate() {
            let slot = &mut self.by_opcode[usize::from(row.opcode)];
            if *slot == NONE {
                *slot = at as u16;
            }
        }
    }

    /// Indices of the instructions.
    fn by_name(&self) -> &HashMap<Text, u16> {
        self.by_name.get_or_init(|| {
            let rows = self.rows.iter().enumerate();
            rows.map(|(at, row)| (row.name.clone(), at as u16)).collect()
        })
    }

    /// Adds a set, or replaces the one with that name.
    fn add_set(&mut self, name: &str, rows: Lazy<Vec<Row>>) {
        self.sets.retain(|set| set.name != name);
        let name = name.to_owned();
        self.sets.push(Set { name, rows });
    }

    /// Gives a kind an index; [`Self::define`] says what it is.
    fn register(&mut self, kind: Text, set: Option<&str>, names: &mut Names) {
        let name: Text = match set {
            Some(set) => format!("{set}/{kind}").into(),
            None => kind.clone(),
        };
        let known = self.by_kind.get(&name).copied();
        if known.is_none() && self.kinds.len() >= usize::from(NONE) {
            return;
        }
        let at = known.unwrap_or(self.kinds.len() as u16);
        match (set, &*kind) {
            (None, "IdResultType") => names.result_type = Some(at),
            (None, "IdResult") => names.result = Some(at),
            _ => {}
        }
        names.kinds.insert(kind, at);
        if known.is_none() {
            self.by_kind.insert(name.clone(), at);
            self.kinds.push(Kind {
                name: name.into_owned(),
                shape: Shape::Raw,
                values: Lazy::new(Values::default()),
            });
        }
    }

    /// Says how a registered kind is read, and its enumerants.
    fn define<'t>(
        &mut self,
        category: &str,
        kind: &str,
        bases: impl Iterator<Item = &'t str>,
        values: Lazy<Values>,
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
            ("Composite", _) => Shape::Composite(bases.map(|base| names.kind(base)).collect()),
            _ => Shape::Raw,
        };
        if let Some(slot) = self.kinds.get_mut(names.kind(kind) as usize) {
            (slot.shape, slot.values) = (shape, values);
        }
    }

    /// The instruction with this opcode.
    #[inline]
    pub fn row(&self, opcode: u16) -> Option<&Row> {
        let at = *self.by_opcode.get(opcode as usize)?;
        self.rows.get(at as usize).map(|instruction| instruction.row.get())
    }

    /// The instruction with this name, including `Op`; aliases included.
    pub fn row_named(&self, name: &str) -> Option<&Row> {
        self.by_name().get(name).map(|&at| self.rows[at as usize].row.get())
    }

    /// Every instruction of the core grammar.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.rows.iter().map(|instruction| instruction.row.get())
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
    let old = builtin.kind_of(&kind.kind).map_or(&[][..], Kind::enumerants);
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
