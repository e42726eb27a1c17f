//! Passes that replace instructions of functions one by one.

use super::declarations::Declarations;
use super::editor::{Editor, build, check};
use crate::Result;
use crate::spirv::{ModuleIndex, Words};

/// A module whose functions are being written again.
pub(super) struct Rewriter<'i, 'a> {
    /// The module as it was.
    pub index: &'i ModuleIndex<'a>,
    /// The module without its functions.
    pub module: Editor,
    /// The declarations, with those that are added.
    pub declared: Declarations,
    /// The imported set GLSL.std.450.
    pub set: Option<u32>,
    /// Words of the functions so far.
    functions: Vec<u32>,
}

impl Rewriter<'_, '_> {
    /// Appends an instruction.
    pub(super) fn push(&mut self, words: &[u32]) {
        self.functions.extend_from_slice(words);
    }

    /// Appends an instruction with a new result of a type; returns the result.
    pub(super) fn step(&mut self, opcode: u16, ty: u32, operands: &[u32]) -> u32 {
        let id = self.module.fresh();
        self.push(&build(opcode, &[&[ty, id], operands].concat()));
        id
    }
}

/// The module with what `rewrite` appends for each instruction of its functions.
///
/// # Errors
/// Invalid for a broken module; the errors of `rewrite`.
pub(super) fn rewritten(
    words: &[u32],
    mut rewrite: impl FnMut(&mut Rewriter<'_, '_>, &[u32]) -> Result<()>,
) -> Result<Vec<u32>> {
    let index = &ModuleIndex::new(words)?;
    let module = Editor::of_declarations(index)?;
    let declared = Declarations::of(index, &module);
    let set = module.imported("GLSL.std.450");
    let mut to = Rewriter {
        index,
        module,
        declared,
        set,
        functions: Vec::with_capacity(words.len()),
    };
    for node in index.bodies() {
        check(&node, &index.header())?;
        rewrite(&mut to, &words[node.position..][..node.words.count()])?;
    }
    to.declared.insert(&mut to.module);
    let mut words = to.module.words();
    words.append(&mut to.functions);
    Ok(words)
}
