//! The few numbers of SPIR-V that our own passes name in code. All others are in the [grammar](super::grammar); a test
//! holds these against it.

macro_rules! known {
    ($($(#[$meta:meta])* $module:ident($int:ty) { $($name:ident = $value:literal $text:literal,)* })*) => {
        $($(#[$meta])* pub mod $module {
            $(#[doc = concat!("`", $text, "`.")] pub const $name: $int = $value;)*

            /// Every number here with the specification's name.
            pub const TABLE: &[($int, &str)] = &[$(($value, $text)),*];
        })*
    };
}

known! {
    /// Opcodes.
    op(u16) {
        NOP = 0 "OpNop",
        SOURCE = 3 "OpSource",
        NAME = 5 "OpName",
        LINE = 8 "OpLine",
        EXTENSION = 10 "OpExtension",
        MEMBER_NAME = 6 "OpMemberName",
        EXT_INST_IMPORT = 11 "OpExtInstImport",
        EXT_INST = 12 "OpExtInst",
        ENTRY_POINT = 15 "OpEntryPoint",
        EXECUTION_MODE = 16 "OpExecutionMode",
        CAPABILITY = 17 "OpCapability",
        TYPE_VOID = 19 "OpTypeVoid",
        TYPE_BOOL = 20 "OpTypeBool",
        TYPE_INT = 21 "OpTypeInt",
        TYPE_FLOAT = 22 "OpTypeFloat",
        TYPE_VECTOR = 23 "OpTypeVector",
        TYPE_MATRIX = 24 "OpTypeMatrix",
        TYPE_IMAGE = 25 "OpTypeImage",
        TYPE_SAMPLER = 26 "OpTypeSampler",
        TYPE_SAMPLED_IMAGE = 27 "OpTypeSampledImage",
        TYPE_ARRAY = 28 "OpTypeArray",
        TYPE_RUNTIME_ARRAY = 29 "OpTypeRuntimeArray",
        TYPE_STRUCT = 30 "OpTypeStruct",
        TYPE_OPAQUE = 31 "OpTypeOpaque",
        TYPE_POINTER = 32 "OpTypePointer",
        TYPE_FUNCTION = 33 "OpTypeFunction",
        TYPE_EVENT = 34 "OpTypeEvent",
        TYPE_DEVICE_EVENT = 35 "OpTypeDeviceEvent",
        TYPE_RESERVE_ID = 36 "OpTypeReserveId",
        TYPE_QUEUE = 37 "OpTypeQueue",
        TYPE_PIPE = 38 "OpTypePipe",
        TYPE_FORWARD_POINTER = 39 "OpTypeForwardPointer",
        CONSTANT_TRUE = 41 "OpConstantTrue",
        CONSTANT_FALSE = 42 "OpConstantFalse",
        CONSTANT = 43 "OpConstant",
        SPEC_CONSTANT_OP = 52 "OpSpecConstantOp",
        FUNCTION = 54 "OpFunction",
        FUNCTION_PARAMETER = 55 "OpFunctionParameter",
        FUNCTION_END = 56 "OpFunctionEnd",
        FUNCTION_CALL = 57 "OpFunctionCall",
        VARIABLE = 59 "OpVariable",
        IMAGE_TEXEL_POINTER = 60 "OpImageTexelPointer",
        LOAD = 61 "OpLoad",
        STORE = 62 "OpStore",
        ACCESS_CHAIN = 65 "OpAccessChain",
        IN_BOUNDS_ACCESS_CHAIN = 66 "OpInBoundsAccessChain",
        ARRAY_LENGTH = 68 "OpArrayLength",
        DECORATE = 71 "OpDecorate",
        MEMBER_DECORATE = 72 "OpMemberDecorate",
        GROUP_MEMBER_DECORATE = 75 "OpGroupMemberDecorate",
        VECTOR_SHUFFLE = 79 "OpVectorShuffle",
        COMPOSITE_EXTRACT = 81 "OpCompositeExtract",
        COMPOSITE_INSERT = 82 "OpCompositeInsert",
        COPY_OBJECT = 83 "OpCopyObject",
        SAMPLED_IMAGE = 86 "OpSampledImage",
        FIRST_SAMPLING = 87 "OpImageSampleImplicitLod",
        LAST_SAMPLING = 97 "OpImageDrefGather",
        IMAGE_WRITE = 99 "OpImageWrite",
        IMAGE = 100 "OpImage",
        BITCAST = 124 "OpBitcast",
        SHIFT_RIGHT_LOGICAL = 194 "OpShiftRightLogical",
        BITWISE_AND = 199 "OpBitwiseAnd",
        BIT_FIELD_U_EXTRACT = 203 "OpBitFieldUExtract",
        LOOP_MERGE = 246 "OpLoopMerge",
        SELECTION_MERGE = 247 "OpSelectionMerge",
        BRANCH_CONDITIONAL = 250 "OpBranchConditional",
        SWITCH = 251 "OpSwitch",
        NO_LINE = 317 "OpNoLine",
        TYPE_PIPE_STORAGE = 322 "OpTypePipeStorage",
        TYPE_NAMED_BARRIER = 327 "OpTypeNamedBarrier",
        MODULE_PROCESSED = 330 "OpModuleProcessed",
        EXECUTION_MODE_ID = 331 "OpExecutionModeId",
        DECORATE_ID = 332 "OpDecorateId",
        DECORATE_STRING = 5632 "OpDecorateString",
        MEMBER_DECORATE_STRING = 5633 "OpMemberDecorateString",
    }
    /// Decorations.
    decoration(u32) {
        SPEC_ID = 1 "SpecId",
        BLOCK = 2 "Block",
        BUFFER_BLOCK = 3 "BufferBlock",
        ROW_MAJOR = 4 "RowMajor",
        COL_MAJOR = 5 "ColMajor",
        ARRAY_STRIDE = 6 "ArrayStride",
        MATRIX_STRIDE = 7 "MatrixStride",
        BUILT_IN = 11 "BuiltIn",
        PATCH = 15 "Patch",
        RESTRICT = 19 "Restrict",
        ALIASED = 20 "Aliased",
        COHERENT = 23 "Coherent",
        NON_WRITABLE = 24 "NonWritable",
        NON_READABLE = 25 "NonReadable",
        LOCATION = 30 "Location",
        COMPONENT = 31 "Component",
        INDEX = 32 "Index",
        BINDING = 33 "Binding",
        DESCRIPTOR_SET = 34 "DescriptorSet",
        OFFSET = 35 "Offset",
        XFB_BUFFER = 36 "XfbBuffer",
        XFB_STRIDE = 37 "XfbStride",
        FP_FAST_MATH_MODE = 40 "FPFastMathMode",
        NO_CONTRACTION = 42 "NoContraction",
        INPUT_ATTACHMENT_INDEX = 43 "InputAttachmentIndex",
        ALIGNMENT = 44 "Alignment",
    }
    /// Storage classes.
    class(u32) {
        UNIFORM_CONSTANT = 0 "UniformConstant",
        INPUT = 1 "Input",
        UNIFORM = 2 "Uniform",
        OUTPUT = 3 "Output",
        FUNCTION = 7 "Function",
        PUSH_CONSTANT = 9 "PushConstant",
        STORAGE_BUFFER = 12 "StorageBuffer",
    }
    /// Capabilities.
    capability(u32) {
        MATRIX = 0 "Matrix",
        SHADER = 1 "Shader",
        GEOMETRY = 2 "Geometry",
        TESSELLATION = 3 "Tessellation",
        LINKAGE = 5 "Linkage",
        TESSELLATION_POINT_SIZE = 23 "TessellationPointSize",
        GEOMETRY_POINT_SIZE = 24 "GeometryPointSize",
        IMAGE_GATHER_EXTENDED = 25 "ImageGatherExtended",
        SAMPLED_IMAGE_ARRAY_DYNAMIC_INDEXING = 29 "SampledImageArrayDynamicIndexing",
        STORAGE_BUFFER_ARRAY_DYNAMIC_INDEXING = 30 "StorageBufferArrayDynamicIndexing",
        STORAGE_IMAGE_ARRAY_DYNAMIC_INDEXING = 31 "StorageImageArrayDynamicIndexing",
        CLIP_DISTANCE = 32 "ClipDistance",
        CULL_DISTANCE = 33 "CullDistance",
        SAMPLE_RATE_SHADING = 35 "SampleRateShading",
        INPUT_ATTACHMENT = 40 "InputAttachment",
        SAMPLED_1D = 43 "Sampled1D",
        IMAGE_1D = 44 "Image1D",
        SAMPLED_BUFFER = 46 "SampledBuffer",
        IMAGE_BUFFER = 47 "ImageBuffer",
        STORAGE_IMAGE_EXTENDED_FORMATS = 49 "StorageImageExtendedFormats",
        IMAGE_QUERY = 50 "ImageQuery",
        DERIVATIVE_CONTROL = 51 "DerivativeControl",
        INTERPOLATION_FUNCTION = 52 "InterpolationFunction",
        DRAW_PARAMETERS = 4427 "DrawParameters",
        SHADER_NON_UNIFORM = 5301 "ShaderNonUniform",
        UNIFORM_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING = 5304 "UniformTexelBufferArrayDynamicIndexing",
        STORAGE_TEXEL_BUFFER_ARRAY_DYNAMIC_INDEXING = 5305 "StorageTexelBufferArrayDynamicIndexing",
        STORAGE_TEXEL_BUFFER_ARRAY_NON_UNIFORM_INDEXING = 5312 "StorageTexelBufferArrayNonUniformIndexing",
    }
    /// Execution models.
    model(u32) {
        GEOMETRY = 3 "Geometry",
        FRAGMENT = 4 "Fragment",
        KERNEL = 6 "Kernel",
    }
    /// Execution modes.
    mode(u32) {
        INVOCATIONS = 0 "Invocations",
        POINT_MODE = 10 "PointMode",
        ORIGIN_UPPER_LEFT = 7 "OriginUpperLeft",
        ORIGIN_LOWER_LEFT = 8 "OriginLowerLeft",
        DEPTH_GREATER = 14 "DepthGreater",
        DEPTH_LESS = 15 "DepthLess",
        INPUT_POINTS = 19 "InputPoints",
        INPUT_LINES = 20 "InputLines",
        INPUT_LINES_ADJACENCY = 21 "InputLinesAdjacency",
        TRIANGLES = 22 "Triangles",
        INPUT_TRIANGLES_ADJACENCY = 23 "InputTrianglesAdjacency",
        QUADS = 24 "Quads",
        ISOLINES = 25 "Isolines",
        OUTPUT_VERTICES = 26 "OutputVertices",
        OUTPUT_POINTS = 27 "OutputPoints",
        OUTPUT_LINE_STRIP = 28 "OutputLineStrip",
        OUTPUT_TRIANGLE_STRIP = 29 "OutputTriangleStrip",
    }
    /// Dimensions of images.
    dim(u32) {
        D1 = 0 "1D",
        D2 = 1 "2D",
        D3 = 2 "3D",
        CUBE = 3 "Cube",
        RECT = 4 "Rect",
        BUFFER = 5 "Buffer",
        SUBPASS_DATA = 6 "SubpassData",
    }
    /// Formats of storage images.
    image_format(u32) {
        UNKNOWN = 0 "Unknown",
        RGBA32F = 1 "Rgba32f",
        R32F = 3 "R32f",
        RGBA8 = 4 "Rgba8",
        RGBA8_SNORM = 5 "Rgba8Snorm",
        RG32F = 6 "Rg32f",
        RGBA16 = 10 "Rgba16",
        RG16 = 12 "Rg16",
        RG8 = 13 "Rg8",
        R16 = 14 "R16",
        R8 = 15 "R8",
        RGBA16_SNORM = 16 "Rgba16Snorm",
        RG16_SNORM = 17 "Rg16Snorm",
        RG8_SNORM = 18 "Rg8Snorm",
        R16_SNORM = 19 "R16Snorm",
        R8_SNORM = 20 "R8Snorm",
        RGBA32I = 21 "Rgba32i",
        R32I = 24 "R32i",
        RG32I = 25 "Rg32i",
        RGBA32UI = 30 "Rgba32ui",
        R32UI = 33 "R32ui",
        RG32UI = 35 "Rg32ui",
    }
}

#[cfg(test)]
mod tests {
    use super::{capability, class, decoration, dim, image_format, mode, model, op};
    use crate::spirv::Grammar;

    #[test]
    fn the_grammar_has_the_same_numbers() {
        let grammar = Grammar::builtin();
        for (number, name) in op::TABLE {
            assert_eq!(
                grammar.row_named(name).map(|row| row.opcode),
                Some(u32::from(*number)),
                "{name}"
            );
        }
        for (kind, table) in [
            ("Decoration", decoration::TABLE),
            ("StorageClass", class::TABLE),
            ("Capability", capability::TABLE),
            ("ExecutionModel", model::TABLE),
            ("ExecutionMode", mode::TABLE),
            ("Dim", dim::TABLE),
            ("ImageFormat", image_format::TABLE),
        ] {
            for (number, name) in table {
                assert_eq!(grammar.number(kind, name), Some(*number), "{kind} {name}");
            }
        }
    }
}
