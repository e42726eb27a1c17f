//! Image types, and the instructions that sample, read, write and query images.

use super::form::{Base, Form, Why, when};
use super::{Checked, Item, image_operands, image_processing};
use crate::spirv::{Image, capability, dim, image_format, op};

impl Image {
    /// Coordinate components within one layer; 0 for an unknown dimension.
    pub(super) fn plane(&self) -> u32 {
        match self.dim {
            dim::D1 | dim::BUFFER => 1,
            dim::D2 | dim::RECT | dim::SUBPASS_DATA | dim::TILE_IMAGE_DATA => 2,
            dim::D3 | dim::CUBE => 3,
            _ => 0,
        }
    }

    /// Whether it is a tile image, which has instructions of its own.
    fn is_tile(&self) -> bool {
        self.dim == dim::TILE_IMAGE_DATA
    }

    /// Whether it has mip levels: 1D, 2D, 3D or cube.
    pub(super) fn has_levels(&self) -> bool {
        matches!(self.dim, dim::D1 | dim::D2 | dim::D3 | dim::CUBE)
    }
}

impl Checked<'_> {
    /// An image type, or the one in a sampled image type.
    pub(super) fn image(&self, ty: u32) -> Option<Image> {
        let mut item = self.def(ty)?;
        if item.opcode() == op::TYPE_SAMPLED_IMAGE {
            item = self.def(item.word(2))?;
        }
        (item.opcode() == op::TYPE_IMAGE).then(|| Image {
            sampled_type: item.word(2),
            dim: item.word(3),
            depth: item.word(4),
            arrayed: item.word(5),
            multisampled: item.word(6),
            sampled: item.word(7),
            format: item.word(8),
        })
    }

    /// The image type of an operand of this kind.
    fn image_of(&self, id: u32, of: u16) -> Result<Image, String> {
        let ty = self.type_of(id);
        let image = self.image(ty).filter(|_| self.opcode(ty) == of);
        image.ok_or_else(|| match of {
            op::TYPE_IMAGE => format!("%{id} is not an image without a sampler"),
            _ => format!("%{id} is not a sampled image"),
        })
    }
}

/// Checks an image instruction.
pub(super) fn images(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let name = item.name();
    let plain = name.strip_prefix("ImageSparse").or_else(|| name.strip_prefix("Image"));
    let Some(kind) = plain else {
        return match item.opcode() {
            op::SAMPLED_IMAGE => sampled_image(module, item),
            _ => None,
        };
    };
    image_processing::check(module, item).or_else(|| match kind {
        _ if image_processing::is(item) => None,
        "" => whole(module, item),
        "TexelPointer" => texel_pointer(module, item),
        "TexelsResident" => when(!module.form(item.ty).scalar(Base::Bool), "the result is not a bool").or_else(|| {
            let code = module.of(item.word(3)).scalar(Base::Int);
            when(!code, "the resident code is not an integer")
        }),
        _ if kind.starts_with("Query") => query(module, item, kind),
        _ if kind.starts_with("Sample") && kind.contains("Footprint") => None,
        _ if name.starts_with("ImageSparseSampleProj") => Some("is reserved".to_owned()),
        "Write" => write(module, item),
        _ if kind.starts_with("Sample") || kind.contains("Gather") || matches!(kind, "Fetch" | "Read") => {
            texel(module, item, kind)
        }
        _ => None,
    })
}

/// Checks `OpSampledImage`.
fn sampled_image(module: &Checked<'_>, item: &Item<'_>) -> Why {
    if module.opcode(item.ty) != op::TYPE_SAMPLED_IMAGE {
        return Some("the result is not a sampled image".to_owned());
    }
    let image = match module.image_of(item.word(3), op::TYPE_IMAGE) {
        Ok(image) => image,
        Err(why) => return Some(why),
    };
    let of = |ty: u32| module.def(ty).filter(|of| of.opcode() == op::TYPE_IMAGE);
    let wanted = module.def(item.ty).and_then(|ty| of(ty.word(2)));
    let given = of(module.type_of(item.word(3)));
    // Everything except the depth operand, which may differ.
    let apart = wanted.zip(given).is_some_and(|(wanted, given)| {
        let known = |item: &Item<'_>| [2, 3, 5, 6, 7, 8, 9].map(|word| item.words.get(word).copied());
        known(&wanted) != known(&given)
    });
    when(apart, "the image is not of the result's image type")
        .or_else(|| {
            when(
                image.sampled == Image::STORAGE || module.vulkan.is_some() && image.sampled != Image::SAMPLED,
                "the image's type is one without a sampler",
            )
        })
        .or_else(|| when(image.is_subpass(), "a subpass input has no sampler"))
        .or_else(|| {
            let sampler = module.opcode(module.type_of(item.word(4))) == op::TYPE_SAMPLER;
            when(!sampler, "needs a sampler")
        })
}

/// Checks `OpImage`.
fn whole(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let from = module.def(module.type_of(item.word(3)));
    let fits = from.is_some_and(|t| t.opcode() == op::TYPE_SAMPLED_IMAGE && t.word(2) == item.ty);
    when(!fits, "needs a sampled image of that image type")
}

fn texel_pointer(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let Some((class, pointee)) = module.pointer(item.ty) else {
        return Some("the result is not a pointer".to_owned());
    };
    if class != IMAGE_CLASS {
        return Some("the result is not a pointer of storage class Image".to_owned());
    }
    let scalar = matches!(module.opcode(pointee), op::TYPE_INT | op::TYPE_FLOAT | op::TYPE_VOID);
    let image = module.pointer(module.type_of(item.word(3))).map(|(_, ty)| ty);
    let Some(image) = image
        .filter(|ty| module.opcode(*ty) == op::TYPE_IMAGE)
        .and_then(|ty| module.image(ty))
    else {
        return Some("needs a pointer to an image".to_owned());
    };
    let place = module.of(item.word(4));
    let needed = match (image.arrayed, image.dim) {
        (0, _) => image.plane(),
        (_, dim::D1) => 2,
        (_, dim::D2 | dim::CUBE) => 3,
        _ => return Some("images of this dimension have no arrays".to_owned()),
    };
    let sample = item.word(5);
    let no_sample =
        image.multisampled == 0 && module.constant(sample) != Some(0) && module.known_word(sample) != Some(0);
    when(
        !scalar || image.sampled_type != pointee,
        "does not point to the image's texel type",
    )
    .or_else(|| when(image.is_subpass(), "points into a subpass input"))
    .or_else(|| when(image.is_tile(), "points into a tile image"))
    .or_else(|| when(!place.int(), "the coordinate is not an integer"))
    .or_else(|| when(place.count != needed, "the coordinate has another number of components"))
    .or_else(|| when(!module.of(sample).scalar(Base::Int), "the sample is not an integer"))
    .or_else(|| when(no_sample, "the sample of an image that has one is a constant 0"))
    .or_else(|| {
        const ATOMIC: [u32; 5] = [image_format::R32F, image_format::R32I, image_format::R32UI, 40, 41];
        when(
            module.vulkan.is_some() && !ATOMIC.contains(&image.format),
            "Vulkan has no atomics on this format",
        )
    })
}

/// The storage class Image.
const IMAGE_CLASS: u32 = 11;

/// The type of an instruction's result: the second member for sparse instructions.
fn given(module: &Checked<'_>, item: &Item<'_>) -> Result<u32, String> {
    if !item.name().starts_with("ImageSparse") {
        return Ok(item.ty);
    }
    let parts = module.def(item.ty).filter(|ty| ty.opcode() == op::TYPE_STRUCT);
    match parts.map(|ty| ty.args()) {
        Some([code, texel]) if module.form(*code).scalar(Base::Int) => Ok(*texel),
        _ => Err("the result is not a struct of an integer and a texel".to_owned()),
    }
}

/// Common rules of sampling, gathering, fetching and reading, and their few differences.
fn texel(module: &Checked<'_>, item: &Item<'_>, kind: &str) -> Why {
    let sampled = kind.starts_with("Sample") || kind.contains("Gather");
    let result = match given(module, item) {
        Ok(result) => result,
        Err(why) => return Some(why),
    };
    let image = match module.image_of(
        item.word(3),
        if sampled {
            op::TYPE_SAMPLED_IMAGE
        } else {
            op::TYPE_IMAGE
        },
    ) {
        Ok(image) => image,
        Err(why) => return Some(why),
    };
    let (r, dref) = (module.form(result), kind.contains("Dref"));
    let compared = dref && !kind.contains("Gather");
    let read = kind == "Read";
    let components = match (compared, read) {
        (true, _) => r.count == 1,
        (_, true) => r.count >= 1 && (r.count == 4 || module.vulkan.is_none()),
        _ => r.count == 4,
    };
    let held = (dref || module.opcode(image.sampled_type) != op::TYPE_VOID)
        && if compared { result } else { module.component(result) } != image.sampled_type;
    when(
        !(r.int() || r.float()) || !components,
        "the result does not have the components of the operation",
    )
    .or_else(|| when(held, "the result is not of the image's sampled type"))
    .or_else(|| match kind {
        _ if kind.contains("Proj") => when(
            (image.multisampled, image.arrayed) != (0, 0)
                || matches!(image.dim, dim::CUBE | dim::BUFFER | dim::SUBPASS_DATA),
            "a projection is onto one 1D, 2D, 3D or rectangle image",
        ),
        "Fetch" => when(image.dim == dim::CUBE, "fetches from a cube are not allowed").or_else(|| {
            when(
                image.sampled != Image::SAMPLED,
                "the image's type is one without a sampler",
            )
        }),
        "Read" => reads(module, item, &image),
        _ => None,
    })
    .or_else(|| when(sampled && image.multisampled != 0, "several samples have no sampler"))
    .or_else(|| {
        let gathers = matches!(image.dim, dim::D2 | dim::CUBE | dim::RECT);
        when(
            kind.contains("Gather") && !gathers,
            "gathers from 2D, cube and rectangle images only",
        )
    })
    .or_else(|| coordinate(module, item, kind, &image))
    .or_else(|| third(module, item, kind, &image))
    .or_else(|| {
        let at = if dref || kind == "Gather" { 6 } else { 5 };
        image_operands::check(module, item, &image, at)
    })
}

/// The coordinate operand, after the image.
fn coordinate(module: &Checked<'_>, item: &Item<'_>, kind: &str, image: &Image) -> Why {
    let place = module.of(item.word(if kind == "Write" { 2 } else { 4 }));
    let storage = matches!(kind, "Read" | "Write");
    // Kernels also sample at integer texel coordinates.
    let any = kind == "SampleExplicitLod" && module.capabilities.contains(&capability::KERNEL);
    let fits = match storage || kind == "Fetch" {
        true => place.int(),
        false => place.float() || any && place.int(),
    };
    let needed = match storage && image.dim == dim::CUBE {
        // The third component is the face plus six times the layer.
        true => 3,
        false => image
            .plane()
            .saturating_add(image.arrayed)
            .saturating_add(u32::from(kind.contains("Proj"))),
    };
    when(!fits, "the coordinate is of the wrong type").or_else(|| {
        when(
            place.count < needed,
            &format!("the coordinate has fewer than {needed} components"),
        )
    })
}

/// The operand after the coordinate: depth reference, or component to gather.
fn third(module: &Checked<'_>, item: &Item<'_>, kind: &str, image: &Image) -> Why {
    let id = item.word(5);
    if kind.contains("Dref") {
        when(module.of(id) != Form::FLOAT, "the reference is not a 32-bit float").or_else(|| {
            let deep = module.vulkan.is_some() && image.dim == dim::D3;
            when(deep, "Vulkan does not compare with 3D images")
        })
    } else if kind == "Gather" {
        when(module.of(id) != Form::WORD, "the component is not a 32-bit integer").or_else(|| {
            let loose = module.vulkan.is_some() && !module.is_constant(id);
            when(loose, "Vulkan gathers a constant component")
        })
    } else {
        None
    }
}

/// Whether an image may be read and written without a sampler.
fn storage(module: &Checked<'_>, image: &Image) -> Why {
    if image.is_tile() {
        return Some("a tile image has reads of its own, and no writes".to_owned());
    }
    let capability = match image.dim {
        dim::D1 => Some(capability::IMAGE_1D),
        dim::RECT => Some(capability::IMAGE_RECT),
        dim::BUFFER => Some(capability::IMAGE_BUFFER),
        dim::CUBE if image.arrayed == 1 => Some(capability::IMAGE_CUBE_ARRAY),
        _ => None,
    };
    let lacks = capability.is_some_and(|capability| !module.capabilities.contains(&capability));
    when(
        image.sampled == Image::SAMPLED,
        "the image's type is one with a sampler",
    )
    .or_else(|| {
        when(
            image.sampled == Image::STORAGE && lacks,
            "the image's shape needs a capability",
        )
    })
}

/// Vulkan: an image of unspecified format needs a capability.
fn formatless(module: &Checked<'_>, image: &Image, capability: u32) -> Why {
    let unspecified = image.format == image_format::UNKNOWN && !image.is_subpass();
    when(
        module.vulkan.is_some() && unspecified && !module.capabilities.contains(&capability),
        "an image of unknown format needs a capability",
    )
}

fn reads(module: &Checked<'_>, item: &Item<'_>, image: &Image) -> Why {
    let sparse = item.opcode() == op::IMAGE_SPARSE_READ;
    when(sparse && image.is_subpass(), "a subpass input is not sparse")
        .or_else(|| storage(module, image))
        .or_else(|| formatless(module, image, capability::STORAGE_IMAGE_READ_WITHOUT_FORMAT))
}

fn write(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let image = match module.image_of(item.word(1), op::TYPE_IMAGE) {
        Ok(image) => image,
        Err(why) => return Some(why),
    };
    let ty = module.type_of(item.word(3));
    let texel = module.form(ty);
    let held = module.opcode(image.sampled_type) != op::TYPE_VOID && module.component(ty) != image.sampled_type;
    when(image.is_subpass(), "writes to a subpass input")
        .or_else(|| storage(module, &image))
        .or_else(|| coordinate(module, item, "Write", &image))
        .or_else(|| when(!texel.int() && !texel.float(), "the texel is not a number"))
        .or_else(|| when(held, "the texel is not of the image's sampled type"))
        .or_else(|| formatless(module, &image, capability::STORAGE_IMAGE_WRITE_WITHOUT_FORMAT))
        .or_else(|| image_operands::check(module, item, &image, 4))
}

/// Queries of size, levels, samples or level of detail.
fn query(module: &Checked<'_>, item: &Item<'_>, kind: &str) -> Why {
    let image = match module.image_of(
        item.word(3),
        if kind == "QueryLod" {
            op::TYPE_SAMPLED_IMAGE
        } else {
            op::TYPE_IMAGE
        },
    ) {
        Ok(image) => image,
        Err(why) => return Some(why),
    };
    let r = module.form(item.ty);
    let size = image.arrayed.saturating_add(match image.dim {
        dim::CUBE => 2,
        _ => image.plane(),
    });
    let (result, why) = match kind {
        "QueryLod" => (r.float() && r.count == 2, "the result is two floats"),
        "QuerySize" | "QuerySizeLod" => (
            r.int() && r.count == size,
            "the result has another number of components",
        ),
        _ => (r.scalar(Base::Int), "the result is not an integer"),
    };
    let unsampled = module.vulkan.is_some() && image.sampled != Image::SAMPLED;
    when(!result, why).or_else(|| match kind {
        "QueryFormat" | "QueryOrder" => when(image.is_tile(), "a tile image has no format to ask for"),
        "QuerySamples" => when(
            image.dim != dim::D2 || image.multisampled != 1,
            "the image is not a 2D image of several samples",
        ),
        "QuerySize" => when(image.is_subpass(), "a subpass input has no size").or_else(|| {
            let levels = image.has_levels() && image.multisampled != 1 && image.sampled == Image::SAMPLED;
            when(levels, "an image with levels has a size of each")
        }),
        _ => when(!image.has_levels(), "the image's dimension has no levels").or_else(|| match kind {
            "QuerySizeLod" => when(image.multisampled != 0, "several samples have no levels")
                .or_else(|| when(unsampled, "Vulkan has levels of images with a sampler"))
                .or_else(|| {
                    when(
                        !module.of(item.word(4)).scalar(Base::Int),
                        "the level is not an integer",
                    )
                }),
            "QueryLevels" => when(unsampled, "Vulkan has levels of images with a sampler"),
            _ => {
                let place = module.of(item.word(4));
                let fits = place.float() || place.int() && module.capabilities.contains(&capability::KERNEL);
                when(!fits || place.count < image.plane(), "the coordinate does not fit")
            }
        }),
    })
}

/// The declaration of an image type.
pub(super) fn image_type(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let image = module.image(item.result)?;
    let form = module.form(image.sampled_type);
    let of_vulkan = form.scalar(Base::Int) && matches!(form.width, 32 | 64) || form == Form::FLOAT;
    let number = matches!(
        module.opcode(image.sampled_type),
        op::TYPE_VOID | op::TYPE_INT | op::TYPE_FLOAT
    );
    let wide = form.scalar(Base::Int) && form.width == 64;
    let has = |capability| module.capabilities.contains(&capability);
    when(
        wide && !has(capability::INT_64_IMAGE),
        "a sampled type of 64 bits needs the capability Int64ImageEXT",
    )
    .or_else(|| {
        when(
            if module.vulkan.is_some() { !of_vulkan } else { !number },
            "the sampled type is not a number",
        )
    })
    .or_else(|| {
        when(
            image.depth > 2 || image.arrayed > 1 || image.multisampled > 1 || image.sampled > 2,
            "depth, arrayed, multisampled or sampled is out of range",
        )
    })
    .or_else(|| {
        let plain = image.sampled == Image::STORAGE && image.format == image_format::UNKNOWN;
        when(
            image.is_subpass() && !plain,
            "a subpass input has Sampled 2 and no format",
        )
    })
    .or_else(|| {
        let plain = (image.depth, image.arrayed, image.sampled, image.format)
            == (0, 0, Image::STORAGE, image_format::UNKNOWN)
            && module.opcode(image.sampled_type) != op::TYPE_VOID;
        when(
            image.is_tile() && !plain,
            "a tile image has a sampled type, Sampled 2, no depth, no layers and no format",
        )
    })
    .or_else(|| {
        when(
            !image.is_subpass()
                && !image.is_tile()
                && image.multisampled == 1
                && image.sampled == Image::STORAGE
                && !has(capability::STORAGE_IMAGE_MULTISAMPLE),
            "a storage image of several samples needs the capability StorageImageMultisample",
        )
    })
    .or_else(|| {
        let open = image.sampled == 0 || image.is_subpass() && image.arrayed != 0;
        when(module.vulkan.is_some() && open, "Vulkan does not have such images")
    })
}

/// The declaration of a sampled image's type.
pub(super) fn sampled_image_type(module: &Checked<'_>, item: &Item<'_>) -> Why {
    let Some(image) = module
        .image(item.word(2))
        .filter(|_| module.opcode(item.word(2)) == op::TYPE_IMAGE)
    else {
        return Some("samples no image type".to_owned());
    };
    when(image.sampled > 1, "samples an image type that has no samplers").or_else(|| {
        let late = module.words[1] >= 0x10600;
        when(late && image.is_buffer(), "a buffer has no sampler from version 1.6 on")
    })
}
