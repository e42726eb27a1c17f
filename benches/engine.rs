//! CPU time of drawing 1,000 objects with 64 textures: pushed indices into tables that are bound once, against a
//! descriptor set per object; and the time saved by the cache on disk in a second run (with spirv-val, which then need
//! not validate the file again).
//!
//! `cargo bench --bench engine`; both run alternating, and the medians and their ratio are printed.
#![allow(missing_docs)]

#[path = "../tests/it/vbc/canvas.rs"]
mod canvas;

use ash::vk;
use canvas::{Canvas, FORMAT};
use std::time::{Duration, Instant};
use vulkan::{
    BindMode, Binder, Context, Dim, Draw, GraphicsPipeline, Options, PipelineCache, Program, SamplerDesc,
    TableResource, Tables, Target, TexelFormat, Texels, Texture,
};

const SHADER: &[u8] = include_bytes!("../tests/data/vbc/two_samplers.vbc");
const OBJECTS: usize = 1000;
const TEXTURES: usize = 64;
const ROUNDS: usize = 101;
const FORMATS: Target<'static> = Target::Formats {
    colors: &[FORMAT],
    depth: vk::Format::UNDEFINED,
};

fn main() {
    let context = match Context::new(&Options::default()) {
        Ok(context) => context,
        Err(error) => return println!("skipped: {error}"),
    };
    println!("device: {}", context.info().name);
    tables_beside_sets(&context);
    cache_on_disk(&context);
}

fn textures(context: &Context) -> Vec<Texture> {
    let texels = |index: usize| Texels {
        dim: Dim::D2,
        format: TexelFormat::RGBA8,
        extent: [1, 1, 1],
        layers: 1,
        levels: 1,
        bytes: vec![index as u8; 4],
    };
    let upload = |index| Texture::upload(context, &texels(index), SamplerDesc::default()).unwrap();
    (0..TEXTURES)
        .map(|index| pollster::block_on(upload(index)).unwrap())
        .collect()
}

fn tables_beside_sets(context: &Context) {
    let device = context.device();
    let canvas = Canvas::new(context, 16, &[0; 24]);
    let textures = textures(context);
    let vbc = loader::vbc::read(SHADER).unwrap();
    let state = Draw::default().state();

    let mut tables = Tables::new(context).unwrap();
    let handles: Vec<_> = textures
        .iter()
        .map(|texture| tables.insert(texture.resource()).unwrap())
        .collect();
    let program = Program::for_tables(context, &vbc, &tables, &|_| Ok(())).unwrap();
    let pipeline = GraphicsPipeline::new(&program, &state, &FORMATS, None).unwrap();
    let mut order: Vec<usize> = (0..OBJECTS).map(|object| object % TEXTURES).collect();
    order.sort_by_key(|texture| handles[*texture].page());

    let lowered = Program::new(context, &vbc, BindMode::Lowered).unwrap();
    let lowered_pipeline = GraphicsPipeline::new(&lowered, &state, &FORMATS, None).unwrap();
    let sets = Sets::new(context, &textures);

    let (mut by_tables, mut by_sets) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        by_tables.push(time(&canvas, |commands| {
            let mut binder = Binder::default();
            // SAFETY: the command buffer is recording.
            unsafe {
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline.raw());
                for texture in &order {
                    let handle = handles[*texture];
                    binder
                        .bind(commands, &program, &tables, &[(0, handle), (5, handle)])
                        .unwrap();
                    device.cmd_draw(commands, 3, 1, 0, 0);
                }
            }
        }));
        by_sets.push(time(&canvas, |commands| {
            let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, lowered.layout());
            // SAFETY: the command buffer is recording; the sets are of the program's layout.
            unsafe {
                device.cmd_bind_pipeline(commands, point, lowered_pipeline.raw());
                for texture in &order {
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[sets.sets[*texture]], &[]);
                    device.cmd_draw(commands, 3, 1, 0, 0);
                }
            }
        }));
    }
    for (what, part) in [("recording", 0), ("recording and running", 1)] {
        let per_draw =
            |times: &[[Duration; 2]]| median(times.iter().map(|t| t[part])).as_secs_f64() / OBJECTS as f64 * 1e9;
        let (tables, sets) = (per_draw(&by_tables), per_draw(&by_sets));
        println!(
            "{what}: tables {tables:.0} ns a draw, a set per object {sets:.0} ns, ratio {:.2}",
            tables / sets
        );
    }
}

/// Time to record the frame's draws, and of the whole frame until the device is done.
fn time(canvas: &Canvas, record: impl FnOnce(vk::CommandBuffer)) -> [Duration; 2] {
    let start = Instant::now();
    let mut recorded = Duration::ZERO;
    canvas.frame(|commands| {
        let start = Instant::now();
        record(commands);
        recorded = start.elapsed();
    });
    [recorded, start.elapsed()]
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// A descriptor set per texture, as in an engine without tables.
struct Sets {
    sets: Vec<vk::DescriptorSet>,
    pool: vk::DescriptorPool,
    layout: vk::DescriptorSetLayout,
    context: Context,
}

impl Sets {
    fn new(context: &Context, textures: &[Texture]) -> Self {
        let device = context.device();
        let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
        let binding = |binding| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::FRAGMENT)
        };
        let bindings = [binding(0), binding(5)];
        let count = textures.len() as u32;
        let sizes = [vk::DescriptorPoolSize {
            ty: kind,
            descriptor_count: 2 * count,
        }];
        // SAFETY: creates objects; the layout is defined as the lowered program's set 0 is.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layout = device.create_descriptor_set_layout(&info, None).unwrap();
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(count)
                .pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None).unwrap();
            let layouts = vec![layout; textures.len()];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let sets = device.allocate_descriptor_sets(&info).unwrap();
            for (set, texture) in sets.iter().zip(textures) {
                let TableResource::Texture(image_view, sampler) = texture.resource() else {
                    unreachable!()
                };
                let image_layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
                let info = [vk::DescriptorImageInfo {
                    sampler,
                    image_view,
                    image_layout,
                }];
                for binding in [0, 5] {
                    let write = vk::WriteDescriptorSet::default().dst_set(*set).dst_binding(binding);
                    device.update_descriptor_sets(&[write.descriptor_type(kind).image_info(&info)], &[]);
                }
            }
            Self {
                sets,
                pool,
                layout,
                context: context.clone(),
            }
        }
    }
}

impl Drop for Sets {
    fn drop(&mut self) {
        // SAFETY: every frame was waited for.
        unsafe {
            self.context.device().destroy_descriptor_pool(self.pool, None);
            self.context.device().destroy_descriptor_set_layout(self.layout, None);
        }
    }
}

/// Loads and draws a file for the first time, and again with the first run's cache on disk.
fn cache_on_disk(context: &Context) {
    let bytes = include_bytes!("../tests/data/vbc/uniform_members.vbc");
    let scene = skrymir::scene::Scene {
        size: Some([16, 16]),
        ..Default::default()
    };
    let run = |folder: &std::path::Path| {
        let start = Instant::now();
        let cache = PipelineCache::open(context, folder, bytes).unwrap();
        let loaded = skrymir::harness::load(context, bytes, Default::default()).unwrap();
        loaded.draw(&scene, &[], Some(&cache)).unwrap();
        let spent = start.elapsed();
        cache.save().unwrap();
        spent
    };
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        let folder = tempfile::tempdir().unwrap();
        first.push(run(folder.path()));
        second.push(run(folder.path()));
    }
    let (first, second) = (median(first.into_iter()), median(second.into_iter()));
    let ratio = second.as_secs_f64() / first.as_secs_f64();
    println!("load and draw: first run {first:.1?}, second run with its cache {second:.1?}, ratio {ratio:.2}");
}
