//! A module as an editable list of instructions, and the clean-up after a change. The [index](ModuleIndex) answers
//! questions about the unchanged module.

use crate::spirv::grammar::{Quantifier, Shape};
use crate::spirv::operand::{Context, operands};
use crate::spirv::{Grammar, HEADER_WORDS, Instruction, MAGIC, ModuleIndex, Node, Words, class, op};
use crate::{Error, Result};
use std::collections::{HashMap, HashSet};

/// Limit on rounds of dead-code removal. Each round removes at least one link of every dead chain; index lookups have
/// five links.
const MAX_ROUNDS: usize = 32;

/// A module's header and instructions, which can be changed, removed and added.
#[derive(Clone, Debug)]
pub struct Editor {
    header: [u32; HEADER_WORDS],
    /// The words of each instruction; an empty entry is a removed instruction.
    pub body: Vec<Vec<u32>>,
}

/// The minimum length of an instruction in the grammar: its first word and its mandatory operands. Passes rely on it.
fn least_words(opcode: u16) -> usize {
    let row = Grammar::builtin().row(opcode);
    let must =
        |row: &crate::spirv::grammar::Row| row.operands.iter().filter(|o| o.quantifier == Quantifier::One).count();
    1 + row.map_or(0, must)
}

/// Opcode of an instruction's words; 0 (a no-op) for a removed one.
pub fn opcode(instruction: &[u32]) -> u16 {
    instruction.first().map_or(0, |word| *word as u16)
}

/// Writes the length into an instruction's first word.
pub fn seal(mut instruction: Vec<u32>) -> Vec<u32> {
    let opcode = u32::from(opcode(&instruction));
    instruction[0] = (instruction.len() as u32) << 16 | opcode;
    instruction
}

/// The words of an instruction with this opcode and these operands.
pub fn build(opcode: u16, operands: &[u32]) -> Vec<u32> {
    let mut words = vec![u32::from(opcode)];
    words.extend_from_slice(operands);
    seal(words)
}

/// Rejects an instruction that is shorter than the grammar says, and a result past the bound.
pub(super) fn check(node: &Node<'_>, header: &[u32; HEADER_WORDS]) -> Result<()> {
    let wrong = |why: String| Err(Error::invalid("spirv", why, node.position as u64 * 4));
    let (have, least) = (node.words.count(), least_words(node.opcode));
    if have < least {
        return wrong(format!(
            "opcode {} has {have} words, it takes {least} at least",
            node.opcode
        ));
    }
    match result_in(node.words) {
        Some(id) if id >= header[3] => wrong(format!("id {id} is past the bound {}", header[3])),
        _ => Ok(()),
    }
}

/// Rejects a module without its header, and instructions as [`check`].
fn check_nodes<'a>(index: &ModuleIndex, mut nodes: impl Iterator<Item = Node<'a>>) -> Result<()> {
    let header = index.header();
    if header[0] != MAGIC || index.words().count() < HEADER_WORDS {
        return Err(Error::invalid("spirv", "no SPIR-V header", 0));
    }
    nodes.try_for_each(|node| check(&node, &header))
}

/// Rejects a module without its header, and declarations as [`check`].
pub(super) fn check_declarations(index: &ModuleIndex) -> Result<()> {
    check_nodes(index, index.declarations())
}

impl Editor {
    /// Splits an indexed module into instructions.
    ///
    /// # Errors
    /// Invalid for a wrong magic number, a module shorter than its header, or an instruction of wrong length.
    pub fn new(index: &ModuleIndex) -> Result<Self> {
        check_nodes(index, index.instructions())?;
        Ok(Self::split(index, index.instructions()))
    }

    /// A module of these instructions, which [`check`] has passed.
    pub(super) fn split<'a>(index: &ModuleIndex, nodes: impl Iterator<Item = Node<'a>>) -> Self {
        let words = |node: Node<'a>| (0..node.words.count()).filter_map(|at| node.words.word(at)).collect();
        Self {
            header: index.header(),
            body: nodes.map(words).collect(),
        }
    }

    /// The words of the whole module.
    pub fn words(&self) -> Vec<u32> {
        self.header.iter().chain(self.body.iter().flatten()).copied().collect()
    }

    /// The header's version: `0x0001_0500` is 1.5.
    pub fn version(&self) -> u32 {
        self.header[1]
    }

    /// Raises the version to this one if it is lower.
    pub fn require_version(&mut self, version: u32) {
        self.header[1] = self.header[1].max(version);
    }

    /// Removes variables from the entry points' interfaces.
    pub fn leave_interface(&mut self, variables: &[u32]) {
        for words in self.body.iter_mut().filter(|words| opcode(words) == op::ENTRY_POINT) {
            let (start, mut at) = (interface_start(words), 0);
            words.retain(|word| {
                at += 1;
                at <= start || !variables.contains(word)
            });
            *words = seal(std::mem::take(words));
        }
    }

    /// A new id.
    pub fn fresh(&mut self) -> u32 {
        self.header[3] = self.header[3].saturating_add(1);
        self.header[3] - 1
    }

    /// The pointer type of a storage class and pointee; a missing one is appended to `added`.
    pub fn pointer_type(&mut self, class: u32, pointee: u32, added: &mut Vec<Vec<u32>>) -> u32 {
        let is = |words: &&Vec<u32>| opcode(words) == op::TYPE_POINTER && words[2..] == [class, pointee];
        if let Some(found) = self.body.iter().chain(added.iter()).find(is) {
            return found[1];
        }
        let id = self.fresh();
        added.push(build(op::TYPE_POINTER, &[id, class, pointee]));
        id
    }

    /// Position of the first function, or the end without one. Types and variables may be added there.
    pub fn functions_start(&self) -> usize {
        self.body
            .iter()
            .position(|words| opcode(words) == op::FUNCTION)
            .unwrap_or(self.body.len())
    }

    /// Position of the first annotation, or type without one. Names may be added there.
    pub fn names_end(&self) -> Option<usize> {
        self.body.iter().position(|words| {
            matches!(
                opcode(words),
                op::DECORATE..=op::GROUP_MEMBER_DECORATE | op::TYPE_VOID..=op::TYPE_FUNCTION
            )
        })
    }

    /// Position after the last annotation. Decorations may be added there.
    pub fn annotations_end(&self) -> usize {
        let last = self
            .body
            .iter()
            .rposition(|words| (op::DECORATE..=op::GROUP_MEMBER_DECORATE).contains(&opcode(words)));
        let types = || {
            self.body.iter().position(|words| {
                matches!(
                    opcode(words),
                    op::TYPE_VOID..=op::TYPE_FUNCTION | op::CONSTANT | op::VARIABLE
                )
            })
        };
        last.map(|last| last + 1)
            .or_else(types)
            .unwrap_or_else(|| self.functions_start())
    }

    /// Inserts instructions.
    pub fn insert(&mut self, at: usize, instructions: Vec<Vec<u32>>) {
        self.body.splice(at..at, instructions);
    }

    /// Adds a capability unless the module declares it.
    pub fn add_capability(&mut self, capability: u32) {
        let instruction = build(op::CAPABILITY, &[capability]);
        if !self.body.contains(&instruction) {
            self.insert(0, vec![instruction]);
        }
    }

    /// Removes ids with their names, decorations and entries in the entry points' interfaces, and lists `added` there.
    /// Only from SPIR-V 1.4 on does the interface list all global variables.
    pub fn replace_globals(&mut self, removed: &HashSet<u32>, added: &[u32]) {
        let lists_all = self.version() >= 0x0001_0400;
        for words in &mut self.body {
            let target = words.get(1).copied().unwrap_or(0);
            match opcode(words) {
                op::NAME | op::DECORATE if removed.contains(&target) => words.clear(),
                op::VARIABLE if words.get(2).is_some_and(|id| removed.contains(id)) => words.clear(),
                op::ENTRY_POINT => {
                    let names = interface_start(words);
                    let mut at = 0;
                    words.retain(|word| {
                        at += 1;
                        at <= names || !removed.contains(word)
                    });
                    if lists_all {
                        words.extend_from_slice(added);
                    }
                    *words = seal(std::mem::take(words));
                }
                _ => {}
            }
        }
        self.sweep();
    }

    /// Copies names and decorations from values to their copies: (value, copy).
    pub fn describe_copies(&mut self, copies: &[(u32, u32)]) {
        let mut of: HashMap<u32, Vec<u32>> = HashMap::new();
        for (from, to) in copies {
            of.entry(*from).or_default().push(*to);
        }
        let functions = self.body.split_off(self.functions_start());
        for words in std::mem::take(&mut self.body) {
            let about = matches!(opcode(&words), op::NAME | op::DECORATE | op::DECORATE_ID);
            let copies = words.get(1).filter(|_| about).and_then(|id| of.get(id));
            let copies = copies.into_iter().flatten().map(|to| {
                let mut copy = words.clone();
                copy[1] = *to;
                copy
            });
            let copies: Vec<Vec<u32>> = copies.collect();
            self.body.push(words);
            self.body.extend(copies);
        }
        self.body.extend(functions);
    }

    /// Replaces numbers' and vectors' types that are declared again by the first declaration.
    pub fn join_types(&mut self, context: &Context) {
        let (mut ids, mut first) = (HashMap::new(), HashMap::new());
        for words in &mut self.body {
            rename(words, &ids, context);
            if matches!(
                opcode(words),
                op::TYPE_BOOL | op::TYPE_INT | op::TYPE_FLOAT | op::TYPE_VECTOR
            ) {
                let known = *first.entry((opcode(words), words[2..].to_vec())).or_insert(words[1]);
                if known != words[1] {
                    ids.insert(words[1], known);
                    words.clear();
                }
            }
        }
        for words in &mut self.body {
            if matches!(opcode(words), op::NAME | op::DECORATE) && ids.contains_key(&words[1]) {
                words.clear();
            }
        }
        self.sweep();
    }

    /// Deletes the entries of removed instructions.
    pub fn sweep(&mut self) {
        self.body.retain(|words| !words.is_empty());
    }

    /// The number of uses of each id in functions. All words of instructions unknown to [`id_operands`] count: a surplus
    /// use keeps a dead instruction, a missing one would break the module.
    pub fn uses(&self) -> HashMap<u32, u32> {
        let mut uses = HashMap::new();
        for words in &self.body[self.functions_start()..] {
            for id in id_operands(words.as_slice()) {
                *uses.entry(id).or_insert(0) += 1;
            }
        }
        uses
    }

    /// Removes unused array, struct and pointer types with their names and decorations: readers such as naga validate
    /// every declared type.
    pub fn remove_unused_types(&mut self) {
        let start = self.functions_start();
        let bodies = self.body[start..].iter();
        let mut used: HashSet<u32> = bodies.flat_map(|words| id_operands(words.as_slice())).collect();
        let mut removed = HashSet::new();
        // Types precede their uses, except pointers that are declared in advance.
        for words in self.body[..start].iter_mut().rev() {
            let kind = opcode(words);
            let goes = matches!(
                kind,
                op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY | op::TYPE_STRUCT | op::TYPE_POINTER
            );
            match words.get(1).filter(|id| goes && !used.contains(id)).copied() {
                Some(id) => {
                    removed.insert(id);
                    words.clear();
                }
                None => used.extend(declared_with(words)),
            }
        }
        for words in &mut self.body[..start] {
            let about = matches!(
                opcode(words),
                op::NAME | op::MEMBER_NAME | op::DECORATE | op::MEMBER_DECORATE | op::DECORATE_ID
            );
            if about && words.get(1).is_some_and(|id| removed.contains(id)) {
                words.clear();
            }
        }
        self.sweep();
    }

    /// Removes unused computations, and local variables that are never loaded.
    pub fn remove_dead(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let uses = self.uses();
            let stored: HashMap<u32, u32> = self.body.iter().filter(|words| opcode(words) == op::STORE).fold(
                HashMap::new(),
                |mut stored, words| {
                    *stored.entry(words.get(1).copied().unwrap_or(0)).or_insert(0) += 1;
                    stored
                },
            );
            let locals: HashSet<u32> = self
                .body
                .iter()
                .filter(|words| opcode(words) == op::VARIABLE && words.get(3) == Some(&class::FUNCTION))
                .filter_map(|words| words.get(2).copied())
                .filter(|id| uses.get(id) == stored.get(id))
                .collect();
            let mut removed = HashSet::new();
            for words in &mut self.body {
                let unused = result(words).filter(|id| !uses.contains_key(id));
                let dead = match opcode(words) {
                    op::STORE => words.get(1).is_some_and(|id| locals.contains(id)),
                    op::VARIABLE => words
                        .get(2)
                        .is_some_and(|id| locals.contains(id) && !stored.contains_key(id)),
                    code => is_pure(code) && unused.is_some(),
                };
                if dead {
                    removed.extend(result(words));
                    words.clear();
                }
            }
            let before = self.body.len();
            self.replace_globals(&removed, &[]);
            if self.body.len() == before {
                return;
            }
        }
    }
}

/// The ids that a declaration uses, without its result and literals. A surplus word is harmless: it keeps something
/// unused.
fn declared_with(words: &[u32]) -> impl Iterator<Item = u32> {
    let range = match opcode(words) {
        op::NAME | op::MEMBER_NAME | op::TYPE_INT | op::TYPE_FLOAT => 0..0,
        op::DECORATE..=op::GROUP_MEMBER_DECORATE => 0..0,
        op::TYPE_VECTOR | op::TYPE_MATRIX => 2..3,
        op::TYPE_POINTER => 3..4,
        op::CONSTANT | op::SPEC_CONSTANT => 1..2,
        op::TYPE_VOID..=op::TYPE_FORWARD_POINTER => 2..words.len(),
        _ => 1..words.len(),
    };
    words.get(range).unwrap_or_default().iter().copied()
}

/// Whether an instruction may be removed if its result is unused: the arithmetic and loads of index lookups.
fn is_pure(opcode: u16) -> bool {
    const PURE: [u16; 8] = [
        op::LOAD,
        op::ACCESS_CHAIN,
        op::IN_BOUNDS_ACCESS_CHAIN,
        op::COPY_OBJECT,
        op::BITCAST,
        op::SHIFT_RIGHT_LOGICAL,
        op::BITWISE_AND,
        op::BIT_FIELD_U_EXTRACT,
    ];
    PURE.contains(&opcode)
}

/// The result id of an instruction; `None` for an unknown opcode.
pub fn result(words: &[u32]) -> Option<u32> {
    result_in(words)
}

fn result_in<W: Words>(words: W) -> Option<u32> {
    let row = Grammar::builtin()
        .row(words.word(0)? as u16)
        .filter(|row| row.has_result)?;
    words.word(1 + usize::from(row.has_type))
}

/// First word of an entry point's interface, after the execution model, the function, and the name, which ends with a
/// zero byte.
fn interface_start(words: &[u32]) -> usize {
    let name = words.get(3..).unwrap_or_default();
    let ends = |word: &u32| word.to_le_bytes().contains(&0);
    3 + name.iter().position(ends).map_or(name.len(), |last| last + 1)
}

/// The ids that an instruction in a function uses, without its result. For opcodes not listed here every word counts.
pub fn id_operands<W: Words>(words: W) -> impl Iterator<Item = u32> {
    let end = words.count();
    let from = |at: usize| at..end.max(at);
    let only = |at: usize, count: usize| at.min(end)..end.min(at + count);
    let none = 0..0;
    let opcode = words.word(0).map_or(0, |word| word as u16);
    let row = Grammar::builtin().row(opcode).filter(|row| row.has_result);
    let (first, rest) = match (opcode, row) {
        (op::NOP | op::FUNCTION_END, _) => (none.clone(), none),
        (op::FUNCTION | op::FUNCTION_PARAMETER | op::VARIABLE, _) => (only(1, 1), only(4, 1)),
        (op::EXT_INST, _) => (only(1, 1), from(5)),
        (op::LOAD | op::COMPOSITE_EXTRACT, _) => (only(1, 1), only(3, 1)),
        (op::VECTOR_SHUFFLE | op::COMPOSITE_INSERT, _) => (only(1, 1), only(3, 2)),
        (op::STORE | op::LOOP_MERGE | op::SELECTION_MERGE | op::SWITCH, _) => (only(1, 2), none),
        (op::BRANCH_CONDITIONAL, _) => (only(1, 3), none),
        (_, Some(row)) if !row.has_type => (from(2), none),
        (_, Some(_)) => (only(1, 1), from(3)),
        (_, None) => (from(1), none),
    };
    first.chain(rest).filter_map(move |at| words.word(at))
}

/// The types that determine the operands of instructions in functions.
pub fn context(index: &ModuleIndex) -> Context {
    let grammar = Grammar::builtin();
    let mut context = Context::with_room(index.words().count());
    for node in index.instructions() {
        context.note(grammar, grammar.row(node.opcode), &node);
    }
    context
}

/// Positions of all ids in an instruction.
fn places(words: &[u32], context: &Context) -> Vec<usize> {
    let grammar = Grammar::builtin();
    let instruction = Instruction {
        opcode: opcode(words),
        words,
        position: 0,
    };
    let found = operands(grammar, context, grammar.row(instruction.opcode), &instruction);
    let is_id = |shape: &Shape| matches!(shape, Shape::ResultType | Shape::Result | Shape::Id);
    let found = found.flatten().filter(|operand| is_id(operand.shape));
    found.map(|operand| operand.at).collect()
}

/// The ids that an instruction uses, by the grammar: [`id_operands`] also yields literals of some instructions.
pub(super) fn used(words: &[u32], context: &Context) -> Vec<u32> {
    let own = result(words);
    let ids = places(words, context).into_iter().map(|at| words[at]);
    ids.filter(|id| Some(*id) != own).collect()
}

/// Replaces ids in an instruction.
pub fn rename(words: &mut [u32], ids: &HashMap<u32, u32>, context: &Context) {
    if ids.is_empty() {
        return;
    }
    for at in places(words, context) {
        if let Some(id) = ids.get(&words[at]) {
            words[at] = *id;
        }
    }
}
