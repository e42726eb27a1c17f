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
        CONSTANT_TRUE = 41 "OpConstantTrue",
        CONSTANT_FALSE = 42 "OpConstantFalse",
        CONSTANT = 43 "OpConstant",
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
        LINKAGE = 5 "Linkage",
    }
    /// Execution models.
    model(u32) {
        GEOMETRY = 3 "Geometry",
        FRAGMENT = 4 "Fragment",
        KERNEL = 6 "Kernel",
    }
    /// Execution modes.
    mode(u32) {
        ORIGIN_UPPER_LEFT = 7 "OriginUpperLeft",
        ORIGIN_LOWER_LEFT = 8 "OriginLowerLeft",
        DEPTH_GREATER = 14 "DepthGreater",
        DEPTH_LESS = 15 "DepthLess",
        INPUT_POINTS = 19 "InputPoints",
        INPUT_LINES = 20 "InputLines",
        INPUT_LINES_ADJACENCY = 21 "InputLinesAdjacency",
        TRIANGLES = 22 "Triangles",
        INPUT_TRIANGLES_ADJACENCY = 23 "InputTrianglesAdjacency",
        OUTPUT_POINTS = 27 "OutputPoints",
        OUTPUT_LINE_STRIP = 28 "OutputLineStrip",
        OUTPUT_TRIANGLE_STRIP = 29 "OutputTriangleStrip",
    }
}

#[cfg(test)]
mod tests {
    use super::{capability, class, decoration, mode, model, op};
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
        ] {
            for (number, name) in table {
                assert_eq!(grammar.number(kind, name), Some(*number), "{kind} {name}");
            }
        }
    }
}
