//! Levels of textures as pictures.

use super::Texture;

/// A level's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelPlace {
    /// Address.
    pub address: u32,
    /// Width, height and depth in texels.
    pub size: [u32; 3],
}

impl Texture<'_> {
    /// The levels that can be sampled; none of an unknown format.
    pub fn levels(&self) -> Vec<LevelPlace> {
        let place = |level: &super::Level<'_>| LevelPlace {
            address: level.address,
            size: level.size,
        };
        self.levels.iter().map(place).collect()
    }

    /// Faces or slices of a level.
    pub fn layers(&self, level: usize) -> u32 {
        match self.levels.get(level) {
            Some(_) if self.descriptor.cube => 6,
            Some(level) => level.size[2],
            None => 0,
        }
    }

    /// A face or slice of a level as red, green, blue and alpha, rows from the top; nothing where there is none, and of
    /// sizes that the level's memory has no room for.
    pub fn picture(&self, level: usize, layer: u32) -> Option<Vec<u8>> {
        let level = self.levels.get(level)?;
        let [width, height, _] = level.size;
        if u64::from(width) * u64::from(height) > u64::from(level.length) * 2 {
            return None;
        }
        let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
        for y in 0..height {
            for x in 0..width {
                let color = self.fetch(level, x, y, layer);
                rgba.extend(color.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8));
            }
        }
        Some(rgba)
    }
}
