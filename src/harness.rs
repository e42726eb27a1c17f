//! From a VBC file and a scene to pictures: what the `run` command and the examples share.

use crate::scene::{Scene, SceneError, apply, defaults::BufferFields};
use loader::vbc::fit::{self, Mode};
use loader::vbc::{DescriptorKind, Stage, Vbc};
use std::fmt;
use std::time::{Duration, Instant};
use vulkan::{BindMode, Context, Draw, Frame, PipelineCache, Program};

/// Why there is no picture.
#[derive(Debug)]
pub enum Error {
    /// The file, the data or the machine.
    Vulkan(vulkan::Error),
    /// The scene does not fit the shader.
    Scene(SceneError),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vulkan(error) => error.fmt(f),
            Self::Scene(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<vulkan::Error> for Error {
    fn from(error: vulkan::Error) -> Self {
        Self::Vulkan(error)
    }
}

impl From<loader::Error> for Error {
    fn from(error: loader::Error) -> Self {
        Self::Vulkan(error.into())
    }
}

impl From<SceneError> for Error {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl Error {
    /// Whether the file is at fault (or beyond what can be done with it), rather than the machine or the scene.
    pub fn is_file(&self) -> bool {
        matches!(
            self,
            Self::Vulkan(vulkan::Error::Load(_) | vulkan::Error::Unsupported(_))
        )
    }
}

/// How long the parts of a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Reading the file's bytes into a view.
    pub load: Duration,
    /// Fitting, limits, layouts and modules.
    pub program: Duration,
    /// Default data and the scene.
    pub scene: Duration,
    /// Uploads, pipeline, draw and read-back.
    pub draw: Duration,
}

/// A drawn VBC.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The targets, and the slots asked for.
    pub frame: Frame,
    /// Whether the full tables were bound.
    pub bindless: bool,
    /// What reading salvaged.
    pub notes: Vec<String>,
    /// Where the time went.
    pub timing: Timing,
}

/// Reads, fits and draws a VBC, and waits for the picture.
///
/// # Errors
/// See [`Error`]; nothing is drawn in part.
pub fn draw(
    context: &Context,
    bytes: &[u8],
    scene: &Scene,
    mode: BindMode,
    read_slots: &[u8],
    cache: Option<&PipelineCache>,
) -> Result<Drawn, Error> {
    let mut timing = Timing::default();
    let vbc = timed(&mut timing.load, || loader::vbc::read(bytes))?;
    let notes: Vec<String> = vbc.diagnostics().iter().map(ToString::to_string).collect();
    let program = timed(&mut timing.program, || Program::new(context, &vbc, mode))?;
    let mut draw = timed(&mut timing.scene, || prepare(&vbc, scene))?;
    draw.read_slots = read_slots.to_vec();
    let frame = timed(&mut timing.draw, || {
        pollster::block_on(vulkan::render(&program, &draw, cache)?)
    })?;
    Ok(Drawn {
        frame,
        bindless: program.is_bindless(),
        notes,
        timing,
    })
}

fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *spent = start.elapsed();
    result
}

/// Default data with the scene laid over it.
///
/// # Errors
/// Where the scene does not fit the shader.
pub fn prepare(vbc: &Vbc<'_>, scene: &Scene) -> Result<Draw, SceneError> {
    apply::draw(vbc, scene, &buffer_fields(vbc))
}

/// The fields of each buffer slot's struct, from the code: lowered code has one variable per slot. Slots of stages
/// that cannot be lowered have none, and their default data is zeros.
fn buffer_fields(vbc: &Vbc<'_>) -> BufferFields {
    let mut all = BufferFields::new();
    for stage in Stage::ALL {
        let Some(code) = vbc.code(stage) else { continue };
        let Ok(fitted) = fit::fit(&code.words(), &Mode::Lowered) else {
            continue;
        };
        for resource in fitted
            .resources
            .iter()
            .filter(|resource| resource.kind == DescriptorKind::StorageBuffer)
        {
            let fields = loader::spirv::block::fields(&fitted.words, resource.set, resource.binding);
            if let (Some(slot), Some(fields)) = (resource.slot, fields) {
                all.entry(slot).or_insert(fields);
            }
        }
    }
    all
}
