//! Entry points with all they reach: interfaces, execution modes, and what only some execution models may do.

use super::{Checked, Item};
use crate::spirv::{Located, ModuleIndex, class, decoration as dec, mode, model, op};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What each function uses, by the function's id.
struct Uses {
    calls: HashMap<u32, Vec<u32>>,
    globals: HashMap<u32, HashSet<u32>>,
    /// The first instruction of each opcode, as its place.
    opcodes: HashMap<u32, HashMap<u16, usize>>,
}

/// What a function and all it calls use.
struct Reach {
    /// Global variables with their storage classes.
    globals: Vec<(u32, u32)>,
    /// The first instruction of each opcode, as its place.
    opcodes: HashMap<u16, usize>,
}

pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex, vulkan: bool) {
    let uses = Uses::of(module, index);
    let entries: Vec<Item> = of_opcode(module, op::ENTRY_POINT);
    modes(module, &entries);
    let structs = built_in_structs(index);
    // Many entry points may be of one function.
    let mut reach: HashMap<u32, Reach> = HashMap::new();
    for entry in entries {
        let reach = &*reach.entry(entry.word(2)).or_insert_with_key(|f| uses.reach(*f, index));
        interface(module, &entry, reach);
        built_in_blocks(module, index, &entry, &structs);
        models(module, &entry, reach);
        if vulkan {
            shared(module, &entry, reach);
        }
    }
}

fn of_opcode<'a>(module: &Checked<'a>, opcode: u16) -> Vec<Item<'a>> {
    let all = module.items.iter();
    all.filter(|item| item.row.opcode as u16 == opcode).copied().collect()
}

/// Ids of an entry point's interface.
fn listed<'a>(entry: &Item<'a>) -> &'a [u32] {
    let name = entry
        .words
        .get(3..)
        .and_then(crate::spirv::operand::string_words)
        .unwrap_or(0);
    entry.words.get(3 + name..).unwrap_or(&[])
}

impl Uses {
    fn of(module: &Checked<'_>, index: &ModuleIndex) -> Self {
        let mut uses = Self {
            calls: HashMap::new(),
            globals: HashMap::new(),
            opcodes: HashMap::new(),
        };
        let globals: HashSet<u32> = index.variables().filter_map(|node| node.operand(1)).collect();
        // Constants and variables that name another global variable pass its use on.
        let mut through: HashMap<u32, Vec<u32>> = HashMap::new();
        let first = module.first_function.min(module.items.len());
        for item in &module.items[..first] {
            let of = item.row.opcode as u16;
            if of == op::VARIABLE || (op::CONSTANT_TRUE..=op::SPEC_CONSTANT_OP).contains(&of) {
                let mut named: Vec<u32> = item.args().iter().filter(|id| globals.contains(id)).copied().collect();
                named.extend(item.args().iter().filter_map(|id| through.get(id)).flatten());
                // Or a tower of composites would double it with every storey.
                named.sort_unstable();
                named.dedup();
                if !named.is_empty() {
                    through.insert(item.result, named);
                }
            }
        }
        let mut function = 0;
        for (at, item) in module.items.iter().enumerate().skip(first) {
            let of = item.row.opcode as u16;
            match of {
                op::FUNCTION => function = item.result,
                op::FUNCTION_CALL => uses.calls.entry(function).or_default().push(item.word(3)),
                _ => {}
            }
            uses.opcodes.entry(function).or_default().entry(of).or_insert(at);
            let used = uses.globals.entry(function).or_default();
            for id in crate::spirv::transform::id_operands(item.words) {
                used.extend(globals.get(&id));
                used.extend(through.get(&id).into_iter().flatten());
            }
        }
        uses
    }

    /// What a function and all it calls use.
    fn reach(&self, function: u32, index: &ModuleIndex) -> Reach {
        let (mut reached, mut open) = (HashSet::new(), vec![function]);
        let mut globals: HashSet<u32> = HashSet::new();
        let mut opcodes = HashMap::new();
        while let Some(function) = open.pop() {
            if reached.insert(function) {
                open.extend(self.calls.get(&function).into_iter().flatten());
                globals.extend(self.globals.get(&function).into_iter().flatten());
                for (opcode, at) in self.opcodes.get(&function).into_iter().flatten() {
                    opcodes.entry(*opcode).or_insert(*at);
                }
            }
        }
        let classed = index.globals().filter(|v| globals.contains(&v.id));
        Reach {
            globals: classed.map(|v| (v.id, v.class)).collect(),
            opcodes,
        }
    }
}

/// Every input and output that is used is listed; from 1.4 on every global variable.
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

/// Vulkan: only stages that run in workgroups share memory.
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

/// Variables that are structs with built-in members. Each type is looked at once, however many variables are of it.
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

/// Structs of built-in variables are blocks, one for inputs and one for outputs.
fn built_in_blocks(module: &mut Checked<'_>, index: &ModuleIndex, entry: &Item<'_>, all: &HashMap<u32, Located>) {
    let listed: BTreeSet<u32> = listed(entry).iter().copied().collect();
    let mut classes = HashSet::new();
    for variable in listed.iter().filter_map(|id| all.get(id)) {
        if index.decoration(variable.pointee, dec::BLOCK).is_none() {
            module.fail(
                "interface",
                entry,
                format!("%{} has built-in members and is no block", variable.pointee),
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

/// Execution modes by the models that may have them.
fn modes(module: &mut Checked<'_>, entries: &[Item<'_>]) {
    const TESSELLATION: &[u32] = &[model::TESSELLATION_CONTROL, model::TESSELLATION_EVALUATION];
    const MESH: &[u32] = &[model::MESH_NV, model::MESH_EXT];
    const ROWS: &[(&[u32], &[&[u32]])] = &[
        (
            &[
                mode::INVOCATIONS,
                mode::INPUT_POINTS,
                mode::INPUT_LINES,
                mode::INPUT_LINES_ADJACENCY,
                mode::INPUT_TRIANGLES_ADJACENCY,
                mode::OUTPUT_LINE_STRIP,
                mode::OUTPUT_TRIANGLE_STRIP,
            ],
            &[&[model::GEOMETRY]],
        ),
        (&[mode::OUTPUT_POINTS], &[&[model::GEOMETRY], MESH]),
        (
            &[
                mode::SPACING_EQUAL,
                mode::SPACING_FRACTIONAL_EVEN,
                mode::SPACING_FRACTIONAL_ODD,
                mode::VERTEX_ORDER_CW,
                mode::VERTEX_ORDER_CCW,
                mode::POINT_MODE,
                mode::QUADS,
                mode::ISOLINES,
            ],
            &[TESSELLATION],
        ),
        (&[mode::TRIANGLES], &[&[model::GEOMETRY], TESSELLATION]),
        (&[mode::OUTPUT_VERTICES], &[&[model::GEOMETRY], TESSELLATION, MESH]),
        (
            &[
                mode::OUTPUT_LINES_EXT,
                mode::OUTPUT_TRIANGLES_EXT,
                mode::OUTPUT_PRIMITIVES_EXT,
            ],
            &[MESH],
        ),
        (
            &[
                mode::PIXEL_CENTER_INTEGER,
                mode::ORIGIN_UPPER_LEFT,
                mode::ORIGIN_LOWER_LEFT,
                mode::EARLY_FRAGMENT_TESTS,
                mode::DEPTH_REPLACING,
                mode::DEPTH_GREATER,
                mode::DEPTH_LESS,
                mode::DEPTH_UNCHANGED,
            ],
            &[&[model::FRAGMENT]],
        ),
        (
            &[
                mode::LOCAL_SIZE_HINT,
                mode::VEC_TYPE_HINT,
                mode::CONTRACTION_OFF,
                mode::LOCAL_SIZE_HINT_ID,
            ],
            &[&[model::KERNEL]],
        ),
        (
            &[mode::LOCAL_SIZE, mode::LOCAL_SIZE_ID],
            &[
                &[model::KERNEL, model::GL_COMPUTE, model::TASK_NV, model::TASK_EXT],
                MESH,
            ],
        ),
    ];
    let mut models: HashMap<u32, HashSet<u32>> = HashMap::new();
    for entry in entries {
        models.entry(entry.word(2)).or_default().insert(entry.word(1));
    }
    let mut given: HashMap<u32, HashSet<u32>> = HashMap::new();
    for opcode in [op::EXECUTION_MODE, op::EXECUTION_MODE_ID] {
        for item in of_opcode(module, opcode) {
            let kind = item.word(2);
            given.entry(item.word(1)).or_default().insert(kind);
            let by_id = [
                mode::SUBGROUPS_PER_WORKGROUP_ID,
                mode::LOCAL_SIZE_ID,
                mode::LOCAL_SIZE_HINT_ID,
            ]
            .contains(&kind);
            if by_id != (opcode == op::EXECUTION_MODE_ID) {
                module.fail(
                    "execution-mode",
                    &item,
                    "the mode's operands are not what the instruction takes",
                );
            }
            let row = ROWS.iter().find(|row| row.0.contains(&kind));
            let allowed = |model: &u32| row.is_none_or(|row| row.1.iter().any(|models| models.contains(model)));
            if !models.get(&item.word(1)).into_iter().flatten().all(allowed) {
                module.fail(
                    "execution-mode",
                    &item,
                    "the mode is not of the entry point's execution model",
                );
            }
        }
    }
    for entry in entries {
        let have = |kinds: &[u32]| {
            let set = given.get(&entry.word(2));
            kinds
                .iter()
                .filter(|kind| set.is_some_and(|set| set.contains(kind)))
                .count()
        };
        let why = match entry.word(1) {
            model::MESH_EXT if have(&[mode::OUTPUT_PRIMITIVES_EXT, mode::OUTPUT_VERTICES]) != 2 => {
                "a mesh entry point needs OutputPrimitivesEXT and OutputVertices"
            }
            model::MESH_EXT
                if have(&[mode::OUTPUT_POINTS, mode::OUTPUT_LINES_EXT, mode::OUTPUT_TRIANGLES_EXT]) != 1 =>
            {
                "a mesh entry point has one kind of primitive"
            }
            model::TESSELLATION_CONTROL | model::TESSELLATION_EVALUATION
                if have(&[
                    mode::SPACING_EQUAL,
                    mode::SPACING_FRACTIONAL_EVEN,
                    mode::SPACING_FRACTIONAL_ODD,
                ]) > 1
                    || have(&[mode::TRIANGLES, mode::QUADS, mode::ISOLINES]) > 1
                    || have(&[mode::VERTEX_ORDER_CW, mode::VERTEX_ORDER_CCW]) > 1 =>
            {
                "execution modes exclude each other"
            }
            _ => continue,
        };
        module.fail("execution-mode", entry, why);
    }
}

/// Instructions that only some execution models know.
fn models(module: &mut Checked<'_>, entry: &Item<'_>, reach: &Reach) {
    let kind = entry.word(1);
    let used = |opcode: &u16| reach.opcodes.get(opcode).copied();
    let fragment: &[u16] = &[
        op::KILL,
        op::TERMINATE_INVOCATION,
        op::DEMOTE_TO_HELPER_INVOCATION,
        op::IS_HELPER_INVOCATION,
    ];
    let derivatives: Vec<u16> = (op::DPDX..=op::FWIDTH_COARSE)
        .chain([op::IMAGE_QUERY_LOD])
        .chain(IMPLICIT_LOD)
        .collect();
    let geometry: &[u16] = &[
        op::EMIT_VERTEX,
        op::END_PRIMITIVE,
        op::EMIT_STREAM_VERTEX,
        op::END_STREAM_PRIMITIVE,
    ];
    let rules: [(&[u16], &[u32]); 3] = [
        (fragment, &[model::FRAGMENT]),
        (&derivatives, &[model::FRAGMENT, model::GL_COMPUTE]),
        (geometry, &[model::GEOMETRY]),
    ];
    for (opcodes, allowed) in rules {
        // A kernel samples with implicit levels too.
        if allowed.contains(&kind) || kind == model::KERNEL {
            continue;
        }
        if let Some(at) = opcodes.iter().find_map(used) {
            let item = module.items[at];
            module.fail("execution-model", &item, format!("is not of execution model {kind}"));
        }
    }
}

/// Sampling that takes its level from derivatives.
const IMPLICIT_LOD: [u16; 8] = [
    op::FIRST_SAMPLING,
    op::IMAGE_SAMPLE_DREF_IMPLICIT_LOD,
    op::IMAGE_SAMPLE_PROJ_IMPLICIT_LOD,
    op::IMAGE_SAMPLE_PROJ_DREF_IMPLICIT_LOD,
    op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD,
    op::IMAGE_SPARSE_SAMPLE_DREF_IMPLICIT_LOD,
    op::IMAGE_SPARSE_SAMPLE_PROJ_IMPLICIT_LOD,
    op::IMAGE_SPARSE_SAMPLE_PROJ_DREF_IMPLICIT_LOD,
];
