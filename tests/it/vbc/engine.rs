//! The library inside an engine: its own device, tables bound once, pipelines from several threads.

use super::canvas;
use crate::common;

use ash::vk;
use canvas::{Canvas, FORMAT};
use skrymir::picture::Picture;
use std::process::Command;
use vulkan::{
    Binder, Dim, Draw, GraphicsPipeline, PipelineCache, Program, SamplerDesc, TableResource, Tables, Target,
    TexelFormat, Texels, Texture,
};

/// The layer's settings: every message, on standard output.
const SETTINGS: &str = "khronos_validation.report_flags = error,warn,perf\n\
                        khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
                        khronos_validation.log_filename = stdout\n\
                        khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,\
                        VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT\n";

const FORMATS: Target<'static> = Target::Formats {
    colors: &[FORMAT],
    depth: vk::Format::UNDEFINED,
};

fn shader(name: &str) -> Vec<u8> {
    std::fs::read(common::data(&format!("vbc/{name}.vbc"))).unwrap()
}

fn texture(color: [u8; 4]) -> Texture {
    let texels = Texels {
        dim: Dim::D2,
        format: TexelFormat::RGBA8,
        extent: [1, 1, 1],
        layers: 1,
        levels: 1,
        bytes: color.to_vec(),
    };
    pollster::block_on(Texture::upload(common::context(), &texels, SamplerDesc::default()).unwrap()).unwrap()
}

/// The example runs on its own device; each triangle has its texture's colour.
#[test]
fn the_example_draws_every_object_with_its_texture() {
    let example = std::env::current_exe().unwrap();
    let example = example
        .parent()
        .and_then(|deps| deps.parent())
        .unwrap()
        .join("examples/engine");
    if !example.is_file() {
        println!("{} is not built; a whole `cargo test` builds it", example.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (out, settings) = (
        folder.path().join("engine.png"),
        folder.path().join("vk_layer_settings.txt"),
    );
    std::fs::write(&settings, SETTINGS).unwrap();
    let run = Command::new(example)
        .arg(&out)
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation")
        .env("VK_LAYER_SETTINGS_PATH", &settings)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    assert!(
        run.status.success()
            && !["VUID", "Validation", "UNASSIGNED"]
                .iter()
                .any(|word| said.contains(word)),
        "{said}"
    );
    let picture = Picture::load(&out).unwrap();
    let color = |object: usize| {
        let hue = (object % 64) as f32 / 64.0 * std::f32::consts::TAU;
        [0.0, 2.1, 4.2].map(|turn| (((hue + turn).sin() * 0.5 + 0.5) * 255.0) as u8)
    };
    let wrong = |shift: usize| {
        let cell = |object: usize| picture.at((object % 16) as u32 * 32 + 16, (object / 16) as u32 * 32 + 20);
        let off = |object: &usize| cell(*object)[..3] != color(object + shift);
        (0..256).filter(off).count()
    };
    assert_eq!(wrong(0), 0, "triangles of a wrong colour");
    assert!(wrong(1) > 200, "the negative control passes");
}

#[test]
fn pipelines_are_created_on_several_threads() {
    let context = common::context();
    let tables = Tables::new(context).unwrap();
    let cache = PipelineCache::in_memory(context).unwrap();
    let made: usize = std::thread::scope(|scope| {
        let make = |name: &'static str| {
            let (tables, cache) = (&tables, &cache);
            scope.spawn(move || {
                let bytes = shader(name);
                let vbc = loader::vbc::read(&bytes).unwrap();
                let program = Program::for_tables(context, &vbc, tables, &|_| Ok(())).unwrap();
                let state = Draw::default().state();
                let made: Vec<_> = (0..4)
                    .map(|_| GraphicsPipeline::new(&program, &state, &FORMATS, Some(cache)).unwrap())
                    .collect();
                made.len()
            })
        };
        let names = [
            "fullscreen",
            "triangle",
            "two_samplers",
            "ro_buffer",
            "uniform_members",
            "storage_image",
        ];
        let threads: Vec<_> = names.map(make).into_iter().collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(made, 24);
    assert_eq!(context.messages(), [""; 0], "validation messages");
}

#[test]
fn tables_fill_pages_and_give_places_back() {
    let context = common::context();
    let mut tables = Tables::new(context).unwrap();
    let texture = texture([255; 4]);
    let size = usize::from(tables.sizes().samplers);
    if tables.is_bindless() {
        assert_eq!(size, 8192);
        return;
    }
    let handles: Vec<_> = (0..size + 3)
        .map(|_| tables.insert(texture.resource()).unwrap())
        .collect();
    assert_eq!((handles[size - 1].page(), handles[size].page()), (0, 1));
    tables.remove(handles[4]);
    assert_eq!(tables.insert(texture.resource()).unwrap(), handles[4]);
    assert!(
        tables
            .replace(handles[4], TableResource::Buffer(vk::Buffer::null()))
            .is_err(),
        "another kind"
    );

    // Resources of one draw must be on one page.
    let bytes = shader("two_samplers");
    let program = Program::for_tables(context, &loader::vbc::read(&bytes).unwrap(), &tables, &|_| Ok(())).unwrap();
    let pipeline = GraphicsPipeline::new(&program, &Draw::default().state(), &FORMATS, None).unwrap();
    let canvas = Canvas::new(context, 16, &[0; 24]);
    canvas.frame(|commands| {
        let mut binder = Binder::default();
        // SAFETY: the command buffer is recording.
        unsafe {
            context
                .device()
                .cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline.raw());
            let apart = [(0, handles[0]), (5, handles[size])];
            assert!(binder.bind(commands, &program, &tables, &apart).is_err());
            binder
                .bind(commands, &program, &tables, &[(0, handles[0]), (5, handles[7])])
                .unwrap();
            context.device().cmd_draw(commands, 3, 1, 0, 0);
        }
    });
    assert_eq!(context.messages(), [""; 0], "validation messages");
}

#[test]
fn a_render_pass_of_the_caller_works() {
    let context = common::context();
    let device = context.device();
    let attachment = [vk::AttachmentDescription::default()
        .format(FORMAT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .final_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)];
    let color = [vk::AttachmentReference {
        attachment: 0,
        layout: vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
    }];
    let subpass = [vk::SubpassDescription::default().color_attachments(&color)];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachment)
        .subpasses(&subpass);
    // SAFETY: plain creation, destroyed below.
    let pass = unsafe { device.create_render_pass(&info, None) }.unwrap();
    let bytes = shader("triangle");
    let program = Program::new(context, &loader::vbc::read(&bytes).unwrap(), vulkan::BindMode::Auto).unwrap();
    let target = Target::Pass {
        pass,
        subpass: 0,
        colors: 1,
    };
    let pipeline = GraphicsPipeline::new(&program, &Draw::default().state(), &target, None).unwrap();
    drop(pipeline);
    // SAFETY: the pipeline is gone.
    unsafe { device.destroy_render_pass(pass, None) };
    assert_eq!(context.messages(), [""; 0], "validation messages");
}
