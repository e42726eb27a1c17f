//! The keys of a scene file that are pipeline state, and Vulkan's words for them.

use serde::Deserialize;
use vulkan::{Blend, Compare, vk};

/// An enumeration of words, each Vulkan's value of that name.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $vulkan:ident { $($word:ident $value:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
        #[serde(rename_all = "kebab-case")]
        #[allow(missing_docs)] // the names are Vulkan's
        pub enum $name {
            $($word),*
        }

        impl From<$name> for vk::$vulkan {
            fn from(word: $name) -> Self {
                match word {
                    $($name::$word => Self::$value),*
                }
            }
        }
    };
}

words! {
    /// How polygons are drawn.
    PolygonMode: PolygonMode { Fill FILL, Line LINE, Point POINT }
}

words! {
    /// The winding of front-facing triangles.
    FrontFace: FrontFace { CounterClockwise COUNTER_CLOCKWISE, Clockwise CLOCKWISE }
}

words! {
    /// What happens to a stencil value.
    StencilOp: StencilOp {
        Keep KEEP,
        Zero ZERO,
        Replace REPLACE,
        IncrementAndClamp INCREMENT_AND_CLAMP,
        DecrementAndClamp DECREMENT_AND_CLAMP,
        Invert INVERT,
        IncrementAndWrap INCREMENT_AND_WRAP,
        DecrementAndWrap DECREMENT_AND_WRAP,
    }
}

words! {
    /// A blend factor.
    BlendFactor: BlendFactor {
        Zero ZERO,
        One ONE,
        SrcColor SRC_COLOR,
        OneMinusSrcColor ONE_MINUS_SRC_COLOR,
        DstColor DST_COLOR,
        OneMinusDstColor ONE_MINUS_DST_COLOR,
        SrcAlpha SRC_ALPHA,
        OneMinusSrcAlpha ONE_MINUS_SRC_ALPHA,
        DstAlpha DST_ALPHA,
        OneMinusDstAlpha ONE_MINUS_DST_ALPHA,
        ConstantColor CONSTANT_COLOR,
        OneMinusConstantColor ONE_MINUS_CONSTANT_COLOR,
        ConstantAlpha CONSTANT_ALPHA,
        OneMinusConstantAlpha ONE_MINUS_CONSTANT_ALPHA,
        SrcAlphaSaturate SRC_ALPHA_SATURATE,
    }
}

words! {
    /// A blend operation.
    BlendOp: BlendOp { Add ADD, Subtract SUBTRACT, ReverseSubtract REVERSE_SUBTRACT, Min MIN, Max MAX }
}

words! {
    /// An operation on the bits of integer and normalised targets.
    LogicOp: LogicOp {
        Clear CLEAR,
        And AND,
        AndReverse AND_REVERSE,
        Copy COPY,
        AndInverted AND_INVERTED,
        NoOp NO_OP,
        Xor XOR,
        Or OR,
        Nor NOR,
        Equivalent EQUIVALENT,
        Invert INVERT,
        OrReverse OR_REVERSE,
        CopyInverted COPY_INVERTED,
        OrInverted OR_INVERTED,
        Nand NAND,
        Set SET,
    }
}

/// Texture filter.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Filter {
    Nearest,
    Linear,
}

/// Texture wrap mode.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Wrap {
    Repeat,
    Clamp,
    Mirror,
    Border,
    MirrorClamp,
}

/// The texel beyond the edges of an image.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Border {
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
}

/// What is added to depths.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[allow(missing_docs)]
pub struct DepthBias {
    pub constant: f32,
    pub clamp: f32,
    pub slope: f32,
}

/// The stencil test.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[allow(missing_docs)]
pub struct Stencil {
    pub front: StencilFace,
    /// As the front, unless given.
    pub back: Option<StencilFace>,
    pub clear: u8,
}

/// The stencil test of one side.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[allow(missing_docs)]
pub struct StencilFace {
    pub compare: Compare,
    pub fail: StencilOp,
    pub depth_fail: StencilOp,
    pub pass: StencilOp,
    pub compare_mask: u8,
    pub write_mask: u8,
    pub reference: u8,
}

impl Default for StencilFace {
    fn default() -> Self {
        Self {
            compare: Compare::Always,
            fail: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            pass: StencilOp::Keep,
            compare_mask: 255,
            write_mask: 255,
            reference: 0,
        }
    }
}

/// One target: its clear colour, blending and write mask.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[allow(missing_docs)]
pub struct Target {
    pub clear: Option<[f32; 4]>,
    pub blend: Option<Blend>,
    pub src_color_factor: Option<BlendFactor>,
    pub dst_color_factor: Option<BlendFactor>,
    pub color_op: Option<BlendOp>,
    pub src_alpha_factor: Option<BlendFactor>,
    pub dst_alpha_factor: Option<BlendFactor>,
    pub alpha_op: Option<BlendOp>,
    pub write_mask: Option<String>,
}

impl From<Filter> for vk::Filter {
    fn from(filter: Filter) -> Self {
        match filter {
            Filter::Nearest => Self::NEAREST,
            Filter::Linear => Self::LINEAR,
        }
    }
}

impl From<Wrap> for vk::SamplerAddressMode {
    fn from(wrap: Wrap) -> Self {
        match wrap {
            Wrap::Repeat => Self::REPEAT,
            Wrap::Clamp => Self::CLAMP_TO_EDGE,
            Wrap::Mirror => Self::MIRRORED_REPEAT,
            Wrap::Border => Self::CLAMP_TO_BORDER,
            Wrap::MirrorClamp => Self::MIRROR_CLAMP_TO_EDGE,
        }
    }
}
