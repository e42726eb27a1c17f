//! Hot reload: redraws when the file or its scene changes, and keeps the last valid pipeline if a change is invalid.

use crate::error::Error;
use crate::harness::{self, Drawn, Loaded, Settings};
use crate::model::Scene;
use std::path::{Path, PathBuf};
use vulkan::{Context, PipelineCache};

/// The result of a poll.
#[derive(Debug)]
pub enum Event {
    /// Nothing has changed.
    Same,
    /// The file or the scene changed; the new picture.
    Drawn(Box<Drawn>),
    /// An invalid change, and why; the last valid state is kept.
    Kept(String),
}

/// Watches a VBC file and its scene file, if any, by their contents.
pub struct Watcher<'a> {
    context: &'a Context,
    settings: Settings,
    cache: Option<&'a PipelineCache>,
    file: PathBuf,
    scene_file: Option<PathBuf>,
    /// Applied to the scene file: command-line options.
    adjust: Box<dyn Fn(Scene) -> Scene + 'a>,
    seen: Option<(Vec<u8>, Vec<u8>)>,
    good: Option<Loaded>,
}

impl<'a> Watcher<'a> {
    /// A new watcher: its first poll loads and draws.
    pub fn new(
        context: &'a Context,
        file: &Path,
        scene_file: Option<&Path>,
        settings: Settings,
        cache: Option<&'a PipelineCache>,
        adjust: impl Fn(Scene) -> Scene + 'a,
    ) -> Self {
        Self {
            context,
            settings,
            cache,
            file: file.to_owned(),
            scene_file: scene_file.map(Path::to_owned),
            adjust: Box::new(adjust),
            seen: None,
            good: None,
        }
    }

    /// Polls the files once.
    pub fn look(&mut self) -> Event {
        let (Ok(bytes), Ok(scene)) = (std::fs::read(&self.file), self.read_scene()) else {
            // The file is being replaced: the next poll reads it completely.
            return Event::Same;
        };
        let now = (bytes, scene);
        if self.seen.as_ref() == Some(&now) {
            return Event::Same;
        }
        let file_changed = self.seen.as_ref().is_none_or(|seen| seen.0 != now.0);
        let mut complaint = None;
        if file_changed {
            match harness::load(self.context, &now.0, self.settings) {
                Ok(loaded) => self.good = Some(loaded),
                Err(error) => complaint = Some(format!("{}: {error}", self.file.display())),
            }
        }
        let scene_text = now.1.clone();
        self.seen = Some(now);
        match complaint {
            Some(complaint) => Event::Kept(complaint),
            None => self.draw(&scene_text),
        }
    }

    fn read_scene(&self) -> std::io::Result<Vec<u8>> {
        self.scene_file.as_ref().map_or(Ok(Vec::new()), std::fs::read)
    }

    fn draw(&self, scene: &[u8]) -> Event {
        let Some(good) = &self.good else {
            return Event::Kept("no valid file has been loaded yet".into());
        };
        let folder = self
            .scene_file
            .as_deref()
            .and_then(Path::parent)
            .unwrap_or(Path::new(""));
        let drawn = std::str::from_utf8(scene)
            .map_err(Error::scene)
            .and_then(|text| Scene::parse(text, folder))
            .and_then(|scene| good.draw(&(self.adjust)(scene), &[], self.cache));
        match drawn {
            Ok(drawn) => Event::Drawn(Box::new(drawn)),
            Err(error) => Event::Kept(error.to_string()),
        }
    }
}
