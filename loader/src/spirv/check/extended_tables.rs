//! The instructions of GLSL.std.450 and OpenCL.std in families with the same result and operands.

use super::form::Base;
use crate::spirv::class;
use std::fmt::{Display, Formatter, Result};

/// Instructions that share their shapes.
pub(super) struct Family {
    /// Names, separated by spaces.
    pub(super) names: &'static str,
    pub(super) result: Shape,
    /// The last shape is also that of all further operands; the grammar knows their number.
    pub(super) operands: &'static [Shape],
}

/// What the type of a result or an operand must be. Its *subject* is the result's type, the first member's of a
/// [pair](Shape::Pair), or the first operand's where there is no result.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// The subject.
    Same,
    /// A scalar or vector.
    Numbers(Numbers),
    /// A scalar or vector of the subject's component type, with one of these numbers of components.
    Parts(&'static [u32]),
    /// The type of the first operand.
    First,
    /// A square matrix of the subject's component type.
    Square,
    /// A pointer of one of these storage classes, or of any if there are none.
    Pointer(&'static [u32], &'static Self),
    /// The format of a printed text.
    Format,
    /// An 8-bit integer, or an array of them.
    Text,
    /// Exponents of the subject's components.
    Exponent,
    /// An integer as wide as an address.
    Size,
    /// A literal: the subject's number of components.
    Components,
    /// A struct of the subject, which is of floats, and this.
    Pair(&'static Self),
    /// No result.
    Void,
    /// Anything.
    Any,
    /// The instruction has a number, but no meaning.
    Removed,
}

/// The components of a scalar or vector.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) bases: &'static [Base],
    pub(super) width: Width,
    pub(super) count: Count,
}

/// Bits of a component.
#[derive(Clone, Copy)]
pub(super) enum Width {
    Any,
    Of(&'static [u32]),
    /// As many as the subject's.
    Subject,
    /// Half as many as the subject's.
    Half,
}

/// The number of components; 1 is a scalar, 0 a cooperative vector.
#[derive(Clone, Copy)]
pub(super) enum Count {
    Of(&'static [u32]),
    /// As many as the subject's.
    Subject,
}

/// Storage classes that OpenCL.std reads from.
pub(super) const READABLE: &[u32] = &[
    class::UNIFORM_CONSTANT,
    class::GENERIC,
    class::CROSS_WORKGROUP,
    class::WORKGROUP,
    class::FUNCTION,
];

const INT: &[Base] = &[Base::Int];
const FLOAT: &[Base] = &[Base::Float];
const BOTH: &[Base] = &[Base::Int, Base::Float];

const SCALAR: &[u32] = &[1];
const VECTOR: &[u32] = &[2, 3, 4, 8, 16];
const EITHER: &[u32] = &[1, 2, 3, 4, 8, 16];
/// Scalars and vectors, cooperative ones included.
const COOPERATIVE: &[u32] = &[0, 1, 2, 3, 4, 8, 16];
/// Points and directions in OpenCL.
const SPACE: &[u32] = &[1, 2, 3, 4];
const SHUFFLED: &[u32] = &[2, 4, 8, 16];

/// Scalars or vectors with any width.
const fn any(bases: &'static [Base], counts: &'static [u32]) -> Shape {
    Shape::Numbers(Numbers {
        bases,
        width: Width::Any,
        count: Count::Of(counts),
    })
}

/// Scalars or vectors with these widths.
const fn wide(bases: &'static [Base], widths: &'static [u32], counts: &'static [u32]) -> Shape {
    Shape::Numbers(Numbers {
        bases,
        width: Width::Of(widths),
        count: Count::Of(counts),
    })
}

/// As many components as the subject has.
const fn like(bases: &'static [Base], width: Width) -> Shape {
    Shape::Numbers(Numbers {
        bases,
        width,
        count: Count::Subject,
    })
}

const fn family(names: &'static str, result: Shape, operands: &'static [Shape]) -> Family {
    Family {
        names,
        result,
        operands,
    }
}

const SAME: &[Shape] = &[Shape::Same];
/// Integers that differ from the subject in nothing but the sign.
const SIGN_FREE: &[Shape] = &[like(INT, Width::Subject)];
const WORD: Shape = wide(INT, &[32], SCALAR);
const WORDS: Shape = wide(INT, &[32], EITHER);
const WORD_EACH: Shape = like(INT, Width::Of(&[32]));
const PAIR_OF_WORDS: Shape = wide(INT, &[32], &[2]);
const PAIR_OF_FLOATS: Shape = wide(FLOAT, &[32], &[2]);
const FOUR_FLOATS: Shape = wide(FLOAT, &[32], &[4]);
const DOUBLE: Shape = wide(FLOAT, &[64], SCALAR);
const FLOATS: Shape = any(FLOAT, EITHER);
/// GLSL has no trigonometry of 64 bits.
const SHORT_FLOATS: Shape = wide(FLOAT, &[16, 32], EITHER);
const INPUT: Shape = Shape::Pointer(&[class::INPUT], &Shape::Same);

pub(super) static GLSL: &[Family] = &[
    family(
        "Round RoundEven Trunc FAbs FSign Floor Ceil Fract Sqrt InverseSqrt FMix SmoothStep Normalize FaceForward Reflect",
        FLOATS,
        SAME,
    ),
    family(
        "FMin FMax FClamp NMin NMax NClamp Step Fma",
        any(FLOAT, COOPERATIVE),
        SAME,
    ),
    family(
        "Radians Degrees Sin Cos Tan Asin Acos Sinh Cosh Asinh Acosh Atanh Exp2 Log2 Atan2 Pow",
        SHORT_FLOATS,
        SAME,
    ),
    family("Atan Tanh Exp Log", wide(FLOAT, &[16, 32], COOPERATIVE), SAME),
    family("SAbs SSign FindILsb", any(INT, EITHER), SIGN_FREE),
    family("FindSMsb FindUMsb", WORDS, SIGN_FREE),
    family("SMin UMin SMax UMax SClamp UClamp", any(INT, COOPERATIVE), SIGN_FREE),
    family("IMix", Shape::Removed, &[]),
    family("Determinant", any(FLOAT, SCALAR), &[Shape::Square]),
    family("MatrixInverse", Shape::Square, SAME),
    family("Modf", FLOATS, &[Shape::Same, Shape::Pointer(&[], &Shape::Same)]),
    family("ModfStruct", Shape::Pair(&Shape::Same), SAME),
    family("Frexp", FLOATS, &[Shape::Same, Shape::Pointer(&[], &Shape::Exponent)]),
    family("FrexpStruct", Shape::Pair(&Shape::Exponent), SAME),
    family("Ldexp", FLOATS, &[Shape::Same, like(INT, Width::Any)]),
    family("PackSnorm4x8 PackUnorm4x8", WORD, &[FOUR_FLOATS]),
    family("PackSnorm2x16 PackUnorm2x16 PackHalf2x16", WORD, &[PAIR_OF_FLOATS]),
    family("PackDouble2x32", DOUBLE, &[PAIR_OF_WORDS]),
    family("UnpackSnorm4x8 UnpackUnorm4x8", FOUR_FLOATS, &[WORD]),
    family(
        "UnpackSnorm2x16 UnpackUnorm2x16 UnpackHalf2x16",
        PAIR_OF_FLOATS,
        &[WORD],
    ),
    family("UnpackDouble2x32", PAIR_OF_WORDS, &[DOUBLE]),
    family("Length", any(FLOAT, SCALAR), &[Shape::Parts(EITHER)]),
    family("Distance", any(FLOAT, SCALAR), &[Shape::Parts(EITHER), Shape::First]),
    family("Cross", any(FLOAT, &[3]), SAME),
    family("Refract", FLOATS, &[Shape::Same, Shape::Same, any(FLOAT, SCALAR)]),
    family("InterpolateAtCentroid", wide(FLOAT, &[32], EITHER), &[INPUT]),
    family("InterpolateAtSample", wide(FLOAT, &[32], EITHER), &[INPUT, WORD]),
    family(
        "InterpolateAtOffset",
        wide(FLOAT, &[32], EITHER),
        &[INPUT, PAIR_OF_FLOATS],
    ),
];

/// Storage classes that OpenCL.std writes to.
const WRITABLE: &[u32] = &[
    class::GENERIC,
    class::CROSS_WORKGROUP,
    class::WORKGROUP,
    class::FUNCTION,
];

const HALF: Shape = wide(FLOAT, &[16], SCALAR);
const ELEMENT: Shape = Shape::Parts(SCALAR);
/// Halves that are stored: where they are counted from, and the rounding mode if there is one.
const FROM_FLOAT: &[Shape] = &[
    wide(FLOAT, &[32, 64], SCALAR),
    Shape::Size,
    Shape::Pointer(WRITABLE, &HALF),
    Shape::Any,
];
const FROM_FLOATS: &[Shape] = &[
    wide(FLOAT, &[32, 64], VECTOR),
    Shape::Size,
    Shape::Pointer(WRITABLE, &HALF),
    Shape::Any,
];

pub(super) static OPENCL: &[Family] = &[
    family(
        "acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf exp \
         exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod hypot lgamma log log2 log10 log1p logb mad maxmag minmag \
         nextafter pow powr remainder rint round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc fclamp degrees \
         fmax_common fmin_common mix radians step smoothstep sign",
        FLOATS,
        SAME,
    ),
    family(
        "half_cos half_divide half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_powr half_recip half_rsqrt \
         half_sin half_sqrt half_tan native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 \
         native_log10 native_powr native_recip native_rsqrt native_sin native_sqrt native_tan",
        FLOATS,
        SAME,
    ),
    family(
        "fract modf sincos",
        FLOATS,
        &[Shape::Same, Shape::Pointer(WRITABLE, &Shape::Same)],
    ),
    family(
        "frexp lgamma_r",
        FLOATS,
        &[Shape::Same, Shape::Pointer(WRITABLE, &WORD_EACH)],
    ),
    family(
        "remquo",
        FLOATS,
        &[Shape::Same, Shape::Same, Shape::Pointer(WRITABLE, &WORD_EACH)],
    ),
    family("ilogb", WORDS, &[like(FLOAT, Width::Any)]),
    family("ldexp pown rootn", FLOATS, &[Shape::Same, WORD_EACH]),
    family("nan", FLOATS, SIGN_FREE),
    family(
        "s_abs s_abs_diff s_add_sat u_add_sat s_hadd u_hadd s_rhadd u_rhadd s_clamp u_clamp clz ctz s_mad_hi u_mad_sat \
         s_mad_sat s_max u_max s_min u_min s_mul_hi rotate s_sub_sat u_sub_sat popcount u_abs u_abs_diff u_mul_hi u_mad_hi",
        any(INT, EITHER),
        SAME,
    ),
    family(
        "u_upsample s_upsample",
        wide(INT, &[16, 32, 64], EITHER),
        &[like(INT, Width::Half), Shape::First],
    ),
    family("s_mad24 u_mad24 s_mul24 u_mul24", WORDS, SAME),
    family("cross", any(FLOAT, &[3, 4]), SAME),
    family(
        "distance fast_distance",
        any(FLOAT, SCALAR),
        &[Shape::Parts(SPACE), Shape::First],
    ),
    family("length fast_length", any(FLOAT, SCALAR), &[Shape::Parts(SPACE)]),
    family("normalize fast_normalize", any(FLOAT, SPACE), SAME),
    family("bitselect", any(BOTH, EITHER), SAME),
    family(
        "select",
        any(BOTH, EITHER),
        &[Shape::Same, Shape::Same, like(INT, Width::Subject)],
    ),
    family(
        "vloadn",
        any(BOTH, VECTOR),
        &[Shape::Size, Shape::Pointer(READABLE, &ELEMENT), Shape::Components],
    ),
    family(
        "vstoren",
        Shape::Void,
        &[any(BOTH, VECTOR), Shape::Size, Shape::Pointer(WRITABLE, &ELEMENT)],
    ),
    family(
        "vload_half",
        any(FLOAT, SCALAR),
        &[Shape::Size, Shape::Pointer(READABLE, &HALF)],
    ),
    family(
        "vload_halfn vloada_halfn",
        any(FLOAT, VECTOR),
        &[Shape::Size, Shape::Pointer(READABLE, &HALF), Shape::Components],
    ),
    family("vstore_half vstore_half_r", Shape::Void, FROM_FLOAT),
    family(
        "vstore_halfn vstore_halfn_r vstorea_halfn vstorea_halfn_r",
        Shape::Void,
        FROM_FLOATS,
    ),
    family(
        "shuffle",
        any(BOTH, SHUFFLED),
        &[Shape::Parts(SHUFFLED), like(INT, Width::Subject)],
    ),
    family(
        "shuffle2",
        any(BOTH, SHUFFLED),
        &[Shape::Parts(SHUFFLED), Shape::First, like(INT, Width::Subject)],
    ),
    family("printf", WORD, &[Shape::Format, Shape::Any]),
    family(
        "prefetch",
        Shape::Void,
        &[
            Shape::Pointer(&[class::CROSS_WORKGROUP], &any(BOTH, EITHER)),
            Shape::Size,
        ],
    ),
];

impl Display for Shape {
    /// What a type that does not fit is: "no float scalar".
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            Self::Same => write!(out, "not of the same type"),
            Self::Numbers(numbers) => write!(out, "no {numbers}"),
            Self::Parts(counts) => write!(out, "no {} of the same component type", Counts(counts)),
            Self::First => write!(out, "not of the first operand's type"),
            Self::Square => write!(out, "no square matrix of the same component type"),
            Self::Pointer(classes, to) => {
                write!(out, "no pointer")?;
                if !classes.is_empty() {
                    write!(out, " of an allowed storage class")?;
                }
                write!(out, ", or its target is {to}")
            }
            Self::Format => write!(out, "no pointer to text in an allowed storage class"),
            Self::Text => write!(out, "no text"),
            Self::Exponent => write!(out, "no exponent for each component"),
            Self::Size => write!(out, "no integer as wide as an address"),
            Self::Components => write!(out, "not the number of components"),
            Self::Pair(second) => write!(out, "no struct of two members, or the second is {second}"),
            Self::Void => write!(out, "not void"),
            Self::Any => write!(out, "nothing"),
            Self::Removed => write!(out, "that of an instruction which the set no longer has"),
        }
    }
}

impl Display for Numbers {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        if let Width::Of(widths) = self.width {
            write!(out, "{} ", Counted(widths, "-bit"))?;
        }
        let (ints, floats) = (self.bases.contains(&Base::Int), self.bases.contains(&Base::Float));
        out.write_str(match (ints, floats) {
            (true, true) => "integer or float ",
            (true, false) => "integer ",
            _ => "float ",
        })?;
        match self.count {
            Count::Of(counts) => write!(out, "{}", Counts(counts))?,
            Count::Subject => write!(out, "scalar or vector with as many components")?,
        }
        out.write_str(match self.width {
            Width::Subject => ", as wide",
            Width::Half => ", half as wide",
            Width::Any | Width::Of(_) => "",
        })
    }
}

/// Numbers of components in words.
struct Counts(&'static [u32]);

impl Display for Counts {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self.0 {
            SCALAR => write!(out, "scalar"),
            VECTOR => write!(out, "vector"),
            EITHER | COOPERATIVE => write!(out, "scalar or vector"),
            [1, counts @ ..] => write!(out, "scalar or vector of {} components", Counted(counts, "")),
            counts => write!(out, "vector of {} components", Counted(counts, "")),
        }
    }
}

/// Numbers, each with a suffix: "16-bit or 32-bit".
struct Counted(&'static [u32], &'static str);

impl Display for Counted {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        for (at, number) in self.0.iter().enumerate() {
            let separator = match at {
                0 => "",
                at if at + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(out, "{separator}{number}{}", self.1)?;
        }
        Ok(())
    }
}
