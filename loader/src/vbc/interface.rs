//! Checks that each stage's inputs match the outputs of the stage before it.
//!
//! The compiler writes two stages and assigns their locations itself. Files with more stages, or from other writers,
//! can be wrong here, and drivers do not check. Only numeric types are compared; blocks with locations are left to
//! spirv-val.

use super::declared::{Type, type_of};
use super::types::Stage;
use super::view::{Code, Vbc};
use crate::spirv::{ModuleIndex, class, decoration, op};
use crate::{Report, Severity};

/// One located variable of a stage's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Located {
    location: u32,
    component: u32,
    patch: bool,
    /// Type of one vertex's value.
    ty: Type,
    position: usize,
}

/// Reports every input that the stage before does not write, or writes with another type.
pub(super) fn check(file: &Vbc, report: &mut Report) {
    let present = Stage::ALL
        .into_iter()
        .filter_map(|stage| Some((stage, file.code(stage)?)));
    // Code that is not a module is reported by the check of the stage itself.
    let modules: Vec<(Stage, Code, &ModuleIndex)> = present
        .filter_map(|(stage, code)| Some((stage, code, file.module(stage)?.as_ref().ok()?)))
        .collect();
    for pair in modules.windows(2) {
        let [(before, _, writer), (stage, code, reader)] = pair else {
            continue;
        };
        let written = located(writer, class::OUTPUT, *before == Stage::Tesc);
        let per_vertex = !matches!(stage, Stage::Frag | Stage::Vert);
        for input in located(reader, class::INPUT, per_vertex) {
            let place = |found: &&Located| (found.location, found.component) == (input.location, input.component);
            let (rule, message) = match written.iter().find(place) {
                None => {
                    let message = format!(
                        "{stage} reads location {}, which {before} does not write",
                        input.location
                    );
                    ("stage-input-unwritten", message)
                }
                Some(output) if output.patch != input.patch => {
                    let message = format!(
                        "location {} is per patch in one of {before} and {stage} only",
                        input.location
                    );
                    ("stage-input-type", message)
                }
                Some(output) if output.ty != input.ty => {
                    let (location, written, read) = (input.location, output.ty, input.ty);
                    let message = format!("location {location}: {before} writes {written}, {stage} reads {read}");
                    ("stage-input-type", message)
                }
                Some(_) => continue,
            };
            let offset = code.offset() + 4 * input.position as u64;
            report.push(Severity::Error, rule, stage, message, Some(offset));
        }
    }
}

/// The located variables of a storage class; `per_vertex` ones are in an array over a primitive's vertices.
fn located(module: &ModuleIndex, storage: u32, per_vertex: bool) -> Vec<Located> {
    let mut found = Vec::new();
    for variable in module.globals().filter(|variable| variable.class == storage) {
        let id = variable.id;
        let Some(location) = module.decoration(id, decoration::LOCATION) else {
            continue;
        };
        let patch = module.decoration(id, decoration::PATCH).is_some();
        let one = match module.operands(variable.pointee, op::TYPE_ARRAY) {
            Some([_, element]) if per_vertex && !patch => element,
            _ => variable.pointee,
        };
        let component = module.decoration(id, decoration::COMPONENT).unwrap_or(0);
        let (ty, position) = (type_of(module, one), variable.position);
        found.push(Located {
            location,
            component,
            patch,
            ty,
            position,
        });
    }
    found
}
