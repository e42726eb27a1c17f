//! Passes that replace instructions of functions one by one.

use super::declarations::Declarations;
use super::editor::{Editor, build};
use crate::Result;
use crate::spirv::ModuleIndex;

/// A module whose functions are being written again.
pub(super) struct Rewriter<'i, 'a> {
    /// The module as it was.
    pub index: &'i ModuleIndex<'a>,
    /// The module; its body has the declarations, and the functions so far.
    pub module: Editor,
    /// The declarations, with those that are added.
    pub declared: Declarations,
    /// The imported set GLSL.std.450.
    pub set: Option<u32>,
}

impl Rewriter<'_, '_> {
    /// Appends an instruction.
    pub(super) fn push(&mut self, words: Vec<u32>) {
        self.module.body.push(words);
    }

    /// Appends an instruction with a new result of a type; returns the result.
    pub(super) fn step(&mut self, opcode: u16, ty: u32, operands: &[u32]) -> u32 {
        let id = self.module.fresh();
        self.push(build(opcode, &[&[ty, id], operands].concat()));
        id
    }
}

/// The module with what `rewrite` appends for each instruction of its functions.
///
/// # Errors
/// Invalid for a broken module; the errors of `rewrite`.
pub(super) fn rewritten(
    words: &[u32],
    mut rewrite: impl FnMut(&mut Rewriter<'_, '_>, Vec<u32>) -> Result<()>,
) -> Result<Vec<u32>> {
    let index = &ModuleIndex::new(words)?;
    let mut module = Editor::new(index)?;
    let start = module.functions_start();
    let functions = module.body.split_off(start);
    let declared = Declarations::of(index, &module);
    let set = module.imported("GLSL.std.450");
    let mut to = Rewriter {
        index,
        module,
        declared,
        set,
    };
    for words in functions {
        rewrite(&mut to, words)?;
    }
    let Rewriter {
        mut module, declared, ..
    } = to;
    declared.insert(&mut module);
    Ok(module.words())
}
