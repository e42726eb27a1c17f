//! A recording of an animation as a driver would make it: frames of many draws that share programs, a mesh and a texture,
//! each with its own matrix, into two pictures by turns.

use compiler::{Input, Options, Stage, compile};
use emulator::driver::{self, Depth, Draw, Image};
use emulator::exec::scalar::Scalar;
use emulator::gpu::Gpu;
use emulator::gpu::commands::Commands;
use emulator::memory::Memory;
use loader::trace::{Pipe, Record, Trace};
use utgard::field::Aligned;
use utgard::frame::GpFrame;
use utgard::state::{Compare, RenderState};
use utgard::stream::{self, ListCommand, OutputKind, VertexCommand, VertexSpec, semaphore};

const VERTEX: &str = "
attribute vec4 position;
attribute vec4 tint;
uniform mat4 turn;
varying vec2 place;
varying vec4 color;
void main() {
    gl_Position = turn * position;
    place = position.xy + 0.5;
    color = tint;
}
";

const FRAGMENT: &str = "
precision mediump float;
uniform sampler2D image;
varying vec2 place;
varying vec4 color;
void main() {
    gl_FragColor = texture2D(image, place) * color;
}
";

/// Width and height of the pictures.
pub(super) const SIZE: [u32; 2] = [160, 120];

/// Bytes for each draw's own data.
const APART: u32 = 0x1000;

/// Where the draws' own data begin, and the second picture.
const OWN: u32 = 0x2000_0000;
const SECOND: u32 = 0x3000_0000;

/// A cube's corners, and its triangles.
fn cube() -> (Vec<[f32; 4]>, Vec<u16>) {
    let side = |bit: bool| if bit { 0.5 } else { -0.5 };
    let corner = |at: u16| [side(at & 1 != 0), side(at & 2 != 0), side(at & 4 != 0), 1.0];
    let faces: [[u16; 4]; 6] = [
        [0, 1, 3, 2],
        [4, 6, 7, 5],
        [0, 4, 5, 1],
        [2, 3, 7, 6],
        [0, 2, 6, 4],
        [1, 5, 7, 3],
    ];
    let triangles = faces.iter().flat_map(|[a, b, c, d]| [*a, *b, *c, *a, *c, *d]);
    ((0..8).map(corner).collect(), triangles.collect())
}

/// The matrix of a draw at a time: turned around two axes, reduced, and put in its place of five columns.
fn matrix(draw: u32, time: f32) -> [f32; 16] {
    let angle = time * 0.05 + draw as f32;
    let (sin, cos) = angle.sin_cos();
    let (tilt_sin, tilt_cos) = (angle * 0.7).sin_cos();
    let size = 0.22;
    let [x, y] = [(draw % 5) as f32 * 0.4 - 0.8, (draw / 5) as f32 * 0.5 - 0.75];
    [
        size * cos,
        size * sin * tilt_sin,
        size * sin * tilt_cos * 0.5,
        0.0,
        0.0,
        size * tilt_cos,
        -size * tilt_sin * 0.5,
        0.0,
        -size * sin,
        size * cos * tilt_sin,
        size * cos * tilt_cos * 0.5,
        0.0,
        x,
        y,
        0.0,
        1.0,
    ]
}

/// One draw's commands and data as the driver wrote them.
struct Base {
    memory: Memory,
    objects: Vec<(u32, Vec<u8>)>,
    gp: GpFrame,
    pp: Vec<u32>,
    vertex: Vec<[u32; 2]>,
    list: Vec<[u32; 2]>,
    target: u32,
}

fn commands(memory: &Memory, start: u32, end: u32) -> Vec<[u32; 2]> {
    let mut commands = Commands::new(memory, start, end);
    std::iter::from_fn(|| commands.step().unwrap())
        .map(|(_, words)| words)
        .collect()
}

fn base() -> Base {
    let program = |text, stage| {
        compile(Input::GlslEs(text, stage), &Options::default())
            .unwrap()
            .program
    };
    let (vertex, fragment) = (program(VERTEX, Stage::Vertex), program(FRAGMENT, Stage::Fragment));
    let (corners, triangles) = cube();
    let mut draw = Draw::new(&vertex, &fragment, SIZE);
    draw.clear = [0.1, 0.12, 0.2, 1.0];
    draw.count = triangles.len() as u32;
    draw.indices = Some(triangles);
    let tints = corners
        .iter()
        .map(|[x, y, z, _]| [x + 0.5, y + 0.5, z + 0.5, 1.0].map(|tint: f32| 0.3 + 0.7 * tint));
    draw.attributes = vec![("tint".into(), tints.collect()), ("position".into(), corners)];
    draw.uniforms = vec![("turn".into(), matrix(0, 0.0).to_vec())];
    let checked = (0..16 * 16u32).flat_map(|at| match (at / 2 + at / 32) % 2 {
        0 => [255, 255, 255, 255],
        _ => [120, 120, 160, 255],
    });
    let image = Image {
        width: 16,
        height: 16,
        rgba: checked.collect(),
        linear: false,
        repeat: true,
    };
    draw.textures = vec![("image".into(), image)];
    draw.depth = Some(Depth {
        compare: Compare::Less,
        write: true,
    });
    let mut gpu = Gpu::new(Box::new(Scalar));
    let prepared = driver::prepare(&mut gpu, &draw).unwrap();
    let (gp, pp) = prepared.frames();
    let (gp, pp) = (GpFrame::from_words(gp), pp.to_vec());
    let frame = emulator::gpu::frame::Frame::parse(&pp).unwrap();
    Base {
        vertex: commands(&gpu.memory, gp.vertex_start, gp.vertex_end),
        list: commands(&gpu.memory, gp.list_start, gp.list_end),
        objects: gpu
            .memory
            .objects()
            .map(|(at, bytes)| (at, bytes.into_owned()))
            .collect(),
        memory: gpu.memory,
        target: frame.write_backs[0].address,
        gp,
        pp,
    }
}

impl Base {
    fn words(&self, address: u32, count: usize) -> Vec<u32> {
        self.memory.words(address, count as u32).unwrap()
    }

    /// The data of a draw at its own address, and its vertex commands.
    fn own(&self, at: u32) -> (Vec<u8>, Vec<[u32; 2]>, [u32; 2]) {
        let (uniforms, specs, state) = (at, at + 0x200, at + 0x300);
        let (positions, varyings) = (at + 0x400, at + 0x600);
        let mut data = vec![0; APART as usize];
        let mut put = |address: u32, words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            data[(address - at) as usize..][..bytes.len()].copy_from_slice(&bytes);
        };
        let bound = self
            .list
            .iter()
            .rev()
            .find_map(|words| match ListCommand::decode(*words) {
                ListCommand::BindState(bind) => Some(bind),
                _ => None,
            });
        let bound = bound.unwrap();
        let mut own = RenderState::from_words(&self.words(bound.state, RenderState::WORDS));
        let before = own.varyings.0;
        own.varyings = Aligned(varyings);
        put(state, &own.to_words());
        let vertex = self.vertex.iter().map(|words| {
            let changed: VertexCommand = match VertexCommand::decode(*words) {
                VertexCommand::Uniforms(had) => {
                    put(uniforms, &self.words(had.address, 4 * usize::from(had.vec4s)));
                    stream::Uniforms {
                        address: uniforms,
                        ..had
                    }
                    .into()
                }
                VertexCommand::Outputs(had) => {
                    let had_specs = self.words(had.address, usize::from(had.words));
                    for (number, words) in had_specs.chunks_exact(2).enumerate() {
                        let mut spec = VertexSpec::from_words(words);
                        match spec.output() {
                            OutputKind::Position => spec.address = positions,
                            OutputKind::Varying if spec.stride > 0 => spec.address = spec.address - before + varyings,
                            _ => {}
                        }
                        put(specs + 8 * number as u32, &spec.to_words());
                    }
                    stream::Outputs { address: specs, ..had }.into()
                }
                other => other,
            };
            changed.encode()
        });
        let vertex = vertex.collect();
        (data, vertex, [state, positions])
    }

    /// Bytes from a draw's uniforms to its matrix.
    fn matrix_at(&self) -> u32 {
        let uniforms = self
            .vertex
            .iter()
            .find_map(|words| match VertexCommand::decode(*words) {
                VertexCommand::Uniforms(at) => Some(self.words(at.address, 4 * usize::from(at.vec4s))),
                _ => None,
            });
        let wanted = matrix(0, 0.0).map(f32::to_bits);
        4 * uniforms.unwrap().windows(16).position(|words| words == wanted).unwrap() as u32
    }

    /// The list builder's commands of a draw.
    fn listed(&self, state: u32, positions: u32) -> Vec<[u32; 2]> {
        let start = self
            .list
            .iter()
            .rposition(|words| matches!(ListCommand::decode(*words), ListCommand::PrimitiveSetup(_)));
        let end = self.drawn();
        let commands = self.list[start.unwrap()..=end].iter();
        let changed = commands.map(|words| match ListCommand::decode(*words) {
            ListCommand::BindState(_) => ListCommand::from(stream::BindState {
                state,
                positions: Aligned(positions),
            }),
            ListCommand::Positions(_) => stream::Positions { address: positions }.into(),
            other => other,
        });
        changed.map(ListCommand::encode).collect()
    }

    /// Where the draw command is.
    fn drawn(&self) -> usize {
        let is_draw = |words: &[u32; 2]| matches!(ListCommand::decode(*words), ListCommand::DrawPrimitives(_));
        self.list.iter().rposition(is_draw).unwrap()
    }
}

/// A recording with this number of frames, each with this number of draws.
pub(super) fn recording(frames: u32, draws: u32) -> Vec<u8> {
    let base = base();
    let (mut own, mut vertex, mut listed) = (Vec::new(), Vec::new(), Vec::new());
    let first = base
        .list
        .iter()
        .rposition(|words| matches!(ListCommand::decode(*words), ListCommand::PrimitiveSetup(_)));
    listed.extend_from_slice(&base.list[..first.unwrap()]);
    let ends = |words: &[u32; 2]| {
        *words
            == VertexCommand::from(stream::VertexSemaphore {
                value: semaphore::VERTEX_END,
            })
            .encode()
    };
    for draw in 0..draws {
        let (data, commands, [state, positions]) = base.own(OWN + APART * draw);
        own.extend(data);
        vertex.extend(commands.into_iter().filter(|words| !ends(words)));
        listed.extend(base.listed(state, positions));
    }
    vertex.push(
        VertexCommand::from(stream::VertexSemaphore {
            value: semaphore::VERTEX_END,
        })
        .encode(),
    );
    listed.extend_from_slice(&base.list[base.drawn() + 1..]);
    let bytes = |words: &[[u32; 2]]| -> Vec<u8> {
        words
            .as_flattened()
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect()
    };
    let (vertex, listed) = (bytes(&vertex), bytes(&listed));
    let vertex_at = OWN + APART * draws;
    let list_at = vertex_at + (vertex.len() as u32).next_multiple_of(APART);
    let picture = base.objects.iter().find(|(at, _)| *at == base.target).unwrap().1.len();
    let gp = GpFrame {
        vertex_start: vertex_at,
        vertex_end: vertex_at + vertex.len() as u32,
        list_start: list_at,
        list_end: list_at + listed.len() as u32,
        ..base.gp
    };
    let mut objects: Vec<(u32, Vec<u8>)> = base.objects.clone();
    let page = |mut bytes: Vec<u8>| {
        bytes.resize(bytes.len().next_multiple_of(APART as usize), 0);
        bytes
    };
    objects.extend([
        (OWN, page(own)),
        (vertex_at, page(vertex)),
        (list_at, page(listed)),
        (SECOND, vec![0; picture]),
    ]);
    let used: Vec<(u32, u32)> = objects.iter().map(|(address, _)| (*address, 3)).collect();
    let place = base.matrix_at();
    let matrices: Vec<Vec<(u32, Vec<u8>)>> = (0..frames)
        .map(|frame| {
            let of = |draw| {
                matrix(draw, frame as f32)
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect()
            };
            (0..draws).map(|draw| (OWN + APART * draw + place, of(draw))).collect()
        })
        .collect();
    let mut records = Vec::new();
    for (address, bytes) in &objects {
        let (address, size) = (*address, bytes.len() as u32);
        records.push(Record::Buffer {
            address,
            size,
            flags: 0,
        });
        records.push(Record::Page { address, bytes });
    }
    for (frame, matrices) in matrices.iter().enumerate() {
        records.extend(matrices.iter().map(|(address, bytes)| Record::Page {
            address: *address,
            bytes,
        }));
        let mut pp = base.pp.clone();
        if frame % 2 == 1 {
            pp.iter_mut()
                .filter(|word| **word == base.target)
                .for_each(|word| *word = SECOND);
        }
        for (pipe, frame) in [(Pipe::Gp, gp.to_words().to_vec()), (Pipe::Pp, pp)] {
            let objects = used.clone();
            records.push(Record::Submit { pipe, frame, objects });
        }
    }
    let trace = Trace {
        gpu: 1,
        pps: 1,
        records: records.into_iter().map(|record| (0, record)).collect(),
    };
    trace.write()
}
