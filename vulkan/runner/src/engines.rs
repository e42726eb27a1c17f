//! One shader and one scene on every engine at hand, and how far the pictures are apart.
//!
//! Shaders are compiled for the emulator, and go to each Vulkan device as they are: packed into a VBC, in each bind mode,
//! through naga's back ends, by naga's front end where that reads the language too, and in half precision steps. The
//! emulator's programs go to the device once more, lifted back to SPIR-V. A pair of Mali-400 programs runs on the
//! emulator, and lifted on each device. The first engine that draws is the reference: the scalar one, if the
//! programs fit a Mali-400.

use crate::error::{Error, ErrorKind, Result};
use crate::lifted;
use crate::link::{self, File, LinkedVbc};
use crate::mali::{self, Pair};
use emulator::exec::Engine;
use emulator::exec::native::Native;
use emulator::exec::scalar::Scalar;
use emulator::exec::wide::Wide;
use loader::spirv;
use loader::vbc::pack::{Names, pack};
use loader::vbc::{self, Stage};
use scene::Scene;
use scene::harness;
use scene::picture::{Comparison, Picture, compare};
use std::path::Path;
use std::time::{Duration, Instant};
use translate::frontend::Settings;
use translate::{Language, ShaderStage, Source, Target};
use vulkan::{BindMode, Context, DeviceInfo, Options};

/// The shaders to draw.
#[derive(Debug)]
pub struct Subject {
    /// Mali-400 programs, or the reason why there are none.
    pair: Result<Pair>,
    /// The shaders as a VBC for Vulkan; none for Mali-400 programs.
    vbc: Option<Result<LinkedVbc>>,
    /// The same through an independent front end.
    witness: Option<Result<LinkedVbc>>,
    /// Programs that are lifted in place of the pair.
    lifted: Option<Pair>,
}

/// The emulator's engines, scalar first.
pub fn emulator_engines() -> [(&'static str, Box<dyn Engine>); 3] {
    [
        ("scalar", Box::new(Scalar)),
        ("wide", Box::new(Wide::default())),
        ("native", Box::new(Native::default())),
    ]
}

/// The part of the chain that a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An engine of the emulator.
    Engine,
    /// The shaders as they are, on a Vulkan device.
    Source,
    /// The same, read by another front end.
    Witness,
    /// The same, written and read again by naga.
    Written,
    /// The same, with each step rounded to half precision.
    HalfSteps,
    /// The emulator's programs lifted.
    Lifted,
}

/// The result of one engine.
#[derive(Debug)]
pub struct Row {
    /// The engine, in words.
    pub engine: String,
    /// Its picture, or the reason why there is none.
    pub drawn: Drawn,
    /// How long it took, with compiling and loading.
    pub time: Duration,
    /// The picture must be identical to the reference.
    pub exact: bool,
    /// The part of the chain that it tests.
    pub part: Part,
}

/// A picture, or the reason why there is none.
#[derive(Debug)]
pub enum Drawn {
    /// The picture.
    Picture(Picture),
    /// The engine does not take the shader or the scene.
    Refused(Error),
    /// The engine failed to draw.
    Failed(Error),
}

/// The comparison of a row's picture with the reference.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is the reference.
    Reference,
    /// Every byte is the same.
    Same(Comparison),
    /// The allowed number of pixels exceeds the tolerance, or fewer.
    Within(Comparison),
    /// More pixels exceed the tolerance.
    Differs(Comparison),
    /// More pixels exceed the tolerance, and half precision explains them.
    Precision(Comparison),
    /// The engine does not support the shader; the reason.
    Refused(String),
    /// The engine failed; the reason.
    Failed(String),
}

impl Verdict {
    /// Whether it is a failure.
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::Differs(_) | Self::Failed(_))
    }
}

impl Subject {
    /// The shaders of one file, or of a vertex and a fragment file.
    ///
    /// # Errors
    /// When a file contains no shaders that an engine could draw.
    pub fn new(first: &File<'_>, second: Option<&File<'_>>) -> Result<Self> {
        let of_vbc = |bytes: &[u8]| Self {
            pair: Pair::new(&File { bytes, ..*first }, None),
            vbc: Some(Ok(LinkedVbc::of_vbc(bytes))),
            witness: None,
            lifted: None,
        };
        if second.is_none() && first.bytes.starts_with(&vbc::MAGIC) {
            return Ok(of_vbc(first.bytes));
        }
        if second.is_none() && loader::sksl::detect(first.bytes) {
            return Ok(of_vbc(&translate::sksl::to_vbc(&loader::sksl::read(first.bytes)?)?));
        }
        let files = [first, second.unwrap_or(first)];
        let pair = Pair::new(first, second);
        let languages = files.map(|file| language(file.path, file.bytes));
        if languages.contains(&None) {
            return Ok(Self {
                pair: Ok(pair?),
                vbc: None,
                witness: None,
                lifted: None,
            });
        }
        let linked = |settings: &Settings| {
            let files = files.map(|file| File { settings, ..*file });
            link::link(&files[0], second.map(|_| &files[1]))
        };
        let has_witness = languages.contains(&Some(Language::Glsl)) && first.settings == Settings::NONE;
        let witness = Settings {
            by_naga: true,
            ..first.settings.clone()
        };
        let vbc = linked(first.settings);
        if let (Err(error), Err(_)) = (&vbc, &pair) {
            return Err(Error::input(error));
        }
        Ok(Self {
            pair,
            vbc: Some(vbc),
            witness: has_witness.then(|| linked(&witness)),
            lifted: None,
        })
    }

    /// As [`Self::new`], of files on disk.
    ///
    /// # Errors
    /// As [`Self::new`], and when a file cannot be read.
    pub fn load(first: &Path, second: Option<&Path>) -> Result<Self> {
        let bytes = link::read(first)?;
        let more = second.map(link::read).transpose()?;
        let second = second.zip(more.as_deref()).map(|(path, bytes)| File::new(path, bytes));
        Self::new(&File::new(first, &bytes), second.as_ref())
    }

    /// The shaders as a VBC; none for Mali-400 programs.
    pub fn into_vbc(self) -> Option<Result<LinkedVbc>> {
        self.vbc
    }

    /// The programs of the emulator; a test plants faults in them.
    pub fn pair_mut(&mut self) -> Option<&mut Pair> {
        self.pair.as_mut().ok()
    }

    /// Lifts `pair` in place of the emulator's programs; a test plants faults this way.
    pub fn lift_instead(&mut self, pair: Pair) {
        self.lifted = Some(pair);
    }

    /// Draws on every engine. Devices are those whose name contains `device`; all if none is given.
    pub fn draw(&self, scene: &Scene, device: Option<&str>) -> Vec<Row> {
        self.draw_on(emulator_engines(), scene, device)
    }

    /// As [`Subject::draw`], with these engines of the emulator, each with its name.
    pub fn draw_on(
        &self,
        engines: impl IntoIterator<Item = (&'static str, Box<dyn Engine>)>,
        scene: &Scene,
        device: Option<&str>,
    ) -> Vec<Row> {
        let mut rows = on_emulator(&self.pair, engines, scene);
        let devices = match vulkan::devices() {
            Ok(devices) => devices,
            Err(error) => {
                let drawn = Drawn::Refused(error.into());
                rows.push(Row::new("vulkan", Part::Source, drawn, Instant::now()));
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
                Ok(context) => self.on_device(&context, info, scene, &mut rows),
                Err(error) => rows.push(Row::new(
                    &info.name,
                    Part::Source,
                    Drawn::Failed(error.into()),
                    Instant::now(),
                )),
            }
        }
        rows
    }

    fn on_device(&self, context: &Context, info: &DeviceInfo, scene: &Scene, rows: &mut Vec<Row>) {
        let mut row = |what: &str, part: Part, draw: &dyn Fn() -> Drawn| {
            let start = Instant::now();
            let drawn = draw();
            rows.push(Row::new(&format!("{}, {what}", info.name), part, drawn, start));
        };
        let through = |made: &Result<LinkedVbc>, change: &dyn Fn(&[u8]) -> Result<Vec<u8>>, mode: BindMode| {
            let changed = match made {
                Ok(made) => change(&made.bytes).map(|bytes| LinkedVbc { bytes, ..made.clone() }),
                Err(error) => Err(Error::input(error)),
            };
            changed.map_or_else(Drawn::Refused, |made| draw_vbc(context, &made, scene, mode))
        };
        let same = |bytes: &[u8]| Ok(bytes.to_vec());
        if let Some(made) = &self.vbc {
            for (mode, name) in [(BindMode::Bindless, "bindless"), (BindMode::Lowered, "lowered")] {
                row(name, Part::Source, &|| through(made, &same, mode));
            }
            if let Some(witness) = &self.witness {
                row("read by naga", Part::Witness, &|| {
                    through(witness, &same, BindMode::Auto)
                });
            }
            for target in [Target::Spirv, Target::Wgsl] {
                let write = |bytes: &[u8]| self::through(bytes, target);
                row(&format!("through {target}"), Part::Written, &|| {
                    through(made, &write, BindMode::Auto)
                });
            }
            if self.pair.is_ok() {
                row("in half steps", Part::HalfSteps, &|| {
                    through(made, &in_half_steps, BindMode::Auto)
                });
            }
        }
        row("lifted", Part::Lifted, &|| match &self.pair {
            Ok(pair) => draw_lifted(context, self.lifted.as_ref().unwrap_or(pair), scene),
            Err(error) => Drawn::Refused(Error::input(error)),
        });
    }
}

/// The language of a source that Vulkan has a way for; none for Mali-400 programs and their texts.
fn language(path: &Path, bytes: &[u8]) -> Option<Language> {
    let is_program = std::str::from_utf8(bytes).is_ok_and(utgard::shader::recognises);
    let source = Source::new(&path.to_string_lossy(), bytes).ok()?;
    (!is_program).then_some(source.language)
}

/// A VBC whose fragment stage is rounded to half precision after each step, as a Mali-400 computes.
///
/// # Errors
/// When the bytes are no VBC, or a step of the stage cannot be rounded.
pub fn in_half_steps(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut model = vbc::read(bytes)?.to_model();
    let code = model.code_mut(Stage::Frag);
    *code = spirv::half_steps(code)?;
    Ok(vbc::write(&model)?)
}

impl Row {
    fn new(engine: &str, part: Part, drawn: Drawn, start: Instant) -> Self {
        Self {
            engine: engine.to_owned(),
            drawn,
            time: start.elapsed(),
            exact: false,
            part,
        }
    }

    fn picture(&self) -> Option<&Picture> {
        match &self.drawn {
            Drawn::Picture(picture) => Some(picture),
            _ => None,
        }
    }
}

/// Every row's verdict: channels may be `tolerance` apart, and `allowed` percent of the pixels further than that.
///
/// Shaders in half precision steps are a witness: pixels that half steps change are not decided by the source in fp32, so
/// a row that differs from the reference in such pixels alone differs by precision.
pub fn judge(rows: &[Row], tolerance: u8, allowed: f64) -> Vec<Verdict> {
    let half: Vec<&Picture> = rows
        .iter()
        .filter(|row| row.part == Part::HalfSteps)
        .filter_map(Row::picture)
        .collect();
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
            // Other front ends and writers are excused if they agree with the source.
            let mut sources = rows
                .iter()
                .filter(|row| row.part == Part::Source)
                .filter_map(Row::picture);
            let mut as_source = || {
                sources.any(|source| compare(source, picture, tolerance).is_ok_and(|found| found.share() <= allowed))
            };
            let may_excuse = match row.part {
                Part::Source => true,
                Part::Witness | Part::Written => as_source(),
                _ => false,
            };
            let is_precision = || {
                half.iter()
                    .any(|half| undecided(reference, picture, half, tolerance, allowed))
            };
            match compare(reference, picture, tolerance) {
                Ok(found) if found.worst == 0 => Verdict::Same(found),
                Ok(found) if found.share() <= allowed => Verdict::Within(found),
                // A witness of the others.
                Ok(found) if row.part == Part::HalfSteps => Verdict::Precision(found),
                Ok(found) if may_excuse && is_precision() => Verdict::Precision(found),
                Ok(found) => Verdict::Differs(found),
                Err(why) => Verdict::Failed(why.to_string()),
            }
        })
        .collect()
}

/// Whether half precision steps come to the reference, or change all but `allowed` percent of the pixels that differ from it.
pub fn undecided(reference: &Picture, picture: &Picture, half: &Picture, tolerance: u8, allowed: f64) -> bool {
    let far = |one: &[u8], other: &[u8]| one.iter().zip(other).any(|(a, b)| a.abs_diff(*b) > tolerance);
    let pixels = reference.rgba.chunks_exact(4).zip(picture.rgba.chunks_exact(4));
    let pixels = pixels.zip(half.rgba.chunks_exact(4));
    let left =
        pixels.filter(|((reference, full), half)| far(reference, full) && far(reference, half) && !far(full, half));
    100.0 * left.count() as f64 <= allowed * (reference.rgba.len() / 4) as f64
}

/// Which part of the chain the rows that differ are of, in words; nothing where none does.
pub fn blame(rows: &[Row], verdicts: &[Verdict], tolerance: u8, allowed: f64) -> Vec<String> {
    let differs = |wanted: Part| {
        let of_part = rows.iter().zip(verdicts).filter(move |(row, _)| row.part == wanted);
        let mut bad = of_part.filter(|(_, verdict)| matches!(verdict, Verdict::Differs(_)));
        bad.next().map(|(row, _)| row)
    };
    let agree = |one: &Row, other: &Row| match (one.picture(), other.picture()) {
        (Some(one), Some(other)) => compare(one, other, tolerance).is_ok_and(|found| found.share() <= allowed),
        _ => true,
    };
    let of = |wanted: Part| rows.iter().find(|row| row.part == wanted && row.picture().is_some());
    let mut found = Vec::new();
    if let Some(row) = differs(Part::Engine) {
        found.push(format!("engine: {} is not what the scalar engine draws", row.engine));
    }
    if let (Some(source), Some(witness)) = (of(Part::Source), of(Part::Witness))
        && !agree(source, witness)
    {
        found.push(format!("front end: {} and {} differ", source.engine, witness.engine));
    }
    if let Some(source) = differs(Part::Source) {
        let witness = of(Part::Witness).filter(|witness| !agree(source, witness));
        if witness.is_none() {
            found.push(format!(
                "compiler: {} is the source as it is, and no program of ours draws that",
                source.engine
            ));
        }
    }
    if let (Some(source), Some(written)) = (of(Part::Source), differs(Part::Written))
        && !agree(source, written)
    {
        found.push(format!("writer: {} is not {}", written.engine, source.engine));
    }
    if let Some(row) = differs(Part::Lifted) {
        found.push(format!("lifting: {} is not what its programs draw", row.engine));
    }
    found
}

fn on_emulator(
    pair: &Result<Pair>,
    engines: impl IntoIterator<Item = (&'static str, Box<dyn Engine>)>,
    scene: &Scene,
) -> Vec<Row> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let rows = engines.into_iter().map(|(name, engine)| {
        let start = Instant::now();
        let drawn = match pair {
            Err(error) => Drawn::Refused(Error::input(error)),
            Ok(pair) => match mali::prepare(pair, scene) {
                Err(error) => Drawn::Refused(error),
                Ok(draw) => mali::run(&draw, engine, threads).map_or_else(Drawn::Failed, Drawn::Picture),
            },
        };
        let row = Row::new(&format!("emulator, {name}"), Part::Engine, drawn, start);
        Row { exact: true, ..row }
    });
    rows.collect()
}

fn draw_vbc(context: &Context, made: &LinkedVbc, scene: &Scene, mode: BindMode) -> Drawn {
    let settings = harness::Settings {
        mode,
        ..harness::Settings::default()
    };
    let loaded = match harness::load_of(context, &made.bytes, &made.sources, settings) {
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
            ErrorKind::Lift(_) | ErrorKind::Load(_) | ErrorKind::Input(_) => Drawn::Refused(error),
            _ => Drawn::Failed(error),
        },
    }
}

/// Translates a VBC's stages through one of naga's back ends; the interface stays the same.
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
