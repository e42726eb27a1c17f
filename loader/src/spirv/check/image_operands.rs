//! The optional operands of image instructions.

use super::form::{Base, Why, when};
use super::{Checked, Item, scopes};
use crate::spirv::{Image, capability, dim, op};

const BIAS: u32 = 0x1;
const LOD: u32 = 0x2;
const GRAD: u32 = 0x4;
const CONST_OFFSET: u32 = 0x8;
const OFFSET: u32 = 0x10;
const CONST_OFFSETS: u32 = 0x20;
const SAMPLE: u32 = 0x40;
const MIN_LOD: u32 = 0x80;
const AVAILABLE: u32 = 0x100;
const VISIBLE: u32 = 0x200;
const NON_PRIVATE: u32 = 0x400;
const OFFSETS: u32 = 0x10000;

const SIGN_EXTEND: u32 = 0x1000;
const ZERO_EXTEND: u32 = 0x2000;

/// Vulkan: the sign of an access matches that of an integer image format.
fn sign(module: &Checked<'_>, item: &Item<'_>, image: &Image, mask: u32) -> Why {
    module.vulkan?;
    if !module.form(image.sampled_type).int() {
        return None;
    }
    let unsigned = match mask & (SIGN_EXTEND | ZERO_EXTEND) {
        SIGN_EXTEND => false,
        ZERO_EXTEND => true,
        _ => module.unsigned(image.sampled_type),
    };
    let of_format = match image.format {
        // Rgba32i to R8i, and R64i.
        21..=29 | 41 => Some(false),
        // Rgba32ui to R8ui, and R64ui.
        30..=40 => Some(true),
        _ => None,
    };
    let zero = mask & ZERO_EXTEND != 0 && item.row.has_type;
    let signed = module.form(item.ty).int() && !module.unsigned(item.ty);
    when(
        of_format.is_some_and(|of| of != unsigned),
        "the image's format and the texel differ in sign",
    )
    .or_else(|| when(zero && signed, "ZeroExtend gives an unsigned integer"))
}

/// The mask's operands, and the ids that remain.
struct Operands<'m, 'a> {
    module: &'m Checked<'a>,
    name: &'a str,
    opcode: u16,
    image: &'m Image,
    mask: u32,
    ids: std::slice::Iter<'a, u32>,
    explicit: bool,
    implicit: bool,
    /// Gathers with bias or level, from an extension.
    gathers: bool,
}

/// Checks the mask at a word of the instruction, and its operand ids.
pub(super) fn check<'a>(module: &Checked<'a>, item: &Item<'a>, image: &Image, at: usize) -> Why {
    let mask = item.words.get(at).copied().unwrap_or(0);
    if image.multisampled == 1 && mask & SAMPLE == 0 {
        return Some("one of several samples must be named".to_owned());
    }
    if let Some(why) = sign(module, item, image, mask) {
        return Some(why);
    }
    let (name, opcode) = (item.name(), item.opcode());
    let amd = module.capabilities.contains(&capability::IMAGE_GATHER_BIAS_LOD_AMD);
    let mut operands = Operands {
        module,
        name,
        opcode,
        image,
        mask,
        ids: item.words.get(at + 1..).unwrap_or(&[]).iter(),
        explicit: name.contains("ExplicitLod"),
        implicit: name.contains("ImplicitLod"),
        gathers: amd && matches!(opcode, op::IMAGE_GATHER | op::IMAGE_SPARSE_GATHER),
    };
    if mask == 0 {
        return None;
    }
    let offsets = mask & (CONST_OFFSET | OFFSET | CONST_OFFSETS | OFFSETS);
    when(offsets.count_ones() > 1, "offsets exclude each other")
        .or_else(|| operands.levels())
        .or_else(|| operands.gradients())
        .or_else(|| operands.offset(CONST_OFFSET))
        .or_else(|| operands.offset(OFFSET))
        .or_else(|| operands.four_offsets())
        .or_else(|| operands.sample())
        .or_else(|| operands.least_level())
        .or_else(|| operands.order(AVAILABLE, &[op::IMAGE_WRITE]))
        .or_else(|| operands.order(VISIBLE, &[op::IMAGE_READ, op::IMAGE_SPARSE_READ]))
}

impl Operands<'_, '_> {
    fn has(&self, bit: u32) -> bool {
        self.mask & bit != 0
    }

    fn next(&mut self) -> u32 {
        self.ids.next().copied().unwrap_or(0)
    }

    fn levels(&mut self) -> Why {
        let has_levels = self.image.has_levels();
        if self.has(BIAS) {
            let float = self.next();
            let wrong = when(!self.implicit && !self.gathers, "Bias belongs to implicit levels")
                .or_else(|| when(!self.module.of(float).scalar(Base::Float), "Bias is not a float"))
                .or_else(|| when(!has_levels, "Bias belongs to images with levels"));
            if wrong.is_some() {
                return wrong;
            }
        }
        if !self.has(LOD) {
            return None;
        }
        let amd = self.module.capabilities.contains(&capability::IMAGE_READ_WRITE_LOD_AMD);
        let level = match self.opcode {
            op::IMAGE_READ | op::IMAGE_WRITE | op::IMAGE_SPARSE_READ => amd,
            op::IMAGE_FETCH | op::IMAGE_SPARSE_FETCH => true,
            _ => self.explicit || self.gathers,
        };
        let base = if self.explicit || self.gathers {
            Base::Float
        } else {
            Base::Int
        };
        let id = self.next();
        when(!level, "Lod belongs to explicit levels and fetches")
            .or_else(|| when(self.has(GRAD), "Lod and Grad exclude each other"))
            .or_else(|| when(!self.module.of(id).scalar(base), "Lod is of the wrong type"))
            .or_else(|| when(!has_levels, "Lod belongs to images with levels"))
    }

    fn gradients(&mut self) -> Why {
        if !self.has(GRAD) {
            return None;
        }
        let both = [self.next(), self.next()].map(|id| self.module.of(id));
        when(!self.explicit, "Grad belongs to explicit levels")
            .or_else(|| when(!both.iter().all(|form| form.float()), "Grad is not a float"))
            .or_else(|| {
                let fits = both.iter().all(|form| form.count == self.image.plane());
                when(
                    !fits,
                    "the number of components of Grad differs from the image's dimensions",
                )
            })
    }

    fn offset(&mut self, bit: u32) -> Why {
        if !self.has(bit) {
            return None;
        }
        let id = self.next();
        let form = self.module.of(id);
        when(self.image.dim == dim::CUBE, "a cube has no offsets")
            .or_else(|| when(!form.int(), "the offset is not an integer"))
            .or_else(|| {
                let loose = bit == CONST_OFFSET && !self.module.is_constant(id);
                when(loose, "the offset is not a constant")
            })
            .or_else(|| {
                let fits = form.count == self.image.plane();
                when(
                    !fits,
                    "the number of components of the offset differs from the image's dimensions",
                )
            })
            .or_else(|| {
                let samples = bit == OFFSET && !self.name.contains("Gather");
                when(
                    samples && self.module.vulkan.is_some(),
                    "Vulkan has an Offset that is not a constant in gathers only",
                )
            })
    }

    fn four_offsets(&mut self) -> Why {
        if !self.has(CONST_OFFSETS) {
            return None;
        }
        let id = self.next();
        let array = self
            .module
            .def(self.module.type_of(id))
            .filter(|ty| ty.opcode() == op::TYPE_ARRAY);
        let four = array.is_some_and(|array| {
            let of = self.module.form(array.word(2));
            self.module.constant(array.word(3)) == Some(4) && of.int() && of.count == 2
        });
        when(!self.name.contains("Gather"), "ConstOffsets belongs to gathers")
            .or_else(|| when(self.image.dim == dim::CUBE, "a cube has no offsets"))
            .or_else(|| when(!four, "ConstOffsets is not an array of four pairs of integers"))
            .or_else(|| when(!self.module.is_constant(id), "ConstOffsets is not a constant"))
    }

    fn sample(&mut self) -> Why {
        if !self.has(SAMPLE) {
            return None;
        }
        let id = self.next();
        let plain = ["Fetch", "Read", "Write"].iter().any(|kind| self.name.ends_with(kind));
        when(!plain, "Sample belongs to fetches, reads and writes")
            .or_else(|| when(self.image.multisampled == 0, "Sample belongs to multisampled images"))
            .or_else(|| when(!self.module.of(id).scalar(Base::Int), "Sample is not an integer"))
    }

    fn least_level(&mut self) -> Why {
        if !self.has(MIN_LOD) {
            return None;
        }
        let id = self.next();
        when(
            !self.implicit && !self.has(GRAD),
            "MinLod belongs to implicit levels and to Grad",
        )
        .or_else(|| when(!self.module.of(id).scalar(Base::Float), "MinLod is not a float"))
        .or_else(|| when(!self.image.has_levels(), "MinLod belongs to images with levels"))
        .or_else(|| when(self.image.multisampled != 0, "several samples have no levels"))
    }

    /// Availability of writes and visibility of reads.
    fn order(&mut self, bit: u32, opcodes: &[u16]) -> Why {
        if !self.has(bit) {
            return None;
        }
        let id = self.next();
        when(
            !opcodes.contains(&self.opcode),
            "writes are made available, and visible to reads",
        )
        .or_else(|| {
            when(
                !self.has(NON_PRIVATE),
                "availability and visibility require NonPrivateTexel",
            )
        })
        .or_else(|| scopes::memory(self.module, id))
    }
}
