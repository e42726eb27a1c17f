//! A VBC and a scene as an AmberScript with the expected picture, for bug reports to users of other tools.

use crate::error::{Error, Result};
use crate::link::LinkedVbc;
use loader::spirv::{self, TargetEnv};
use loader::vbc::{self, Stage, fit};
use scene::harness::{self, Settings};
use scene::Scene;
use std::fmt::Write as _;
use vulkan::{
    Blend, Compare, Context, Cull, Descriptor, Dim, Draw, Program, SlotData, TexelFormat, Texels, Topology, vk,
};

/// Tolerance of the picture, as root mean square error of all bytes: devices round differently.
const TOLERANCE: f64 = 1.0;

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
    let samplers = || scene.slots.values().find_map(|slot| slot.sampler_key(&[]));
    if let Some(key) = scene.pipeline_key(&[]).or_else(samplers) {
        return Err(Error::input(format_args!(
            "unsupported: scripts are written without {key}"
        )));
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
    vertices(loaded.program(), &draw, &mut text, &mut pipeline)?;
    for descriptor in loaded.program().descriptors() {
        bind(&descriptor, &draw, &mut text, &mut pipeline)?;
    }
    let [width, height] = draw.size;
    for target in &drawn.frame.targets {
        let (at, format) = (target.location, target.format.vk()?);
        let image = |name: &str| format!("IMAGE {name}{at} FORMAT {format:?} DIM_2D WIDTH {width} HEIGHT {height}");
        let _ = writeln!(text, "{}", image("target"));
        let _ = writeln!(
            text,
            "{} DATA\n{}END",
            image("expected"),
            texels(target.format, &target.bytes, width)
        );
        let _ = writeln!(pipeline, "  BIND BUFFER target{at} AS color LOCATION {at}");
    }
    if draw.depth.is_some() {
        let _ = writeln!(text, "BUFFER depth FORMAT D32_SFLOAT");
        let _ = writeln!(pipeline, "  BIND BUFFER depth AS depth_stencil");
    }
    let _ = write!(text, "PIPELINE graphics draw\n{pipeline}END\n");
    let [r, g, b, a] = draw.clear.map(|value| value * 255.0);
    let _ = writeln!(text, "CLEAR_COLOR draw {r} {g} {b} {a}");
    if let Some(depth) = &draw.depth {
        let _ = writeln!(text, "CLEAR_DEPTH draw {}", depth.clear);
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
    let factors = match draw.blend {
        Blend::None => None,
        Blend::Alpha => Some(["src_alpha", "one_minus_src_alpha", "one"]),
        Blend::Premultiplied => Some(["one", "one_minus_src_alpha", "one"]),
        Blend::Additive => Some(["one", "one", "one"]),
        Blend::Multiply => Some(["dst_color", "zero", "dst_alpha"]),
    };
    if let Some([source, destination, alpha]) = factors {
        let _ = write!(
            pipeline,
            "  BLEND\n    SRC_COLOR_FACTOR {source}\n    DST_COLOR_FACTOR {destination}\n    COLOR_OP add\n    \
             SRC_ALPHA_FACTOR {alpha}\n    DST_ALPHA_FACTOR {destination}\n    ALPHA_OP add\n  END\n"
        );
    }
    if let Some(depth) = &draw.depth {
        let compare = match depth.compare {
            Compare::Never => "never",
            Compare::Less => "less",
            Compare::Equal => "equal",
            Compare::LessOrEqual => "less_or_equal",
            Compare::Greater => "greater",
            Compare::NotEqual => "not_equal",
            Compare::GreaterOrEqual => "greater_or_equal",
            Compare::Always => "always",
        };
        let write = if depth.write { "on" } else { "off" };
        let _ = write!(
            pipeline,
            "  DEPTH\n    TEST on\n    WRITE {write}\n    COMPARE_OP {compare}\n  END\n"
        );
    }
    Ok(())
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
            self::image(&name, image, text)?;
            let filter = match sampler.mag_filter {
                vk::Filter::LINEAR => "linear",
                _ => "nearest",
            };
            let wrap = match sampler.address_modes[0] {
                vk::SamplerAddressMode::REPEAT => "repeat",
                _ => "clamp_to_edge",
            };
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
                let _ = writeln!(
                    text,
                    "SAMPLER {name}_sampler MAG_FILTER {filter} MIN_FILTER {filter} ADDRESS_MODE_U {wrap} ADDRESS_MODE_V \
                     {wrap} ADDRESS_MODE_W {wrap}"
                );
            }
            let _ = writeln!(pipeline, "  BIND BUFFER {name} AS {kind}{how} {place}");
        }
        (kind, _) => return foreign(&format!("what is at set {set} binding {binding}, {kind:?}")),
    }
    Ok(())
}

fn image(name: &str, image: &Texels, text: &mut String) -> Result<()> {
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
    let format = image.format.vk()?;
    let _ = writeln!(
        text,
        "IMAGE {name} FORMAT {format:?} {size} DATA\n{}END",
        texels(image.format, &image.bytes, width)
    );
    Ok(())
}
