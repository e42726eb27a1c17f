//! Single draws of recordings: programs with generated symbols, and their inputs.

use emulator::driver::{Draw, Image};
use emulator::dump::{DrawPrograms, Given};
use lift::interface::Interface;
use loader::mbs::layout::{Declaration, StorageClass, Type, symbol};
use loader::mbs::{NO_PARENT, Program, Stage, Symbol, SymbolType};
use utgard::stream::OutputKind;

/// Width and height of the generated texture.
const TEXTURE: u32 = 8;

/// A recorded draw's programs.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedDraw(pub DrawPrograms);

/// A recorded draw's programs with symbols, for scenes and linking.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedPair {
    /// The vertex program; its uniforms are arrays of vec4s before and after the viewport's.
    pub vertex: Program,
    /// The fragment program.
    pub fragment: Program,
    given: Given,
    /// Number of the viewport's vec4.
    viewport: usize,
}

impl RecordedDraw {
    /// A program and its interface; none if no program of the job computes the positions.
    pub fn program(&self, stage: Stage) -> Option<(Interface, Program)> {
        let words = match stage {
            Stage::Vertex => self.0.vertex.clone()?,
            Stage::Fragment => self.0.fragment.clone(),
        };
        let program = Program::new(stage, words);
        let mut interface = lift::interface(&program);
        if stage == Stage::Vertex {
            interface.viewport = self.0.viewport;
        }
        Some((interface, program))
    }

    /// Both programs with symbols; none if no program of the job computes the positions, or if the viewport is unknown.
    pub fn pair(&self, given: Given) -> Option<RecordedPair> {
        let viewport = (self.0.viewport? / 4) as usize;
        let (_, mut vertex) = self.program(Stage::Vertex)?;
        let (interface, mut fragment) = self.program(Stage::Fragment)?;
        let vec4s = given.vertex_uniforms.len() / 4;
        let mut uniforms = Vec::from_iter(vectors("before", viewport, 0, StorageClass::GpUniform));
        uniforms.extend(vectors(VIEWPORT, 2, viewport, StorageClass::GpUniform));
        let behind = vec4s.saturating_sub(viewport + 2);
        uniforms.extend(vectors("behind", behind, viewport + 2, StorageClass::GpUniform));
        vertex.uniforms = Some(uniforms);
        let attributes = (0..given.attributes.len()).flat_map(|number| {
            let name = format!("attribute{number}");
            vectors(&name, 1, number, StorageClass::Attribute)
        });
        vertex.attributes = Some(attributes.collect());
        vertex.varyings = Some(outputs(&given.outputs));
        let inputs = interface
            .inputs
            .iter()
            .flat_map(|input| vectors(&input.name, 1, (input.float / 4) as usize, StorageClass::Varying));
        fragment.varyings = Some(inputs.collect());
        let vec4s = given.fragment_uniforms.len() / 4;
        let mut uniforms = Vec::from_iter(vectors("fragment", vec4s, 0, StorageClass::PpUniform));
        uniforms.extend(samplers(&interface));
        fragment.uniforms = Some(uniforms);
        Some(RecordedPair {
            vertex,
            fragment,
            given,
            viewport,
        })
    }
}

/// The name of the runtime's uniform for the viewport.
const VIEWPORT: &str = "gl_mali_ViewportTransform";

/// A vec4, or an array of vec4s; none if `count` is 0.
fn vectors(name: &str, count: usize, first: usize, class: StorageClass) -> Option<Symbol> {
    let declaration = Declaration {
        name: name.to_owned(),
        ty: Type::Vector(SymbolType::FLOAT, 4),
        entries: if count > 1 { count as u16 } else { 0 },
    };
    (count > 0).then(|| symbol(&declaration, class, 4 * first as u16, NO_PARENT))
}

/// The outputs of a vertex program; varyings are numbered in the order of the fragment program.
fn outputs(kinds: &[OutputKind]) -> Vec<Symbol> {
    let mut varying = 0;
    let named = kinds.iter().enumerate().filter_map(|(number, kind)| {
        let name = match kind {
            OutputKind::Position => "gl_Position".to_owned(),
            OutputKind::PointSize => "gl_PointSize".to_owned(),
            OutputKind::Varying => {
                varying += 1;
                format!("varying{}", varying - 1)
            }
        };
        vectors(&name, 1, number, StorageClass::Varying)
    });
    named.collect()
}

/// Symbols of the textures, including unused numbers.
fn samplers(interface: &Interface) -> Vec<Symbol> {
    let count = interface.samplers.iter().map(|sampler| sampler.number + 1).max();
    let all = (0..count.unwrap_or(0)).map(|number| {
        let cube = interface
            .samplers
            .iter()
            .any(|sampler| sampler.number == number && sampler.cube);
        let declaration = Declaration {
            name: format!("texture{number}"),
            ty: Type::Sampler(if cube {
                SymbolType::SAMPLER_CUBE
            } else {
                SymbolType::SAMPLER_2D
            }),
            entries: 0,
        };
        symbol(&declaration, StorageClass::PpUniform, number as u16, NO_PARENT)
    });
    all.collect()
}

impl RecordedPair {
    /// The draw alone: with the recorded vertices and uniforms, generated textures and default state.
    pub fn draw(&self, size: [u32; 2]) -> Draw<'_> {
        let mut draw = Draw::new(&self.vertex, &self.fragment, size);
        let given = &self.given;
        draw.mode = given.mode;
        draw.count = given.vertices.len() as u32;
        for (number, values) in given.attributes.iter().enumerate() {
            let of = |vertex: &u32| values.get(*vertex as usize).copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
            let values = given.vertices.iter().map(of).collect();
            draw.attributes.push((format!("attribute{number}"), values));
        }
        let (before, rest) = given.vertex_uniforms.split_at(4 * self.viewport);
        let behind = rest.get(8..).unwrap_or_default();
        for (name, floats) in [
            ("before", before),
            ("behind", behind),
            ("fragment", &given.fragment_uniforms),
        ] {
            let whole = &floats[..floats.len() / 4 * 4];
            if !whole.is_empty() {
                draw.uniforms.push((name.to_owned(), whole.to_vec()));
            }
        }
        let symbols = self.fragment.uniforms.iter().flatten();
        for sampler in symbols.filter(|symbol| matches!(symbol.kind, SymbolType::SAMPLER_2D | SymbolType::SAMPLER_CUBE))
        {
            let faces = if sampler.kind == SymbolType::SAMPLER_CUBE { 6 } else { 1 };
            draw.textures.push((sampler.name(), texture(faces)));
        }
        draw
    }
}

/// Texels that differ from their neighbours and from face to face.
fn texture(faces: u32) -> Image {
    let texels = (0..faces * TEXTURE * TEXTURE).flat_map(|at| {
        let (x, y, face) = (at % TEXTURE, at / TEXTURE % TEXTURE, at / (TEXTURE * TEXTURE));
        [32 * x + 16, 32 * y + 16, 40 * face + 20, 255 - 16 * (x ^ y)].map(|channel| channel.min(255) as u8)
    });
    Image {
        width: TEXTURE,
        height: TEXTURE,
        rgba: texels.collect(),
        linear: false,
        // Faces have edges.
        repeat: faces == 1,
    }
}
