//! Textures, for engines without an uploader.

use crate::context::{Context, Inner};
use crate::draw::{SamplerDesc, Texels};
use crate::error::Result;
use crate::memory::Image;
use crate::record::{Sampler, Uploads, Use, create_sampler, upload_image};
use crate::submit::{Submission, submit};
use crate::tables::TableResource;
use ash::vk;
use std::sync::{Arc, Mutex};

/// An image in device memory, and its sampler.
pub struct Texture {
    image: Image,
    sampler: Sampler,
}

impl Texture {
    /// Uploads texels through a staging buffer; the texture is ready when the submission is.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if bytes and shape do not match, and unsupported formats or sizes.
    pub fn upload(context: &Context, texels: &Texels, sampler: SamplerDesc) -> Result<Submission<Self>> {
        let inner: &Arc<Inner> = &context.inner;
        let mut uploads = Uploads::default();
        let image = upload_image(inner, "texture", texels, Use::Sampled(sampler), &mut uploads)?;
        let texture = Self {
            image,
            sampler: create_sampler(inner, sampler)?,
        };
        let staging = Arc::new(Mutex::new(None));
        let kept = staging.clone();
        let device = inner.clone();
        submit(
            inner,
            move |commands| {
                let fragment = vk::PipelineStageFlags::FRAGMENT_SHADER;
                *staging.lock().expect("just made") = Some(uploads.record(&device, commands, fragment)?);
                Ok(())
            },
            move || {
                drop(kept);
                Ok(texture)
            },
        )
    }

    /// The resource for the sampler table.
    pub fn resource(&self) -> TableResource {
        TableResource::Texture(self.image.view, self.sampler.raw())
    }
}
