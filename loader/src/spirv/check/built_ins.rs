//! Vulkan's built-in variables: execution models, storage classes and type of each, and that an entry point has each
//! once.

use super::form::{Base, Form};
use super::models::*;
use super::{Checked, Given, Item};
use crate::spirv::{capability, class, decoration as dec, mode, model, op};
use std::collections::{HashMap, HashSet};

/// The type of a built-in variable, per vertex or primitive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    One(Form),
    /// An integer of any width.
    Integer,
    /// An array, of this length if given.
    Array(Form, Option<u32>),
    /// A matrix of four columns of three floats.
    Matrix,
}

const BOOL: Type = Type::One(Form {
    base: Base::Bool,
    width: 1,
    count: 1,
});
const INT: Type = ints(1);
const FLOAT: Type = floats(1);

const fn ints(count: u32) -> Type {
    Type::One(Form::WORD.times(count))
}

const fn floats(count: u32) -> Type {
    Type::One(Form::FLOAT.times(count))
}

const fn array(form: Form) -> Type {
    Type::Array(form, None)
}

/// A built-in variable: number, models that read it, models that write it, type.
type Row = (u32, Models, Models, Type);

const POSITIONS: Models = CONTROL | EVALUATION | GEOMETRY;

const ROWS: &[Row] = &[
    (POSITION, POSITIONS, VERTEX | POSITIONS | MESH, floats(4)),
    (POINT_SIZE, POSITIONS, VERTEX | POSITIONS | MESH, FLOAT),
    (
        CLIP_DISTANCE,
        POSITIONS | FRAGMENT,
        VERTEX | POSITIONS | MESH,
        array(Form::FLOAT),
    ),
    (
        CULL_DISTANCE,
        POSITIONS | FRAGMENT,
        VERTEX | POSITIONS | MESH,
        array(Form::FLOAT),
    ),
    (5, 0, 0, INT),    // VertexId
    (6, HITS, 0, INT), // InstanceId
    (PRIMITIVE_ID, POSITIONS | FRAGMENT | HITS, GEOMETRY | MESH, INT),
    (8, CONTROL | GEOMETRY, 0, INT), // InvocationId
    (LAYER, FRAGMENT, VERTEX | EVALUATION | GEOMETRY | MESH, INT),
    (VIEWPORT_INDEX, FRAGMENT, VERTEX | EVALUATION | GEOMETRY | MESH, INT),
    (TESS_LEVEL_OUTER, EVALUATION, CONTROL, Type::Array(Form::FLOAT, Some(4))),
    (TESS_LEVEL_INNER, EVALUATION, CONTROL, Type::Array(Form::FLOAT, Some(2))),
    (13, EVALUATION, 0, floats(3)),              // TessCoord
    (14, CONTROL | EVALUATION, 0, INT),          // PatchVertices
    (15, FRAGMENT, 0, floats(4)),                // FragCoord
    (16, FRAGMENT, 0, floats(2)),                // PointCoord
    (17, FRAGMENT, 0, BOOL),                     // FrontFacing
    (18, FRAGMENT, 0, INT),                      // SampleId
    (19, FRAGMENT, 0, floats(2)),                // SamplePosition
    (20, FRAGMENT, FRAGMENT, array(Form::WORD)), // SampleMask
    (FRAG_DEPTH, 0, FRAGMENT, FLOAT),
    (23, FRAGMENT, 0, BOOL),  // HelperInvocation
    (24, GROUPS, 0, ints(3)), // NumWorkgroups
    (26, GROUPS, 0, ints(3)), // WorkgroupId
    (27, GROUPS, 0, ints(3)), // LocalInvocationId
    (28, GROUPS, 0, ints(3)), // GlobalInvocationId
    (29, GROUPS, 0, INT),     // LocalInvocationIndex
    (SUBGROUP_SIZE, ANY, 0, INT),
    (NUM_SUBGROUPS, GROUPS, 0, INT),
    (SUBGROUP_ID, GROUPS, 0, INT),
    (SUBGROUP_INVOCATION, ANY, 0, INT),
    (42, VERTEX, 0, INT),                               // VertexIndex
    (43, VERTEX, 0, INT),                               // InstanceIndex
    (4160, ANY, 0, INT),                                // CoreIDARM
    (4161, ANY, 0, INT),                                // CoreCountARM
    (4162, ANY, 0, INT),                                // CoreMaxIDARM
    (4163, ANY, 0, INT),                                // WarpIDARM
    (4164, ANY, 0, INT),                                // WarpMaxIDARM
    (4416, ANY, 0, ints(4)),                            // SubgroupEqMask
    (4417, ANY, 0, ints(4)),                            // SubgroupGeMask
    (4418, ANY, 0, ints(4)),                            // SubgroupGtMask
    (4419, ANY, 0, ints(4)),                            // SubgroupLeMask
    (4420, ANY, 0, ints(4)),                            // SubgroupLtMask
    (4424, VERTEX, 0, INT),                             // BaseVertex
    (4425, VERTEX, 0, INT),                             // BaseInstance
    (4426, VERTEX | TASK_NV | TASK_EXT | MESH, 0, INT), // DrawIndex
    (SHADING_RATE, 0, VERTEX | GEOMETRY | MESH, INT),
    (4438, ANY, 0, INT),                     // DeviceIndex
    (4440, ANY & !(COMPUTE | RAYS), 0, INT), // ViewIndex
    (4444, FRAGMENT, 0, INT),                // ShadingRateKHR
    (5014, 0, FRAGMENT, Type::Integer),      // FragStencilRefEXT
    (5264, FRAGMENT, 0, BOOL),               // FullyCoveredEXT
    (5286, FRAGMENT, 0, floats(3)),          // BaryCoordKHR
    (5287, FRAGMENT, 0, floats(3)),          // BaryCoordNoPerspKHR
    (5292, FRAGMENT, 0, ints(2)),            // FragSizeEXT
    (5293, FRAGMENT, 0, INT),                // FragInvocationCountEXT
    (POINT_INDICES, 0, MESH_EXT, INT),
    (LINE_INDICES, 0, MESH_EXT, ints(2)),
    (TRIANGLE_INDICES, 0, MESH_EXT, ints(3)),
    (CULL_PRIMITIVE, 0, MESH_EXT, BOOL),
    (5319, RAYS, 0, ints(3)),                // LaunchIdKHR
    (5320, RAYS, 0, ints(3)),                // LaunchSizeKHR
    (5321, HITS | MISS, 0, floats(3)),       // WorldRayOriginKHR
    (5322, HITS | MISS, 0, floats(3)),       // WorldRayDirectionKHR
    (5323, HITS, 0, floats(3)),              // ObjectRayOriginKHR
    (5324, HITS, 0, floats(3)),              // ObjectRayDirectionKHR
    (5325, HITS | MISS, 0, FLOAT),           // RayTminKHR
    (5326, HITS | MISS, 0, FLOAT),           // RayTmaxKHR
    (5327, HITS, 0, INT),                    // InstanceCustomIndexKHR
    (5330, HITS, 0, Type::Matrix),           // ObjectToWorldKHR
    (5331, HITS, 0, Type::Matrix),           // WorldToObjectKHR
    (5332, ANY_HIT | CLOSEST_HIT, 0, FLOAT), // HitTNV
    (5333, ANY_HIT | CLOSEST_HIT, 0, INT),   // HitKindKHR
    (5351, HITS | MISS, 0, INT),             // IncomingRayFlagsKHR
    (5352, HITS, 0, INT),                    // RayGeometryIndexKHR
    (5374, ANY, 0, INT),                     // WarpsPerSMNV
    (5375, ANY, 0, INT),                     // SMCountNV
    (5376, ANY, 0, INT),                     // WarpIDNV
    (5377, ANY, 0, INT),                     // SMIDNV
    (6021, HITS | MISS, 0, INT),             // CullMaskKHR
];

const POSITION: u32 = 0;
const POINT_SIZE: u32 = 1;
const CLIP_DISTANCE: u32 = 3;
const CULL_DISTANCE: u32 = 4;
const PRIMITIVE_ID: u32 = 7;
const LAYER: u32 = 9;
const VIEWPORT_INDEX: u32 = 10;
const TESS_LEVEL_OUTER: u32 = 11;
const TESS_LEVEL_INNER: u32 = 12;
const FRAG_DEPTH: u32 = 22;
const SUBGROUP_SIZE: u32 = 36;
const NUM_SUBGROUPS: u32 = 38;
const SUBGROUP_ID: u32 = 40;
const SUBGROUP_INVOCATION: u32 = 41;
const SHADING_RATE: u32 = 4432;
const POINT_INDICES: u32 = 5294;
const LINE_INDICES: u32 = 5295;
const TRIANGLE_INDICES: u32 = 5296;
const CULL_PRIMITIVE: u32 = 5299;

/// Per-primitive outputs of a mesh, which are decorated PerPrimitiveEXT.
const OF_PRIMITIVES: [u32; 5] = [PRIMITIVE_ID, LAYER, VIEWPORT_INDEX, SHADING_RATE, CULL_PRIMITIVE];

/// Indices of a mesh's primitives, with the execution mode of the primitive type.
const INDICES: [(u32, u32); 3] = [
    (POINT_INDICES, mode::OUTPUT_POINTS),
    (LINE_INDICES, mode::OUTPUT_LINES_EXT),
    (TRIANGLE_INDICES, mode::OUTPUT_TRIANGLES_EXT),
];

/// Built-in variables that must not be struct members.
const ALONE: std::ops::RangeInclusive<u32> = 4416..=4420;

/// A module's built-in variables and execution modes.
pub(super) struct Named {
    /// Built-in variables by id and member.
    of: HashMap<(u32, Option<u32>), u32>,
    /// The first literal of execution modes, by function and mode.
    modes: HashMap<(u32, u32), u32>,
}

impl Named {
    pub(super) fn new(module: &Checked<'_>) -> Self {
        let named = module.given.iter().filter(|given| given.kind == dec::BUILT_IN);
        let number = |given: &Given| module.items[given.at].words.last().copied().unwrap_or(u32::MAX);
        let modes = module.items.iter().filter(|item| item.opcode() == op::EXECUTION_MODE);
        Self {
            modes: modes.map(|item| ((item.word(1), item.word(2)), item.word(3))).collect(),
            of: named
                .map(|given| ((given.target, given.member), number(given)))
                .collect(),
        }
    }

    /// A mode's literal, 0 if it has none; `None` if the entry point does not have the mode.
    pub(super) fn mode(&self, entry: &Item<'_>, mode: u32) -> Option<u32> {
        self.modes.get(&(entry.word(2), mode)).copied()
    }

    fn of(&self, id: u32, member: Option<u32>) -> Option<u32> {
        self.of.get(&(id, member)).copied()
    }
}

/// The constant with the size of a workgroup.
pub(super) const WORKGROUP_SIZE: u32 = 25;

/// The constants with the size of a workgroup.
pub(super) fn workgroup_sizes(module: &Checked<'_>) -> impl Iterator<Item = u32> {
    let named = module.given.iter().filter(|given| given.kind == dec::BUILT_IN);
    named
        .filter(|given| module.items[given.at].words.last() == Some(&WORKGROUP_SIZE))
        .map(|given| given.target)
}

/// Built-in variables that must not be members.
pub(super) fn members(module: &mut Checked<'_>, named: &Named) {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for ((id, member), built_in) in &named.of {
        let alone = matches!(
            *built_in,
            SUBGROUP_SIZE | NUM_SUBGROUPS | SUBGROUP_ID | SUBGROUP_INVOCATION
        ) || ALONE.contains(built_in);
        if member.is_some() && alone {
            found.push((*id, *built_in));
        }
    }
    found.sort_unstable();
    for (id, built_in) in found {
        if let Some(item) = module.def(id) {
            let name = name(module, built_in);
            module.fail("built-in", &item, format!("{name} is not a member of a struct"));
        }
    }
}

fn name(module: &Checked<'_>, built_in: u32) -> String {
    let row = module.grammar.kind_of("BuiltIn").and_then(|kind| kind.value(built_in));
    row.map_or_else(|| built_in.to_string(), |row| row.name.to_string())
}

/// Checks the variables that an entry point lists or uses.
pub(super) fn check(module: &mut Checked<'_>, entry: &Item<'_>, listed: &[u32], used: &[(u32, u32)], named: &Named) {
    let mut seen: HashMap<(u32, u32), u32> = HashMap::new();
    let used: HashSet<u32> = used.iter().map(|(id, _)| *id).collect();
    let mut variables = listed.to_vec();
    variables.extend(&used);
    variables.sort_unstable();
    variables.dedup();
    for id in variables {
        let written = used.contains(&id);
        let Some(item) = module.def(id).filter(|item| item.opcode() == op::VARIABLE) else {
            continue;
        };
        let Some((class, pointee)) = module.pointer(item.ty) else {
            continue;
        };
        let mut uses = Vec::new();
        let (ty, count) = one(module, entry.word(1), &item, class, pointee);
        if let Some(built_in) = named.of(id, None) {
            let per_vertex = matches!(shape(built_in), Some(Type::Array(..))) && module.opcode(ty) != op::TYPE_ARRAY;
            // An array that belongs to the built-in itself is not an array over vertices.
            let (ty, count) = if per_vertex { (pointee, None) } else { (ty, count) };
            uses.push((built_in, ty, None, count));
        } else if let Some(of) = module.def(ty).filter(|of| of.opcode() == op::TYPE_STRUCT) {
            for (member, member_ty) in (0u32..).zip(of.args()) {
                if let Some(built_in) = named.of(ty, Some(member)) {
                    uses.push((built_in, *member_ty, Some(member), count));
                }
            }
        }
        for (built_in, member_ty, member, count) in uses {
            let owner = if member.is_some() { ty } else { id };
            let given = Use {
                built_in,
                class,
                ty: member_ty,
                count,
                patch: [dec::PATCH, PER_PRIMITIVE].map(|kind| [id, owner].iter().any(|id| module.decorated(*id, kind))),
                block: member.is_none() || module.decorated(ty, dec::BLOCK),
                written,
            };
            let twice = seen.insert((class, built_in), id).is_some();
            let why = given.wrong(module, entry, named).or_else(|| {
                let shared = matches!(class, class::INPUT | class::OUTPUT);
                (twice && shared).then(|| "the entry point has it twice".to_owned())
            });
            if let Some(why) = why {
                let name = name(module, built_in);
                module.fail("vulkan-built-in", &item, format!("{name}: {why}"));
            }
        }
    }
}

/// `PerPrimitiveEXT`.
pub(super) const PER_PRIMITIVE: u32 = 5271;

/// One vertex's or primitive's share of a variable's type, and the length of the array over these.
fn one(module: &Checked<'_>, of: u32, item: &Item<'_>, class: u32, ty: u32) -> (u32, Option<u32>) {
    let patch = module.decorated(item.result, dec::PATCH);
    let output = class == class::OUTPUT;
    let arrayed = match of {
        model::TESSELLATION_CONTROL => !patch,
        model::TESSELLATION_EVALUATION => !output && !patch,
        model::GEOMETRY => !output,
        model::MESH_EXT | model::MESH_NV => output,
        model::FRAGMENT => !output && module.decorated(item.result, dec::PER_VERTEX),
        _ => false,
    };
    match module.def(ty) {
        Some(array) if arrayed && matches!(array.opcode(), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) => {
            (array.word(2), module.known_word(array.word(3)))
        }
        _ => (ty, None),
    }
}

fn shape(built_in: u32) -> Option<Type> {
    ROWS.iter().find(|row| row.0 == built_in).map(|row| row.3)
}

/// An entry point's use of a built-in variable.
struct Use {
    built_in: u32,
    class: u32,
    ty: u32,
    /// The number of vertices or primitives.
    count: Option<u32>,
    /// Whether it is decorated Patch, and PerPrimitiveEXT.
    patch: [bool; 2],
    /// Whether it is a member of a struct that is not a block, or no member.
    block: bool,
    /// Whether the entry point's functions use it.
    written: bool,
}

impl Use {
    fn wrong(&self, module: &Checked<'_>, entry: &Item<'_>, named: &Named) -> Option<String> {
        let of = entry.word(1);
        let (_, reads, writes, ty) = ROWS.iter().find(|row| row.0 == self.built_in)?;
        let models = match self.class {
            class::INPUT => reads,
            class::OUTPUT => writes,
            _ => &0,
        };
        let one = |text: &str| Some(text.to_owned());
        if !matches!(self.class, class::INPUT | class::OUTPUT) || set(of) & models == 0 {
            return one("the execution model has none in this storage class");
        }
        let arrayed = matches!(self.built_in, CLIP_DISTANCE | CULL_DISTANCE) && of != model::FRAGMENT;
        let element = |ty: u32| {
            module
                .def(ty)
                .filter(|of| of.opcode() == op::TYPE_ARRAY)
                .map_or(0, |of| of.word(2))
        };
        let own = fits(module, *ty, self.ty) || arrayed && fits(module, *ty, element(self.ty));
        if !own {
            return one("has another type");
        }
        let lanes = match self.built_in {
            LAYER => &[capability::SHADER_VIEWPORT_INDEX_LAYER_EXT, capability::SHADER_LAYER],
            VIEWPORT_INDEX => &[
                capability::SHADER_VIEWPORT_INDEX_LAYER_EXT,
                capability::SHADER_VIEWPORT_INDEX,
            ],
            _ => &[][..],
        };
        let early = matches!(of, model::VERTEX | model::TESSELLATION_EVALUATION);
        if early && !lanes.is_empty() && !lanes.iter().any(|any| module.capabilities.contains(any)) {
            return one("vertex and tessellation shaders need a capability to write it");
        }
        if self.built_in == FRAG_DEPTH && self.written && named.mode(entry, mode::DEPTH_REPLACING).is_none() {
            return one("needs the execution mode DepthReplacing");
        }
        if !self.block {
            return one("is a member of a struct that is not a Block");
        }
        if matches!(self.built_in, TESS_LEVEL_INNER | TESS_LEVEL_OUTER) && !self.patch[0] {
            return one("must be Patch");
        }
        if of != model::MESH_EXT {
            return None;
        }
        let indices = INDICES.iter().find(|row| row.0 == self.built_in);
        if let Some((_, kind)) = indices
            && named.mode(entry, *kind).is_none()
        {
            return one("the entry point has other primitives");
        }
        let of_primitives = OF_PRIMITIVES.contains(&self.built_in);
        if of_primitives && !self.patch[1] {
            return one("must be PerPrimitiveEXT");
        }
        match (self.count, named.mode(entry, mode::OUTPUT_PRIMITIVES_EXT)) {
            (Some(count), Some(wanted)) if (of_primitives || indices.is_some()) && count != wanted => {
                Some(format!("is an array of {count}, OutputPrimitivesEXT is {wanted}"))
            }
            _ => None,
        }
    }
}

/// Whether a type is the expected one, ignoring the sign of integers.
fn fits(module: &Checked<'_>, want: Type, ty: u32) -> bool {
    match want {
        Type::One(form) => module.form(ty) == form,
        Type::Integer => module.form(ty).scalar(Base::Int),
        Type::Array(form, count) => module.def(ty).is_some_and(|array| {
            let length = module.known_word(array.word(3));
            array.opcode() == op::TYPE_ARRAY
                && module.form(array.word(2)) == form
                && (count.is_none() || length.is_none() || count == length)
        }),
        Type::Matrix => module.def(ty).is_some_and(|of| {
            of.opcode() == op::TYPE_MATRIX && of.word(3) == 4 && module.form(of.word(2)) == Form::FLOAT.times(3)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::ROWS;
    use crate::spirv::Grammar;
    use std::collections::HashSet;

    #[test]
    fn each_row_is_a_built_in_variable_of_its_own() {
        let kind = Grammar::builtin().kind_of("BuiltIn").unwrap();
        let mut seen = HashSet::new();
        for (number, ..) in ROWS {
            assert!(kind.value(*number).is_some() && seen.insert(number), "{number}");
        }
    }
}
