//! What naga is given of a module that is to become WGSL.

use super::{extensions, flat, strides, subgroups, workgroup};
use crate::Result;

/// The module said with what WGSL has: no `OpTerminateInvocation`, subgroup operations by others, elements of buffers'
/// arrays as far apart as their types say, integers between stages flat, nothing declared that changes nothing. Each of
/// these does the same as what it stands for.
///
/// # Errors
/// Invalid when the module does not walk.
pub fn for_wgsl(words: &[u32]) -> Result<Vec<u32>> {
    let passes = [
        extensions::leave_out,
        extensions::kill,
        subgroups::elections,
        workgroup::in_a_row,
        strides::pad,
        flat::integers,
    ];
    passes.into_iter().try_fold(words.to_vec(), |words, pass| pass(&words))
}
