//! Converts a stage of a VBC for other languages: ordinary descriptors, and names for the uniform's members.

use super::{Source, naga_stage};
use crate::{ErrorKind, Result};
use loader::spirv::transform::{Editor, build};
use loader::spirv::{ModuleIndex, class, decoration, op};
use loader::vbc::{self, Stage, Vbc};

/// The words of the one stage that a source selects.
pub(super) fn words(source: &Source<'_>) -> Result<Vec<u32>> {
    let file = vbc::read(source.bytes)?;
    let all = Stage::ALL.into_iter();
    let mut found: Vec<_> = all.filter_map(|stage| Some((stage, file.code(stage)?))).collect();
    if let Some(wanted) = source.stage {
        found.retain(|(stage, _)| naga_stage(*stage) == Some(wanted));
    }
    match &found[..] {
        [(stage, code)] => {
            let words = lowered(&file, *stage).unwrap_or_else(|| code.words());
            Ok(named(&words, &file).unwrap_or(words))
        }
        [] => Err(ErrorKind::Entry("vbc: no such stage".into()).into()),
        several => {
            let names: Vec<_> = several.iter().map(|(stage, _)| stage.to_string()).collect();
            Err(ErrorKind::Entry(format!("vbc: choose a stage: {}", names.join(", "))).into())
        }
    }
}

/// A stage's code with an ordinary descriptor for each table slot (set 0, binding = slot) and no push constants, since
/// other languages lack resource tables. `None` if an index cannot be traced.
fn lowered(file: &Vbc<'_>, stage: Stage) -> Option<Vec<u32>> {
    let module = file.module(stage)?.as_ref().ok()?;
    Some(vbc::fit::fit(module, &vbc::fit::Mode::Lowered).ok()?.words)
}

/// The code with the names of uniform members from the file's reflection, because the code is stripped. `None` if there
/// are no names to add.
fn named(words: &[u32], file: &Vbc<'_>) -> Option<Vec<u32>> {
    let uniform = file.uniform()?;
    let index = ModuleIndex::new(words).ok()?;
    let is_uniform = |variable: &loader::spirv::Located| {
        variable.class == class::UNIFORM && index.place(variable.id) == Some((1, 0))
    };
    let block = index.globals().find(is_uniform)?.pointee;
    let structure = index.unwrapped(block);
    let mut names = Vec::new();
    for (member, _) in (0u32..).zip(index.members(structure)?) {
        let offset = index.member_decoration(structure, member, decoration::OFFSET)?;
        let name = uniform
            .members()
            .find(|known| known.offset == offset)
            .map(|known| known.name);
        let Some(name) = name.and_then(|name| std::str::from_utf8(name).ok()) else {
            continue;
        };
        let is_word = !name.is_empty() && !name.contains('\0');
        if is_word && index.member_name(structure, member).is_none() {
            let mut operands = vec![structure, member];
            operands.extend(loader::spirv::operand::words_of_string(name));
            names.push(build(op::MEMBER_NAME, &operands));
        }
    }
    if names.is_empty() {
        return None;
    }
    let mut module = Editor::new(&index).ok()?;
    module.insert(module.names_end()?, names);
    Some(module.words())
}
