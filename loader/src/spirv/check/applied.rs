//! Checks decorations by the kind of their target, including those applied through groups.

use super::form::{Base, Why, when};
use super::{Checked, Given, Item, scopes};
use crate::spirv::transform::id_operands;
use crate::spirv::{Image, class, decoration as dec, op};
use std::collections::{HashMap, HashSet};

pub(super) fn check(module: &mut Checked<'_>) {
    linkage(module);
    let blocks = pointers_to_blocks(module);
    let rounded = rounded(module);
    for at in 0..module.given.len() {
        let given = module.given[at];
        let Some(target) = module.def(given.target) else {
            continue;
        };
        if let Some(why) = applied(module, &given, &target, &blocks, &rounded) {
            let item = module.items[given.at];
            let name = module.decoration_name(given.kind);
            module.fail("decoration", &item, format!("{name} on %{}: {why}", given.target));
        }
    }
}

fn applied(
    module: &Checked<'_>,
    given: &Given,
    target: &Item<'_>,
    blocks: &HashSet<u32>,
    rounded: &HashMap<u32, &'static str>,
) -> Why {
    let of = target.opcode();
    let whole = given.member.is_none();
    let of_struct = of == op::TYPE_STRUCT;
    match given.kind {
        dec::FP_ROUNDING_MODE if module.shader => when(
            target.opcode() != op::F_CONVERT,
            "only conversions between float widths have a rounding mode",
        )
        .or_else(|| rounded.get(&given.target).map(|why| (*why).to_owned()))
        .or_else(|| {
            // RTE and RTZ.
            let known = module.items[given.at].words.last().is_some_and(|mode| *mode <= 1);
            when(module.vulkan.is_some() && !known, "Vulkan rounds by RTE and RTZ only")
        }),
        dec::FP_FAST_MATH_MODE => {
            let mode = module.items[given.at].words.last().copied().unwrap_or(0);
            transforms(mode).or_else(|| {
                let strict = module.decorated(given.target, dec::NO_CONTRACTION);
                when(strict, "NoContraction excludes FPFastMathMode")
            })
        }
        dec::NON_WRITABLE if whole => when(
            !never_written(module, target, blocks),
            "is not an image, block or buffer",
        ),
        dec::UNIFORM | dec::UNIFORM_ID => {
            let id = module.items[given.at].word(3);
            when(
                target.ty == 0 || module.opcode(target.ty) == op::TYPE_VOID,
                "is not a value",
            )
            .or_else(|| match given.kind {
                dec::UNIFORM_ID => scopes::execution(module, &module.items[given.at], id),
                _ => None,
            })
        }
        dec::NO_SIGNED_WRAP | dec::NO_UNSIGNED_WRAP => {
            const WRAPS: [u16; 6] = [
                op::I_ADD,
                op::I_SUB,
                op::I_MUL,
                op::SHIFT_LEFT_LOGICAL,
                op::S_NEGATE,
                op::EXT_INST,
            ];
            when(!WRAPS.contains(&target.opcode()), "does not wrap")
        }
        dec::BLOCK | dec::BUFFER_BLOCK => when(!of_struct, "is not a struct"),
        dec::ARRAY_STRIDE if matches!(of, op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) => {
            let element = target.word(2);
            let block = [dec::BLOCK, dec::BUFFER_BLOCK]
                .iter()
                .any(|kind| module.decorated(element, *kind));
            when(block, "is an array of blocks")
        }
        dec::LOCATION => when(
            of != op::VARIABLE && (whole || !of_struct),
            "is not a variable and no member",
        ),
        dec::COMPONENT => component(module, given, target),
        dec::RELAXED_PRECISION => {
            let ty = target.row.is_type() && of != op::TYPE_FORWARD_POINTER;
            when(ty && (whole || !of_struct), "is a type")
        }
        dec::COHERENT | dec::VOLATILE => {
            // Under the Vulkan memory model, each access states its availability and visibility.
            when(
                module.memory_model == VULKAN_MODEL,
                "is not allowed in the Vulkan memory model",
            )
        }
        _ => None,
    }
}

/// Values decorated NoContraction, or Fast by FPFastMathMode.
pub(super) fn without_default(module: &Checked<'_>) -> impl Iterator<Item = u32> {
    const FAST: u32 = 0x10;
    let fast = |given: &Given| module.items[given.at].words.last().is_some_and(|bits| bits & FAST != 0);
    let all = module.given.iter();
    all.filter(move |given| match given.kind {
        dec::NO_CONTRACTION => true,
        dec::FP_FAST_MATH_MODE => fast(given),
        _ => false,
    })
    .map(|given| given.target)
}

/// Bits of FPFastMathMode that belong together.
pub(super) fn transforms(bits: u32) -> Why {
    const ALLOW_TRANSFORM: u32 = 0x40000;
    /// AllowContract and AllowReassoc.
    const BOTH: u32 = 0x30000;
    let alone = bits & ALLOW_TRANSFORM != 0 && bits & BOTH != BOTH;
    when(alone, "AllowTransform needs AllowContract and AllowReassoc")
}

/// The Vulkan memory model.
const VULKAN_MODEL: u32 = 3;

/// Linkage of functions and variables.
fn linkage(module: &mut Checked<'_>) {
    /// The linkage type Import.
    const IMPORT: u32 = 1;
    let mut imported = HashSet::new();
    for given in module
        .given
        .iter()
        .filter(|given| given.kind == dec::LINKAGE_ATTRIBUTES)
    {
        if module.items[given.at].words.last() == Some(&IMPORT) {
            imported.insert(given.target);
        }
    }
    let entries: HashSet<u32> = module
        .given
        .iter()
        .filter(|given| given.kind == dec::LINKAGE_ATTRIBUTES)
        .map(|given| given.target)
        .collect();
    let mut function = None;
    for at in 0..module.items.len() {
        let item = module.items[at];
        match item.opcode() {
            op::ENTRY_POINT if entries.contains(&item.word(2)) => {
                module.fail("linkage", &item, "an entry point has no linkage");
            }
            op::VARIABLE if item.words.len() == 5 && imported.contains(&item.result) => {
                module.fail("linkage", &item, "a variable that is imported has no initializer");
            }
            op::FUNCTION => function = Some((item, false)),
            op::LABEL => function = function.map(|(item, _)| (item, true)),
            op::FUNCTION_END => {
                if let Some((item, defined)) = function.take()
                    && defined == imported.contains(&item.result)
                {
                    let why = match defined {
                        true => "a function that is imported has no body",
                        false => "a function without a body is imported",
                    };
                    module.fail("linkage", &item, why);
                }
            }
            _ => {}
        }
    }
}

/// Pointer types of variables that are blocks and buffers.
fn pointers_to_blocks(module: &Checked<'_>) -> HashSet<u32> {
    let first = module.first_function.min(module.items.len());
    let variables = module.items[..first]
        .iter()
        .filter(|item| item.opcode() == op::VARIABLE);
    let blocks = variables.filter(|item| {
        let Some((class, mut ty)) = module.pointer(item.ty) else {
            return false;
        };
        if matches!(module.opcode(ty), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) {
            ty = module.def(ty).map_or(0, |array| array.word(2));
        }
        let (block, buffer) = (
            module.decorated(ty, dec::BLOCK),
            module.decorated(ty, dec::BUFFER_BLOCK),
        );
        match class {
            class::UNIFORM => block || buffer,
            class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER => block,
            _ => false,
        }
    });
    blocks.map(|item| item.ty).collect()
}

/// Whether a memory object may be decorated NonWritable.
fn never_written(module: &Checked<'_>, target: &Item<'_>, blocks: &HashSet<u32>) -> bool {
    if !matches!(
        target.opcode(),
        op::VARIABLE | op::UNTYPED_VARIABLE_KHR | op::FUNCTION_PARAMETER
    ) {
        return false;
    }
    let class = (target.opcode() == op::VARIABLE).then(|| target.word(3));
    if module.words[1] >= 0x10400 && matches!(class, Some(class::FUNCTION | class::PRIVATE)) {
        return true;
    }
    if blocks.contains(&target.ty) || module.untyped(target.ty) {
        return true;
    }
    let Some((class::UNIFORM_CONSTANT, mut ty)) = module.pointer(target.ty) else {
        return false;
    };
    if matches!(module.opcode(ty), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) {
        ty = module.def(ty).map_or(0, |array| array.word(2));
    }
    module.opcode(ty) == op::TYPE_IMAGE && module.image(ty).is_some_and(|image| image.sampled == Image::STORAGE)
}

fn component(module: &Checked<'_>, given: &Given, target: &Item<'_>) -> Why {
    let mut ty = match given.member {
        Some(member) => target.args().get(member as usize).copied().unwrap_or(0),
        None => match target.opcode() {
            op::VARIABLE | op::FUNCTION_PARAMETER => module.pointer(target.ty).map_or(target.ty, |(_, ty)| ty),
            _ => return Some("is not a memory object".to_owned()),
        },
    };
    if given.member.is_none()
        && target.opcode() == op::VARIABLE
        && !matches!(target.word(3), class::INPUT | class::OUTPUT)
    {
        return Some("is not an input or output".to_owned());
    }
    module.vulkan?;
    while module.opcode(ty) == op::TYPE_ARRAY {
        ty = module.def(ty).map_or(0, |array| array.word(2));
    }
    let form = module.form(ty);
    let first = *module.items[given.at].words.last()?;
    let slots = if form.width == 64 {
        form.count.saturating_mul(2)
    } else {
        form.count
    };
    when(
        !matches!(form.base, Base::Int | Base::Float),
        "is not a scalar or vector",
    )
    .or_else(|| when(first.saturating_add(slots) > 4, "does not fit into four components"))
    .or_else(|| when(form.width == 64 && first % 2 != 0, "64 bits begin at an even component"))
}

/// Conversions with a rounding mode, by id, whose results are used other than by 16-bit stores.
fn rounded(module: &Checked<'_>) -> HashMap<u32, &'static str> {
    let rounding = |given: &&Given| given.kind == dec::FP_ROUNDING_MODE;
    let ids: HashSet<u32> = module.given.iter().filter(rounding).map(|given| given.target).collect();
    let mut wrong = HashMap::new();
    if ids.is_empty() || !module.shader {
        return wrong;
    }
    let first = module.first_function.min(module.items.len());
    let bodies = module.items[first..].iter();
    for item in bodies.filter(|item| !matches!(item.opcode(), op::LINE | op::NO_LINE | op::EXT_INST)) {
        for id in id_operands(item.words).filter(|id| ids.contains(id) && *id != item.result) {
            let (class, ty) = module.pointer(module.type_of(item.word(1))).unwrap_or_default();
            let form = module.form(ty);
            const STORED: [u32; 6] = [
                class::STORAGE_BUFFER,
                class::UNIFORM,
                class::PUSH_CONSTANT,
                class::INPUT,
                class::OUTPUT,
                class::PHYSICAL_STORAGE_BUFFER,
            ];
            let why = match item.opcode() {
                op::F_CONVERT => None,
                op::STORE if item.word(2) != id => Some("is not an object of a store"),
                op::STORE if form.base != Base::Float || form.width != 16 => Some("is not stored as 16 bits"),
                op::STORE if !STORED.contains(&class) => Some("is not stored where others read it"),
                op::STORE => None,
                _ => Some("is used by instructions other than stores"),
            };
            wrong.extend(why.map(|why| (id, why)));
        }
    }
    wrong
}
