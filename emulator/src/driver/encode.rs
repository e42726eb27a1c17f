//! Streams, states and descriptors of a linked draw.

use super::link::{Linked, Output};
use super::{Blend, Cull, Draw, Image, Prepared, Result};
use crate::gpu::memory::PAGE;
use crate::gpu::texel::u_order;
use crate::gpu::vertex::{POINT_SIZE, POSITION};
use crate::gpu::{Gpu, frame};
use loader::mbs::Program;

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

/// Bytes of a polygon list block.
const BLOCK: u32 = 512;

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
    let plbu = list_stream(memory, draw, positions, state, lists)?;
    let target = memory.allocate(tiles(draw.size).iter().product::<u32>() * 256 * 4)?;
    let pp_frame = pixel_frame(memory, draw, target, lists, shift, count[0])?;
    Ok(Prepared {
        gp_frame: [vs.0, vs.1, plbu.0, plbu.1, 0, 0],
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
        attributes.extend([address, 16 << 11 | 3]);
    }
    if attributes.is_empty() {
        attributes.extend([memory.allocate(16)?, 3]);
    }
    // What fragments do not want goes where nobody looks.
    let nowhere = memory.allocate(16)?;
    let spec = |output: &Output| match output {
        Output::Position => [positions, POSITION],
        Output::PointSize => [sizes, POINT_SIZE],
        Output::Varying(at, floats) => [varyings + 4 * at, stride << 11 | (floats - 1)],
        Output::Unused => [nowhere, 0],
    };
    let outputs: Vec<u32> = linked.outputs.iter().flat_map(spec).collect();
    let mut uniforms: Vec<u32> = linked.vertex_uniforms.iter().map(|value| value.to_bits()).collect();
    uniforms.resize(uniforms.len().next_multiple_of(4).max(4), 0);
    let instructions = draw.vertex.code.len() as u32 / 4;
    let prefetch = draw
        .vertex
        .instructions
        .map_or(0, |[_, _, last]| last.saturating_sub(1));
    let (attribute_count, output_count) = (attributes.len() as u32 / 2, outputs.len() as u32 / 2);
    let [code, uniform_address, attribute_specs, output_specs] = [
        memory.put_words(&draw.vertex.code)?,
        memory.put_words(&uniforms)?,
        memory.put_words(&attributes)?,
        memory.put_words(&outputs)?,
    ];
    let list = [
        [0x0002_8000, 0x5000_0000],
        [1, 0x5000_0000],
        [uniform_address, 0x3000_0000 | (uniforms.len() as u32 * 4) << 12],
        [code, 0x4000_0000 | (instructions * 16) << 12],
        [prefetch << 20 | instructions.saturating_sub(1) << 10, 0x1000_0040],
        [(attribute_count - 1) << 24 | (output_count - 1) << 8, 0x1000_0042],
        [3, 0x1000_0041],
        [attribute_specs, 0x2000_0000 | attribute_count << 17],
        [output_specs, 0x2000_0008 | output_count << 17],
        [vertices << 24, vertices >> 8],
        [0, 0x6000_0000],
        [0, 0x5000_0000],
    ];
    commands(memory, &list)
}

/// The polygon list builder's stream (docs/spec/mali/streams.md, section 2).
fn list_stream(memory: &mut Memory<'_>, draw: &Draw<'_>, positions: u32, state: u32, lists: u32) -> Result<(u32, u32)> {
    let [width, height] = draw.size;
    let (shift, count) = blocks(draw.size);
    let [tiles_x, tiles_y] = tiles(draw.size);
    let mut table: Vec<u32> = (0..count[0] * count[1]).map(|at| lists + BLOCK * at).collect();
    // The command's count is even.
    table.resize(table.len().next_multiple_of(2), 0);
    let table_address = memory.put_words(&table)?;
    let float = |value: f32| value.to_bits();
    let lowest = shift[0].min(shift[1]).min(2);
    // Rows count downwards, and the viewport's negative scale turns the picture with them: what turns counter-clockwise
    // with y upwards does so in the picture's rows.
    let cull = match draw.cull {
        Cull::None => 0,
        Cull::Front => 1 << 18,
        Cull::Back => 1 << 17,
    };
    let indices = match &draw.indices {
        Some(indices) => {
            let bytes: Vec<u8> = indices.iter().flat_map(|index| index.to_le_bytes()).collect();
            Some(memory.put(&bytes)?)
        }
        None => None,
    };
    let setup = 0x2200 | cull | if indices.is_some() { 0x400 } else { 0 };
    let count_drawn = draw.indices.as_ref().map_or(draw.count, |all| all.len() as u32);
    let indexed = u32::from(indices.is_some()) << 21;
    let mut list = vec![
        [0x0000_0200, 0x1000_010b],
        [lowest << 28 | shift[1] << 16 | shift[0], 0x1000_010c],
        [(tiles_x - 1) << 24 | (tiles_y - 1) << 8, 0x1000_0109],
        [count[0], 0x3000_0000],
        [table_address, 0x2800_0000 | (table.len() as u32 - 1)],
        [0, 0x1000_0105],
        [float(height as f32), 0x1000_0106],
        [0, 0x1000_0107],
        [float(width as f32), 0x1000_0108],
        [0x0001_0002, 0x6000_0000],
        [setup, 0x1000_010b],
        [state, 0x8000_0000 | positions >> 4],
        [(height - 1) << 15, 0x7000_0000 | (width - 1) << 13],
        [0, 0x1000_010a],
        [float(0.0), 0x1000_010e],
        [float(1.0), 0x1000_010f],
        [float(1.0), 0x1000_010d],
    ];
    if let Some(indices) = indices {
        list.push([positions, 0x1000_0100]);
        list.push([indices, 0x1000_0101]);
    }
    list.push([count_drawn << 24, indexed | draw.mode << 16 | count_drawn >> 8]);
    list.push([0x0001_0001, 0x6000_0000]);
    list.push([0, 0x5000_0000]);
    commands(memory, &list)
}

/// The render state word (docs/spec/mali/state.md, section 1).
fn render_state(memory: &mut Memory<'_>, draw: &Draw<'_>, linked: &Linked, varyings: u32, stride: u32) -> Result<u32> {
    let code = memory.put_words(&draw.fragment.code)?;
    let first = draw.fragment.code.first().map_or(0, |word| word & 31);
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
        descriptors.push(texture(memory, image)?);
    }
    let textures = memory.put_words(&descriptors)?;
    let depth = draw.depth.map_or(7 << 1, |depth| {
        depth.compare << 1 | u32::from(depth.write && depth.compare != 0)
    });
    // The registers the fragment program leaves its colour in: the one its last instruction writes.
    let color = output_register(draw.fragment);
    let words = [
        0,
        0,
        blend(draw.blend) | 0x0c00_0000 | 0xf << 28,
        depth | 0x30,
        0xffff_0000,
        7,
        7,
        0xffff,
        7 | 0xf000 | 0x800 | (color * 0x1111_0000),
        code | first,
        0,
        list | size,
        textures,
        (stride / 8) | (u32::from(!descriptors.is_empty()) << 5) | (1 << 7) | ((descriptors.len() as u32) << 14),
        1 << 12 | 1 << 16,
        varyings,
    ];
    memory.put_words(&words)
}

/// The register of the colour: where the last vector of an instruction that stops goes; register 0 where none is.
/// Mesa names it in the state; what vendor files mean is not known, older notes say 0 ([?] in docs/spec/mali/pp.md, section 15).
fn output_register(program: &Program) -> u32 {
    let (code, _) = utgard::pp::flow::instructions(&program.code);
    let stop = code.iter().rev().find(|(_, i)| i.control.stop && i.branch.is_none());
    let Some((_, i)) = stop else { return 0 };
    let vector = i.vec_acc.filter(|u| u.mask != 0).map(|u| u.destination);
    let vector = vector.or(i.vec_mul.filter(|u| u.mask != 0).map(|u| u.destination));
    let vector = vector.or(i.combine.filter(|u| u.vector).map(|u| u.destination_vector().0));
    let register = vector.or(i.varying.and_then(|u| u.written()));
    register.map_or(0, |register| register.index() as u32)
}

/// Equations and factors (docs/spec/mali/state.md, section 1).
fn blend(blend: Blend) -> u32 {
    const ADD: u32 = 2 | 2 << 3;
    // Five bits of what is multiplied: 0 source, 1 destination, 3 zero; 8 is one minus it, 16 its alpha.
    let (source, destination) = match blend {
        Blend::None => (3 | 8, 3),
        Blend::Alpha => (16, 16 | 8),
        Blend::Premultiplied => (3 | 8, 16 | 8),
        Blend::Additive => (3 | 8, 3 | 8),
        Blend::Multiply => (1, 3),
    };
    let (alpha_source, alpha_destination) = match blend {
        Blend::Alpha | Blend::Premultiplied => (3 | 8, 8),
        _ => (source & 15, destination & 15),
    };
    ADD | source << 6 | destination << 11 | alpha_source << 16 | alpha_destination << 20
}

/// A texture in tiles, and its descriptor's address.
fn texture(memory: &mut Memory<'_>, image: &Image) -> Result<u32> {
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
    let mut words = [0u32; 16];
    let mut put = |at: u32, width: u32, value: u32| {
        for bit in (0..width).filter(|bit| value >> bit & 1 == 1) {
            words[((at + bit) / 32) as usize] |= 1 << ((at + bit) % 32);
        }
    };
    let wrap = if image.repeat { 0 } else { 1 };
    put(0, 6, 0x16);
    put(7, 1, 1);
    put(41, 1, u32::from(faces == 6));
    put(42, 2, if faces == 6 { 2 } else { 1 });
    put(75, 2, if image.linear { 0 } else { 3 });
    put(77, 9, wrap | wrap << 3 | wrap << 6);
    put(86, 13, image.width);
    put(99, 13, image.height);
    put(112, 13, 1);
    put(6 * 32 + 13, 2, 3);
    put(222, 26, address >> 6);
    memory.put_words(&words)
}

/// The PP frame of a picture in tiles, red in the lowest byte (docs/spec/mali/frame.md).
fn pixel_frame(
    memory: &mut Memory<'_>,
    draw: &Draw<'_>,
    target: u32,
    lists: u32,
    shift: [u32; 2],
    block_width: u32,
) -> Result<Vec<u32>> {
    let [width, height] = draw.size;
    let [tiles_x, tiles_y] = tiles(draw.size);
    let mut list = Vec::new();
    for (y, x) in (0..tiles_y).flat_map(|y| (0..tiles_x).map(move |x| (y, x))) {
        let block = lists + BLOCK * ((y >> shift[1]) * block_width + (x >> shift[0]));
        list.extend([
            0,
            0xb800_0000 | x | y << 8,
            0xe000_0002 | block >> 3 & 0x1fff_fffc,
            0xb000_0000,
        ]);
    }
    list.extend([0, 0xbc00_0000]);
    let master = memory.put_words(&list)?;
    let byte = |channel: f32| (channel.clamp(0.0, 1.0) * 255.0).round() as u32;
    let [red, green, blue, alpha] = draw.clear.map(byte);
    let clear = red | green << 8 | blue << 16 | alpha << 24;
    let depth = (f64::from(draw.clear_depth.clamp(0.0, 1.0)) * f64::from(0x00ff_ffff)).round() as u32;
    let mut words = vec![0; frame::FRAME_WORDS];
    words[3] = 2;
    words[4] = depth;
    words[6..10].fill(clear);
    (words[10], words[11]) = (width - 1, height - 1);
    (words[16], words[17], words[18], words[19]) = (1, 2 * height - 1, 0x77, 1);
    words[20] = shift[0].min(shift[1]).min(2) << 28 | shift[1] << 16 | shift[0];
    (words[21], words[22], words[23]) = (0xe0c, 0x8888, 1);
    let unit = &mut words[24..36];
    (unit[0], unit[1], unit[2], unit[4], unit[5], unit[6]) = (2, target, 3, 2, tiles_x, 4);
    words[60] = master;
    Ok(words)
}
