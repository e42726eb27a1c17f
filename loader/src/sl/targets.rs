//! Resolves the blocks that closures name in a text: names to indices, and the branch lists of 2020 to blocks.

use super::{Block, Branch, Builder, Name, Names, Statement, quote};
use crate::SourceError;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

pub(super) type Result<T, E = SourceError> = std::result::Result<T, E>;

/// The block that a closure names, and its place in the text.
pub(super) enum Target {
    /// `#index`.
    Index(Range<usize>, u64),
    /// A block's name.
    Name(Range<usize>, Vec<u8>),
    /// `branch NAME = block, …`: each branch's name, and the block that is its body.
    Branches(Range<usize>, Vec<(Name, Range<usize>, Vec<u8>)>),
}

/// Limit on names and statements that branch lists may copy: a block is written once and may be in many lists.
const MAX_COPIED: usize = 1 << 22;

/// Resolves the targets of one module.
pub(super) struct Targets<'t> {
    /// The text.
    pub source: &'t str,
    /// Interns names as constants.
    pub builder: &'t mut Builder,
}

/// A branch list: each block's index under the branch's name.
struct List {
    key: Vec<(Vec<u8>, u32)>,
    names: Vec<Name>,
    span: Range<usize>,
}

impl Targets<'_> {
    fn error(&self, span: &Range<usize>, message: impl Into<String>) -> SourceError {
        SourceError::new(self.source, span.clone(), message)
    }

    fn bytes(&self, name: &Name) -> &[u8] {
        self.builder.library.bytes(name.content)
    }

    /// Replaces block names by block indices, in the order of the closures in the text.
    ///
    /// A closure with a branch list gets a new block made of the listed blocks' bodies, one for each distinct list.
    pub(crate) fn resolve(mut self, mut blocks: Vec<Block>, targets: Vec<Target>) -> Result<Vec<Block>> {
        let mut known: HashMap<Vec<u8>, (u32, bool)> = HashMap::new();
        for (index, block) in blocks.iter().enumerate() {
            let row = known.entry(self.bytes(&block.name).to_vec());
            row.and_modify(|row| row.1 = true).or_insert((index as u32, false));
        }
        let mut lists: Vec<List> = Vec::new();
        let mut numbers: HashMap<Vec<(Vec<u8>, u32)>, u32> = HashMap::new();
        let mut resolved = Vec::with_capacity(targets.len());
        for target in targets {
            resolved.push(match target {
                Target::Index(_, index) if index < blocks.len() as u64 => index as u32,
                Target::Index(span, index) => {
                    let message = format!("there is no block #{index}: the module has {}", blocks.len());
                    return Err(self.error(&span, message));
                }
                Target::Name(span, name) => self.block(&known, &span, &name)?,
                Target::Branches(span, branches) => {
                    let list = self.list(&known, &blocks, span, branches)?;
                    let next = (blocks.len() + lists.len()) as u32;
                    *numbers.entry(list.key.clone()).or_insert_with(|| {
                        lists.push(list);
                        next
                    })
                }
            });
        }
        let mut resolved = resolved.into_iter();
        each_target(&mut blocks, |block| *block = resolved.next().unwrap_or_default());
        if lists.is_empty() {
            return Ok(blocks);
        }
        self.merge(blocks, &lists)
    }

    fn block(&self, known: &HashMap<Vec<u8>, (u32, bool)>, span: &Range<usize>, name: &[u8]) -> Result<u32> {
        match known.get(name) {
            Some((index, false)) => Ok(*index),
            Some(_) => Err(self.error(span, format!("two blocks are named {}: use #index", quote(name)))),
            None => Err(self.error(span, format!("no block is named {}", quote(name)))),
        }
    }

    /// A branch list whose blocks can be the branches of one block.
    fn list(
        &self,
        known: &HashMap<Vec<u8>, (u32, bool)>,
        blocks: &[Block],
        span: Range<usize>,
        branches: Vec<(Name, Range<usize>, Vec<u8>)>,
    ) -> Result<List> {
        let mut list = List {
            key: Vec::new(),
            names: Vec::new(),
            span,
        };
        let mut first: Option<&Block> = None;
        for (name, at, block) in branches {
            let number = self.block(known, &at, &block)?;
            let body = &blocks[number as usize];
            let one = matches!(&body.branches[..], [one] if self.bytes(&one.name).is_empty());
            if !one {
                let message = format!("block {} has branches of its own", quote(&block));
                return Err(self.error(&at, message));
            }
            let first = *first.get_or_insert(body);
            if self.set(&first.containing) != self.set(&body.containing) {
                let message = format!("block {} does not contain what the first one does", quote(&block));
                return Err(self.error(&at, message));
            }
            list.key.push((self.bytes(&name).to_vec(), number));
            list.names.push(name);
        }
        Ok(list)
    }

    fn set(&self, names: &Names) -> (BTreeSet<&[u8]>, bool) {
        let bytes = names.names.iter().map(|name| self.bytes(name));
        (bytes.collect(), names.glob.is_some())
    }

    /// Makes a block of each branch list. It takes the place and name of its first block if nothing else refers to that
    /// block; otherwise it is appended under a name made of its branches. Blocks that only branch lists name are
    /// removed.
    fn merge(&mut self, mut blocks: Vec<Block>, lists: &[List]) -> Result<Vec<Block>> {
        let written = blocks.len();
        let mut direct = vec![false; written + lists.len()];
        direct[0] = true;
        each_target(&mut blocks, |block| direct[*block as usize] = true);
        let mut listed = vec![false; written];
        let mut place: Vec<Option<usize>> = vec![None; written];
        let mut copied = 0usize;
        for (number, list) in lists.iter().enumerate() {
            for (_, body) in &list.key {
                listed[*body as usize] = true;
                copied = copied.saturating_add(weight(&blocks[*body as usize].branches[0]));
            }
            if copied > MAX_COPIED {
                return Err(self.error(&list.span, "lists of branches make the module too large"));
            }
            let first = list.key[0].1 as usize;
            let made = self.made(&blocks, list, !direct[first] && place[first].is_none())?;
            if !direct[first] && place[first].is_none() {
                place[first] = Some(written + number);
            }
            blocks.push(made);
        }
        // The new position of each block: parsed blocks keep their order, the generated ones follow.
        let mut order: Vec<usize> = Vec::new();
        for block in 0..written {
            match place[block] {
                Some(made) => order.push(made),
                None if listed[block] && !direct[block] => {}
                None => order.push(block),
            }
        }
        let placed: HashSet<usize> = place.into_iter().flatten().collect();
        order.extend((written..blocks.len()).filter(|made| !placed.contains(made)));
        let mut number = vec![0; blocks.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new as u32;
        }
        let mut old: Vec<Option<Block>> = blocks.into_iter().map(Some).collect();
        let mut blocks: Vec<Block> = order.iter().filter_map(|&index| old[index].take()).collect();
        each_target(&mut blocks, |block| *block = number[*block as usize]);
        Ok(blocks)
    }

    fn made(&mut self, blocks: &[Block], list: &List, same_name: bool) -> Result<Block> {
        let first = &blocks[list.key[0].1 as usize];
        let mut name = first.name;
        if !same_name {
            let part = |(branch, block): &(Vec<u8>, u32)| {
                let body = self.bytes(&blocks[*block as usize].name);
                [&branch[..], b"=", body].concat()
            };
            let text = list.key.iter().map(part).collect::<Vec<_>>().join(&b","[..]);
            let constant = self.builder.constant(&text);
            name.content = constant.map_err(|error| self.error(&list.span, error.message()))?;
        }
        let branch = |(name, (_, block)): (&Name, &(Vec<u8>, u32))| Branch {
            name: *name,
            ..blocks[*block as usize].branches[0].clone()
        };
        Ok(Block {
            name,
            containing: first.containing.clone(),
            branches: list.names.iter().zip(&list.key).map(branch).collect(),
        })
    }
}

/// The blocks that closures name, in text order.
fn each_target(blocks: &mut [Block], mut each: impl FnMut(&mut u32)) {
    let branches = blocks.iter_mut().flat_map(|block| &mut block.branches);
    for statement in branches.flat_map(|branch| &mut branch.statements) {
        if let Statement::Closure { block, .. } = statement {
            each(block);
        }
    }
}

/// Approximate number of names and statements in a branch.
fn weight(branch: &Branch) -> usize {
    let of = |statement: &Statement| match statement {
        Statement::Closure { close_over, .. } => 2 + close_over.names.len(),
        _ => 2,
    };
    let lists = branch.receiving.names.len() + branch.invocation.inputs.names.len();
    3 + lists + branch.statements.iter().map(of).sum::<usize>()
}
