//! Vulkan's rules beyond SPIR-V's: capabilities, blocks and their layouts, places of resources.

use super::form::Form;
use super::{Checked, built_ins, chains, explicit, variables};
use crate::spirv::{ModuleIndex, TargetEnv, capability, class, decoration as dec, mode, model, op};
use std::collections::{HashMap, HashSet};

/// Limit on the nesting of types.
const MAX_DEPTH: u32 = 32;

/// Capabilities introduced by a version of Vulkan. Others come with extensions.
const CAPABILITIES: [(u32, &[&str]); 3] = [
    (
        0x10000,
        &[
            "Matrix",
            "Shader",
            "InputAttachment",
            "Sampled1D",
            "Image1D",
            "SampledBuffer",
            "ImageBuffer",
            "ImageQuery",
            "DerivativeControl",
            "Geometry",
            "Tessellation",
            "Float64",
            "Int64",
            "Int16",
            "TessellationPointSize",
            "GeometryPointSize",
            "ImageGatherExtended",
            "StorageImageMultisample",
            "UniformBufferArrayDynamicIndexing",
            "SampledImageArrayDynamicIndexing",
            "StorageBufferArrayDynamicIndexing",
            "StorageImageArrayDynamicIndexing",
            "ClipDistance",
            "CullDistance",
            "ImageCubeArray",
            "SampleRateShading",
            "SparseResidency",
            "MinLod",
            "SampledCubeArray",
            "ImageMSArray",
            "StorageImageExtendedFormats",
            "InterpolationFunction",
            "StorageImageReadWithoutFormat",
            "StorageImageWriteWithoutFormat",
            "MultiViewport",
            "Int64Atomics",
            "TransformFeedback",
            "GeometryStreams",
            "Float16",
            "Int8",
        ],
    ),
    (
        0x10100,
        &[
            "DeviceGroup",
            "MultiView",
            "GroupNonUniform",
            "GroupNonUniformVote",
            "GroupNonUniformArithmetic",
            "GroupNonUniformBallot",
            "GroupNonUniformShuffle",
            "GroupNonUniformShuffleRelative",
            "GroupNonUniformClustered",
            "GroupNonUniformQuad",
            "DrawParameters",
            "StorageBuffer16BitAccess",
            "UniformAndStorageBuffer16BitAccess",
            "StoragePushConstant16",
            "StorageInputOutput16",
            "VariablePointersStorageBuffer",
            "VariablePointers",
        ],
    ),
    (
        0x10200,
        &[
            "ShaderNonUniform",
            "DenormPreserve",
            "DenormFlushToZero",
            "SignedZeroInfNanPreserve",
            "RoundingModeRTE",
            "RoundingModeRTZ",
            "VulkanMemoryModel",
            "VulkanMemoryModelDeviceScope",
            "StorageBuffer8BitAccess",
            "UniformAndStorageBuffer8BitAccess",
            "StoragePushConstant8",
            "ShaderViewportIndex",
            "ShaderLayer",
            "PhysicalStorageBufferAddresses",
            "RuntimeDescriptorArray",
            "UniformTexelBufferArrayDynamicIndexing",
            "StorageTexelBufferArrayDynamicIndexing",
            "UniformBufferArrayNonUniformIndexing",
            "SampledImageArrayNonUniformIndexing",
            "StorageBufferArrayNonUniformIndexing",
            "StorageImageArrayNonUniformIndexing",
            "InputAttachmentArrayNonUniformIndexing",
            "UniformTexelBufferArrayNonUniformIndexing",
            "StorageTexelBufferArrayNonUniformIndexing",
        ],
    ),
];

/// Whether a version of Vulkan has a capability, by itself or by a declared extension; by any if `lenient`.
fn has_capability(module: &Checked<'_>, number: u32, version: u32, lenient: bool) -> bool {
    let Some(kind) = module.grammar.kind_of("Capability") else {
        return true;
    };
    let mut aliases = kind.aliases(number).iter();
    let of_version = |name: &str| {
        let mut rows = CAPABILITIES.iter().filter(|(first, _)| *first <= version);
        rows.any(|(_, names)| names.contains(&name))
    };
    aliases.any(|row| {
        let mut extensions = row.gate().extensions.iter();
        of_version(&row.name) || extensions.any(|name| lenient || module.extends(name))
    })
}

/// The module's capabilities against those of the version. SPIRV-Tools does not check them in two environments, so
/// there a violation is only a warning.
fn capabilities(module: &mut Checked<'_>, version: u32, lenient: bool) {
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.opcode() != op::CAPABILITY || has_capability(module, item.word(1), version, lenient) {
            continue;
        }
        let why = "this version of Vulkan does not have the capability, and no extension adds it";
        match lenient {
            true => module.warn("vulkan-capability", &item, why),
            false => module.fail("vulkan-capability", &item, why),
        }
    }
}

pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex, version: u32, env: TargetEnv) {
    let lenient = matches!(env.name(), "vulkan1.1spv1.4" | "vulkan1.3" | "vulkan1.4");
    capabilities(module, version, lenient);
    variables::check(module);
    explicit::check(module);
    workgroups(module);
    let relaxed = version >= 0x10100;
    let [mut uniform, mut storage] = [Rule::Uniform, Rule::Storage].map(|rule| Layout::new(index, rule, relaxed));
    for variable in module.globals() {
        let mut id = variable.pointee;
        if matches!(index.opcode(id), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) {
            id = index.declaration(id).and_then(|node| node.operand(1)).unwrap_or(0);
        }
        let has = |kind| index.decoration(id, kind).is_some();
        let (block, buffer) = (has(dec::BLOCK), has(dec::BUFFER_BLOCK));
        let is_struct = index.opcode(id) == op::TYPE_STRUCT;
        let rule = match variable.class {
            class::UNIFORM if is_struct && !block && !buffer => Err("a uniform is a Block or BufferBlock"),
            class::STORAGE_BUFFER | class::PUSH_CONSTANT if is_struct && !block => Err("must be a Block"),
            class::UNIFORM if block => Ok(Some(Rule::Uniform)),
            class::UNIFORM | class::STORAGE_BUFFER | class::PUSH_CONSTANT => Ok(Some(Rule::Storage)),
            class::WORKGROUP if block && module.capabilities.contains(&capability::WORKGROUP_EXPLICIT_LAYOUT) => {
                Ok(Some(Rule::Storage))
            }
            _ => Ok(None),
        };
        let why = match rule {
            Err(why) => Some(why.to_owned()),
            Ok(Some(rule)) if is_struct => {
                let layout = if rule == Rule::Uniform {
                    &mut uniform
                } else {
                    &mut storage
                };
                layout.of_struct(id, 0).wrong.or_else(|| layout.straddle(id, 0, 0))
            }
            Ok(_) => None,
        };
        if let (Some(why), Some(item)) = (why, module.def(id)) {
            module.fail("vulkan-layout", &item, why);
        }
    }
    for at in module.first_function.min(module.items.len())..module.items.len() {
        let item = module.items[at];
        let Some((class, mut ty)) = chains::untyped_access(module, &item) else {
            continue;
        };
        let blocks = matches!(index.opcode(ty), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) && module.blocks.contains(&ty);
        if blocks {
            // An array of descriptors has no layout itself.
            ty = index.declaration(ty).and_then(|node| node.operand(1)).unwrap_or(0);
        }
        let buffer = class != class::UNIFORM || module.decorated(ty, dec::BUFFER_BLOCK);
        let layout = if buffer { &mut storage } else { &mut uniform };
        if let Some(why) = layout.of(ty, PLAIN, 0).wrong {
            module.fail("vulkan-layout", &item, why);
        }
    }
    for at in 0..module.first_function.min(module.items.len()) {
        let item = module.items[at];
        let physical = item.opcode() == op::TYPE_POINTER && item.word(2) == class::PHYSICAL_STORAGE_BUFFER;
        let ty = item.word(3);
        let aggregate = matches!(
            index.opcode(ty),
            op::TYPE_STRUCT | op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY
        );
        if !physical || !aggregate {
            continue;
        }
        if let (Some(why), Some(item)) = (storage.of(ty, PLAIN, 0).wrong, module.def(ty)) {
            module.fail("vulkan-physical-layout", &item, why);
        }
    }
}

/// Compute shaders declare a non-empty workgroup size.
fn workgroups(module: &mut Checked<'_>) {
    let (mut sized, mut computing) = (HashSet::new(), Vec::new());
    let sizes: Vec<u32> = built_ins::workgroup_sizes(module).collect();
    for size in &sizes {
        if let Some(item) = module
            .def(*size)
            .filter(|item| module.form(item.ty) != Form::WORD.times(3))
        {
            module.fail("vulkan-local-size", &item, "WorkgroupSize is not three 32-bit integers");
        }
    }
    for at in 0..module.first_function.min(module.items.len()) {
        let item = module.items[at];
        match (item.opcode(), item.word(2)) {
            (op::ENTRY_POINT, _) if item.word(1) == model::GL_COMPUTE => computing.push(item),
            (op::EXECUTION_MODE, mode::LOCAL_SIZE) => {
                sized.insert(item.word(1));
                if item.words.get(3..).is_some_and(|sizes| sizes.contains(&0)) {
                    module.fail("vulkan-local-size", &item, "the workgroup size is zero");
                }
            }
            (op::EXECUTION_MODE_ID, mode::LOCAL_SIZE_ID) => _ = sized.insert(item.word(1)),
            _ => {}
        }
    }
    for entry in computing {
        if sizes.is_empty() && !sized.contains(&entry.word(2)) {
            module.fail(
                "vulkan-local-size",
                &entry,
                "needs LocalSize, LocalSizeId or WorkgroupSize",
            );
        }
    }
}

/// Which arrays and structs are aligned to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Uniform,
    Storage,
}

/// Layouts by one rule. Results are kept per struct, because nested types can have far more paths than types.
struct Layout<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    rule: Rule,
    /// Relaxed block layout: vectors are aligned to their components, but do not straddle 16 bytes.
    relaxed: bool,
    structs: HashMap<u32, Known>,
    /// Types by offset modulo 16, with the straddling vector in them.
    straddles: HashMap<(u32, u32), Option<String>>,
}

/// The layout of a type.
#[derive(Clone)]
struct Known {
    /// By std140 or std430.
    alignment: u32,
    /// Bytes; 0 if unbounded.
    size: u32,
    /// What is wrong with the layout inside.
    wrong: Option<String>,
}

impl Known {
    /// A type without inner layout.
    fn plain(alignment: u32, size: u32) -> Self {
        let wrong = None;
        Self { alignment, size, wrong }
    }
}

/// A matrix's memory layout, from its member's decorations.
#[derive(Clone, Copy)]
struct Matrix {
    row_major: bool,
    stride: u32,
}

/// A type that is no matrix in a struct.
const PLAIN: Matrix = Matrix {
    row_major: false,
    stride: 0,
};

impl<'i, 'a> Layout<'i, 'a> {
    fn new(index: &'i ModuleIndex<'a>, rule: Rule, relaxed: bool) -> Self {
        Self {
            index,
            rule,
            relaxed,
            structs: HashMap::new(),
            straddles: HashMap::new(),
        }
    }

    fn round(&self, alignment: u32) -> u32 {
        match self.rule {
            Rule::Uniform => alignment.next_multiple_of(16),
            Rule::Storage => alignment,
        }
    }

    fn scalar_bytes(&self, id: u32) -> u32 {
        let node = self.index.declaration(id);
        match node.map(|node| (node.opcode, node.operand(1).unwrap_or(0))) {
            Some((op::TYPE_INT | op::TYPE_FLOAT, bits)) => bits / 8,
            Some((op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER_KHR, _)) => 8,
            _ => 4,
        }
    }

    fn matrix(&self, structure: u32, member: u32) -> Matrix {
        let get = |kind| self.index.member_decoration(structure, member, kind);
        Matrix {
            row_major: get(dec::ROW_MAJOR).is_some(),
            stride: get(dec::MATRIX_STRIDE).unwrap_or(0),
        }
    }

    /// A type as a struct member or element.
    fn of(&mut self, id: u32, matrix: Matrix, depth: u32) -> Known {
        let Some(node) = self.index.declaration(id).filter(|_| depth < MAX_DEPTH) else {
            return Known::plain(1, 0);
        };
        match (node.opcode, node.operand(1).unwrap_or(0), node.operand(2).unwrap_or(0)) {
            (op::TYPE_VECTOR, of, count) => {
                let scalar = self.scalar_bytes(of);
                let rounded = if count == 3 { 4 } else { count };
                Known::plain(scalar.saturating_mul(rounded), scalar.saturating_mul(count))
            }
            (op::TYPE_MATRIX, column, columns) => self.of_matrix(column, columns, matrix, depth),
            (op::TYPE_ARRAY, of, length) => {
                let count = self.index.constant(length).unwrap_or(1);
                self.of_array(id, of, Some(count), matrix, depth)
            }
            (op::TYPE_RUNTIME_ARRAY, of, _) => self.of_array(id, of, None, matrix, depth),
            (op::TYPE_STRUCT, ..) => self.of_struct(id, depth),
            _ => {
                let bytes = self.scalar_bytes(id);
                Known::plain(bytes, bytes)
            }
        }
    }

    fn of_matrix(&mut self, column: u32, columns: u32, matrix: Matrix, depth: u32) -> Known {
        let of_column = self.of(column, matrix, depth + 1);
        let vector = self.index.operands(column, op::TYPE_VECTOR);
        let (alignment, size) = match vector {
            Some([_, scalar, rows]) if matrix.row_major => {
                let scalar = self.scalar_bytes(scalar);
                let rounded = if columns == 3 { 4 } else { columns };
                let last = scalar.saturating_mul(columns);
                let before = rows.saturating_sub(1).saturating_mul(matrix.stride);
                (scalar.saturating_mul(rounded), before.saturating_add(last))
            }
            Some(_) => (of_column.alignment, columns.saturating_mul(matrix.stride)),
            None => (of_column.alignment, 0),
        };
        let alignment = self.round(alignment);
        let wrong = matrix.stride == 0 || !matrix.stride.is_multiple_of(alignment.max(1));
        Known {
            alignment,
            size,
            wrong: wrong.then(|| format!("a matrix's stride of {} does not fit its columns", matrix.stride)),
        }
    }

    /// An array of this many elements; `None` for a runtime array.
    fn of_array(&mut self, id: u32, of: u32, count: Option<u32>, matrix: Matrix, depth: u32) -> Known {
        let element = self.of(of, matrix, depth + 1);
        let stride = self.index.decoration(id, dec::ARRAY_STRIDE).unwrap_or(0);
        let alignment = self.round(element.alignment);
        let whole = |count: u32| {
            count
                .saturating_sub(1)
                .saturating_mul(stride)
                .saturating_add(element.size)
        };
        let wrong = stride == 0 || !stride.is_multiple_of(alignment.max(1)) || stride < element.size;
        Known {
            alignment,
            size: count.map_or(0, whole),
            wrong: match wrong {
                true => Some(format!("an array's stride of {stride} does not fit its elements")),
                false => element.wrong,
            },
        }
    }

    fn of_struct(&mut self, id: u32, depth: u32) -> Known {
        if let Some(known) = self.structs.get(&id) {
            return known.clone();
        }
        let (mut alignment, mut size) = (1, 0);
        let members = self.index.members(id).into_iter().flatten();
        let mut placed: Vec<Member> = (0u32..)
            .zip(members)
            .map(|(member, ty)| {
                let given = self.index.member_decoration(id, member, dec::OFFSET);
                let offset = given.unwrap_or(0);
                let known = self.of(ty, self.matrix(id, member), depth + 1);
                alignment = alignment.max(known.alignment);
                size = size.max(offset.saturating_add(known.size));
                Member {
                    offset,
                    member,
                    ty,
                    known,
                    placed: given.is_some(),
                }
            })
            .collect();
        placed.sort_by_key(|member| member.offset);
        let known = Known {
            alignment: self.round(alignment),
            size,
            wrong: self.wrong(&placed),
        };
        self.structs.insert(id, known.clone());
        known
    }

    /// The vector that straddles 16 bytes in a type at an offset modulo 16.
    fn straddle(&mut self, id: u32, at: u32, depth: u32) -> Option<String> {
        let node = self
            .index
            .declaration(id)
            .filter(|_| depth < MAX_DEPTH && self.relaxed)?;
        if let Some(known) = self.straddles.get(&(id, at)) {
            return known.clone();
        }
        let found = match (node.opcode, node.operand(1).unwrap_or(0), node.operand(2).unwrap_or(0)) {
            (op::TYPE_VECTOR, of, count) => {
                let size = self.scalar_bytes(of).saturating_mul(count);
                let across = if size <= 16 { at + size > 16 } else { at != 0 };
                across.then(|| format!("a vector %{id} straddles 16 bytes"))
            }
            (op::TYPE_ARRAY, of, length) => {
                let stride = self.index.decoration(id, dec::ARRAY_STRIDE).unwrap_or(0);
                // After 16 elements the offsets repeat.
                let count = self.index.constant(length).unwrap_or(1).min(16);
                (0..count).find_map(|n| self.straddle(of, at.wrapping_add(n.wrapping_mul(stride)) % 16, depth + 1))
            }
            (op::TYPE_RUNTIME_ARRAY, of, _) => {
                let stride = self.index.decoration(id, dec::ARRAY_STRIDE).unwrap_or(0);
                (0..16).find_map(|n: u32| self.straddle(of, at.wrapping_add(n.wrapping_mul(stride)) % 16, depth + 1))
            }
            (op::TYPE_STRUCT, ..) => {
                let members = self.index.members(id).into_iter().flatten();
                (0u32..).zip(members).find_map(|(member, ty)| {
                    let offset = self.index.member_decoration(id, member, dec::OFFSET).unwrap_or(0);
                    let found = self.straddle(ty, at.wrapping_add(offset) % 16, depth + 1)?;
                    Some(format!("member {member}: {found}"))
                })
            }
            _ => None,
        };
        self.straddles.insert((id, at), found.clone());
        found
    }

    /// What is wrong with a struct's members, sorted by offset.
    fn wrong(&self, placed: &[Member]) -> Option<String> {
        let mut next = 0;
        for Member {
            offset,
            member,
            ty,
            known,
            placed,
        } in placed
        {
            if !placed {
                return Some(format!("member {member} has no Offset"));
            }
            let (alignment, size) = (known.alignment, known.size);
            let opcode = self.index.opcode(*ty);
            let vector = opcode == op::TYPE_VECTOR && self.relaxed;
            let least = match self.index.operands(*ty, op::TYPE_VECTOR) {
                Some([_, scalar]) if vector => self.scalar_bytes(scalar),
                _ => alignment,
            };
            if !offset.is_multiple_of(least.max(1)) {
                return Some(format!("member {member} at {offset} is not aligned to {least}"));
            }
            if *offset < next {
                return Some(format!(
                    "member {member} at {offset} begins before {next}, where the one before ends"
                ));
            }
            let end = offset.saturating_add(size);
            if vector
                && (size <= 16 && offset / 16 != end.saturating_sub(1) / 16 || size > 16 && !offset.is_multiple_of(16))
            {
                return Some(format!("member {member} is a vector across 16 bytes"));
            }
            if let Some(why) = &known.wrong {
                return Some(format!("member {member}: {why}"));
            }
            next = end;
            // A member after a struct or array begins after its padding.
            if matches!(opcode, op::TYPE_STRUCT | op::TYPE_ARRAY) {
                next = next.checked_next_multiple_of(alignment.max(1)).unwrap_or(u32::MAX);
            }
        }
        None
    }
}

/// A struct member with its offset.
struct Member {
    offset: u32,
    member: u32,
    ty: u32,
    known: Known,
    /// Whether it has an offset.
    placed: bool,
}
