//! What Vulkan asks of a module beyond SPIR-V's own rules: capabilities, blocks and their layouts, places of resources.

use super::Checked;
use crate::spirv::{ModuleIndex, capability, class, decoration as dec, op};

/// Deepest nesting of types that is followed.
const MAX_DEPTH: u32 = 32;

/// Capabilities of the core that no Vulkan has.
const NEVER: &[u32] = &[
    capability::ADDRESSES,
    capability::LINKAGE,
    capability::KERNEL,
    capability::VECTOR_16,
    capability::FLOAT_16_BUFFER,
    capability::IMAGE_BASIC,
    capability::PIPES,
    capability::DEVICE_ENQUEUE,
    capability::LITERAL_SAMPLER,
    capability::ATOMIC_STORAGE,
    capability::GENERIC_POINTER,
    capability::IMAGE_RECT,
    capability::SAMPLED_RECT,
    capability::SUBGROUP_DISPATCH,
    capability::NAMED_BARRIER,
];

pub(super) fn check(module: &mut Checked<'_>, index: &ModuleIndex, version: u32) {
    for at in 0..module.items.len() {
        let item = module.items[at];
        let components = module.form(item.ty).count;
        if item.name() == "ImageRead" && components != 4 {
            module.fail("vulkan-image", &item, "gives four components");
        }
        if item.row.opcode as u16 == op::CAPABILITY && NEVER.contains(&item.word(1)) {
            module.fail("vulkan-capability", &item, "no Vulkan has this capability");
        }
    }
    for variable in index.globals() {
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
            _ => Ok(None),
        };
        let layout = Layout {
            index,
            rule: Rule::Storage,
            relaxed: version >= 0x10100,
        };
        let why = match rule {
            Err(why) => Some(why.to_owned()),
            Ok(Some(rule)) if is_struct => Layout { rule, ..layout }.wrong(id, 0),
            Ok(_) => None,
        };
        if let (Some(why), Some(item)) = (why, module.def(id)) {
            module.fail("vulkan-layout", &item, why);
        }
    }
}

/// Which arrays and structs are aligned to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Uniform,
    Storage,
}

#[derive(Clone, Copy)]
struct Layout<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    rule: Rule,
    /// Vectors may lie at any place their components may, but not across 16 bytes.
    relaxed: bool,
}

/// How a matrix lies in memory, as its member says it.
#[derive(Clone, Copy)]
struct Matrix {
    row_major: bool,
    stride: u32,
}

impl Layout<'_, '_> {
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
            Some((op::TYPE_POINTER, _)) => 8,
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

    /// Alignment of a type by std140 or std430.
    fn alignment(&self, id: u32, matrix: Matrix, depth: u32) -> u32 {
        let Some(node) = self.index.declaration(id).filter(|_| depth < MAX_DEPTH) else {
            return 1;
        };
        let inner = |ty: u32| self.alignment(ty, matrix, depth + 1);
        match (node.opcode, node.operand(1).unwrap_or(0), node.operand(2).unwrap_or(0)) {
            (op::TYPE_VECTOR, of, count) => self.scalar_bytes(of) * if count == 3 { 4 } else { count },
            (op::TYPE_MATRIX, column, columns) => {
                let rows = if matrix.row_major { columns } else { 0 };
                let of = self.index.operands(column, op::TYPE_VECTOR);
                let alignment = match of {
                    Some([_, scalar, _]) if rows > 0 => self.scalar_bytes(scalar) * if rows == 3 { 4 } else { rows },
                    _ => inner(column),
                };
                self.round(alignment)
            }
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, of, _) => self.round(inner(of)),
            (op::TYPE_STRUCT, ..) => {
                let members = (0u32..).zip(node.tail(1));
                let of = |(member, ty)| self.alignment(ty, self.matrix(id, member), depth + 1);
                self.round(members.map(of).max().unwrap_or(1))
            }
            _ => self.scalar_bytes(id),
        }
    }

    /// Bytes of a type; 0 for what has no end.
    fn size(&self, id: u32, matrix: Matrix, depth: u32) -> u32 {
        let Some(node) = self.index.declaration(id).filter(|_| depth < MAX_DEPTH) else {
            return 0;
        };
        match (node.opcode, node.operand(1).unwrap_or(0), node.operand(2).unwrap_or(0)) {
            (op::TYPE_VECTOR, of, count) => self.scalar_bytes(of).saturating_mul(count),
            (op::TYPE_MATRIX, column, columns) => match self.index.operands(column, op::TYPE_VECTOR) {
                Some([_, scalar, rows]) if matrix.row_major => {
                    let last = self.scalar_bytes(scalar).saturating_mul(columns);
                    rows.saturating_sub(1)
                        .saturating_mul(matrix.stride)
                        .saturating_add(last)
                }
                Some(_) => columns.saturating_mul(matrix.stride),
                None => 0,
            },
            (op::TYPE_ARRAY, of, length) => {
                let count = self.index.constant(length).unwrap_or(1);
                let stride = self.index.decoration(id, dec::ARRAY_STRIDE).unwrap_or(0);
                let last = self.size(of, matrix, depth + 1);
                count.saturating_sub(1).saturating_mul(stride).saturating_add(last)
            }
            (op::TYPE_RUNTIME_ARRAY, ..) => 0,
            (op::TYPE_STRUCT, ..) => {
                let end = |(member, ty)| {
                    let offset = self.index.member_decoration(id, member, dec::OFFSET).unwrap_or(0);
                    offset.saturating_add(self.size(ty, self.matrix(id, member), depth + 1))
                };
                (0u32..).zip(node.tail(1)).map(end).max().unwrap_or(0)
            }
            _ => self.scalar_bytes(id),
        }
    }

    /// What is wrong with a struct's layout.
    fn wrong(&self, id: u32, depth: u32) -> Option<String> {
        let members = self.index.members(id).filter(|_| depth < MAX_DEPTH)?;
        let mut placed: Vec<(u32, u32, u32)> = (0u32..)
            .zip(members)
            .map(|(member, ty)| {
                (
                    self.index.member_decoration(id, member, dec::OFFSET).unwrap_or(0),
                    member,
                    ty,
                )
            })
            .collect();
        placed.sort_by_key(|member| member.0);
        let mut next = 0;
        for (offset, member, ty) in placed {
            let matrix = self.matrix(id, member);
            let (alignment, size) = (self.alignment(ty, matrix, 0), self.size(ty, matrix, 0));
            let opcode = self.index.opcode(ty);
            let vector = opcode == op::TYPE_VECTOR && self.relaxed;
            let least = match self.index.operands(ty, op::TYPE_VECTOR) {
                Some([_, scalar]) if vector => self.scalar_bytes(scalar),
                _ => alignment,
            };
            if !offset.is_multiple_of(least.max(1)) {
                return Some(format!("member {member} at {offset} is not aligned to {least}"));
            }
            if offset < next {
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
            if let Some(why) = self.inner(ty, matrix, depth) {
                return Some(format!("member {member}: {why}"));
            }
            next = end;
            // What follows a struct or an array begins behind its padding.
            if matches!(opcode, op::TYPE_STRUCT | op::TYPE_ARRAY) {
                next = next.checked_next_multiple_of(alignment.max(1)).unwrap_or(u32::MAX);
            }
        }
        None
    }

    /// What is wrong inside a member.
    fn inner(&self, ty: u32, matrix: Matrix, depth: u32) -> Option<String> {
        let node = self.index.declaration(ty).filter(|_| depth < MAX_DEPTH)?;
        match node.opcode {
            op::TYPE_STRUCT => self.wrong(ty, depth + 1),
            op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => {
                let (of, stride) = (
                    node.operand(1)?,
                    self.index.decoration(ty, dec::ARRAY_STRIDE).unwrap_or(0),
                );
                let alignment = self.alignment(ty, matrix, 0);
                if stride == 0 || !stride.is_multiple_of(alignment.max(1)) || stride < self.size(of, matrix, 0) {
                    return Some(format!("an array's stride of {stride} does not fit its elements"));
                }
                self.inner(of, matrix, depth + 1)
            }
            op::TYPE_MATRIX => {
                let alignment = self.alignment(ty, matrix, 0);
                let wrong = matrix.stride == 0 || !matrix.stride.is_multiple_of(alignment.max(1));
                wrong.then(|| format!("a matrix's stride of {} does not fit its columns", matrix.stride))
            }
            _ => None,
        }
    }
}
