//! Adapts a stage's code to a device.
//!
//! As compiled, a stage reaches every resource through a table in set 0: a descriptor array of up to thousands of
//! entries, indexed by a 16-bit number from the push constants. Devices with descriptor indexing accept it unchanged
//! ([`Mode::Bindless`]). With small limits the arrays can be cut ([`Mode::Cut`]); without array indexing every used
//! slot becomes an ordinary descriptor and the lookup is removed ([`Mode::Lowered`]).
//!
//! The compiler loads an index at the start of `main` as a word of the push-constant block, then masks (even slots)
//! or shifts (odd slots) it; unoptimised code keeps it in a local variable. The lookup is traced through variables with
//! one value, copies and function parameters; an untraceable one is Unsupported, with the instruction in the error.

use super::declared;
use super::requirements::DescriptorKind;
use super::types::{Tables, TexelRank, TexelType};
use crate::spirv::transform::{Editor, build, id_operands, opcode, seal};
use crate::spirv::{Image, ModuleIndex, Node, capability, class, decoration, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How a stage reaches the resources of the table slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Full tables. Adds only what the compiler omits: the capabilities of indexing arrays.
    Bindless,
    /// Tables of at most these many entries, still indexed through push constants.
    Cut {
        /// Limit on the entries of each table.
        tables: Tables,
        /// Declares the capabilities of indexing arrays. Without them the code stays as compiled; drivers that lack the
        /// features but index anyway accept it (measured with lavapipe).
        declare: bool,
    },
    /// Set 0, binding = slot: one ordinary descriptor per used slot, and no push constants.
    Lowered,
}

/// A stage's code after fitting, and what its pipeline layout must contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The module.
    pub words: Vec<u32>,
    /// Its resources, one entry per variable: full tables of two types are two entries with one set and binding.
    pub resources: Vec<Resource>,
    /// Remaining bytes of push constants.
    pub push_constant_bytes: u32,
}

/// One resource variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// The table slot, in lowered code.
    pub slot: Option<u8>,
    /// Descriptors: the length of the table, else 1.
    pub count: u32,
    /// What they are.
    pub kind: DescriptorKind,
    /// Shape and numeric class (float, int or uint) of images and texel buffers; `None` for buffers and for shapes that
    /// VBC lacks (subpass inputs).
    pub image: Option<(TexelRank, TexelType)>,
}

/// What a stage uses before fitting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Slots that the code reaches, with the type ids of their resources.
    pub slots: BTreeMap<u8, u32>,
    /// Longest table by binding in set 0; 0 if there is none.
    pub tables: [u32; 5],
    /// Bytes of push constants.
    pub push_constant_bytes: u32,
}

/// Capabilities of indexing each table with a non-constant number, by binding in set 0.
const INDEXING: [u32; 5] = [
    capability::SAMPLED_IMAGE_ARRAY_DYNAMIC_INDEXING,
    capability::STORAGE_IMAGE_ARRAY_DYNAMIC_INDEXING,
    capability::STORAGE_BUFFER_ARRAY_DYNAMIC_INDEXING,
    capability::UNIFORM_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING,
    capability::STORAGE_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING,
];

/// Limit on the definitions that are traced back from one table access.
const MAX_STEPS: u32 = 64;

/// Fits a stage's code.
///
/// # Errors
/// Invalid if the words are not a module; Unsupported if VBC lacks a resource's kind, or if an index cannot be traced
/// ([`Mode::Lowered`] only).
pub fn fit(index: &ModuleIndex, mode: &Mode) -> Result<Fitted> {
    let mut module = Editor::new(index)?;
    check_image_writes(index)?;
    let tables = tables(index)?;
    let mut push_constant_bytes = push_constant_bytes(index);
    let resources = match mode {
        Mode::Bindless => {
            declare_indexing(&mut module, &tables);
            resources(index)?
        }
        Mode::Cut { tables: most, declare } => {
            if *declare {
                declare_indexing(&mut module, &tables);
            }
            cut(&mut module, &tables, most)?;
            let mut resources = resources(index)?;
            for resource in resources.iter_mut().filter(|resource| resource.set == 0) {
                resource.count = resource.count.min(u32::from(most.sizes()[resource.binding as usize]));
            }
            resources
        }
        Mode::Lowered => {
            let accesses = accesses(index, &tables)?;
            let resources = lowered_resources(index, &accesses)?;
            if lower(index, &mut module, &tables, &accesses)? {
                push_constant_bytes = 0;
            }
            resources
        }
    };
    Ok(Fitted {
        words: module.words(),
        resources,
        push_constant_bytes,
    })
}

/// A write to a storage image must give at least the components of its format: Vulkan requires it, drivers rely on it,
/// and spirv-val does not check it.
fn check_image_writes(index: &ModuleIndex) -> Result<()> {
    let type_of = |id: u32| index.definition(id)?.operand(0);
    for node in index.bodies().filter(|node| node.opcode == op::IMAGE_WRITE) {
        let Some([image, _, texel]) = node.head() else {
            continue;
        };
        let format = type_of(image).and_then(|id| index.image(id)).map(|image| image.format);
        let wanted = format.and_then(super::image::components);
        let vector = type_of(texel).and_then(|id| index.operands(id, op::TYPE_VECTOR));
        let have = vector.map_or(1, |[_, _, rows]: [u32; 3]| rows);
        if let Some(wanted) = wanted.filter(|wanted| have < u32::from(*wanted)) {
            let message = format!("a texel of {have} components is written to an image of {wanted}");
            return Err(Error::invalid("spirv", message, offset(&node)));
        }
    }
    Ok(())
}

/// Bytes from the start of the code to an instruction.
fn offset(node: &Node) -> u64 {
    node.position as u64 * 4
}

/// Collects what a stage uses.
///
/// # Errors
/// See [`fit`] in lowered mode.
pub fn needs(index: &ModuleIndex) -> Result<Needs> {
    let mut needs = Needs {
        push_constant_bytes: push_constant_bytes(index),
        ..Needs::default()
    };
    let tables = tables(index)?;
    for table in &tables {
        let longest = &mut needs.tables[table.binding as usize];
        *longest = (*longest).max(table.length);
    }
    for access in accesses(index, &tables)? {
        needs.slots.insert(access.slot, access.table.element);
    }
    Ok(needs)
}

/// A table variable: an array of descriptors in set 0.
#[derive(Clone, Copy, Debug)]
struct Table {
    variable: u32,
    class: u32,
    binding: u32,
    element: u32,
    length: u32,
}

fn tables(index: &ModuleIndex) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for variable in index.variables().filter_map(|node| node.head::<3>()) {
        let [pointer, variable, class] = variable;
        if index.decoration(variable, decoration::DESCRIPTOR_SET) != Some(0) {
            continue;
        }
        let array = index.pointee(pointer).and_then(|id| index.operands(id, op::TYPE_ARRAY));
        let binding = index
            .decoration(variable, decoration::BINDING)
            .filter(|binding| *binding < 5);
        let (Some([_, element, length]), Some(binding)) = (array, binding) else {
            let message = format!("variable %{variable} of set 0 is not a table of descriptors");
            return Err(Error::unsupported("spirv", message));
        };
        let length = index.constant(length);
        let length = length.ok_or_else(|| Error::unsupported("spirv", "a table whose length is not a constant"))?;
        tables.push(Table {
            variable,
            class,
            binding,
            element,
            length,
        });
    }
    Ok(tables)
}

/// The compiler omits three of these although the code indexes tables with non-constant numbers.
fn declare_indexing(module: &mut Editor, tables: &[Table]) {
    for table in tables {
        module.add_capability(INDEXING[table.binding as usize]);
    }
}

/// Gives each table that is too long a type of the allowed length.
fn cut(module: &mut Editor, tables: &[Table], most: &Tables) -> Result<()> {
    for table in tables {
        let most = u32::from(most.sizes()[table.binding as usize]);
        if most == 0 {
            return Err(Error::unsupported(
                "spirv",
                format!("table {} cannot be cut to nothing", table.binding),
            ));
        }
        if table.length <= most {
            continue;
        }
        let (count, array, pointer) = (module.fresh(), module.fresh(), module.fresh());
        let at = module
            .body
            .iter()
            .position(|words| opcode(words) == op::VARIABLE && words[2] == table.variable);
        let Some(at) = at else { continue };
        let number = index_type(module)?;
        module.body[at][1] = pointer;
        let added = vec![
            build(op::CONSTANT, &[number, count, most]),
            build(op::TYPE_ARRAY, &[array, table.element, count]),
            build(op::TYPE_POINTER, &[pointer, table.class, array]),
        ];
        module.insert(at, added);
    }
    Ok(())
}

/// A 32-bit integer type of the module; one exists wherever a table has a length.
fn index_type(module: &Editor) -> Result<u32> {
    let is = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words.get(2) == Some(&32);
    let found = module.body.iter().find(is).and_then(|words| words.get(1).copied());
    found.ok_or_else(|| Error::unsupported("spirv", "no 32-bit integer type"))
}

/// An access chain into a table: its result, the table and the slot.
#[derive(Clone, Copy, Debug)]
struct Access {
    result: u32,
    table: Table,
    slot: u8,
}

/// Every access to a table. Other uses of a table variable cannot be lowered.
fn accesses(index: &ModuleIndex, tables: &[Table]) -> Result<Vec<Access>> {
    let mut found = Vec::new();
    if tables.is_empty() {
        return Ok(found);
    }
    let stores = Stores::of(index);
    for node in index.bodies() {
        let used = |table: &&Table| id_operands(node.words).any(|id| id == table.variable);
        let Some(table) = tables.iter().find(used) else {
            continue;
        };
        let unsupported = |what: &str| {
            let message = format!("instruction with opcode {} {what} table {}", node.opcode, table.binding);
            Error::unsupported("spirv", message).at(offset(&node))
        };
        let chain = matches!(node.opcode, op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN);
        let Some([_, result, _, number]) = node.head().filter(|_| chain) else {
            return Err(unsupported("uses all of"));
        };
        let slot = stores.slot(index, number);
        let slot = slot.ok_or_else(|| unsupported("has an index that is not one slot's in"))?;
        found.push(Access {
            result,
            table: *table,
            slot,
        });
    }
    Ok(found)
}

/// A value in the index lookup, as far as it is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    /// A word of the push-constant block.
    Word(u32),
    /// Its upper half, shifted down.
    High(u32),
    /// The index of a slot.
    Slot(u32),
}

/// The values stored to each local variable, and the arguments of each function.
struct Stores {
    stored: BTreeMap<u32, Vec<u32>>,
    /// Function and position of each parameter.
    parameters: BTreeMap<u32, (u32, usize)>,
    /// Arguments of each call, by function.
    calls: BTreeMap<u32, Vec<Vec<u32>>>,
    /// Variables and parameters whose pointers are used other than by loading, storing and passing on, or that are
    /// passed to a function that stores to them: their value is unknown.
    escaped: BTreeSet<u32>,
}

impl Stores {
    fn of(index: &ModuleIndex) -> Self {
        let mut this = Self {
            stored: BTreeMap::new(),
            parameters: BTreeMap::new(),
            calls: BTreeMap::new(),
            escaped: BTreeSet::new(),
        };
        let (mut function, mut position) = (0, 0);
        for node in index.bodies() {
            let operand = |at: usize| node.operand(at).unwrap_or_default();
            match (node.opcode, node.operand_count()) {
                (op::STORE, 2..) => this.stored.entry(operand(0)).or_default().push(operand(1)),
                (op::VARIABLE, 4..) => this.stored.entry(operand(1)).or_default().push(operand(3)),
                (op::FUNCTION, 2..) => (function, position) = (operand(1), 0),
                (op::FUNCTION_PARAMETER, 2..) => {
                    this.parameters.insert(operand(1), (function, position));
                    position += 1;
                }
                (op::FUNCTION_CALL, 3..) => {
                    let arguments = node.tail(3).collect();
                    this.calls.entry(operand(2)).or_default().push(arguments);
                }
                _ => {}
            }
        }
        this.find_escaped(index);
        this
    }

    fn find_escaped(&mut self, index: &ModuleIndex) {
        for node in index.bodies() {
            let harmless = match node.opcode {
                op::LOAD => node.operand(2),
                op::STORE => node.operand(0),
                op::FUNCTION_CALL => continue,
                _ => None,
            };
            self.escaped
                .extend(id_operands(node.words).filter(|id| Some(*id) != harmless));
        }
        // A pointer that is passed on is as safe as the parameters that receive it.
        for _ in 0..self.parameters.len() {
            let before = self.escaped.len();
            for (parameter, (function, position)) in &self.parameters {
                if self.escaped.contains(parameter) || self.stored.contains_key(parameter) {
                    let calls = self.calls.get(function).into_iter().flatten();
                    self.escaped
                        .extend(calls.filter_map(|arguments| arguments.get(*position)));
                }
            }
            if self.escaped.len() == before {
                break;
            }
        }
    }

    /// The slot whose index this value holds.
    fn slot(&self, index: &ModuleIndex, value: u32) -> Option<u8> {
        match self.value(index, value, &mut 0)? {
            Lookup::Slot(slot) if slot < 32 => Some(slot as u8),
            // A whole upper half is an unmodified index.
            Lookup::High(word) if word < 16 => Some(word as u8 * 2 + 1),
            _ => None,
        }
    }

    fn value(&self, index: &ModuleIndex, id: u32, steps: &mut u32) -> Option<Lookup> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        let node = index.definition(id)?;
        let third = node.operand(2);
        match node.opcode {
            op::COPY_OBJECT | op::BITCAST => self.value(index, third?, steps),
            op::LOAD => self.loaded(index, third?, steps),
            op::FUNCTION_PARAMETER => self.argument(index, id, steps, Self::value),
            op::SHIFT_RIGHT_LOGICAL => match (self.value(index, third?, steps)?, index.constant(node.operand(3)?)?) {
                (Lookup::Word(word), 16) => Some(Lookup::High(word)),
                (same, 0) => Some(same),
                _ => None,
            },
            op::BITWISE_AND => {
                let (a, b) = (third?, node.operand(3)?);
                let (value, mask) = if index.constant(b).is_some() { (a, b) } else { (b, a) };
                if index.constant(mask)? != 0xffff {
                    return None;
                }
                half(self.value(index, value, steps)?)
            }
            op::BIT_FIELD_U_EXTRACT => {
                let word = self.value(index, third?, steps)?;
                let (offset, count) = (node.operand(3)?, node.operand(4)?);
                match (word, index.constant(offset)?, index.constant(count)?) {
                    (Lookup::Word(word), 16, 16) => Some(Lookup::Slot(word * 2 + 1)),
                    (Lookup::Word(word), 0, 16) => Some(Lookup::Slot(word * 2)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What a load from this pointer yields: a push-constant word, or a local variable's only value.
    fn loaded(&self, index: &ModuleIndex, pointer: u32, steps: &mut u32) -> Option<Lookup> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        let node = index.definition(pointer)?;
        match (node.opcode, node.operand_count()) {
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, 4) => {
                let [_, _, base, member] = node.head()?;
                let [pointer, _, storage] = index.operands(base, op::VARIABLE)?;
                let member = index.constant(member)?;
                let offset = member_offset(index, index.pointee(pointer)?, member)?;
                (storage == class::PUSH_CONSTANT && offset % 4 == 0 && offset < 64).then_some(Lookup::Word(offset / 4))
            }
            (op::VARIABLE, _) if !self.escaped.contains(&pointer) => {
                let mut values = self
                    .stored
                    .get(&pointer)?
                    .iter()
                    .map(|value| self.value(index, *value, steps));
                let first = values.next()??;
                values.all(|value| value == Some(first)).then_some(first)
            }
            (op::COPY_OBJECT, _) => self.loaded(index, node.operand(2)?, steps),
            (op::FUNCTION_PARAMETER, _) if !self.stored.contains_key(&pointer) && !self.escaped.contains(&pointer) => {
                self.argument(index, pointer, steps, Self::loaded)
            }
            _ => None,
        }
    }

    /// A parameter's value, if all calls agree on it.
    fn argument(
        &self,
        index: &ModuleIndex,
        parameter: u32,
        steps: &mut u32,
        follow: fn(&Self, &ModuleIndex, u32, &mut u32) -> Option<Lookup>,
    ) -> Option<Lookup> {
        let (function, position) = self.parameters.get(&parameter)?;
        let mut values = self.calls.get(function)?.iter().map(|arguments| {
            let argument = arguments.get(*position)?;
            follow(self, index, *argument, steps)
        });
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }
}

/// The lower half of a lookup's value.
fn half(value: Lookup) -> Option<Lookup> {
    match value {
        Lookup::Word(word) => Some(Lookup::Slot(word * 2)),
        Lookup::High(word) => Some(Lookup::Slot(word * 2 + 1)),
        Lookup::Slot(slot) => Some(Lookup::Slot(slot)),
    }
}

/// Offset of a block's member; members without the decoration are packed words.
fn member_offset(index: &ModuleIndex, block: u32, member: u32) -> Option<u32> {
    let offset = index.member_decoration(block, member, decoration::OFFSET);
    let is_struct = index.opcode(block) == op::TYPE_STRUCT;
    offset.or_else(|| member.checked_mul(4)).filter(|_| is_struct)
}

/// Bytes of the push-constant block; 0 without one.
fn push_constant_bytes(index: &ModuleIndex) -> u32 {
    let block = index.globals().find(|variable| variable.class == class::PUSH_CONSTANT);
    let bytes = block.and_then(|variable| {
        let block = variable.pointee;
        let count = index.members(block)?.len() as u32;
        let ends = (0..count).filter_map(|member| member_offset(index, block, member)?.checked_add(4));
        ends.max()
    });
    bytes.unwrap_or(0)
}

/// Replaces tables by one variable per slot; returns whether the push constants became empty.
fn lower(index: &ModuleIndex, module: &mut Editor, tables: &[Table], accesses: &[Access]) -> Result<bool> {
    let (mut types, mut variables, mut annotations) = (Vec::new(), Vec::new(), Vec::new());
    let mut slots: BTreeMap<u8, u32> = BTreeMap::new();
    for access in accesses {
        if slots.contains_key(&access.slot) {
            continue;
        }
        let pointer = module.pointer_type(access.table.class, access.table.element, &mut types);
        let variable = module.fresh();
        variables.push(build(op::VARIABLE, &[pointer, variable, access.table.class]));
        annotations.extend(slot_annotations(index, access.table.variable, variable, access.slot));
        slots.insert(access.slot, variable);
    }
    let of_result: BTreeMap<u32, u32> = accesses.iter().map(|a| (a.result, slots[&a.slot])).collect();
    for words in &mut module.body {
        let chain = matches!(opcode(words), op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN);
        if chain && let Some(variable) = of_result.get(&words[2]) {
            words[3] = *variable;
            words.remove(4);
            *words = seal(std::mem::take(words));
        }
    }
    forward_whole(module, &of_result);
    let end = module.functions_start();
    module.insert(end, variables);
    module.insert(end, types);
    module.insert(module.annotations_end(), annotations);
    let removed: HashSet<u32> = tables.iter().map(|table| table.variable).collect();
    let added: Vec<u32> = slots.into_values().collect();
    module.replace_globals(&removed, &added);
    let mut block_gone = false;
    if !tables.is_empty() {
        module.remove_dead();
        block_gone = remove_unused_block(index, module);
        module.remove_unused_types();
    }
    remove_capabilities(module);
    Ok(block_gone)
}

/// A new variable's decorations: the table's, except set and binding.
fn slot_annotations(index: &ModuleIndex, table: u32, variable: u32, slot: u8) -> Vec<Vec<u32>> {
    let mut annotations = copied_decorations(index, table, variable);
    annotations.push(build(op::DECORATE, &[variable, decoration::DESCRIPTOR_SET, 0]));
    annotations.push(build(op::DECORATE, &[variable, decoration::BINDING, u32::from(slot)]));
    annotations
}

/// The decorations of a variable, for its replacement, except set and binding.
pub(super) fn copied_decorations(index: &ModuleIndex, from: u32, to: u32) -> Vec<Vec<u32>> {
    let placed = [Some(decoration::DESCRIPTOR_SET), Some(decoration::BINDING)];
    let kept = index
        .decorations(from)
        .filter(|node| !placed.contains(&node.operand(1)));
    kept.map(|node| {
        let mut operands = vec![to];
        operands.extend(node.tail(1));
        build(op::DECORATE, &operands)
    })
    .collect()
}

/// Access chains that lose their only index become the variable itself in the instructions that read through them, and
/// a copy of the pointer in all others.
fn forward_whole(module: &mut Editor, accesses: &BTreeMap<u32, u32>) {
    let is_whole = |words: &Vec<u32>| {
        let chain = matches!(opcode(words), op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN);
        chain && words.len() == 4 && accesses.contains_key(&words[2])
    };
    let whole: BTreeMap<u32, u32> = module
        .body
        .iter()
        .filter(|words| is_whole(words))
        .map(|words| (words[2], words[3]))
        .collect();
    for words in &mut module.body {
        let reads = matches!(
            opcode(words),
            op::LOAD | op::IMAGE_TEXEL_POINTER | op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN
        );
        if reads
            && words.len() > 3
            && let Some(variable) = whole.get(&words[3])
        {
            words[3] = *variable;
        }
    }
    let uses = module.uses();
    for words in module.body.iter_mut().filter(|words| is_whole(words)) {
        if uses.contains_key(&words[2]) {
            *words = build(op::COPY_OBJECT, &words[1..]);
        } else {
            words.clear();
        }
    }
}

/// Removes the push-constant block if it is unused; returns whether it was removed.
fn remove_unused_block(index: &ModuleIndex, module: &mut Editor) -> bool {
    let uses = module.uses();
    let blocks = index
        .globals()
        .filter(|variable| variable.class == class::PUSH_CONSTANT);
    let (used, unused): (Vec<_>, Vec<_>) = blocks.map(|variable| variable.id).partition(|id| uses.contains_key(id));
    module.replace_globals(&unused.into_iter().collect(), &[]);
    used.is_empty()
}

/// Removes the capabilities of indexing, and the extension that defines them in SPIR-V 1.0.
fn remove_capabilities(module: &mut Editor) {
    const EXTENSION: &[u8] = b"SPV_EXT_descriptor_indexing\0";
    for words in &mut module.body {
        if opcode(words) == op::CAPABILITY && words.get(1).is_some_and(|capability| INDEXING.contains(capability)) {
            words.clear();
        }
    }
    const OF_EXTENSION: std::ops::RangeInclusive<u32> =
        capability::SHADER_NON_UNIFORM..=capability::STORAGE_TEXEL_BUFFER_ARRAY_NON_UNIFORM_INDEXING;
    let indexes = |words: &Vec<u32>| {
        opcode(words) == op::CAPABILITY && words.get(1).is_some_and(|capability| OF_EXTENSION.contains(capability))
    };
    if !module.body.iter().any(indexes) {
        for words in module.body.iter_mut().filter(|words| opcode(words) == op::EXTENSION) {
            let name: Vec<u8> = words[1..].iter().flat_map(|word| word.to_le_bytes()).collect();
            if name.starts_with(EXTENSION) {
                words.clear();
            }
        }
    }
    module.sweep();
}

/// Every variable with a set and a binding.
pub(super) fn resources(index: &ModuleIndex) -> Result<Vec<Resource>> {
    resources_but(index, |_| false)
}

/// The same, without the variables for which `left_out` is true.
fn resources_but(index: &ModuleIndex, left_out: impl Fn(u32) -> bool) -> Result<Vec<Resource>> {
    let mut resources = Vec::new();
    for node in index.variables() {
        let Some([pointer, variable, class]) = node.head() else {
            continue;
        };
        let Some((set, binding)) = index.place(variable).filter(|_| !left_out(variable)) else {
            continue;
        };
        let pointee = index.pointee(pointer);
        let array = pointee.and_then(|id| index.operands(id, op::TYPE_ARRAY));
        let count = array.map_or(Some(1), |[_, _, length]| index.constant(length));
        let element = array.map(|[_, element, _]| element).or(pointee);
        let resource = element.and_then(|element| resource(index, element, class));
        let (Some(resource), Some(count)) = (resource, count) else {
            let name = index.name(variable).unwrap_or_default();
            let message =
                format!("\"{name}\" (%{variable}, set {set}, binding {binding}) is not a resource that VBC has");
            return Err(Error::unsupported("spirv", message));
        };
        resources.push(Resource {
            set,
            binding,
            count,
            ..resource
        });
    }
    resources.sort_unstable_by_key(|resource| (resource.set, resource.binding));
    Ok(resources)
}

/// The resources of lowered code: a variable for each reachable slot instead of the tables.
fn lowered_resources(index: &ModuleIndex, accesses: &[Access]) -> Result<Vec<Resource>> {
    let in_table = |variable| index.decoration(variable, decoration::DESCRIPTOR_SET) == Some(0);
    let mut resources = resources_but(index, in_table)?;
    let mut slots: BTreeMap<u8, Table> = BTreeMap::new();
    for access in accesses {
        let table = slots.entry(access.slot).or_insert(access.table);
        if table.variable != access.table.variable {
            let message = format!("slot {} is used as two different types", access.slot);
            return Err(Error::unsupported("spirv", message));
        }
    }
    for (slot, table) in slots {
        let resource = resource(index, table.element, table.class).ok_or_else(|| {
            let message = format!("slot {slot} is not a resource that VBC has");
            Error::unsupported("spirv", message)
        })?;
        resources.push(Resource {
            binding: slot.into(),
            slot: Some(slot),
            ..resource
        });
    }
    resources.sort_unstable_by_key(|resource| (resource.set, resource.binding));
    Ok(resources)
}

/// One descriptor of an element type and storage class, with its place not yet set.
fn resource(index: &ModuleIndex, element: u32, class: u32) -> Option<Resource> {
    Some(Resource {
        set: 0,
        binding: 0,
        slot: None,
        count: 1,
        kind: kind(index, element, class)?,
        image: declared::texels(index, element),
    })
}

/// The descriptor type for a variable's element type and storage class.
fn kind(index: &ModuleIndex, element: u32, class: u32) -> Option<DescriptorKind> {
    // lavapipe crashes on a buffer whose struct is not a block; spirv-val accepts it.
    let is_block = index.decoration(element, decoration::BLOCK).is_some();
    let is_buffer_block = || index.decoration(element, decoration::BUFFER_BLOCK).is_some();
    match (index.opcode(element), class) {
        (op::TYPE_SAMPLED_IMAGE, class::UNIFORM_CONSTANT) => Some(DescriptorKind::CombinedImageSampler),
        (op::TYPE_IMAGE, class::UNIFORM_CONSTANT) => {
            let image = index.image(element)?;
            match image.sampled {
                Image::STORAGE if image.is_subpass() => Some(DescriptorKind::InputAttachment),
                Image::SAMPLED if image.is_buffer() => Some(DescriptorKind::UniformTexelBuffer),
                Image::STORAGE if image.is_buffer() => Some(DescriptorKind::StorageTexelBuffer),
                Image::STORAGE => Some(DescriptorKind::StorageImage),
                _ => None,
            }
        }
        (op::TYPE_STRUCT, class::STORAGE_BUFFER) if is_block => Some(DescriptorKind::StorageBuffer),
        (op::TYPE_STRUCT, class::UNIFORM) if is_buffer_block() => Some(DescriptorKind::StorageBuffer),
        (op::TYPE_STRUCT, class::UNIFORM) if is_block => Some(DescriptorKind::UniformBuffer),
        _ => None,
    }
}
