//! Sets of execution models.

use crate::spirv::model;

/// A set of execution models.
pub(super) type Models = u32;

pub(super) const VERTEX: Models = 1;
pub(super) const CONTROL: Models = 1 << 1;
pub(super) const EVALUATION: Models = 1 << 2;
pub(super) const GEOMETRY: Models = 1 << 3;
pub(super) const FRAGMENT: Models = 1 << 4;
pub(super) const COMPUTE: Models = 1 << 5;
pub(super) const TASK_NV: Models = 1 << 6;
pub(super) const MESH_NV: Models = 1 << 7;
pub(super) const TASK_EXT: Models = 1 << 8;
pub(super) const MESH_EXT: Models = 1 << 9;
pub(super) const RAYGEN: Models = 1 << 10;
pub(super) const INTERSECTION: Models = 1 << 11;
pub(super) const ANY_HIT: Models = 1 << 12;
pub(super) const CLOSEST_HIT: Models = 1 << 13;
pub(super) const MISS: Models = 1 << 14;
pub(super) const CALLABLE: Models = 1 << 15;
pub(super) const MESH: Models = MESH_NV | MESH_EXT;
pub(super) const GROUPS: Models = COMPUTE | TASK_NV | TASK_EXT | MESH;
pub(super) const HITS: Models = INTERSECTION | ANY_HIT | CLOSEST_HIT;
pub(super) const RAYS: Models = RAYGEN | HITS | MISS | CALLABLE;
pub(super) const ANY: Models = u32::MAX;

/// The set with this model; empty for models without built-in variables in Vulkan.
pub(super) fn set(of: u32) -> Models {
    match of {
        model::VERTEX..=model::GL_COMPUTE => 1 << of,
        model::TASK_NV => TASK_NV,
        model::MESH_NV => MESH_NV,
        model::TASK_EXT => TASK_EXT,
        model::MESH_EXT => MESH_EXT,
        model::RAY_GENERATION => RAYGEN,
        model::INTERSECTION => INTERSECTION,
        model::ANY_HIT => ANY_HIT,
        model::CLOSEST_HIT => CLOSEST_HIT,
        model::MISS => MISS,
        model::CALLABLE => CALLABLE,
        _ => 0,
    }
}
