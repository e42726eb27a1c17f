//! One shader and one scene on every engine at hand, and how far the pictures are apart.
//!
//! A VBC, or what can be packed into one, goes to each Vulkan device in each bind mode and through naga's back ends, and
//! is compiled for the emulator, whose program goes to the device once more, lifted back to SPIR-V. A pair of Mali-400
//! programs runs on the emulator, and lifted on each device. The first engine that draws is what the others are held
//! against: the scalar one, where the programs fit a Mali-400.

use crate::args::PreprocessArgs;
use crate::error::{Error, Result};
use crate::harness::{self, Settings};
use crate::lifted;
use crate::mali::{self, Pair};
use crate::outcome::read_bytes;
use crate::packed::{self, File};
use crate::picture::{Comparison, Picture, compare};
use crate::scene::Scene;
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Stage};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use translate::{Language, ShaderStage, Source, Target};
use vulkan::{BindMode, Context, DeviceInfo, Options};

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A VBC's bytes, and the name of the file they are of.
    Vbc(Vec<u8>, PathBuf),
    /// Programs of a Mali-400.
    Pair(Box<Pair>),
}

/// What came of one engine.
#[derive(Debug)]
pub struct Row {
    /// The engine, in words.
    pub engine: String,
    /// Its picture, or why there is none.
    pub drawn: Drawn,
    /// How long it took, with compiling and loading.
    pub time: Duration,
    /// It owes the specification's picture to the bit.
    pub exact: bool,
}

/// A picture, or why there is none.
#[derive(Debug)]
pub enum Drawn {
    /// The picture.
    Picture(Picture),
    /// The engine does not take the shader or the scene.
    Refused(Error),
    /// It took them and did not come to a picture.
    Failed(Error),
}

/// How far a row's picture is from the first.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is the first.
    Reference,
    /// Every byte is the same.
    Same(Comparison),
    /// No more pixels than allowed are further off than the tolerance.
    Within(Comparison),
    /// More are.
    Differs(Comparison),
    /// There is no picture, and why.
    Refused(String),
    /// There should be one, and why there is none.
    Failed(String),
}

impl Verdict {
    /// Whether it breaks what was asked for.
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::Differs(_) | Self::Failed(_))
    }
}

impl Subject {
    /// What one file, or a vertex and a fragment file, hold.
    ///
    /// # Errors
    /// When a file cannot be read, or holds no such shaders.
    pub fn load(first: &Path, second: Option<&Path>, preprocess: &PreprocessArgs) -> Result<Self> {
        let bytes = read_bytes(first)?;
        if second.is_none() && bytes.starts_with(&vbc::MAGIC) {
            return Ok(Self::Vbc(bytes, first.to_owned()));
        }
        if second.is_none() && loader::sksl::detect(&bytes) {
            let bytes = translate::sksl::to_vbc(&loader::sksl::read(&bytes)?)?;
            return Ok(Self::Vbc(bytes, first.to_owned()));
        }
        let fragment = second.map_or_else(|| Ok(bytes.clone()), read_bytes)?;
        let files = [(first, &bytes), (second.unwrap_or(first), &fragment)];
        if !files.iter().all(|(path, bytes)| is_packed(path, bytes)) {
            return Ok(Self::Pair(Box::new(Pair::load(
                first,
                second.unwrap_or(first),
                preprocess,
            )?)));
        }
        let settings = &preprocess.settings(files.map(|(path, bytes)| (path, bytes.as_slice())))?;
        let files = files.map(|(path, bytes)| File {
            path,
            bytes,
            entries: &[],
            settings,
        });
        let second = second.map(|_| &files[1]);
        Ok(Self::Vbc(packed::vbc(&files[0], second)?, first.to_owned()))
    }

    /// Draws on every engine. Devices are those that `device` names a part of the name of, all where it says nothing.
    /// What an engine does not take is in its row.
    pub fn draw(&self, scene: &Scene, device: Option<&str>) -> Vec<Row> {
        let mut rows = Vec::new();
        let pair = match self {
            Self::Vbc(bytes, path) => Pair::of_file(path, bytes),
            Self::Pair(pair) => Ok(pair.as_ref().clone()),
        };
        on_emulator(&pair, scene, &mut rows);
        let devices = match vulkan::devices() {
            Ok(devices) => devices,
            Err(error) => {
                let drawn = Drawn::Refused(error.into());
                rows.push(Row::new("vulkan", drawn, Instant::now()));
                return rows;
            }
        };
        let wanted = |info: &&DeviceInfo| device.is_none_or(|wanted| info.name.contains(wanted));
        for info in devices.iter().filter(wanted) {
            let options = Options {
                device: Some(info.index.to_string()),
                ..Options::default()
            };
            match Context::new(&options) {
                Ok(context) => self.on_device(&context, info, &pair, scene, &mut rows),
                Err(error) => rows.push(Row::new(&info.name, Drawn::Failed(error.into()), Instant::now())),
            }
        }
        rows
    }

    fn on_device(&self, context: &Context, info: &DeviceInfo, pair: &Result<Pair>, scene: &Scene, rows: &mut Vec<Row>) {
        if let Self::Vbc(bytes, _) = self {
            let modes = [(BindMode::Bindless, "bindless"), (BindMode::Lowered, "lowered")];
            for (mode, name) in modes {
                let start = Instant::now();
                let drawn = draw_vbc(context, bytes, scene, mode);
                rows.push(Row::new(&format!("{}, {name}", info.name), drawn, start));
            }
            for target in [Target::Spirv, Target::Wgsl] {
                let start = Instant::now();
                let drawn = match through(bytes, target) {
                    Ok(bytes) => draw_vbc(context, &bytes, scene, BindMode::Auto),
                    Err(error) => Drawn::Refused(error),
                };
                rows.push(Row::new(&format!("{}, through {target}", info.name), drawn, start));
            }
        }
        let start = Instant::now();
        let drawn = match pair {
            Ok(pair) => draw_lifted(context, pair, scene),
            Err(error) => Drawn::Refused(Error::input(error)),
        };
        rows.push(Row::new(&format!("{}, lifted", info.name), drawn, start));
    }
}

impl Row {
    fn new(engine: &str, drawn: Drawn, start: Instant) -> Self {
        Self {
            engine: engine.to_owned(),
            drawn,
            time: start.elapsed(),
            exact: false,
        }
    }
}

/// Every row's verdict: channels may be `tolerance` apart, and `allowed` percent of the pixels further than that.
pub fn judge(rows: &[Row], tolerance: u8, allowed: f64) -> Vec<Verdict> {
    let mut first: Option<&Picture> = None;
    rows.iter()
        .map(|row| {
            let picture = match &row.drawn {
                Drawn::Picture(picture) => picture,
                Drawn::Refused(why) => return Verdict::Refused(why.to_string()),
                Drawn::Failed(why) => return Verdict::Failed(why.to_string()),
            };
            let Some(reference) = first else {
                first = Some(picture);
                return Verdict::Reference;
            };
            let (tolerance, allowed) = if row.exact { (0, 0.0) } else { (tolerance, allowed) };
            match compare(reference, picture, tolerance) {
                Ok(found) if found.worst == 0 => Verdict::Same(found),
                Ok(found) if found.share() <= allowed => Verdict::Within(found),
                Ok(found) => Verdict::Differs(found),
                Err(why) => Verdict::Failed(why.to_string()),
            }
        })
        .collect()
}

/// Whether a file's stages can be packed into a VBC; GLSL ES and Mali-400 programs cannot.
fn is_packed(path: &Path, bytes: &[u8]) -> bool {
    let Ok(source) = Source::new(&path.to_string_lossy(), bytes) else {
        return false;
    };
    match source.language {
        Language::Wgsl | Language::Spirv | Language::Sksl | Language::Hlsl => true,
        Language::Glsl => !compiler::glsl_es::is_old(&source),
        _ => false,
    }
}

fn on_emulator(pair: &Result<Pair>, scene: &Scene, rows: &mut Vec<Row>) {
    let engines: [(&str, Box<dyn Engine>); 3] = [
        ("scalar", Box::new(Scalar)),
        ("wide", Box::new(Wide::default())),
        ("native", Box::new(Native::default())),
    ];
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    for (name, engine) in engines {
        let start = Instant::now();
        let drawn = match pair {
            Err(error) => Drawn::Refused(Error::input(error)),
            Ok(pair) => match mali::prepare(pair, scene) {
                Err(error) => Drawn::Refused(error),
                Ok(draw) => mali::run(&draw, engine, threads).map_or_else(Drawn::Failed, Drawn::Picture),
            },
        };
        let row = Row::new(&format!("emulator, {name}"), drawn, start);
        rows.push(Row { exact: true, ..row });
    }
}

fn draw_vbc(context: &Context, bytes: &[u8], scene: &Scene, mode: BindMode) -> Drawn {
    let settings = Settings {
        mode,
        ..Settings::default()
    };
    let loaded = match harness::load(context, bytes, settings) {
        Ok(loaded) => loaded,
        Err(error) => return Drawn::Refused(error.into()),
    };
    match loaded.draw(scene, &[], None) {
        Ok(drawn) => match drawn.frame.targets.first() {
            Some(target) => Drawn::Picture(Picture::of(target)),
            None => Drawn::Refused(Error::input("the shader writes no picture")),
        },
        Err(error) => Drawn::Failed(error.into()),
    }
}

fn draw_lifted(context: &Context, pair: &Pair, scene: &Scene) -> Drawn {
    let draw = match mali::prepare(pair, scene) {
        Ok(draw) => draw,
        Err(error) => return Drawn::Refused(error),
    };
    match lifted::run(context, &draw, true) {
        Ok(picture) => Drawn::Picture(picture),
        Err(error) => match error.root() {
            crate::ErrorKind::Lift(_) | crate::ErrorKind::Load(_) | crate::ErrorKind::Input(_) => Drawn::Refused(error),
            _ => Drawn::Failed(error),
        },
    }
}

/// A VBC whose stages went through one of naga's back ends; the scene means the same for it.
fn through(bytes: &[u8], target: Target) -> Result<Vec<u8>> {
    let file = vbc::read(bytes)?;
    if file.inputs().any(|input| input.dims[1] != 1 || input.array != 1) {
        return Err(Error::input(
            "vertex inputs that are matrices or arrays come apart on the way",
        ));
    }
    let mut members = file.uniform().into_iter().flat_map(|uniform| uniform.members());
    if members.any(|member| member.dims[0] == 2 && member.dims[1] != 1) {
        return Err(Error::input("uniform matrices of two rows come apart on the way"));
    }
    let mut stages = Vec::new();
    for stage in Stage::ALL.into_iter().filter(|stage| file.code(*stage).is_some()) {
        let wanted = match stage {
            Stage::Vert => ShaderStage::Vertex,
            Stage::Frag => ShaderStage::Fragment,
            other => return Err(Error::input(format_args!("naga has no {other} stages"))),
        };
        let source = Source::new("file.vbc", bytes)?.stage(wanted);
        let written = translate::write(&translate::read(&source)?, target, &Default::default())?;
        let name = match target {
            Target::Wgsl => "stage.wgsl",
            _ => "stage.spv",
        };
        let source = Source::new(name, &written)?;
        stages.push((stage, translate::compile(&source, stage)?));
    }
    let members = file.uniform().into_iter().flat_map(|uniform| uniform.members());
    let names = Names {
        uniform: members
            .map(|member| String::from_utf8_lossy(member.name).into_owned())
            .collect(),
        unused_inputs: file.inputs().collect(),
        tables: file.tables(),
    };
    Ok(vbc::write(&pack(&stages, &names)?)?)
}
