//! What a VkScript says.

use crate::amber::Layout;
use crate::error::Place;
use crate::types::{Format, Scalar, Stage, Tolerance, Topology, TypeName, Value, words};

/// A script by its sections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// What the device has to have, and the framebuffer.
    pub requires: Vec<Require>,
    /// Shaders.
    pub shaders: Vec<Shader>,
    /// Vertices.
    pub vertex_data: Option<VertexData>,
    /// Indices.
    pub indices: Option<Vec<u32>>,
    /// What is done.
    pub test: Vec<Statement>,
}

/// A line of `[require]` and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Require {
    /// Where it begins.
    pub place: Place,
    /// What it says.
    pub what: Requirement,
}

/// What a script requires.
#[derive(Clone, Debug, PartialEq)]
pub enum Requirement {
    /// A feature or an extension.
    Named(String),
    /// The framebuffer's format.
    Framebuffer(Format),
    /// The format of depth and stencil.
    DepthStencil(Format),
    /// The framebuffer's size.
    Size([u32; 2]),
    /// How long a use of the device may take, in milliseconds.
    FenceTimeout(u64),
    /// A version of Vulkan.
    Vulkan([u32; 3]),
}

/// A shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Where its text begins.
    pub place: Place,
    /// What it is for.
    pub stage: Stage,
    /// What it is written in.
    pub language: Language,
    /// The text.
    pub text: String,
}

words! {
    /// What a shader is written in, behind the word `shader`.
    Language {
        Glsl = "",
        SpirvAsm = "spirv",
        SpirvHex = "spirv hex",
        Passthrough = "passthrough",
    }
}

/// Vertices in rows.
#[derive(Clone, Debug, PartialEq)]
pub struct VertexData {
    /// Where it begins.
    pub place: Place,
    /// What each row has.
    pub attributes: Vec<Attribute>,
    /// All numbers, row behind row.
    pub values: Vec<Value>,
}

/// A part of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The location.
    pub location: u32,
    /// The format.
    pub format: Format,
}

impl Attribute {
    /// How many numbers it has in a row.
    pub fn numbers(&self) -> usize {
        match self.format.is_packed() {
            true => 1,
            false => self.format.components().len(),
        }
    }
}

/// A line of `[test]` and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Where it begins.
    pub place: Place,
    /// What it says.
    pub command: Command,
}

/// A descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // named as the language names them
pub struct Binding {
    pub set: u32,
    pub binding: u32,
}

/// Numbers at a place of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// What each element is.
    pub kind: TypeName,
    /// The byte where they begin.
    pub offset: u64,
    /// The numbers.
    pub values: Vec<Value>,
}

words! {
    /// How numbers are compared.
    Comparison {
        Equal = "==",
        NotEqual = "!=",
        Less = "<",
        Greater = ">",
        LessOrEqual = "<=",
        GreaterOrEqual = ">=",
        Fuzzy = "~=",
    }
}

words! {
    /// What a layout is set for.
    Block {
        Push = "push",
        Ubo = "ubo",
        Ssbo = "ssbo",
    }
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub enum Command {
    Clear,
    ClearColor([f64; 4]),
    ClearDepth(f64),
    ClearStencil(u32),
    /// Left, top, width, height: in pixels if `ortho`.
    DrawRect {
        ortho: bool,
        patch: bool,
        rect: [f64; 4],
    },
    DrawArrays {
        indexed: bool,
        topology: Topology,
        first: u32,
        count: u32,
        instances: u32,
    },
    Compute([u32; 3]),
    Entry {
        stage: Stage,
        name: String,
    },
    /// Left, top, width, height; no rectangle is all of the picture.
    Probe {
        relative: bool,
        rect: Option<[f64; 4]>,
        color: Vec<f64>,
    },
    ProbeSsbo {
        binding: Binding,
        comparison: Comparison,
        data: Data,
    },
    Push(Data),
    Ubo {
        binding: Binding,
        data: Data,
    },
    UboSize {
        binding: Binding,
        size: u64,
    },
    Ssbo {
        binding: Binding,
        data: Data,
    },
    SsboSize {
        binding: Binding,
        size: u64,
    },
    PatchVertices(u32),
    Tolerance(Vec<Tolerance>),
    Layout {
        block: Block,
        layout: Option<Layout>,
        row_major: Option<bool>,
    },
    Set {
        property: &'static Property,
        value: Setting,
    },
}

/// A property of the pipeline.
#[derive(Debug, PartialEq, Eq)]
pub struct Property {
    /// Its name.
    pub name: &'static str,
    /// What it can be.
    pub domain: Domain,
}

/// What a property can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Yes or no.
    Bool,
    /// A number.
    Float,
    /// A number without a fraction.
    Int,
    /// One of these constants, in the order of their numbers in Vulkan.
    Constant(&'static str, &'static [&'static str]),
    /// Some of these bits, the first being 1.
    Bits(&'static str, &'static [&'static str], &'static str),
}

/// A property's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    /// Yes or no.
    Bool(bool),
    /// A number.
    Float(f64),
    /// A number without a fraction, a constant's or bits.
    Int(u32),
}

const TOPOLOGIES: Domain = Domain::Constant(
    "VK_PRIMITIVE_TOPOLOGY_",
    &[
        "POINT_LIST",
        "LINE_LIST",
        "LINE_STRIP",
        "TRIANGLE_LIST",
        "TRIANGLE_STRIP",
        "TRIANGLE_FAN",
        "LINE_LIST_WITH_ADJACENCY",
        "LINE_STRIP_WITH_ADJACENCY",
        "TRIANGLE_LIST_WITH_ADJACENCY",
        "TRIANGLE_STRIP_WITH_ADJACENCY",
        "PATCH_LIST",
    ],
);
const COMPARE: Domain = Domain::Constant(
    "VK_COMPARE_OP_",
    &[
        "NEVER",
        "LESS",
        "EQUAL",
        "LESS_OR_EQUAL",
        "GREATER",
        "NOT_EQUAL",
        "GREATER_OR_EQUAL",
        "ALWAYS",
    ],
);
const STENCIL: Domain = Domain::Constant(
    "VK_STENCIL_OP_",
    &[
        "KEEP",
        "ZERO",
        "REPLACE",
        "INCREMENT_AND_CLAMP",
        "DECREMENT_AND_CLAMP",
        "INVERT",
        "INCREMENT_AND_WRAP",
        "DECREMENT_AND_WRAP",
    ],
);
const FACTOR: Domain = Domain::Constant(
    "VK_BLEND_FACTOR_",
    &[
        "ZERO",
        "ONE",
        "SRC_COLOR",
        "ONE_MINUS_SRC_COLOR",
        "DST_COLOR",
        "ONE_MINUS_DST_COLOR",
        "SRC_ALPHA",
        "ONE_MINUS_SRC_ALPHA",
        "DST_ALPHA",
        "ONE_MINUS_DST_ALPHA",
        "CONSTANT_COLOR",
        "ONE_MINUS_CONSTANT_COLOR",
        "CONSTANT_ALPHA",
        "ONE_MINUS_CONSTANT_ALPHA",
        "SRC_ALPHA_SATURATE",
        "SRC1_COLOR",
        "ONE_MINUS_SRC1_COLOR",
        "SRC1_ALPHA",
        "ONE_MINUS_SRC1_ALPHA",
    ],
);
const BLEND: Domain = Domain::Constant("VK_BLEND_OP_", &["ADD", "SUBTRACT", "REVERSE_SUBTRACT", "MIN", "MAX"]);
const LOGIC: Domain = Domain::Constant(
    "VK_LOGIC_OP_",
    &[
        "CLEAR",
        "AND",
        "AND_REVERSE",
        "COPY",
        "AND_INVERTED",
        "NO_OP",
        "XOR",
        "OR",
        "NOR",
        "EQUIVALENT",
        "INVERT",
        "OR_REVERSE",
        "COPY_INVERTED",
        "OR_INVERTED",
        "NAND",
        "SET",
    ],
);

const fn property(name: &'static str, domain: Domain) -> Property {
    Property { name, domain }
}

/// All properties.
pub static PROPERTIES: [Property; 44] = [
    property("primitiveRestartEnable", Domain::Bool),
    property("depthClampEnable", Domain::Bool),
    property("rasterizerDiscardEnable", Domain::Bool),
    property("depthBiasEnable", Domain::Bool),
    property("logicOpEnable", Domain::Bool),
    property("blendEnable", Domain::Bool),
    property("depthTestEnable", Domain::Bool),
    property("depthWriteEnable", Domain::Bool),
    property("depthBoundsTestEnable", Domain::Bool),
    property("stencilTestEnable", Domain::Bool),
    property("topology", TOPOLOGIES),
    property(
        "polygonMode",
        Domain::Constant("VK_POLYGON_MODE_", &["FILL", "LINE", "POINT"]),
    ),
    property("logicOp", LOGIC),
    property(
        "frontFace",
        Domain::Constant("VK_FRONT_FACE_", &["COUNTER_CLOCKWISE", "CLOCKWISE"]),
    ),
    property("cullMode", Domain::Bits("VK_CULL_MODE_", &["FRONT", "BACK"], "_BIT")),
    property("depthBiasConstantFactor", Domain::Float),
    property("depthBiasClamp", Domain::Float),
    property("depthBiasSlopeFactor", Domain::Float),
    property("lineWidth", Domain::Float),
    property("minDepthBounds", Domain::Float),
    property("maxDepthBounds", Domain::Float),
    property("srcColorBlendFactor", FACTOR),
    property("dstColorBlendFactor", FACTOR),
    property("srcAlphaBlendFactor", FACTOR),
    property("dstAlphaBlendFactor", FACTOR),
    property("colorBlendOp", BLEND),
    property("alphaBlendOp", BLEND),
    property("depthCompareOp", COMPARE),
    property("front.compareOp", COMPARE),
    property("back.compareOp", COMPARE),
    property("front.failOp", STENCIL),
    property("front.passOp", STENCIL),
    property("front.depthFailOp", STENCIL),
    property("back.failOp", STENCIL),
    property("back.passOp", STENCIL),
    property("back.depthFailOp", STENCIL),
    property("front.compareMask", Domain::Int),
    property("front.writeMask", Domain::Int),
    property("back.compareMask", Domain::Int),
    property("back.writeMask", Domain::Int),
    property("front.reference", Domain::Int),
    property("back.reference", Domain::Int),
    property("patchControlPoints", Domain::Int),
    property(
        "colorWriteMask",
        Domain::Bits("VK_COLOR_COMPONENT_", &["R", "G", "B", "A"], "_BIT"),
    ),
];

/// Scalars as GLSL names them: alone, and in front of `vec` and `mat`.
pub(super) const GLSL: [(Scalar, &str, &str); 11] = [
    (Scalar::Float, "float", ""),
    (Scalar::Double, "double", "d"),
    (Scalar::Int32, "int", "i"),
    (Scalar::Uint32, "uint", "u"),
    (Scalar::Float16, "float16_t", "f16"),
    (Scalar::Int8, "int8_t", "i8"),
    (Scalar::Uint8, "uint8_t", "u8"),
    (Scalar::Int16, "int16_t", "i16"),
    (Scalar::Uint16, "uint16_t", "u16"),
    (Scalar::Int64, "int64_t", "i64"),
    (Scalar::Uint64, "uint64_t", "u64"),
];
