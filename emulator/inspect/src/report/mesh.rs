//! The triangles of a draw before and after its vertex program, as drawings.

use super::model::Mesh;
use emulator::dump::DrawSource;
use emulator::gpu::gp::vertex;
use emulator::memory::Memory;
use std::collections::HashMap;
use utgard::stream::{OutputKind, VertexSpec};

/// Limit on shown primitives.
const MAX_PRIMITIVES: u32 = 600;

/// Limit on attributes with a drawing.
const MAX_ATTRIBUTES: usize = 4;

/// Sides of a drawing.
pub(super) const SIDE: f32 = 1000.0;

/// Margin of a drawing.
const MARGIN: f32 = 40.0;

/// Sine and cosine of the angles that three-dimensional attributes are turned by, around the y axis and then the x axis.
const TURNS: [[f32; 2]; 2] = [[0.5, 0.866_025_4], [0.342_020_15, 0.939_692_6]];

/// The drawings: by the attributes that the program reads, and by the positions that it stores.
pub(super) fn meshes(memory: &Memory, source: &DrawSource) -> Vec<Mesh> {
    let Some(run) = &source.run else { return Vec::new() };
    let Ok((primitives, all)) = source.primitives(memory, MAX_PRIMITIVES) else {
        return Vec::new();
    };
    let more = all - primitives.len() as u32;
    let known = run.attributes.iter().enumerate().filter(|(_, spec)| spec.address != 0);
    let vectors = known.filter(|(_, spec)| spec.components >= 1).take(MAX_ATTRIBUTES);
    let mut meshes: Vec<Mesh> = vectors
        .filter_map(|(number, spec)| {
            let title = format!("before: attribute {number}");
            mesh(memory, spec, &primitives, title, |value| match spec.components {
                1 => Some([value[0], -value[1]]),
                _ => Some(turned([value[0], value[1], value[2]])),
            })
        })
        .collect();
    let position = run.outputs.iter().find(|spec| spec.output() == OutputKind::Position);
    meshes.extend(position.and_then(|spec| {
        let title = "after: positions in the picture".to_owned();
        // What is behind the eye has no place in the picture.
        mesh(memory, spec, &primitives, title, |value| {
            (value[3] > 0.0).then_some([value[0], value[1]])
        })
    }));
    for mesh in &mut meshes {
        mesh.more += more;
    }
    meshes
}

/// A point seen from the right and above.
fn turned([x, y, z]: [f32; 3]) -> [f32; 2] {
    let [[yaw_sin, yaw_cos], [pitch_sin, pitch_cos]] = TURNS;
    let (right, towards) = (x * yaw_cos + z * yaw_sin, z * yaw_cos - x * yaw_sin);
    [right, -(y * pitch_cos - towards * pitch_sin)]
}

/// The primitives by a value of each vertex; those with a vertex that has no place are counted only.
fn mesh(
    memory: &Memory,
    spec: &VertexSpec,
    primitives: &[Vec<u32>],
    title: String,
    place: impl Fn([f32; 4]) -> Option<[f32; 2]>,
) -> Option<Mesh> {
    let mut known: HashMap<u32, Option<[f32; 2]>> = HashMap::new();
    let mut at = |slot: u32| {
        *known.entry(slot).or_insert_with(|| {
            let placed = vertex::value(memory, spec, slot).and_then(&place);
            placed.filter(|[x, y]| x.is_finite() && y.is_finite())
        })
    };
    let outlines: Vec<Vec<[f32; 2]>> = primitives
        .iter()
        .filter_map(|slots| slots.iter().map(|slot| at(*slot)).collect())
        .collect();
    let points = || outlines.iter().flatten();
    let (mut low, mut high) = (*points().next()?, *points().next()?);
    for point in points() {
        for axis in 0..2 {
            low[axis] = low[axis].min(point[axis]);
            high[axis] = high[axis].max(point[axis]);
        }
    }
    let largest = (high[0] - low[0]).max(high[1] - low[1]);
    let scale = if largest > 0.0 {
        (SIDE - 2.0 * MARGIN) / largest
    } else {
        0.0
    };
    let middle: [f32; 2] = std::array::from_fn(|axis| low[axis] + (high[axis] - low[axis]) / 2.0);
    let fit = |point: &[f32; 2]| std::array::from_fn(|axis| SIDE / 2.0 + (point[axis] - middle[axis]) * scale);
    Some(Mesh {
        title,
        more: (primitives.len() - outlines.len()) as u32,
        outlines: outlines
            .iter()
            .map(|outline| outline.iter().map(fit).collect())
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use emulator::dump::VertexRun;
    use utgard::stream::{DrawPrimitives, PrimitiveMode};

    #[test]
    fn triangles_fill_the_drawing() {
        let mut memory = Memory::default();
        memory.map(0x1000, 0x1000).unwrap();
        let corners = [
            [0.0f32, 0.0],
            [2.0, 0.0],
            [0.0, 1.0],
            [f32::NAN, 0.0],
            [1.0, 1.0],
            [1.0, 0.0],
        ];
        let bytes: Vec<u8> = corners.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        memory.write(0x1000, &bytes).unwrap();
        let source = DrawSource {
            command: DrawPrimitives {
                start: 0,
                count: 6,
                mode: PrimitiveMode::Triangles,
                indexed: false,
            },
            run: Some(VertexRun {
                count: 6,
                attributes: vec![VertexSpec::floats(0x1000, 2, 8)],
                ..VertexRun::default()
            }),
            ..DrawSource::default()
        };
        let meshes = meshes(&memory, &source);
        assert_eq!(meshes.len(), 1);
        assert_eq!(meshes[0].title, "before: attribute 0");
        // Twice as wide as high, with y upwards; the second triangle has a corner without a place.
        assert_eq!(meshes[0].outlines, [[[40.0, 730.0], [960.0, 730.0], [40.0, 270.0]]]);
        assert_eq!(meshes[0].more, 1);
    }
}
