//! What naga is given of a module that is to become WGSL.

use super::{chains, extensions, fallthrough, flat, interface, operations, strides, subgroups, workgroup};
use crate::Result;

/// A change of a module that leaves what it does.
pub type Pass = fn(&[u32]) -> Result<Vec<u32>>;

/// The passes in their order, by name.
pub const PASSES: [(&str, Pass); 10] = [
    ("leave-out", extensions::leave_out),
    ("kill", extensions::kill),
    ("fall-through", fallthrough::apart),
    ("chains", chains::near),
    ("operations", operations::spelled),
    ("elections", subgroups::elections),
    ("workgroups-in-a-row", workgroup::in_a_row),
    ("strides", strides::pad),
    ("flat", flat::integers),
    ("interface", interface::split_interface),
];

/// The module said with what WGSL has: no `OpTerminateInvocation`, no cases that fall through, no
/// pointers from block to block, subgroup and other operations by those that it has, elements of buffers' arrays as far
/// apart as their types say, integers between stages flat, nothing declared that changes nothing. Each of these does the
/// same as what it stands for, and memory of workgroups begins with noughts in WGSL anyway.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn for_wgsl(words: &[u32]) -> Result<Vec<u32>> {
    let mut passes = PASSES.iter();
    let words = passes.try_fold(words.to_vec(), |words, (_, pass)| pass(&words))?;
    workgroup::without_noughts(&words)
}
