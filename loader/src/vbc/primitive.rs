//! What primitives the stages behind the vertex stage take and give, as their execution modes say.

use super::types::Stage;
use super::view::Vbc;
use crate::spirv::op;
use crate::{Report, Severity, spirv};
use std::fmt;

/// A kind of primitive between stages.
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

/// Execution modes that name what a geometry stage takes.
const GEOMETRY_INPUTS: [(u32, Primitive); 5] = [
    (19, Primitive::Points),
    (20, Primitive::Lines),
    (21, Primitive::LinesAdjacency),
    (22, Primitive::Triangles),
    (23, Primitive::TrianglesAdjacency),
];

/// Execution modes that name what a tessellation evaluation stage gives; point mode overrules the others.
const TESSELLATED: [(u32, Primitive); 4] = [
    (10, Primitive::Points),
    (22, Primitive::Triangles),
    (24, Primitive::Triangles),
    (25, Primitive::Lines),
];

/// The first primitive of the table that the stage's execution modes name.
fn mode(file: &Vbc, stage: Stage, table: &[(u32, Primitive)]) -> Option<Primitive> {
    let words = file.code(stage)?.words();
    let modes: Vec<u32> = spirv::instructions(&words)
        .flatten()
        .take_while(|instruction| instruction.opcode <= op::EXECUTION_MODE || instruction.opcode == op::CAPABILITY)
        .filter(|instruction| instruction.opcode == op::EXECUTION_MODE)
        .filter_map(|instruction| instruction.operands().get(1).copied())
        .collect();
    table.iter().find(|row| modes.contains(&row.0)).map(|row| row.1)
}

/// What primitives a draw must give this shader; `None` where any will do.
pub fn input_primitive(file: &Vbc) -> Option<Primitive> {
    match file.code(Stage::Tesc).or(file.code(Stage::Tese)) {
        Some(_) => Some(Primitive::Patches),
        None => mode(file, Stage::Geom, &GEOMETRY_INPUTS),
    }
}

/// Reports a geometry stage that takes other primitives than tessellation gives.
pub(super) fn check(file: &Vbc, report: &mut Report) {
    let given = mode(file, Stage::Tese, &TESSELLATED);
    let taken = mode(file, Stage::Geom, &GEOMETRY_INPUTS);
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
