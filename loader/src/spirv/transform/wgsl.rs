//! The passes for WGSL.

use super::{
    chains, early, exits, extensions, fallthrough, flat, flatten, interface, operations, spec_constants, strides,
    subgroups, workgroup,
};
use crate::Result;
use crate::spirv::ModuleIndex;

/// A rewriting of a module that keeps its meaning.
pub type Pass = fn(&[u32]) -> Result<Vec<u32>>;

/// The passes by name, in their order.
pub const PASSES: [(&str, Pass); 14] = [
    ("leave-out", extensions::leave_out),
    ("kill", extensions::kill),
    ("point-sizes", extensions::points_of_one_pixel),
    ("spec-constants", spec_constants::in_functions),
    ("chains", chains::near),
    ("fall-through", fallthrough::without_fallthrough),
    ("exits", exits::leave_at_merges),
    ("operations", operations::for_wgsl),
    ("subgroups", subgroups::computed),
    ("workgroups-in-a-row", workgroup::in_a_row),
    ("close-arrays", flatten::close_arrays),
    ("strides", strides::pad),
    ("flat", flat::integers),
    ("interface", interface::split_interface),
];

/// The module without what WGSL lacks, as far as the [passes](PASSES) replace it, and without zero initialisers of
/// workgroup memory, which WGSL always zeroes.
///
/// # Errors
/// Invalid for a broken module; Unsupported for early fragment tests that late ones cannot replace.
pub fn for_wgsl(words: &[u32]) -> Result<Vec<u32>> {
    early::refuse(&ModuleIndex::new(words)?)?;
    let mut passes = PASSES.iter();
    let words = passes.try_fold(words.to_vec(), |words, (_, pass)| pass(&words))?;
    workgroup::without_zeros(&words)
}
