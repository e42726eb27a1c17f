//! One stage of a VBC for wgpu.

use crate::{Error, Result};
use std::collections::BTreeSet;
use translate::naga::{AddressSpace, GlobalVariable, Handle, ResourceBinding};
use translate::{Shader, ShaderStage, Source, Target};

/// Set of the textures in a translated VBC.
const TEXTURES: u32 = 0;

/// Set and binding of the uniform block.
pub(crate) const UNIFORM: ResourceBinding = ResourceBinding { group: 1, binding: 0 };

/// Part of a slot that a stage uses: wgpu's layouts must list exactly these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The texture of a slot.
    Texture(u32),
    /// The sampler it is sampled with.
    Sampler(u32),
}

impl Part {
    /// Its binding, which is the same in both stages.
    pub fn binding(self) -> u32 {
        match self {
            Self::Texture(slot) => 2 * slot,
            Self::Sampler(slot) => 2 * slot + 1,
        }
    }
}

/// A stage.
pub(crate) struct Stage {
    /// The module, with bindings by [`Part::binding`].
    pub shader: Shader,
    /// The parts of slots that it uses.
    pub parts: BTreeSet<Part>,
    /// Its uniform block, if it uses one.
    pub uniform: Option<Handle<GlobalVariable>>,
}

impl Stage {
    /// Reads a stage of a VBC file.
    pub fn read(bytes: &[u8], stage: ShaderStage) -> Result<Self> {
        let source = Source {
            // WGSL's layouts differ from VBC's; members are found by name.
            any_layout: true,
            y_up: true,
            ..Source::new("effect.vbc", bytes)?.stage(stage)
        };
        let mut shader = translate::read(&source)?;
        let parts = Self::place(&mut shader)?;
        let uniform = Self::used(&shader).find(|(_, variable)| variable.binding == Some(UNIFORM));
        let uniform = uniform.map(|(handle, _)| handle);
        Ok(Self { shader, parts, uniform })
    }

    /// The stage as WGSL.
    pub fn text(&self) -> Result<String> {
        let text = translate::write(&self.shader, Target::Wgsl, &translate::Options::default())?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The resources that the entry point uses.
    fn used(shader: &Shader) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable)> {
        let info = shader.info.get_entry_point(shader.entry);
        let variables = shader.module.global_variables.iter();
        variables.filter(move |(handle, variable)| variable.binding.is_some() && !info[*handle].is_empty())
    }

    /// Assigns every texture and its sampler the binding that both stages use.
    fn place(shader: &mut Shader) -> Result<BTreeSet<Part>> {
        let mut places = Vec::new();
        let pairs = &shader.info.get_entry_point(shader.entry).sampling_set;
        for (handle, variable) in Self::used(shader) {
            let Some(at) = variable.binding.filter(|at| *at != UNIFORM) else {
                continue;
            };
            let sampled = pairs.iter().find(|pair| pair.sampler == handle);
            let image = sampled.and_then(|pair| shader.module.global_variables[pair.image].binding);
            let part = match image {
                Some(image) => Part::Sampler(image.binding),
                None => Part::Texture(at.binding),
            };
            if at.group != TEXTURES || variable.space != AddressSpace::Handle {
                let message = format!("the resource at set {}, binding {}", at.group, at.binding);
                return Err(Error::Unsupported(message));
            }
            places.push((handle, part));
        }
        for (handle, part) in &places {
            let (group, binding) = (TEXTURES, part.binding());
            shader.module.global_variables[*handle].binding = Some(ResourceBinding { group, binding });
        }
        Ok(places.into_iter().map(|(_, part)| part).collect())
    }
}
