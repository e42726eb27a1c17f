//! Types of results and operands.

use super::form::{Base, Why, when};
use super::functions::Place;
use super::{
    Checked, Item, arithmetic, chains, composites, constants, contents, cooperative, debug_info, extended, functions,
    groups, images, maxima, memory, pointers, rays, reflection, scopes, tensors,
};
use crate::spirv::{capability, class, decoration as dec, op};
use std::collections::HashSet;

pub(super) fn check(module: &mut Checked<'_>) {
    let mut unique = HashSet::new();
    let (mut function, mut parameters) = (0, 0);
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.opcode() == op::FUNCTION {
            (function, parameters) = (at, 0);
        }
        parameters += usize::from(item.opcode() == op::FUNCTION_PARAMETER);
        let place = Place { function, parameters };
        let why = result_type(module, &item)
            .or_else(|| quantized(module, &item))
            .or_else(|| match item.row.is_type() {
                true => type_rules(module, &item, &mut unique),
                false => rules(module, &item, place),
            });
        if let Some(why) = why {
            let group = item.name().starts_with("GroupNonUniform");
            module.fail(if group { "group-operation" } else { "type" }, &item, why);
        } else if let Some(why) = doubtful(module, &item, at) {
            module.warn("type", &item, why);
        }
    }
    cooperative::workgroups(module);
}

/// Specialisation constants by `OpQuantizeToF16` are 32-bit floats.
fn quantized(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let of = item.opcode() == op::SPEC_CONSTANT_OP && item.word(3) == u32::from(op::QUANTIZE_TO_F16);
    let form = module.form(item.ty);
    when(
        of && (form.base != Base::Float || form.width != 32 || module.type_of(item.word(4)) != item.ty),
        "OpQuantizeToF16 is of 32-bit floats",
    )
}

/// Violations of the specification that SPIRV-Tools accepts.
fn doubtful(module: &Checked<'_>, item: &Item<'_>, at: usize) -> Why {
    match item.opcode() {
        op::SPEC_CONSTANT_OP => {
            let row = module.grammar.row(item.word(3) as u16)?;
            let words: Vec<u32> = [&item.words[..3], item.words.get(4..)?].concat();
            let inner = Item {
                row,
                words: &words,
                // Those of the item are places in its own words.
                operands: (0, 0),
                ..*item
            };
            rules_of_values(module, &inner)
        }
        op::TYPE_INT => when(item.word(3) > 1, "signedness is 0 or 1"),
        op::CONSTANT_NULL | op::SELECT | op::PHI => pointers::doubtful(module, item),
        op::GROUP_NON_UNIFORM_I_ADD..=op::GROUP_NON_UNIFORM_LOGICAL_XOR => groups::doubtful(module, item),
        // The value read is undefined, but the module is valid.
        op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => {
            let mut indices = item.words.get(4..)?.iter();
            let below = indices.find(|id| chains::negative(module, **id))?;
            Some(format!("index %{below} is negative"))
        }
        op::FUNCTION => {
            let ty = module.def(item.word(4))?;
            let follow = module.items[at + 1..]
                .iter()
                .filter(|i| !matches!(i.opcode(), op::LINE | op::NO_LINE));
            let given = follow.take_while(|i| i.opcode() == op::FUNCTION_PARAMETER).count();
            when(
                ty.args().len() != given + 1,
                "the function type has another number of parameters",
            )
        }
        _ => None,
    }
}

fn result_type(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if !item.row.has_type {
        return None;
    }
    let may_be_void = || {
        let of = item.opcode();
        matches!(
            of,
            op::FUNCTION | op::FUNCTION_CALL | op::EXT_INST | op::EXT_INST_WITH_FORWARD_REFS_KHR | op::SPEC_CONSTANT_OP
        ) || item.name().contains("INTEL")
    };
    match module.opcode(item.ty) {
        op::TYPE_VOID => when(!may_be_void(), "the result type is void"),
        _ => when(!module.is_type(item.ty), "the result type is not a type"),
    }
}

fn type_rules(module: &Checked<'_>, item: &Item<'_>, unique: &mut HashSet<Vec<u32>>) -> Why {
    let is_type = |id: u32| module.is_type(id);
    let name = item.opcode();
    let unique_by_rule = !matches!(
        name,
        op::TYPE_STRUCT
            | op::TYPE_ARRAY
            | op::TYPE_RUNTIME_ARRAY
            | op::TYPE_POINTER
            | op::TYPE_UNTYPED_POINTER_KHR
            | op::TYPE_NODE_PAYLOAD_ARRAY_AMDX
    );
    if unique_by_rule && !module.extends("SPV_VALIDATOR_ignore_type_decl_unique") {
        let mut key = vec![item.row.opcode];
        key.extend(if item.result == 0 {
            &item.words[1..]
        } else {
            item.args()
        });
        if !unique.insert(key) {
            return Some("the same type is declared before".to_owned());
        }
    }
    match name {
        op::TYPE_INT => when(
            !matches!(item.word(2), 8 | 16 | 32 | 64),
            "an integer has 8, 16, 32 or 64 bits",
        )
        .or_else(|| {
            // SPIRV-Tools checks the sign of 32-bit integers only; the others are warnings.
            let signed = item.word(2) == 32 && item.word(3) != 0;
            let kernel = module.capabilities.contains(&capability::KERNEL);
            when(signed && item.word(3) > 1, "signedness is 0 or 1")
                .or_else(|| when(signed && kernel, "integers of kernels have no sign"))
        })
        .or_else(|| width(module, item, &INTS)),
        op::TYPE_FLOAT => when(!matches!(item.word(2), 16 | 32 | 64), "a float has 16, 32 or 64 bits")
            .or_else(|| width(module, item, &FLOATS)),
        op::TYPE_VECTOR => {
            let form = module.form(item.word(2));
            when(
                form.base == Base::Other || form.count != 1,
                "components of a vector are scalars",
            )
            .or_else(|| {
                when(
                    !matches!(item.word(3), 2..=4 | 8 | 16),
                    "a vector has 2, 3, 4, 8 or 16 components",
                )
            })
            .or_else(|| {
                when(
                    item.word(3) > 4 && !module.capabilities.contains(&capability::VECTOR_16),
                    "8 or 16 components need the capability Vector16",
                )
            })
        }
        op::TYPE_MATRIX => {
            let form = module.form(item.word(2));
            when(
                form.base != Base::Float || form.count < 2,
                "columns of a matrix are vectors of floats",
            )
            .or_else(|| when(!(2..=4).contains(&item.word(3)), "a matrix has 2 to 4 columns"))
        }
        op::TYPE_ARRAY => {
            let length = item.word(3);
            let constant = module
                .def(length)
                .is_some_and(|length| length.name().contains("Constant"));
            when(
                !is_type(item.word(2)) || module.opcode(item.word(2)) == op::TYPE_VOID,
                "the element is not a type with a size",
            )
            .or_else(|| {
                when(
                    module.vulkan.is_some() && module.opcode(item.word(2)) == op::TYPE_RUNTIME_ARRAY,
                    "an array of runtime arrays",
                )
            })
            .or_else(|| {
                when(
                    !constant || module.of(length).base != Base::Int || module.of(length).count != 1,
                    "the length is not a constant integer",
                )
            })
            .or_else(|| {
                when(
                    module.def(length).is_some_and(|length| module.empty(&length)),
                    "the length is not above 0",
                )
            })
        }
        op::TYPE_RUNTIME_ARRAY => when(
            !is_type(item.word(2)) || module.opcode(item.word(2)) == op::TYPE_VOID,
            "the element is not a type with a size",
        )
        .or_else(|| {
            let nested = module.opcode(item.word(2)) == op::TYPE_RUNTIME_ARRAY;
            when(nested && module.vulkan.is_some(), "a runtime array of runtime arrays")
        }),
        op::TYPE_STRUCT => structure(module, item),
        op::TYPE_POINTER => when(!is_type(item.word(3)), "points to no type").or_else(|| {
            let function = module.opcode(item.word(3)) == op::TYPE_FUNCTION;
            when(
                function && !module.capabilities.contains(&capability::FUNCTION_POINTERS_INTEL),
                "points to a function",
            )
        }),
        op::TYPE_FUNCTION => {
            let void = item
                .args()
                .iter()
                .skip(1)
                .find(|id| !is_type(**id) || module.opcode(**id) == op::TYPE_VOID);
            when(!is_type(item.word(2)), "returns no type")
                .or_else(|| void.map(|id| format!("%{id} is not a parameter type")))
        }
        op::TYPE_FORWARD_POINTER => forward(module, item),
        op::TYPE_SAMPLED_IMAGE => images::sampled_image_type(module, item),
        op::TYPE_IMAGE => images::image_type(module, item),
        op::TYPE_COOPERATIVE_MATRIX_NV | op::TYPE_COOPERATIVE_MATRIX_KHR | op::TYPE_COOPERATIVE_VECTOR_NV => {
            cooperative::check(module, item)
        }
        op::TYPE_TENSOR_LAYOUT_NV | op::TYPE_TENSOR_VIEW_NV => tensors::check(module, item),
        _ => None,
    }
}

fn structure(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let kind = |id: u32| module.opcode(id);
    let members = item.args();
    let block = |id: u32| module.decorated(id, dec::BLOCK) || module.decorated(id, dec::BUFFER_BLOCK);
    let bad = members.iter().find(|id| {
        **id == item.result || !module.is_type(**id) || matches!(kind(**id), op::TYPE_VOID | op::TYPE_FORWARD_POINTER)
    });
    let structs = || members.iter().filter(|id| kind(**id) == op::TYPE_STRUCT);
    bad.map(|id| format!("%{id} is not a member type"))
        .or_else(|| when(members.len() > maxima::MEMBERS, "a struct has 16383 members at most"))
        .or_else(|| {
            let nested = structs().find(|id| module.any_built_in(**id));
            nested.map(|id| format!("%{id} has built-in members and is a member itself"))
        })
        .or_else(|| {
            let inner = members.iter().find(|id| module.blocks.contains(id));
            inner
                .filter(|_| block(item.result))
                .map(|id| format!("a block holds the block %{id}"))
        })
        .or_else(|| {
            let open = members
                .iter()
                .rev()
                .skip(1)
                .any(|id| kind(*id) == op::TYPE_RUNTIME_ARRAY);
            let opaque = module.holds(item.result, contents::OPAQUE);
            let bindless = module.capabilities.contains(&capability::BINDLESS_TEXTURE_NV);
            let vulkan = module.vulkan.is_some();
            when(vulkan && open, "only the last member may be a runtime array").or_else(|| {
                when(
                    vulkan && opaque && !bindless,
                    "Vulkan's structs hold no images and samplers",
                )
            })
        })
}

/// A forward-declared pointer.
fn forward(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let Some((class, pointee)) = module.pointer(item.word(1)) else {
        return Some("declares an id that is not a pointer type".to_owned());
    };
    when(class != item.word(2), "the pointer type has another storage class")
        .or_else(|| {
            when(
                module.opcode(pointee) != op::TYPE_STRUCT,
                "the pointer does not lead to a struct",
            )
        })
        .or_else(|| {
            let physical = class == class::PHYSICAL_STORAGE_BUFFER;
            when(
                module.vulkan.is_some() && !physical,
                "Vulkan has forward pointers to physical storage buffers only",
            )
        })
}

/// Optional widths of numbers, with the capabilities any of which enables them.
type Widths = [(u32, &'static [u32])];

const INTS: [(u32, &[u32]); 3] = [
    (
        8,
        &[
            capability::INT_8,
            capability::STORAGE_BUFFER_8,
            capability::STORAGE_UNIFORM_8,
            capability::STORAGE_PUSH_CONSTANT_8,
            capability::WORKGROUP_EXPLICIT_LAYOUT_8,
        ],
    ),
    (
        16,
        &[
            capability::INT_16,
            capability::STORAGE_BUFFER_16,
            capability::STORAGE_UNIFORM_16,
            capability::STORAGE_PUSH_CONSTANT_16,
            capability::STORAGE_INPUT_OUTPUT_16,
            capability::WORKGROUP_EXPLICIT_LAYOUT_16,
        ],
    ),
    (64, &[capability::INT_64]),
];

const FLOATS: [(u32, &[u32]); 2] = [
    (
        16,
        &[
            capability::FLOAT_16,
            capability::FLOAT_16_BUFFER,
            capability::STORAGE_BUFFER_16,
            capability::STORAGE_UNIFORM_16,
            capability::STORAGE_PUSH_CONSTANT_16,
            capability::STORAGE_INPUT_OUTPUT_16,
            capability::WORKGROUP_EXPLICIT_LAYOUT_16,
        ],
    ),
    (64, &[capability::FLOAT_64]),
];

fn width(module: &Checked<'_>, item: &Item<'_>, widths: &Widths) -> Why {
    let (bits, any) = widths.iter().find(|row| row.0 == item.word(2))?;
    let have = any.iter().any(|capability| module.capabilities.contains(capability));
    let by_extension =
        *bits == 16 && item.opcode() == op::TYPE_FLOAT && module.extends("SPV_AMD_gpu_shader_half_float_fetch");
    (!have && !by_extension).then(|| format!("{bits} bits need a capability"))
}

fn rules(module: &Checked<'_>, item: &Item<'_>, place: Place) -> Why {
    match item.opcode() {
        op::ENTRY_POINT => memory::listed(module, item),
        op::NOP..=op::CAPABILITY
            if !matches!(item.opcode(), op::UNDEF | op::LINE | op::EXT_INST | op::EXT_INST_IMPORT) =>
        {
            None
        }
        op::EXT_INST_IMPORT => reflection::import(module, item),
        op::EXT_INST | op::EXT_INST_WITH_FORWARD_REFS_KHR => extended::extended(module, item)
            .or_else(|| reflection::declaration(module, item))
            .or_else(|| debug_info::relaxed(module, item))
            .or_else(|| debug_info::check(module, item, place)),
        op::CONSTANT_TRUE..=op::SPEC_CONSTANT_OP => {
            constants::constants(module, item).or_else(|| pointers::check(module, item))
        }
        op::VARIABLE
        | op::LOAD..=op::ARRAY_LENGTH
        | op::IN_BOUNDS_PTR_ACCESS_CHAIN
        | op::UNTYPED_VARIABLE_KHR..=op::UNTYPED_IN_BOUNDS_ACCESS_CHAIN_KHR
        | op::UNTYPED_PTR_ACCESS_CHAIN_KHR..=op::UNTYPED_ARRAY_LENGTH_KHR
        | op::RAW_ACCESS_CHAIN_NV => memory::memory(module, item).or_else(|| pointers::check(module, item)),
        op::DECORATE..=op::MEMBER_DECORATE => None,
        _ => pointers::check(module, item)
            .or_else(|| functions::functions(module, item, place))
            .or_else(|| rules_of_values(module, item))
            .or_else(|| rays::check(module, item)),
    }
}

/// Rules of instructions that compute values.
fn rules_of_values(module: &Checked<'_>, item: &Item<'_>) -> Why {
    match item.opcode() {
        op::VECTOR_EXTRACT_DYNAMIC..=op::TRANSPOSE | op::COPY_LOGICAL => composites::composites(module, item),
        op::IMAGE_TEXEL_POINTER | op::SAMPLED_IMAGE..=op::IMAGE_QUERY_SAMPLES => images::images(module, item),
        op::ATOMIC_FLAG_TEST_AND_SET | op::ATOMIC_FLAG_CLEAR => scopes::atomics(module, item),
        op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_SPARSE_READ => images::images(module, item),
        op::IMAGE_SAMPLE_WEIGHTED_QCOM..=op::IMAGE_BLOCK_MATCH_SAD_QCOM
        | op::IMAGE_BLOCK_MATCH_WINDOW_SSD_QCOM..=op::IMAGE_BLOCK_MATCH_GATHER_SAD_QCOM => images::images(module, item),
        op::CONTROL_BARRIER | op::MEMORY_BARRIER | op::NAMED_BARRIER_INITIALIZE | op::MEMORY_NAMED_BARRIER => {
            scopes::barriers(module, item)
        }
        op::PTR_EQUAL..=op::PTR_DIFF => memory::comparison(module, item),
        _ if item.name().starts_with("Atomic") => scopes::atomics(module, item),
        _ if item.name().starts_with("GroupNonUniform") => groups::check(module, item),
        _ if item.name().starts_with("Cooperative") => cooperative::check(module, item),
        op::CREATE_TENSOR_LAYOUT_NV..=op::TENSOR_LAYOUT_SET_BLOCK_SIZE_NV => tensors::check(module, item),
        _ => arithmetic::arithmetic(module, item),
    }
}
