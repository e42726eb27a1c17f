//! Geometry jobs: streams as text, and the vertices of every draw.

use super::mesh;
use super::model::{Column, Geometry};
use super::programs::Programs;
use emulator::dump::{Command, DrawPrograms, DrawSource, Stream, VertexRun};
use emulator::gpu::gp::vertex;
use emulator::memory::Memory;
use utgard::stream::{ComponentType, ListCommand, OutputKind, VertexCommand, VertexSpec};

/// Limit on shown commands of a stream.
const MAX_COMMANDS: usize = 1024;

/// Limit on shown vertices of a draw.
const MAX_VERTICES: u32 = 48;

/// Limit on draws of a job with shown vertices.
pub(super) const MAX_TABLES: usize = 128;

/// A stream's commands; memory that they point to is included only if no other part of the report shows it.
pub(super) fn stream(stream: Stream, left_out: &mut Vec<String>) -> (String, Vec<Command>) {
    let title = format!("{} stream at {:#x} to {:#x}", stream.name, stream.start, stream.end);
    let is_list = stream.name != "vertex";
    let mut commands = stream.commands;
    if commands.len() > MAX_COMMANDS {
        let more = commands.len() - MAX_COMMANDS;
        left_out.push(format!("{more} commands of the {} stream", stream.name));
        commands.truncate(MAX_COMMANDS);
    }
    for command in &mut commands {
        let shown_elsewhere = match is_list {
            true => matches!(ListCommand::decode(command.words), ListCommand::BindState(_)),
            false => matches!(VertexCommand::decode(command.words), VertexCommand::Program(_)),
        };
        if shown_elsewhere {
            command.details.clear();
        }
    }
    (title, commands)
}

/// The vertex side of a draw, read after the job.
pub(super) fn draw(memory: &Memory, of: &DrawPrograms, programs: &mut Programs<'_>, table: bool) -> Geometry {
    let source = &of.source;
    let mut draw = Geometry {
        number: source.number,
        words: words(source),
        ..Geometry::default()
    };
    let Some(run) = &source.run else { return draw };
    draw.program = of.vertex.as_ref().and_then(|words| programs.vertex(run.program, words));
    draw.vertices = run.count;
    if table {
        let (columns, specs): (Vec<Column>, Vec<VertexSpec>) = columns(run).into_iter().unzip();
        draw.columns = columns;
        draw.meshes = mesh::meshes(memory, source);
        let values = |at: u32| specs.iter().map(|spec| vertex::value(memory, spec, at)).collect();
        draw.rows = (0..run.count.min(MAX_VERTICES)).map(|at| (at, values(at))).collect();
    }
    draw
}

/// Describes the draw command.
fn words(source: &DrawSource) -> String {
    let command = &source.command;
    let indices = match command.indexed {
        true => format!(", indices at {:#x}", source.indices),
        false => String::new(),
    };
    let culled = match (source.setup.cull_clockwise, source.setup.cull_counter_clockwise) {
        (false, false) => "",
        (true, false) => ", clockwise triangles culled",
        (false, true) => ", counter-clockwise triangles culled",
        (true, true) => ", all triangles culled",
    };
    format!(
        "{} vertices as {}{indices}; positions at {:#x}, command at {:#x}{culled}",
        command.count,
        command.mode.label(),
        source.positions,
        source.address
    )
}

/// The attributes that a run reads and the outputs that it stores.
fn columns(run: &VertexRun) -> Vec<(Column, VertexSpec)> {
    let column = |name: String, spec: &VertexSpec, components: usize, kind: String| {
        let place = format!("{kind} at {:#x}, {} bytes a vertex", spec.address, spec.stride);
        let column = Column {
            name,
            components,
            place,
        };
        (column, *spec)
    };
    let kind = |spec: &VertexSpec| {
        let fixed = if spec.fixed { " fixed-point" } else { "" };
        format!("{} {}{fixed}", u32::from(spec.components) + 1, spec.kind.label())
    };
    let known = |spec: &&VertexSpec| spec.address != 0;
    let attributes = run.attributes.iter().filter(known).enumerate();
    let mut all: Vec<_> = attributes
        .map(|(number, spec)| {
            column(
                format!("attribute {number}"),
                spec,
                usize::from(spec.components) + 1,
                kind(spec),
            )
        })
        .collect();
    for (number, spec) in run.outputs.iter().filter(known).enumerate() {
        all.push(match spec.output() {
            OutputKind::Position => column("position".to_owned(), spec, 4, float(4)),
            OutputKind::PointSize => column("point size".to_owned(), spec, 1, float(1)),
            OutputKind::Varying => column(
                format!("varying {number}"),
                spec,
                usize::from(spec.components) + 1,
                kind(spec),
            ),
        });
    }
    all
}

fn float(components: u32) -> String {
    format!("{components} {}", ComponentType::F32.label())
}
