//! Rewriting a module: an [`Editor`], and passes that say the same in another way.

mod editor;
mod extensions;
mod flat;
mod interface;
mod strides;
mod subgroups;
mod wgsl;
mod workgroup;

pub use editor::{Editor, build, id_operands, opcode, result, seal};
pub use interface::split_interface;
pub use wgsl::for_wgsl;
