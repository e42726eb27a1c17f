//! What a report tells, before it is a page.

use super::pictures::{PictureId, Pictures};
use super::places::Places;
use crate::history::Entry;
use emulator::dump::{Command, Said};
use emulator::exec::observed::Stage;

/// A recording that was looked into.
#[derive(Debug, Default)]
pub struct Report {
    /// The recording's name.
    pub name: String,
    /// The GPU and how many pixel processors it has.
    pub device: String,
    /// The jobs in order.
    pub jobs: Vec<Job>,
    /// Their pictures.
    pub pictures: Pictures,
    /// What is not shown for lack of room, in words.
    pub left_out: Vec<String>,
}

/// A job.
#[derive(Debug)]
pub struct Job {
    /// Its number.
    pub number: usize,
    /// Byte of the recording where it stands.
    pub offset: u64,
    /// What it did, in a line.
    pub summary: String,
    /// The fault that ended it.
    pub fault: Option<String>,
    /// What nobody knows the meaning of.
    pub notes: Vec<String>,
    /// What it does.
    pub kind: Kind,
    /// Programs its draws and vertices ran.
    pub programs: Vec<Program>,
    /// What is at the addresses it names.
    pub places: Places,
    /// What is not shown of it for lack of room.
    pub left_out: Vec<String>,
}

/// The two kinds of jobs.
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
    /// Number among the job's draw commands.
    pub number: u32,
    /// What is drawn, in words.
    pub words: String,
    /// Names of the vertices' values and whether the program reads or writes them.
    pub columns: Vec<Column>,
    /// Values of the first vertices, as many columns each.
    pub rows: Vec<(u32, Vec<Option<[f32; 4]>>)>,
    /// Vertices that are there.
    pub vertices: u32,
    /// Which of the job's programs.
    pub program: Option<usize>,
}

/// A column of a table of vertices.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Components it has.
    pub components: usize,
    /// Where it is and how it lies there.
    pub place: String,
}

/// A program of a job.
#[derive(Clone, Debug)]
pub struct Program {
    /// Which processor it is for.
    pub stage: Stage,
    /// Its address.
    pub address: u32,
    /// Instructions: address, text, how often it ran in the job, how often its branch was not taken and taken.
    pub lines: Vec<ProgramLine>,
    /// What may be wrong with it.
    pub findings: Vec<String>,
}

/// An instruction of a program.
#[derive(Clone, Debug)]
pub struct ProgramLine {
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
    /// Its frame in words.
    pub frame: String,
    /// What it wrote: title and picture.
    pub targets: Vec<Shown>,
    /// What the tiles were cleared to, or what was there.
    pub before: Option<PictureId>,
    /// What was painted, in order.
    pub draws: Vec<Painted>,
    /// Pictures of the whole job: overdraw, cost, depth, stencil.
    pub maps: Vec<Shown>,
    /// Tiles that cost most: column, row, instructions.
    pub costly: Vec<(u32, u32, u64)>,
    /// Histories of chosen pixels.
    pub histories: Vec<([u32; 2], Vec<Entry>)>,
}

/// A picture with what it shows.
#[derive(Clone, Debug)]
pub struct Shown {
    /// What it shows.
    pub title: String,
    /// The picture; none where there was no room, or nothing to see.
    pub picture: Option<PictureId>,
}

/// The pixel side of a draw.
#[derive(Debug, Default)]
pub struct Painted {
    /// The geometry job, and the draw in it.
    pub from: Option<(usize, u32)>,
    /// What it did, in a line.
    pub summary: String,
    /// The picture behind it.
    pub picture: Option<PictureId>,
    /// Depth and stencil behind it, where it changed them.
    pub buffers: Vec<Shown>,
    /// Its triangles in the picture.
    pub mesh: Vec<[[f32; 2]; 3]>,
    /// Triangles of it that are not shown.
    pub more_triangles: usize,
    /// Its render state, and where that is.
    pub state: Vec<Said>,
    /// Address of the state.
    pub state_address: u32,
    /// Its uniforms, a line each.
    pub uniforms: String,
    /// Its textures.
    pub textures: Vec<Texture>,
    /// Which of the job's programs.
    pub program: Option<usize>,
    /// What of the state cannot be read.
    pub trouble: Vec<String>,
}

/// A texture of a draw.
#[derive(Debug, Default)]
pub struct Texture {
    /// Number of the sampler.
    pub number: u32,
    /// The descriptor in words.
    pub words: String,
    /// Levels and faces.
    pub levels: Vec<Shown>,
}
