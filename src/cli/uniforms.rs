//! Uniforms on the command line, for `run` and `draw`: values by name, the time, and a sequence of pictures.

use crate::cli::error::{Error, Result};
use clap::Args;
use scene::interface::Interface;
use scene::{Numbers, Scene, apply};
use std::path::{Path, PathBuf};

/// Uniforms by name, the time, and a sequence of pictures.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct UniformArgs {
    /// Set a uniform by its name, instead of the scene's value: its numbers, as in tint=1,0.5,0,1
    #[arg(long = "set", value_name = "NAME=NUMBERS", value_parser = parse_uniform)]
    pub values: Vec<(String, Numbers)>,
    /// Set the uniform that holds the time in seconds: a float named time, u_time, uTime, iTime, iGlobalTime or Time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, conflicts_with = "watch")]
    pub time: Option<f64>,
    /// Draw this number of pictures, from --time on: out.png becomes out00000.png and so on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "output",
        conflicts_with_all = ["watch", "expect", "json"], group = "sequence")]
    pub frames: Option<u32>,
    /// Pictures per second of time
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 60,
        requires = "sequence")]
    pub rate: u32,
    /// Show the picture on a local page: its time runs, and it is drawn again whenever a file changes; the address is printed
    #[arg(long, conflicts_with_all = ["output", "watch", "expect", "json"], group = "sequence")]
    pub view: bool,
}

impl UniformArgs {
    /// The scene with the values.
    pub(crate) fn values(&self, mut scene: Scene) -> Scene {
        scene.uniform.extend(self.values.iter().cloned());
        scene
    }

    /// The time of each picture, and its file.
    ///
    /// # Errors
    /// When a sequence has no file.
    pub(crate) fn pictures(&self, output: Option<&Path>) -> Result<Vec<(Option<f64>, Option<PathBuf>)>> {
        let Some(frames) = self.frames else {
            return Ok(vec![(self.time, output.map(Path::to_owned))]);
        };
        let output = output.filter(|output| *output != Path::new("-"));
        let output = output.ok_or_else(|| Error::usage("--frames writes several files: standard output is one"))?;
        let first = self.time.unwrap_or(0.0);
        let one = |number: u32| {
            let seconds = first + f64::from(number) / f64::from(self.rate);
            (Some(seconds), Some(numbered(output, number)))
        };
        Ok((0..frames).map(one).collect())
    }
}

/// The scene at a time.
///
/// # Errors
/// When the shader has no uniform for the time.
pub(crate) fn at(interface: &Interface, scene: &Scene, seconds: Option<f64>) -> Result<Scene> {
    let mut scene = scene.clone();
    if let Some(seconds) = seconds {
        apply::set_time(interface, &mut scene, seconds)?;
    }
    Ok(scene)
}

/// The file of a picture in a sequence.
fn numbered(output: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(output.file_stem()), output.extension());
    let extension = extension.map_or("png".to_owned(), |_| part(extension));
    output.with_file_name(format!("{stem}{number:05}.{extension}"))
}

/// A uniform's name and numbers.
fn parse_uniform(text: &str) -> Result<(String, Numbers), String> {
    let wrong = || "it is NAME=NUMBERS, such as tint=1,0.5,0,1".to_owned();
    let (name, numbers) = text.split_once('=').ok_or_else(wrong)?;
    let numbers = numbers.split(',').map(|number| number.trim().parse().map(Numbers::One));
    let numbers = numbers.collect::<Result<_, _>>().map_err(|_| wrong())?;
    match name.is_empty() {
        true => Err(wrong()),
        false => Ok((name.to_owned(), Numbers::Many(numbers))),
    }
}

/// A time in seconds.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| seconds.is_finite());
    seconds.ok_or_else(|| "a time is a number of seconds, such as 1.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniforms_and_files_are_parsed() {
        let (name, numbers) = parse_uniform("tint=1, 0.5,0,-1e2").unwrap();
        assert_eq!((name.as_str(), numbers.flat()), ("tint", vec![1.0, 0.5, 0.0, -100.0]));
        for text in ["tint", "=1", "tint=", "tint=1,,2", "tint=red"] {
            assert!(parse_uniform(text).is_err(), "{text}");
        }
        assert_eq!(numbered(Path::new("a/out.png"), 7), Path::new("a/out00007.png"));
        assert_eq!(numbered(Path::new("out"), 12), Path::new("out00012.png"));
    }
}
