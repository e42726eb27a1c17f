//! Types of image instructions and of GLSL.std.450.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item};
use crate::spirv::{Image, capability, dim};

/// The image type an operand holds, behind a sampled image too.
fn image<'a>(module: &Checked<'a>, id: u32) -> Option<Item<'a>> {
    let ty = module.def(module.type_of(id))?;
    match ty.name() {
        "TypeImage" => Some(ty),
        "TypeSampledImage" => module.def(ty.word(2)),
        _ => None,
    }
}

pub(super) fn images(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let name = item.name();
    if name == "SampledImage" {
        let fits = module
            .def(item.ty)
            .is_some_and(|t| t.name() == "TypeSampledImage" && t.word(2) == module.type_of(item.word(3)));
        return when(
            !fits || module.kind(module.type_of(item.word(4))) != "TypeSampler",
            "needs an image of the result's type and a sampler",
        );
    }
    if name == "Image" {
        let fits = module
            .def(module.type_of(item.word(3)))
            .is_some_and(|t| t.name() == "TypeSampledImage" && t.word(2) == item.ty);
        return when(!fits, "needs a sampled image of that image type");
    }
    let sampling = name.starts_with("ImageSample") || name == "ImageGather" || name == "ImageDrefGather";
    let plain = matches!(name, "ImageFetch" | "ImageRead" | "ImageWrite");
    let query = name.starts_with("ImageQuery");
    if !sampling && !plain && !query {
        return None;
    }
    let operand = item.word(if name == "ImageWrite" { 1 } else { 3 });
    let Some(ty) = image(module, operand) else {
        return Some(format!("%{operand} is no image"));
    };
    if matches!(name, "ImageRead" | "ImageWrite" | "ImageSparseRead") && ty.word(7) == Image::STORAGE {
        let capability = match ty.word(3) {
            dim::D1 => Some(capability::IMAGE_1D),
            dim::RECT => Some(capability::IMAGE_RECT),
            dim::BUFFER => Some(capability::IMAGE_BUFFER),
            dim::CUBE if ty.word(5) == 1 => Some(capability::IMAGE_CUBE_ARRAY),
            _ => None,
        };
        if capability.is_some_and(|capability| !module.capabilities.contains(&capability)) {
            return Some("the image's shape needs a capability".to_owned());
        }
    }
    let sampled = module.kind(module.type_of(operand)) == "TypeSampledImage";
    if sampling != sampled && !(query && name == "ImageQueryLod") {
        return Some("an image is needed with a sampler, or without one".to_owned());
    }
    let r = module.form(item.ty);
    if query {
        return when(
            r.base != Base::Int && name != "ImageQueryLod" || r.base != Base::Float && name == "ImageQueryLod",
            "the result is not of the query's type",
        )
        .or_else(|| {
            let dim = match ty.word(3) {
                0 | 5 => 1,
                2 => 3,
                _ => 2,
            } + u32::from(ty.word(5) == 1);
            when(
                name.starts_with("ImageQuerySize") && r.count != dim
                    || matches!(name, "ImageQueryLevels" | "ImageQuerySamples") && r.count != 1,
                "the result has another number of components",
            )
        });
    }
    let texel = if name == "ImageWrite" {
        module.of(item.word(3))
    } else {
        r
    };
    let coordinate = module.of(item.word(if name == "ImageWrite" { 2 } else { 4 }));
    let dref = name.contains("Dref");
    let depth = dref && name != "ImageDrefGather";
    let holds = module.form(ty.word(2));
    let sparse = name.contains("Sparse");
    let needed = match ty.word(3) {
        0 | 5 => 1,
        1 | 4 | 6 => 2,
        _ => 3,
    } + u32::from(ty.word(5) == 1)
        + u32::from(name.contains("Proj"));
    let base = if sampling && module.shader {
        Base::Float
    } else {
        Base::Int
    };
    let scalar = |ty: u32| {
        module
            .def(ty)
            .map_or(0, |t| if t.name() == "TypeVector" { t.word(2) } else { ty })
    };
    when(
        !sparse && depth != (r.count == 1) && sampling,
        "the result has not the components of the operation",
    )
    .or_else(|| when(name == "ImageFetch" && r.count != 4, "the result has four components"))
    .or_else(|| {
        when(
            !sparse
                && module.kind(ty.word(2)) != "TypeVoid"
                && (texel.base != holds.base || texel.width != holds.width),
            "the texel is not of the image's type",
        )
    })
    .or_else(|| {
        when(
            !sparse && name != "ImageWrite" && module.kind(ty.word(2)) != "TypeVoid" && scalar(item.ty) != ty.word(2),
            "the result is not of the image's sampled type",
        )
    })
    .or_else(|| {
        when(
            (module.shader || !sampling) && coordinate.base != base,
            "the coordinate is of the wrong type",
        )
    })
    .or_else(|| when(coordinate.count < needed, "the coordinate has too few components"))
    .or_else(|| {
        when(
            dref && module.of(item.word(5))
                != Form {
                    base: Base::Float,
                    width: 32,
                    count: 1,
                },
            "the reference is no 32-bit float",
        )
    })
    .or_else(|| {
        when(
            name == "ImageGather"
                && module.of(item.word(5))
                    != Form {
                        base: Base::Int,
                        width: 32,
                        count: 1,
                    },
            "the component is no 32-bit integer",
        )
    })
    .or_else(|| {
        when(
            name == "ImageFetch" && ty.word(7) == 2 || matches!(name, "ImageRead" | "ImageWrite") && ty.word(7) == 1,
            "the image is not of the kind this opcode takes",
        )
    })
    .or_else(|| {
        operand_mask(
            module,
            item,
            &ty,
            if name == "ImageWrite" {
                4
            } else if dref || name == "ImageGather" {
                6
            } else {
                5
            },
        )
    })
}

/// Image operands: Bias 1, Lod 2, Grad 4, ConstOffset 8, Offset 16, ConstOffsets 32, Sample 64.
fn operand_mask(module: &Checked<'_>, item: &Item<'_>, ty: &Item<'_>, at: usize) -> Why {
    let name = item.name();
    let mask = item.words.get(at).copied().unwrap_or(0);
    let explicit = name.contains("ExplicitLod");
    let needed = match ty.word(3) {
        0 => 1,
        2 => 3,
        _ => 2,
    };
    let mut next = item.words.get(at + 1..).unwrap_or(&[]).iter().copied();
    when(explicit && mask & 6 == 0, "an explicit level needs Lod or Grad")
        .or_else(|| {
            when(
                mask & 1 != 0 && !name.contains("ImplicitLod"),
                "Bias belongs to implicit levels",
            )
        })
        .or_else(|| {
            when(
                mask & 2 != 0 && !(explicit || name == "ImageFetch") || mask & 4 != 0 && !explicit,
                "Lod and Grad belong to explicit levels",
            )
        })
        .or_else(|| {
            when(
                (mask & 64 != 0) != (ty.word(6) == 1),
                "Sample belongs to multisampled images",
            )
        })
        .or_else(|| {
            if mask & 1 != 0 && module.of(next.next()?).base != Base::Float {
                return Some("Bias is no float".to_owned());
            }
            if mask & 2 != 0 {
                let lod = module.of(next.next()?);
                let base = if explicit { Base::Float } else { Base::Int };
                if lod.base != base || lod.count != 1 {
                    return Some("Lod is of the wrong type".to_owned());
                }
            }
            if mask & 4 != 0 {
                for _ in 0..2 {
                    if module.of(next.next()?).base != Base::Float {
                        return Some("Grad is no float".to_owned());
                    }
                }
            }
            for bit in [8, 16] {
                if mask & bit != 0 {
                    let id = next.next()?;
                    let form = module.of(id);
                    if form.base != Base::Int
                        || form.count != needed
                        || bit == 8 && !module.kind(id).contains("Constant")
                    {
                        return Some("the offset is of the wrong type".to_owned());
                    }
                }
            }
            None
        })
}

/// GLSL.std.450: operands of float and integer instructions are of the result's type.
pub(super) fn extended(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if item.name() != "ExtInst" || module.sets.get(&item.word(3)).is_none_or(|set| set != "GLSL.std.450") {
        return None;
    }
    let set = module.grammar.set("GLSL.std.450")?;
    let name = &*module.grammar.sets[set].row(item.word(4))?.name;
    let args = item.words.get(5..)?;
    let r = module.form(item.ty);
    let all_same = args.iter().all(|id| module.type_of(*id) == item.ty);
    let ok = match name {
        "Length" | "Distance" => {
            r.base == Base::Float
                && r.count == 1
                && args.iter().all(|id| {
                    Form {
                        count: 1,
                        ..module.of(*id)
                    } == r
                })
                && args.windows(2).all(|w| module.type_of(w[0]) == module.type_of(w[1]))
        }
        "Cross" => r.base == Base::Float && r.count == 3 && all_same,
        "Refract" => {
            r.base == Base::Float
                && args[..2].iter().all(|id| module.type_of(*id) == item.ty)
                && module.of(args[2]).base == Base::Float
        }
        "Modf" | "Frexp" => {
            r.base == Base::Float
                && module.type_of(args[0]) == item.ty
                && module.pointer(module.type_of(args[1])).is_some()
        }
        "ModfStruct" | "FrexpStruct" => module.kind(item.ty) == "TypeStruct",
        "Ldexp" => {
            r.base == Base::Float
                && module.type_of(args[0]) == item.ty
                && module.of(args[1]).base == Base::Int
                && module.of(args[1]).count == r.count
        }
        "Determinant" => r.base == Base::Float && module.kind(module.type_of(args[0])) == "TypeMatrix",
        "MatrixInverse" => module.kind(item.ty) == "TypeMatrix" && all_same,
        "FindILsb" | "FindSMsb" | "FindUMsb" | "SAbs" | "SSign" | "SMin" | "UMin" | "SMax" | "UMax" | "SClamp"
        | "UClamp" => r.base == Base::Int && args.iter().all(|id| module.of(*id) == r),
        name if name.starts_with("Pack") => r.base != Base::Other && module.of(args[0]).base != Base::Other,
        name if name.starts_with("Unpack") => r.base != Base::Other && module.of(args[0]).count == 1,
        name if name.starts_with("InterpolateAt") => {
            r.base == Base::Float && module.pointer(module.type_of(args[0])).is_some_and(|p| p.1 == item.ty)
        }
        _ => r.base == Base::Float && all_same,
    };
    when(!ok, &format!("{name}: the types of operands and result do not fit"))
}
