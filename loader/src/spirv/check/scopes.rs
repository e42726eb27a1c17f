//! Scopes and memory semantics, and the instructions that use them.

use super::form::{Base, Form, Why, when};
use super::shapes::{self, Row, Want};
use super::{Checked, Item};
use crate::spirv::{capability, op};

const CROSS_DEVICE: u32 = 0;
const DEVICE: u32 = 1;
pub(super) const WORKGROUP: u32 = 2;
const SUBGROUP: u32 = 3;
const INVOCATION: u32 = 4;
const QUEUE_FAMILY: u32 = 5;
pub(super) const SHADER_CALL: u32 = 6;

const ACQUIRE: u32 = 0x2;
const RELEASE: u32 = 0x4;
const ACQUIRE_RELEASE: u32 = 0x8;
const SEQUENTIAL: u32 = 0x10;
const ORDERS: u32 = ACQUIRE | RELEASE | ACQUIRE_RELEASE | SEQUENTIAL;
const UNIFORM: u32 = 0x40;
const STORAGE: u32 = 0x1fc0;
const OUTPUT: u32 = 0x1000;
const AVAILABLE: u32 = 0x2000;
const VISIBLE: u32 = 0x4000;
const VOLATILE: u32 = 0x8000;
/// Memory semantics that Vulkan supports: uniform, workgroup, image, output.
const OF_VULKAN: u32 = UNIFORM | 0x100 | 0x800 | OUTPUT;

/// A 32-bit integer, which shaders need as a constant; its value if known.
fn number(module: &Checked<'_>, id: u32, what: &str) -> Result<Option<u32>, String> {
    if module.of(id) != Form::WORD {
        return Err(format!("{what} %{id} is not a 32-bit integer"));
    }
    let value = module.known_word(id);
    let loose = module.capabilities.contains(&capability::COOPERATIVE_MATRIX_NV);
    if value.is_none() && module.shader && !(loose && module.is_constant(id)) {
        return Err(format!("{what} %{id} is not a constant, which a shader needs here"));
    }
    Ok(value)
}

/// A scope of any kind.
pub(super) fn scope(module: &Checked<'_>, id: u32) -> Result<Option<u32>, String> {
    let value = number(module, id, "scope")?;
    match value {
        Some(value) if value > SHADER_CALL => Err(format!("{value} is not a scope")),
        _ => Ok(value),
    }
}

/// The execution scope of a group operation.
pub(super) fn execution(module: &Checked<'_>, item: &Item<'_>, id: u32) -> Why {
    let value = match scope(module, id) {
        Ok(Some(value)) => value,
        other => return other.err(),
    };
    let group = item.name().starts_with("GroupNonUniform");
    if let Some(version) = module.vulkan {
        if version > 0x10000 && group && value != SUBGROUP {
            return Some("Vulkan has group operations of a subgroup only".to_owned());
        }
        if !matches!(value, WORKGROUP | SUBGROUP) {
            return Some("Vulkan runs in the scope of a workgroup or a subgroup".to_owned());
        }
    }
    when(
        group && !matches!(value, WORKGROUP | SUBGROUP),
        "a group's operation is of a workgroup or a subgroup",
    )
}

/// A memory scope.
pub(super) fn memory(module: &Checked<'_>, id: u32) -> Why {
    let value = match scope(module, id) {
        Ok(Some(value)) => value,
        other => return other.err(),
    };
    let has = |capability| module.capabilities.contains(&capability);
    let vulkan_model = has(capability::VULKAN_MEMORY_MODEL);
    if value == QUEUE_FAMILY && !vulkan_model {
        return Some("the scope QueueFamily needs the capability VulkanMemoryModel".to_owned());
    }
    if value == DEVICE && vulkan_model && !has(capability::VULKAN_MEMORY_MODEL_DEVICE_SCOPE) {
        return Some("the scope Device needs the capability VulkanMemoryModelDeviceScope".to_owned());
    }
    if let Some(version) = module.vulkan {
        let of_groups = has(capability::SUBGROUP_BALLOT_KHR) || has(capability::SUBGROUP_VOTE_KHR);
        if value == CROSS_DEVICE {
            return Some("Vulkan has no memory across devices".to_owned());
        }
        if version == 0x10000 && value == SUBGROUP && !of_groups {
            return Some("Vulkan 1.0 has memory of subgroups with ballots or votes only".to_owned());
        }
    }
    None
}

/// The memory semantics operand `id`; `of` is the scope it applies to.
pub(super) fn semantics(module: &Checked<'_>, item: &Item<'_>, id: u32, of: u32) -> Why {
    let value = match number(module, id, "semantics") {
        Ok(Some(value)) => value,
        other => return other.err(),
    };
    let any = |bits: u32| value & bits != 0;
    let vulkan_model = module.capabilities.contains(&capability::VULKAN_MEMORY_MODEL);
    let atomic = item.name().starts_with("Atomic");
    let wrong = [
        ((value & ORDERS).count_ones() > 1, "at most one memory order is allowed"),
        (
            module.memory_model == VULKAN_MODEL && any(SEQUENTIAL),
            "the memory model Vulkan has no SequentiallyConsistent",
        ),
        (
            any(AVAILABLE | VISIBLE | OUTPUT | VOLATILE) && !vulkan_model,
            "these semantics need the capability VulkanMemoryModel",
        ),
        (any(VOLATILE) && !atomic, "only atomic instructions are Volatile"),
        (
            any(UNIFORM) && !module.shader,
            "UniformMemory needs the capability Shader",
        ),
        (
            any(AVAILABLE | VISIBLE) && !any(STORAGE),
            "MakeAvailable and MakeVisible need a storage class",
        ),
        (
            any(VISIBLE) && !any(ACQUIRE | ACQUIRE_RELEASE),
            "MakeVisible needs Acquire or AcquireRelease",
        ),
        (
            any(AVAILABLE) && !any(RELEASE | ACQUIRE_RELEASE),
            "MakeAvailable needs Release or AcquireRelease",
        ),
        (
            item.opcode() == op::ATOMIC_FLAG_CLEAR && any(ACQUIRE | ACQUIRE_RELEASE),
            "clearing a flag has no acquire semantics",
        ),
    ];
    let found = wrong.iter().find(|row| row.0).map(|row| row.1.to_owned());
    found.or_else(|| in_vulkan(module, item, value, of))
}

/// The Vulkan memory model.
const VULKAN_MODEL: u32 = 3;

fn in_vulkan(module: &Checked<'_>, item: &Item<'_>, value: u32, of: u32) -> Why {
    module.vulkan?;
    let any = |bits: u32| value & bits != 0;
    match item.opcode() {
        op::MEMORY_BARRIER => when(!any(ORDERS), "a barrier of Vulkan has an order")
            .or_else(|| when(!any(OF_VULKAN), "a barrier of Vulkan names a kind of memory")),
        op::CONTROL_BARRIER => when(
            value != 0 && !any(OF_VULKAN),
            "a barrier of Vulkan names a kind of memory",
        ),
        op::ATOMIC_LOAD => when(
            any(RELEASE | ACQUIRE_RELEASE | SEQUENTIAL),
            "Vulkan's loads have no release semantics",
        ),
        op::ATOMIC_STORE => when(
            any(ACQUIRE | ACQUIRE_RELEASE | SEQUENTIAL),
            "Vulkan's stores have no acquire semantics",
        ),
        _ => None,
    }
    .or_else(|| {
        let alone = item.opcode() != op::MEMORY_BARRIER && module.known_word(of) == Some(INVOCATION);
        when(alone && any(ORDERS), "an invocation's private memory has no order")
    })
}

const NAMED: [Row; 2] = [
    (
        op::NAMED_BARRIER_INITIALIZE,
        &[Want::Of(op::TYPE_NAMED_BARRIER), Want::Word],
    ),
    (op::MEMORY_NAMED_BARRIER, &[Want::Of(op::TYPE_NAMED_BARRIER)]),
];

/// Barriers.
pub(super) fn barriers(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let word = |at: usize| item.word(at);
    match item.opcode() {
        op::CONTROL_BARRIER => execution(module, item, word(1))
            .or_else(|| memory(module, word(2)))
            .or_else(|| semantics(module, item, word(3), word(2))),
        op::MEMORY_BARRIER => memory(module, word(1)).or_else(|| semantics(module, item, word(2), word(1))),
        op::NAMED_BARRIER_INITIALIZE => shapes::check(module, item, &NAMED),
        op::MEMORY_NAMED_BARRIER => shapes::check(module, item, &NAMED)
            .or_else(|| memory(module, word(2)))
            .or_else(|| semantics(module, item, word(3), word(2))),
        _ => None,
    }
}

/// Storage classes that atomic instructions access: Uniform, Workgroup, CrossWorkgroup, Function, Generic,
/// AtomicCounter, Image, StorageBuffer, PhysicalStorageBuffer, TaskPayloadWorkgroupEXT.
const ATOMIC: [u32; 10] = [2, 4, 5, 7, 8, 10, 11, 12, 5349, 5402];
/// Those of them that Vulkan has.
const ATOMIC_IN_VULKAN: [u32; 6] = [2, 4, 11, 12, 5349, 5402];

/// Atomic instructions.
pub(super) fn atomics(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let opcode = item.opcode();
    let r = module.form(item.ty);
    // Two or four 16-bit floats at once, by an extension.
    let packed = r.float() && r.width == 16 && matches!(r.count, 2 | 4);
    let packed = packed && module.capabilities.contains(&capability::ATOMIC_FLOAT_16_VECTOR);
    let fits = match opcode {
        op::ATOMIC_STORE | op::ATOMIC_FLAG_CLEAR => true,
        op::ATOMIC_F_ADD_EXT | op::ATOMIC_F_MIN_EXT | op::ATOMIC_F_MAX_EXT => r.scalar(Base::Float) || packed,
        op::ATOMIC_EXCHANGE => r.scalar(Base::Float) || r.scalar(Base::Int) || packed,
        op::ATOMIC_LOAD => r.scalar(Base::Float) || r.scalar(Base::Int),
        op::ATOMIC_FLAG_TEST_AND_SET => r.scalar(Base::Bool),
        _ => r.scalar(Base::Int),
    };
    if !fits {
        return Some("the result is of no type this opcode has".to_owned());
    }
    let mut ids = item.args().iter().copied();
    let pointer = ids.next().map_or(0, |id| module.type_of(id));
    let Some(class) = module.class_of(pointer) else {
        return Some("needs a pointer".to_owned());
    };
    // An untyped pointer's pointee type is given by each access, of which flags have none.
    let accessed = match opcode {
        op::ATOMIC_STORE => module.type_of(item.word(4)),
        op::ATOMIC_FLAG_TEST_AND_SET | op::ATOMIC_FLAG_CLEAR => 0,
        _ => item.ty,
    };
    let data = module.pointer(pointer).map_or(accessed, |(_, data)| data);
    let held = module.form(data);
    when(
        held.scalar(Base::Int) && held.width == 64 && !module.capabilities.contains(&capability::INT_64_ATOMICS),
        "64 bits need the capability Int64Atomics",
    )
    .or_else(|| {
        let known: &[u32] = if module.vulkan.is_some() {
            &ATOMIC_IN_VULKAN
        } else {
            &ATOMIC
        };
        let function = module.shader && class == 7;
        when(
            !known.contains(&class) || function,
            "the pointer's storage class has no atomics",
        )
    })
    .or_else(|| {
        if packed {
            None
        } else {
            float_atomics(module, opcode, r.width)
        }
    })
    .or_else(|| {
        let points = match opcode {
            op::ATOMIC_FLAG_TEST_AND_SET | op::ATOMIC_FLAG_CLEAR => held == Form::WORD,
            op::ATOMIC_STORE => held.scalar(Base::Int) || held.scalar(Base::Float),
            _ => data == item.ty,
        };
        when(!points, "the pointee type does not match the opcode")
    })
    .or_else(|| {
        let of = ids.next()?;
        let equal = ids.next()?;
        memory(module, of)
            .or_else(|| semantics(module, item, equal, of))
            .or_else(|| {
                let exchange = matches!(opcode, op::ATOMIC_COMPARE_EXCHANGE | op::ATOMIC_COMPARE_EXCHANGE_WEAK);
                let unequal = exchange.then(|| ids.next()).flatten();
                unequal.and_then(|unequal| exchanges(module, item, equal, unequal, of))
            })
    })
    .or_else(|| {
        let mut values = ids.map(|id| module.type_of(id));
        when(
            values.any(|ty| ty != data),
            "the value is not of the type that is pointed to",
        )
    })
}

/// The semantics of a failed comparison.
fn exchanges(module: &Checked<'_>, item: &Item<'_>, equal: u32, unequal: u32, of: u32) -> Why {
    let value = module.known_word(unequal);
    semantics(module, item, unequal, of)
        .or_else(|| {
            let releases = value.is_some_and(|value| value & (RELEASE | ACQUIRE_RELEASE) != 0);
            when(
                releases && item.opcode() == op::ATOMIC_COMPARE_EXCHANGE,
                "a failed exchange has no release semantics",
            )
        })
        .or_else(|| {
            let differ = module.known_word(equal)? ^ value?;
            when(differ & VOLATILE != 0, "both semantics are Volatile or none is")
        })
}

fn float_atomics(module: &Checked<'_>, opcode: u16, width: u32) -> Why {
    let capability = match (opcode, width) {
        (op::ATOMIC_F_ADD_EXT, 16) => capability::ATOMIC_FLOAT_16_ADD,
        (op::ATOMIC_F_ADD_EXT, 32) => capability::ATOMIC_FLOAT_32_ADD,
        (op::ATOMIC_F_ADD_EXT, 64) => capability::ATOMIC_FLOAT_64_ADD,
        (op::ATOMIC_F_MIN_EXT | op::ATOMIC_F_MAX_EXT, 16) => capability::ATOMIC_FLOAT_16_MIN_MAX,
        (op::ATOMIC_F_MIN_EXT | op::ATOMIC_F_MAX_EXT, 32) => capability::ATOMIC_FLOAT_32_MIN_MAX,
        (op::ATOMIC_F_MIN_EXT | op::ATOMIC_F_MAX_EXT, 64) => capability::ATOMIC_FLOAT_64_MIN_MAX,
        _ => return None,
    };
    when(
        module.shader && !module.capabilities.contains(&capability),
        "floats of this width need a capability",
    )
}
