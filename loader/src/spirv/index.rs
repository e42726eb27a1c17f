//! An index of a module's declarations: definitions by id, decorations, the interface.
//!
//! Built once per stage; borrows the file's words and copies only positions. Function bodies are skipped until an id
//! defined in one is looked up.

use super::ids::Ids;
use super::walk::Instructions;
use super::{Grammar, HEADER_WORDS, InstructionIn, Source, Words, decoration, dim, op, operand};
use crate::{Error, Result};
use std::sync::OnceLock;

/// An instruction of an indexed module.
pub type Node<'a> = InstructionIn<Source<'a>>;

/// A decoration of an id, or of a struct's member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Decoration {
    target: u32,
    /// Member, or [`WHOLE`].
    member: u32,
    kind: u32,
    value: u32,
    position: u32,
}

/// The member value of a decoration on the id itself.
const WHOLE: u32 = u32::MAX;

/// The operands of an image type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    /// Id of the type that texels have when read.
    pub sampled_type: u32,
    /// One of [`dim`].
    pub dim: u32,
    /// 0 for a colour image, 1 for a depth image, 2 if unspecified.
    pub depth: u32,
    /// 1 for an array of images.
    pub arrayed: u32,
    /// 1 for several samples per texel.
    pub multisampled: u32,
    /// [`Image::SAMPLED`] or [`Image::STORAGE`]; 0 if unspecified.
    pub sampled: u32,
    /// One of [`image_format`](super::image_format).
    pub format: u32,
}

impl Image {
    /// [`Image::sampled`] of an image that is read with a sampler, or of a uniform texel buffer.
    pub const SAMPLED: u32 = 1;

    /// [`Image::sampled`] of a storage image, storage texel buffer or subpass input.
    pub const STORAGE: u32 = 2;

    /// Whether it is a texel buffer.
    pub fn is_buffer(&self) -> bool {
        self.dim == dim::BUFFER
    }

    /// Whether it is a subpass input.
    pub fn is_subpass(&self) -> bool {
        self.dim == dim::SUBPASS_DATA
    }
}

/// A global variable and its place in the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// Id of the variable.
    pub id: u32,
    /// Id of the pointee's type.
    pub pointee: u32,
    /// Storage class.
    pub class: u32,
    /// Position of its instruction.
    pub position: usize,
}

/// The declarations of a module.
#[derive(Clone, Debug)]
pub struct ModuleIndex<'a> {
    words: Source<'a>,
    /// Positions of types, constants and global variables by id; 0 for none.
    declared: Ids<u32>,
    /// Sorted.
    decorations: Vec<Decoration>,
    /// Positions of instructions that apply decoration groups, until they are applied.
    groups: Vec<u32>,
    capabilities: Vec<u32>,
    /// Positions, in module order.
    entry_points: Vec<u32>,
    modes: Vec<u32>,
    variables: Vec<u32>,
    /// Position of the first function.
    functions: usize,
    /// Positions of definitions in functions; computed on first use.
    bodies: OnceLock<Ids<u32>>,
}

impl<'a> ModuleIndex<'a> {
    /// Indexes the declarations. Functions are only walked, and the header is not checked.
    ///
    /// # Errors
    /// Invalid if an instruction's length is wrong or a declaration lacks its result; the offset counts from the start
    /// of the module.
    pub fn new(words: impl Into<Source<'a>>) -> Result<Self> {
        match words.into() {
            Source::Words(words) => Self::of(words, Source::Words),
            Source::Bytes(bytes) => Self::of(bytes, Source::Bytes),
        }
    }

    /// [`ModuleIndex::new`] for one representation of words.
    fn of<W: Words>(words: W, source: fn(W) -> Source<'a>) -> Result<Self> {
        let bound = words.word(3).unwrap_or(0);
        let mut index = Self {
            words: source(words),
            declared: Ids::new(words.count().min(MAX_DENSE), bound, 0),
            decorations: Vec::with_capacity(64),
            groups: Vec::new(),
            capabilities: Vec::new(),
            entry_points: Vec::new(),
            modes: Vec::new(),
            variables: Vec::with_capacity(16),
            functions: words.count(),
            bodies: OnceLock::new(),
        };
        for instruction in Instructions::of(words, HEADER_WORDS) {
            let instruction = instruction?;
            if instruction.opcode == op::FUNCTION {
                index.functions = instruction.position;
                break;
            }
            index.declare(&instruction)?;
        }
        step_through(words, index.functions)?;
        index.decorations.sort_unstable();
        index.spread_groups(words);
        Ok(index)
    }

    /// Copies the decorations of groups to their targets.
    fn spread_groups<W: Words>(&mut self, words: W) {
        let mut more = Vec::new();
        for position in std::mem::take(&mut self.groups) {
            let Some(Ok(instruction)) = Instructions::of(words, position as usize).next() else {
                continue;
            };
            let group = instruction.operand(0).unwrap_or(0);
            let from = self.decorations.partition_point(|d| d.target < group);
            let of_group: Vec<Decoration> = self.decorations[from..]
                .iter()
                .take_while(|d| d.target == group)
                .copied()
                .collect();
            let targets: Vec<u32> = instruction.tail(1).collect();
            let by_member = instruction.opcode == op::GROUP_MEMBER_DECORATE;
            for target in targets.chunks_exact(if by_member { 2 } else { 1 }) {
                let (target, member) = (target[0], target.get(1).copied().unwrap_or(WHOLE));
                more.extend(of_group.iter().map(|d| Decoration { target, member, ..*d }));
            }
        }
        if !more.is_empty() {
            self.decorations.extend(more);
            self.decorations.sort_unstable();
        }
    }

    /// Records a declaration before the first function.
    fn declare<W: Words>(&mut self, instruction: &InstructionIn<W>) -> Result<()> {
        let position = instruction.position as u32;
        let result = match instruction.opcode {
            op::CAPABILITY => {
                self.capabilities.extend(instruction.operand(0));
                return Ok(());
            }
            op::ENTRY_POINT => {
                self.entry_points.push(position);
                return Ok(());
            }
            op::EXECUTION_MODE | op::EXECUTION_MODE_ID => {
                self.modes.push(position);
                return Ok(());
            }
            op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => {
                self.groups.push(position);
                return Ok(());
            }
            op::DECORATE | op::MEMBER_DECORATE => {
                self.decorations.extend(decoration_of(instruction));
                return Ok(());
            }
            op::VARIABLE => {
                self.variables.push(position);
                1
            }
            op::TYPE_VOID..op::TYPE_FORWARD_POINTER => 0,
            op::CONSTANT_TRUE..=op::SPEC_CONSTANT_OP => 1,
            op::NAME | op::MEMBER_NAME => return Ok(()),
            opcode => match Grammar::builtin().row(opcode) {
                Some(row) if row.has_result => usize::from(row.has_type),
                _ => return Ok(()),
            },
        };
        let Some(id) = instruction.operand(result) else {
            let message = format!("instruction with opcode {} has no result", instruction.opcode);
            return Err(Error::invalid("spirv", message, u64::from(position) * 4));
        };
        if self.declared.get(id) == 0 {
            self.declared.set(id, position);
        }
        Ok(())
    }

    /// The words of the whole module.
    pub fn words(&self) -> Source<'a> {
        self.words
    }

    /// The header; missing words are zero.
    pub fn header(&self) -> [u32; HEADER_WORDS] {
        std::array::from_fn(|at| self.words.word(at).unwrap_or_default())
    }

    /// Version as in the header: `0x0001_0500` is 1.5.
    pub fn version(&self) -> u32 {
        self.words.word(1).unwrap_or_default()
    }

    /// Every instruction.
    pub fn instructions(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        Instructions::of(self.words, HEADER_WORDS).flatten()
    }

    /// The instructions before the first function.
    pub fn declarations(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        let end = self.functions;
        self.instructions().take_while(move |node| node.position < end)
    }

    /// The instructions from the first function on.
    pub fn bodies(&self) -> impl Iterator<Item = Node<'a>> + use<'a> {
        Instructions::of(self.words, self.functions).flatten()
    }

    /// The instruction at an indexed position.
    fn at(&self, position: u32) -> Option<Node<'a>> {
        Instructions::of(self.words, position as usize).next()?.ok()
    }

    /// The instruction that defines an id, be it a declaration or a value in a function.
    pub fn definition(&self, id: u32) -> Option<Node<'a>> {
        match self.declared.get(id) {
            0 => match self.bodies.get_or_init(|| self.index_bodies()).get(id) {
                0 => None,
                position => self.at(position),
            },
            position => self.at(position),
        }
    }

    /// The type, constant or global variable with this id.
    pub fn declaration(&self, id: u32) -> Option<Node<'a>> {
        match self.declared.get(id) {
            0 => None,
            position => self.at(position),
        }
    }

    fn index_bodies(&self) -> Ids<u32> {
        let (words, grammar) = (self.words, Grammar::builtin());
        let mut found = Ids::new(words.count(), self.header()[3], 0);
        for node in self.bodies() {
            let row = grammar.row(node.opcode).filter(|row| row.has_result);
            if let Some(id) = row.and_then(|row| node.operand(usize::from(row.has_type)))
                && found.get(id) == 0
            {
                found.set(id, node.position as u32);
            }
        }
        found
    }

    /// The opcode that declares an id; 0 if it is not declared.
    pub fn opcode(&self, id: u32) -> u16 {
        self.declaration(id).map_or(0, |node| node.opcode)
    }

    /// The first `N` operands of an id's definition, if it has this opcode and at least as many operands (counting
    /// result type and result).
    pub fn operands<const N: usize>(&self, id: u32, opcode: u16) -> Option<[u32; N]> {
        self.definition(id).filter(|node| node.opcode == opcode)?.head()
    }

    /// Capabilities declared, in module order.
    pub fn capabilities(&self) -> &[u32] {
        &self.capabilities
    }

    /// The id of an imported extended instruction set.
    pub fn imported(&self, set: &str) -> Option<u32> {
        let mut imports = self.declarations().filter(|node| node.opcode == op::EXT_INST_IMPORT);
        let found = imports.find(|node| {
            let name: Vec<u32> = node.tail(1).collect();
            operand::string(&name).is_some_and(|(name, _)| name == set)
        });
        found?.operand(0)
    }

    /// Entry points in module order: model, function, name and interface.
    pub fn entry_points(&self) -> impl Iterator<Item = Node<'a>> {
        self.entry_points.iter().filter_map(|position| self.at(*position))
    }

    /// The first operand of each execution mode of this kind (0 for one without).
    pub fn modes(&self, kind: u32) -> impl Iterator<Item = u32> {
        let of_kind = move |node: Node| (node.operand(1) == Some(kind)).then(|| node.operand(2).unwrap_or(0));
        self.modes
            .iter()
            .filter_map(|position| self.at(*position))
            .filter_map(of_kind)
    }

    /// Whether an entry point has this execution mode.
    pub fn has_mode(&self, kind: u32) -> bool {
        self.modes(kind).next().is_some()
    }

    /// Global variables in module order: pointer type, result, storage class.
    pub fn variables(&self) -> impl Iterator<Item = Node<'a>> {
        self.variables.iter().filter_map(|position| self.at(*position))
    }

    /// Global variables with a valid pointer type, in module order.
    pub fn globals(&self) -> impl Iterator<Item = Located> {
        self.variables().filter_map(|node| {
            let [pointer, id, class] = node.head()?;
            let (pointee, position) = (self.pointee(pointer)?, node.position);
            Some(Located {
                id,
                pointee,
                class,
                position,
            })
        })
    }

    /// The first operand of an id's decoration (0 if it has none), if the id has it.
    pub fn decoration(&self, id: u32, kind: u32) -> Option<u32> {
        self.member_decoration(id, WHOLE, kind)
    }

    /// [`ModuleIndex::decoration`] for a struct's member.
    pub fn member_decoration(&self, id: u32, member: u32, kind: u32) -> Option<u32> {
        let key = (id, member, kind);
        let index = self.decorations.partition_point(|d| (d.target, d.member, d.kind) < key);
        let found = self.decorations.get(index)?;
        ((found.target, found.member, found.kind) == key).then_some(found.value)
    }

    /// The decorations of an id itself, as instructions, in ascending order.
    pub fn decorations(&self, id: u32) -> impl Iterator<Item = Node<'a>> {
        let from = self.decorations.partition_point(|d| (d.target, d.member) < (id, WHOLE));
        let all = self.decorations[from..].iter();
        all.take_while(move |d| d.target == id)
            .filter_map(|d| self.at(d.position))
    }

    /// Descriptor set and binding of a variable with both.
    pub fn place(&self, variable: u32) -> Option<(u32, u32)> {
        let set = self.decoration(variable, decoration::DESCRIPTOR_SET)?;
        Some((set, self.decoration(variable, decoration::BINDING)?))
    }

    /// The pointee of a pointer type.
    pub fn pointee(&self, pointer: u32) -> Option<u32> {
        self.operands(pointer, op::TYPE_POINTER)
            .map(|[_, _, pointee]: [u32; 3]| pointee)
    }

    /// Value of a 32-bit constant.
    pub fn constant(&self, id: u32) -> Option<u32> {
        self.operands(id, op::CONSTANT).map(|[_, _, value]: [u32; 3]| value)
    }

    /// Component type and number of components of a vector; of another type itself, and 1.
    pub fn vector(&self, id: u32) -> (u32, u32) {
        self.operands(id, op::TYPE_VECTOR)
            .map_or((id, 1), |[_, component, count]: [u32; 3]| (component, count))
    }

    /// Element type and length of an array of constant length.
    pub fn array(&self, id: u32) -> Option<(u32, u32)> {
        let [_, element, length] = self.operands(id, op::TYPE_ARRAY)?;
        Some((element, self.constant(length)?))
    }

    /// Types of a struct's members.
    pub fn members(&self, id: u32) -> Option<impl ExactSizeIterator<Item = u32> + use<'a>> {
        let node = self.declaration(id).filter(|node| node.opcode == op::TYPE_STRUCT)?;
        Some(node.tail(1))
    }

    /// The struct of a block; looks through a struct whose only member is a struct.
    pub fn unwrapped(&self, block: u32) -> u32 {
        let mut id = block;
        // Invalid modules can contain recursive structs.
        for _ in 0..MAX_WRAPPERS {
            let mut members = self.members(id).into_iter().flatten();
            match (members.next(), members.next()) {
                (Some(only), None) if self.opcode(only) == op::TYPE_STRUCT => id = only,
                _ => break,
            }
        }
        id
    }

    /// An image type.
    pub fn image(&self, id: u32) -> Option<Image> {
        let [_, sampled_type, dim, depth, arrayed, multisampled, sampled, format] =
            self.operands(id, op::TYPE_IMAGE)?;
        Some(Image {
            sampled_type,
            dim,
            depth,
            arrayed,
            multisampled,
            sampled,
            format,
        })
    }

    /// Locations of the variables in a storage class, ascending.
    pub fn locations(&self, storage: u32) -> std::collections::BTreeSet<u32> {
        let of_class = self.variables().filter(|node| node.operand(2) == Some(storage));
        of_class
            .filter_map(|node| self.decoration(node.operand(1)?, decoration::LOCATION))
            .collect()
    }

    /// Name of a struct's member, if the module has one.
    pub fn member_name(&self, structure: u32, member: u32) -> Option<String> {
        self.string_operand(3, |node| {
            node.opcode == op::MEMBER_NAME && node.head() == Some([structure, member])
        })
    }

    /// Name of an id, if the module has one.
    pub fn name(&self, id: u32) -> Option<String> {
        self.string_operand(2, |node| node.opcode == op::NAME && node.operand(0) == Some(id))
    }

    /// The string operand at `from` in the first matching instruction.
    fn string_operand(&self, from: usize, wanted: impl Fn(&Node) -> bool) -> Option<String> {
        let node = Instructions::of(self.words, HEADER_WORDS)
            .flatten()
            .take_while(|node| node.position < self.functions)
            .find(wanted)?;
        let words = node.words.part(from, node.words.count())?;
        super::operand::string_in(words).map(|(name, _)| name)
    }
}

/// Limit on wrapper structs around a struct.
const MAX_WRAPPERS: u32 = 16;

/// Ids above this are kept in a map: ids defined in a large module's functions need no slot among the declarations.
const MAX_DENSE: usize = 1 << 12;

fn decoration_of<W: Words>(instruction: &InstructionIn<W>) -> Option<Decoration> {
    let (member, kind) = match instruction.opcode {
        op::DECORATE => (WHOLE, 1),
        _ => (instruction.operand(1)?, 2),
    };
    Some(Decoration {
        target: instruction.operand(0)?,
        member,
        kind: instruction.operand(kind)?,
        value: instruction.operand(kind + 1).unwrap_or(0),
        position: instruction.position as u32,
    })
}

/// Walks all instructions, to find wrong lengths.
fn step_through<W: Words>(words: W, from: usize) -> Result<()> {
    let mut all = Instructions::of(words, from);
    all.try_for_each(|instruction| instruction.map(drop))
}
