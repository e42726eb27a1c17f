//! Primitive types between stages, from the stages' execution modes.

use super::types::Stage;
use super::view::Vbc;
use crate::spirv::mode;
use crate::{Report, Severity};
use std::fmt;

/// A primitive type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// Points.
    Points,
    /// Lines.
    Lines,
    /// Lines with a neighbour at each end.
    LinesAdjacency,
    /// Triangles.
    Triangles,
    /// Triangles with a neighbour at each side.
    TrianglesAdjacency,
    /// Patches of control points.
    Patches,
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Points => "points",
            Self::Lines => "lines",
            Self::LinesAdjacency => "lines with adjacency",
            Self::Triangles => "triangles",
            Self::TrianglesAdjacency => "triangles with adjacency",
            Self::Patches => "patches",
        })
    }
}

/// Execution modes for the input of a geometry stage.
const GEOMETRY_INPUTS: [(u32, Primitive); 5] = [
    (mode::INPUT_POINTS, Primitive::Points),
    (mode::INPUT_LINES, Primitive::Lines),
    (mode::INPUT_LINES_ADJACENCY, Primitive::LinesAdjacency),
    (mode::TRIANGLES, Primitive::Triangles),
    (mode::INPUT_TRIANGLES_ADJACENCY, Primitive::TrianglesAdjacency),
];

/// Execution modes for the output of a tessellation evaluation stage; point mode overrides the others.
const TESSELLATED: [(u32, Primitive); 4] = [
    (mode::POINT_MODE, Primitive::Points),
    (mode::TRIANGLES, Primitive::Triangles),
    (mode::QUADS, Primitive::Triangles),
    (mode::ISOLINES, Primitive::Lines),
];

/// The first primitive of the table that the stage's execution modes name.
fn named(file: &Vbc, stage: Stage, table: &[(u32, Primitive)]) -> Option<Primitive> {
    let module = file.module(stage)?.as_ref().ok()?;
    table.iter().find(|row| module.has_mode(row.0)).map(|row| row.1)
}

/// The primitive type that a draw must use; `None` if any is allowed.
pub fn input_primitive(file: &Vbc) -> Option<Primitive> {
    match file.code(Stage::Tesc).or(file.code(Stage::Tese)) {
        Some(_) => Some(Primitive::Patches),
        None => named(file, Stage::Geom, &GEOMETRY_INPUTS),
    }
}

/// Reports a geometry stage whose input primitive differs from the output of tessellation.
pub(super) fn check(file: &Vbc, report: &mut Report) {
    let given = named(file, Stage::Tese, &TESSELLATED);
    let taken = named(file, Stage::Geom, &GEOMETRY_INPUTS);
    if let (Some(given), Some(taken), Some(code)) = (given, taken, file.code(Stage::Geom))
        && given != taken
    {
        let message = format!("tessellation gives {given}, the geometry stage takes {taken}");
        report.push(
            Severity::Error,
            "stage-primitive",
            Stage::Geom,
            message,
            Some(code.offset()),
        );
    }
}
