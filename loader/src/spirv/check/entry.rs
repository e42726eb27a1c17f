//! Entry points and the code they reach: interfaces, execution modes, and model-specific features.

use super::models::{self, Models};
use super::{Checked, Item, applied, built_ins, limits, locations, meshes, modes, variables};
use crate::spirv::ids::Ids;
use crate::spirv::{Located, ModuleIndex, capability, class, decoration as dec, mode, op};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What each function uses, by function id.
struct Uses {
    calls: HashMap<u32, Vec<u32>>,
    globals: HashMap<u32, HashSet<u32>>,
    /// Each opcode with the position of its first instruction.
    opcodes: HashMap<u32, Vec<(u32, usize)>>,
    /// `OpSetMeshOutputsEXT` instructions.
    outputs: HashMap<u32, Vec<usize>>,
    /// Constants that are the size of a workgroup.
    sizes: HashSet<u32>,
    /// Values whose decorations the mode FPFastMathDefault excludes.
    strict: HashSet<u32>,
}

/// What a function and its callees use.
struct Reach {
    /// Global variables and their storage classes.
    globals: Vec<(u32, u32)>,
    /// The position of the first instruction of each opcode.
    opcodes: HashMap<u32, usize>,
    /// `OpSetMeshOutputsEXT` instructions.
    outputs: Vec<usize>,
    /// Constants that are the size of a workgroup.
    sizes: Vec<u32>,
    /// Values whose decorations the mode FPFastMathDefault excludes.
    strict: Vec<u32>,
    /// Whether these functions call each other in a cycle.
    recursive: bool,
}

pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex) {
    let uses = Uses::of(module);
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
    let variables = module.globals();
    for entry in entries {
        let reach = &*reach
            .entry(entry.word(2))
            .or_insert_with_key(|f| uses.reach(*f, &variables));
        interface(module, &entry, reach);
        workgroup_blocks(module, &entry);
        let of_default = modes
            .get(&entry.word(2))
            .is_some_and(|modes| modes.contains(&mode::FP_FAST_MATH_DEFAULT));
        if of_default && !reach.strict.is_empty() {
            let why = "the mode FPFastMathDefault excludes the decorations NoContraction and Fast";
            module.fail("execution-mode", &entry, why);
        }
        built_in_blocks(module, index, &entry, &structs);
        limits::check(module, &entry, &reach.opcodes, modes.get(&entry.word(2)));
        meshes::check(module, &entry, listed(&entry), &reach.globals, &reach.outputs, &named);
        if let Some(parameters) = &parameters {
            classes(module, &entry, reach);
            if reach.recursive {
                let why = "the functions of an entry point call each other in a cycle";
                module.fail("vulkan-recursion", &entry, why);
            }
            variables::resources(module, &entry, &reach.globals);
            variables::interpolation(module, &entry, listed(&entry));
            locations::check(module, &entry, listed(&entry), parameters);
            built_ins::check(module, &entry, listed(&entry), &reach.globals, &named);
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
    fn of(module: &Checked<'_>) -> Self {
        let mut uses = Self {
            calls: HashMap::new(),
            globals: HashMap::new(),
            opcodes: HashMap::new(),
            outputs: HashMap::new(),
            sizes: built_ins::workgroup_sizes(module).collect(),
            strict: applied::without_default(module).collect(),
        };
        let variables = module.globals();
        let marked = uses.sizes.iter().chain(&uses.strict).copied();
        let globals: HashSet<u32> = variables.iter().map(|variable| variable.id).chain(marked).collect();
        // Constants and variables that refer to another global variable count as uses of it.
        let mut through: HashMap<u32, Vec<u32>> = HashMap::new();
        let first = module.first_function.min(module.items.len());
        for item in &module.items[..first] {
            let of = item.opcode();
            if matches!(of, op::VARIABLE | op::UNTYPED_VARIABLE_KHR)
                || (op::CONSTANT_TRUE..=op::SPEC_CONSTANT_OP).contains(&of)
            {
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
            let mut note = |key: u32| {
                if !std::mem::replace(&mut listed[key as usize], true) {
                    opcodes.push((key, at));
                }
            };
            note(limits::key(module, item));
            limits::scopes(module, item).into_iter().flatten().for_each(note);
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
            if !uses.strict.is_empty() && uses.strict.contains(&item.result) {
                uses.globals.entry(function).or_default().insert(item.result);
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

    /// Whether functions that one reaches call each other in a cycle.
    fn recursive(&self, function: u32) -> bool {
        let calls = |of: u32| self.calls.get(&of).into_iter().flatten().copied();
        // The number of calls to each function that is reached.
        let mut callers: HashMap<u32, usize> = HashMap::from([(function, 0)]);
        let mut open = vec![function];
        while let Some(of) = open.pop() {
            for callee in calls(of) {
                let count = callers.entry(callee).or_insert_with(|| {
                    open.push(callee);
                    0
                });
                *count += 1;
            }
        }
        // Without a cycle, functions can be taken away one by one after all of their callers.
        let mut left = callers.len();
        open.extend(callers.get(&function).filter(|count| **count == 0).map(|_| function));
        while let Some(of) = open.pop() {
            left -= 1;
            for callee in calls(of) {
                if let Some(count) = callers.get_mut(&callee) {
                    *count -= 1;
                    if *count == 0 {
                        open.push(callee);
                    }
                }
            }
        }
        left > 0
    }

    /// What a function and its callees use.
    fn reach(&self, function: u32, variables: &[Located]) -> Reach {
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
        let classed = variables.iter().filter(|v| globals.contains(&v.id));
        Reach {
            globals: classed.map(|v| (v.id, v.class)).collect(),
            opcodes,
            outputs,
            sizes: self.sizes.intersection(&globals).copied().collect(),
            strict: self.strict.intersection(&globals).copied().collect(),
            recursive: self.recursive(function),
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

/// Storage classes that Vulkan limits to some execution models.
const CLASSES: [(u32, &str, Models); 8] = [
    (class::WORKGROUP, "Workgroup", models::GROUPS),
    (class::OUTPUT, "Output", !(models::COMPUTE | models::RAYS)),
    (
        class::CALLABLE_DATA,
        "CallableDataKHR",
        models::RAYGEN | models::CLOSEST_HIT | models::CALLABLE | models::MISS,
    ),
    (
        class::INCOMING_CALLABLE_DATA,
        "IncomingCallableDataKHR",
        models::CALLABLE,
    ),
    (
        class::RAY_PAYLOAD,
        "RayPayloadKHR",
        models::RAYGEN | models::CLOSEST_HIT | models::MISS,
    ),
    (
        class::INCOMING_RAY_PAYLOAD,
        "IncomingRayPayloadKHR",
        models::ANY_HIT | models::CLOSEST_HIT | models::MISS,
    ),
    (class::HIT_ATTRIBUTE, "HitAttributeKHR", models::HITS),
    (class::SHADER_RECORD_BUFFER, "ShaderRecordBufferKHR", models::RAYS),
];

/// Vulkan: the storage classes that an entry point's execution model has, and the size of a workgroup.
fn classes(module: &mut Checked<'_>, entry: &Item<'_>, reach: &Reach) {
    let of = models::set(entry.word(1));
    for (id, class) in &reach.globals {
        let row = CLASSES.iter().find(|row| row.0 == *class);
        if let Some((_, name, _)) = row.filter(|row| row.2 & of == 0) {
            let why = format!("%{id} is of the storage class {name}, which the execution model lacks");
            module.fail("vulkan-storage-class", entry, why);
        }
    }
    if !reach.sizes.is_empty() && models::GROUPS & of == 0 {
        module.fail("vulkan-built-in", entry, "the execution model has no WorkgroupSize");
    }
}

/// Variables of a workgroup with an explicit layout: all of them or none are blocks, and several of them alias.
fn workgroup_blocks(module: &mut Checked<'_>, entry: &Item<'_>) {
    let has = |capability: u32| module.capabilities.contains(&capability);
    if !has(capability::WORKGROUP_EXPLICIT_LAYOUT) || has(capability::UNTYPED_POINTERS) {
        return;
    }
    let (mut all, mut blocks, mut aliased) = (0, 0, 0);
    for id in listed(entry) {
        let variable = module.def(*id).filter(|item| item.opcode() == op::VARIABLE);
        let Some((class::WORKGROUP, ty)) = variable.and_then(|item| module.pointer(item.ty)) else {
            continue;
        };
        all += 1;
        blocks += u32::from(module.decorated(ty, dec::BLOCK));
        aliased += u32::from(module.decorated(*id, dec::ALIASED));
    }
    if blocks > 0 && blocks != all {
        module.fail(
            "interface",
            entry,
            "all variables of a workgroup are blocks, or none is",
        );
    } else if blocks > 1 && blocks != aliased {
        module.fail("interface", entry, "several blocks of a workgroup are Aliased");
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
