//! The names of all findings, with their meanings; tests and users match on them.

/// Every rule that [`validate`](super::validate()) and the reader can report, with its meaning.
pub const RULES: &[(&str, &str)] = &[
    // Findings of the reader.
    ("legacy-dialect", "the file is of the compiler of early January 2021"),
    (
        "subpass-records-48",
        "subpass inputs are the compiler's 48-byte objects",
    ),
    (
        "subpass-texel-lost",
        "such an input is not used by the code, so its type is unknown",
    ),
    (
        "word-count-overflow",
        "a stage has more words than its 16-bit count can express",
    ),
    // Stages and code.
    (
        "stage-missing",
        "vertex or fragment is absent, or one tessellation stage of two",
    ),
    (
        "stage-extra",
        "a tessellation or geometry stage, which no compiler writes",
    ),
    (
        "stage-input-unwritten",
        "a stage reads a location that the stage before does not write",
    ),
    (
        "stage-input-type",
        "a stage reads a location with a type that differs from what the stage before writes",
    ),
    (
        "stage-primitive",
        "a geometry stage takes primitives that differ from those of tessellation",
    ),
    ("code-too-short", "a stage's code is shorter than a module's header"),
    ("spirv-magic", "a stage's code does not begin with SPIR-V's magic"),
    (
        "spirv-big-endian",
        "a stage's code begins with SPIR-V's magic in the other byte order",
    ),
    ("trailing-bytes", "there are bytes behind the last stage"),
    ("padding", "reserved bytes of a record are not zero"),
    // Vertex inputs.
    ("input-count", "more than 16 vertex inputs"),
    ("input-base", "a vertex input that is not int, uint or float"),
    ("input-dims", "rows and columns of no type"),
    ("input-array", "an array of none or too many elements, or of matrices"),
    ("input-location", "an input begins past location 15"),
    ("input-overlap", "an input takes a location that an earlier one has"),
    (
        "input-past-16",
        "an input takes locations past 15, which a device may lack",
    ),
    // Fragment outputs.
    ("output-count", "more than 8 fragment outputs"),
    ("output-base", "a fragment output that is not int, uint or float"),
    ("output-dims", "an output whose component count is not 1, 2 or 4"),
    ("output-array", "an output that is an array"),
    ("output-location", "an output location past 7"),
    ("output-duplicate", "two outputs of one location"),
    // Bindings.
    ("binding-count", "more than 32 bindings"),
    ("binding-base", "a binding of no kind of binding"),
    ("binding-stages", "a binding names stages that the file does not have"),
    ("slot-range", "a slot past 31"),
    ("slot-duplicate", "two bindings of one slot"),
    ("table-empty", "a binding whose table has no entries"),
    ("buffer-size", "a buffer's struct of no possible size"),
    (
        "texel-rank",
        "an unknown rank, or a buffer's rank on an image, or the other way round",
    ),
    ("texel-type", "an unknown texel type"),
    (
        "texel-format",
        "a texel type, size and count that do not go together for this kind",
    ),
    // Uniform.
    ("uniform-size", "a uniform of no possible size"),
    ("uniform-stages", "the uniform names stages that the file does not have"),
    ("uniform-packing", "the members do not fill the uniform"),
    ("member-count", "more than 256 uniform members"),
    ("member-name-length", "an empty name or one of more than 32 bytes"),
    ("member-name", "a name that is not an identifier"),
    ("member-duplicate", "two members of one name"),
    ("member-base", "a member that is not bool, int, uint or float"),
    ("member-dims", "rows and columns of no type"),
    ("member-array", "an array of zero or more than 64 elements"),
    ("member-extent", "a member ends past the uniform's end"),
    ("member-overlap", "a member begins before the one before it ends"),
    ("member-gap", "a member begins after the one before it ends"),
    // Subpass inputs.
    ("subpass-count", "more than 4 subpass inputs"),
    (
        "subpass-texel",
        "a subpass input that is not of 4 components of int, uint or float",
    ),
    // SPIR-V against the reflection.
    (
        "spirv-malformed",
        "the code cannot be walked from instruction to instruction",
    ),
    ("entry-point", "no entry point main of the stage's execution model"),
    (
        "input-unreflected",
        "the code has a vertex input that the reflection lacks",
    ),
    ("input-type", "a vertex input is of another type in the code"),
    (
        "output-unreflected",
        "the code has a fragment output that the reflection lacks",
    ),
    ("output-type", "a fragment output is of another type in the code"),
    (
        "push-size",
        "the push-constant block is not of the size that the slots need",
    ),
    (
        "descriptor-unknown",
        "a set and binding without a meaning in this format",
    ),
    (
        "descriptor-type",
        "a descriptor whose kind does not match its set and binding",
    ),
    (
        "descriptor-unreflected",
        "the code has a table that no binding of the stage uses",
    ),
    ("table-size", "a table's length in the code is not the header's"),
    (
        "uniform-unreflected",
        "the code has a uniform that the reflection lacks",
    ),
    ("uniform-layout", "the uniform's members are others in the code"),
    (
        "subpass-unreflected",
        "the code has a subpass input that the reflection lacks",
    ),
    (
        "attachment-index",
        "a subpass input's attachment index is not its binding",
    ),
];
