//! Rewrites modules: an [`Editor`], and passes that keep a module's meaning.

mod chains;
mod declarations;
mod demote;
mod early;
mod editor;
mod exits;
mod exponents;
mod extensions;
mod fallthrough;
mod flat;
mod flatten;
mod flow;
mod hlsl;
mod interface;
mod operations;
mod rewriter;
mod robust;
mod signs;
mod spec_constants;
mod strides;
mod subgroups;
mod wgsl;
mod workgroup;

pub use editor::{Editor, build, context, id_operands, opcode, rename, result, seal};
pub use exits::leave_at_merges;
pub use exponents::narrow_exponents;
pub use extensions::without_mode;
pub use fallthrough::without_fallthrough;
pub use hlsl::for_hlsl;
pub use interface::split_interface;
pub use operations::without_wide_products;
pub use robust::bounded;
pub use signs::{atomics as comparable_atomics, with_casts as with_signs};
pub use wgsl::{PASSES, Pass, for_wgsl};
