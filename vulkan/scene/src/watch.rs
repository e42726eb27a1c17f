//! Hot reload: draws again when the file or its scene changes, and keeps the last good pipeline when a change is bad.

use crate::error::Error;
use crate::harness::{self, Drawn, Loaded, Settings};
use crate::model::Scene;
use std::path::{Path, PathBuf};
use vulkan::{Context, PipelineCache};

/// What one look at the files gave.
#[derive(Debug)]
pub enum Event {
    /// Nothing has changed.
    Same,
    /// The file or the scene changed, and this is the new picture.
    Drawn(Box<Drawn>),
    /// A change could not be used, and why; what was good before stays.
    Kept(String),
}

/// Watches a VBC file and, if there is one, its scene file, by their contents.
pub struct Watcher<'a> {
    context: &'a Context,
    settings: Settings,
    cache: Option<&'a PipelineCache>,
    file: PathBuf,
    scene_file: Option<PathBuf>,
    /// Laid over the scene file: what the command line says.
    adjust: Box<dyn Fn(Scene) -> Scene + 'a>,
    seen: Option<(Vec<u8>, Vec<u8>)>,
    good: Option<Loaded>,
}

impl<'a> Watcher<'a> {
    /// A watcher that has seen nothing yet: its first look loads and draws.
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

    /// Looks at the files once.
    pub fn look(&mut self) -> Event {
        let (Ok(bytes), Ok(scene)) = (std::fs::read(&self.file), self.read_scene()) else {
            // In the middle of being replaced: the next look will see it whole.
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
            return Event::Kept("nothing good has been loaded yet".into());
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
