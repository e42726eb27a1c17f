//! Validation of a module: header, ids, sections, capabilities, functions and blocks, types.
//!
//! Source of the rules: the SPIR-V specification's universal validation rules, as far as they are implemented. Each
//! finding names its rule. Rules of client APIs are in modules of their own.

mod access;
mod annotations;
mod applied;
mod arithmetic;
mod buffers;
mod built_ins;
mod chains;
mod composites;
mod constants;
mod contents;
mod cooperative;
#[cfg(test)]
mod cooperative_tests;
mod debug_info;
#[cfg(test)]
mod debug_tests;
mod dominance;
mod entry;
mod explicit;
mod extended;
mod extended_tables;
#[cfg(test)]
mod extended_tests;
mod flow;
mod form;
mod functions;
mod graph;
mod groups;
mod image_operands;
mod image_processing;
mod images;
mod layout;
mod limits;
mod locations;
mod maxima;
mod memory;
#[cfg(test)]
mod memory_tests;
mod meshes;
mod models;
mod modes;
mod needs;
#[cfg(test)]
mod newer_tests;
mod pointers;
mod rays;
mod reconvergence;
mod reflection;
#[cfg(test)]
mod row_tests;
mod scopes;
mod shapes;
mod structure;
mod tensors;
#[cfg(test)]
mod tests;
mod types;
mod variables;
mod vulkan;

use super::grammar::{Grammar, Row, Shape};
use super::ids::Ids;
use super::operand::{Context, operands, string};
use super::{Api, HEADER_WORDS, MAGIC, ModuleIndex, TargetEnv, decoration, instructions, op};
use crate::{Report, Severity};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Limit on findings per module.
const ENOUGH: usize = 32;

/// An instruction with its commonly used fields.
#[derive(Clone, Copy)]
struct Item<'a> {
    row: &'a Row,
    words: &'a [u32],
    position: usize,
    result: u32,
    ty: u32,
    /// Start and number of its operands in [`Checked::operands`].
    operands: (u32, u16),
}

/// An operand that is an id or an enumerant, in an instruction that fits the grammar.
#[derive(Clone, Copy)]
struct OperandAt {
    /// Index of the kind in the grammar.
    kind: u16,
    /// Index of the word within the instruction, which has at most 65535.
    at: u16,
}

impl<'a> Item<'a> {
    fn opcode(&self) -> u16 {
        self.row.opcode as u16
    }

    /// The opcode's name without `Op`, for families that share a part of it.
    fn name(&self) -> &'a str {
        self.row.name.strip_prefix("Op").unwrap_or(&self.row.name)
    }

    /// Whether it is an instruction of an extended set.
    fn is_extended(&self) -> bool {
        matches!(self.opcode(), op::EXT_INST | op::EXT_INST_WITH_FORWARD_REFS_KHR)
    }

    fn word(&self, at: usize) -> u32 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// Its operands in [`Checked::operands`].
    fn places(&self) -> Range<usize> {
        let start = self.operands.0 as usize;
        start..start + usize::from(self.operands.1)
    }

    /// Words after result type and result.
    fn args(&self) -> &'a [u32] {
        let skip = 1 + usize::from(self.row.has_type) + usize::from(self.row.has_result);
        self.words.get(skip..).unwrap_or(&[])
    }
}

/// A decoration of an id or a member.
#[derive(Clone, Copy)]
struct Given {
    target: u32,
    member: Option<u32>,
    kind: u32,
    /// Index of its instruction among the items.
    at: usize,
}

/// A module with its definitions.
struct Checked<'a> {
    grammar: &'a Grammar,
    words: &'a [u32],
    items: Vec<Item<'a>>,
    /// Operands of all items, in order.
    operands: Vec<OperandAt>,
    /// Types of numbers, and imported sets.
    context: Context,
    defs: Ids<u32>,
    sets: HashMap<u32, String>,
    /// Capabilities declared or implied.
    capabilities: HashSet<u32>,
    report: Report,
    /// Position of the first OpFunction among the items.
    first_function: usize,
    /// Whether the capability Shader is declared.
    shader: bool,
    /// Whether the addressing model is not Logical.
    physical: bool,
    addressing: u32,
    memory_model: u32,
    /// Vulkan's version, if the module targets Vulkan.
    vulkan: Option<u32>,
    /// Contents of each type.
    held: Ids<u16>,
    /// Bytes of the largest scalar in each type.
    widest: Ids<u8>,
    /// Each id with the kinds of its own and its members' decorations.
    decorations: HashSet<(u32, u32)>,
    /// Decorations, including those from groups.
    given: Vec<Given>,
    extensions: HashSet<String>,
    /// Structs that are blocks, and types that contain one.
    blocks: HashSet<u32>,
}

impl<'a> Checked<'a> {
    fn fail(&mut self, rule: &'static str, item: &Item<'_>, message: impl Into<String>) {
        if self.report.diagnostics.len() < ENOUGH {
            let (place, offset) = (self.place(item), Some(item.position as u64 * 4));
            self.report.push(Severity::Error, rule, place, message, offset);
        }
    }

    /// [`Checked::fail`] with a warning, for violations that other validators accept.
    fn warn(&mut self, rule: &'static str, item: &Item<'_>, message: impl Into<String>) {
        let offset = Some(item.position as u64 * 4);
        let place = self.place(item);
        self.report.push(Severity::Warning, rule, place, message, offset);
    }

    fn place(&self, item: &Item<'_>) -> String {
        match item.result {
            0 => item.row.name.to_string(),
            result => format!("%{result} = {}", item.row.name),
        }
    }

    fn header(&mut self, rule: &'static str, message: String, word: u64) {
        self.report
            .push(Severity::Error, rule, "header", message, Some(word * 4));
    }

    /// The id at one of an instruction's [places](Item::places); `None` for a result, its type, and enumerants.
    fn used_at(&self, item: &Item<'_>, place: usize) -> Option<u32> {
        let OperandAt { kind, at } = self.operands[place];
        (*self.grammar.shape(kind) == Shape::Id).then(|| item.words[usize::from(at)])
    }

    /// The ids that an instruction uses, its result type excepted.
    fn used(&self, item: &Item<'a>) -> impl Iterator<Item = u32> {
        item.places().filter_map(|place| self.used_at(item, place))
    }

    /// The instruction that defines an id.
    #[inline]
    fn def(&self, id: u32) -> Option<Item<'a>> {
        self.definition(id).copied()
    }

    /// [`Checked::def`], borrowed.
    #[inline]
    fn definition(&self, id: u32) -> Option<&Item<'a>> {
        let at = (self.defs.get(id) as usize).checked_sub(1)?;
        Some(&self.items[at])
    }

    /// Whether pointers may be selected and compared.
    fn variable_pointers(&self) -> bool {
        use super::capability::{VARIABLE_POINTERS, VARIABLE_POINTERS_STORAGE_BUFFER};
        let any = [VARIABLE_POINTERS, VARIABLE_POINTERS_STORAGE_BUFFER];
        any.iter().any(|capability| self.capabilities.contains(capability))
    }

    /// The type of a value; 0 if the id has none.
    fn type_of(&self, id: u32) -> u32 {
        self.definition(id).map_or(0, |item| item.ty)
    }

    /// The opcode that defines an id; 0, which defines none, if undefined.
    fn opcode(&self, id: u32) -> u16 {
        self.definition(id).map_or(op::NOP, |item| item.opcode())
    }

    /// Whether an id is a type's.
    fn is_type(&self, id: u32) -> bool {
        self.definition(id).is_some_and(|item| item.row.is_type())
    }

    /// Whether an id or one of its members has a decoration of this kind.
    fn decorated(&self, id: u32, kind: u32) -> bool {
        self.decorations.contains(&(id, kind))
    }

    /// Whether a struct's members are built-in variables.
    fn any_built_in(&self, ty: u32) -> bool {
        self.decorated(ty, decoration::BUILT_IN)
    }

    /// The return type and the parameter types of a function.
    fn signature(&self, id: u32) -> Option<&'a [u32]> {
        let function = self.def(id).filter(|item| item.opcode() == op::FUNCTION)?;
        let ty = self.def(function.word(4))?;
        (ty.opcode() == op::TYPE_FUNCTION).then(|| ty.args())
    }

    /// A decoration's name.
    fn decoration_name(&self, kind: u32) -> &'a str {
        let row = self.grammar.kind_of("Decoration").and_then(|rows| rows.value(kind));
        row.map_or("", |row| &row.name)
    }

    /// Whether a value of an enumeration has ids as operands.
    fn has_ids(&self, kind: &str, value: u32) -> bool {
        let row = self.grammar.kind_of(kind).and_then(|rows| rows.value(value));
        let first = row.and_then(|row| row.parameters().first());
        first.is_some_and(|rule| *self.grammar.shape(rule.kind) == Shape::Id)
    }

    /// Whether an extension is declared.
    fn extends(&self, name: &str) -> bool {
        self.extensions.contains(name)
    }

    /// The innermost element type of nested arrays; other types are returned unchanged.
    fn elements(&self, mut ty: u32) -> u32 {
        for _ in 0..self.items.len() {
            match self.def(ty) {
                Some(array) if array.opcode() == op::TYPE_ARRAY => ty = array.word(2),
                _ => break,
            }
        }
        ty
    }

    /// The value of a constant integer.
    fn constant(&self, id: u32) -> Option<u32> {
        let item = self.def(id).filter(|item| item.opcode() == op::CONSTANT)?;
        (self.opcode(item.ty) == op::TYPE_INT).then(|| item.word(3))
    }
}

/// All findings about a module given as words in host order, with the built-in grammar.
pub fn validate(words: &[u32]) -> Report {
    validate_for(Grammar::builtin(), words, TargetEnv::UNIVERSAL)
}

/// [`validate`] with a grammar, for a target environment.
pub fn validate_for(grammar: &Grammar, words: &[u32], env: TargetEnv) -> Report {
    let bound = words.get(3).copied().unwrap_or(0);
    let mut module = Checked {
        grammar,
        words,
        items: Vec::new(),
        operands: Vec::new(),
        context: Context::new(words),
        defs: Ids::new(words.len(), bound, 0),
        sets: HashMap::new(),
        capabilities: HashSet::new(),
        report: Report::default(),
        first_function: usize::MAX,
        shader: false,
        physical: false,
        addressing: 0,
        memory_model: 0,
        vulkan: match env.api() {
            Api::Vulkan(version) => Some(version),
            Api::None => None,
        },
        held: Ids::new(0, 0, 0),
        widest: Ids::new(0, 0, 0),
        decorations: HashSet::new(),
        given: Vec::new(),
        extensions: HashSet::new(),
        blocks: HashSet::new(),
    };
    if words.len() < HEADER_WORDS {
        module.header("header", format!("{} words are not a header", words.len()), 0);
        return module.report;
    }
    let version = words[1];
    if words[0] != MAGIC {
        module.header("magic", format!("magic number is {:#010x}", words[0]), 0);
        return module.report;
    }
    if version & 0xff00_00ff != 0 || !(0x10000..=0x10600).contains(&version) {
        module.header("version", format!("version is {version:#x}, 1.0 to 1.6 are known"), 1);
    }
    if version > env.version() && version <= 0x10600 {
        let message = format!("version {}.{} is too late for {env}", version >> 16, version >> 8 & 255);
        module.header("version", message, 1);
    }
    if bound == 0 || bound > 0x3f_ffff {
        module.header("bound", format!("id bound is {bound}, 1 to 4194303 are allowed"), 3);
    }
    if words[4] != 0 {
        // The schema must be 0, but other readers accept any.
        let message = format!("schema is {}, only 0 is known", words[4]);
        module
            .report
            .push(Severity::Warning, "schema", "header", message, Some(16));
    }
    collect(&mut module);
    module.first_function = module
        .items
        .iter()
        .position(|i| i.opcode() == op::FUNCTION)
        .unwrap_or(usize::MAX);
    if let Some(model) = module.items.iter().find(|i| i.opcode() == op::MEMORY_MODEL) {
        (module.addressing, module.memory_model) = (model.word(1), model.word(2));
    }
    module.physical = module.addressing != 0;
    gather(&mut module);
    // Capability 1 is Shader; Matrix, which Shader implies, does not make a module a shader.
    module.shader = module
        .items
        .iter()
        .any(|i| i.opcode() == op::CAPABILITY && !matches!(i.word(1), 0 | 4..=19 | 22 | 23 | 38 | 39));
    let passes: [fn(&mut Checked<'_>); 7] = [
        ids,
        layout::check,
        needs::check,
        annotations::check,
        flow::check,
        types::check,
        maxima::check,
    ];
    for pass in passes {
        // Later passes rely on the earlier ones having passed.
        if module.report.is_valid() {
            pass(&mut module);
        }
    }
    if module.report.is_valid()
        && let Ok(index) = ModuleIndex::new(words)
    {
        buffers::check(&mut module, &index);
        applied::check(&mut module);
        entry::check(&mut module, &index);
        if let Api::Vulkan(version) = env.api() {
            vulkan::check(&mut module, &index, version, env);
        }
    }
    module.report
}

/// Gathers decorations, extensions and type contents for several passes.
fn gather(module: &mut Checked<'_>) {
    // The decorations of each group, each kind once.
    let mut groups: HashMap<u32, Vec<Given>> = HashMap::new();
    let first = module.first_function.min(module.items.len());
    for at in 0..first {
        let (item, of) = (module.items[at], module.items[at].opcode());
        let target = item.word(1);
        let (kind, member) = match of {
            op::DECORATE | op::DECORATE_ID => (item.word(2), None),
            op::MEMBER_DECORATE => (item.word(3), Some(item.word(2))),
            op::EXTENSION => {
                module.extensions.extend(string(&item.words[1..]).map(|name| name.0));
                continue;
            }
            op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => {
                let step = if of == op::GROUP_DECORATE { 1 } else { 2 };
                let given = groups.get(&target).map_or(&[][..], |given| given);
                for target in item.words[2..].chunks_exact(step) {
                    let member = target.get(1).copied();
                    let target = target[0];
                    module.given.extend(given.iter().map(|given| Given {
                        target,
                        member,
                        ..*given
                    }));
                }
                continue;
            }
            _ => continue,
        };
        let given = Given {
            target,
            member,
            kind,
            at,
        };
        if module.opcode(target) == op::DECORATION_GROUP {
            let group = groups.entry(target).or_default();
            if group.iter().all(|other| other.kind != kind) {
                group.push(given);
            }
        } else {
            module.given.push(given);
        }
    }
    module.decorations = module.given.iter().map(|given| (given.target, given.kind)).collect();
    module.held = contents::of_types(module);
    module.widest = contents::widest(module);
    for at in 0..first {
        let item = module.items[at];
        let block = |kind| module.decorated(item.result, kind);
        let parts = match item.opcode() {
            op::TYPE_STRUCT => item.args(),
            op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => &item.words[2..3],
            _ => continue,
        };
        if block(decoration::BLOCK)
            || block(decoration::BUFFER_BLOCK)
            || parts.iter().any(|id| module.blocks.contains(id))
        {
            module.blocks.insert(item.result);
        }
    }
}

/// Reads the instructions by the grammar, and records definitions.
fn collect(module: &mut Checked<'_>) {
    let (grammar, words) = (module.grammar, module.words);
    module.items.reserve_exact(instructions(words).count());
    module.operands.reserve_exact(words.len());
    for instruction in instructions(words) {
        let instruction = match instruction {
            Ok(instruction) => instruction,
            Err(error) => {
                module.report.diagnostics.push((&error).into());
                return;
            }
        };
        let offset = Some(instruction.position as u64 * 4);
        let Some(row) = grammar.row(instruction.opcode) else {
            let message = format!("opcode {} is not known", instruction.opcode);
            module.report.push(Severity::Error, "opcode", "", message, offset);
            return;
        };
        module.context.note(grammar, Some(row), &instruction);
        let start = module.operands.len();
        for operand in operands(grammar, &module.context, Some(row), &instruction) {
            let message = match operand {
                Err(fault) => format!("word {}: {}", fault.at, fault.why),
                Ok(operand) => match operand.shape {
                    Shape::Raw => format!("word {}: {} is not known there", operand.at, operand.words[0]),
                    Shape::Id | Shape::ResultType | Shape::Result | Shape::ExtInst | Shape::Value | Shape::Mask => {
                        let (kind, at) = (operand.kind, operand.at as u16);
                        module.operands.push(OperandAt { kind, at });
                        continue;
                    }
                    _ => continue,
                },
            };
            module
                .report
                .push(Severity::Error, "operand", &row.name, message, offset);
            return;
        }
        let at = |yes, at| {
            if yes {
                instruction.words.get(at).copied().unwrap_or(0)
            } else {
                0
            }
        };
        let item = Item {
            row,
            words: instruction.words,
            position: instruction.position,
            ty: at(row.has_type, 1),
            result: at(row.has_result, 1 + usize::from(row.has_type)),
            operands: (start as u32, (module.operands.len() - start) as u16),
        };
        if item.opcode() == op::EXT_INST_IMPORT
            && let Some((name, _)) = string(&item.words[2..])
        {
            module.sets.insert(item.result, name);
        }
        module.items.push(item);
        if row.has_result {
            if module.defs.get(item.result) != 0 {
                module.fail("id-twice", &item, format!("id {} is defined before", item.result));
                return;
            }
            module.defs.set(item.result, module.items.len() as u32);
        }
    }
}

/// Every id is within the bound, defined, and defined before use if the opcode requires that.
fn ids(module: &mut Checked<'_>) {
    let bound = module.words[3];
    // Forward-declared pointers.
    let mut forward_declared = HashSet::new();
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.opcode() == op::TYPE_FORWARD_POINTER {
            forward_declared.insert(item.word(1));
        }
        let is_type = item.row.is_type();
        for place in item.places() {
            let place = module.operands[place];
            let (id, word) = (item.words[usize::from(place.at)], usize::from(place.at));
            match module.grammar.shape(place.kind) {
                Shape::Id | Shape::ResultType | Shape::Result if id == 0 || id >= bound => {
                    module.fail("id-bound", &item, format!("id {id} is not within the bound {bound}"));
                }
                shape @ (Shape::Id | Shape::ResultType) => match module.defs.get(id) as usize {
                    0 => module.fail("id-undefined", &item, format!("id {id} is not defined")),
                    def if def > at
                        && !(forward(&item, word)
                            || debug_info::ahead(module, &item, word)
                            || is_type && forward_declared.contains(&id)) =>
                    {
                        module.fail("id-order", &item, format!("id {id} is used before its definition"));
                    }
                    def if *shape == Shape::Id
                        || item.ty == id && module.items[def - 1].opcode() == op::TYPE_FUNCTION =>
                    {
                        let early = def <= at;
                        if let Some(why) = misused(module, &item, &module.items[def - 1], early) {
                            module.fail("id-kind", &item, format!("%{id} {why}"));
                        }
                    }
                    _ => {}
                },
                Shape::ExtInst => {
                    let set = item.word(word - 1);
                    match module.context.set(set) {
                        None => module.fail("ext-inst", &item, format!("id {set} imports no instruction set")),
                        // Later revisions of non-semantic sets add instructions under the same name.
                        Some(Some(set))
                            if module.grammar.sets[set].row(id).is_none()
                                && !module.grammar.sets[set].name.starts_with("NonSemantic.") =>
                        {
                            module.fail("ext-inst", &item, format!("the set has no instruction {id}"));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
    }
}

/// Why an instruction may not refer to a definition; `early` if it precedes the definition.
fn misused(module: &Checked<'_>, item: &Item<'_>, def: &Item<'_>, early: bool) -> Option<&'static str> {
    let (name, of) = (item.name(), item.opcode());
    if (2..op::EXT_INST_IMPORT).contains(&of) || of == op::NO_LINE {
        // Names and lines may refer to anything.
        return None;
    }
    let free = || {
        let set = module.sets.get(&item.word(3));
        item.is_extended() && set.is_some_and(|set| layout::means_nothing(set))
    };
    let decorates = matches!(of, op::DECORATE..=op::GROUP_MEMBER_DECORATE if of != op::DECORATION_GROUP)
        || matches!(of, op::DECORATE_ID | op::DECORATE_STRING | op::MEMBER_DECORATE_STRING);
    let declares = item.row.is_type() && of != op::TYPE_FORWARD_POINTER;
    let length = |of: u16| matches!(of, op::COOPERATIVE_MATRIX_LENGTH_NV | op::COOPERATIVE_MATRIX_LENGTH_KHR);
    let counts = || {
        let specialized = of == op::SPEC_CONSTANT_OP && length(item.word(3) as u16);
        specialized || length(of) || of == op::SIZE_OF || name.starts_with("Untyped")
    };
    if def.row.is_type() {
        if def.opcode() == op::TYPE_FUNCTION && of != op::FUNCTION && !decorates && !free() {
            let pointers = module
                .items
                .iter()
                .any(|i| i.opcode() == op::CAPABILITY && i.word(1) == super::capability::FUNCTION_POINTERS_INTEL);
            return (!pointers).then_some("is a function type, which only functions have");
        }
        let fine = declares || decorates || of == op::FUNCTION || !early || free() || counts();
        return (!fine).then_some("is a type, where a value is needed");
    }
    if def.opcode() == op::FUNCTION {
        const CALLERS: [u16; 11] = [
            op::ENTRY_POINT,
            op::EXECUTION_MODE,
            op::EXECUTION_MODE_ID,
            op::FUNCTION_CALL,
            op::ENQUEUE_KERNEL,
            op::GET_KERNEL_NDRANGE_SUB_GROUP_COUNT,
            op::GET_KERNEL_NDRANGE_MAX_SUB_GROUP_SIZE,
            op::GET_KERNEL_WORK_GROUP_SIZE,
            op::GET_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
            op::GET_KERNEL_LOCAL_SIZE_FOR_SUBGROUP_COUNT,
            op::GET_KERNEL_MAX_NUM_SUBGROUPS,
        ];
        let decorated = matches!(of, op::DECORATE | op::GROUP_DECORATE);
        let fine = decorated || free() || CALLERS.contains(&of) || name.contains("INTEL") || calls_for_matrix(of);
        return (!fine).then_some("is a function, which is only called and entered");
    }
    if def.ty == 0 && early {
        let branches = matches!(of, op::LOOP_MERGE..=op::SWITCH) || of == op::PHI || item.is_extended();
        let fine = declares || decorates || branches || of == op::FUNCTION || counts() || name.contains("INTEL");
        return (!fine).then_some("is not a value");
    }
    None
}

/// Whether an opcode calls a function for components of a cooperative matrix.
fn calls_for_matrix(of: u16) -> bool {
    matches!(
        of,
        op::COOPERATIVE_MATRIX_REDUCE_NV
            | op::COOPERATIVE_MATRIX_LOAD_TENSOR_NV
            | op::COOPERATIVE_MATRIX_PER_ELEMENT_OP_NV
    )
}

/// Whether an opcode may refer to later ids (in a function, dominance matters instead of order).
fn forward(item: &Item<'_>, at: usize) -> bool {
    match item.opcode() {
        op::EXECUTION_MODE
        | op::EXECUTION_MODE_ID
        | op::ENTRY_POINT
        | op::NAME
        | op::MEMBER_NAME
        | op::SELECTION_MERGE
        | op::LOOP_MERGE
        | op::BRANCH
        | op::TYPE_FORWARD_POINTER => true,
        op::BRANCH_CONDITIONAL | op::SWITCH | op::GROUP_DECORATE | op::GROUP_MEMBER_DECORATE => at > 1,
        op::PHI => at > 2,
        op::FUNCTION_CALL => at == 3,
        op::COOPERATIVE_MATRIX_PER_ELEMENT_OP_NV => at == 4,
        op::COOPERATIVE_MATRIX_REDUCE_NV => at == 5,
        op::COOPERATIVE_MATRIX_LOAD_TENSOR_NV => at > 6,
        op::ENQUEUE_KERNEL
        | op::GET_KERNEL_NDRANGE_SUB_GROUP_COUNT
        | op::GET_KERNEL_NDRANGE_MAX_SUB_GROUP_SIZE
        | op::GET_KERNEL_WORK_GROUP_SIZE
        | op::GET_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => at > 2,
        _ => item.name().starts_with("Decorate") || item.name().starts_with("MemberDecorate"),
    }
}
