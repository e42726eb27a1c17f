//! The compiler's limits, which a validator may therefore expect of a file (VSL `Shader.hpp`).

/// Vertex input records.
pub const MAX_INPUTS: usize = 16;

/// Locations at which an input may begin (0 to 15); the compiler does not check where a range ends.
pub const MAX_INPUT_LOCATIONS: u32 = 16;

/// Elements of a vertex input that is an array.
pub const MAX_INPUT_ARRAY: u8 = 16;

/// Fragment outputs, and their possible locations.
pub const MAX_OUTPUTS: usize = 8;

/// Bindings, and their possible slots.
pub const MAX_BINDINGS: usize = 32;

/// Subpass inputs.
pub const MAX_SUBPASS_INPUTS: usize = 4;

/// Bytes of a struct: the uniform or a buffer's element.
pub const MAX_STRUCT_BYTES: u32 = 1024;

/// Members of a struct: each takes four bytes at least.
pub const MAX_MEMBERS: usize = MAX_STRUCT_BYTES as usize / 4;

/// Elements of a struct member that is an array.
pub const MAX_MEMBER_ARRAY: u8 = 64;

/// Bytes of a member's name.
pub const MAX_NAME: usize = 32;
