//! What a PP job draws: primitives and shaders by the polygon lists of its tiles, made ready as far as tiles want them.

use super::observe::{self, Fate, Place, Watch};
use crate::exec::batched::QuadBatcher;
use crate::exec::inputs::{Inputs, SLOTS};
use crate::exec::{Engine, FragmentContext, FragmentKernel, FragmentProgram};
use crate::fault::Result;
use crate::gpu::binning::entries::Entries;
use crate::gpu::binning::lists::{Geometry, Lists};
use crate::gpu::binning::tile_list::Tiles;
use crate::gpu::cache::Cache;
use crate::gpu::frame::Frame;
use crate::gpu::notes::Notes;
use crate::gpu::primitives::Bounds;
use crate::gpu::primitives::{Odd, Primitive, Primitives};
use crate::gpu::raster::planes::{self, Setup};
use crate::gpu::raster::small_triangle;
use crate::gpu::raster::triangle::{Coverage, Shape};
use crate::gpu::state::State;
use crate::gpu::tile::steps;
use crate::gpu::vectors::of_bytes;
use crate::memory::Memory;
use crate::silicon::Silicon;
use crate::texture::{Descriptor, Texture};
use crate::thread_pool::ThreadPool;
use num::half;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use utgard::pp::ops::Origin;
use utgard::state::VaryingFormat;
use utgard::texture::MAX_BYTES;

/// What the fragments of draws with one render state share.
pub(crate) struct Shader<'a> {
    /// Its place among the scene's.
    pub number: usize,
    pub state: State,
    pub program: Arc<FragmentProgram>,
    pub uniforms: Vec<f32>,
    pub textures: Vec<Texture<'a>>,
    /// Slots and components of varyings that the program reads.
    used: Vec<(usize, usize)>,
    /// Where each of them is.
    fields: Vec<Field>,
    /// From where varyings begin to the end of their object, unless that is shared.
    varyings: Option<&'a [u8]>,
    /// The fields are whole floats one behind the other.
    dense: bool,
    /// Where the last of the fields ends.
    reach: usize,
    /// [`State::takes_words`].
    pub takes_words: bool,
    /// What the tile has does not matter to the blending.
    pub covers: bool,
    /// Nothing but the primitive's depth and one colour's blending counts.
    pub simple: bool,
    /// What makes words of its fragments, made on first use: for primitives of one w, and for others.
    kernels: [OnceLock<Option<Arc<dyn FragmentKernel>>>; 2],
    /// The same with tests behind the program.
    late_kernels: [OnceLock<Option<Arc<dyn FragmentKernel>>>; 2],
    /// The same for fragments of many primitives.
    batchers: [OnceLock<Option<Arc<dyn QuadBatcher>>>; 2],
}

impl Shader<'_> {
    /// What makes words of its fragments in one go, if the engine has that.
    pub(crate) fn kernel(
        &self,
        engine: &dyn Engine,
        context: &FragmentContext<'_>,
        flat: bool,
    ) -> Option<&dyn FragmentKernel> {
        let kernel = &self.kernels[usize::from(flat)];
        kernel.get_or_init(|| engine.kernel(context, flat)).as_deref()
    }

    /// The same with tests behind the program.
    pub(crate) fn late_kernel(
        &self,
        engine: &dyn Engine,
        context: &FragmentContext<'_>,
        flat: bool,
    ) -> Option<&dyn FragmentKernel> {
        let kernel = &self.late_kernels[usize::from(flat)];
        kernel.get_or_init(|| engine.kernel(context, flat)).as_deref()
    }

    /// What makes words of its fragments of many primitives in one go, if the engine has that.
    pub(crate) fn batcher<'b>(
        &self,
        engine: &dyn Engine,
        context: impl FnOnce() -> FragmentContext<'b>,
        flat: bool,
    ) -> Option<&dyn QuadBatcher> {
        let batcher = &self.batchers[usize::from(flat)];
        batcher.get_or_init(|| engine.batcher(&context(), flat)).as_deref()
    }

    /// Slots and components of the varyings that its program reads.
    pub(crate) fn used(&self) -> &[(usize, usize)] {
        &self.used
    }

    /// What vertices have of those as it lies in memory, where that is whole vectors of floats one behind the other.
    pub(crate) fn vectors(&self) -> Option<Vectors<'_>> {
        let stride = self.state.varying_stride;
        let is_whole = self.dense && self.used.len().is_multiple_of(4) && self.reach <= stride as usize;
        let bytes = self.varyings.filter(|_| is_whole)?;
        Some(Vectors { bytes, stride })
    }

    /// Varyings of a vertex, up to where the last ends that is used, where they are in the one object that by far most are in.
    #[inline(always)]
    fn near(&self, vertex: u32) -> Option<&[u8]> {
        let stride = self.state.varying_stride;
        let first = u64::from(vertex) * u64::from(stride);
        let bytes = self.varyings.filter(|_| self.reach <= stride as usize)?;
        bytes.get(first as usize..)?.get(..self.reach)
    }

    /// Gives what a vertex has of those to `put`, each with its number among them; what is in no buffer object is zero.
    #[inline(always)]
    pub(crate) fn varyings(&self, memory: &Memory, vertex: u32, mut put: impl FnMut(usize, f32)) {
        match self.near(vertex) {
            Some(bytes) if self.dense => {
                let floats = bytes.as_chunks().0.iter().enumerate();
                floats.for_each(|(number, bytes)| put(number, f32::from_le_bytes(*bytes)));
            }
            Some(bytes) => {
                let values = self.fields.iter().map(|field| field.value(bytes).unwrap_or(0.0));
                values.enumerate().for_each(|(number, value)| put(number, value));
            }
            None => far_varyings(memory, self, vertex.wrapping_mul(self.state.varying_stride), &mut put),
        }
    }
}

/// Varyings of vertices that are whole vectors of floats one behind the other.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<'a> {
    bytes: &'a [u8],
    /// Bytes from one vertex to the next.
    stride: u32,
}

impl Vectors<'_> {
    /// One of a vertex, by its number, if it is where those of by far most are.
    #[inline(always)]
    pub(crate) fn of(self, vertex: u32, number: usize) -> Option<[f32; 4]> {
        let first = u64::from(vertex) * u64::from(self.stride);
        let first = usize::try_from(first).ok()?.checked_add(16 * number)?;
        self.bytes.get(first..)?.first_chunk().map(of_bytes)
    }
}

/// A primitive made ready for the fragments it covers.
#[derive(Clone, Default)]
pub(crate) struct Ready {
    pub inputs: Inputs,
    /// Polygon offset, in the depth buffer's steps.
    pub offset: f64,
}

/// Room for a primitive that is not cached, and for making any ready.
#[derive(Default)]
pub(crate) struct Room {
    ready: Ready,
    shape: Shape,
    setup: Box<Setup>,
}

/// A large primitive, set up on demand; nothing where it covers nothing.
type Large = OnceLock<Option<Box<(Shape, Ready)>>>;

/// The primitives of a geometry job. Small ones are set up where they are drawn, once or twice, and never cached;
/// large ones when the first tile needs them.
pub(crate) struct Prepared<'a> {
    pub geometry: &'a Geometry,
    /// The shader of each draw; of those that cover nothing there is none.
    shaders: Vec<Option<usize>>,
    /// By piece, and place in the piece; of pieces that have none nothing.
    large: Vec<OnceLock<Box<[Large]>>>,
}

/// A large primitive that was set up.
#[derive(Clone, Copy)]
pub(crate) struct LargePrimitive<'a> {
    pub shape: &'a Shape,
    pub ready: &'a Ready,
    /// Its shader's number.
    pub shader: usize,
}

/// What a scene is made from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub memory: &'a Memory,
    /// What earlier jobs left.
    pub cache: &'a Cache,
    /// The hardware that is supposed.
    pub silicon: Silicon,
    /// Fast paths may be taken.
    pub fast_paths: bool,
}

/// A polygon list: its geometry's number, and which of the primitives are in it; nothing where none was built.
type List<'a> = Option<(usize, &'a Entries)>;

/// What the polygon lists of a job's tiles are.
pub(crate) struct BinnedScene<'a> {
    pub tiles: &'a Tiles,
    geometries: Vec<&'a Geometry>,
    /// By the lists' numbers.
    lists: Vec<List<'a>>,
}

impl<'a> BinnedScene<'a> {
    /// The lists that tiles mention.
    pub(crate) fn new(tiles: &'a Tiles, lists: &'a Lists, notes: &mut Notes) -> Self {
        let mut listed = Self {
            tiles,
            geometries: Vec::new(),
            lists: Vec::with_capacity(tiles.lists.len()),
        };
        for (address, _) in &tiles.lists {
            let list = lists.get(*address);
            if list.is_none() {
                notes.add(format!("no polygon list was built at {address:#x}"));
            }
            let list = list.map(|(geometry, primitives)| (listed.number(geometry), primitives));
            listed.lists.push(list);
        }
        listed
    }

    /// Primitives in the lists of all tiles together, those that are in several counted as often.
    pub(crate) fn entries(&self) -> u64 {
        let lists = self.lists.iter().zip(&self.tiles.lists);
        let entries = lists
            .filter_map(|(list, (_, bin_references))| Some(list.as_ref()?.1.len() as u64 * u64::from(*bin_references)));
        entries.sum()
    }

    /// A geometry's number.
    fn number(&mut self, geometry: &'a Geometry) -> usize {
        let known = self.geometries.iter().position(|have| std::ptr::eq(*have, geometry));
        known.unwrap_or_else(|| {
            self.geometries.push(geometry);
            self.geometries.len() - 1
        })
    }
}

/// A job's primitives and shaders by their polygon lists.
#[derive(Default)]
pub(crate) struct Scene<'a> {
    pub shaders: Vec<Shader<'a>>,
    by_state: HashMap<u32, usize>,
    /// Each geometry's primitives.
    pub geometries: Vec<Prepared<'a>>,
    /// Polygon lists by their numbers, and those numbers as tiles mention them.
    lists: &'a [List<'a>],
    bin_references: &'a [u32],
    pub multisample: bool,
    /// Depth or stencil are tested, kept or read.
    pub depth: bool,
    /// There are as many primitives as meshes have.
    pub has_many: bool,
    /// Fast paths may be taken.
    pub fast_paths: bool,
}

impl<'a> Scene<'a> {
    /// The scene of polygon lists, from memory and with what is kept from earlier jobs, for some hardware.
    ///
    /// # Errors
    /// A fault of anything the draws need.
    pub(crate) fn new(source: Source<'a>, listed: &'a BinnedScene<'a>, notes: &mut Notes) -> Result<Self> {
        let mut scene = Self {
            lists: &listed.lists,
            bin_references: &listed.tiles.bin_references,
            fast_paths: source.fast_paths,
            ..Self::default()
        };
        for geometry in &listed.geometries {
            let ready = prepare(source, geometry, &mut scene, notes)?;
            scene.geometries.push(ready);
        }
        scene.has_many = scene.primitives() >= MANY;
        Ok(scene)
    }

    /// Decodes texels of textures with all threads, unless a tile's thread can do that cheaply: threads that need the same
    /// texels would wait for the one that decodes them.
    pub(crate) fn prepare_textures(&self, frame: &Frame, pool: &ThreadPool) {
        let textures = self.shaders.iter().flat_map(|shader| &shader.textures);
        textures.for_each(|texture| texture.prepare(frame.pixels(), pool));
    }

    /// The polygon lists of some references, as far as they were built: each one's geometry and which of its primitives are in it.
    #[inline]
    pub(crate) fn referenced(
        &self,
        bin_references: Range<usize>,
    ) -> impl Iterator<Item = (usize, &'a Entries)> + use<'a> {
        let lists = self.lists;
        self.bin_references[bin_references]
            .iter()
            .filter_map(|number| lists[*number as usize])
    }
}

/// Finds the shaders of a geometry's draws, those of which a primitive covers something.
fn prepare<'a>(
    source: Source<'a>,
    geometry: &'a Geometry,
    scene: &mut Scene<'a>,
    notes: &mut Notes,
) -> Result<Prepared<'a>> {
    let mut shaders = vec![None; geometry.draws.len()];
    for (shader, draw) in shaders.iter_mut().zip(&geometry.draws).filter(|(_, draw)| draw.covers) {
        *shader = Some(scene.shader(source, draw.state, notes)?);
    }
    let large = geometry.primitives.pieces().iter().map(|_| OnceLock::new()).collect();
    Ok(Prepared {
        geometry,
        shaders,
        large,
    })
}

impl<'a> Scene<'a> {
    /// The number of the shader of a render state.
    fn shader(&mut self, source: Source<'a>, state: u32, notes: &mut Notes) -> Result<usize> {
        if let Some(number) = self.by_state.get(&state) {
            return Ok(*number);
        }
        let mut shader = shader(source, state, notes).map_err(|fault| fault.at(state))?;
        shader.number = self.shaders.len();
        self.multisample |= shader.state.multisample || shader.state.sample_mask != 15;
        self.depth |= !shader.simple || shader.state.uses_depth() || shader.program.reads_tile;
        self.shaders.push(shader);
        self.by_state.insert(state, self.shaders.len() - 1);
        Ok(self.shaders.len() - 1)
    }
}

impl Scene<'_> {
    /// Whether an object may be read while tiles are drawn.
    pub(crate) fn reads(&self, memory: &Memory, object: usize) -> bool {
        let of_shader = self.shaders.iter().any(|shader| {
            let textures = shader.textures.iter().flat_map(Texture::addresses);
            let varyings = (!shader.used.is_empty()).then_some(shader.state.varyings);
            textures
                .chain(varyings)
                .any(|address| memory.object_at(address) == Some(object))
        });
        of_shader || self.geometries.iter().any(|prepared| self.strays(memory, prepared))
    }

    /// Whether varyings of a geometry's primitives are beyond the object that they begin in.
    fn strays(&self, memory: &Memory, prepared: &Prepared<'_>) -> bool {
        let mut draws = prepared.geometry.draws.iter().zip(&prepared.shaders);
        draws.any(|(draw, shader)| {
            let shader = shader.map(|number| &self.shaders[number]);
            shader.filter(|shader| !shader.used.is_empty()).is_some_and(|shader| {
                let there = memory.length_up_to(shader.state.varyings, u32::MAX);
                u64::from(draw.slots) * u64::from(shader.state.varying_stride) > u64::from(there)
            })
        })
    }

    /// How many primitives there are.
    pub(crate) fn primitives(&self) -> usize {
        self.geometries
            .iter()
            .map(|prepared| prepared.geometry.primitives.len())
            .sum()
    }

    /// Reports wanted pixels that primitives cover outside of what their draws may touch.
    pub(crate) fn tell_outside(&self, watch: &dyn Watch) {
        for prepared in &self.geometries {
            let geometry = prepared.geometry;
            for (primitive, shape) in geometry.primitives.iter() {
                let (draw, shader) = (
                    &geometry.draws[shape.draw as usize],
                    prepared.shaders[shape.draw as usize],
                );
                let multisample = shader.is_some_and(|number| self.shaders[number].state.multisample);
                for [x, y] in observe::outside(shape, draw, multisample, watch.pixels()) {
                    watch.fragment(Place { geometry, primitive }, [x, y], &Fate::Outside);
                }
            }
        }
    }
}

impl Prepared<'_> {
    /// A primitive, if it has this number.
    #[inline]
    pub(crate) fn primitive(&self, number: u32) -> Option<&Primitive> {
        self.geometry.primitives.get(number)
    }

    /// What a draw's primitives may touch, and their shader's number; nothing where they cover nothing.
    pub(crate) fn draw(&self, draw: u32) -> (Bounds, Option<usize>) {
        let draw = draw as usize;
        (self.geometry.draws[draw].bounds, self.shaders[draw])
    }

    /// A large primitive, once a tile needed it.
    #[inline]
    pub(crate) fn known(&self, number: u32) -> Option<LargePrimitive<'_>> {
        let (piece, at) = Primitives::place(number);
        let (shape, ready) = self.large.get(piece)?.get()?.get(at)?.get()?.as_deref()?;
        let draw = self.geometry.primitives.pieces().get(piece)?.get(at)?.draw;
        Some(LargePrimitive {
            shape,
            ready,
            shader: self.shaders[draw as usize]?,
        })
    }

    /// Finds what a primitive covers of the tile whose first pixel is `origin`, and makes it ready where that is
    /// something: in `room`, or kept from another tile. With its shader's number.
    pub(crate) fn cover<'b>(
        &'b self,
        memory: &Memory,
        shaders: &[Shader<'_>],
        number: u32,
        origin: [u32; 2],
        coverage: &mut Coverage,
        Room { ready, shape, setup }: &'b mut Room,
    ) -> Option<(&'b Ready, usize)> {
        let (piece, at) = Primitives::place(number);
        let of_piece = self.geometry.primitives.pieces().get(piece)?;
        let primitive = of_piece.get(at)?;
        let draw = &self.geometry.draws[primitive.draw as usize];
        let number_of_shader = self.shaders[primitive.draw as usize]?;
        let shader = &shaders[number_of_shader];
        let multisample = shader.state.multisample;
        let known = self.large.get(piece).and_then(|large| large.get()?.get(at)?.get());
        let large = match known {
            Some(large) => large,
            None if small_triangle::is_small(&primitive.shape()) => {
                if !shape.set(primitive, draw.bounds) {
                    return None;
                }
                shape.cover(origin, multisample, coverage);
                if coverage.is_empty() {
                    return None;
                }
                make_ready(memory, shader, primitive, of_piece.odd(primitive), setup, ready);
                return Some((ready, number_of_shader));
            }
            None => {
                let make = || {
                    let shape = Shape::new(primitive, draw.bounds)?;
                    let mut ready = Ready::default();
                    make_ready(memory, shader, primitive, of_piece.odd(primitive), setup, &mut ready);
                    Some(Box::new((shape, ready)))
                };
                let room = || of_piece.iter().map(|_| OnceLock::new()).collect();
                self.large.get(piece)?.get_or_init(room).get(at)?.get_or_init(make)
            }
        };
        let (shape, ready) = large.as_deref()?;
        shape.cover(origin, multisample, coverage);
        (!coverage.is_empty()).then_some((ready, number_of_shader))
    }
}

/// What a primitive's fragments get.
fn make_ready(
    memory: &Memory,
    shader: &Shader<'_>,
    primitive: &Primitive,
    odd: Option<&Odd>,
    setup: &mut Setup,
    ready: &mut Ready,
) {
    planes::inputs(
        primitive,
        odd,
        primitive.ccw == shader.state.front_ccw,
        &shader.used,
        |vertex, values| shader.varyings(memory, vertex, |number, value| values[number] = unsigned(value)),
        setup,
        &mut ready.inputs,
    );
    let is_point = odd.is_some_and(|odd| odd.point.is_some());
    ready.offset = if is_point {
        0.0
    } else {
        offset(&shader.state, &ready.inputs)
    };
}

/// Polygon offset, in steps of the depth buffer: the steepest slope times the factor, and units, each of which is a step
/// wherever a depth lies between two of them. Points have none.
pub(crate) fn offset(state: &State, inputs: &Inputs) -> f64 {
    let [factor, units] = state.polygon_offset.map(f64::from);
    factor * steps(inputs.z.dx.abs().max(inputs.z.dy.abs())) + units
}

/// Primitives from which on a job [has many](Scene::has_many): code for them is made once, and has to be worth it.
const MANY: usize = 1 << 10;

/// Bytes of a vertex's varyings at most.
const MAX_STRIDE: usize = 16 * SLOTS;

/// [`Shader::varyings`] of a vertex whose varyings begin `first` bytes behind the first one's, wherever they are.
#[cold]
fn far_varyings(memory: &Memory, shader: &Shader<'_>, first: u32, put: &mut impl FnMut(usize, f32)) {
    let start = shader.state.varyings.wrapping_add(first);
    // Shared bytes are copied at once.
    let mut copy = [0; MAX_STRIDE];
    let copy = copy.get_mut(..shader.state.varying_stride as usize);
    let all = copy.and_then(|copy| memory.read(start, copy).ok().map(|()| &*copy));
    for (number, field) in shader.fields.iter().enumerate() {
        let near = all.and_then(|all| field.value(all));
        put(number, near.unwrap_or_else(|| field.value_at(memory, start)));
    }
}

/// What is interpolated of a vertex: -0 as 0, as mixing leaves it, everything else as it is.
#[inline(always)]
pub(crate) fn unsigned(value: f32) -> f64 {
    f64::from(value) + 0.0
}

/// Where a component of a varying is among those of a vertex, and whether it is a whole float or a half.
struct Field {
    at: usize,
    whole: bool,
}

impl Field {
    fn new(state: &State, (slot, component): (usize, usize)) -> Self {
        let whole = matches!(
            state.varying_formats[slot],
            VaryingFormat::Float4 | VaryingFormat::Float2
        );
        // Slots are 16 bytes apart in every layout that was seen (docs/spec/mali/state.md, section 1).
        let at = 16 * slot + if whole { 4 } else { 2 } * component;
        Self { at, whole }
    }

    fn end(&self) -> usize {
        self.at + if self.whole { 4 } else { 2 }
    }

    /// What a vertex with these varyings has, unless they end before.
    #[inline]
    fn value(&self, bytes: &[u8]) -> Option<f32> {
        let bytes = bytes.get(self.at..)?;
        match self.whole {
            true => bytes.first_chunk().map(|bytes| f32::from_le_bytes(*bytes)),
            false => bytes
                .first_chunk()
                .map(|bytes| half::to_f32(u16::from_le_bytes(*bytes))),
        }
    }

    /// What a vertex has whose varyings begin at an address; zero where that is in no buffer object.
    fn value_at(&self, memory: &Memory, start: u32) -> f32 {
        let at = start.wrapping_add(self.at as u32);
        match self.whole {
            true => memory.float(at).unwrap_or(0.0),
            false => memory
                .array(at)
                .map_or(0.0, |bytes| half::to_f32(u16::from_le_bytes(bytes))),
        }
    }
}

fn shader<'a>(source: Source<'a>, address: u32, notes: &mut Notes) -> Result<Shader<'a>> {
    let Source {
        memory, cache, silicon, ..
    } = source;
    let mut state = State::read(memory, address)?.with_quirks(silicon);
    state.blending.alpha_test = state.only_alpha_test();
    for (word, bits) in &state.unknown {
        notes.add(format!("render state word {word} has the unknown bits {bits:#x}"));
    }
    let program = cache.fragment_program(memory, state.program)?;
    let uniforms = uniforms(memory, &state, notes);
    let mut textures = Vec::new();
    for number in 0..state.texture_count.min(16) {
        let list = state.textures.wrapping_add(4 * number);
        let address = memory.word(list)?;
        let words = memory.bytes_up_to(address, MAX_BYTES);
        let words: Vec<u32> = words
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect();
        let descriptor = Descriptor::parse(&words);
        for (word, bits) in &descriptor.unknown {
            notes.add(format!("texture descriptor word {word} has the unknown bits {bits:#x}"));
        }
        textures.push(
            Texture::new(memory, descriptor)?
                .with_cache(&cache.textures)
                .with_quirks(silicon),
        );
    }
    let used = used(&program);
    let simple = state.is_simple();
    let fields: Vec<Field> = used.iter().map(|used| Field::new(&state, *used)).collect();
    let varyings = memory.borrow(state.varyings, memory.length_up_to(state.varyings, u32::MAX));
    Ok(Shader {
        // Set when it is added to a scene.
        number: 0,
        dense: (0..)
            .zip(&fields)
            .all(|(number, field)| field.whole && field.at == 4 * number),
        reach: fields.iter().map(Field::end).max().unwrap_or(0),
        takes_words: state.takes_words(),
        covers: state.blending.covers() && state.blending.alpha_test.is_none(),
        state,
        program,
        uniforms,
        textures,
        used,
        fields,
        varyings,
        simple,
        kernels: Default::default(),
        late_kernels: Default::default(),
        batchers: Default::default(),
    })
}

/// The uniforms of a render state's program.
pub(crate) fn uniforms(memory: &Memory, state: &State, notes: &mut Notes) -> Vec<f32> {
    if !state.has_uniforms {
        return Vec::new();
    }
    let Ok(block) = memory.word(state.uniforms) else {
        notes.add(format!(
            "the uniforms' list at {:#x} is in no buffer object",
            state.uniforms
        ));
        return Vec::new();
    };
    let bytes = memory.bytes_up_to(block, state.uniform_bytes);
    bytes
        .chunks_exact(2)
        .map(|half| half::to_f32(u16::from_le_bytes([half[0], half[1]])))
        .collect()
}

/// The varyings a program reads; all of them once it goes by an offset register.
fn used(program: &FragmentProgram) -> Vec<(usize, usize)> {
    let mut used = [[false; 4]; SLOTS];
    for unit in program
        .instructions
        .iter()
        .filter_map(|(_, instruction)| instruction.varying)
    {
        if unit.kind.row().origin != Origin::Memory {
            continue;
        }
        if unit.offset().is_some() {
            used = [[true; 4]; SLOTS];
        }
        let (first, count) = (
            (unit.index as usize) << unit.alignment.shift(),
            unit.alignment.components(),
        );
        for at in first..first + count {
            if let Some(slot) = used.get_mut(at / 4) {
                slot[at % 4] = true;
            }
        }
    }
    (0..SLOTS)
        .flat_map(|slot| (0..4).map(move |component| (slot, component)))
        .filter(|(s, c)| used[*s][*c])
        .collect()
}
