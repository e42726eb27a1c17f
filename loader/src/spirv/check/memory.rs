//! Variables, loads and stores, copies, and their pointers.

use super::contents::{BOOL, RUNTIME_ARRAY};
use super::form::{Base, Form, Why, when};
use super::pointers::VARIABLE;
use super::{Checked, Item, scopes};
use crate::spirv::operand::{ALIGNED, AVAILABLE, VISIBLE, access_words};
use crate::spirv::{capability, class, decoration as dec, op};

/// Checks a memory instruction.
pub(super) fn memory(module: &Checked<'_>, item: &Item<'_>) -> Why {
    // An untyped pointer's pointee type is given by each access.
    let untyped = |id: &u32| module.opcode(module.type_of(*id)) == op::TYPE_UNTYPED_POINTER_KHR;
    if item.args().iter().take(2).any(untyped) {
        return None;
    }
    match item.opcode() {
        op::VARIABLE => variable(module, item),
        op::LOAD => load(module, item),
        op::STORE => store(module, item),
        op::COPY_MEMORY | op::COPY_MEMORY_SIZED => copy(module, item),
        op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN => {
            chain(module, item)
        }
        op::ARRAY_LENGTH => array_length(module, item),
        _ => None,
    }
}

fn variable(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let Some((class, pointee)) = module.pointer(item.ty) else {
        return Some("the result type is not a pointer".to_owned());
    };
    let local = module
        .items
        .get(module.first_function)
        .is_some_and(|first| item.position > first.position);
    let initializer = item.words.get(4).copied();
    when(
        class != item.word(3),
        "the result type is not a pointer of that storage class",
    )
    .or_else(|| {
        when(
            (class == class::FUNCTION) != local,
            "storage class Function belongs inside functions, and only there",
        )
    })
    .or_else(|| initializer.and_then(|initializer| initialized(module, initializer, class, pointee)))
    .or_else(|| {
        when(
            bool_outside(module, item, class, pointee),
            "a bool is not allowed in an external interface",
        )
    })
    .or_else(|| {
        when(
            matches!(class, class::GENERIC | class::PHYSICAL_STORAGE_BUFFER),
            "no variable is of this storage class",
        )
    })
    .or_else(|| pointer_variable(module, item, class, pointee))
    .or_else(|| {
        let whole = matches!(class, class::FUNCTION | class::PRIVATE);
        when(
            !whole && holds_matrix_of_group(module, pointee),
            "a cooperative matrix is in Function or Private storage",
        )
    })
    .or_else(|| small(module, class, pointee))
}

/// Whether a bool is visible outside the shader: inputs and outputs allow it only in built-in variables.
fn bool_outside(module: &Checked<'_>, item: &Item<'_>, class: u32, pointee: u32) -> bool {
    const OUTSIDE: [u32; 8] = [
        class::UNIFORM_CONSTANT,
        class::INPUT,
        class::UNIFORM,
        class::OUTPUT,
        class::GENERIC,
        class::PUSH_CONSTANT,
        class::STORAGE_BUFFER,
        class::PHYSICAL_STORAGE_BUFFER,
    ];
    if !OUTSIDE.contains(&class) || !module.holds(pointee, BOOL) {
        return false;
    }
    let passed = matches!(class, class::INPUT | class::OUTPUT);
    !(passed && module.decorated(item.result, dec::BUILT_IN)) && bool_in(module, pointee, passed)
}

/// Whether a type contains a bool, ignoring structs of built-in variables if `passed`.
fn bool_in(module: &Checked<'_>, ty: u32, passed: bool) -> bool {
    let mut open = vec![ty];
    let mut seen = std::collections::HashSet::new();
    while let Some(ty) = open.pop() {
        let built_in = passed && module.any_built_in(ty);
        let Some(item) = module.def(ty).filter(|_| !built_in && seen.insert(ty)) else {
            continue;
        };
        match item.opcode() {
            op::TYPE_BOOL => return true,
            op::TYPE_VECTOR | op::TYPE_MATRIX | op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => open.push(item.word(2)),
            op::TYPE_STRUCT => open.extend(item.args()),
            _ => {}
        }
    }
    false
}

fn initialized(module: &Checked<'_>, initializer: u32, class: u32, pointee: u32) -> Why {
    let def = module.def(initializer)?;
    let global = def.opcode() == op::VARIABLE && def.word(3) != class::FUNCTION;
    const NEVER: [u32; 3] = [class::INPUT, class::TASK_PAYLOAD_WORKGROUP, class::HIT_OBJECT_ATTRIBUTE];
    when(
        !global && !module.is_constant(initializer),
        "the initializer is not a constant",
    )
    .or_else(|| when(def.ty != pointee, "the initializer has another type"))
    .or_else(|| when(NEVER.contains(&class), "this storage class has no initializers"))
    .or_else(|| {
        let fits = match class {
            class::WORKGROUP => def.opcode() == op::CONSTANT_NULL,
            class::OUTPUT | class::PRIVATE | class::FUNCTION => true,
            _ => module.vulkan.is_none(),
        };
        when(
            module.vulkan.is_some() && !fits,
            "Vulkan has no initializers of this kind in this storage class",
        )
    })
}

/// A variable that holds pointers.
fn pointer_variable(module: &Checked<'_>, item: &Item<'_>, class: u32, pointee: u32) -> Why {
    if !module.physical && module.opcode(pointee) == op::TYPE_POINTER {
        if !module
            .capabilities
            .contains(&capability::VARIABLE_POINTERS_STORAGE_BUFFER)
        {
            return Some("a variable that holds a pointer needs variable pointers".to_owned());
        }
        if !matches!(class, class::FUNCTION | class::PRIVATE) {
            return Some("a variable that holds a pointer is in Function or Private storage".to_owned());
        }
    }
    to_buffer(
        module,
        module.elements(pointee),
        item.result,
        [dec::ALIASED_POINTER, dec::RESTRICT_POINTER],
    )
}

/// A pointer to a physical storage buffer has one of the two aliasing decorations.
pub(super) fn to_buffer(module: &Checked<'_>, ty: u32, id: u32, either: [u32; 2]) -> Why {
    let physical = module
        .pointer(ty)
        .is_some_and(|(class, _)| class == class::PHYSICAL_STORAGE_BUFFER);
    if !physical {
        return None;
    }
    let given = either.iter().filter(|kind| module.decorated(id, **kind)).count();
    let names = either.map(|kind| module.decoration_name(kind)).join(" or ");
    when(
        given == 0,
        &format!("a pointer to a physical storage buffer must be {names}"),
    )
    .or_else(|| when(given == 2, &format!("{names}, not both")))
}

fn holds_matrix_of_group(module: &Checked<'_>, ty: u32) -> bool {
    let mut open = vec![ty];
    let mut seen = std::collections::HashSet::new();
    let any = module.capabilities.contains(&capability::COOPERATIVE_MATRIX_NV);
    while let Some(item) = open.pop().filter(|_| any).and_then(|ty| module.def(ty)) {
        match item.opcode() {
            op::TYPE_COOPERATIVE_MATRIX_NV => return true,
            op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY if seen.insert(item.result) => open.push(item.word(2)),
            op::TYPE_STRUCT if seen.insert(item.result) => open.extend(item.args()),
            _ => {}
        }
    }
    false
}

/// Small numbers occur only in storage classes that a capability allows.
fn small(module: &Checked<'_>, mut class: u32, pointee: u32) -> Why {
    use super::contents::{FLOAT_16, INT_8, INT_16};
    if !module.limited(pointee) {
        return None;
    }
    let has = |capability| module.capabilities.contains(&capability);
    let mut ty = pointee;
    let mut through = 0;
    while let Some((of, next)) = module.pointer(ty).filter(|_| through < 32) {
        (class, ty, through) = (of, next, through + 1);
    }
    let bits_16 = module.holds(pointee, INT_16) && !has(capability::INT_16)
        || module.holds(pointee, FLOAT_16) && !has(capability::FLOAT_16);
    let bits_8 = module.holds(pointee, INT_8) && !has(capability::INT_8);
    let element = match module.opcode(ty) {
        op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => module.def(ty).map_or(0, |item| item.word(2)),
        _ => ty,
    };
    let buffer = module.decorated(element, dec::BUFFER_BLOCK);
    let rows: [(bool, [u32; 4], u32); 2] = [
        (
            bits_16,
            [
                capability::STORAGE_BUFFER_16,
                capability::STORAGE_UNIFORM_16,
                capability::STORAGE_PUSH_CONSTANT_16,
                capability::WORKGROUP_EXPLICIT_LAYOUT_16,
            ],
            capability::STORAGE_INPUT_OUTPUT_16,
        ),
        (
            bits_8,
            [
                capability::STORAGE_BUFFER_8,
                capability::STORAGE_UNIFORM_8,
                capability::STORAGE_PUSH_CONSTANT_8,
                capability::WORKGROUP_EXPLICIT_LAYOUT_8,
            ],
            u32::MAX,
        ),
    ];
    rows.iter()
        .filter(|row| row.0)
        .find_map(|(_, [storage, uniform, push, workgroup], passed)| {
            let allowed = match class {
                class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER => has(*storage),
                class::UNIFORM => has(*uniform) || has(*storage) && buffer,
                class::PUSH_CONSTANT => has(*push),
                class::WORKGROUP => has(*workgroup),
                class::INPUT | class::OUTPUT => has(*passed),
                _ => false,
            };
            when(
                !allowed,
                "numbers of 8 or 16 bits need a capability in this storage class",
            )
        })
}

/// Opcodes that yield pointers without physical addressing; with variable pointers those of
/// [`VARIABLE`] too.
const LOGICAL: [u16; 7] = [
    op::VARIABLE,
    op::ACCESS_CHAIN,
    op::IN_BOUNDS_ACCESS_CHAIN,
    op::FUNCTION_PARAMETER,
    op::IMAGE_TEXEL_POINTER,
    op::COPY_OBJECT,
    op::RAW_ACCESS_CHAIN_NV,
];

/// Without physical addressing a pointer comes from a variable, parameter or access chain.
fn logical(module: &Checked<'_>, id: u32) -> Why {
    let kind = module.opcode(id);
    let from = LOGICAL.contains(&kind) || module.variable_pointers() && VARIABLE.contains(&kind);
    when(
        !module.physical && !from,
        "the pointer does not come from an instruction that yields one",
    )
}

fn load(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let Some((class, pointee)) = module.pointer(module.type_of(item.word(3))) else {
        return Some("loads from no pointer".to_owned());
    };
    logical(module, item.word(3))
        .or_else(|| when(pointee != item.ty, "the result type is not the pointee type"))
        .or_else(|| {
            when(
                module.holds(item.ty, RUNTIME_ARRAY),
                "an array of unknown length cannot be loaded",
            )
        })
        .or_else(|| access(module, item, 4, &[class], true))
        .or_else(|| {
            let whole = matches!(
                module.opcode(item.ty),
                op::TYPE_POINTER | op::TYPE_INT | op::TYPE_FLOAT | op::TYPE_VECTOR | op::TYPE_MATRIX
            );
            when(
                module.limited(item.ty) && !whole,
                "numbers of 8 or 16 bits are loaded as scalars, vectors and matrices",
            )
        })
}

fn store(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let Some((class, pointee)) = module.pointer(module.type_of(item.word(1))) else {
        return Some("stores to no pointer".to_owned());
    };
    const READ_ONLY: [u32; 4] = [
        class::UNIFORM_CONSTANT,
        class::INPUT,
        class::PUSH_CONSTANT,
        class::SHADER_RECORD_BUFFER,
    ];
    const HANDLES: [u16; 4] = [
        op::TYPE_IMAGE,
        op::TYPE_SAMPLER,
        op::TYPE_SAMPLED_IMAGE,
        op::TYPE_ACCELERATION_STRUCTURE_KHR,
    ];
    logical(module, item.word(1))
        .or_else(|| {
            let bindless = module.capabilities.contains(&capability::BINDLESS_TEXTURE_NV);
            let handle = HANDLES.contains(&module.opcode(module.elements(pointee)));
            when(
                handle && module.vulkan.is_some() && !bindless,
                "images, samplers and acceleration structures are not stored",
            )
        })
        .or_else(|| when(READ_ONLY.contains(&class), "the storage class cannot be written"))
        .or_else(|| {
            when(
                module.opcode(pointee) == op::TYPE_VOID || pointee != module.type_of(item.word(2)),
                "the object's type is not the pointee type",
            )
        })
        .or_else(|| {
            let uniform = module.vulkan.is_some() && class == class::UNIFORM;
            when(
                uniform && in_block(module, item.word(1)),
                "Vulkan's uniform blocks cannot be written",
            )
        })
        .or_else(|| access(module, item, 3, &[class], false))
}

/// Whether a pointer leads into a Block variable.
fn in_block(module: &Checked<'_>, mut id: u32) -> bool {
    for _ in 0..module.items.len() {
        let Some(item) = module.def(id) else { return false };
        match item.opcode() {
            op::ACCESS_CHAIN
            | op::IN_BOUNDS_ACCESS_CHAIN
            | op::PTR_ACCESS_CHAIN
            | op::IN_BOUNDS_PTR_ACCESS_CHAIN
            | op::COPY_OBJECT => {
                id = item.word(3);
            }
            op::VARIABLE => {
                let mut ty = module.pointer(item.ty).map_or(0, |(_, pointee)| pointee);
                if matches!(module.opcode(ty), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) {
                    ty = module.def(ty).map_or(0, |array| array.word(2));
                }
                return module.decorated(ty, dec::BLOCK);
            }
            _ => return false,
        }
    }
    false
}

fn copy(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let [target, source] = [item.word(1), item.word(2)].map(|id| module.pointer(module.type_of(id)));
    let (Some((to, target)), Some((from, source))) = (target, source) else {
        return Some("copies between two pointers".to_owned());
    };
    let sized = item.opcode() == op::COPY_MEMORY_SIZED;
    let at = if sized { 4 } else { 3 };
    let apart = !sized && (target != source || module.opcode(target) == op::TYPE_VOID);
    when(apart, "the pointers point to different types")
        .or_else(|| if sized { size(module, item.word(3)) } else { None })
        .or_else(|| {
            let first = *item.words.get(at)?;
            let next = at + access_words(first);
            let second = item.words.get(next).copied();
            access(module, item, at, &[to, from], false)
                .or_else(|| second.and_then(|_| access(module, item, next, &[to, from], false)))
                .or_else(|| {
                    let late = module.words[1] >= 0x10400;
                    when(second.is_some() && !late, "two memory accesses need version 1.4")
                })
                .or_else(|| {
                    // A single access applies to both; of two, the first is the target's.
                    let wrong = first & VISIBLE != 0 || second? & AVAILABLE != 0;
                    when(
                        second.is_some() && wrong,
                        "the target is made available, and the source visible",
                    )
                })
        })
        .or_else(|| {
            let mut ty = target;
            let mut through = 0;
            while let Some((_, next)) = module.pointer(ty).filter(|_| through < 32) {
                (ty, through) = (next, through + 1);
            }
            when(module.limited(ty), "numbers of 8 or 16 bits cannot be copied")
        })
}

/// A byte count for copies.
fn size(module: &Checked<'_>, id: u32) -> Why {
    let def = module.def(id)?;
    let signed = module.def(def.ty).is_some_and(|ty| ty.word(3) == 1);
    let zero = match def.opcode() {
        op::CONSTANT_NULL => true,
        op::CONSTANT => def.args().iter().all(|word| *word == 0),
        _ => false,
    };
    let negative = def.opcode() == op::CONSTANT && signed && def.words.last().is_some_and(|word| word >> 31 == 1);
    when(!module.of(id).scalar(Base::Int), "the size is not an integer")
        .or_else(|| when(zero || negative, "the size is not above 0"))
}

const NON_PRIVATE: u32 = 0x20;

/// Checks the memory access at a word of an instruction; `classes` are the storage classes of its pointers. Without an
/// access nothing is required, except for physical buffers.
fn access(module: &Checked<'_>, item: &Item<'_>, at: usize, classes: &[u32], loads: bool) -> Why {
    let mask = item.words.get(at).copied().unwrap_or(0);
    let physical = classes.contains(&class::PHYSICAL_STORAGE_BUFFER);
    if physical && mask & ALIGNED == 0 {
        return Some("access to a physical storage buffer must be Aligned".to_owned());
    }
    let aligned = item.word(at + 1);
    if mask & ALIGNED != 0 && module.vulkan.is_some() && !aligned.is_power_of_two() {
        return Some(format!("Aligned {aligned} is not a power of two"));
    }
    if physical && module.vulkan.is_some() {
        let pointers = [1, 2, 3].map(|word| module.pointer(module.type_of(item.word(word))));
        let mut widths = pointers
            .iter()
            .flatten()
            .filter(|(class, _)| *class == class::PHYSICAL_STORAGE_BUFFER)
            .map(|(_, pointee)| u32::from(module.widest.get(*pointee)));
        if let Some(width) = widths.find(|width| aligned < *width) {
            return Some(format!("Aligned {aligned} is less than the {width} bytes of a scalar"));
        }
    }
    if mask & (AVAILABLE | VISIBLE | NON_PRIVATE) == 0 {
        return None;
    }
    let stores = item.opcode() == op::STORE;
    let scope = |bit: u32| item.word(at + access_words(mask & (bit - 1)));
    const SHARED: [u32; 7] = [
        class::UNIFORM,
        class::WORKGROUP,
        class::CROSS_WORKGROUP,
        class::GENERIC,
        class::IMAGE,
        class::STORAGE_BUFFER,
        class::PHYSICAL_STORAGE_BUFFER,
    ];
    when(
        mask & AVAILABLE != 0 && loads || mask & VISIBLE != 0 && stores,
        "stores are made available, and visible to loads",
    )
    .or_else(|| {
        when(
            mask & NON_PRIVATE == 0,
            "availability and visibility require NonPrivatePointer",
        )
    })
    .or_else(|| {
        let bits = [AVAILABLE, VISIBLE].into_iter().filter(|bit| mask & bit != 0);
        bits.map(scope).find_map(|id| scopes::memory(module, id))
    })
    .or_else(|| {
        let shared = classes.iter().all(|class| SHARED.contains(class));
        when(!shared, "NonPrivatePointer belongs to memory that is shared")
    })
}

fn chain(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let Some((class, mut ty)) = module.pointer(module.type_of(item.word(3))) else {
        return Some("the base is not a pointer".to_owned());
    };
    let element = item.name().contains("Ptr");
    if item.opcode() == op::PTR_ACCESS_CHAIN && !module.physical && !module.variable_pointers() {
        return Some("a chain from a pointer's element needs variable pointers".to_owned());
    }
    if element && !module.of(item.word(4)).scalar(Base::Int) {
        return Some("the element is not an integer".to_owned());
    }
    let indices = item.words.get(if element { 5 } else { 4 }..).unwrap_or(&[]);
    if indices.len() > 255 {
        return Some("more than 255 indices".to_owned());
    }
    for id in indices {
        if !module.of(*id).scalar(Base::Int) {
            return Some(format!("index %{id} is not an integer"));
        }
        match module.member(ty, module.constant(*id), false) {
            Some(member) => ty = member,
            None => return Some(format!("index %{id} reaches no member")),
        }
    }
    when(
        module.pointer(item.ty) != Some((class, ty)),
        "the result type is not a pointer to the indexed type",
    )
    .or_else(|| {
        if item.opcode() == op::PTR_ACCESS_CHAIN {
            strided(module, item, class)
        } else {
            None
        }
    })
}

/// Whether a constant integer is negative.
pub(super) fn negative(module: &Checked<'_>, id: u32) -> bool {
    let Some(item) = module.def(id).filter(|item| item.opcode() == op::CONSTANT) else {
        return false;
    };
    let signed = module.def(item.ty).is_some_and(|ty| ty.word(3) == 1);
    signed && item.words.last().is_some_and(|word| word >> 31 == 1)
}

/// `OpPtrAccessChain` requires an array stride on the pointer type.
fn strided(module: &Checked<'_>, item: &Item<'_>, class: u32) -> Why {
    let workgroup = class == class::WORKGROUP && module.capabilities.contains(&capability::WORKGROUP_EXPLICIT_LAYOUT);
    let laid_out = matches!(
        class,
        class::UNIFORM | class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER | class::PUSH_CONSTANT
    );
    let base = module.type_of(item.word(3));
    when(
        module.shader && (laid_out || workgroup) && !module.decorated(base, dec::ARRAY_STRIDE),
        "the base's pointer type has no ArrayStride",
    )
    .or_else(|| {
        let fits = match class {
            class::WORKGROUP => module.capabilities.contains(&capability::VARIABLE_POINTERS),
            class::STORAGE_BUFFER => module.variable_pointers(),
            _ => class == class::PHYSICAL_STORAGE_BUFFER,
        };
        when(
            module.vulkan.is_some() && !fits,
            "Vulkan steps over elements of buffers and, with variable pointers, of workgroups",
        )
    })
}

fn array_length(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let (_, ty) = module.pointer(module.type_of(item.word(3))).unwrap_or_default();
    let members = module
        .def(ty)
        .filter(|t| t.opcode() == op::TYPE_STRUCT)
        .map_or(&[][..], |t| t.args());
    let last = members
        .last()
        .is_some_and(|last| module.opcode(*last) == op::TYPE_RUNTIME_ARRAY);
    when(
        !last || members.len() != item.word(4) as usize + 1,
        "not a struct's last member of runtime length",
    )
    .or_else(|| {
        when(
            module.form(item.ty) != Form::WORD || !module.unsigned(item.ty),
            "the result is not a 32-bit unsigned integer",
        )
    })
}

/// Checks pointer comparisons.
pub(super) fn comparison(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let r = module.form(item.ty);
    let base = if item.opcode() == op::PTR_DIFF {
        Base::Int
    } else {
        Base::Bool
    };
    let ty = module.type_of(item.word(3));
    let class = module.pointer(ty).map(|(class, _)| class);
    when(
        !module.physical && !module.variable_pointers(),
        "comparing pointers needs variable pointers",
    )
    .or_else(|| when(!r.scalar(base), "the result is not of the opcode's type"))
    .or_else(|| {
        when(
            class.is_none() || ty != module.type_of(item.word(4)),
            "needs two pointers of one type",
        )
    })
    .or_else(|| {
        let workgroup = class == Some(class::WORKGROUP) && module.capabilities.contains(&capability::VARIABLE_POINTERS);
        let fits = match module.physical {
            true => class != Some(class::PHYSICAL_STORAGE_BUFFER),
            false => workgroup || class == Some(class::STORAGE_BUFFER),
        };
        when(!fits, "pointers of this storage class are not compared")
    })
}
