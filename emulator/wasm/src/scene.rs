//! A scene that is changed while it is drawn.

use crate::refusal::Refusal;
use scene::picture::Picture;
use scene::{Numbers, Slot};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a scene file is called in errors.
const NAME: &str = "scene.toml";

/// A scene file, with uniforms and textures that are set beside it.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    pub(crate) scene: scene::Scene,
}

impl Scene {
    /// Reads TOML or JSON, as `--scene` takes it.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn new(text: &str) -> Result<Self, Refusal> {
        let scene = scene::Scene::parse(text, Path::new(""));
        let scene = scene.map_err(|error| Refusal::about(error, [NAME]))?;
        Ok(Self { scene })
    }

    /// The picture's size in pixels.
    pub fn set_size(&mut self, size: [u32; 2]) {
        self.scene.size = Some(size);
    }

    /// The numbers that a uniform has here, if any.
    pub fn uniform(&self, name: &str) -> Option<Vec<f64>> {
        self.scene.uniform.get(name).map(Numbers::flat)
    }

    /// The numbers of a uniform, in place of those that the scene has.
    pub fn set_uniform(&mut self, name: &str, values: &[f64]) {
        let numbers = values.iter().copied().map(Numbers::One).collect();
        self.scene.uniform.insert(name.to_owned(), Numbers::Many(numbers));
    }

    /// A picture (PNG) for a texture; its filter and its edges stay what the scene says.
    ///
    /// # Errors
    /// When it is no PNG.
    pub fn set_texture(&mut self, slot: &str, png: &[u8]) -> Result<(), Refusal> {
        let path = PathBuf::from(format!("{slot}.png"));
        self.add_picture(&path, png)?;
        let had = self.scene.slots.remove(slot).unwrap_or_default();
        let filled = Slot {
            image: Some(path),
            fill: None,
            texels: None,
            size: None,
            layers: None,
            levels: None,
            format: None,
            floats: None,
            ints: None,
            uints: None,
            at: 0,
            ..had
        };
        self.scene.slots.insert(slot.to_owned(), filled);
        Ok(())
    }

    /// A picture (PNG) that the scene's `image` keys can name.
    ///
    /// # Errors
    /// When it is no PNG.
    pub fn add_picture(&mut self, name: &Path, png: &[u8]) -> Result<(), Refusal> {
        let picture = Picture::from_png(Cursor::new(png))
            .map_err(|error| Refusal::about(format_args!("{}: {error}", name.display()), []))?;
        self.scene.pictures.insert(name.to_owned(), Arc::new(picture));
        Ok(())
    }
}
