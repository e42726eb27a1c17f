//! Execution modes: allowed models, exclusions and requirements.

use super::form::{Base, Why, when};
use super::{Checked, Item, applied};
use crate::spirv::{capability, mode, model, op};
use std::collections::{HashMap, HashSet};

const TESSELLATION: &[u32] = &[model::TESSELLATION_CONTROL, model::TESSELLATION_EVALUATION];
const MESH: &[u32] = &[model::MESH_NV, model::MESH_EXT];

/// Pixel, sample and shading rate interlocks, ordered and unordered.
pub(super) const INTERLOCKS: [u32; 6] = [5366, 5367, 5368, 5369, 5370, 5371];

/// Reads of colour, depth and stencil attachments without coherence.
const NON_COHERENT: [u32; 3] = [4169, 4170, 4171];

/// Stencil reference modes: unchanged, greater, less.
const STENCIL_FRONT: [u32; 3] = [5079, 5080, 5081];
const STENCIL_BACK: [u32; 3] = [5082, 5083, 5084];

/// Modes with their models.
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
            mode::EARLY_AND_LATE_FRAGMENT_TESTS,
        ],
        &[&[model::FRAGMENT]],
    ),
    (&INTERLOCKS, &[&[model::FRAGMENT]]),
    (&NON_COHERENT, &[&[model::FRAGMENT]]),
    (&STENCIL_FRONT, &[&[model::FRAGMENT]]),
    (&STENCIL_BACK, &[&[model::FRAGMENT]]),
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

/// Models with exclusive modes, and the least and largest number of them.
type Exclusive = (
    &'static [u32],
    &'static [u32],
    std::ops::RangeInclusive<usize>,
    &'static str,
);

const EXCLUSIVE: &[Exclusive] = &[
    (
        &[model::FRAGMENT],
        &[mode::ORIGIN_UPPER_LEFT, mode::ORIGIN_LOWER_LEFT],
        1..=1,
        "a fragment entry point needs OriginUpperLeft or OriginLowerLeft",
    ),
    (
        &[model::FRAGMENT],
        &[mode::DEPTH_GREATER, mode::DEPTH_LESS, mode::DEPTH_UNCHANGED],
        0..=1,
        "the depth is greater, less or unchanged",
    ),
    (&[model::FRAGMENT], &INTERLOCKS, 0..=1, "there is one kind of interlock"),
    (
        &[model::FRAGMENT],
        &STENCIL_FRONT,
        0..=1,
        "the front stencil is greater, less or unchanged",
    ),
    (
        &[model::FRAGMENT],
        &STENCIL_BACK,
        0..=1,
        "the back stencil is greater, less or unchanged",
    ),
    (
        TESSELLATION,
        &[
            mode::SPACING_EQUAL,
            mode::SPACING_FRACTIONAL_EVEN,
            mode::SPACING_FRACTIONAL_ODD,
        ],
        0..=1,
        "there is one kind of spacing",
    ),
    (
        TESSELLATION,
        &[mode::TRIANGLES, mode::QUADS, mode::ISOLINES],
        0..=1,
        "there is one kind of primitive",
    ),
    (
        TESSELLATION,
        &[mode::VERTEX_ORDER_CW, mode::VERTEX_ORDER_CCW],
        0..=1,
        "there is one order of vertices",
    ),
    (
        &[model::GEOMETRY],
        &[
            mode::INPUT_POINTS,
            mode::INPUT_LINES,
            mode::INPUT_LINES_ADJACENCY,
            mode::TRIANGLES,
            mode::INPUT_TRIANGLES_ADJACENCY,
        ],
        1..=1,
        "a geometry entry point has one kind of input",
    ),
    (
        &[model::GEOMETRY],
        &[
            mode::OUTPUT_POINTS,
            mode::OUTPUT_LINE_STRIP,
            mode::OUTPUT_TRIANGLE_STRIP,
        ],
        1..=1,
        "a geometry entry point has one kind of output",
    ),
    (
        &[model::MESH_EXT],
        &[mode::OUTPUT_POINTS, mode::OUTPUT_LINES_EXT, mode::OUTPUT_TRIANGLES_EXT],
        1..=1,
        "a mesh entry point has one kind of primitive",
    ),
    (
        &[model::MESH_EXT],
        &[mode::OUTPUT_PRIMITIVES_EXT, mode::OUTPUT_VERTICES],
        2..=2,
        "a mesh entry point needs OutputPrimitivesEXT and OutputVertices",
    ),
];

/// Checks the modes of all entry points; returns them by the entry point's function.
pub(super) fn check(module: &mut Checked<'_>, entries: &[Item<'_>]) -> HashMap<u32, HashSet<u32>> {
    let mut models: HashMap<u32, HashSet<u32>> = HashMap::new();
    for entry in entries {
        models.entry(entry.word(2)).or_default().insert(entry.word(1));
    }
    let mut given: HashMap<u32, HashSet<u32>> = HashMap::new();
    let mut once = HashSet::new();
    for opcode in [op::EXECUTION_MODE, op::EXECUTION_MODE_ID] {
        let items: Vec<Item> = module
            .items
            .iter()
            .filter(|item| item.opcode() == opcode)
            .copied()
            .collect();
        for item in items {
            let kind = item.word(2);
            if opcode == op::EXECUTION_MODE || kind == mode::FP_FAST_MATH_DEFAULT {
                given.entry(item.word(1)).or_default().insert(kind);
            }
            // Modes of floats are given for each width or type.
            let width = BY_WIDTH.contains(&kind).then(|| item.word(3));
            if !once.insert((item.word(1), kind, width)) {
                // SPIRV-Tools of 2023 accepts the others.
                let why = "the entry point has the mode twice";
                match kind {
                    mode::FP_FAST_MATH_DEFAULT => module.fail("execution-mode", &item, why),
                    _ => module.warn("execution-mode", &item, why),
                }
            }
            let by_id = module.has_ids("ExecutionMode", kind);
            // Without operands, the two instructions are equivalent.
            if by_id != (opcode == op::EXECUTION_MODE_ID) && (by_id || item.words.len() > 3) {
                module.fail(
                    "execution-mode",
                    &item,
                    "the mode's operands do not match the instruction",
                );
            }
            let fast = kind == mode::FP_FAST_MATH_DEFAULT;
            if opcode == op::EXECUTION_MODE_ID && fast {
                if let Some(why) = fast_math(module, &item) {
                    module.fail("execution-mode", &item, why);
                }
            } else if opcode == op::EXECUTION_MODE_ID
                && by_id
                && !item.words[3..].iter().all(|id| constant(module, *id))
            {
                module.fail("execution-mode", &item, "the mode's operands are constants");
            }
            if let Some(version) = module.vulkan {
                let why = match kind {
                    mode::LOCAL_SIZE_ID if version < 0x10300 => Some("LocalSizeId needs Vulkan 1.3"),
                    mode::ORIGIN_LOWER_LEFT => Some("Vulkan's origin is upper left"),
                    mode::PIXEL_CENTER_INTEGER => Some("Vulkan's pixels have no integer centres"),
                    _ => None,
                };
                if let Some(why) = why {
                    module.fail("vulkan-mode", &item, why);
                }
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
    for entry in entries.iter().filter(|_| module.shader).copied().collect::<Vec<_>>() {
        let set = given.get(&entry.word(2));
        let count = |kinds: &[u32]| {
            kinds
                .iter()
                .filter(|kind| set.is_some_and(|set| set.contains(kind)))
                .count()
        };
        for (models, kinds, much, why) in EXCLUSIVE {
            if models.contains(&entry.word(1)) && !much.contains(&count(kinds)) {
                module.fail("execution-mode", &entry, *why);
            }
        }
    }
    for entry in entries {
        let set = given.get(&entry.word(2));
        let has = |kind: &u32| set.is_some_and(|set| set.contains(kind));
        let others = [mode::CONTRACTION_OFF, mode::SIGNED_ZERO_INF_NAN_PRESERVE];
        if has(&mode::FP_FAST_MATH_DEFAULT) && others.iter().any(has) {
            let why = "FPFastMathDefault excludes ContractionOff and SignedZeroInfNanPreserve";
            module.fail("execution-mode", entry, why);
        }
    }
    memory_model(module, entries);
    given
}

/// Modes that an entry point may have several times: of floats by their width or type.
const BY_WIDTH: [u32; 10] = [
    4459, // DenormPreserve
    4460, // DenormFlushToZero
    mode::SIGNED_ZERO_INF_NAN_PRESERVE,
    4462, // RoundingModeRTE
    4463, // RoundingModeRTZ
    5620, // RoundingModeRTPINTEL
    5621, // RoundingModeRTNINTEL
    5622, // FloatingPointModeALTINTEL
    5623, // FloatingPointModeIEEEINTEL
    mode::FP_FAST_MATH_DEFAULT,
];

/// Whether an id is a constant; names of nodes are strings.
fn constant(module: &Checked<'_>, id: u32) -> bool {
    let text = module.def(id).is_some_and(|item| item.name() == "ConstantStringAMDX");
    text || module.is_constant(id)
}

/// The operands of FPFastMathDefault: a float type, and bits that are known.
fn fast_math(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let bits = module.known_word(item.word(4));
    when(
        !module.is_type(item.word(3)) || !module.form(item.word(3)).scalar(Base::Float),
        "the mode's type is not a float",
    )
    .or_else(|| when(bits.is_none(), "the mode's bits are not a constant 32-bit integer"))
    .or_else(|| {
        let bits = bits?;
        when(bits & !FAST_MATH != 0, "the mode's bits are not those of a default").or_else(|| applied::transforms(bits))
    })
}

/// Bits of FPFastMathMode that a default may have: all but Fast.
const FAST_MATH: u32 = 0x7000f;

/// Mutual requirements of the memory model and the entry points.
fn memory_model(module: &mut Checked<'_>, entries: &[Item<'_>]) {
    /// The Vulkan memory model.
    const VULKAN: u32 = 3;
    let has = |any: &[u32]| entries.iter().any(|entry| any.contains(&entry.word(1)));
    let mixed = has(&[model::TASK_NV, model::MESH_NV]) && has(&[model::TASK_EXT, model::MESH_EXT]);
    let declared = module.capabilities.contains(&capability::VULKAN_MEMORY_MODEL);
    if let Some(item) = module
        .items
        .iter()
        .find(|item| item.opcode() == op::MEMORY_MODEL)
        .copied()
    {
        if declared && module.memory_model != VULKAN {
            module.fail(
                "memory-model",
                &item,
                "the capability VulkanMemoryModel requires that model",
            );
        }
        // Logical and PhysicalStorageBuffer64.
        if module.vulkan.is_some() && !matches!(module.addressing, 0 | 5348) {
            module.fail("memory-model", &item, "Vulkan does not have this addressing model");
        }
        if mixed {
            module.fail("memory-model", &item, "meshes are of one extension in a module");
        }
    }
}
