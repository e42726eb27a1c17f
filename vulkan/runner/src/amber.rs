//! A VBC and a scene as an AmberScript with the expected picture, for bug reports to users of other tools.

use crate::error::{Error, Result};
use crate::link::LinkedVbc;
use loader::spirv::{self, TargetEnv};
use loader::vbc::{self, Stage, fit};
use scene::Scene;
use scene::harness::{self, Settings};
use std::fmt::Write as _;
use vulkan::{
    Context, Cull, Descriptor, Dim, Draw, Pixels, Program, SamplerDesc, SlotData, TexelFormat, Texels, Topology, vk,
};

/// Tolerance of the picture, as root mean square error of all bytes: devices round differently.
const TOLERANCE: f64 = 1.0;

/// Keys of scenes that AmberScript has words for.
const PIPELINE_KEYS: &[&str] = &[
    "stencil",
    "polygon-mode",
    "depth-clamp",
    "depth-bias",
    "samples",
    "targets",
];

/// Keys of slots that it has words for; images have one level, between which nothing is filtered.
const SAMPLER_KEYS: &[&str] = &[
    "mag-filter",
    "min-filter",
    "mipmap-filter",
    "wrap",
    "wrap-x",
    "wrap-y",
    "wrap-z",
    "border",
    "min-lod",
    "max-lod",
    "compare",
];

/// The script, checked by parsing it.
///
/// # Errors
/// When the draw fails, or AmberScript cannot express it.
pub fn to_amber(context: &Context, made: &LinkedVbc, scene: &Scene) -> Result<String> {
    let file = vbc::read(&made.bytes)?;
    let settings = Settings {
        mode: vulkan::BindMode::Lowered,
        ..Settings::default()
    };
    let loaded = harness::load_of(context, &made.bytes, &made.sources, settings)?;
    let samplers = || {
        let mut slots = scene.slots.values();
        slots.find_map(|slot| slot.sampler_key(SAMPLER_KEYS))
    };
    if let Some(key) = scene.pipeline_key(PIPELINE_KEYS).or_else(samplers) {
        return foreign(key);
    }
    let drawn = loaded.draw(scene, &[], None)?;
    let draw = loaded.prepare(scene)?;
    let mut text = String::from("#!amber\n# Made by skrymir convert: a draw, and the picture that it gave.\n");
    let _ = writeln!(
        text,
        "# Drawn by {} ({}).\n",
        context.info().name,
        context.info().driver
    );
    for need in vbc::requirements(&file)
        .features
        .iter()
        .filter(|need| !need.feature.is_for_tables())
    {
        let _ = writeln!(text, "DEVICE_FEATURE {}", need.feature);
    }
    let stages = shaders(&file, &mut text)?;
    let mut pipeline = String::new();
    for name in &stages {
        let _ = writeln!(pipeline, "  ATTACH {name}");
    }
    state(&draw, &mut pipeline)?;
    blend(&draw, &drawn.frame.targets, &mut pipeline)?;
    vertices(loaded.program(), &draw, &mut text, &mut pipeline)?;
    for descriptor in loaded.program().descriptors() {
        bind(&descriptor, &draw, &mut text, &mut pipeline)?;
    }
    let [width, height] = draw.size;
    let samples = match draw.multisample.samples.as_raw() {
        1 => String::new(),
        samples => format!(" SAMPLES {samples}"),
    };
    for target in &drawn.frame.targets {
        let (at, format) = (target.location, target.format.vk()?);
        let image = |name: &str, samples: &str| {
            format!("IMAGE {name}{at} FORMAT {format:?}{samples} DIM_2D WIDTH {width} HEIGHT {height}")
        };
        let _ = writeln!(text, "{}", image("target", ""));
        let _ = writeln!(
            text,
            "{} DATA\n{}END",
            image("expected", ""),
            texels(target.format, &target.bytes, width)
        );
        let drawn = if samples.is_empty() { "target" } else { "sampled" };
        let _ = writeln!(pipeline, "  BIND BUFFER {drawn}{at} AS color LOCATION {at}");
        if !samples.is_empty() {
            let _ = writeln!(text, "{}", image(drawn, &samples));
            let _ = writeln!(pipeline, "  BIND BUFFER target{at} AS resolve");
        }
    }
    if draw.depth.is_some() || draw.stencil.is_some() {
        let format = if draw.stencil.is_some() {
            "D32_SFLOAT_S8_UINT"
        } else {
            "D32_SFLOAT"
        };
        let _ = writeln!(
            text,
            "IMAGE depth FORMAT {format}{samples} DIM_2D WIDTH {width} HEIGHT {height}"
        );
        let _ = writeln!(pipeline, "  BIND BUFFER depth AS depth_stencil");
    }
    let _ = write!(text, "PIPELINE graphics draw\n{pipeline}END\n");
    let [r, g, b, a] = clear(&draw, &drawn.frame.targets)?.map(|value| value * 255.0);
    let _ = writeln!(text, "CLEAR_COLOR draw {r} {g} {b} {a}");
    if let Some(depth) = &draw.depth {
        let _ = writeln!(text, "CLEAR_DEPTH draw {}", depth.clear);
    }
    if let Some(stencil) = &draw.stencil {
        let _ = writeln!(text, "CLEAR_STENCIL draw {}", stencil.clear);
    }
    let _ = writeln!(text, "CLEAR draw");
    for _ in 0..draw.draws {
        let _ = writeln!(
            text,
            "RUN draw DRAW_ARRAY AS {} START_IDX 0 COUNT {} START_INSTANCE 0 INSTANCE_COUNT {}",
            topology(draw.topology),
            draw.vertices,
            draw.instances
        );
    }
    for target in &drawn.frame.targets {
        let at = target.location;
        let _ = writeln!(text, "EXPECT target{at} RMSE_BUFFER expected{at} TOLERANCE {TOLERANCE}");
    }
    match script::parse(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(Error::input(format_args!("the script that was made is none: {error}"))),
    }
}

fn foreign<T>(what: &str) -> Result<T> {
    Err(Error::input(format_args!(
        "unsupported: AmberScript has no words for {what}"
    )))
}

/// The stages in assembly; their names.
fn shaders(file: &vbc::Vbc<'_>, text: &mut String) -> Result<Vec<&'static str>> {
    let mut names = Vec::new();
    for stage in Stage::ALL {
        let Some(module) = file.module(stage) else { continue };
        let module = module.as_ref().map_err(|error| Error::input(error.to_string()))?;
        let words = fit::fit(module, &fit::Mode::Lowered)?.words;
        let (name, kind) = match stage {
            Stage::Vert => ("vertex_stage", "vertex"),
            Stage::Tesc => ("control_stage", "tessellation_control"),
            Stage::Tese => ("evaluation_stage", "tessellation_evaluation"),
            Stage::Geom => ("geometry_stage", "geometry"),
            Stage::Frag => ("fragment_stage", "fragment"),
        };
        let version = words.get(1).copied().unwrap_or(0);
        let env = TargetEnv::ALL
            .iter()
            .find(|env| env.version() == version && env.name().starts_with("spv"));
        let env = env.map_or("spv1.5", |env| env.name());
        let _ = write!(
            text,
            "SHADER {kind} {name} SPIRV-ASM TARGET_ENV {env}\n{}END\n",
            spirv::print(&words)?
        );
        names.push(name);
    }
    Ok(names)
}

fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Points => "POINT_LIST",
        Topology::Lines => "LINE_LIST",
        Topology::LineStrip => "LINE_STRIP",
        Topology::LinesAdjacency => "LINE_LIST_WITH_ADJACENCY",
        Topology::TrianglesAdjacency => "TRIANGLE_LIST_WITH_ADJACENCY",
        Topology::Triangles => "TRIANGLE_LIST",
        Topology::TriangleStrip => "TRIANGLE_STRIP",
        Topology::TriangleFan => "TRIANGLE_FAN",
        Topology::Patches(_) => "PATCH_LIST",
    }
}

fn state(draw: &Draw, pipeline: &mut String) -> Result<()> {
    if draw.cull != Cull::None {
        return foreign("culling");
    }
    if !draw.subpass.is_empty() {
        return foreign("subpass inputs");
    }
    let [width, height] = draw.size;
    let _ = writeln!(pipeline, "  FRAMEBUFFER_SIZE {width} {height}");
    if let Topology::Patches(points) = draw.topology {
        let _ = writeln!(pipeline, "  PATCH_CONTROL_POINTS {points}");
    }
    if draw.rasterization.polygon_mode != vk::PolygonMode::FILL {
        let _ = writeln!(pipeline, "  POLYGON_MODE {}", word(draw.rasterization.polygon_mode));
    }
    depth(draw, pipeline);
    if let Some(stencil) = &draw.stencil {
        for (name, face) in [("front", &stencil.front), ("back", &stencil.back)] {
            let _ = write!(
                pipeline,
                "  STENCIL {name}\n    TEST on\n    FAIL_OP {}\n    PASS_OP {}\n    DEPTH_FAIL_OP {}\n    COMPARE_OP {}\n    \
                 COMPARE_MASK {}\n    WRITE_MASK {}\n    REFERENCE {}\n  END\n",
                word(face.fail_op),
                word(face.pass_op),
                word(face.depth_fail_op),
                word(face.compare_op),
                face.compare_mask,
                face.write_mask,
                face.reference
            );
        }
    }
    Ok(())
}

fn depth(draw: &Draw, pipeline: &mut String) {
    let (clamp, bias) = (draw.rasterization.depth_clamp, draw.rasterization.depth_bias);
    if draw.depth.is_none() && !clamp && bias.is_none() {
        return;
    }
    let on = |is_on: bool| if is_on { "on" } else { "off" };
    let _ = writeln!(pipeline, "  DEPTH\n    TEST {}", on(draw.depth.is_some()));
    if let Some(depth) = &draw.depth {
        let compare = word(vk::CompareOp::from(depth.compare));
        let _ = writeln!(pipeline, "    WRITE {}\n    COMPARE_OP {compare}", on(depth.write));
    }
    if clamp {
        let _ = writeln!(pipeline, "    CLAMP on");
    }
    if let Some(bias) = bias {
        let _ = writeln!(
            pipeline,
            "    BIAS constant {:?} clamp {:?} slope {:?}",
            bias.constant_factor, bias.clamp, bias.slope_factor
        );
    }
    let _ = writeln!(pipeline, "  END");
}

/// The language's word for a value of Vulkan's, which differs in its case.
fn word(value: impl std::fmt::Debug) -> String {
    format!("{value:?}").to_lowercase()
}

/// The blending, which is one for all targets.
fn blend(draw: &Draw, targets: &[Pixels], pipeline: &mut String) -> Result<()> {
    let mut blocks = targets.iter().map(|target| {
        let own = draw.color_blend.attachments.get(&target.location);
        blended(&own.copied().unwrap_or_else(|| draw.blend.into()))
    });
    let Some(first) = blocks.next().transpose()? else {
        return Ok(());
    };
    for block in blocks {
        if block? != first {
            return foreign("targets that blend differently");
        }
    }
    pipeline.push_str(&first);
    Ok(())
}

fn blended(state: &vk::PipelineColorBlendAttachmentState) -> Result<String> {
    if state.color_write_mask != vk::ColorComponentFlags::RGBA {
        return foreign("write-mask");
    }
    if state.blend_enable == vk::FALSE {
        return Ok(String::new());
    }
    // The language writes "substract".
    let op = |op: vk::BlendOp| word(op).replace("subtract", "substract");
    Ok(format!(
        "  BLEND\n    SRC_COLOR_FACTOR {}\n    DST_COLOR_FACTOR {}\n    COLOR_OP {}\n    SRC_ALPHA_FACTOR {}\n    \
         DST_ALPHA_FACTOR {}\n    ALPHA_OP {}\n  END\n",
        word(state.src_color_blend_factor),
        word(state.dst_color_blend_factor),
        op(state.color_blend_op),
        word(state.src_alpha_blend_factor),
        word(state.dst_alpha_blend_factor),
        op(state.alpha_blend_op)
    ))
}

/// The clear colour, which is one for all targets.
fn clear(draw: &Draw, targets: &[Pixels]) -> Result<[f32; 4]> {
    let mut colors = targets
        .iter()
        .map(|target| *draw.clears.get(&target.location).unwrap_or(&draw.clear));
    let first = colors.next().unwrap_or(draw.clear);
    match colors.all(|color| color == first) {
        true => Ok(first),
        false => foreign("targets with clear colours of their own"),
    }
}

/// Bytes as a buffer of words, padded with zeros.
fn words(name: &str, bytes: &[u8], text: &mut String) {
    let _ = writeln!(text, "BUFFER {name} DATA_TYPE uint32 DATA");
    for line in bytes.chunks(32) {
        for word in line.chunks(4) {
            let mut all = [0; 4];
            all[..word.len()].copy_from_slice(word);
            let _ = write!(text, " 0x{:x}", u32::from_le_bytes(all));
        }
        text.push('\n');
    }
    text.push_str("END\n");
}

fn vertices(program: &Program, draw: &Draw, text: &mut String, pipeline: &mut String) -> Result<()> {
    for input in program.inputs() {
        let Some(bytes) = draw.vertex_data.get(&input.location) else {
            continue;
        };
        let name = format!("input{}", input.location);
        words(&name, bytes, text);
        for column in 0..input.locations {
            let _ = writeln!(
                pipeline,
                "  VERTEX_DATA {name} LOCATION {} FORMAT {:?} OFFSET {} STRIDE {}",
                u32::from(input.location) + column,
                input.format,
                column * input.step,
                input.stride()
            );
        }
    }
    Ok(())
}

/// Texels as numbers, one row per line.
fn texels(format: TexelFormat, bytes: &[u8], width: u32) -> String {
    use loader::vbc::TexelType as T;
    let mut text = String::new();
    let row = (width as usize * format.size()).max(1);
    for line in bytes.chunks(row) {
        for part in line.chunks_exact(usize::from(format.bytes)) {
            let _ = match (format.class, part) {
                (T::SNORM, [byte]) => write!(text, " {}", *byte as i8),
                (_, [byte]) => write!(text, " {byte}"),
                (T::SNORM, [a, b]) => write!(text, " {}", i16::from_le_bytes([*a, *b])),
                (_, [a, b]) => write!(text, " {}", u16::from_le_bytes([*a, *b])),
                (T::FLOAT, [a, b, c, d]) => write!(text, " {}", f32::from_le_bytes([*a, *b, *c, *d])),
                (T::INT, [a, b, c, d]) => write!(text, " {}", i32::from_le_bytes([*a, *b, *c, *d])),
                (_, [a, b, c, d]) => write!(text, " {}", u32::from_le_bytes([*a, *b, *c, *d])),
                _ => Ok(()),
            };
        }
        text.push('\n');
    }
    text
}

fn bind(descriptor: &Descriptor, draw: &Draw, text: &mut String, pipeline: &mut String) -> Result<()> {
    use vk::DescriptorType as T;
    let (set, binding) = (descriptor.set, descriptor.binding);
    let name = format!("bound{set}_{binding}");
    let place = format!("DESCRIPTOR_SET {set} BINDING {binding}");
    let mut as_bytes = |kind: &str, bytes: &[u8]| {
        words(&name, bytes, text);
        let _ = writeln!(pipeline, "  BIND BUFFER {name} AS {kind} {place}");
    };
    let data = descriptor.slot.map(|slot| draw.slots.get(&slot));
    match (descriptor.kind, data) {
        (T::UNIFORM_BUFFER, None) => as_bytes("uniform", &draw.uniform),
        (T::STORAGE_BUFFER, Some(Some(SlotData::Buffer(bytes)))) => as_bytes("storage", bytes),
        (T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER, Some(Some(SlotData::Texels { format, bytes }))) => {
            let kind = match descriptor.kind {
                T::UNIFORM_TEXEL_BUFFER => "uniform_texel_buffer",
                _ => "storage_texel_buffer",
            };
            let _ = writeln!(
                text,
                "BUFFER {name} DATA_TYPE {:?} DATA\n{}END",
                format.vk()?,
                texels(*format, bytes, 8)
            );
            let _ = writeln!(pipeline, "  BIND BUFFER {name} AS {kind} {place}");
        }
        (kind, Some(Some(SlotData::Image(image, sampler)))) => {
            let depths = sampler.compare.and_then(|_| image.format.depth());
            self::image(&name, image, depths, text)?;
            let (kind, sampled) = match kind {
                T::COMBINED_IMAGE_SAMPLER => ("combined_image_sampler", true),
                T::SAMPLED_IMAGE => ("sampled_image", false),
                T::STORAGE_IMAGE => ("storage_image", false),
                other => return foreign(&format!("{other:?}")),
            };
            let how = match sampled {
                true => format!(" SAMPLER {name}_sampler"),
                false => String::new(),
            };
            if sampled {
                let _ = writeln!(text, "SAMPLER {name}_sampler{}", self::sampler(sampler));
            }
            let _ = writeln!(pipeline, "  BIND BUFFER {name} AS {kind}{how} {place}");
        }
        (kind, _) => return foreign(&format!("what is at set {set} binding {binding}, {kind:?}")),
    }
    Ok(())
}

fn sampler(desc: &SamplerDesc) -> String {
    // The language writes the mode with another word.
    let mode = |mode: vk::SamplerAddressMode| word(mode).replace("mirror_clamp", "mirrored_clamp");
    let mut text = format!(
        " MAG_FILTER {} MIN_FILTER {}",
        word(desc.mag_filter),
        word(desc.min_filter)
    );
    for (axis, own) in ["U", "V", "W"].into_iter().zip(desc.address_modes) {
        let _ = write!(text, " ADDRESS_MODE_{axis} {}", mode(own));
    }
    let _ = write!(text, " BORDER_COLOR {}", word(desc.border_color));
    let _ = write!(text, " MIN_LOD {:?} MAX_LOD {:?}", desc.min_lod, desc.max_lod);
    if let Some(op) = desc.compare {
        let _ = write!(text, " COMPARE on COMPARE_OP {}", word(op));
    }
    text
}

/// An image; `depths` is its format where a sampler compares with it.
fn image(name: &str, image: &Texels, depths: Option<vk::Format>, text: &mut String) -> Result<()> {
    if image.layers != 1 || image.levels != 1 {
        return foreign("texels of several layers or levels");
    }
    let [width, height, depth] = image.extent;
    let size = match image.dim {
        Dim::D1 => format!("DIM_1D WIDTH {width}"),
        Dim::D2 => format!("DIM_2D WIDTH {width} HEIGHT {height}"),
        Dim::D3 => format!("DIM_3D WIDTH {width} HEIGHT {height} DEPTH {depth}"),
        other => return foreign(&format!("{other:?} images")),
    };
    let format = depths.map_or_else(|| image.format.vk(), Ok)?;
    let _ = writeln!(
        text,
        "IMAGE {name} FORMAT {format:?} {size} DATA\n{}END",
        texels(image.format, &image.bytes, width)
    );
    Ok(())
}
