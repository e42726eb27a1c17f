//! `skrymir run` of a VBC: one picture on a Vulkan device.

use super::{Failure, Outcome, RunArgs, print};
use crate::harness::{self, Drawn};
use crate::picture::Picture;
use crate::scene::Scene;
use anyhow::{Context as _, anyhow};
use std::path::{Path, PathBuf};
use vulkan::{Context, Options, PipelineCache, Validation};

/// Width and height as `WxH`.
pub fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let parts = text.split_once('x').ok_or("a size is WxH, such as 640x480")?;
    match (parts.0.parse(), parts.1.parse()) {
        (Ok(width), Ok(height)) if width > 0 && height > 0 => Ok([width, height]),
        _ => Err("a size is WxH, such as 640x480".into()),
    }
}

/// A slot to read back and the file to write it to, as `SLOT=FILE`.
pub fn parse_read(text: &str) -> Result<(u8, PathBuf), String> {
    let wrong = || "a read-back is SLOT=FILE, such as 3=out.bin".to_owned();
    let (slot, file) = text.split_once('=').ok_or_else(wrong)?;
    Ok((slot.parse().map_err(|_| wrong())?, file.into()))
}

impl From<harness::Error> for Failure {
    fn from(error: harness::Error) -> Self {
        if error.is_file() {
            Self::Bad(error.into())
        } else {
            Self::Trouble(error.into())
        }
    }
}

/// Draws a VBC as the arguments say and writes its picture and read-backs.
pub fn run(bytes: &[u8], args: &RunArgs) -> Outcome {
    let scene = scene(args)?;
    let context = open(args)?;
    let cache = cache(&context, args)?;
    let slots: Vec<u8> = args.read.iter().map(|(slot, _)| *slot).collect();
    let drawn = harness::draw(&context, bytes, &scene, args.bind.into(), &slots, cache.as_ref())?;
    if let Some(cache) = &cache
        && let Err(error) = cache.save()
    {
        eprintln!("skrymir: the pipeline cache could not be written: {error}");
    }
    for note in drawn
        .notes
        .iter()
        .map(String::as_str)
        .chain(cache.as_ref().and_then(PipelineCache::note))
    {
        eprintln!("{note}");
    }
    for (slot, path) in &args.read {
        super::write(path, &drawn.frame.slots[slot])?;
    }
    write_pictures(&drawn, args)?;
    if args.timing {
        let t = &drawn.timing;
        let parts = [
            ("load", t.load),
            ("program", t.program),
            ("scene", t.scene),
            ("draw and read-back", t.draw),
        ];
        let parts = parts.map(|(what, time)| format!("{what} {:.3} ms", time.as_secs_f64() * 1e3));
        print(&format!("{}\n", parts.join(", ")))?;
    }
    complain(&context)
}

/// Opens the device the arguments name.
pub fn open(args: &RunArgs) -> Outcome<Context> {
    let validation = if args.validation {
        Validation::Core
    } else {
        Validation::Off
    };
    let options = Options {
        device: args.device.clone(),
        validation,
        ..Options::default()
    };
    Context::new(&options).map_err(|error| harness::Error::from(error).into())
}

fn scene(args: &RunArgs) -> Outcome<Scene> {
    let mut scene = Scene::default();
    if let Some(path) = &args.scene {
        let text = String::from_utf8(super::read(path)?).with_context(|| format!("{} is not text", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        scene = Scene::parse(&text, folder).with_context(|| path.display().to_string())?;
    }
    scene.size = args.size.or(scene.size);
    scene.vertices = args.vertices.or(scene.vertices);
    Ok(scene)
}

fn cache(context: &Context, args: &RunArgs) -> Outcome<Option<PipelineCache>> {
    let folder = args.cache.clone().or_else(PipelineCache::user_folder);
    let Some(folder) = folder.filter(|_| !args.no_cache) else {
        return Ok(None);
    };
    PipelineCache::open(context, &folder)
        .map(Some)
        .map_err(|error| harness::Error::from(error).into())
}

/// The first target goes to the output, further ones beside it with their location in the name.
fn write_pictures(drawn: &Drawn, args: &RunArgs) -> Outcome {
    let Some(output) = &args.output else {
        return Err(anyhow!("a VBC gives a picture: name it with -o out.png").into());
    };
    for (index, target) in drawn.frame.targets.iter().enumerate() {
        let path = if index == 0 {
            output.clone()
        } else {
            beside(output, target.location)
        };
        Picture::of(target).save(&path)?;
        let [width, height] = target.size;
        print(&format!(
            "{}: {width}x{height}, output {}\n",
            path.display(),
            target.location
        ))?;
    }
    Ok(())
}

fn beside(path: &Path, location: u8) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path
        .extension()
        .map_or("png".into(), |extension| extension.to_string_lossy());
    path.with_file_name(format!("{stem}.{location}.{extension}"))
}

/// Any validation message is trouble: the harness is to be clean.
fn complain(context: &Context) -> Outcome {
    let messages = context.messages();
    if messages.is_empty() {
        return Ok(());
    }
    Err(anyhow!("the validation layer says:\n{}", messages.join("\n")).into())
}
