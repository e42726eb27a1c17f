//! What pipelines read and write, as the host has it.

use crate::memory::Image;
use crate::texture::aspects;
use ash::vk;
use std::fmt;
use std::sync::Arc;

/// A buffer or an image.
#[derive(Clone, Debug)]
pub enum Resource {
    /// Bytes.
    Buffer(Vec<u8>),
    /// Texels.
    Image(ImageData),
}

/// An image.
#[derive(Clone)]
pub struct ImageData {
    /// Its format.
    pub format: vk::Format,
    /// Its dimensions.
    pub dimension: vk::ImageType,
    /// Width, height, depth.
    pub size: [u32; 3],
    /// Its levels.
    pub levels: u32,
    /// Samples of each texel.
    pub samples: u32,
    /// Its texels; those of several samples are the device's.
    pub planes: Vec<Plane>,
    /// The image itself, where it cannot be copied.
    pub(super) kept: Option<Arc<Image>>,
}

/// An aspect of an image's texels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Which.
    pub aspect: vk::ImageAspectFlags,
    /// Bytes of a texel.
    pub texel: usize,
    /// Texels, x fastest, level behind level.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for ImageData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            format,
            size,
            levels,
            samples,
            ..
        } = self;
        write!(f, "{format:?} {size:?}, {levels} levels, {samples} samples")
    }
}

impl ImageData {
    /// An image of noughts; `texel` is the size of a colour's texel.
    pub fn new(
        format: vk::Format,
        dimension: vk::ImageType,
        size: [u32; 3],
        levels: u32,
        samples: u32,
        texel: usize,
    ) -> Self {
        let mut image = Self {
            format,
            dimension,
            size,
            levels,
            samples,
            planes: Vec::new(),
            kept: None,
        };
        let texels = (0..levels).map(|level| image.texels(level)).sum::<usize>();
        let texels = if samples > 1 { 0 } else { texels };
        let planes = aspects(format, texel).into_iter().map(|(aspect, texel)| Plane {
            aspect,
            texel,
            bytes: vec![0; texels * texel],
        });
        image.planes = planes.collect();
        image
    }

    /// The size of a level.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        self.size.map(|size| crate::texture::at_level(size, level))
    }

    /// How many texels a level has.
    pub fn texels(&self, level: u32) -> usize {
        self.level_size(level).into_iter().map(|size| size as usize).product()
    }
}
