//! Imports of versioned instruction sets, and the declarations of `NonSemantic.ClspvReflection`.

use super::form::{Why, when};
use super::{Checked, Item};
use crate::spirv::grammar::Row;
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

/// Numbers of the first instructions that a version of the set added, with the version.
const ADDED: [(u32, u32); 6] = [(42, 7), (41, 6), (36, 5), (34, 4), (26, 3), (25, 2)];

/// The version of `NonSemantic.ClspvReflection` that an instruction is of, and its row.
fn reflected<'a>(module: &Checked<'a>, item: &Item<'_>) -> Option<(u32, &'a Row)> {
    if !item.is_extended() {
        return None;
    }
    let set = module.context.set(item.word(3))??;
    let version = module.sets.get(&item.word(3))?.strip_prefix(CLSPV)?.parse().ok()?;
    Some((version, module.grammar.sets[set].row(item.word(4))?))
}

/// Checks a declaration of `NonSemantic.ClspvReflection` by the operand names in the grammar.
pub(super) fn declaration(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let (version, row) = reflected(module, item)?;
    let args = item.words.get(5..)?;
    let void = module.opcode(item.ty) == op::TYPE_VOID;
    let since = ADDED
        .iter()
        .find(|added| row.opcode >= added.0)
        .map_or(1, |added| added.1);
    when(!void, "the result type is not void")
        .or_else(|| {
            let early = version < since;
            when(early, &format!("{} is of version {since}, not of {version}", row.name))
        })
        .or_else(|| match &*row.name {
            "Kernel" => kernel(module, args, version),
            _ => args.iter().enumerate().find_map(|(at, id)| {
                // The last rule may be for any number of operands.
                let rule = row.operands.get(at).or(row.operands.last())?;
                operand(module, item, &rule.name, *id)
            }),
        })
}

fn operand(module: &Checked<'_>, item: &Item<'_>, name: &str, id: u32) -> Why {
    // A declaration and what it refers to use the same import.
    let is = |name: &str| {
        let of = module.definition(id).filter(|of| of.word(3) == item.word(3));
        of.and_then(|of| reflected(module, of))
            .is_some_and(|(_, row)| row.name == name)
    };
    let fits = match name {
        "Kernel" | "Decl" => is("Kernel"),
        "ArgInfo" => is("ArgumentInfo"),
        "Name" | "Type Name" | "TypeName" | "Attributes" | "Data" | "FileName" | "PrintfString" | "FormatString" => {
            module.opcode(id) == op::STRING
        }
        "Variable" => module.opcode(id) == op::VARIABLE,
        _ => module.constant_word(id),
    };
    when(
        !fits,
        &format!("{name}, %{id}, has the wrong type for this instruction"),
    )
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
                .find(|id| !module.constant_word(**id))
                .map(|id| format!("%{id} is not a constant 32-bit unsigned integer"))
        })
        .or_else(|| {
            let attributes = args.get(4)?;
            when(module.opcode(*attributes) != op::STRING, "Attributes is not a string")
        })
}
