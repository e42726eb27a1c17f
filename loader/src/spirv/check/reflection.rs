//! Imports of versioned instruction sets, and the declarations of `NonSemantic.ClspvReflection`.

use super::form::{Form, Why, when};
use super::{Checked, Item};
use crate::spirv::operand::string;
use crate::spirv::{model, op};
use std::ops::RangeInclusive;

/// Sets whose names end with a version, with the known versions.
const VERSIONS: [(&str, RangeInclusive<u32>); 3] = [
    (CLSPV, 1..=7),
    ("NonSemantic.Shader.DebugInfo.", 100..=u32::MAX),
    ("Arm.ExperimentalMLOperations.", 1..=1),
];

const CLSPV: &str = "NonSemantic.ClspvReflection.";

/// Checks the import of a set.
pub(super) fn import(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let name = module.sets.get(&item.result)?;
    let info = module.words[1] >= 0x10600 || module.extends("SPV_KHR_non_semantic_info");
    let free = name.starts_with("NonSemantic.");
    when(
        free && !info,
        "a non-semantic set needs the extension SPV_KHR_non_semantic_info",
    )
    .or_else(|| {
        let (_, known, rest) = VERSIONS.iter().find_map(|(set, known)| {
            let rest = name
                .strip_prefix(set)
                .or_else(|| (*name == set[..set.len() - 1]).then_some(""))?;
            Some((set, known, rest))
        })?;
        let version = rest.parse::<u32>().ok();
        when(
            version.is_none_or(|version| !known.contains(&version)),
            "unknown version of the set",
        )
    })
}

/// Checks a declaration of `NonSemantic.ClspvReflection` by the operand names in the grammar.
pub(super) fn declaration(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let name = module.sets.get(&item.word(3))?;
    let version: u32 = name.strip_prefix(CLSPV)?.parse().ok()?;
    let set = module.grammar.set(name)?;
    let row = module.grammar.sets[set].row(item.word(4))?;
    let args = item.words.get(5..)?;
    if row.name == "Kernel" {
        return kernel(module, args, version);
    }
    let pairs = row.operands.iter().zip(args);
    pairs
        .into_iter()
        .find_map(|(rule, id)| operand(module, &rule.name, *id))
}

/// The extended instruction that defines an id.
fn declared<'a>(module: &Checked<'a>, id: u32) -> Option<&'a str> {
    let item = module.def(id).filter(|item| item.opcode() == op::EXT_INST)?;
    let name = module.sets.get(&item.word(3)).filter(|name| name.starts_with(CLSPV))?;
    let row = module.grammar.sets[module.grammar.set(name)?].row(item.word(4))?;
    Some(&row.name)
}

fn operand(module: &Checked<'_>, name: &str, id: u32) -> Why {
    let fits = match name {
        "Kernel" | "Decl" => declared(module, id) == Some("Kernel"),
        "ArgInfo" => declared(module, id) == Some("ArgumentInfo"),
        "Name" | "Type Name" | "TypeName" | "Attributes" | "Data" | "FileName" | "PrintfString" | "FormatString" => {
            module.opcode(id) == op::STRING
        }
        _ => is_word(module, id),
    };
    when(
        !fits,
        &format!("{name}, %{id}, has the wrong type for this instruction"),
    )
}

/// Whether an id is a constant 32-bit unsigned integer.
fn is_word(module: &Checked<'_>, id: u32) -> bool {
    module.opcode(id) == op::CONSTANT && module.of(id) == Form::WORD && module.unsigned(module.type_of(id))
}

fn kernel(module: &Checked<'_>, args: &[u32], version: u32) -> Why {
    let (function, name) = (*args.first()?, *args.get(1)?);
    let of_function = |item: &&Item| item.opcode() == op::ENTRY_POINT && item.word(2) == function;
    let entries: Vec<&Item> = module.items.iter().filter(of_function).collect();
    let text = module
        .def(name)
        .filter(|item| item.opcode() == op::STRING)
        .and_then(|item| string(&item.words[2..]));
    let called = |item: &&Item| string(&item.words[3..]).map(|name| name.0) == text.as_ref().map(|text| text.0.clone());
    when(module.opcode(function) != op::FUNCTION, "Kernel is not a function")
        .or_else(|| when(entries.is_empty(), "Kernel is not an entry point"))
        .or_else(|| {
            let others = entries.iter().any(|item| item.word(1) != model::GL_COMPUTE);
            when(others, "Kernel is an entry point of another execution model")
        })
        .or_else(|| when(text.is_none(), "Name is not a string"))
        .or_else(|| when(!entries.iter().any(called), "Name is not the entry point's"))
        .or_else(|| {
            let more = args.len() > 2 && version < 5;
            when(more, "before version 5 a kernel has two operands")
        })
        .or_else(|| {
            let mut words = args.get(2..4.min(args.len()).max(2))?.iter();
            words
                .find(|id| !is_word(module, **id))
                .map(|id| format!("%{id} is not a constant 32-bit unsigned integer"))
        })
        .or_else(|| {
            let attributes = args.get(4)?;
            when(module.opcode(*attributes) != op::STRING, "Attributes is not a string")
        })
}
