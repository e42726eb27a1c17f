//! Passes that replace instructions of functions one by one.

use super::declarations::Declarations;
use super::editor::{Editor, build, check, check_declarations};
use crate::Result;
use crate::spirv::{ModuleIndex, Words};

/// A module of which a pass replaces instructions. Nothing is copied before the first change.
pub(super) struct Rewriter<'i, 'a> {
    /// The module as it was.
    pub index: &'i ModuleIndex<'a>,
    /// The imported set GLSL.std.450.
    pub set: Option<u32>,
    /// The words from the first function to the instruction that is looked at.
    before: &'a [u32],
    changes: Option<Changes>,
}

/// A changed module.
struct Changes {
    /// The module without its functions.
    module: Editor,
    /// The declarations, with those that are added.
    declared: Declarations,
    /// Words of the functions so far.
    functions: Vec<u32>,
}

/// What became of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It stays as it is.
    Kept,
    /// Other instructions were appended in its place.
    Replaced,
}

impl Rewriter<'_, '_> {
    fn changes(&mut self) -> &mut Changes {
        let (index, before) = (self.index, self.before);
        self.changes.get_or_insert_with(|| {
            let module = Editor::split(index, index.declarations());
            let declared = Declarations::of(index, &module);
            let mut functions = Vec::with_capacity(index.words().count());
            functions.extend_from_slice(before);
            Changes {
                module,
                declared,
                functions,
            }
        })
    }

    /// The declarations, and the module they belong to.
    pub(super) fn declared(&mut self) -> (&mut Declarations, &mut Editor) {
        let changes = self.changes();
        (&mut changes.declared, &mut changes.module)
    }

    /// A new id.
    pub(super) fn fresh(&mut self) -> u32 {
        self.changes().module.fresh()
    }

    /// Appends an instruction.
    pub(super) fn push(&mut self, words: &[u32]) {
        self.changes().functions.extend_from_slice(words);
    }

    /// Appends an instruction with a new result of a type; returns the result.
    pub(super) fn step(&mut self, opcode: u16, ty: u32, operands: &[u32]) -> u32 {
        let id = self.fresh();
        self.push(&build(opcode, &[&[ty, id], operands].concat()));
        id
    }
}

/// The module with what `rewrite` appends in place of instructions of its functions.
///
/// # Errors
/// Invalid for a broken module; the errors of `rewrite`.
pub(super) fn rewritten(
    words: &[u32],
    mut rewrite: impl FnMut(&mut Rewriter<'_, '_>, &[u32]) -> Result<Outcome>,
) -> Result<Vec<u32>> {
    let index = &ModuleIndex::new(words)?;
    check_declarations(index)?;
    let header = index.header();
    let mut to = Rewriter {
        index,
        set: index.imported("GLSL.std.450"),
        before: &[],
        changes: None,
    };
    let mut start = None;
    for node in index.bodies() {
        check(&node, &header)?;
        to.before = &words[*start.get_or_insert(node.position)..node.position];
        let instruction = &words[node.position..][..node.words.count()];
        if rewrite(&mut to, instruction)? == Outcome::Kept
            && let Some(changes) = &mut to.changes
        {
            changes.functions.extend_from_slice(instruction);
        }
    }
    let Some(mut changes) = to.changes else {
        return Ok(words.to_vec());
    };
    changes.declared.insert(&mut changes.module);
    let mut words = changes.module.words();
    words.append(&mut changes.functions);
    Ok(words)
}
