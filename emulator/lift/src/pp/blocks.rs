//! Splits a fragment program into blocks with their successors.

use crate::Error;
use crate::ssa::BlockId;
use utgard::pp::{BranchKind, Instruction};

/// The end of a block.
#[derive(Clone, Copy)]
pub(super) enum Leaves {
    /// The fragment is finished.
    Ends,
    /// The fragment is discarded.
    Discards,
    /// Continues at a block.
    Goes(BlockId),
    /// Continues at the first or the second block, or ends if there is no second.
    Branches(BlockId, Option<BlockId>),
}

/// A block's instructions.
pub(super) struct Span {
    /// Index of the first.
    pub(super) first: usize,
    /// Index after the last.
    pub(super) end: usize,
    /// How it ends.
    pub(super) leaves: Leaves,
}

impl Span {
    /// Its possible successors.
    pub(super) fn next(&self, exit: BlockId) -> Vec<BlockId> {
        match self.leaves {
            Leaves::Ends => vec![exit],
            Leaves::Discards => Vec::new(),
            Leaves::Goes(to) => vec![to],
            Leaves::Branches(to, on) => vec![to, on.unwrap_or(exit)],
        }
    }
}

/// The blocks of a program.
pub(super) fn blocks(instructions: &[(u32, Instruction)]) -> Result<Vec<Span>, Error> {
    let count = instructions.len();
    let mut targets = vec![None; count];
    let mut first = vec![false; count + 1];
    first[0] = true;
    for (at, (word, i)) in instructions.iter().enumerate() {
        let code = |message: String| Error::code(*word, message);
        if let Some(branch) = i.branch {
            if let BranchKind::Undocumented(kind) = branch.kind {
                let message = format!("branch kind {kind} is not known");
                return Err(Error::unsupported(*word, message));
            }
            first[at + 1] = true;
            if branch.may_go() {
                let to = i64::from(*word) + i64::from(branch.signed_target());
                let to = instructions.binary_search_by_key(&to, |(word, _)| i64::from(*word));
                let to = to.map_err(|_| code("a branch target is not the start of an instruction".to_owned()))?;
                targets[at] = Some(to);
                first[to] = true;
            }
        }
        first[at + 1] |= i.control.stop;
    }
    let leaders: Vec<usize> = (0..count).filter(|at| first[*at]).collect();
    let number = |at: usize| leaders.binary_search(&at).ok();
    let span = |(block, first): (usize, &usize)| {
        let end = leaders.get(block + 1).copied().unwrap_or(count);
        let (word, i) = &instructions[end - 1];
        let behind = if i.control.stop { None } else { number(end) };
        let target = targets[end - 1].and_then(number);
        let leaves = match (i.branch, target) {
            (Some(branch), _) if branch.is_discard() => Leaves::Discards,
            (Some(branch), Some(to)) if branch.always() => Leaves::Goes(to),
            (_, Some(to)) => Leaves::Branches(to, behind),
            (_, None) => match behind {
                Some(on) => Leaves::Goes(on),
                None if i.control.stop => Leaves::Ends,
                None => {
                    return Err(Error::code(*word, "the program continues past its end".to_owned()));
                }
            },
        };
        Ok(Span {
            first: *first,
            end,
            leaves,
        })
    };
    leaders.iter().enumerate().map(span).collect()
}
