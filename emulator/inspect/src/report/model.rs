//! The data of a report.

use super::outline::Outline;
use super::pictures::{PictureId, Pictures};
use super::places::Places;
use crate::history::Entry;
use emulator::dump::{Command, Said};
use emulator::exec::observed::Stage;

/// An inspected recording.
#[derive(Debug, Default)]
pub struct Report {
    /// The recording's name.
    pub name: String,
    /// The GPU and its number of pixel processors.
    pub device: String,
    /// All jobs in outline.
    pub outline: Outline,
    /// The jobs that are shown in full, in order.
    pub jobs: Vec<Job>,
    /// Their pictures.
    pub pictures: Pictures,
    /// Notes on parts omitted because of limits.
    pub left_out: Vec<String>,
}

/// A job.
#[derive(Debug)]
pub struct Job {
    /// Its index.
    pub number: usize,
    /// Its byte offset in the recording.
    pub offset: u64,
    /// A one-line summary.
    pub summary: String,
    /// The fault that ended it.
    pub fault: Option<String>,
    /// Undocumented bits.
    pub notes: Vec<String>,
    /// Its kind.
    pub kind: Kind,
    /// Programs its draws and vertices ran.
    pub programs: Vec<Program>,
    /// Memory at the addresses in its texts.
    pub places: Places,
    /// Notes on parts omitted because of limits.
    pub left_out: Vec<String>,
}

/// The kinds of jobs.
#[derive(Debug)]
pub enum Kind {
    /// Geometry.
    Gp(Gp),
    /// Pixels.
    Pp(Box<Pp>),
}

/// A geometry job.
#[derive(Debug, Default)]
pub struct Gp {
    /// Its streams: title and commands.
    pub streams: Vec<(String, Vec<Command>)>,
    /// Its draws.
    pub draws: Vec<Geometry>,
}

/// The vertex side of a draw.
#[derive(Debug, Default)]
pub struct Geometry {
    /// Index among the job's draw commands.
    pub number: u32,
    /// Description of the draw.
    pub words: String,
    /// Columns of the table: names, and whether the program reads or writes them.
    pub columns: Vec<Column>,
    /// Values of the first vertices, one per column.
    pub rows: Vec<(u32, Vec<Option<[f32; 4]>>)>,
    /// Number of vertices.
    pub vertices: u32,
    /// Index of its program in the job.
    pub program: Option<usize>,
    /// Its triangles before and after its program.
    pub meshes: Vec<Mesh>,
}

/// The triangles of a draw by one of its attributes or outputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// What they are by.
    pub title: String,
    /// Edges of the triangles, as points of a drawing of 1000 x 1000.
    pub outlines: Vec<Vec<[f32; 2]>>,
    /// Number of primitives that are not shown.
    pub more: u32,
}

/// A column of a table of vertices.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Number of components.
    pub components: usize,
    /// Its address and layout.
    pub place: String,
}

/// A program of a job.
#[derive(Clone, Debug)]
pub struct Program {
    /// The processor that it is for.
    pub stage: Stage,
    /// Its address.
    pub address: u32,
    /// Its instructions.
    pub lines: Vec<ProgramLine>,
    /// Findings about it.
    pub findings: Vec<String>,
}

/// An instruction of a program.
#[derive(Clone, Debug)]
pub struct ProgramLine {
    /// Its instruction's number, or its first word's in a fragment program.
    pub address: u32,
    /// Its text.
    pub text: String,
    /// How often it ran in this job.
    pub hits: u64,
    /// How often its branch was not taken, and taken.
    pub ways: Option<[u64; 2]>,
}

/// A pixel job.
#[derive(Debug, Default)]
pub struct Pp {
    /// Width and height.
    pub size: [u32; 2],
    /// Its frame as text.
    pub frame: String,
    /// Its targets: title and picture.
    pub targets: Vec<Shown>,
    /// The clear value of the tiles, or the previous contents.
    pub before: Option<PictureId>,
    /// The draws, in order.
    pub draws: Vec<Painted>,
    /// Pictures of the whole job: overdraw, cost, depth, stencil.
    pub maps: Vec<Shown>,
    /// The most expensive tiles: column, row, instructions.
    pub costly: Vec<(u32, u32, u64)>,
    /// Histories of chosen pixels.
    pub histories: Vec<([u32; 2], Vec<Entry>)>,
}

/// A picture with a title.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The title.
    pub title: String,
    /// The picture; `None` if it exceeded the limits or is empty.
    pub picture: Option<PictureId>,
}

/// The pixel side of a draw.
#[derive(Debug, Default)]
pub struct Painted {
    /// The geometry job, and the draw in it.
    pub from: Option<(usize, u32)>,
    /// A one-line summary.
    pub summary: String,
    /// The picture after it.
    pub picture: Option<PictureId>,
    /// Depth and stencil after it, if it changed them.
    pub buffers: Vec<Shown>,
    /// Its triangles in the picture.
    pub mesh: Vec<[[f32; 2]; 3]>,
    /// Number of its triangles that are not shown.
    pub more_triangles: usize,
    /// Its render state.
    pub state: Vec<Said>,
    /// Address of the render state.
    pub state_address: u32,
    /// Its uniforms, one per line.
    pub uniforms: String,
    /// Its textures.
    pub textures: Vec<Texture>,
    /// Index of its program in the job.
    pub program: Option<usize>,
    /// Parts of the state that cannot be read.
    pub trouble: Vec<String>,
}

/// A texture of a draw.
#[derive(Debug, Default)]
pub struct Texture {
    /// Index of the sampler.
    pub number: u32,
    /// The descriptor as text.
    pub words: String,
    /// Levels and faces.
    pub levels: Vec<Shown>,
}
