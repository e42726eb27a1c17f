//! Rewriting a module: an [`Editor`], and passes that say the same in another way.

mod chains;
mod editor;
mod extensions;
mod fallthrough;
mod flat;
mod interface;
mod operations;
mod robust;
mod strides;
mod subgroups;
mod wgsl;
mod workgroup;

pub use editor::{Editor, build, context, id_operands, opcode, rename, result, seal};
pub use extensions::without_mode;
pub use interface::split_interface;
pub use robust::bounded;
pub use wgsl::{PASSES, Pass, for_wgsl};
