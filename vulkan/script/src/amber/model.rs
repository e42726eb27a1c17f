//! What an AmberScript says.

use crate::error::Place;
use crate::types::{Array, DataType, Format, Scalar, Stage, Tolerance, Topology, Value, words};

/// A script: statements in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The statements.
    pub statements: Vec<Statement>,
}

/// A statement and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Where it begins.
    pub place: Place,
    /// What it says.
    pub command: Command,
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub enum Command {
    DeviceFeature(String),
    DeviceProperty(String),
    DeviceExtension(String),
    InstanceExtension(String),
    EngineData { name: String, value: u64 },
    VirtualFile { path: String, text: String },
    Shader(Shader),
    Struct(Struct),
    Buffer(Buffer),
    Image(Image),
    Sampler(Sampler),
    Pipeline(Pipeline),
    Foreign(Foreign),
    Clear { pipeline: String },
    ClearColor { pipeline: String, color: [f64; 4] },
    ClearDepth { pipeline: String, value: f64 },
    ClearStencil { pipeline: String, value: u32 },
    Copy { from: String, to: String },
    Repeat { count: u32, body: Vec<Statement> },
    Run(Run),
    Expect(Expect),
}

words! {
    /// What is read and printed, and not done.
    Beyond {
        RayTracing = "ray tracing",
        Debugger = "the debugger",
    }
}

/// A statement or block that is only kept: words by lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// What it belongs to.
    pub beyond: Beyond,
    /// The lines, the first with its keyword, the last with its END where it has one.
    pub lines: Vec<Vec<String>>,
}

words! {
    /// What a shader is written in.
    Language {
        Glsl = "GLSL",
        Hlsl = "HLSL",
        SpirvAsm = "SPIRV-ASM",
        SpirvHex = "SPIRV-HEX",
        SpirvBin = "SPIRV-BIN",
        OpenClC = "OPENCL-C",
    }
}

/// A shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// What it is for.
    pub stage: Stage,
    /// Its name.
    pub name: String,
    /// Where its code is.
    pub code: Code,
}

/// Where a shader's code is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// A vertex shader that hands input 0 on as the position.
    Passthrough,
    /// A text.
    Source {
        /// Its language.
        language: Language,
        /// What SPIR-V it becomes.
        target_env: Option<String>,
        /// Where the text is.
        from: From,
    },
}

/// Where a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// In the script, from the first line's first column.
    Inline(Place, String),
    /// In a `VIRTUAL_FILE`.
    Virtual(String),
    /// In a file beside the script.
    File(String),
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name.
    pub name: String,
    /// Bytes from one to the next.
    pub stride: Option<u32>,
    /// Its members.
    pub members: Vec<Member>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Where it stands.
    pub place: Place,
    /// Its type.
    pub kind: DataType,
    /// Its name.
    pub name: String,
    /// Bytes from the structure's start.
    pub offset: Option<u32>,
    /// Bytes from one element to the next.
    pub array_stride: Option<u32>,
    /// Bytes from one column to the next.
    pub matrix_stride: Option<u32>,
}

words! {
    /// How data lie in memory.
    Layout {
        Std140 = "STD140",
        Std430 = "STD430",
        Scalar = "SCALAR",
    }
}

/// A buffer, or an image as large as the pipeline that draws to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub shape: BufferShape,
}

/// What a buffer holds.
#[derive(Clone, Debug, PartialEq)]
pub enum BufferShape {
    /// Data.
    Data {
        /// Of what type.
        kind: DataType,
        /// How they lie.
        layout: Option<Layout>,
        /// How many elements, or how wide and high.
        size: Option<DataSize>,
        /// What is in them.
        fill: Fill,
    },
    /// Texels.
    Format {
        /// Their format.
        format: Format,
        /// Levels.
        mip_levels: u32,
        /// Samples of each texel.
        samples: u32,
        /// What is in them.
        fill: Option<Fill>,
    },
}

/// How many elements a buffer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSize {
    /// The number of elements.
    Elements(u32),
    /// Width times height.
    Area(u32, u32),
}

/// What is in a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// These numbers.
    Data(Vec<Value>),
    /// One number everywhere.
    Value(Value),
    /// Numbers in equal steps.
    Series {
        /// The first.
        from: Value,
        /// The step.
        by: Value,
    },
    /// A file's contents.
    File(FileKind, String),
}

words! {
    /// How a file is read.
    FileKind {
        Text = "TEXT",
        Binary = "BINARY",
        Png = "PNG",
    }
}

words! {
    /// How many dimensions an image has.
    Dimension {
        One = "DIM_1D",
        Two = "DIM_2D",
        Three = "DIM_3D",
    }
}

/// An image of a size of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// Its name.
    pub name: String,
    /// What its texels are.
    pub texel: Texel,
    /// Levels.
    pub mip_levels: u32,
    /// Samples of each texel.
    pub samples: u32,
    /// Its dimensions.
    pub dimension: Dimension,
    /// Width, height, depth; 1 where the dimension has none.
    pub size: [u32; 3],
    /// What is in it.
    pub fill: Option<Fill>,
}

/// What an image's texels are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Texel {
    /// Of a format.
    Format(Format),
    /// Of a type that has a format.
    Data(DataType),
}

words! {
    /// How texels between samples are found.
    Filter {
        Nearest = "nearest",
        Linear = "linear",
    }
}

words! {
    /// What is beyond an image's edge.
    AddressMode {
        Repeat = "repeat",
        MirroredRepeat = "mirrored_repeat",
        ClampToEdge = "clamp_to_edge",
        ClampToBorder = "clamp_to_border",
        MirroredClampToEdge = "mirrored_clamp_to_edge",
    }
}

words! {
    /// The colour of a border.
    BorderColor {
        FloatTransparentBlack = "float_transparent_black",
        IntTransparentBlack = "int_transparent_black",
        FloatOpaqueBlack = "float_opaque_black",
        IntOpaqueBlack = "int_opaque_black",
        FloatOpaqueWhite = "float_opaque_white",
        IntOpaqueWhite = "int_opaque_white",
    }
}

words! {
    /// When a comparison holds.
    CompareOp {
        Never = "never",
        Less = "less",
        Equal = "equal",
        LessOrEqual = "less_or_equal",
        Greater = "greater",
        NotEqual = "not_equal",
        GreaterOrEqual = "greater_or_equal",
        Always = "always",
    }
}

/// A sampler; what is not said has the language's default.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub struct Sampler {
    pub name: String,
    pub mag_filter: Option<Filter>,
    pub min_filter: Option<Filter>,
    pub address_mode: [Option<AddressMode>; 3],
    pub border_color: Option<BorderColor>,
    pub min_lod: Option<f64>,
    pub max_lod: Option<f64>,
    /// Whether coordinates run from 0 to 1.
    pub normalized: Option<bool>,
    pub compare: Option<bool>,
    pub compare_op: Option<CompareOp>,
}

words! {
    /// What a pipeline does.
    PipelineKind {
        Compute = "compute",
        Graphics = "graphics",
        RayTracing = "ray_tracing",
    }
}

/// A pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// What it is made from.
    pub base: PipelineBase,
    /// What is said of it.
    pub items: Vec<Item>,
}

/// What a pipeline is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineBase {
    /// Nothing.
    New(PipelineKind),
    /// All that is said of another.
    Derived(String),
}

/// A statement of a pipeline and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Where it begins.
    pub place: Place,
    /// What it says.
    pub setting: Setting,
}

/// What is said of a pipeline.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub enum Setting {
    Attach(Attach),
    ShaderOptimization {
        shader: String,
        passes: Vec<String>,
    },
    CompileOptions {
        shader: String,
        options: Vec<String>,
    },
    PolygonMode(PolygonMode),
    PatchControlPoints(u32),
    FramebufferSize([u32; 2]),
    Viewport(Viewport),
    Subgroup(Subgroup),
    Depth(Depth),
    Stencil(Stencil),
    Blend(Blend),
    Bind(Bind),
    VertexData(VertexData),
    IndexData(String),
    SetKernel {
        argument: Argument,
        scalar: DataType,
        values: Vec<Value>,
    },
    Foreign(Foreign),
}

/// A shader of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Attach {
    /// Its name.
    pub shader: String,
    /// Its stage, where the shader has several.
    pub stage: Option<Stage>,
    /// Its entry point.
    pub entry: Option<String>,
    /// Constants that get values.
    pub specialize: Vec<Specialize>,
}

/// A constant's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specialize {
    /// Its number.
    pub id: u32,
    /// Its type, of 32 bits.
    pub kind: Scalar,
    /// The value.
    pub value: Value,
}

words! {
    /// What is drawn of a polygon.
    PolygonMode {
        Fill = "fill",
        Line = "line",
        Point = "point",
    }
}

/// Where a picture lies in a framebuffer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub struct Viewport {
    pub position: [f64; 2],
    pub size: [f64; 2],
    pub min_depth: Option<f64>,
    pub max_depth: Option<f64>,
}

/// What a shader wants of subgroups.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as the language names them
pub struct Subgroup {
    pub shader: String,
    pub fully_populated: Option<bool>,
    pub varying_size: Option<bool>,
    pub required_size: Option<SubgroupSize>,
}

/// How large subgroups have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubgroupSize {
    /// The least that the device has.
    Min,
    /// The most.
    Max,
    /// So large.
    Exactly(u32),
}

/// Tests and writes of depth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub struct Depth {
    pub test: Option<bool>,
    pub write: Option<bool>,
    pub compare_op: Option<CompareOp>,
    pub clamp: Option<bool>,
    /// Least and greatest.
    pub bounds: Option<[f64; 2]>,
    /// Constant, clamp, slope.
    pub bias: Option<[f64; 3]>,
}

words! {
    /// What happens to a stencil value.
    StencilOp {
        Keep = "keep",
        Zero = "zero",
        Replace = "replace",
        IncrementAndClamp = "increment_and_clamp",
        DecrementAndClamp = "decrement_and_clamp",
        Invert = "invert",
        IncrementAndWrap = "increment_and_wrap",
        DecrementAndWrap = "decrement_and_wrap",
    }
}

words! {
    /// Which side of a polygon.
    Face {
        Front = "front",
        Back = "back",
        Both = "front_and_back",
    }
}

/// Tests and writes of stencil values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as the language names them
pub struct Stencil {
    pub face: Face,
    pub test: Option<bool>,
    pub fail_op: Option<StencilOp>,
    pub pass_op: Option<StencilOp>,
    pub depth_fail_op: Option<StencilOp>,
    pub compare_op: Option<CompareOp>,
    pub compare_mask: Option<u32>,
    pub write_mask: Option<u32>,
    pub reference: Option<u32>,
}

words! {
    /// What a colour is multiplied by.
    BlendFactor {
        Zero = "zero",
        One = "one",
        SrcColor = "src_color",
        OneMinusSrcColor = "one_minus_src_color",
        DstColor = "dst_color",
        OneMinusDstColor = "one_minus_dst_color",
        SrcAlpha = "src_alpha",
        OneMinusSrcAlpha = "one_minus_src_alpha",
        DstAlpha = "dst_alpha",
        OneMinusDstAlpha = "one_minus_dst_alpha",
        ConstantColor = "constant_color",
        OneMinusConstantColor = "one_minus_constant_color",
        ConstantAlpha = "constant_alpha",
        OneMinusConstantAlpha = "one_minus_constant_alpha",
        SrcAlphaSaturate = "src_alpha_saturate",
        Src1Color = "src1_color",
        OneMinusSrc1Color = "one_minus_src1_color",
        Src1Alpha = "src1_alpha",
        OneMinusSrc1Alpha = "one_minus_src1_alpha",
    }
}

words! {
    /// How two colours become one. The language writes "substract".
    BlendOp {
        Add = "add",
        Subtract = "substract",
        ReverseSubtract = "reverse_substract",
        Min = "min",
        Max = "max",
        Zero = "zero",
        Src = "src",
        Dst = "dst",
        SrcOver = "src_over",
        DstOver = "dst_over",
        SrcIn = "src_in",
        DstIn = "dst_in",
        SrcOut = "src_out",
        DstOut = "dst_out",
        SrcAtop = "src_atop",
        DstAtop = "dst_atop",
        Xor = "xor",
        Multiply = "multiply",
        Screen = "screen",
        Overlay = "overlay",
        Darken = "darken",
        Lighten = "lighten",
        ColorDodge = "color_dodge",
        ColorBurn = "color_burn",
        HardLight = "hard_light",
        SoftLight = "soft_light",
        Difference = "difference",
        Exclusion = "exclusion",
        Invert = "invert",
        InvertRgb = "invert_rgb",
        LinearDodge = "linear_dodge",
        LinearBurn = "linear_burn",
        VividLight = "vivid_light",
        LinearLight = "linear_light",
        PinLight = "pin_light",
        HardMix = "hard_mix",
        HslHue = "hsl_hue",
        HslSaturation = "hsl_saturation",
        HslColor = "hsl_color",
        HslLuminosity = "hsl_luminosity",
        Plus = "plus",
        PlusClamped = "plus_clamped",
        PlusClampedAlpha = "plus_clamped_alpha",
        PlusDarker = "plus_darker",
        Minus = "minus",
        MinusClamped = "minus_clamped",
        Contrast = "contrast",
        InvertOrg = "invert_org",
        Red = "red",
        Green = "green",
        Blue = "blue",
    }
}

/// How colours are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // named as the language names them
pub struct Blend {
    pub src_color: Option<BlendFactor>,
    pub dst_color: Option<BlendFactor>,
    pub color_op: Option<BlendOp>,
    pub src_alpha: Option<BlendFactor>,
    pub dst_alpha: Option<BlendFactor>,
    pub alpha_op: Option<BlendOp>,
}

words! {
    /// What a shader sees of a buffer.
    BindKind {
        Uniform = "uniform",
        Storage = "storage",
        UniformDynamic = "uniform_dynamic",
        StorageDynamic = "storage_dynamic",
        UniformTexelBuffer = "uniform_texel_buffer",
        StorageTexelBuffer = "storage_texel_buffer",
        StorageImage = "storage_image",
        SampledImage = "sampled_image",
        CombinedImageSampler = "combined_image_sampler",
    }
}

impl BindKind {
    /// Whether it has an offset that is given with each use.
    pub fn is_dynamic(self) -> bool {
        matches!(self, Self::UniformDynamic | Self::StorageDynamic)
    }

    /// Whether it is an image.
    pub fn is_image(self) -> bool {
        matches!(
            self,
            Self::StorageImage | Self::SampledImage | Self::CombinedImageSampler
        )
    }
}

/// An argument of an OpenCL kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// By its name.
    Name(String),
    /// By its number.
    Number(u32),
}

/// What a pipeline's shaders see.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub enum Bind {
    Color {
        buffer: String,
        location: u32,
        base_mip_level: u32,
    },
    DepthStencil {
        buffer: String,
    },
    Resolve {
        buffer: String,
    },
    PushConstant {
        buffer: String,
    },
    Kernel {
        buffer: String,
        kind: Option<BindKind>,
        argument: Argument,
    },
    KernelSampler {
        sampler: String,
        argument: Argument,
    },
    Buffers(BindBuffers),
    Samplers {
        samplers: Vec<String>,
        array: bool,
        set: u32,
        binding: u32,
    },
    AccelerationStructure {
        name: String,
        set: u32,
        binding: u32,
    },
}

/// Buffers of a descriptor.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub struct BindBuffers {
    pub buffers: Vec<String>,
    pub array: bool,
    pub kind: BindKind,
    /// One for all, or one for each.
    pub samplers: Vec<String>,
    pub set: u32,
    pub binding: u32,
    pub base_mip_level: u32,
    /// Dynamic offsets.
    pub offsets: Vec<u64>,
    pub descriptor_offsets: Vec<u64>,
    /// `None` is the rest of the buffer.
    pub descriptor_ranges: Vec<Option<u64>>,
}

/// A buffer with vertices.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // named as the language names them
pub struct VertexData {
    pub buffer: String,
    pub location: u32,
    /// Whether it advances per instance.
    pub per_instance: Option<bool>,
    pub format: Option<Format>,
    pub offset: Option<u32>,
    pub stride: Option<u32>,
}

/// A use of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Whether the device's time is reported.
    pub timed: bool,
    /// The pipeline's name.
    pub pipeline: String,
    /// The dispatch or draw.
    pub how: How,
}

/// A dispatch or a draw.
#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// The number of work groups.
    Compute([u32; 3]),
    /// A rectangle in pixels.
    Rect {
        /// Where it begins.
        position: [f64; 2],
        /// How large it is.
        size: [f64; 2],
    },
    /// A rectangle in pixels, of cells.
    Grid {
        /// Where it begins.
        position: [f64; 2],
        /// How large it is.
        size: [f64; 2],
        /// Columns and rows.
        cells: [u32; 2],
    },
    /// The pipeline's vertices.
    Array(DrawArray),
    /// Rays: the words behind the pipeline's name.
    Rays(Vec<String>),
}

/// A draw of vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // named as the language names them
pub struct DrawArray {
    pub topology: Topology,
    pub indexed: bool,
    pub start: Option<u32>,
    pub count: Option<u32>,
    pub start_instance: Option<u32>,
    pub instances: Option<u32>,
}

/// What has to hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// Of which buffer.
    pub buffer: String,
    /// What.
    pub check: Check,
}

words! {
    /// How numbers are compared.
    Comparator {
        Eq = "EQ",
        Ne = "NE",
        Lt = "LT",
        Le = "LE",
        Gt = "GT",
        Ge = "GE",
    }
}

/// What has to hold of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// Numbers from a byte on.
    Values {
        /// The byte.
        offset: u64,
        /// How they compare.
        comparator: Comparator,
        /// How far they may be off.
        tolerances: Vec<Tolerance>,
        /// What they are to be.
        values: Vec<Value>,
    },
    /// Pixels of a rectangle, in 255ths.
    Pixels {
        /// Where it begins.
        position: [u32; 2],
        /// How large it is.
        size: [u32; 2],
        /// Red, green, blue, and alpha where that is asked for.
        color: Vec<f64>,
        /// How far they may be off.
        tolerances: Vec<Tolerance>,
    },
    /// The same bytes as another.
    EqBuffer(String),
    /// The root of the mean square difference.
    Rmse {
        /// To which.
        other: String,
        /// The most.
        tolerance: f64,
    },
    /// How far one histogram is from another.
    HistogramEmd {
        /// To which.
        other: String,
        /// The most.
        tolerance: f64,
    },
}

impl Struct {
    /// Whether a member has elements without a known number.
    pub fn is_unsized(&self) -> bool {
        self.members.iter().any(|member| member.kind.array == Array::Runtime)
    }
}
