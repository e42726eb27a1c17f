//! Entry points with all they reach: interfaces, execution modes, and what only some execution models may do.

use super::{Checked, Item};
use crate::spirv::{ModuleIndex, class, decoration as dec, mode, model, op};
use std::collections::{HashMap, HashSet};

/// What each function uses, by the function's id.
struct Uses {
    calls: HashMap<u32, Vec<u32>>,
    globals: HashMap<u32, HashSet<u32>>,
    /// The first instruction of each opcode, as its place.
    opcodes: HashMap<u32, HashMap<u16, usize>>,
}

pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex, vulkan: bool) {
    let uses = Uses::of(module, index);
    let entries: Vec<Item> = of_opcode(module, op::ENTRY_POINT);
    modes(module, &entries);
    for entry in entries {
        let reached = uses.reached(entry.word(2));
        interface(module, index, &entry, &uses, &reached);
        built_in_blocks(module, index, &entry);
        models(module, &entry, &uses, &reached);
        if vulkan {
            shared(module, index, &entry, &uses, &reached);
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

    /// A function and all it calls.
    fn reached(&self, function: u32) -> HashSet<u32> {
        let (mut reached, mut open) = (HashSet::new(), vec![function]);
        while let Some(function) = open.pop() {
            if reached.insert(function) {
                open.extend(self.calls.get(&function).into_iter().flatten());
            }
        }
        reached
    }
}

/// Every input and output that is used is listed; from 1.4 on every global variable.
fn interface(module: &mut Checked<'_>, index: &ModuleIndex, entry: &Item<'_>, uses: &Uses, reached: &HashSet<u32>) {
    let all = module.words[1] >= 0x10400;
    let listed: HashSet<u32> = listed(entry).iter().copied().collect();
    for variable in index.globals() {
        let counts = all || matches!(variable.class, class::INPUT | class::OUTPUT);
        let used = || {
            reached
                .iter()
                .any(|f| uses.globals.get(f).is_some_and(|g| g.contains(&variable.id)))
        };
        if counts && !listed.contains(&variable.id) && used() {
            module.fail("interface", entry, format!("%{} is used and not listed", variable.id));
        }
    }
}

/// Vulkan: only stages that run in workgroups share memory.
fn shared(module: &mut Checked<'_>, index: &ModuleIndex, entry: &Item<'_>, uses: &Uses, reached: &HashSet<u32>) {
    const WORKGROUPS: [u32; 5] = [
        model::GL_COMPUTE,
        model::TASK_NV,
        model::MESH_NV,
        model::TASK_EXT,
        model::MESH_EXT,
    ];
    for variable in index.globals().filter(|v| v.class == class::WORKGROUP) {
        let used = || {
            reached
                .iter()
                .any(|f| uses.globals.get(f).is_some_and(|g| g.contains(&variable.id)))
        };
        if !WORKGROUPS.contains(&entry.word(1)) && used() {
            module.fail("vulkan-workgroup", entry, format!("%{} is of a workgroup", variable.id));
        }
    }
}

/// Structs of built-in variables are blocks, one for inputs and one for outputs.
fn built_in_blocks(module: &mut Checked<'_>, index: &ModuleIndex, entry: &Item<'_>) {
    let listed: HashSet<u32> = listed(entry).iter().copied().collect();
    let mut count = HashMap::new();
    for variable in index.globals().filter(|v| listed.contains(&v.id)) {
        let members = index
            .members(variable.pointee)
            .map_or(0, |members| members.len() as u32);
        let built_in = (0..members).any(|m| index.member_decoration(variable.pointee, m, dec::BUILT_IN).is_some());
        if built_in && index.decoration(variable.pointee, dec::BLOCK).is_none() {
            module.fail(
                "interface",
                entry,
                format!("%{} has built-in members and is no block", variable.pointee),
            );
        }
        if built_in {
            let count = count.entry(variable.class).or_insert(0);
            *count += 1;
            if *count > 1 {
                module.fail(
                    "interface",
                    entry,
                    "two structs of built-in variables in one storage class",
                );
            }
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
    let models: HashMap<u32, Vec<u32>> = entries.iter().fold(HashMap::new(), |mut all, entry| {
        all.entry(entry.word(2)).or_insert_with(Vec::new).push(entry.word(1));
        all
    });
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
fn models(module: &mut Checked<'_>, entry: &Item<'_>, uses: &Uses, reached: &HashSet<u32>) {
    let kind = entry.word(1);
    let used = |opcode: &u16| reached.iter().find_map(|f| uses.opcodes.get(f)?.get(opcode).copied());
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
