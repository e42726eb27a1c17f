//! Our own rules over a module: header, ids, sections, capabilities, functions and blocks, types.
//!
//! Source of the rules: the SPIR-V specification's universal validation rules, as far as they are here; each finding
//! names its rule. Rules of one client API (Vulkan, OpenCL) are not here.

mod annotations;
mod arithmetic;
mod buffers;
mod dominance;
mod entry;
mod flow;
mod form;
mod graph;
mod images;
mod layout;
mod needs;
mod structure;
mod types;
mod vulkan;

use super::grammar::{Grammar, Row, Shape};
use super::ids::Ids;
use super::operand::{Context, operands, string};
use super::{Api, HEADER_WORDS, MAGIC, ModuleIndex, TargetEnv, capability, instructions, op};
use crate::{Report, Severity};
use std::collections::{HashMap, HashSet};

/// Findings after which a module is not looked at further.
const ENOUGH: usize = 32;

/// An instruction with what every pass asks for.
#[derive(Clone, Copy)]
struct Item<'a> {
    row: &'a Row,
    words: &'a [u32],
    position: usize,
    result: u32,
    ty: u32,
}

impl<'a> Item<'a> {
    fn name(&self) -> &'a str {
        self.row.name.strip_prefix("Op").unwrap_or(&self.row.name)
    }

    fn word(&self, at: usize) -> u32 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// Words behind result type and result.
    fn args(&self) -> &'a [u32] {
        let skip = 1 + usize::from(self.row.has_type) + usize::from(self.row.has_result);
        self.words.get(skip..).unwrap_or(&[])
    }
}

/// A module with its definitions.
struct Checked<'a> {
    grammar: &'a Grammar,
    words: &'a [u32],
    items: Vec<Item<'a>>,
    defs: Ids<u32>,
    sets: HashMap<u32, String>,
    /// Capabilities declared, and all that those bring with them.
    capabilities: HashSet<u32>,
    report: Report,
    /// Position of the first OpFunction among the items.
    first_function: usize,
    /// Whether the capability Shader is declared.
    shader: bool,
    /// Whether the addressing model is not Logical.
    physical: bool,
}

impl<'a> Checked<'a> {
    fn fail(&mut self, rule: &'static str, item: &Item<'_>, message: impl Into<String>) {
        if self.report.diagnostics.len() < ENOUGH {
            let place = if item.result == 0 {
                item.row.name.clone()
            } else {
                format!("%{} = {}", item.result, item.row.name)
            };
            self.report
                .push(Severity::Error, rule, place, message, Some(item.position as u64 * 4));
        }
    }

    fn header(&mut self, rule: &'static str, message: String, word: u64) {
        self.report
            .push(Severity::Error, rule, "header", message, Some(word * 4));
    }

    /// The instruction that defines an id.
    fn def(&self, id: u32) -> Option<Item<'a>> {
        let at = self.defs.get(id);
        if at == 0 {
            None
        } else {
            Some(self.items[at as usize - 1])
        }
    }

    /// Whether pointers may be chosen and compared.
    fn variable_pointers(&self) -> bool {
        let any = [
            capability::VARIABLE_POINTERS,
            capability::VARIABLE_POINTERS_STORAGE_BUFFER,
        ];
        any.iter().any(|capability| self.capabilities.contains(capability))
    }

    /// The type of a value; 0 if the id has none.
    fn type_of(&self, id: u32) -> u32 {
        self.def(id).map_or(0, |item| item.ty)
    }

    /// Name of the defining opcode without `Op`; empty if not defined.
    fn kind(&self, id: u32) -> &'a str {
        self.def(id).map_or("", |item| item.name())
    }

    /// A constant integer's value.
    fn constant(&self, id: u32) -> Option<u32> {
        let item = self.def(id).filter(|item| item.name() == "Constant")?;
        (self.kind(item.ty) == "TypeInt").then(|| item.word(3))
    }
}

/// Every finding about a module given as words in the machine's order.
pub fn validate(grammar: &Grammar, words: &[u32]) -> Report {
    validate_for(grammar, words, TargetEnv::UNIVERSAL)
}

/// As [`validate`], for a target environment.
pub fn validate_for(grammar: &Grammar, words: &[u32], env: TargetEnv) -> Report {
    let bound = words.get(3).copied().unwrap_or(0);
    let mut module = Checked {
        grammar,
        words,
        items: Vec::new(),
        defs: Ids::new(words.len(), bound, 0),
        sets: HashMap::new(),
        capabilities: HashSet::new(),
        report: Report::default(),
        first_function: usize::MAX,
        shader: false,
        physical: false,
    };
    if words.len() < HEADER_WORDS {
        module.header("header", format!("{} words are no header", words.len()), 0);
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
        // Reserved and to be 0; other readers take any.
        let message = format!("schema is {}, only 0 is known", words[4]);
        module
            .report
            .push(Severity::Warning, "schema", "header", message, Some(16));
    }
    collect(&mut module);
    module.first_function = module
        .items
        .iter()
        .position(|i| i.name() == "Function")
        .unwrap_or(usize::MAX);
    module.physical = module.items.iter().any(|i| i.name() == "MemoryModel" && i.word(1) != 0);
    // Capability 1 is Shader; Matrix, which it brings, is no shader's own.
    module.shader = module
        .items
        .iter()
        .any(|i| i.name() == "Capability" && !matches!(i.word(1), 0 | 4..=19 | 22 | 23 | 38 | 39));
    let passes: [fn(&mut Checked<'_>); 6] = [
        ids,
        layout::check,
        needs::check,
        annotations::check,
        flow::check,
        types::check,
    ];
    for pass in passes {
        // Later passes rely on what earlier ones found whole.
        if module.report.is_valid() {
            pass(&mut module);
        }
    }
    if module.report.is_valid()
        && let Ok(index) = ModuleIndex::new(words)
    {
        buffers::check(&mut module, &index);
        entry::check(&mut module, &index, env.api() != Api::None);
        if let Api::Vulkan(version) = env.api() {
            vulkan::check(&mut module, &index, version);
        }
    }
    module.report
}

/// Reads the instructions against the grammar and finds their definitions.
fn collect(module: &mut Checked<'_>) {
    let (grammar, words) = (module.grammar, module.words);
    let mut context = Context::new(words);
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
        context.note(grammar, Some(row), &instruction);
        for operand in operands(grammar, &context, Some(row), &instruction) {
            let message = match operand {
                Err(fault) => format!("word {}: {}", fault.at, fault.why),
                Ok(operand) if *operand.shape == Shape::Raw => {
                    format!("word {}: {} is not known there", operand.at, operand.words[0])
                }
                Ok(_) => continue,
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
        };
        if item.row.name == "OpExtInstImport"
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

/// Every id: within the bound, defined, and before its use where the opcode wants that.
fn ids(module: &mut Checked<'_>) {
    let (grammar, words) = (module.grammar, module.words);
    let mut context = Context::new(words);
    // Pointers that are told of before they are declared.
    let mut told = HashSet::new();
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.row.opcode as u16 == op::TYPE_FORWARD_POINTER {
            told.insert(item.word(1));
        }
        let is_type = item.name().starts_with("Type");
        let instruction = super::Instruction {
            opcode: item.row.opcode as u16,
            words: item.words,
            position: item.position,
        };
        context.note(grammar, Some(item.row), &instruction);
        for operand in operands(grammar, &context, Some(item.row), &instruction).flatten() {
            let id = operand.words[0];
            match operand.shape {
                Shape::Id | Shape::ResultType | Shape::Result if id == 0 || id >= words[3] => {
                    module.fail(
                        "id-bound",
                        &item,
                        format!("id {id} is not within the bound {}", words[3]),
                    );
                }
                Shape::Id | Shape::ResultType => match module.defs.get(id) as usize {
                    0 => module.fail("id-undefined", &item, format!("id {id} is not defined")),
                    def if def > at && !forward(item.name(), operand.at) && !(is_type && told.contains(&id)) => {
                        module.fail("id-order", &item, format!("id {id} is used before its definition"));
                    }
                    _ => {}
                },
                Shape::ExtInst => {
                    let set = item.word(operand.at - 1);
                    match context.set(set) {
                        None => module.fail("ext-inst", &item, format!("id {set} imports no instruction set")),
                        Some(Some(set)) if grammar.sets[set].row(id).is_none() => {
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

/// Whether an opcode may name ids that come later (in a function, dominance decides instead of order).
fn forward(name: &str, at: usize) -> bool {
    match name {
        "ExecutionMode" | "ExecutionModeId" | "EntryPoint" | "Name" | "MemberName" | "SelectionMerge" | "LoopMerge"
        | "Branch" | "BranchConditional" | "Switch" | "Phi" | "FunctionCall" | "TypeForwardPointer" => true,
        "EnqueueKernel" | "GetKernelNDrangeSubGroupCount" | "GetKernelNDrangeMaxSubGroupCount" => at > 2,
        _ => {
            name.starts_with("Decorate")
                || name.starts_with("MemberDecorate")
                || name.contains("GroupDecorate")
                || name.contains("GroupMemberDecorate")
        }
    }
}
