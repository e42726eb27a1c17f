//! Entry points and the code they reach: interfaces, execution modes, and model-specific features.

use super::{Checked, Item, built_ins, limits, locations, meshes, modes, variables};
use crate::spirv::ids::Ids;
use crate::spirv::{Located, ModuleIndex, class, decoration as dec, model, op};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What each function uses, by function id.
struct Uses {
    calls: HashMap<u32, Vec<u32>>,
    globals: HashMap<u32, HashSet<u32>>,
    /// Each opcode with the position of its first instruction.
    opcodes: HashMap<u32, Vec<(u32, usize)>>,
    /// `OpSetMeshOutputsEXT` instructions.
    outputs: HashMap<u32, Vec<usize>>,
}

/// What a function and its callees use.
struct Reach {
    /// Global variables and their storage classes.
    globals: Vec<(u32, u32)>,
    /// The position of the first instruction of each opcode.
    opcodes: HashMap<u32, usize>,
    /// `OpSetMeshOutputsEXT` instructions.
    outputs: Vec<usize>,
}

pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex) {
    let uses = Uses::of(module, index);
    let entries: Vec<Item> = of_opcode(module, op::ENTRY_POINT);
    let modes = modes::check(module, &entries);
    callers(module, &entries, &uses);
    let structs = built_in_structs(index);
    let parameters = module.vulkan.is_some().then(|| locations::parameters(module));
    let named = built_ins::Named::new(module);
    if module.vulkan.is_some() {
        built_ins::members(module, &named);
    }
    // Several entry points may share a function.
    let mut reach: HashMap<u32, Reach> = HashMap::new();
    for entry in entries {
        let reach = &*reach.entry(entry.word(2)).or_insert_with_key(|f| uses.reach(*f, index));
        interface(module, &entry, reach);
        built_in_blocks(module, index, &entry, &structs);
        limits::check(module, &entry, &reach.opcodes, modes.get(&entry.word(2)));
        meshes::check(module, &entry, listed(&entry), &reach.globals, &reach.outputs, &named);
        if let Some(parameters) = &parameters {
            shared(module, &entry, reach);
            variables::resources(module, &entry, &reach.globals);
            variables::interpolation(module, &entry, listed(&entry));
            locations::check(module, &entry, listed(&entry), parameters);
            built_ins::check(module, &entry, listed(&entry), &named);
            meshes::per_vertex(module, &entry, listed(&entry));
        }
    }
}

fn of_opcode<'a>(module: &Checked<'a>, opcode: u16) -> Vec<Item<'a>> {
    let all = module.items.iter();
    all.filter(|item| item.opcode() == opcode).copied().collect()
}

/// The ids of an entry point's interface.
fn listed<'a>(entry: &Item<'a>) -> &'a [u32] {
    let name = entry
        .words
        .get(3..)
        .and_then(crate::spirv::operand::string_words)
        .unwrap_or(0);
    entry.words.get(3 + name..).unwrap_or(&[])
}

/// Whether a word of an instruction is an id, rather than a literal of the same value.
fn is_operand(module: &Checked<'_>, item: &Item<'_>, id: u32) -> bool {
    let of = item.opcode();
    if matches!(
        of,
        op::LOAD | op::STORE | op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::FUNCTION_CALL
    ) {
        return true;
    }
    module.used(item).any(|operand| operand == id)
}

/// No function calls an entry point.
fn callers(module: &mut Checked<'_>, entries: &[Item<'_>], uses: &Uses) {
    let called: HashSet<u32> = uses.calls.values().flatten().copied().collect();
    for entry in entries.iter().filter(|entry| called.contains(&entry.word(2))) {
        module.fail("entry-point", entry, "an entry point is called by a function");
    }
}

impl Uses {
    fn of(module: &Checked<'_>, index: &ModuleIndex) -> Self {
        let mut uses = Self {
            calls: HashMap::new(),
            globals: HashMap::new(),
            opcodes: HashMap::new(),
            outputs: HashMap::new(),
        };
        let globals: HashSet<u32> = index.variables().filter_map(|node| node.operand(1)).collect();
        // Constants and variables that refer to another global variable count as uses of it.
        let mut through: HashMap<u32, Vec<u32>> = HashMap::new();
        let first = module.first_function.min(module.items.len());
        for item in &module.items[..first] {
            let of = item.opcode();
            if of == op::VARIABLE || (op::CONSTANT_TRUE..=op::SPEC_CONSTANT_OP).contains(&of) {
                let mut named = Vec::new();
                for id in module.used(item) {
                    named.extend(globals.get(&id));
                    named.extend(through.get(&id).into_iter().flatten());
                }
                // Without this, nested composites would double the list at each level.
                named.sort_unstable();
                named.dedup();
                if !named.is_empty() {
                    through.insert(item.result, named);
                }
            }
        }
        let mut named = Ids::new(module.words.len(), module.words[3], false);
        globals.iter().chain(through.keys()).for_each(|id| named.set(*id, true));
        let mut function = 0;
        let mut opcodes: Vec<(u32, usize)> = Vec::new();
        let mut listed = vec![false; limits::KEYS];
        for (at, item) in module.items.iter().enumerate().skip(first) {
            let key = limits::key(module, item);
            if !std::mem::replace(&mut listed[key as usize], true) {
                opcodes.push((key, at));
            }
            match item.opcode() {
                op::FUNCTION => function = item.result,
                op::FUNCTION_CALL => uses.calls.entry(function).or_default().push(item.word(3)),
                op::SET_MESH_OUTPUTS_EXT => uses.outputs.entry(function).or_default().push(at),
                op::FUNCTION_END => {
                    opcodes.iter().for_each(|(key, _)| listed[*key as usize] = false);
                    uses.opcodes.insert(function, std::mem::take(&mut opcodes));
                }
                _ => {}
            }
            for id in crate::spirv::transform::id_operands(item.words).filter(|id| named.get(*id)) {
                if !is_operand(module, item, id) {
                    continue;
                }
                let used = uses.globals.entry(function).or_default();
                used.extend(globals.get(&id));
                used.extend(through.get(&id).into_iter().flatten());
            }
        }
        uses
    }

    /// What a function and its callees use.
    fn reach(&self, function: u32, index: &ModuleIndex) -> Reach {
        let (mut reached, mut open) = (HashSet::new(), vec![function]);
        let mut globals: HashSet<u32> = HashSet::new();
        let mut opcodes = HashMap::new();
        let mut outputs = Vec::new();
        while let Some(function) = open.pop() {
            if reached.insert(function) {
                open.extend(self.calls.get(&function).into_iter().flatten());
                globals.extend(self.globals.get(&function).into_iter().flatten());
                outputs.extend(self.outputs.get(&function).into_iter().flatten());
                for (opcode, at) in self.opcodes.get(&function).into_iter().flatten() {
                    opcodes.entry(*opcode).or_insert(*at);
                }
            }
        }
        let classed = index.globals().filter(|v| globals.contains(&v.id));
        Reach {
            globals: classed.map(|v| (v.id, v.class)).collect(),
            opcodes,
            outputs,
        }
    }
}

/// Every used input and output is listed; from version 1.4 on every global variable.
fn interface(module: &mut Checked<'_>, entry: &Item<'_>, reach: &Reach) {
    let all = module.words[1] >= 0x10400;
    let listed: HashSet<u32> = listed(entry).iter().copied().collect();
    for (id, class) in &reach.globals {
        let counts = all || matches!(*class, class::INPUT | class::OUTPUT);
        if counts && !listed.contains(id) {
            module.fail("interface", entry, format!("%{id} is used and not listed"));
        }
    }
}

/// Vulkan: only stages with workgroups have shared memory.
fn shared(module: &mut Checked<'_>, entry: &Item<'_>, reach: &Reach) {
    const WORKGROUPS: [u32; 5] = [
        model::GL_COMPUTE,
        model::TASK_NV,
        model::MESH_NV,
        model::TASK_EXT,
        model::MESH_EXT,
    ];
    if WORKGROUPS.contains(&entry.word(1)) {
        return;
    }
    for (id, _) in reach.globals.iter().filter(|(_, class)| *class == class::WORKGROUP) {
        module.fail("vulkan-workgroup", entry, format!("%{id} is of a workgroup"));
    }
}

/// Variables that are structs with built-in members. Each type is visited once.
fn built_in_structs(index: &ModuleIndex) -> HashMap<u32, Located> {
    let has_built_in = |ty: u32| {
        let members = index.members(ty).map_or(0, |members| members.len() as u32);
        (0..members).any(|m| index.member_decoration(ty, m, dec::BUILT_IN).is_some())
    };
    let mut known = HashMap::new();
    let built_in = |variable: &Located| {
        let ty = variable.pointee;
        *known.entry(ty).or_insert_with(|| has_built_in(ty))
    };
    index
        .globals()
        .filter(built_in)
        .map(|variable| (variable.id, variable))
        .collect()
}

/// Structs of built-in variables are blocks, at most one for inputs and one for outputs.
fn built_in_blocks(module: &mut Checked<'_>, index: &ModuleIndex, entry: &Item<'_>, all: &HashMap<u32, Located>) {
    let listed: BTreeSet<u32> = listed(entry).iter().copied().collect();
    let mut classes = HashSet::new();
    for variable in listed.iter().filter_map(|id| all.get(id)) {
        if index.decoration(variable.pointee, dec::BLOCK).is_none() {
            module.fail(
                "interface",
                entry,
                format!("%{} has built-in members and is not a block", variable.pointee),
            );
        }
        if !classes.insert(variable.class) {
            module.fail(
                "interface",
                entry,
                "two structs of built-in variables in one storage class",
            );
        }
    }
}
