//! Streams, states and descriptors of a linked draw.

use super::draw::{Blend, Cull, Depth, Draw, ErrorKind, Image, Result, Stencil};
use super::link::{Linked, Output};
use super::prepared::Prepared;
use crate::gpu::Gpu;
use crate::gpu::frame::{SUBPIXEL, TIE_BREAK};
use crate::memory::PAGE;
use crate::texture::texel::u_order;
use utgard::field::{Aligned, Fields};
use utgard::frame::{GpFrame, PixelFormat, PpFrame, PpRegisters, TargetLayout, WriteBackSource, WriteBackUnit};
use utgard::gp;
use utgard::pp::{self, Control};
use utgard::state::{Compare, Equation, FactorSource, RenderState, StencilOp};
use utgard::stream::{self, ListCommand, TileCommand, VertexCommand, VertexSpec, semaphore};
use utgard::texture::{self, Descriptor, Dimension, TexelFormat, TexelLayout, Wrap};

/// Where the driver's buffer objects begin.
const BASE: u32 = 0x0100_0000;

/// Gives out memory: a buffer object for each thing, one behind the other.
struct Memory<'a> {
    gpu: &'a mut Gpu,
    next: u32,
}

impl Memory<'_> {
    /// A zeroed buffer object; 0 bytes are a page as well, so that every address is somewhere.
    fn allocate(&mut self, bytes: u32) -> Result<u32> {
        let address = self.next;
        let size = bytes.max(1).next_multiple_of(PAGE);
        self.gpu.memory.map(address, size)?;
        self.next += size;
        Ok(address)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<u32> {
        let address = self.allocate(bytes.len() as u32)?;
        self.gpu.memory.write(address, bytes)?;
        Ok(address)
    }

    fn put_words(&mut self, words: &[u32]) -> Result<u32> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(&bytes)
    }
}

/// Tiles each way of a picture.
fn tiles([width, height]: [u32; 2]) -> [u32; 2] {
    [width.div_ceil(16), height.div_ceil(16)]
}

/// Blocks of polygon lists: log2 of their tiles each way, and how many there are each way; at most 512 in all.
fn blocks(size: [u32; 2]) -> ([u32; 2], [u32; 2]) {
    let tiles = tiles(size);
    let mut shift = [0, 0];
    loop {
        let blocks = [0, 1].map(|axis| (tiles[axis] + (1 << shift[axis]) - 1) >> shift[axis]);
        if blocks[0] * blocks[1] <= 512 {
            return (shift, blocks);
        }
        let longer = usize::from(blocks[1] > blocks[0]);
        shift[longer] += 1;
    }
}

/// Bytes of a polygon list block: power of two, less seven.
const BLOCK_SIZE: u8 = 2;

/// Bytes of a polygon list block.
const BLOCK: u32 = 128 << BLOCK_SIZE;

/// Blocks of polygon lists as the list builder and the pixel processors have them.
fn block_shape(shift: [u32; 2]) -> stream::BlockShape {
    let [shift_x, shift_y] = shift.map(|shift| shift as u8);
    stream::BlockShape {
        shift_x,
        shift_y,
        least: shift_x.min(shift_y).min(2),
    }
}

pub(super) fn encode(gpu: &mut Gpu, draw: &Draw<'_>, mut linked: Linked) -> Result<Prepared> {
    let memory = &mut Memory { gpu, next: BASE };
    let vertices = draw
        .indices
        .as_ref()
        .map_or(draw.count, |all| all.iter().max().map_or(0, |at| u32::from(*at) + 1));
    let stride = (linked.varying_floats * 4).next_multiple_of(16).max(16);
    let positions = memory.allocate(16 * vertices)?;
    let varyings = memory.allocate(stride * vertices)?;
    let sizes = memory.allocate(4 * vertices)?;
    linked.positions = positions;
    let vs = vertex_stream(memory, draw, &linked, [positions, varyings, sizes], stride, vertices)?;
    let state = render_state(memory, draw, &linked, varyings, stride)?;
    let (shift, count) = blocks(draw.size);
    let lists = memory.allocate(BLOCK * count[0] * count[1])?;
    let mut rectangles = Vec::new();
    for contents in reloads(draw) {
        rectangles.push(reload(memory, draw, &contents)?);
    }
    let plbu = list_stream(memory, draw, &rectangles, (state, positions), lists)?;
    let size = tiles(draw.size).iter().product::<u32>() * 256 * 4;
    let mut targets = vec![write_back(draw, WriteBackSource::Color, memory.allocate(size)?)];
    if draw.keep_depth {
        targets.push(write_back(draw, WriteBackSource::DepthStencil, memory.allocate(size)?));
    }
    let pp_frame = pixel_frame(memory, draw, &targets, lists, shift, count[0])?;
    Ok(Prepared {
        gp_frame: GpFrame {
            vertex_start: vs.0,
            vertex_end: vs.1,
            list_start: plbu.0,
            list_end: plbu.1,
            ..GpFrame::default()
        }
        .to_words(),
        pp_frame,
        outputs: (varyings, stride),
        linked,
    })
}

/// Commands as pairs of words: where they begin and end.
fn commands(memory: &mut Memory<'_>, commands: &[[u32; 2]]) -> Result<(u32, u32)> {
    let start = memory.put_words(commands.as_flattened())?;
    Ok((start, start + 8 * commands.len() as u32))
}

/// The vertex stream, in the order a real driver has (docs/spec/mali/streams.md, section 1).
fn vertex_stream(
    memory: &mut Memory<'_>,
    draw: &Draw<'_>,
    linked: &Linked,
    [positions, varyings, sizes]: [u32; 3],
    stride: u32,
    vertices: u32,
) -> Result<(u32, u32)> {
    let mut attributes = Vec::new();
    for data in &linked.attributes {
        let bytes: Vec<u8> = data
            .iter()
            .flatten()
            .flatten()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        let address = memory.put(&bytes)?;
        attributes.push(VertexSpec::floats(address, 4, 16));
    }
    if attributes.is_empty() {
        attributes.push(VertexSpec::floats(memory.allocate(16)?, 4, 0));
    }
    // Outputs that the fragment program does not read go to unused memory.
    let nowhere = memory.allocate(16)?;
    let spec = |output: &Output| match output {
        Output::Position => VertexSpec::position(positions),
        Output::PointSize => VertexSpec::point_size(sizes),
        Output::Varying(at, floats) => VertexSpec::floats(varyings + 4 * at, *floats, stride),
        Output::Unused => VertexSpec::floats(nowhere, 1, 0),
    };
    let outputs: Vec<VertexSpec> = linked.outputs.iter().map(spec).collect();
    let mut uniforms: Vec<u32> = linked.vertex_uniforms.iter().map(|value| value.to_bits()).collect();
    uniforms.resize(uniforms.len().next_multiple_of(4).max(4), 0);
    let instructions = (draw.vertex.code.len() / gp::WORDS) as u16;
    let prefetch = draw
        .vertex
        .instructions
        .map_or(0, |[_, _, last]| last.saturating_sub(1)) as u16;
    let vec4s = (uniforms.len() / 4) as u16;
    let specs = |specs: &[VertexSpec]| specs.iter().flat_map(VertexSpec::to_words).collect::<Vec<u32>>();
    let [code, uniforms, attribute_specs, output_specs] = [
        memory.put_words(&draw.vertex.code)?,
        memory.put_words(&uniforms)?,
        memory.put_words(&specs(&attributes))?,
        memory.put_words(&specs(&outputs))?,
    ];
    let step = |value| VertexCommand::from(stream::VertexSemaphore { value });
    let list: [VertexCommand; 12] = [
        step(semaphore::VERTEX_BEGIN),
        step(semaphore::VERTEX_NEXT),
        stream::Uniforms {
            address: uniforms,
            vec4s,
        }
        .into(),
        stream::Program {
            address: code,
            instructions,
        }
        .into(),
        stream::ProgramInfo {
            last: instructions.saturating_sub(1),
            prefetch,
        }
        .into(),
        stream::Counts {
            outputs: outputs.len().saturating_sub(1) as u8,
            attributes: (attributes.len() - 1) as u8,
        }
        .into(),
        stream::Register41 {
            value: stream::REGISTER_41,
        }
        .into(),
        stream::Attributes {
            address: attribute_specs,
            words: (attributes.len() * VertexSpec::WORDS) as u16,
        }
        .into(),
        stream::Outputs {
            address: output_specs,
            words: (outputs.len() * VertexSpec::WORDS) as u16,
        }
        .into(),
        stream::RunVertices {
            indexed: false,
            count: vertices,
        }
        .into(),
        stream::Flush {}.into(),
        step(semaphore::VERTEX_END),
    ];
    commands(memory, &list.map(VertexCommand::encode))
}

/// The polygon list builder's stream (docs/spec/mali/streams.md, section 2): rectangles, then the draw, each with the
/// addresses of its render state and positions.
fn list_stream(
    memory: &mut Memory<'_>,
    draw: &Draw<'_>,
    rectangles: &[(u32, u32)],
    drawn: (u32, u32),
    lists: u32,
) -> Result<(u32, u32)> {
    let [width, height] = draw.size;
    let (shift, count) = blocks(draw.size);
    let [tiles_x, tiles_y] = tiles(draw.size);
    let mut table: Vec<u32> = (0..count[0] * count[1]).map(|at| lists + BLOCK * at).collect();
    // The command's count is even.
    table.resize(table.len().next_multiple_of(2), 0);
    let table_address = memory.put_words(&table)?;
    // Rows count downwards, and the viewport's negative scale turns the picture with them: what turns counter-clockwise
    // with y upwards does so in the picture's rows.
    let (cull_clockwise, cull_counter_clockwise) = match draw.cull {
        Cull::None => (false, false),
        Cull::Front => (false, true),
        Cull::Back => (true, false),
    };
    let indices = match &draw.indices {
        Some(indices) => {
            let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
            Some(memory.put(&bytes)?)
        }
        None => None,
    };
    let count_drawn = draw.indices.as_ref().map_or(draw.count, |all| all.len() as u32);
    let none = stream::PrimitiveSetup {
        block_size: BLOCK_SIZE,
        ..Default::default()
    };
    let setup = stream::PrimitiveSetup {
        from_program: true,
        indices_16: indices.is_some(),
        cull_clockwise,
        cull_counter_clockwise,
        ..none
    };
    let step = |value| ListCommand::from(stream::ListSemaphore { value });
    let mut list: Vec<ListCommand> = vec![
        none.into(),
        block_shape(shift).into(),
        stream::TileCounts {
            rows: (tiles_y - 1) as u8,
            columns: (tiles_x - 1) as u8,
        }
        .into(),
        stream::BlockWidth { blocks: count[0] }.into(),
        stream::BlockTable {
            address: table_address,
            last: (table.len() - 1) as u16,
        }
        .into(),
        stream::ViewportTop { edge: 0.0 }.into(),
        stream::ViewportBottom { edge: height as f32 }.into(),
        stream::ViewportLeft { edge: 0.0 }.into(),
        stream::ViewportRight { edge: width as f32 }.into(),
        step(semaphore::LIST_BEGIN),
    ];
    let bind = |(state, positions)| -> [ListCommand; 5] {
        [
            stream::BindState {
                state,
                positions: Aligned(positions),
            }
            .into(),
            stream::Scissor {
                top: 0,
                bottom: (height - 1) as u16,
                left: 0,
                right: (width - 1) as u16,
            }
            .into(),
            stream::Register10A { value: 0 }.into(),
            stream::Near { depth: 0.0 }.into(),
            stream::Far { depth: 1.0 }.into(),
        ]
    };
    for rectangle in rectangles {
        list.push(none.into());
        list.extend(bind(*rectangle));
        let corners = stream::DrawPrimitives {
            start: 0,
            count: 3,
            mode: stream::PrimitiveMode::Rectangle,
            indexed: false,
        };
        list.push(corners.into());
    }
    list.push(setup.into());
    list.extend(bind(drawn));
    list.push(stream::PointSize { size: 1.0 }.into());
    if let Some(indices) = indices {
        list.push(stream::Positions { address: drawn.1 }.into());
        list.push(stream::Indices { address: indices }.into());
    }
    let primitives = stream::DrawPrimitives {
        start: 0,
        count: count_drawn,
        mode: draw.mode,
        indexed: indices.is_some(),
    };
    list.extend([primitives.into(), step(semaphore::LIST_END), stream::End {}.into()]);
    let words: Vec<[u32; 2]> = list.into_iter().map(ListCommand::encode).collect();
    commands(memory, &words)
}

/// The render state word (docs/spec/mali/state.md, section 1).
fn render_state(memory: &mut Memory<'_>, draw: &Draw<'_>, linked: &Linked, varyings: u32, stride: u32) -> Result<u32> {
    let code = memory.put_words(&draw.fragment.code)?;
    let first = draw.fragment.code.first().map_or(0, |word| control(*word).length);
    let halves: Vec<u8> = linked
        .fragment_uniforms
        .iter()
        .flat_map(|half| half.to_le_bytes())
        .collect();
    let block = memory.put(&halves)?;
    let list = memory.put_words(&[block])?;
    let size = (halves.len() as u32)
        .div_ceil(8)
        .max(1)
        .next_power_of_two()
        .trailing_zeros();
    let mut descriptors = Vec::new();
    for image in &linked.textures {
        descriptors.push(texture(memory, image, head(image))?);
    }
    let textures = memory.put_words(&descriptors)?;
    let depth = draw.depth.unwrap_or(Depth {
        compare: Compare::Always,
        write: false,
    });
    let stencil = draw.stencil.unwrap_or([NO_STENCIL; 2]);
    let mut state = RenderState {
        unknown_2_24: 12,
        write_mask: 15,
        depth_write: depth.write && depth.compare != Compare::Never,
        depth_compare: depth.compare,
        no_near_clip: true,
        no_far_clip: true,
        depth_near: 0,
        depth_far: u16::MAX,
        alpha_compare: Compare::Always,
        primitive: 2,
        sample_mask: 15,
        first_length: first as u8,
        program: Aligned(code),
        uniform_size: size as u8,
        uniforms: Aligned(list),
        textures,
        varying_stride: (stride / 8) as u8,
        has_textures: !descriptors.is_empty(),
        has_uniforms: true,
        has_uniforms_again: true,
        texture_count: descriptors.len() as u16,
        front_ccw: true,
        varyings: Aligned(varyings),
        ..faces(stencil, blended(draw.blend))
    };
    // The registers the fragment program leaves its colour in: the one its last instruction writes.
    state.set_color_register(utgard::pp::flow::output_register(&draw.fragment.code));
    memory.put_words(&state.to_words())
}

/// The control word of an instruction.
fn control(word: u32) -> Control {
    Control::from_bits(word.into())
}

/// A render state with nothing but equations and factors (docs/spec/mali/state.md, section 1).
fn blended(blend: Blend) -> RenderState {
    let plain = |source| (source, false, false);
    let one = (FactorSource::Zero, true, false);
    let zero = plain(FactorSource::Zero);
    // What is multiplied, whether it is one minus that, and whether it is its alpha.
    let (source, destination) = match blend {
        Blend::None => (one, zero),
        Blend::Alpha => ((FactorSource::Source, false, true), (FactorSource::Source, true, true)),
        Blend::Premultiplied => (one, (FactorSource::Source, true, true)),
        Blend::Additive => (one, one),
        Blend::Multiply => (plain(FactorSource::Destination), zero),
    };
    // Of alpha it is always the alpha.
    let (alpha_source, alpha_destination) = match blend {
        Blend::Alpha => (one, destination),
        _ => (source, destination),
    };
    RenderState {
        color_equation: Equation::Add,
        alpha_equation: Equation::Add,
        color_source: source.0,
        color_source_complement: source.1,
        color_source_alpha: source.2,
        color_destination: destination.0,
        color_destination_complement: destination.1,
        color_destination_alpha: destination.2,
        alpha_source: alpha_source.0,
        alpha_source_complement: alpha_source.1,
        alpha_destination: alpha_destination.0,
        alpha_destination_complement: alpha_destination.1,
        ..RenderState::default()
    }
}

/// A stencil test that always passes and changes nothing.
const NO_STENCIL: Stencil = Stencil {
    compare: Compare::Always,
    fail: StencilOp::Keep,
    depth_fail: StencilOp::Keep,
    pass: StencilOp::Keep,
    reference: 0,
    mask: 0,
    write_mask: u8::MAX,
};

/// A render state with stencil tests of front and back.
fn faces([front, back]: [Stencil; 2], state: RenderState) -> RenderState {
    RenderState {
        front_compare: front.compare,
        front_fail: front.fail,
        front_depth_fail: front.depth_fail,
        front_pass: front.pass,
        front_reference: front.reference,
        front_mask: front.mask,
        front_write_mask: front.write_mask,
        back_compare: back.compare,
        back_fail: back.fail,
        back_depth_fail: back.depth_fail,
        back_pass: back.pass,
        back_reference: back.reference,
        back_mask: back.mask,
        back_write_mask: back.write_mask,
        ..state
    }
}

/// Copies a texture to the same pixels of the target; its coordinates are pixels.
const RELOAD: &str = "load.v ^discard.xy 0.xy, texld 0, mov.v0 $0 ^texture, sync, stop";

/// The textures that are reloaded before a draw, with their formats: colour, then depth and stencil.
fn reloads(draw: &Draw<'_>) -> Vec<(Image, TexelFormat)> {
    let Some(before) = &draw.before else {
        return Vec::new();
    };
    let [width, height] = draw.size;
    let image = |rgba| Image {
        width,
        height,
        rgba,
        linear: false,
        repeat: false,
    };
    let mut all = vec![(image(before.rgba.clone()), TexelFormat::Rgba8888)];
    if !before.depth_stencil.is_empty() {
        let bytes = before.depth_stencil.iter().flat_map(|word| word.to_le_bytes());
        all.push((image(bytes.collect()), TexelFormat::Z24S8));
    }
    all
}

/// A rectangle over the whole picture that restores a target from a texture (docs/spec/mali/frame.md, section 3): the
/// addresses of its render state and positions.
fn reload(memory: &mut Memory<'_>, draw: &Draw<'_>, (image, format): &(Image, TexelFormat)) -> Result<(u32, u32)> {
    let [width, height] = draw.size.map(|size| size as f32);
    let corners = [[width, 0.0], [0.0, 0.0], [0.0, height]];
    let positions = corners.map(|[x, y]| [x, y, 0.0, 1.0].map(f32::to_bits));
    let varyings = corners.map(|[x, y]| [x, y, 0.0, 0.0].map(f32::to_bits));
    let positions = memory.put_words(positions.as_flattened())?;
    let varyings = memory.put_words(varyings.as_flattened())?;
    let code = pp::assemble(RELOAD).map_err(|error| ErrorKind::Link(error.to_string()))?;
    let is_depth = *format == TexelFormat::Z24S8;
    let head = Descriptor {
        format: *format,
        swap: !is_depth,
        unnormalised: true,
        ..head(image)
    };
    let descriptor = texture(memory, image, head)?;
    let replace = Stencil {
        fail: StencilOp::Replace,
        depth_fail: StencilOp::Replace,
        pass: StencilOp::Replace,
        ..NO_STENCIL
    };
    let mut state = RenderState {
        write_mask: if is_depth { 0 } else { 15 },
        depth_write: is_depth,
        depth_compare: Compare::Always,
        packed_depth: is_depth,
        depth_from_program: is_depth,
        stencil_from_program: is_depth,
        no_near_clip: true,
        no_far_clip: true,
        depth_far: u16::MAX,
        alpha_compare: Compare::Always,
        primitive: 2,
        sample_mask: 15,
        first_length: code.first().map_or(0, |word| control(*word).length) as u8,
        program: Aligned(memory.put_words(&code)?),
        textures: memory.put_words(&[descriptor])?,
        varying_stride: 2,
        has_textures: true,
        texture_count: 1,
        front_ccw: true,
        varyings: Aligned(varyings),
        ..faces([if is_depth { replace } else { NO_STENCIL }; 2], blended(Blend::None))
    };
    state.set_color_register(utgard::pp::flow::output_register(&code));
    Ok((memory.put_words(&state.to_words())?, positions))
}

/// A texture in tiles, and its descriptor's address.
fn texture(memory: &mut Memory<'_>, image: &Image, head: Descriptor) -> Result<u32> {
    let [tiles_x, tiles_y] = tiles([image.width, image.height]);
    let layer = (tiles_x * tiles_y * 1024) as usize;
    let face = (image.width * image.height * 4) as usize;
    let faces = image.rgba.len() / face.max(1);
    let mut texels = vec![0; layer * faces];
    for (number, pixels) in image.rgba.chunks_exact(face).enumerate() {
        for (at, pixel) in pixels.chunks_exact(4).enumerate() {
            let (x, y) = (at as u32 % image.width, at as u32 / image.width);
            let tile = (y / 16) * tiles_x + x / 16;
            let to = number * layer + ((tile * 256 + u_order(x, y)) * 4) as usize;
            texels[to..to + 4].copy_from_slice(pixel);
        }
    }
    let address = memory.put(&texels)?;
    let mut words = head.to_words().to_vec();
    words.resize(DESCRIPTOR_WORDS, 0);
    texture::set_level(&mut words, 0, address);
    memory.put_words(&words)
}

/// The descriptor of a texture of the draw, without its address.
fn head(image: &Image) -> Descriptor {
    let wrap = if image.repeat { Wrap::Repeat } else { Wrap::Clamp };
    let cube = image.rgba.len() as u64 == u64::from(image.width) * u64::from(image.height) * 4 * 6;
    Descriptor {
        format: TexelFormat::Rgba8888,
        swap: true,
        cube,
        dimension: if cube { Dimension::Three } else { Dimension::Two },
        min_nearest: !image.linear,
        mag_nearest: !image.linear,
        wrap_s: wrap,
        wrap_t: wrap,
        wrap_r: wrap,
        width: image.width as u16,
        height: image.height as u16,
        depth: 1,
        layout: TexelLayout::Tiled,
        ..Descriptor::default()
    }
}

/// Words of a descriptor with up to ten levels.
const DESCRIPTOR_WORDS: usize = 16;

/// A unit that writes the picture, red in the lowest byte, or depth and stencil, in tiles (docs/spec/mali/frame.md).
fn write_back(draw: &Draw<'_>, source: WriteBackSource, address: u32) -> WriteBackUnit {
    let is_color = source == WriteBackSource::Color;
    WriteBackUnit {
        source,
        address,
        format: if is_color {
            PixelFormat::B8G8R8A8
        } else {
            PixelFormat::Z24S8
        },
        layout: TargetLayout::Tiled,
        pitch: tiles(draw.size)[0],
        swap: is_color,
        ..WriteBackUnit::default()
    }
}

/// The PP frame (docs/spec/mali/frame.md).
fn pixel_frame(
    memory: &mut Memory<'_>,
    draw: &Draw<'_>,
    targets: &[WriteBackUnit],
    lists: u32,
    shift: [u32; 2],
    block_width: u32,
) -> Result<Vec<u32>> {
    let [width, height] = draw.size;
    let [tiles_x, tiles_y] = tiles(draw.size);
    let mut list = Vec::new();
    for (y, x) in (0..tiles_y).flat_map(|y| (0..tiles_x).map(move |x| (y, x))) {
        let block = lists + BLOCK * ((y >> shift[1]) * block_width + (x >> shift[0]));
        let begin = stream::BeginTile {
            column: x as u8,
            row: y as u8,
        };
        list.push(TileCommand::from(begin));
        list.push(stream::RunBlock { block: Aligned(block) }.into());
    }
    list.push(stream::EndOfTiles {}.into());
    let words: Vec<[u32; 2]> = list.into_iter().map(TileCommand::encode).collect();
    let master = memory.put_words(words.as_flattened())?;
    let byte = |channel: f32| (channel.clamp(0.0, 1.0) * 255.0).round() as u32;
    let [red, green, blue, alpha] = draw.clear.map(byte);
    let clear = red | green << 8 | blue << 16 | alpha << 24;
    let depth = (f64::from(draw.clear_depth.clamp(0.0, 1.0)) * f64::from(0x00ff_ffff)).round() as u32;
    let [shape, _] = ListCommand::from(block_shape(shift)).encode();
    let registers = PpRegisters {
        active: true,
        clear_depth: depth,
        clear_stencil: draw.clear_stencil.into(),
        clear_color_0: clear,
        clear_color_1: clear,
        clear_color_2: clear,
        clear_color_3: clear,
        right: (width - 1) as u16,
        bottom: (height - 1) as u16,
        origin_x: 1,
        origin_y: 2 * height - 1,
        subpixel: SUBPIXEL,
        tie_break: TIE_BREAK,
        blocks: shape,
        scale_enables: 12,
        flip_dither: true,
        flip_rows: true,
        flip_derivative: true,
        channel_bits: 0x8888,
        processors: 1,
        ..PpRegisters::default()
    };
    let unit = |number: usize| targets.get(number).copied().unwrap_or_default();
    let frame = PpFrame {
        registers,
        write_backs: [0, 1, 2].map(unit),
        lists: vec![master],
    };
    Ok(frame.to_words())
}
