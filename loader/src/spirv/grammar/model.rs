//! Khronos' machine-readable grammar in the form of its JSON schema.
//!
//! Source: the schema document of the SPIR-V registry ("machine-readable grammar"); newer members (versions, aliases,
//! provisional) are kept unchanged.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A text of a grammar; the built-in grammar's are parts of its own text.
pub type Text = Cow<'static, str>;

/// A whole grammar file: the core grammar or one extended instruction set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Magic number as hexadecimal text; only the core grammar has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magic_number: Option<Text>,
    /// Major version of the SPIR-V described.
    #[serde(default)]
    pub major_version: u32,
    /// Minor version of the SPIR-V described.
    #[serde(default)]
    pub minor_version: u32,
    /// Revision of the grammar.
    #[serde(default)]
    pub revision: u32,
    /// The instructions, in no particular order.
    pub instructions: Vec<Instruction>,
    /// The operand kinds.
    #[serde(default)]
    pub operand_kinds: Vec<OperandKind>,
    /// Members that this model lacks.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Model {
    /// Adds a row for each alias after its main row; of a row's names, one that `preferred` accepts comes first.
    pub fn spelled(mut self, preferred: impl Fn(&str, &str) -> bool) -> Self {
        let model = &mut self;
        let rows = std::mem::take(&mut model.instructions);
        for row in rows {
            if row.needs.aliases.is_empty() {
                model.instructions.push(row);
                continue;
            }
            let names = names(&row.opname, &row.needs, |name| preferred("", name));
            model
                .instructions
                .extend(names.into_iter().map(|(opname, needs)| Instruction {
                    opname,
                    needs,
                    ..row.clone()
                }));
        }
        for kind in &mut model.operand_kinds {
            let rows = std::mem::take(&mut kind.enumerants);
            for row in rows {
                if row.needs.aliases.is_empty() {
                    kind.enumerants.push(row);
                    continue;
                }
                let names = names(&row.enumerant, &row.needs, |name| preferred(&kind.kind, name));
                kind.enumerants
                    .extend(names.into_iter().map(|(enumerant, needs)| Enumerant {
                        enumerant,
                        needs,
                        ..row.clone()
                    }));
            }
        }
        self
    }
}

/// A row's names, each with its conditions.
fn names(name: &Text, needs: &Needs, preferred: impl Fn(&str) -> bool) -> Vec<(Text, Needs)> {
    let mut names: Vec<&Text> = std::iter::once(name).chain(&needs.aliases).collect();
    names.sort_by_key(|name| !preferred(name));
    let needs = Needs {
        aliases: Vec::new(),
        ..needs.clone()
    };
    names.into_iter().map(|name| (name.clone(), needs.clone())).collect()
}

/// One instruction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Name, with `Op` in the core grammar.
    pub opname: Text,
    /// Opcode, or the number within an extended set.
    pub opcode: u32,
    /// Chapter that documents the instruction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Text>,
    /// Operands in order, result type and result included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operands: Vec<Operand>,
    /// Conditions that enable it.
    #[serde(flatten)]
    pub needs: Needs,
}

/// One operand of an instruction, or a parameter of an enumerant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operand {
    /// Name of the operand kind.
    pub kind: Text,
    /// `?` for at most one, `*` for any number; missing for exactly one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantifier: Option<Text>,
    /// A short description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
}

/// Conditions that enable an instruction or an enumerant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Needs {
    /// Any one of these capabilities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Text>,
    /// Any one of these extensions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Text>,
    /// First version that has it without an extension; `None` for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text>,
    /// Last version that has it.
    #[serde(default, rename = "lastVersion", skip_serializing_if = "Option::is_none")]
    pub last_version: Option<Text>,
    /// Aliases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<Text>,
    /// Members that this model lacks: provisional and future ones.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A kind of operand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperandKind {
    /// `BitEnum`, `ValueEnum`, `Id`, `Literal` or `Composite`.
    pub category: Text,
    /// Name.
    pub kind: Text,
    /// Possible values of an enumeration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enumerants: Vec<Enumerant>,
    /// Kinds of a composite's parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bases: Vec<Text>,
}

/// A value of an enumeration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Enumerant {
    /// Name.
    pub enumerant: Text,
    /// Number; masks give it as hexadecimal text.
    pub value: Number,
    /// Operands that follow when the value is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Operand>,
    /// Conditions that enable it.
    #[serde(flatten)]
    pub needs: Needs,
}

/// A JSON number, or a number as hexadecimal text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A JSON integer.
    Plain(u32),
    /// Text such as `0x0002`.
    Text(Text),
}

impl Default for Number {
    fn default() -> Self {
        Self::Plain(0)
    }
}

impl Number {
    /// The value, if it is a 32-bit number.
    pub fn value(&self) -> Option<u32> {
        match self {
            Self::Plain(value) => Some(*value),
            Self::Text(text) => match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => text.parse().ok(),
            },
        }
    }
}
