//! Types of results and operands.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item, arithmetic, images};
use crate::spirv::{capability, class};
use std::collections::HashSet;

impl Checked<'_> {
    /// The type of a member reached by an index; a struct wants the index itself, others only that there is one.
    fn member(&self, ty: u32, index: Option<u32>, literal: bool) -> Option<u32> {
        let item = self.def(ty)?;
        let within = |count: u32| !literal || index.is_some_and(|i| i < count);
        match item.name() {
            "TypeStruct" => item.args().get(index? as usize).copied(),
            "TypeVector" | "TypeMatrix" => Some(item.word(2)).filter(|_| within(item.word(3))),
            "TypeArray" => Some(item.word(2)).filter(|_| self.constant(item.word(3)).is_none_or(within)),
            "TypeRuntimeArray" => Some(item.word(2)),
            _ => None,
        }
    }
}

pub(super) fn check(module: &mut Checked<'_>) {
    let mut unique = HashSet::new();
    let (mut function, mut parameters) = (0, 0);
    for at in 0..module.items.len() {
        let item = module.items[at];
        if item.name() == "Function" {
            (function, parameters) = (at, 0);
        }
        parameters += usize::from(item.name() == "FunctionParameter");
        let why = result_type(module, &item)
            .or_else(|| operands_are_values(module, &item))
            .or_else(|| {
                if item.name().starts_with("Type") {
                    type_rules(module, &item, &mut unique)
                } else {
                    rules(
                        module,
                        &item,
                        Place {
                            function,
                            at,
                            parameters,
                        },
                    )
                }
            });
        if let Some(why) = why {
            module.fail("type", &item, why);
        }
    }
}

fn result_type(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if !item.row.has_type {
        return None;
    }
    let kind = module.kind(item.ty);
    let void = matches!(item.name(), "Function" | "FunctionCall" | "ExtInst") || item.name().contains("INTEL");
    when(
        !kind.starts_with("Type") || kind == "TypeForwardPointer",
        "the result type is no type",
    )
    .or_else(|| when(kind == "TypeVoid" && !void, "the result type is void"))
}

/// Outside of declarations, operands are values: no types, labels or strings.
fn operands_are_values(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let name = item.name();
    let plain = item.row.has_type
        && !matches!(
            name,
            "ExtInst" | "Function" | "FunctionCall" | "Phi" | "Variable" | "SpecConstantOp" | "EnqueueKernel"
        )
        && !name.starts_with("Constant");
    if !plain
        && !matches!(
            name,
            "Store" | "ImageWrite" | "ReturnValue" | "AtomicStore" | "CopyMemory"
        )
    {
        return None;
    }
    let mut words = item.args().iter();
    // The leading required ids; literals come behind them in every opcode.
    for rule in item
        .row
        .operands
        .iter()
        .skip(usize::from(item.row.has_type) + usize::from(item.row.has_result))
    {
        let id = *words.next()?;
        let kind = module.grammar.kind(rule.kind).map_or("", |k| &k.name);
        if !kind.starts_with("Id") {
            return None;
        }
        let def = module.kind(id);
        if module.type_of(id) == 0 || def == "Function" {
            return Some(format!("%{id} ({def}) is no value"));
        }
        if matches!(kind, "IdScope" | "IdMemorySemantics")
            && let Some(why) = scope_or_semantics(module, id)
        {
            return Some(why);
        }
    }
    None
}

/// A scope or memory semantics: a 32-bit integer, and for shaders one that is known.
fn scope_or_semantics(module: &Checked<'_>, id: u32) -> Why {
    let word = Form {
        base: Base::Int,
        width: 32,
        count: 1,
    };
    if module.of(id) != word {
        return Some(format!("%{id} is no 32-bit integer"));
    }
    let known = matches!(module.kind(id), "Constant" | "ConstantNull");
    (module.shader && !known).then(|| format!("%{id} is no constant, which a shader needs here"))
}

fn type_rules(module: &Checked<'_>, item: &Item<'_>, unique: &mut HashSet<Vec<u32>>) -> Why {
    let is_type = |id: u32| module.kind(id).starts_with("Type");
    let name = item.name();
    if !matches!(
        name,
        "TypeStruct" | "TypeArray" | "TypeRuntimeArray" | "TypePointer" | "TypeForwardPointer" | "TypeOpaque"
    ) {
        let mut key = vec![item.row.opcode];
        key.extend(item.args());
        if !unique.insert(key) {
            return Some("the same type is declared before".to_owned());
        }
    }
    match name {
        "TypeInt" => when(
            !matches!(item.word(2), 8 | 16 | 32 | 64),
            "an integer has 8, 16, 32 or 64 bits",
        )
        .or_else(|| when(item.word(3) > 1, "signedness is 0 or 1"))
        .or_else(|| width(module, item, &INTS)),
        "TypeFloat" => when(!matches!(item.word(2), 16 | 32 | 64), "a float has 16, 32 or 64 bits")
            .or_else(|| width(module, item, &FLOATS)),
        "TypeVector" => {
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
        "TypeMatrix" => {
            let form = module.form(item.word(2));
            when(
                form.base != Base::Float || form.count < 2,
                "columns of a matrix are vectors of floats",
            )
            .or_else(|| when(!(2..=4).contains(&item.word(3)), "a matrix has 2 to 4 columns"))
        }
        "TypeArray" => {
            let length = item.word(3);
            let def = module.kind(length);
            when(
                !is_type(item.word(2)) || module.kind(item.word(2)) == "TypeVoid",
                "the element is no type with a size",
            )
            .or_else(|| {
                when(
                    module.shader && module.kind(item.word(2)) == "TypeRuntimeArray",
                    "an array of runtime arrays",
                )
            })
            .or_else(|| {
                when(
                    !def.contains("Constant") || module.of(length).base != Base::Int || module.of(length).count != 1,
                    "the length is no constant integer",
                )
            })
            .or_else(|| {
                when(
                    module.constant(length).is_some_and(|n| {
                        n as i32 <= 0 && (n == 0 || module.def(module.type_of(length)).is_some_and(|t| t.word(3) == 1))
                    }),
                    "the length is not above 0",
                )
            })
        }
        "TypeRuntimeArray" => when(
            !is_type(item.word(2)) || matches!(module.kind(item.word(2)), "TypeVoid" | "TypeRuntimeArray"),
            "the element is no type with a size",
        ),
        "TypeStruct" => {
            let bad = item.args().iter().find(|id| {
                let forward = module.kind(**id) == "TypePointer";
                !is_type(**id) || module.kind(**id) == "TypeVoid" || **id == item.result && !forward
            });
            bad.map(|id| format!("%{id} is no member type")).or_else(|| {
                let open = item
                    .args()
                    .iter()
                    .rev()
                    .skip(1)
                    .any(|id| module.kind(*id) == "TypeRuntimeArray");
                when(open && module.shader, "only the last member may be a runtime array")
            })
        }
        "TypePointer" => when(!is_type(item.word(3)), "points to no type").or_else(|| {
            let function = module.kind(item.word(3)) == "TypeFunction";
            when(
                function && !module.capabilities.contains(&capability::FUNCTION_POINTERS_INTEL),
                "points to a function",
            )
        }),
        "TypeFunction" => {
            let void = item
                .args()
                .iter()
                .skip(1)
                .find(|id| !is_type(**id) || module.kind(**id) == "TypeVoid");
            when(!is_type(item.word(2)), "returns no type")
                .or_else(|| void.map(|id| format!("%{id} is no parameter type")))
        }
        "TypeSampledImage" => when(module.kind(item.word(2)) != "TypeImage", "samples no image type").or_else(|| {
            let storage = module.def(item.word(2)).is_some_and(|image| image.word(7) > 1);
            when(storage, "samples an image type that has no samplers")
        }),
        "TypeImage" => {
            let form = module.form(item.word(2));
            when(
                form.count != 1 && module.kind(item.word(2)) != "TypeVoid",
                "the sampled type is no scalar and not void",
            )
            .or_else(|| {
                when(
                    item.word(4) > 2 || item.word(5) > 1 || item.word(6) > 1 || item.word(7) > 2,
                    "depth, arrayed, multisampled or sampled is out of range",
                )
            })
            .or_else(|| when(item.word(3) == 6 && item.word(7) != 2, "a subpass image has Sampled 2"))
            .or_else(|| {
                when(
                    module.shader && form.base == Base::Bool,
                    "the sampled type is no number",
                )
            })
        }
        _ => None,
    }
}

/// Widths of a kind of number that are not everywhere, with the capabilities any of which brings them.
type Widths = [(u32, &'static [u32])];

const INTS: [(u32, &[u32]); 3] = [
    (
        8,
        &[
            capability::INT_8,
            capability::STORAGE_BUFFER_8,
            capability::STORAGE_UNIFORM_8,
            capability::STORAGE_PUSH_CONSTANT_8,
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
        ],
    ),
    (64, &[capability::FLOAT_64]),
];

fn width(module: &Checked<'_>, item: &Item<'_>, widths: &Widths) -> Why {
    let (bits, any) = widths.iter().find(|row| row.0 == item.word(2))?;
    let have = any.iter().any(|capability| module.capabilities.contains(capability));
    (!have).then(|| format!("{bits} bits need a capability"))
}

fn rules(module: &Checked<'_>, item: &Item<'_>, place: Place) -> Why {
    constants(module, item)
        .or_else(|| memory(module, item))
        .or_else(|| composites(module, item))
        .or_else(|| arithmetic::arithmetic(module, item))
        .or_else(|| flow(module, item, place))
        .or_else(|| images::images(module, item))
        .or_else(|| images::extended(module, item))
}

fn constants(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let form = module.form(item.ty);
    match item.name() {
        "ConstantTrue" | "ConstantFalse" | "SpecConstantTrue" | "SpecConstantFalse" => {
            when(form.base != Base::Bool || form.count != 1, "the type is not bool")
        }
        "Constant" | "SpecConstant" => when(form.count != 1 || form.base == Base::Bool, "the type is no number")
            .or_else(|| arithmetic::narrow(module, item)),
        "ConstantComposite" | "SpecConstantComposite" => {
            let bad = item
                .args()
                .iter()
                .find(|id| !(module.kind(**id).contains("Constant") || module.kind(**id) == "Undef"));
            bad.map(|id| format!("%{id} is no constant"))
                .or_else(|| construct(module, item, false))
        }
        "ConstantNull" => when(
            matches!(
                module.kind(item.ty),
                "TypeVoid" | "TypeImage" | "TypeSampler" | "TypeSampledImage" | "TypeRuntimeArray" | "TypeFunction"
            ),
            "the type has no null",
        ),
        "SpecConstantOp" => {
            let rebuilt: Vec<u32> = item
                .words
                .iter()
                .copied()
                .enumerate()
                .filter(|(n, _)| *n != 3)
                .map(|p| p.1)
                .collect();
            let row = module.grammar.row(item.word(3) as u16)?;
            let inner = Item {
                row,
                words: &rebuilt,
                position: item.position,
                result: item.result,
                ty: item.ty,
            };
            arithmetic::arithmetic(module, &inner).or_else(|| composites(module, &inner))
        }
        _ => None,
    }
}

fn memory(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let physical = module.physical;
    match item.name() {
        "Variable" => {
            let (class, pointee) = module.pointer(item.ty).unwrap_or((u32::MAX, 0));
            let local = item.position
                > module
                    .items
                    .get(module.first_function)
                    .map_or(usize::MAX, |f| f.position);
            when(
                class != item.word(3),
                "the result type is no pointer of that storage class",
            )
            .or_else(|| {
                when(
                    (class == class::FUNCTION) != local,
                    "storage class Function belongs inside functions, and only there",
                )
            })
            .or_else(|| when(module.kind(pointee) == "TypeVoid", "a variable of void"))
            .or_else(|| {
                let init = *item.words.get(4)?;
                let def = module.kind(init);
                when(
                    !(def.contains("Constant") || def == "Variable" || def == "Undef"),
                    "the initializer is no constant",
                )
                .or_else(|| when(module.type_of(init) != pointee, "the initializer has another type"))
            })
            .or_else(|| {
                let opaque = matches!(module.kind(pointee), "TypeImage" | "TypeSampler" | "TypeSampledImage");
                when(
                    module.shader && opaque && class != 0,
                    "images and samplers are UniformConstant",
                )
                .or_else(|| {
                    when(
                        module.shader && class == class::UNIFORM_CONSTANT && module.form(pointee).base != Base::Other,
                        "UniformConstant holds no plain values",
                    )
                })
                .or_else(|| {
                    when(
                        module.shader
                            && matches!(class, class::UNIFORM | class::STORAGE_BUFFER)
                            && module.form(pointee).base != Base::Other,
                        "uniform variables are structs",
                    )
                })
            })
        }
        "Load" => {
            let (_, pointee) = module.pointer(module.type_of(item.word(3))).unwrap_or_default();
            when(pointee != item.ty, "the result type is not what the pointer points to")
                .or_else(|| logical(module, item.word(3), physical))
        }
        "Store" => {
            let (class, pointee) = module.pointer(module.type_of(item.word(1))).unwrap_or_default();
            when(
                pointee != module.type_of(item.word(2)),
                "the object's type is not what the pointer points to",
            )
            .or_else(|| {
                when(
                    matches!(class, class::UNIFORM_CONSTANT | class::INPUT | class::PUSH_CONSTANT),
                    "the storage class cannot be written",
                )
            })
            .or_else(|| logical(module, item.word(1), physical))
        }
        "CopyMemory" => {
            let pointee = |id| module.pointer(module.type_of(id)).map(|p| p.1);
            when(
                pointee(item.word(1)).is_none() || pointee(item.word(1)) != pointee(item.word(2)),
                "the pointers point to different types",
            )
        }
        "AccessChain" | "InBoundsAccessChain" | "PtrAccessChain" | "InBoundsPtrAccessChain" => {
            let Some((class, mut ty)) = module.pointer(module.type_of(item.word(3))) else {
                return Some("the base is no pointer".to_owned());
            };
            let skip = if item.name().contains("Ptr") { 5 } else { 4 };
            for id in item.words.get(skip..)? {
                if module.of(*id).base != Base::Int || module.of(*id).count != 1 {
                    return Some(format!("index %{id} is no integer"));
                }
                match module.member(ty, module.constant(*id), false) {
                    Some(member) => ty = member,
                    None => return Some(format!("index %{id} reaches no member")),
                }
            }
            when(
                module.pointer(item.ty) != Some((class, ty)),
                "the result type is no pointer to what the indices reach",
            )
            .or_else(|| logical(module, item.word(3), physical))
        }
        "ArrayLength" => {
            let (_, ty) = module.pointer(module.type_of(item.word(3))).unwrap_or_default();
            let last = module
                .def(ty)
                .filter(|t| t.name() == "TypeStruct")
                .map(|t| t.args().to_vec())
                .unwrap_or_default();
            when(
                last.len() != item.word(4) as usize + 1 || module.kind(*last.last()?) != "TypeRuntimeArray",
                "not a struct's last member of runtime length",
            )
            .or_else(|| {
                when(
                    module.form(item.ty)
                        != Form {
                            base: Base::Int,
                            width: 32,
                            count: 1,
                        },
                    "the result is no 32-bit integer",
                )
            })
        }
        _ => None,
    }
    .or_else(|| {
        if matches!(item.name(), "Load" | "Store" | "AccessChain")
            && module
                .pointer(module.type_of(item.word(if item.name() == "Store" { 1 } else { 3 })))
                .is_none()
        {
            Some("no pointer".to_owned())
        } else {
            None
        }
    })
}

/// Without physical addressing a pointer comes from a variable, parameter or access.
fn logical(module: &Checked<'_>, id: u32, physical: bool) -> Why {
    let from = matches!(
        module.kind(id),
        "Variable"
            | "FunctionParameter"
            | "AccessChain"
            | "InBoundsAccessChain"
            | "PtrAccessChain"
            | "FunctionCall"
            | "ImageTexelPointer"
            | "CopyObject"
            | "Select"
            | "Phi"
            | "Load"
            | "ConstantNull"
    );
    when(!physical && !from, "the pointer comes from nothing that makes one")
}

/// Parts of a composite against its type.
fn construct(module: &Checked<'_>, item: &Item<'_>, spread: bool) -> Why {
    let ty = module.def(item.ty)?;
    let parts = item.args();
    let same = |types: &mut dyn Iterator<Item = u32>| types.eq(parts.iter().map(|id| module.type_of(*id)));
    let fits = match ty.name() {
        "TypeStruct" => same(&mut ty.args().iter().copied()),
        "TypeMatrix" => same(&mut std::iter::repeat_n(ty.word(2), ty.word(3) as usize)),
        "TypeArray" => match module.constant(ty.word(3)) {
            Some(n) => n as usize == parts.len() && same(&mut std::iter::repeat_n(ty.word(2), parts.len())),
            None => true,
        },
        "TypeVector" => {
            let forms: Vec<Form> = parts.iter().map(|id| module.of(*id)).collect();
            let component = |id: &u32| {
                let t = module.type_of(*id);
                t == ty.word(2)
                    || spread
                        && module
                            .def(t)
                            .is_some_and(|t| t.name() == "TypeVector" && t.word(2) == ty.word(2))
            };
            forms.iter().map(|f| u64::from(f.count)).sum::<u64>() == u64::from(ty.word(3))
                && parts.iter().all(component)
                && parts.len() >= 2
        }
        _ => item.name() == "ConstantCompositeReplicateEXT",
    };
    when(!fits, "the parts are not those of the type")
}

fn walk(module: &Checked<'_>, mut ty: u32, indices: &[u32]) -> Option<u32> {
    for index in indices {
        ty = module.member(ty, Some(*index), true)?;
    }
    Some(ty)
}

fn composites(module: &Checked<'_>, item: &Item<'_>) -> Why {
    match item.name() {
        "CompositeConstruct" => construct(module, item, true),
        "CompositeExtract" => {
            let ty = walk(module, module.type_of(item.word(3)), item.words.get(4..)?);
            when(
                item.words.len() < 5 || ty != Some(item.ty),
                "the indices reach nothing of the result type",
            )
        }
        "CompositeInsert" => {
            let ty = walk(module, module.type_of(item.word(4)), item.words.get(5..)?);
            when(
                item.words.len() < 6
                    || ty != Some(module.type_of(item.word(3)))
                    || module.type_of(item.word(4)) != item.ty,
                "the indices reach nothing of the object's type",
            )
        }
        "VectorShuffle" => {
            let (a, b, result) = (module.of(item.word(3)), module.of(item.word(4)), module.form(item.ty));
            let vector = |id: u32| module.def(id).filter(|t| t.name() == "TypeVector").map(|t| t.word(2));
            let component = vector(item.ty);
            let indices = item.words.get(5..)?;
            when(
                component.is_none()
                    || vector(module.type_of(item.word(3))) != component
                    || vector(module.type_of(item.word(4))) != component,
                "vectors of one component type are needed",
            )
            .or_else(|| {
                when(
                    indices.len() != result.count as usize,
                    "the number of components is not the result type's",
                )
            })
            .or_else(|| {
                when(
                    indices
                        .iter()
                        .any(|i| *i != u32::MAX && *i >= a.count.saturating_add(b.count)),
                    "a component is beyond both vectors",
                )
            })
        }
        "VectorExtractDynamic" => {
            let vector = module
                .def(module.type_of(item.word(3)))
                .filter(|t| t.name() == "TypeVector");
            when(
                vector.is_none_or(|t| t.word(2) != item.ty) || module.of(item.word(4)).base != Base::Int,
                "not a component of a vector",
            )
        }
        "CopyObject" => when(module.type_of(item.word(3)) != item.ty, "the operand has another type"),
        "Transpose" => {
            let shape = |ty| {
                module
                    .def(ty)
                    .filter(|t| t.name() == "TypeMatrix")
                    .map(|t| (module.form(t.word(2)).count, t.word(3)))
            };
            let (a, b) = (shape(module.type_of(item.word(3))), shape(item.ty));
            when(
                a.is_none() || a.map(|(x, y)| (y, x)) != b,
                "not the transposed matrix type",
            )
        }
        _ => None,
    }
}

/// Where an instruction stands.
#[derive(Clone, Copy)]
struct Place {
    /// The item of the function around it, or the last before it.
    function: usize,
    /// Its item.
    at: usize,
    /// Parameters of the function up to it, itself included.
    parameters: usize,
}

fn flow(module: &Checked<'_>, item: &Item<'_>, place: Place) -> Why {
    let owner = module.items[place.function];
    match item.name() {
        "Function" => {
            let ty = module.def(item.word(4)).filter(|t| t.name() == "TypeFunction");
            let count = module.items[place.at + 1..]
                .iter()
                .take_while(|i| matches!(i.name(), "FunctionParameter" | "Line" | "NoLine"))
                .filter(|i| i.name() == "FunctionParameter")
                .count();
            when(
                ty.is_none_or(|t| t.word(2) != item.ty),
                "the function type returns something else",
            )
            .or_else(|| {
                when(
                    ty.is_some_and(|t| t.args().len() != count + 1),
                    "the function type has another number of parameters",
                )
            })
        }
        "FunctionParameter" => {
            let ty = module
                .def(owner.word(4))
                .and_then(|t| t.args().get(place.parameters).copied());
            when(ty != Some(item.ty), "the function type has another parameter there")
        }
        "FunctionCall" => {
            let callee = module.def(item.word(3)).filter(|f| f.name() == "Function");
            let Some(ty) = callee.and_then(|f| module.def(f.word(4))) else {
                return Some("calls no function".to_owned());
            };
            let given = item.words.get(4..)?.iter().map(|id| module.type_of(*id));
            when(
                ty.word(2) != item.ty || !ty.args().iter().skip(1).copied().eq(given),
                "arguments or result are not those of the function type",
            )
        }
        "Return" => when(module.kind(owner.ty) != "TypeVoid", "the function returns a value"),
        "ReturnValue" => when(
            module.type_of(item.word(1)) != owner.ty,
            "the value has not the function's return type",
        ),
        "BranchConditional" => {
            let form = module.of(item.word(1));
            when(form.base != Base::Bool || form.count != 1, "the condition is no bool")
                .or_else(|| when(!matches!(item.words.len(), 4 | 6), "two weights or none"))
        }
        "Switch" => when(
            module.of(item.word(1)).base != Base::Int || module.of(item.word(1)).count != 1,
            "the selector is no integer",
        ),
        "Phi" => {
            let bad = item
                .args()
                .chunks_exact(2)
                .find(|pair| module.type_of(pair[0]) != item.ty);
            bad.map(|pair| format!("%{} has another type", pair[0]))
        }
        "ControlBarrier" | "MemoryBarrier" => {
            let bad = item.args().iter().find(|id| {
                module.of(**id)
                    != Form {
                        base: Base::Int,
                        width: 32,
                        count: 1,
                    }
            });
            bad.map(|id| format!("%{id} is no 32-bit integer"))
        }
        "ExtInstImport" | "Line" | "Source" => when(
            item.name() == "Line" && module.kind(item.word(1)) != "String",
            "names no string",
        ),
        "DecorateString" | "Decorate" | "Name" => None,
        "GroupDecorate" | "GroupMemberDecorate" => {
            when(module.kind(item.word(1)) != "DecorationGroup", "no decoration group")
        }
        _ => None,
    }
}
