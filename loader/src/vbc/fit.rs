//! Making a stage's code fit a device.
//!
//! As compiled, a stage reaches every resource through a table in set 0: a descriptor array of up to thousands of
//! entries, indexed by a 16-bit number from the push constants. Devices with descriptor indexing take that as it is
//! ([`Mode::Bindless`]). Where limits are small the arrays can be cut ([`Mode::Cut`]), and where arrays cannot be
//! indexed at all every slot in use becomes a descriptor of its own and the lookup goes away ([`Mode::Lowered`]).
//!
//! The compiler loads an index at the start of `main` as a word of the push-constant block, then masks (even slots)
//! or shifts (odd slots) it; unoptimised code keeps it in a local variable. That is followed through variables with
//! one value, copies and function parameters; what cannot be followed is Unsupported and names the instruction.

use super::requirements::DescriptorKind;
use super::types::{Tables, TexelRank, TexelType};
use crate::spirv::transform::{Module, build, id_operands, opcode, seal};
use crate::spirv::{class, decoration, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How a stage reaches what is in the table slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Full tables. Only what the compiler forgot to declare is added: the capabilities of indexing arrays.
    Bindless,
    /// Tables of at most these many entries, still indexed through push constants.
    Cut {
        /// Most entries of each table.
        tables: Tables,
        /// Declares the capabilities of indexing arrays. Without them the code is as the compiler leaves it, which
        /// drivers that lack the features but index all the same take without complaint (lavapipe does, measured).
        declare: bool,
    },
    /// Set 0, binding = slot: one ordinary descriptor per slot in use, and no push constants.
    Lowered,
}

/// A stage's code after fitting, and what a pipeline layout needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The module.
    pub words: Vec<u32>,
    /// Its resources: one entry per variable, so full tables of two types are two entries of one set and binding.
    pub resources: Vec<Resource>,
    /// Bytes of push constants that are left.
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
    /// Shape and numeric class (float, int or uint) of images and texel buffers; `None` for buffers, and where the
    /// shape is none that VBC has (subpass inputs).
    pub image: Option<(TexelRank, TexelType)>,
}

/// What a stage uses before fitting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Slots whose resources the code reaches.
    pub slots: BTreeSet<u8>,
    /// Longest table by binding in set 0; 0 where there is none.
    pub tables: [u32; 5],
    /// Bytes of push constants.
    pub push_constant_bytes: u32,
}

/// Capabilities of indexing each table with a number that is not constant, by binding in set 0.
const INDEXING: [u32; 5] = [29, 31, 30, 5304, 5305];

/// How many definitions are followed back from one table access.
const MAX_STEPS: u32 = 64;

/// Fits a stage's code.
///
/// # Errors
/// Invalid where the words are no module; Unsupported where a resource is of no kind that VBC has, or an index
/// cannot be told ([`Mode::Lowered`] only).
pub fn fit(words: &[u32], mode: &Mode) -> Result<Fitted> {
    let mut module = Module::parse(words)?;
    check_image_writes(&module)?;
    let mut slots = BTreeMap::new();
    let tables = tables(&module)?;
    match mode {
        Mode::Bindless => declare_indexing(&mut module, &tables),
        Mode::Cut { tables: most, declare } => {
            if *declare {
                declare_indexing(&mut module, &tables);
            }
            cut(&mut module, &tables, most)?;
        }
        Mode::Lowered => slots = lower(&mut module, &tables)?,
    }
    let resources = resources(&module, &slots)?;
    let push_constant_bytes = push_constant_bytes(&module);
    Ok(Fitted {
        words: module.words(),
        resources,
        push_constant_bytes,
    })
}

/// A write to a storage image gives at least the components of its format: Vulkan demands it, drivers trust it, and
/// spirv-val does not look.
fn check_image_writes(module: &Module) -> Result<()> {
    let type_of = |id: u32| module.definition(id)?.get(1).copied();
    for (at, words) in module
        .body
        .iter()
        .enumerate()
        .filter(|(_, words)| opcode(words) == op::IMAGE_WRITE)
    {
        let &[_, image, _, texel, ..] = words.as_slice() else {
            continue;
        };
        let format = type_of(image)
            .and_then(|id| module.operands::<8>(id, op::TYPE_IMAGE))
            .map(|image| image[7]);
        let wanted = format.and_then(super::image::components);
        let vector = type_of(texel).and_then(|id| module.operands::<3>(id, op::TYPE_VECTOR));
        let have = vector.map_or(1, |&[_, _, rows]| rows);
        if let Some(wanted) = wanted.filter(|wanted| have < u32::from(*wanted)) {
            let message = format!("a texel of {have} components is written to an image of {wanted}");
            return Err(Error::new(crate::ErrorKind::Invalid, "spirv", message).within(format!("instruction {at}")));
        }
    }
    Ok(())
}

/// What a stage uses.
///
/// # Errors
/// As [`fit`] in lowered mode.
pub fn needs(words: &[u32]) -> Result<Needs> {
    let module = Module::parse(words)?;
    let mut needs = Needs {
        push_constant_bytes: push_constant_bytes(&module),
        ..Needs::default()
    };
    let tables = tables(&module)?;
    for table in &tables {
        let longest = &mut needs.tables[table.binding as usize];
        *longest = (*longest).max(table.length);
    }
    for access in accesses(&module, &tables)? {
        needs.slots.insert(access.slot);
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

fn tables(module: &Module) -> Result<Vec<Table>> {
    let mut tables = Vec::new();
    for [pointer, variable, class] in module.variables() {
        if module.decoration(variable, decoration::DESCRIPTOR_SET) != Some(0) {
            continue;
        }
        let array = module
            .pointee(pointer)
            .and_then(|id| module.operands(id, op::TYPE_ARRAY));
        let binding = module
            .decoration(variable, decoration::BINDING)
            .filter(|binding| *binding < 5);
        let (Some(&[_, element, length]), Some(binding)) = (array, binding) else {
            let message = format!("variable %{variable} of set 0 is no table of descriptors");
            return Err(Error::unsupported("spirv", message));
        };
        let length = module.constant(length);
        let length = length.ok_or_else(|| Error::unsupported("spirv", "a table whose length is no constant"))?;
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

/// The compiler leaves three of these out although the code indexes tables with numbers that are not constant.
fn declare_indexing(module: &mut Module, tables: &[Table]) {
    for table in tables {
        module.add_capability(INDEXING[table.binding as usize]);
    }
}

/// Gives each table that is too long a type of the allowed length.
fn cut(module: &mut Module, tables: &[Table], most: &Tables) -> Result<()> {
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

/// A 32-bit integer type of the module; one is there wherever a table has a length.
fn index_type(module: &Module) -> Result<u32> {
    let is = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words.get(2) == Some(&32);
    let found = module.body.iter().find(is).and_then(|words| words.get(1).copied());
    found.ok_or_else(|| Error::unsupported("spirv", "no 32-bit integer type"))
}

/// An access chain into a table: its place in the body, the table and the slot.
#[derive(Clone, Copy, Debug)]
struct Access {
    at: usize,
    table: Table,
    slot: u8,
}

/// Every access to a table. Other uses of a table variable cannot be lowered.
fn accesses(module: &Module, tables: &[Table]) -> Result<Vec<Access>> {
    let mut found = Vec::new();
    let stores = Stores::of(module);
    for at in module.functions_start()..module.body.len() {
        let words = &module.body[at];
        let Some(table) = tables
            .iter()
            .find(|table| id_operands(words).any(|id| id == table.variable))
        else {
            continue;
        };
        let unsupported = |what: &str| {
            let message = format!(
                "instruction with opcode {} {what} table {}",
                opcode(words),
                table.binding
            );
            Error::unsupported("spirv", message).within(format!("instruction {at}"))
        };
        if !matches!(opcode(words), op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN) || words.len() < 5 {
            return Err(unsupported("uses all of"));
        }
        let slot = stores.slot(module, words[4]);
        let slot = slot.ok_or_else(|| unsupported("has an index that is not one slot's in"))?;
        found.push(Access {
            at,
            table: *table,
            slot,
        });
    }
    Ok(found)
}

/// A value of the index lookup, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    /// A word of the push-constant block.
    Word(u32),
    /// Its upper half, shifted down.
    High(u32),
    /// The index of a slot.
    Slot(u32),
}

/// What is stored to each local variable, and what each function is called with.
struct Stores {
    stored: BTreeMap<u32, Vec<u32>>,
    /// Function and position of each parameter.
    parameters: BTreeMap<u32, (u32, usize)>,
    /// Arguments of each call, by function.
    calls: BTreeMap<u32, Vec<Vec<u32>>>,
    /// Variables and parameters whose pointers are used in other ways than loading, storing and passing on, or are
    /// passed to where they are stored to: what they hold is not known.
    escaped: BTreeSet<u32>,
}

impl Stores {
    fn of(module: &Module) -> Self {
        let mut this = Self {
            stored: BTreeMap::new(),
            parameters: BTreeMap::new(),
            calls: BTreeMap::new(),
            escaped: BTreeSet::new(),
        };
        let (mut function, mut position) = (0, 0);
        for words in &module.body[module.functions_start()..] {
            match (opcode(words), &words[1..]) {
                (op::STORE, [pointer, value, ..]) => this.stored.entry(*pointer).or_default().push(*value),
                (op::VARIABLE, [_, id, _, initial, ..]) => this.stored.entry(*id).or_default().push(*initial),
                (op::FUNCTION, [_, id, ..]) => (function, position) = (*id, 0),
                (op::FUNCTION_PARAMETER, [_, id, ..]) => {
                    this.parameters.insert(*id, (function, position));
                    position += 1;
                }
                (op::FUNCTION_CALL, [_, _, callee, arguments @ ..]) => {
                    this.calls.entry(*callee).or_default().push(arguments.to_vec());
                }
                _ => {}
            }
        }
        this.find_escaped(module);
        this
    }

    fn find_escaped(&mut self, module: &Module) {
        for words in &module.body[module.functions_start()..] {
            let harmless = match opcode(words) {
                op::LOAD => words.get(3),
                op::STORE => words.get(1),
                op::FUNCTION_CALL => continue,
                _ => None,
            };
            self.escaped
                .extend(id_operands(words).filter(|id| Some(id) != harmless));
        }
        // A pointer passed on is as safe as the parameters it is passed to.
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

    /// The slot whose index this value is.
    fn slot(&self, module: &Module, value: u32) -> Option<u8> {
        match self.value(module, value, &mut 0)? {
            Lookup::Slot(slot) if slot < 32 => Some(slot as u8),
            // A whole upper half is an index as it is.
            Lookup::High(word) if word < 16 => Some(word as u8 * 2 + 1),
            _ => None,
        }
    }

    fn value(&self, module: &Module, id: u32, steps: &mut u32) -> Option<Lookup> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        let words = module.definition(id)?;
        match (opcode(words), words.get(1..)?) {
            (op::COPY_OBJECT | op::BITCAST, [_, _, value]) => self.value(module, *value, steps),
            (op::LOAD, [_, _, pointer, ..]) => self.loaded(module, *pointer, steps),
            (op::FUNCTION_PARAMETER, [_, id]) => self.argument(module, *id, steps, Self::value),
            (op::SHIFT_RIGHT_LOGICAL, [_, _, value, by]) => {
                match (self.value(module, *value, steps)?, module.constant(*by)?) {
                    (Lookup::Word(word), 16) => Some(Lookup::High(word)),
                    (same, 0) => Some(same),
                    _ => None,
                }
            }
            (op::BITWISE_AND, [_, _, a, b]) => {
                let (value, mask) = if module.constant(*b).is_some() {
                    (*a, *b)
                } else {
                    (*b, *a)
                };
                if module.constant(mask)? != 0xffff {
                    return None;
                }
                half(self.value(module, value, steps)?)
            }
            (op::BIT_FIELD_U_EXTRACT, [_, _, value, offset, count]) => {
                let word = self.value(module, *value, steps)?;
                match (word, module.constant(*offset)?, module.constant(*count)?) {
                    (Lookup::Word(word), 16, 16) => Some(Lookup::Slot(word * 2 + 1)),
                    (Lookup::Word(word), 0, 16) => Some(Lookup::Slot(word * 2)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// What a load from this pointer gives: a push-constant word, or a local variable's only value.
    fn loaded(&self, module: &Module, pointer: u32, steps: &mut u32) -> Option<Lookup> {
        *steps += 1;
        if *steps > MAX_STEPS {
            return None;
        }
        let words = module.definition(pointer)?;
        match (opcode(words), words.get(1..)?) {
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, _, base, member]) => {
                let &[_, _, storage] = module.operands(*base, op::VARIABLE)?;
                let member = module.constant(*member)?;
                let block = module.pointee(*module.definition(*base)?.get(1)?)?;
                let offset = member_offset(module, block, member)?;
                (storage == class::PUSH_CONSTANT && offset % 4 == 0 && offset < 64).then_some(Lookup::Word(offset / 4))
            }
            (op::VARIABLE, [_, id, ..]) if !self.escaped.contains(id) => {
                let mut values = self
                    .stored
                    .get(id)?
                    .iter()
                    .map(|value| self.value(module, *value, steps));
                let first = values.next()??;
                values.all(|value| value == Some(first)).then_some(first)
            }
            (op::COPY_OBJECT, [_, _, pointer]) => self.loaded(module, *pointer, steps),
            (op::FUNCTION_PARAMETER, [_, id]) if !self.stored.contains_key(id) && !self.escaped.contains(id) => {
                self.argument(module, *id, steps, Self::loaded)
            }
            _ => None,
        }
    }

    /// A parameter's value, if all calls agree on it.
    fn argument(
        &self,
        module: &Module,
        parameter: u32,
        steps: &mut u32,
        follow: fn(&Self, &Module, u32, &mut u32) -> Option<Lookup>,
    ) -> Option<Lookup> {
        let (function, position) = self.parameters.get(&parameter)?;
        let mut values = self.calls.get(function)?.iter().map(|arguments| {
            let argument = arguments.get(*position)?;
            follow(self, module, *argument, steps)
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

/// Offset of a block's member; members without one lie word by word.
fn member_offset(module: &Module, block: u32, member: u32) -> Option<u32> {
    module.operands::<1>(block, op::TYPE_STRUCT)?;
    let is = |words: &&Vec<u32>| {
        opcode(words) == op::MEMBER_DECORATE && words[1..].starts_with(&[block, member, decoration::OFFSET])
    };
    match module.body.iter().find(is) {
        Some(words) => words.get(4).copied(),
        None => member.checked_mul(4),
    }
}

/// Bytes of the push-constant block; 0 without one.
fn push_constant_bytes(module: &Module) -> u32 {
    let block = module.variables().find(|[_, _, class]| *class == class::PUSH_CONSTANT);
    let members = block.and_then(|[pointer, ..]| {
        let block = module.pointee(pointer)?;
        let count = module
            .definition(block)
            .filter(|words| opcode(words) == op::TYPE_STRUCT)?
            .len() as u32
            - 2;
        let ends = (0..count).filter_map(|member| member_offset(module, block, member)?.checked_add(4));
        ends.max()
    });
    members.unwrap_or(0)
}

/// Replaces tables by one variable per slot; gives the slot of each new variable.
fn lower(module: &mut Module, tables: &[Table]) -> Result<BTreeMap<u32, u8>> {
    let accesses = accesses(module, tables)?;
    let (mut types, mut variables, mut annotations) = (Vec::new(), Vec::new(), Vec::new());
    let mut slots: BTreeMap<u8, (Table, u32)> = BTreeMap::new();
    for access in &accesses {
        if let Some((table, _)) = slots.get(&access.slot) {
            if table.variable != access.table.variable {
                let message = format!("slot {} is used as two different types", access.slot);
                return Err(Error::unsupported("spirv", message));
            }
            continue;
        }
        let pointer = module.pointer_type(access.table.class, access.table.element, &mut types);
        let variable = module.fresh();
        variables.push(build(op::VARIABLE, &[pointer, variable, access.table.class]));
        annotations.extend(slot_annotations(module, access.table.variable, variable, access.slot));
        slots.insert(access.slot, (access.table, variable));
    }
    for access in &accesses {
        let (_, variable) = slots[&access.slot];
        let words = &mut module.body[access.at];
        words[3] = variable;
        words.remove(4);
        *words = seal(std::mem::take(words));
    }
    forward_whole(module, &accesses);
    let end = module.functions_start();
    module.insert(end, variables);
    module.insert(end, types);
    module.insert(module.annotations_end(), annotations);
    let removed: HashSet<u32> = tables.iter().map(|table| table.variable).collect();
    let added: Vec<u32> = slots.values().map(|(_, variable)| *variable).collect();
    module.replace_globals(&removed, &added);
    if !tables.is_empty() {
        module.remove_dead();
        remove_unused_block(module);
    }
    remove_capabilities(module);
    Ok(slots.iter().map(|(slot, (_, variable))| (*variable, *slot)).collect())
}

/// A new variable's decorations: the table's, but for set and binding.
fn slot_annotations(module: &Module, table: u32, variable: u32, slot: u8) -> Vec<Vec<u32>> {
    let placed = |words: &&[u32]| !matches!(words.get(2), Some(&(decoration::DESCRIPTOR_SET | decoration::BINDING)));
    let mut annotations: Vec<Vec<u32>> = module
        .decorations(table)
        .filter(placed)
        .map(|words| {
            let mut words = words.to_vec();
            words[1] = variable;
            words
        })
        .collect();
    annotations.push(build(op::DECORATE, &[variable, decoration::DESCRIPTOR_SET, 0]));
    annotations.push(build(op::DECORATE, &[variable, decoration::BINDING, u32::from(slot)]));
    annotations
}

/// Access chains that have lost their only index name the variable itself: what reads through them reads the
/// variable. One that something else uses becomes a copy of the pointer.
fn forward_whole(module: &mut Module, accesses: &[Access]) {
    let whole: BTreeMap<u32, u32> = accesses
        .iter()
        .map(|access| &module.body[access.at])
        .filter(|words| words.len() == 4)
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
    for access in accesses.iter() {
        let words = &mut module.body[access.at];
        if words.len() == 4 && uses.contains_key(&words[2]) {
            *words = build(op::COPY_OBJECT, &words[1..]);
        } else if words.len() == 4 {
            words.clear();
        }
    }
}

/// The push-constant block goes when nothing looks into it any more.
fn remove_unused_block(module: &mut Module) {
    let uses = module.uses();
    let unused = module
        .variables()
        .filter(|[_, id, class]| *class == class::PUSH_CONSTANT && !uses.contains_key(id));
    let unused: HashSet<u32> = unused.map(|[_, id, _]| id).collect();
    module.replace_globals(&unused, &[]);
}

/// Nothing is indexed any more: the capabilities of indexing go, and the extension that brought them to SPIR-V 1.0.
fn remove_capabilities(module: &mut Module) {
    const EXTENSION: &[u8] = b"SPV_EXT_descriptor_indexing\0";
    for words in &mut module.body {
        if opcode(words) == op::CAPABILITY && words.get(1).is_some_and(|capability| INDEXING.contains(capability)) {
            words.clear();
        }
    }
    let indexes = |words: &Vec<u32>| {
        opcode(words) == op::CAPABILITY
            && words
                .get(1)
                .is_some_and(|capability| (5301..=5312).contains(capability))
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

/// Every variable that has a set and a binding.
pub(super) fn resources(module: &Module, slots: &BTreeMap<u32, u8>) -> Result<Vec<Resource>> {
    let mut resources = Vec::new();
    for [pointer, variable, class] in module.variables() {
        let set = module.decoration(variable, decoration::DESCRIPTOR_SET);
        let (Some(set), Some(binding)) = (set, module.decoration(variable, decoration::BINDING)) else {
            continue;
        };
        let pointee = module.pointee(pointer);
        let array = pointee.and_then(|id| module.operands(id, op::TYPE_ARRAY));
        let count = array.map_or(Some(1), |&[_, _, length]| module.constant(length));
        let element = array.map(|&[_, element, _]| element).or(pointee);
        let kind = element.and_then(|element| kind(module, element, class));
        let image = element.and_then(|element| image(module, element));
        let (Some(kind), Some(count)) = (kind, count) else {
            let message = format!("variable %{variable} (set {set}, binding {binding}) is no resource that VBC has");
            return Err(Error::unsupported("spirv", message));
        };
        resources.push(Resource {
            set,
            binding,
            slot: slots.get(&variable).copied(),
            count,
            kind,
            image,
        });
    }
    resources.sort_unstable_by_key(|resource| (resource.set, resource.binding));
    Ok(resources)
}

/// Shape and numeric class of an image type, or of the image in a combined sampler.
fn image(module: &Module, element: u32) -> Option<(TexelRank, TexelType)> {
    let image = module
        .operands(element, op::TYPE_SAMPLED_IMAGE)
        .map_or(element, |&[_, image]| image);
    let &[_, sampled, dim, _, arrayed, multisampled] = module.operands(image, op::TYPE_IMAGE)?;
    let texel = match module.operands(sampled, op::TYPE_INT) {
        Some(&[_, _, 0]) => TexelType::UINT,
        Some(_) => TexelType::INT,
        None => TexelType::FLOAT,
    };
    Some((super::image::rank(dim, arrayed, multisampled)?, texel))
}

/// The descriptor type behind a variable's element type and storage class.
fn kind(module: &Module, element: u32, class: u32) -> Option<DescriptorKind> {
    const DIM_BUFFER: u32 = 5;
    const DIM_SUBPASS: u32 = 6;
    let words = module.definition(element)?;
    // lavapipe dies on a buffer whose struct is no block; spirv-val lets it pass.
    let is_block = module.decoration(element, decoration::BLOCK).is_some();
    match (opcode(words), class) {
        (op::TYPE_SAMPLED_IMAGE, class::UNIFORM_CONSTANT) => Some(DescriptorKind::CombinedImageSampler),
        (op::TYPE_IMAGE, class::UNIFORM_CONSTANT) => match (words.get(3)?, words.get(7)?) {
            (&DIM_SUBPASS, 2) => Some(DescriptorKind::InputAttachment),
            (&DIM_BUFFER, 1) => Some(DescriptorKind::UniformTexelBuffer),
            (&DIM_BUFFER, 2) => Some(DescriptorKind::StorageTexelBuffer),
            (_, 2) => Some(DescriptorKind::StorageImage),
            _ => None,
        },
        (op::TYPE_STRUCT, class::STORAGE_BUFFER) if is_block => Some(DescriptorKind::StorageBuffer),
        (op::TYPE_STRUCT, class::UNIFORM) if module.decoration(element, decoration::BUFFER_BLOCK).is_some() => {
            Some(DescriptorKind::StorageBuffer)
        }
        (op::TYPE_STRUCT, class::UNIFORM) if is_block => Some(DescriptorKind::UniformBuffer),
        _ => None,
    }
}
