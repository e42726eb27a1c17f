//! Access chains, typed, untyped and raw, and lengths of arrays.

use super::form::{Base, Form, Why, when};
use super::shapes::{self, Row, Want};
use super::{Checked, Item};
use crate::spirv::{capability, class, decoration as dec, op};

/// The operands of a chain.
struct Chain<'a> {
    base: u32,
    /// The type that the base points to, which an untyped chain names.
    ty: u32,
    element: Option<u32>,
    indices: &'a [u32],
    untyped: bool,
}

impl<'a> Chain<'a> {
    fn new(module: &Checked<'_>, item: &Item<'a>) -> Self {
        let name = item.name();
        let untyped = name.starts_with("Untyped");
        let at = if untyped { 4 } else { 3 };
        let base = item.word(at);
        let ty = match untyped {
            true => item.word(3),
            false => module.pointer(module.type_of(base)).map_or(0, |(_, pointee)| pointee),
        };
        let element = name.contains("Ptr").then(|| item.word(at + 1));
        let skip = at + 1 + usize::from(element.is_some());
        Self {
            base,
            ty,
            element,
            indices: item.words.get(skip..).unwrap_or(&[]),
            untyped,
        }
    }
}

/// Checks an access chain.
pub(super) fn chain(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let chain = Chain::new(module, item);
    let from = module.type_of(chain.base);
    let Some(class) = module.class_of(from).filter(|_| chain.untyped || !module.untyped(from)) else {
        return Some("the base is not a pointer".to_owned());
    };
    if item.opcode() == op::PTR_ACCESS_CHAIN && !module.physical && !module.variable_pointers() {
        return Some("a chain from a pointer's element needs variable pointers".to_owned());
    }
    if chain.untyped && (!module.is_type(chain.ty) || module.class_of(chain.ty).is_some()) {
        return Some(format!("%{} is not a type that a pointer may step through", chain.ty));
    }
    if chain.element.is_some_and(|id| !module.of(id).scalar(Base::Int)) {
        return Some("the element is not an integer".to_owned());
    }
    if chain.indices.len() > 255 {
        return Some("more than 255 indices".to_owned());
    }
    let mut ty = chain.ty;
    for id in chain.indices {
        if !module.of(*id).scalar(Base::Int) {
            return Some(format!("index %{id} is not an integer"));
        }
        match module.member(ty, module.constant(*id), false) {
            Some(member) => ty = member,
            None => return Some(format!("index %{id} reaches no member")),
        }
    }
    match chain.untyped {
        true => when(
            !module.untyped(item.ty) || module.class_of(item.ty) != Some(class),
            "the result type is not an untyped pointer of the base's storage class",
        ),
        false => when(
            module.pointer(item.ty) != Some((class, ty)),
            "the result type is not a pointer to the indexed type",
        ),
    }
    .or_else(|| match item.opcode() {
        op::PTR_ACCESS_CHAIN => strided(module, from, class),
        _ => None,
    })
}

/// `OpPtrAccessChain` requires an array stride on the pointer type.
fn strided(module: &Checked<'_>, from: u32, class: u32) -> Why {
    let workgroup = class == class::WORKGROUP && module.capabilities.contains(&capability::WORKGROUP_EXPLICIT_LAYOUT);
    let laid_out = matches!(
        class,
        class::UNIFORM | class::STORAGE_BUFFER | class::PHYSICAL_STORAGE_BUFFER | class::PUSH_CONSTANT
    );
    when(
        module.shader && (laid_out || workgroup) && !module.decorated(from, dec::ARRAY_STRIDE),
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

/// Whether a constant integer is negative.
pub(super) fn negative(module: &Checked<'_>, id: u32) -> bool {
    let Some(item) = module.def(id).filter(|item| item.opcode() == op::CONSTANT) else {
        return false;
    };
    let signed = module.def(item.ty).is_some_and(|ty| ty.word(3) == 1);
    signed && item.words.last().is_some_and(|word| word >> 31 == 1)
}

/// Operands of a raw chain: base, stride in bytes, element, offset in bytes.
const RAW: [Row; 1] = [(
    op::RAW_ACCESS_CHAIN_NV,
    &[Want::Pointer, Want::Any, Want::Int, Want::Word, Want::Word],
)];

/// Checks `OpRawAccessChainNV`, which addresses bytes of a buffer.
pub(super) fn raw(module: &Checked<'_>, item: &Item<'_>) -> Why {
    const PER_COMPONENT: u32 = 1;
    const PER_ELEMENT: u32 = 2;
    const BUFFERS: [u32; 3] = [class::STORAGE_BUFFER, class::PHYSICAL_STORAGE_BUFFER, class::UNIFORM];
    let (class, pointee) = module.pointer(item.ty).unwrap_or_default();
    let whole = matches!(
        module.opcode(pointee),
        op::TYPE_ARRAY | op::TYPE_MATRIX | op::TYPE_STRUCT
    );
    let stride = item.word(4);
    let robust = item.words.get(7).copied().unwrap_or(0) & (PER_COMPONENT | PER_ELEMENT);
    shapes::check(module, item, &RAW)
        .or_else(|| {
            when(
                !BUFFERS.contains(&class),
                "the result does not point into a storage, physical storage or uniform buffer",
            )
        })
        .or_else(|| when(whole, "the result points to an array, matrix or struct"))
        .or_else(|| when(module.opcode(stride) != op::CONSTANT, "the stride is not an OpConstant"))
        .or_else(|| {
            when(
                robust & PER_ELEMENT != 0 && module.constant(stride) == Some(0),
                "robustness per element needs a stride above 0",
            )
        })
        .or_else(|| {
            when(
                robust != 0 && class == class::PHYSICAL_STORAGE_BUFFER,
                "a physical storage buffer has no bounds",
            )
        })
        .or_else(|| {
            when(
                robust == PER_COMPONENT | PER_ELEMENT,
                "robustness is per component or per element",
            )
        })
}

/// The storage class and the type of data that an instruction reaches through an untyped pointer.
pub(super) fn untyped_access(module: &Checked<'_>, item: &Item<'_>) -> Option<(u32, u32)> {
    let (pointer, ty) = match item.opcode() {
        op::UNTYPED_ACCESS_CHAIN_KHR
        | op::UNTYPED_IN_BOUNDS_ACCESS_CHAIN_KHR
        | op::UNTYPED_PTR_ACCESS_CHAIN_KHR
        | op::UNTYPED_IN_BOUNDS_PTR_ACCESS_CHAIN_KHR => (item.ty, item.word(3)),
        op::UNTYPED_ARRAY_LENGTH_KHR => (module.type_of(item.word(4)), item.word(3)),
        op::LOAD => (module.type_of(item.word(3)), item.ty),
        op::STORE => (module.type_of(item.word(1)), module.type_of(item.word(2))),
        _ => return None,
    };
    let class = module.class_of(pointer).filter(|_| module.untyped(pointer))?;
    Some((class, ty))
}

/// Checks the length of a struct's last member.
pub(super) fn array_length(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let untyped = item.opcode() == op::UNTYPED_ARRAY_LENGTH_KHR;
    let (ty, member) = match untyped {
        true => (item.word(3), item.word(5)),
        false => {
            let pointer = module.pointer(module.type_of(item.word(3)));
            (pointer.map_or(0, |(_, pointee)| pointee), item.word(4))
        }
    };
    let members = module
        .def(ty)
        .filter(|t| t.opcode() == op::TYPE_STRUCT)
        .map_or(&[][..], |t| t.args());
    let last = members
        .last()
        .is_some_and(|last| module.opcode(*last) == op::TYPE_RUNTIME_ARRAY);
    when(
        untyped && !module.untyped(module.type_of(item.word(4))),
        "needs an untyped pointer",
    )
    .or_else(|| {
        when(
            !last || members.len() != member as usize + 1,
            "not a struct's last member of runtime length",
        )
    })
    .or_else(|| {
        when(
            module.form(item.ty) != Form::WORD || !module.unsigned(item.ty),
            "the result is not a 32-bit unsigned integer",
        )
    })
}
