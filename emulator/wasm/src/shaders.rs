//! A pair of shaders: compiled, drawn, stepped through.

use crate::program::Program;
use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::watched::Near;
use emulator::exec::wide::Wide;
use loader::mbs::{self, Stage};
use loader::vbc::{BaseType, Shape, TexelRank};
use runner::link::File;
use runner::mali::{self, Pair, program_with_report};
use scene::picture::Picture;
use serde::Serialize;
use serde_json::{Map, Value};
use skrymir::command;
use std::path::Path;
use translate::frontend::Settings;

/// Most steps of a fragment that are reported.
const MAX_STEPS: usize = 4096;

/// A vertex and a fragment shader.
#[derive(Clone, Debug)]
pub struct Shaders {
    /// The vertex program, or why there is none.
    pub vertex: Result<Program, Refusal>,
    /// The fragment program, or why there is none.
    pub fragment: Result<Program, Refusal>,
    pair: Result<Pair, Refusal>,
    names: Vec<String>,
}

/// What shaders take.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Inputs {
    /// Members of the uniform, or uniforms.
    pub uniforms: Vec<Uniform>,
    /// Textures.
    pub samplers: Vec<Sampler>,
    /// Names of attributes.
    pub attributes: Vec<String>,
}

/// A uniform.
#[derive(Clone, Debug, Serialize)]
pub struct Uniform {
    /// Its name.
    pub name: String,
    /// `float`, `int`, `uint` or `bool`.
    pub base: &'static str,
    /// Numbers of a vector, or of a matrix's column.
    pub rows: u8,
    /// Columns; 1 for what is no matrix.
    pub columns: u8,
    /// Elements of an array; 1 for what is none.
    pub elements: usize,
    /// What it is where a scene says nothing.
    pub value: Values,
}

/// Numbers of a uniform.
pub type Values = Vec<f64>;

/// A texture that fragments look up.
#[derive(Clone, Debug, Serialize)]
pub struct Sampler {
    /// What scenes call it.
    pub name: String,
    /// `2d`, or `cube`, or what there is none of on a Mali-400.
    pub kind: &'static str,
}

type Compiled = Result<(mbs::Program, Program), Refusal>;

fn compile((name, bytes): (&str, &[u8]), stage: Stage, names: &[String]) -> Compiled {
    let found = program_with_report(Path::new(name), bytes, stage, Settings::NONE);
    let (program, report) = found.map_err(|error| about(error, names))?;
    let listed = Program::new(&program, report);
    Ok((program, listed))
}

fn about(error: impl std::fmt::Display, names: &[String]) -> Refusal {
    Refusal::about(error, names.iter().map(String::as_str))
}

impl Shaders {
    /// Compiles two texts, or one that has both stages. Names say what they are: `.vert`, `.frag`, `.wgsl`, `.s`.
    pub fn new(vertex: (&str, &str), fragment: Option<(&str, &str)>) -> Self {
        Self::of_bytes(
            (vertex.0, vertex.1.as_bytes()),
            fragment.map(|(name, text)| (name, text.as_bytes())),
        )
    }

    /// The same of files, which may also be MBS, SPIR-V, VBC or SkSL.
    pub fn of_bytes(first: (&str, &[u8]), second: Option<(&str, &[u8])>) -> Self {
        let names: Vec<String> = [Some(first), second]
            .into_iter()
            .flatten()
            .map(|file| file.0.to_owned())
            .collect();
        let vertex = compile(first, Stage::Vertex, &names);
        let fragment = compile(second.unwrap_or(first), Stage::Fragment, &names);
        let pair = match (&vertex, &fragment) {
            (Ok((vertex, _)), Ok((fragment, _))) => {
                let file = |(name, bytes)| File {
                    path: Path::new(name),
                    bytes,
                    entries: &[],
                    settings: Settings::NONE,
                };
                let second = second.map(file);
                Pair::of_programs(vertex.clone(), fragment.clone(), &file(first), second.as_ref())
                    .map_err(|error| about(error, &names))
            }
            (Err(refusal), _) | (_, Err(refusal)) => Err(refusal.clone()),
        };
        Self {
            vertex: vertex.map(|(_, listed)| listed),
            fragment: fragment.map(|(_, listed)| listed),
            pair,
            names,
        }
    }

    fn pair(&self) -> Result<&Pair, Refusal> {
        self.pair.as_ref().map_err(Clone::clone)
    }

    /// What the shaders take, with what it is where a scene says nothing.
    ///
    /// # Errors
    /// Why there are no shaders.
    pub fn inputs(&self) -> Result<Inputs, Refusal> {
        let interface = mali::interface(self.pair()?).map_err(|error| about(error, &self.names))?;
        let draw = ::scene::apply::draw(&interface, &::scene::Scene::default());
        let data = draw.map_err(|error| about(error, &self.names))?.uniform;
        // Constants of the compiler's, and what the runtime fills.
        let own = |name: &[u8]| !name.starts_with(b"?") && !name.starts_with(b"skrymir_");
        let uniforms = interface.uniform.iter().filter(|member| own(&member.name));
        let uniform = |member: &::scene::interface::Uniform| {
            let count = member.components() * member.elements;
            let bytes = data.get(member.offset..member.offset + 4 * count).unwrap_or_default();
            let words = bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]);
            let number = |word: [u8; 4]| match member.base {
                BaseType::FLOAT => f64::from(f32::from_le_bytes(word)),
                BaseType::INT => f64::from(i32::from_le_bytes(word)),
                _ => f64::from(u32::from_le_bytes(word)),
            };
            Uniform {
                name: String::from_utf8_lossy(&member.name).into_owned(),
                base: match member.base {
                    BaseType::FLOAT => "float",
                    BaseType::INT => "int",
                    BaseType::BOOL => "bool",
                    _ => "uint",
                },
                rows: member.dims[0],
                columns: member.dims[1],
                elements: member.elements,
                value: words.map(number).collect(),
            }
        };
        let sampler = |slot: &::scene::interface::Slot| {
            let Shape::Texel { rank, .. } = slot.binding.shape else {
                return None;
            };
            let name = slot.name.clone().unwrap_or_else(|| slot.binding.slot.to_string());
            let kind = match rank {
                TexelRank::D2 => "2d",
                TexelRank::CUBE => "cube",
                _ => "other",
            };
            Some(Sampler { name, kind })
        };
        let attribute = |input: &::scene::interface::Input| {
            let location = || input.variable.location.to_string();
            input.name.clone().unwrap_or_else(location)
        };
        Ok(Inputs {
            uniforms: uniforms.map(uniform).collect(),
            samplers: interface.slots.iter().filter_map(sampler).collect(),
            attributes: interface.inputs.iter().map(attribute).collect(),
        })
    }

    /// The picture, as `skrymir draw` makes it.
    ///
    /// # Errors
    /// Why there are no shaders, what of the scene does not fit, or the fault of a job.
    pub fn draw(&self, scene: &Scene) -> Result<Picture, Refusal> {
        let drawn = mali::draw(self.pair()?, &scene.scene, Box::<Wide>::default(), 1);
        drawn.map_err(|error| about(error, &self.names))
    }

    /// What of the scene the shaders declare and do not use.
    ///
    /// # Errors
    /// Why there are no shaders.
    pub fn notes(&self, scene: &Scene) -> Result<Vec<String>, Refusal> {
        mali::unused(self.pair()?, &scene.scene).map_err(|error| about(error, &self.names))
    }

    /// Everything the fragments at a pixel did, as `skrymir draw --watch-pixel X,Y --json` tells it, the first
    /// steps of each.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn trace(&self, scene: &Scene, at: (u32, u32)) -> Result<Map<String, Value>, Refusal> {
        let engine = Near::new(at);
        let drawn = mali::draw(self.pair()?, &scene.scene, Box::new(engine.clone()), 1);
        drawn.map_err(|error| about(error, &self.names))?;
        let mut report = engine.report();
        for fragment in &mut report.pixel {
            fragment.steps.truncate(MAX_STEPS);
        }
        Ok(command::observed(&report, false, Some(at)))
    }

    /// The draw as a recording of its two jobs, as `skrymir draw --record` writes it.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn record(&self, scene: &Scene) -> Result<Vec<u8>, Refusal> {
        mali::record(self.pair()?, &scene.scene).map_err(|error| about(error, &self.names))
    }
}
