//! From a VBC file and a scene to pictures: what the `run` command and the examples share.

use crate::apply;
use crate::error::Result;
use crate::interface::{Interface, Sources};
use crate::model::Scene;
use loader::spirv::spirv_val;
use std::time::{Duration, Instant};
use vulkan::{BindMode, Context, Draw, Frame, PipelineCache, Program};

/// How a file is brought to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How slots are bound.
    pub mode: BindMode,
    /// Goes on where our validator or spirv-val finds errors. Drivers trust what they are given: this may end the
    /// process.
    pub unchecked: bool,
}

/// How long the parts of a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Reading the file's bytes into a view, and checking it.
    pub load: Duration,
    /// Fitting, limits, layouts and modules (and spirv-val, where it is installed).
    pub layout: Duration,
    /// Default data and the scene.
    pub scene: Duration,
}

/// A file on a device, ready to be drawn any number of times.
#[derive(Clone)]
pub struct Loaded {
    program: Program,
    interface: Interface,
    /// What reading salvaged.
    pub notes: Vec<String>,
    timing: Timing,
}

/// A drawn VBC.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The targets, and the slots asked for.
    pub frame: Frame,
    /// Where the time went, but for what the frame's own timing says.
    pub timing: Timing,
}

/// Reads, checks and fits a file.
///
/// # Errors
/// See [`Error`]; no driver sees a file that is not accepted.
pub fn load(context: &Context, bytes: &[u8], settings: Settings) -> Result<Loaded> {
    load_of(context, bytes, &Sources::default(), settings)
}

/// As [`load`], of a file that was made of sources, which scenes may speak of.
///
/// # Errors
/// As [`load`].
pub fn load_of(context: &Context, bytes: &[u8], sources: &Sources, settings: Settings) -> Result<Loaded> {
    let mut timing = Timing::default();
    let vbc = timed(&mut timing.load, || -> Result<_> {
        let vbc = loader::vbc::read(bytes)?;
        if !settings.unchecked {
            loader::vbc::validate(&vbc).accept(loader::vbc::FORMAT)?;
        }
        Ok(vbc)
    })?;
    // A known pipeline is no verdict: whoever can write to the cache's folder could have made it known.
    let validator = |words: &[u32]| match (!settings.unchecked).then(|| spirv_val::validate(words)).flatten() {
        Some(Err(error)) => Err(loader::Error::new(
            loader::ErrorKind::Invalid,
            loader::spirv::FORMAT,
            error.to_string(),
        )),
        _ => Ok(()),
    };
    let program = timed(&mut timing.layout, || {
        Program::validated(context, &vbc, settings.mode, &validator)
    })?;
    let interface = timed(&mut timing.scene, || Interface::of_vbc(&vbc, sources));
    let notes = vbc.diagnostics().iter().map(ToString::to_string).collect();
    Ok(Loaded {
        program,
        interface,
        notes,
        timing,
    })
}

impl Loaded {
    /// Default data with the scene laid over it.
    ///
    /// # Errors
    /// Where the scene does not fit the shader.
    pub fn prepare(&self, scene: &Scene) -> Result<Draw> {
        apply::draw(&self.interface, scene)
    }

    /// Draws and waits for the picture; `read_slots` are read back too.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn draw(&self, scene: &Scene, read_slots: &[u8], cache: Option<&PipelineCache>) -> Result<Drawn> {
        let mut timing = self.timing;
        let mut spent = Duration::ZERO;
        let mut draw = timed(&mut spent, || self.prepare(scene))?;
        timing.scene += spent;
        draw.read_slots = read_slots.to_vec();
        let frame = pollster::block_on(vulkan::render(&self.program, &draw, cache)?)?;
        Ok(Drawn { frame, timing })
    }

    /// What the file declares.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The program on its device.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// Loads and draws in one go.
///
/// # Errors
/// See [`Error`].
pub fn draw(context: &Context, bytes: &[u8], scene: &Scene) -> Result<Drawn> {
    load(context, bytes, Settings::default())?.draw(scene, &[], None)
}

fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *spent = start.elapsed();
    result
}
