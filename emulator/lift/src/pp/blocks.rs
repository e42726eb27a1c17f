//! A fragment program's instructions as blocks, and how they follow each other.

use crate::Error;
use crate::ssa::BlockId;
use utgard::pp::{BranchKind, Instruction};

/// How a block is left.
#[derive(Clone, Copy)]
pub(super) enum Leaves {
    /// The fragment is done.
    Ends,
    /// It gives up.
    Discards,
    /// It goes on there.
    Goes(BlockId),
    /// It may go to the first, else to the second, or is done where there is none.
    Branches(BlockId, Option<BlockId>),
}

/// A block's instructions.
pub(super) struct Span {
    /// Number of the first.
    pub(super) first: usize,
    /// Number behind the last.
    pub(super) end: usize,
    /// How it is left.
    pub(super) leaves: Leaves,
}

impl Span {
    /// The blocks that may follow.
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
                let to = to.map_err(|_| code("a branch goes where no instruction begins".to_owned()))?;
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
                    return Err(Error::code(*word, "the program goes on past its words".to_owned()));
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
