//! Cooperative matrices and vectors, and tensors: valid modules, each broken by a change.

use super::memory_tests::broken_by;

const MATRICES: &str = "OpCapability Shader\nOpCapability Float16\nOpCapability VulkanMemoryModel\n\
                        OpCapability CooperativeMatrixKHR\nOpCapability CooperativeMatrixReductionsNV\n\
                        OpCapability CooperativeMatrixConversionsNV\nOpCapability CooperativeMatrixPerElementOperationsNV\n\
                        OpExtension \"SPV_KHR_cooperative_matrix\"\nOpExtension \"SPV_NV_cooperative_matrix2\"\n\
                        OpMemoryModel Logical Vulkan\nOpEntryPoint GLCompute %main \"main\" %shared\n\
                        OpExecutionMode %main LocalSize 32 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                        %uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n%half = OpTypeFloat 16\n%float = OpTypeFloat 32\n\
                        %zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n%two = OpConstant %uint 2\n\
                        %three = OpConstant %uint 3\n%eight = OpConstant %uint 8\n%sixteen = OpConstant %uint 16\n\
                        %again = OpConstant %uint 16\n%x = OpConstant %half 1\n\
                        %a = OpTypeCooperativeMatrixKHR %half %three %sixteen %eight %zero\n\
                        %b = OpTypeCooperativeMatrixKHR %half %three %eight %sixteen %one\n\
                        %c = OpTypeCooperativeMatrixKHR %half %three %sixteen %sixteen %two\n\
                        %like_c = OpTypeCooperativeMatrixKHR %half %three %again %sixteen %two\n\
                        %wide = OpTypeCooperativeMatrixKHR %float %three %sixteen %sixteen %two\n\
                        %square_b = OpTypeCooperativeMatrixKHR %half %three %sixteen %sixteen %one\n\
                        %square_a = OpTypeCooperativeMatrixKHR %half %three %sixteen %sixteen %zero\n\
                        %tall = OpTypeCooperativeMatrixKHR %half %three %sixteen %eight %two\n\
                        %flat = OpTypeCooperativeMatrixKHR %half %three %eight %sixteen %two\n\
                        %small = OpTypeCooperativeMatrixKHR %half %three %eight %eight %two\n\
                        %many = OpTypeArray %half %sixteen\n%to_many = OpTypePointer Workgroup %many\n\
                        %to_half = OpTypePointer Workgroup %half\n%to_c = OpTypePointer Function %c\n\
                        %shared = OpVariable %to_many Workgroup\n%none = OpConstantNull %c\n\
                        %ones = OpConstantComposite %c %x\n%combine_fn = OpTypeFunction %half %half %half\n\
                        %each_fn = OpTypeFunction %half %uint %uint %half\n%main = OpFunction %void None %fn\n\
                        %entry = OpLabel\n%held = OpVariable %to_c Function\n%at = OpAccessChain %to_half %shared %zero\n\
                        %l = OpCooperativeMatrixLoadKHR %a %at %zero %sixteen\n\
                        %r = OpCooperativeMatrixLoadKHR %b %at %zero %sixteen MakePointerVisible|NonPrivatePointer %two\n\
                        %s = OpCooperativeMatrixMulAddKHR %c %l %r %ones\n%sum = OpFAdd %like_c %s %none\n\
                        %product = OpFMul %c %sum %s\n%scaled = OpMatrixTimesScalar %c %product %x\n\
                        %filled = OpCompositeConstruct %c %x\n%to_float = OpFConvert %wide %scaled\n\
                        %to_use = OpFConvert %square_b %to_float\n%turned = OpCooperativeMatrixTransposeNV %square_b %scaled\n\
                        %used = OpCooperativeMatrixConvertNV %square_b %scaled\n\
                        %rows = OpCooperativeMatrixReduceNV %c %scaled Row|Column %combine\n\
                        %each = OpCooperativeMatrixPerElementOpNV %c %scaled %element\n\
                        %count = OpCooperativeMatrixLengthKHR %uint %c\n\
                        OpCooperativeMatrixStoreKHR %at %scaled %one %sixteen\nOpReturn\nOpFunctionEnd\n\
                        %combine = OpFunction %half None %combine_fn\n%p = OpFunctionParameter %half\n\
                        %q = OpFunctionParameter %half\n%in_combine = OpLabel\nOpReturnValue %p\nOpFunctionEnd\n\
                        %element = OpFunction %half None %each_fn\n%i = OpFunctionParameter %uint\n\
                        %j = OpFunctionParameter %uint\n%e = OpFunctionParameter %half\n%in_element = OpLabel\n\
                        OpReturnValue %e\nOpFunctionEnd\n";

#[test]
fn matrices() {
    let shape = "do not fit the opcode";
    broken_by(
        MATRICES,
        "spv1.6",
        &[
            (
                "%half %three %sixteen %eight %zero",
                "%void %three %sixteen %eight %zero",
                "a number's type",
            ),
            (
                "%half %three %sixteen %eight %zero",
                "%half %x %sixteen %eight %zero",
                "a constant integer",
            ),
            ("%a %at %zero %sixteen", "%a %at %zero", "needs a stride"),
            ("%a %at %zero %sixteen", "%a %at %zero %x", "not an integer"),
            (
                "%a %at %zero %sixteen",
                "%a %shared %zero %sixteen",
                "pointer to numbers",
            ),
            (
                "%a %at %zero %sixteen",
                "%half %at %zero %sixteen",
                "not an OpTypeCooperativeMatrixKHR",
            ),
            (
                "MakePointerVisible|NonPrivatePointer",
                "MakePointerAvailable|NonPrivatePointer",
                "visible to loads",
            ),
            ("%c %l %r %ones", "%c %r %l %ones", "do not fit"),
            ("AddKHR %c %l %r %ones", "AddKHR %small %l %r %ones", "do not fit"),
            ("AddKHR %c %l %r %ones", "AddKHR %tall %l %r %ones", "rows and columns"),
            ("AddKHR %c %l %r %ones", "AddKHR %flat %l %r %ones", "rows and columns"),
            ("OpFAdd %like_c %s %none", "OpFAdd %wide %s %none", shape),
            ("OpFAdd %like_c %s %none", "OpFAdd %tall %s %none", shape),
            (
                "ReduceNV %c %scaled Row|Column",
                "ReduceNV %c %scaled 2x2",
                "rows or columns",
            ),
            (
                "ReduceNV %c %scaled Row|Column",
                "ReduceNV %flat %scaled Row",
                "rows or columns",
            ),
            (
                "ReduceNV %c %scaled Row|Column",
                "ReduceNV %tall %scaled Column",
                "rows or columns",
            ),
            ("%like_c %s %none", "%like_c %s %l", shape),
            ("OpFMul %c %sum %s", "OpFRem %c %sum %s", shape),
            ("OpFConvert %wide %scaled", "OpFConvert %wide %l", shape),
            ("Composite %c %x", "Composite %c %x %x", "parts"),
            ("Construct %c %x", "Construct %c %zero", "parts"),
            (
                "TransposeNV %square_b %scaled",
                "TransposeNV %square_a %scaled",
                "use B",
            ),
            (
                "ConvertNV %square_b %scaled",
                "ConvertNV %square_b %l",
                "scope, rows or columns",
            ),
            (
                "OpCapability CooperativeMatrixConversionsNV\n",
                "",
                "needs the capability CooperativeMatrixConversionsNV",
            ),
            ("Row|Column %combine", "Row %element", "does not combine"),
            ("ReduceNV %c %scaled", "ReduceNV %c %used", "only accumulators"),
            ("%scaled Row|Column", "%used Row", "only accumulators"),
            (
                "%c %scaled %element",
                "%c %scaled %combine",
                "row, column and component",
            ),
            ("%c %scaled %element", "%c %scaled %main", "row, column and component"),
            ("%c %scaled %element", "%c %used %element", "not of the result type"),
            ("LengthKHR %uint %c", "LengthKHR %uint %many", "cooperative matrix type"),
            (
                "%to_c = OpTypePointer Function %c",
                "%to_c = OpTypePointer Function %c\n%to_shared = OpTypePointer Workgroup %c\n%v = OpVariable %to_shared Workgroup",
                "Function or Private storage",
            ),
        ],
    );
}

#[test]
fn matrices_of_a_workgroup_need_its_size() {
    let text = MATRICES
        .replace("%half %three", "%half %two")
        .replace("%float %three", "%float %two");
    let size = "OpExecutionMode %main LocalSize 32 1 1\n";
    broken_by(&text, "spv1.6", &[(size, "", "need LocalSize")]);
    let by_id = text
        .replacen(size, "OpExecutionModeId %main LocalSizeId %one %one %late\n", 1)
        .replacen("%x = OpC", "%late = OpConstant %uint 2\n%x = OpC", 1);
    let swapped = "%x = OpConstant %half 1\n\
                   %early = OpTypeCooperativeMatrixKHR %half %two %eight %sixteen %two\n\
                   %late = OpConstant %uint 2\n";
    broken_by(
        &by_id,
        "spv1.6",
        &[(
            "%late = OpConstant %uint 2\n%x = OpConstant %half 1\n",
            swapped,
            "constants before them",
        )],
    );
}

const VECTORS: &str = "OpCapability Shader\nOpCapability Float16\nOpCapability VulkanMemoryModel\n\
                       OpCapability CooperativeVectorNV\nOpCapability CooperativeVectorTrainingNV\n\
                       OpExtension \"SPV_NV_cooperative_vector\"\nOpExtension \"SPV_EXT_replicated_composites\"\n\
                       OpMemoryModel Logical Vulkan\nOpEntryPoint GLCompute %main \"main\" %shared\n\
                       OpExecutionMode %main LocalSize 32 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
                       %uint = OpTypeInt 32 0\n%half = OpTypeFloat 16\n%float = OpTypeFloat 32\n%bool = OpTypeBool\n\
                       %zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n%two = OpConstant %uint 2\n\
                       %four = OpConstant %uint 4\n%x = OpConstant %half 1\n%no = OpConstantFalse %bool\n\
                       %vector = OpTypeCooperativeVectorNV %half %four\n%short = OpTypeCooperativeVectorNV %half %two\n\
                       %floats = OpTypeCooperativeVectorNV %float %four\n%words = OpTypeCooperativeVectorNV %uint %four\n\
                       %many = OpTypeArray %half %four\n%to_many = OpTypePointer Workgroup %many\n\
                       %shared = OpVariable %to_many Workgroup\n%all = OpConstantComposite %vector %x %x %x %x\n\
                       %pair = OpConstantComposite %short %x %x\n%main = OpFunction %void None %fn\n%entry = OpLabel\n\
                       %n = OpIAdd %uint %one %one\n%a = OpCooperativeVectorLoadNV %vector %shared %zero\n\
                       %product = OpCooperativeVectorMatrixMulNV %vector %pair %zero %shared %zero %zero %four %two %zero %no\n\
                       %sum = OpCooperativeVectorMatrixMulAddNV %vector %pair %zero %shared %zero %zero %shared %zero %zero %four %two %zero %no\n\
                       %b = OpFMul %vector %a %all\n%c = OpVectorTimesScalar %vector %b %x\n\
                       %d = OpVectorExtractDynamic %half %c %one\n%e = OpVectorInsertDynamic %vector %c %d %one\n\
                       %f = OpCompositeConstruct %vector %x %x %d %d\n%g = OpFConvert %floats %f\n\
                       %h = OpConvertFToU %words %g\n%i = OpBitwiseOr %words %h %h\n\
                       OpCooperativeVectorOuterProductAccumulateNV %shared %zero %a %b %zero %zero %zero\n\
                       OpCooperativeVectorReduceSumAccumulateNV %shared %zero %a\n\
                       OpCooperativeVectorStoreNV %shared %zero %f MakePointerAvailable|NonPrivatePointer %two\nOpReturn\n\
                       OpFunctionEnd\n";

#[test]
fn vectors() {
    let shape = "do not fit the opcode";
    let row = "MulNV %vector %pair %zero %shared %zero %zero %four %two %zero %no";
    broken_by(
        VECTORS,
        "spv1.6",
        &[
            ("VectorNV %half %two", "VectorNV %half %zero", "not above 0"),
            ("VectorNV %half %two", "VectorNV %half %x", "a constant integer"),
            (
                "LoadNV %vector %shared %zero",
                "LoadNV %vector %shared %x",
                "not an integer",
            ),
            ("LoadNV %vector", "LoadNV %many", "not an OpTypeCooperativeVectorNV"),
            (
                row,
                "MulNV %short %pair %zero %shared %zero %zero %four %two %zero %no",
                "M components",
            ),
            (
                row,
                "MulNV %vector %all %zero %shared %zero %zero %four %two %zero %no",
                "K components",
            ),
            (
                row,
                "MulNV %vector %pair %n %shared %zero %zero %four %two %zero %no",
                "constant 32-bit integer",
            ),
            (
                row,
                "MulNV %vector %pair %no %shared %zero %zero %four %two %zero %no",
                "constant 32-bit integer",
            ),
            (
                row,
                "MulNV %vector %pair %zero %shared %zero %zero %four %two %zero %zero",
                "Transpose %",
            ),
            ("MulAddNV %vector %pair", "MulAddNV %short %pair", "M components"),
            ("%vector %a %all", "%vector %a %pair", shape),
            ("OpFMul %vector", "OpFMod %vector", shape),
            ("%words %h %h", "%words %h %one", shape),
            ("%half %c %one", "%half %c %x", "the index is not"),
            ("%x %x %d %d", "%x %x %d", "parts"),
            ("%x %x %x %x", "%x %x %x", "parts"),
            ("%a %b %zero %zero %zero", "%a %g %zero %zero %zero", "component types"),
            ("%a %b %zero %zero %zero", "%a %b %zero %zero %x", "32-bit integer"),
            ("%zero %a\nOpC", "%zero %d\nOpC", "not an OpTypeCooperativeVectorNV"),
            (
                "MakePointerAvailable|NonPrivatePointer",
                "MakePointerVisible|NonPrivatePointer",
                "visible to loads",
            ),
        ],
    );
}

const TENSORS: &str = "OpCapability Shader\nOpCapability Int64\nOpCapability Float16\nOpCapability VulkanMemoryModel\n\
                       OpCapability CooperativeMatrixKHR\nOpCapability TensorAddressingNV\n\
                       OpCapability CooperativeMatrixTensorAddressingNV\nOpCapability CooperativeMatrixBlockLoadsNV\n\
                       OpCapability PhysicalStorageBufferAddresses\nOpExtension \"SPV_KHR_cooperative_matrix\"\n\
                       OpExtension \"SPV_NV_cooperative_matrix2\"\nOpExtension \"SPV_NV_tensor_addressing\"\n\
                       OpMemoryModel PhysicalStorageBuffer64 Vulkan\nOpEntryPoint GLCompute %main \"main\" %shared\n\
                       OpExecutionMode %main LocalSize 32 1 1\nOpDecorate %from Restrict\n%void = OpTypeVoid\n\
                       %fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n%half = OpTypeFloat 16\n%bool = OpTypeBool\n\
                       %zero = OpConstant %uint 0\n%one = OpConstant %uint 1\n%two = OpConstant %uint 2\n\
                       %three = OpConstant %uint 3\n%six = OpConstant %uint 6\n%eight = OpConstant %uint 8\n\
                       %x = OpConstant %half 1\n%no = OpConstantFalse %bool\n\
                       %matrix = OpTypeCooperativeMatrixKHR %half %three %eight %eight %two\n\
                       %other = OpTypeCooperativeMatrixKHR %half %three %eight %eight %one\n\
                       %layout = OpTypeTensorLayoutNV %two %zero\n%view = OpTypeTensorViewNV %two %no %one %zero\n\
                       %many = OpTypeArray %half %eight\n%pair = OpTypeArray %uint %two\n\
                       %to_many = OpTypePointer Workgroup %many\n%to_half = OpTypePointer PhysicalStorageBuffer %half\n\
                       %shared = OpVariable %to_many Workgroup\n%held = OpConstantComposite %matrix %x\n\
                       %wrong = OpConstantComposite %other %x\n%decode_fn = OpTypeFunction %half %to_half %pair %pair\n\
                       %main = OpFunction %void None %fn\n%entry = OpLabel\n%made = OpCreateTensorLayoutNV %layout\n\
                       %sized = OpTensorLayoutSetDimensionNV %layout %made %eight %eight\n\
                       %sliced = OpTensorLayoutSliceNV %layout %sized %zero %two %zero %two\n\
                       %clamped = OpTensorLayoutSetClampValueNV %layout %sliced %zero\n\
                       %seen = OpCreateTensorViewNV %view\n%clipped = OpTensorViewSetClipNV %view %seen %zero %one %zero %one\n\
                       %a = OpCooperativeMatrixLoadTensorNV %matrix %shared %held %clamped None TensorView|DecodeFunc %clipped %decode\n\
                       OpCooperativeMatrixStoreTensorNV %shared %a %clamped None TensorView %clipped\nOpReturn\nOpFunctionEnd\n\
                       %decode = OpFunction %half None %decode_fn\n%from = OpFunctionParameter %to_half\n\
                       %block = OpFunctionParameter %pair\n%within = OpFunctionParameter %pair\n%in_decode = OpLabel\n\
                       OpReturnValue %x\nOpFunctionEnd\n";

#[test]
fn tensors() {
    broken_by(
        TENSORS,
        "spv1.6",
        &[
            ("LayoutNV %two %zero", "LayoutNV %six %zero", "1 to 5 dimensions"),
            ("LayoutNV %two %zero", "LayoutNV %two %six", "no such clamp mode"),
            ("LayoutNV %two %zero", "LayoutNV %x %zero", "not a 32-bit integer"),
            ("%two %no %one %zero", "%two %no %one %one", "each dimension once"),
            ("%two %no %one %zero", "%two %no %one", "another number of dimensions"),
            ("%two %no %one %zero", "%two %zero %one %zero", "not a bool"),
            ("%made %eight %eight", "%made %eight", "number of values"),
            ("%made %eight %eight", "%made %eight %x", "not a 32-bit integer"),
            (
                "%made %eight %eight",
                "%held %eight %eight",
                "not an OpTypeTensorLayoutNV",
            ),
            ("%zero %two %zero %two", "%zero %two", "number of values"),
            ("%zero %one %zero %one", "%zero %one %zero %x", "not a 32-bit integer"),
            (
                "%shared %held %clamped",
                "%shared %wrong %clamped",
                "not of the result type",
            ),
            (
                "%shared %held %clamped",
                "%shared %held %clipped",
                "not an OpTypeTensorLayoutNV",
            ),
            ("DecodeFunc %clipped", "DecodeFunc %clamped", "none of a tensor"),
            (
                "TensorView %clipped\nOpReturn",
                "TensorView %clamped\nOpReturn",
                "none of a tensor",
            ),
            ("%clipped %decode", "%clipped %main", "does not decode"),
        ],
    );
}
