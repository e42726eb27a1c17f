//! Draws a VBC file with a scene; shared by the `run` command and the examples.

use crate::apply;
use crate::error::Result;
use crate::interface::{Interface, Sources};
use crate::model::Scene;
use loader::spirv::spirv_val;
use std::time::{Duration, Instant};
use vulkan::{BindMode, Context, Draw, Frame, PipelineCache, Program};

/// How a file is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The bind mode.
    pub mode: BindMode,
    /// Continue if our validator or spirv-val finds errors. Drivers do not check modules: this may crash the process.
    pub unchecked: bool,
}

/// Durations of the parts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Reading and validating the file.
    pub load: Duration,
    /// Fitting, limit checks, layouts and modules (and spirv-val, if installed).
    pub layout: Duration,
    /// Default data and the scene.
    pub scene: Duration,
}

/// A file loaded on a device, which can be drawn any number of times.
#[derive(Clone)]
pub struct Loaded {
    program: Program,
    interface: Interface,
    /// The reader's findings.
    pub notes: Vec<String>,
    timing: Timing,
}

/// A drawn VBC.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The targets, and the requested slots.
    pub frame: Frame,
    /// Durations, except those in the frame's own timing.
    pub timing: Timing,
}

/// Reads, validates and fits a file.
///
/// # Errors
/// See [`Error`](crate::Error); invalid files never reach a driver.
pub fn load(context: &Context, bytes: &[u8], settings: Settings) -> Result<Loaded> {
    load_of(context, bytes, &Sources::default(), settings)
}

/// [`load`] for a file made from sources, whose names scenes may use.
///
/// # Errors
/// See [`load`].
pub fn load_of(context: &Context, bytes: &[u8], sources: &Sources, settings: Settings) -> Result<Loaded> {
    let mut timing = Timing::default();
    let vbc = timed(&mut timing.load, || -> Result<_> {
        let vbc = loader::vbc::read(bytes)?;
        if !settings.unchecked {
            loader::vbc::validate(&vbc).accept(loader::vbc::FORMAT)?;
        }
        Ok(vbc)
    })?;
    // A cached pipeline is not proof of validity: anyone who can write to the cache folder could have added it.
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
    /// Default data overridden by the scene.
    ///
    /// # Errors
    /// If the scene does not match the shader.
    pub fn prepare(&self, scene: &Scene) -> Result<Draw> {
        apply::draw(&self.interface, scene)
    }

    /// Draws and waits for the picture; also reads back `read_slots`.
    ///
    /// # Errors
    /// See [`Error`](crate::Error).
    pub fn draw(&self, scene: &Scene, read_slots: &[u8], cache: Option<&PipelineCache>) -> Result<Drawn> {
        let mut timing = self.timing;
        let mut spent = Duration::ZERO;
        let mut draw = timed(&mut spent, || self.prepare(scene))?;
        timing.scene += spent;
        draw.read_slots = read_slots.to_vec();
        let frame = pollster::block_on(vulkan::render(&self.program, &draw, cache)?)?;
        Ok(Drawn { frame, timing })
    }

    /// The shader's interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The program on its device.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// Loads and draws.
///
/// # Errors
/// See [`Error`](crate::Error).
pub fn draw(context: &Context, bytes: &[u8], scene: &Scene) -> Result<Drawn> {
    load(context, bytes, Settings::default())?.draw(scene, &[], None)
}

fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *spent = start.elapsed();
    result
}
