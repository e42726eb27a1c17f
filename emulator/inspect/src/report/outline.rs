//! A recording in outline: its jobs by frame, with thumbnails, and the textures, targets, buffers and programs that its
//! draws use.

use super::pictures::{PictureId, Pictures};
use crate::recorded;
use emulator::dump::{DrawPrograms, DrawSource};
use emulator::exec::FragmentProgram;
use emulator::exec::observed::Stage;
use emulator::gpu::frame::Frame as JobFrame;
use emulator::gpu::state::State;
use emulator::memory::Memory;
use emulator::texture::{Descriptor, Texture};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use utgard::frame::WriteBackSource;
use utgard::gp;
use utgard::texture::MAX_BYTES;

/// Limit on outlined jobs.
const MAX_JOBS: usize = 20_000;

/// Limit on listed resources.
const MAX_RESOURCES: usize = 4096;

/// Limit on the sides of a thumbnail.
const THUMBNAIL: u32 = 96;

/// Limit on the texels of a texture that gets a thumbnail.
const MAX_TEXELS: u64 = 1 << 20;

/// Limit on the pixel jobs between a pass and the job that samples it.
const MAX_AHEAD: usize = 64;

/// A recording in outline.
#[derive(Debug, Default)]
pub struct Outline {
    /// The jobs in order.
    pub jobs: Vec<Brief>,
    /// The frames in order; every job is in one.
    pub frames: Vec<Frame>,
    /// What draws use, in the order of first use.
    pub resources: Vec<Resource>,
    /// Thumbnails of frames and textures.
    pub thumbnails: Pictures,
    /// Number of jobs and of resources beyond the limits.
    pub left_out: [u64; 2],
}

/// A job in a line.
#[derive(Clone, Debug, Default)]
pub struct Brief {
    /// Its index.
    pub number: usize,
    /// Its byte offset in the recording.
    pub offset: u64,
    /// Width and height of a pixel job's picture; `None` for a geometry job.
    pub size: Option<[u32; 2]>,
    /// Number of draws of a geometry job.
    pub draws: usize,
    /// What it did.
    pub summary: String,
    /// The fault that ended it.
    pub fault: Option<String>,
    /// Its picture, reduced.
    pub thumbnail: Option<PictureId>,
}

/// The jobs of a picture that nothing of the same frame samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its jobs.
    pub jobs: Range<usize>,
    /// Number of its draws.
    pub draws: usize,
    /// The job that draws its picture.
    pub shows: usize,
}

/// The kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResourceKind {
    /// A sampled texture.
    Texture,
    /// A picture that a job writes.
    Target,
    /// A buffer object.
    Buffer,
    /// A program.
    Program,
}

/// A resource, with its users.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its kind.
    pub kind: ResourceKind,
    /// What it is: size and format, or stage and length.
    pub name: String,
    /// Its address.
    pub address: u32,
    /// Number of its bytes, if known, else 0.
    pub bytes: u32,
    /// It as a picture, reduced, at its first use.
    pub thumbnail: Option<PictureId>,
    /// Who uses it, in order.
    pub users: Vec<User>,
}

/// A use of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// The job.
    pub job: usize,
    /// The draw, by its index in a geometry job; `None` for a pixel job's target.
    pub draw: Option<u32>,
    /// What for.
    pub role: &'static str,
}

/// What makes resources the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Texture(u32, [u32; 3], u32),
    Target(u32, [u32; 2]),
    Buffer(u32, u32),
    /// Whether it is a fragment program, and its words.
    Program(bool, Vec<u32>),
}

/// A pixel job's targets, and the addresses that its draws sample.
#[derive(Debug, Default)]
struct Pass {
    job: usize,
    targets: Vec<u32>,
    samples: BTreeSet<u32>,
    failed: bool,
}

/// Collects the outline job by job.
#[derive(Default)]
pub(super) struct Gatherer {
    outline: Outline,
    found: HashMap<Key, usize>,
    passes: Vec<Pass>,
    /// Addresses that the draws since the last pixel job sample.
    samples: BTreeSet<u32>,
}

impl ResourceKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Texture => "texture",
            Self::Target => "target",
            Self::Buffer => "buffer",
            Self::Program => "program",
        }
    }
}

impl Gatherer {
    /// Adds a geometry job by its draws, which are read before it runs.
    pub(super) fn geometry(&mut self, memory: &Memory, job: usize, draws: &[DrawPrograms]) {
        let objects: Vec<(u32, u32)> = memory.objects().map(|(at, bytes)| (at, bytes.len() as u32)).collect();
        for draw in draws {
            let mut user = User {
                job,
                draw: Some(draw.source.number),
                role: "program",
            };
            if let (Some(words), Some(run)) = (&draw.vertex, &draw.source.run) {
                self.program(Stage::Vertex, run.program, words, user);
            }
            let state = State::read(memory, draw.source.state).ok();
            if let Some(state) = &state {
                self.program(Stage::Fragment, state.program, &draw.fragment, user);
                user.role = "texture";
                self.textures(memory, state, user);
            }
            for (address, role) in buffers(&draw.source, state.as_ref()) {
                user.role = role;
                self.buffer(&objects, address, user);
            }
        }
    }

    /// Adds a pixel job by its frame and the memory after it.
    pub(super) fn pixels(&mut self, memory: &Memory, job: usize, frame: &JobFrame) {
        let mut pass = Pass {
            job,
            samples: std::mem::take(&mut self.samples),
            ..Pass::default()
        };
        let user = User {
            job,
            draw: None,
            role: "target",
        };
        let objects: Vec<(u32, u32)> = memory.objects().map(|(at, bytes)| (at, bytes.len() as u32)).collect();
        for unit in &frame.write_backs {
            if unit.source == WriteBackSource::Color {
                pass.targets.push(unit.address);
            }
            let size = [frame.width, frame.height];
            let name = || {
                let what = if unit.source == WriteBackSource::Color {
                    ""
                } else {
                    ", depth and stencil"
                };
                format!("{} x {} {}{what}", frame.width, frame.height, unit.format.label())
            };
            self.add(Key::Target(unit.address, size), user, || Resource {
                kind: ResourceKind::Target,
                name: name(),
                address: unit.address,
                bytes: 0,
                thumbnail: None,
                users: Vec::new(),
            });
            self.buffer(&objects, unit.address, user);
        }
        self.passes.push(pass);
    }

    /// Adds a job's line; `frame` is that of a pixel job, whose picture is in memory.
    pub(super) fn job(&mut self, memory: &Memory, mut brief: Brief, frame: Option<&JobFrame>) {
        if self.outline.jobs.len() >= MAX_JOBS {
            self.outline.left_out[0] += 1;
            return;
        }
        if let Some(pass) = self.passes.last_mut().filter(|pass| pass.job == brief.number) {
            pass.failed = brief.fault.is_some();
        }
        if let Some(frame) = frame.filter(|_| brief.fault.is_none())
            && let Ok(Some(picture)) = recorded::picture(memory, frame)
        {
            let size = [picture.width, picture.height];
            brief.thumbnail = self.outline.thumbnail(size, &picture.rgba, false);
        }
        self.outline.jobs.push(brief);
    }

    /// The outline of all that was added.
    pub(super) fn finish(mut self) -> Outline {
        self.outline.frames = frames(&self.outline.jobs, &self.passes);
        self.outline
    }

    fn add(&mut self, key: Key, user: User, new: impl FnOnce() -> Resource) {
        let resources = &mut self.outline.resources;
        let number = match self.found.get(&key) {
            Some(number) => *number,
            None if resources.len() >= MAX_RESOURCES => {
                self.outline.left_out[1] += 1;
                return;
            }
            None => {
                resources.push(new());
                self.found.insert(key, resources.len() - 1);
                resources.len() - 1
            }
        };
        let users = &mut resources[number].users;
        if users.last() != Some(&user) {
            users.push(user);
        }
    }

    fn program(&mut self, stage: Stage, address: u32, words: &[u32], user: User) {
        self.add(Key::Program(stage == Stage::Fragment, words.to_vec()), user, || {
            let instructions = match stage {
                Stage::Vertex => words.len() / gp::WORDS,
                Stage::Fragment => FragmentProgram::read(words).map_or(0, |program| program.instructions.len()),
            };
            Resource {
                kind: ResourceKind::Program,
                name: format!("{} program, {instructions} instructions", stage.name()),
                address,
                bytes: 4 * words.len() as u32,
                thumbnail: None,
                users: Vec::new(),
            }
        });
    }

    fn textures(&mut self, memory: &Memory, state: &State, user: User) {
        for number in 0..state.texture_count.min(16) {
            let Ok(at) = memory.word(state.textures.wrapping_add(4 * number)) else {
                continue;
            };
            let bytes = memory.bytes_up_to(at, MAX_BYTES);
            let (words, _) = bytes.as_chunks::<4>();
            let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
            let descriptor = Descriptor::parse(&words);
            self.samples
                .extend(descriptor.levels.iter().filter(|level| **level != 0));
            let [width, height, depth] = descriptor.size;
            let (address, format) = (descriptor.levels[0], descriptor.format.label());
            let kind = if descriptor.cube { " cube" } else { "" };
            let deep = if depth > 1 {
                format!(" x {depth}")
            } else {
                String::new()
            };
            let name = format!("{width} x {height}{deep}{kind} {format}");
            let key = Key::Texture(address, descriptor.size, words.first().copied().unwrap_or(0));
            let is_new = !self.found.contains_key(&key) && self.outline.resources.len() < MAX_RESOURCES;
            let thumbnail = is_new.then(|| self.texture(memory, descriptor)).flatten();
            self.add(key, user, || Resource {
                kind: ResourceKind::Texture,
                name,
                address,
                bytes: 0,
                thumbnail,
                users: Vec::new(),
            });
        }
    }

    /// The first level of a texture, reduced.
    fn texture(&mut self, memory: &Memory, descriptor: Descriptor) -> Option<PictureId> {
        let [width, height, _] = descriptor.size;
        if u64::from(width) * u64::from(height) > MAX_TEXELS {
            return None;
        }
        let sampled = Texture::new(memory, descriptor).ok()?;
        let [width, height, _] = sampled.levels().first()?.size;
        self.outline.thumbnail([width, height], &sampled.picture(0, 0)?, true)
    }

    fn buffer(&mut self, objects: &[(u32, u32)], address: u32, user: User) {
        let before = objects.partition_point(|(start, _)| *start <= address);
        let Some((start, size)) = before.checked_sub(1).map(|number| objects[number]) else {
            return;
        };
        if address - start < size {
            self.add(Key::Buffer(start, size), user, || Resource {
                kind: ResourceKind::Buffer,
                name: format!("buffer object of {size} bytes"),
                address: start,
                bytes: size,
                thumbnail: None,
                users: Vec::new(),
            });
        }
    }
}

impl Outline {
    /// The frame of a job.
    pub fn frame_of(&self, job: usize) -> Option<usize> {
        self.frames.iter().position(|frame| frame.jobs.contains(&job))
    }

    /// The jobs of some frames.
    pub fn jobs_of(&self, frames: Range<usize>) -> Range<usize> {
        match self.frames.get(frames).unwrap_or_default() {
            [first, .., last] => first.jobs.start..last.jobs.end,
            [only] => only.jobs.clone(),
            [] => 0..0,
        }
    }

    fn thumbnail(&mut self, [width, height]: [u32; 2], rgba: &[u8], alpha: bool) -> Option<PictureId> {
        let step = width.max(height).div_ceil(THUMBNAIL).max(1);
        let (small, size) = reduced([width, height], rgba, step);
        self.thumbnails.add(size, &small, alpha)
    }
}

/// Addresses of memory that a draw reads, and what for.
fn buffers(source: &DrawSource, state: Option<&State>) -> Vec<(u32, &'static str)> {
    let mut all = vec![(source.state, "render state"), (source.positions, "positions")];
    if source.command.indexed {
        all.push((source.indices, "indices"));
    }
    if let Some(run) = &source.run {
        let attributes = run.attributes.iter().filter(|spec| spec.address != 0);
        all.extend(attributes.map(|spec| (spec.address, "attributes")));
        if run.uniforms.1 > 0 {
            all.push((run.uniforms.0, "uniforms"));
        }
    }
    all.extend(state.map(|state| (state.program, "programs")));
    all
}

/// A picture with the mean of `step` x `step` pixels in each of its own.
fn reduced([width, height]: [u32; 2], rgba: &[u8], step: u32) -> (Vec<u8>, [u32; 2]) {
    let size = [width.div_ceil(step), height.div_ceil(step)];
    if step == 1 || rgba.len() as u64 != 4 * u64::from(width) * u64::from(height) {
        return (rgba.to_vec(), size);
    }
    let mut out = Vec::with_capacity(4 * size[0] as usize * size[1] as usize);
    for row in 0..size[1] {
        for column in 0..size[0] {
            let (mut sums, mut count) = ([0u32; 4], 0);
            for y in row * step..((row + 1) * step).min(height) {
                for x in column * step..((column + 1) * step).min(width) {
                    let at = 4 * (y as usize * width as usize + x as usize);
                    for (sum, value) in sums.iter_mut().zip(&rgba[at..at + 4]) {
                        *sum += u32::from(*value);
                    }
                    count += 1;
                }
            }
            out.extend(sums.map(|sum| (sum / count.max(1)) as u8));
        }
    }
    (out, size)
}

/// Groups jobs: a frame ends with a pixel job whose picture no later job samples before it is drawn again. A job that
/// samples what it draws over continues a picture, which ends a frame, too.
fn frames(jobs: &[Brief], passes: &[Pass]) -> Vec<Frame> {
    let is_sampled = |number: usize| {
        let pass = &passes[number];
        for later in passes[number + 1..].iter().take(MAX_AHEAD) {
            let draws_over = later.targets.iter().any(|target| pass.targets.contains(target));
            if draws_over {
                return false;
            }
            if pass.targets.iter().any(|target| later.samples.contains(target)) {
                return true;
            }
        }
        false
    };
    let mut frames: Vec<Frame> = Vec::new();
    let mut start = 0;
    let mut end = |shows: usize, end: usize, frames: &mut Vec<Frame>| {
        let jobs = &jobs[start.min(jobs.len())..end.min(jobs.len())];
        frames.push(Frame {
            jobs: start..end,
            draws: jobs.iter().map(|job| job.draws).sum(),
            shows,
        });
        start = end;
    };
    for (number, pass) in passes.iter().enumerate().filter(|(_, pass)| pass.job < jobs.len()) {
        if pass.failed || !is_sampled(number) {
            end(pass.job, pass.job + 1, &mut frames);
        }
    }
    let ended = frames.last().map_or(0, |frame| frame.jobs.end);
    if ended < jobs.len() {
        // Jobs behind the last picture.
        let drawn = jobs[ended..].iter().rev().find(|job| job.size.is_some());
        end(drawn.map_or(ended, |job| job.number), jobs.len(), &mut frames);
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(passes: &[(&[u32], &[u32])]) -> Vec<Range<usize>> {
        let jobs: Vec<Brief> = (0..passes.len())
            .map(|number| Brief {
                number,
                size: Some([1, 1]),
                ..Brief::default()
            })
            .collect();
        let passes = passes.iter().enumerate().map(|(job, (targets, samples))| Pass {
            job,
            targets: targets.to_vec(),
            samples: samples.iter().copied().collect(),
            failed: false,
        });
        let frames = frames(&jobs, &passes.collect::<Vec<_>>());
        frames.into_iter().map(|frame| frame.jobs).collect()
    }

    #[test]
    fn passes_belong_to_the_frame_that_samples_them() {
        // Two buffers by turns.
        assert_eq!(grouped(&[(&[1], &[]), (&[2], &[]), (&[1], &[])]), [0..1, 1..2, 2..3]);
        // A shadow map, then the picture; twice.
        assert_eq!(
            grouped(&[(&[9], &[]), (&[1], &[9]), (&[9], &[]), (&[2], &[9])]),
            [0..2, 2..4]
        );
        // A picture that is drawn on.
        assert_eq!(grouped(&[(&[1], &[]), (&[1], &[1]), (&[1], &[1])]), [0..1, 1..2, 2..3]);
        // A pass that is drawn again before anything samples it.
        assert_eq!(grouped(&[(&[9], &[]), (&[9], &[]), (&[1], &[9])]), [0..1, 1..3]);
        // The last pass has no picture.
        assert_eq!(grouped(&[]), [0..0; 0]);
    }

    #[test]
    fn thumbnails_have_means() {
        let rgba: Vec<u8> = [0, 100, 50, 50].iter().flat_map(|value| [*value; 4]).collect();
        assert_eq!(reduced([2, 2], &rgba, 2), (vec![50; 4], [1, 1]));
        assert_eq!(reduced([3, 1], &rgba[..12], 2), (vec![50; 8], [2, 1]));
    }
}
