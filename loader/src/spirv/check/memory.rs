//! Variables, loads and stores, copies, and their pointers.

use super::access::{Way, access, logical};
use super::contents::{BOOL, COOPERATIVE, RUNTIME_ARRAY};
use super::form::{Base, Why, when};
use super::{Checked, Item, chains};
use crate::spirv::operand::{AVAILABLE, VISIBLE, access_words};
use crate::spirv::{Located, capability, class, decoration as dec, op};

impl Checked<'_> {
    /// Whether a type is that of pointers whose pointee type is given by each access.
    pub(super) fn untyped(&self, ty: u32) -> bool {
        self.opcode(ty) == op::TYPE_UNTYPED_POINTER_KHR
    }

    /// The storage class of a pointer type, typed or not.
    pub(super) fn class_of(&self, ty: u32) -> Option<u32> {
        let item = self.def(ty)?;
        matches!(item.opcode(), op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER_KHR).then(|| item.word(2))
    }

    /// The type of what a pointer points to; 0 if unknown.
    fn pointee(&self, pointer: u32) -> u32 {
        self.pointer(self.type_of(pointer)).map_or(0, |(_, pointee)| pointee)
    }

    /// The storage class of a variable, and the type of its data; 0 if an untyped one has none.
    pub(super) fn variable(&self, item: &Item<'_>) -> Option<(u32, u32)> {
        match item.opcode() {
            op::VARIABLE => self.pointer(item.ty),
            op::UNTYPED_VARIABLE_KHR if self.untyped(item.ty) => Some((self.class_of(item.ty)?, item.word(4))),
            _ => None,
        }
    }

    /// The global variables, typed or not.
    pub(super) fn globals(&self) -> Vec<Located> {
        let first = self.first_function.min(self.items.len());
        let variables = self.items[..first].iter().filter_map(|item| {
            let (class, pointee) = self.variable(item)?;
            Some(Located {
                id: item.result,
                pointee,
                class,
                position: item.position,
            })
        });
        variables.collect()
    }
}

/// Checks a memory instruction.
pub(super) fn memory(module: &Checked<'_>, item: &Item<'_>) -> Why {
    match item.opcode() {
        op::VARIABLE => variable(module, item, item.words.get(4).copied()),
        op::UNTYPED_VARIABLE_KHR => {
            untyped_variable(module, item).or_else(|| variable(module, item, item.words.get(5).copied()))
        }
        op::LOAD => load(module, item),
        op::STORE => store(module, item),
        op::COPY_MEMORY | op::COPY_MEMORY_SIZED => copy(module, item),
        op::ACCESS_CHAIN
        | op::IN_BOUNDS_ACCESS_CHAIN
        | op::PTR_ACCESS_CHAIN
        | op::IN_BOUNDS_PTR_ACCESS_CHAIN
        | op::UNTYPED_ACCESS_CHAIN_KHR
        | op::UNTYPED_IN_BOUNDS_ACCESS_CHAIN_KHR
        | op::UNTYPED_PTR_ACCESS_CHAIN_KHR
        | op::UNTYPED_IN_BOUNDS_PTR_ACCESS_CHAIN_KHR => chains::chain(module, item),
        op::RAW_ACCESS_CHAIN_NV => chains::raw(module, item),
        op::ARRAY_LENGTH | op::UNTYPED_ARRAY_LENGTH_KHR => chains::array_length(module, item),
        _ => None,
    }
}

/// The data type of an untyped variable.
fn untyped_variable(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let whole = matches!(item.word(3), class::FUNCTION | class::PRIVATE | class::WORKGROUP);
    match item.words.get(4) {
        Some(data) => when(!module.is_type(*data), "the data type is not a type"),
        None => when(
            whole || module.vulkan.is_some(),
            "a variable of this storage class, and any of Vulkan, has a data type",
        ),
    }
}

/// The untyped variables of a workgroup that an entry point lists.
pub(super) fn listed(module: &Checked<'_>, entry: &Item<'_>) -> Why {
    module.used(entry).find_map(|id| {
        let item = module.definition(id)?;
        let (class, data) = module.variable(item)?;
        let block = module.opcode(data) == op::TYPE_STRUCT && module.decorated(data, dec::BLOCK);
        let open = item.opcode() == op::UNTYPED_VARIABLE_KHR && class == class::WORKGROUP && !block;
        (open && module.shader).then(|| format!("the workgroup's untyped variable %{id} is not a block"))
    })
}

fn variable(module: &Checked<'_>, item: &Item<'_>, initializer: Option<u32>) -> Why {
    let Some((class, pointee)) = module.variable(item) else {
        return Some("the result type is not a pointer".to_owned());
    };
    let local = module
        .items
        .get(module.first_function)
        .is_some_and(|first| item.position > first.position);
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
            !whole && module.holds(pointee, COOPERATIVE),
            "a cooperative matrix or vector is in Function or Private storage",
        )
    })
    .or_else(|| small(module, class, pointee))
}

/// Whether a bool is visible outside the shader: inputs and outputs allow it only in built-in variables.
fn bool_outside(module: &Checked<'_>, item: &Item<'_>, class: u32, pointee: u32) -> bool {
    const OUTSIDE: [u32; 7] = [
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
    let global = matches!(def.opcode(), op::VARIABLE | op::UNTYPED_VARIABLE_KHR) && def.word(3) != class::FUNCTION;
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
    if class == class::UNIFORM && module.decorated(element, dec::BUFFER_BLOCK) {
        // The older name of storage buffers.
        class = class::STORAGE_BUFFER;
    }
    when(
        bits_16 && !stored(module, class, &BITS_16) || bits_8 && !stored(module, class, &BITS_8),
        "numbers of 8 or 16 bits need a capability in this storage class",
    )
}

/// The capabilities by which small numbers are in storage buffers, uniform buffers, push constants, workgroup memory,
/// and inputs and outputs.
type Stored = [u32; 5];

const BITS_16: Stored = [
    capability::STORAGE_BUFFER_16,
    capability::STORAGE_UNIFORM_16,
    capability::STORAGE_PUSH_CONSTANT_16,
    capability::WORKGROUP_EXPLICIT_LAYOUT_16,
    capability::STORAGE_INPUT_OUTPUT_16,
];
const BITS_8: Stored = [
    capability::STORAGE_BUFFER_8,
    capability::STORAGE_UNIFORM_8,
    capability::STORAGE_PUSH_CONSTANT_8,
    capability::WORKGROUP_EXPLICIT_LAYOUT_8,
    u32::MAX,
];

/// Whether small numbers may be in a storage class.
fn stored(module: &Checked<'_>, class: u32, by: &Stored) -> bool {
    let at = match class {
        class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER => 0,
        class::UNIFORM => 1,
        class::PUSH_CONSTANT => 2,
        class::WORKGROUP => 3,
        class::INPUT | class::OUTPUT => 4,
        _ => return false,
    };
    module.capabilities.contains(&by[at])
}

fn load(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let ty = module.type_of(item.word(3));
    let Some(class) = module.class_of(ty) else {
        return Some("loads from no pointer".to_owned());
    };
    logical(module, item.word(3))
        .or_else(|| {
            let other = module.pointer(ty).is_some_and(|(_, pointee)| pointee != item.ty);
            when(other, "the result type is not the pointee type")
        })
        .or_else(|| {
            when(
                module.holds(item.ty, RUNTIME_ARRAY),
                "an array of unknown length cannot be loaded",
            )
        })
        .or_else(|| access(module, item, 4, &[class], Way::Load))
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
    let (ty, object) = (module.type_of(item.word(1)), module.type_of(item.word(2)));
    let Some(class) = module.class_of(ty) else {
        return Some("stores to no pointer".to_owned());
    };
    // An untyped pointer's pointee type is given by each access.
    let pointee = module.pointer(ty).map_or(object, |(_, pointee)| pointee);
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
                module.opcode(pointee) == op::TYPE_VOID || pointee != object,
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
        .or_else(|| access(module, item, 3, &[class], Way::Store))
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
            op::UNTYPED_ACCESS_CHAIN_KHR
            | op::UNTYPED_IN_BOUNDS_ACCESS_CHAIN_KHR
            | op::UNTYPED_PTR_ACCESS_CHAIN_KHR
            | op::UNTYPED_IN_BOUNDS_PTR_ACCESS_CHAIN_KHR => id = item.word(4),
            op::VARIABLE | op::UNTYPED_VARIABLE_KHR => {
                let mut ty = module.variable(&item).map_or(0, |(_, pointee)| pointee);
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
    let [to, from] = [1, 2].map(|at| module.class_of(module.type_of(item.word(at))));
    let (Some(to), Some(from)) = (to, from) else {
        return Some("copies between two pointers".to_owned());
    };
    let [target, source] = [1, 2].map(|at| module.pointee(item.word(at)));
    let typed: Vec<u32> = [target, source].into_iter().filter(|ty| *ty != 0).collect();
    let sized = item.opcode() == op::COPY_MEMORY_SIZED;
    let at = if sized { 4 } else { 3 };
    let void = typed.iter().any(|ty| module.opcode(*ty) == op::TYPE_VOID);
    let apart = typed.windows(2).any(|pair| pair[0] != pair[1]);
    when(!sized && (apart || void), "the pointers point to different types")
        .or_else(|| when(!sized && typed.is_empty(), "neither pointer tells the type to copy"))
        .or_else(|| match sized {
            true => size(module, item.word(3), [to, from]),
            false => None,
        })
        .or_else(|| {
            let first = *item.words.get(at)?;
            let next = at + access_words(first);
            let second = item.words.get(next).copied();
            access(module, item, at, &[to, from], Way::Copy)
                .or_else(|| second.and_then(|_| access(module, item, next, &[to, from], Way::Copy)))
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

/// A byte count for copies between two storage classes.
fn size(module: &Checked<'_>, id: u32, classes: [u32; 2]) -> Why {
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
        .or_else(|| {
            let has = |capability| module.capabilities.contains(&capability);
            let both = |by: &Stored| classes.iter().all(|class| stored(module, *class, by));
            let bytes = has(capability::INT_8) || both(&BITS_8);
            let pairs = bytes || has(capability::INT_16) || both(&BITS_16);
            let value = module.known_word(id).filter(|_| module.shader)?;
            let odd = value % 4 != 0 && !pairs || value % 2 != 0 && !bytes;
            when(odd, "copies of less than 4 bytes need a capability of small numbers")
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
    let types = [3, 4].map(|at| module.type_of(item.word(at)));
    let [class, other] = types.map(|ty| module.class_of(ty));
    let untyped = item.opcode() != op::PTR_DIFF && types.iter().any(|ty| module.untyped(*ty));
    when(
        !module.physical && !module.variable_pointers(),
        "comparing pointers needs variable pointers",
    )
    .or_else(|| when(!r.scalar(base), "the result is not of the opcode's type"))
    .or_else(|| {
        when(
            class.is_none() || class != other || !untyped && types[0] != types[1],
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
