//! Writes a module in another language, as text or words.

use crate::error::chain;
use crate::guard::{deep, guarded};
use crate::marks;
use crate::{Error, ErrorKind, Result, Shader, Target};
use naga::ShaderStage;
use std::collections::HashSet;

/// Options of the target language.
#[derive(Clone, Debug)]
pub struct Options {
    /// The GLSL version [default: 4.50 for naga; for SPIRV-Cross the oldest of a list that works, as below].
    pub glsl: Option<naga::back::glsl::Version>,
    /// The HLSL shader model [default: 5.1 for naga].
    pub hlsl: Option<naga::back::hlsl::ShaderModel>,
    /// The MSL version [default: 1.0 for naga].
    pub msl: Option<(u8, u8)>,
    /// Whether GLSL is for Vulkan, version 4.60: with the module's sets, separate samplers and push constants.
    pub vulkan: bool,
    /// Adjustments by [`translate`](crate::translate).
    pub adjust: crate::Adjust,
    /// Whether [`translate`](crate::translate) checks the text with a checker of its language.
    pub check: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            glsl: None,
            hlsl: None,
            msl: None,
            vulkan: false,
            adjust: crate::Adjust::default(),
            check: true,
        }
    }
}

impl Options {
    pub(crate) fn glsl_or_default(&self) -> naga::back::glsl::Version {
        self.glsl.unwrap_or(naga::back::glsl::Version::Desktop(450))
    }

    pub(crate) fn hlsl_or_default(&self) -> naga::back::hlsl::ShaderModel {
        self.hlsl.unwrap_or(naga::back::hlsl::Options::default().shader_model)
    }

    pub(crate) fn msl_or_default(&self) -> (u8, u8) {
        self.msl.unwrap_or(naga::back::msl::Options::default().lang_version)
    }
}

/// Writes a shader in another language with naga: text, or little-endian words for [`Target::Spirv`].
/// [`translate`](crate::translate) has other writers and checks the result.
///
/// WGSL, MSL and HLSL contain all entry points of the module, GLSL and SPIR-V only the selected one. WGSL is parsed and
/// validated again before it is returned: the language has one layout per type, and naga also writes types whose layout
/// in the module differs.
///
/// # Errors
/// [`ErrorKind::Write`] with naga's message if the language cannot express the shader.
pub fn write(shader: &Shader, target: Target, options: &Options) -> Result<Vec<u8>> {
    Ok(naga_text(shader, target, options)?.0)
}

/// [`write`], with the name of the entry point in the text.
pub(crate) fn naga_text(shader: &Shader, target: Target, options: &Options) -> Result<(Vec<u8>, String)> {
    // Only WGSL has pipeline-overridable constants.
    let fixed = match target {
        Target::Wgsl => None,
        _ if shader.module.overrides.is_empty() => None,
        _ => Some(shader.clone().fixed(&[])?),
    };
    let shader = fixed.as_ref().unwrap_or(shader);
    deep("naga", || {
        let written = guarded("at writing a shader", || match target {
            Target::Wgsl => named(shader, wgsl(shader)?),
            Target::Glsl => Ok((glsl(shader, options)?, "main".to_owned())),
            Target::Msl => named(shader, msl(shader, options)?),
            Target::Hlsl => hlsl(shader, options),
            Target::Spirv => named(shader, spirv(shader)?),
        })?;
        if target == Target::Wgsl {
            reads_again(&shader.module, &written.0)?;
        }
        Ok(written)
    })
}

/// The text, with the entry point's own name.
fn named(shader: &Shader, written: Vec<u8>) -> Result<(Vec<u8>, String)> {
    Ok((written, shader.entry_point().name.clone()))
}

/// Makes an error of a writer.
fn refuses(target: Target) -> impl Fn(&dyn std::error::Error) -> Error {
    move |error| {
        let message = format!("naga: {}", chain(error));
        ErrorKind::Write { target, message }.into()
    }
}

fn wgsl(shader: &Shader) -> Result<Vec<u8>> {
    use naga::back::wgsl::{WriterFlags, write_string};
    let text = write_string(&shader.module, &shader.info, WriterFlags::empty());
    let text = text.map_err(|error| refuses(Target::Wgsl)(&error))?;
    // naga omits a predicate that is true; WGSL requires it.
    Ok(text.replace("subgroupBallot()", "subgroupBallot(true)").into_bytes())
}

fn reads_again(written: &naga::Module, text: &[u8]) -> Result<()> {
    let text = String::from_utf8_lossy(text);
    let refused = |why: String| -> Error {
        let message = format!("the generated text is not valid WGSL: {why}");
        let target = Target::Wgsl;
        ErrorKind::Write { target, message }.into()
    };
    let parsed = guarded("at reading WGSL again", || Ok(naga::front::wgsl::parse_str(&text)))?;
    let module = parsed.map_err(|error| refused(error.message().to_owned()))?;
    crate::validated(&module).map_err(|error| match error.kind() {
        ErrorKind::Module { message, .. } => refused(message.clone()),
        _ => error,
    })?;
    same_layouts(written, &module)
}

/// WGSL has one layout per type, and naga also writes types whose layout in the module differs: after reading the text
/// back, members and elements must have the module's offsets.
fn same_layouts(written: &naga::Module, read: &naga::Module) -> Result<()> {
    use naga::AddressSpace;
    let mut seen = HashSet::new();
    for (_, global) in written.global_variables.iter() {
        if !matches!(global.space, AddressSpace::Uniform | AddressSpace::Storage { .. }) {
            continue;
        }
        let same = |other: &&naga::GlobalVariable| other.binding.is_some() && other.binding == global.binding;
        let Some(other) = read.global_variables.iter().map(|(_, other)| other).find(same) else {
            continue;
        };
        let mut left = vec![(global.ty, other.ty)];
        while let Some((was, is)) = left.pop() {
            if !seen.insert((was, is)) {
                continue;
            }
            if let Some(why) = moved(&written.types[was].inner, &read.types[is].inner, &mut left) {
                let name = global.name.as_deref().unwrap_or("a buffer");
                let message = format!("{name}: {why}, which WGSL cannot express");
                let target = Target::Wgsl;
                return Err(ErrorKind::Write { target, message }.into());
            }
        }
    }
    Ok(())
}

/// The first difference in a type's layout after reading it back; nested types are pushed to `left`.
fn moved(
    was: &naga::TypeInner,
    is: &naga::TypeInner,
    left: &mut Vec<(naga::Handle<naga::Type>, naga::Handle<naga::Type>)>,
) -> Option<String> {
    use naga::TypeInner;
    match (was, is) {
        (TypeInner::Struct { members: was, .. }, TypeInner::Struct { members: is, .. }) => {
            for (was, is) in was.iter().zip(is) {
                if was.offset != is.offset {
                    let name = was.name.as_deref().unwrap_or("a member");
                    return Some(format!("{name} is at byte {}, not at {}", was.offset, is.offset));
                }
                left.push((was.ty, is.ty));
            }
        }
        (
            TypeInner::Array { base: was, stride, .. },
            TypeInner::Array {
                base: is,
                stride: other,
                ..
            },
        ) => {
            if stride != other {
                return Some(format!("elements lie {stride} bytes apart, not {other}"));
            }
            left.push((*was, *is));
        }
        (TypeInner::BindingArray { base: was, .. }, TypeInner::BindingArray { base: is, .. }) => left.push((*was, *is)),
        _ => {}
    }
    None
}

/// MSL packs an array's elements, and naga drops a stride that is wider than the element.
fn msl_strides(module: &naga::Module) -> Result<()> {
    use naga::{AddressSpace, TypeInner};
    let failed = |message: String| -> Error {
        let target = Target::Msl;
        ErrorKind::Write { target, message }.into()
    };
    let mut layouts = naga::proc::Layouter::default();
    let updated = layouts.update(module.to_ctx());
    updated.map_err(|error| failed(chain(&error)))?;
    let shared = module.global_variables.iter().filter(|(_, global)| {
        let space = global.space;
        matches!(space, AddressSpace::Uniform | AddressSpace::Storage { .. })
    });
    let mut left: Vec<_> = shared.map(|(_, global)| global.ty).collect();
    let mut seen = HashSet::new();
    while let Some(handle) = left.pop() {
        if !seen.insert(handle) {
            continue;
        }
        match &module.types[handle].inner {
            TypeInner::Struct { members, .. } => left.extend(members.iter().map(|member| member.ty)),
            TypeInner::BindingArray { base, .. } => left.push(*base),
            TypeInner::Array { base, stride, .. } => {
                let natural = layouts[*base].to_stride();
                if *stride != natural {
                    let message = format!("an array's elements lie {stride} bytes apart; MSL has them {natural} apart");
                    return Err(failed(message));
                }
                left.push(*base);
            }
            _ => {}
        }
    }
    Ok(())
}

fn msl(shader: &Shader, options: &Options) -> Result<Vec<u8>> {
    use naga::back::msl;
    msl_strides(&shader.module)?;
    let options = msl::Options {
        fake_missing_bindings: true,
        lang_version: options.msl_or_default(),
        ..msl::Options::default()
    };
    let written = msl::write_string(&shader.module, &shader.info, &options, &msl::PipelineOptions::default());
    Ok(written.map_err(|error| refuses(Target::Msl)(&error))?.0.into_bytes())
}

fn hlsl(shader: &Shader, options: &Options) -> Result<(Vec<u8>, String)> {
    use naga::back::hlsl;
    let mut out = String::new();
    let options = hlsl::Options {
        shader_model: options.hlsl_or_default(),
        ..hlsl::Options::default()
    };
    let pipeline = hlsl::PipelineOptions::default();
    let written = hlsl::Writer::new(&mut out, &options, &pipeline).write(&shader.module, &shader.info, None);
    let reflection = written.map_err(|error| refuses(Target::Hlsl)(&error))?;
    let name = match reflection.entry_point_names.get(shader.entry) {
        Some(Ok(name)) => name.clone(),
        Some(Err(error)) => return Err(refuses(Target::Hlsl)(error)),
        None => shader.entry_point().name.clone(),
    };
    Ok((out.into_bytes(), name))
}

fn glsl(shader: &Shader, options: &Options) -> Result<Vec<u8>> {
    use naga::back::glsl;
    let mut out = String::new();
    let entry = shader.entry_point();
    let pipeline = glsl::PipelineOptions {
        shader_stage: entry.stage,
        entry_point: entry.name.clone(),
        multiview: None,
    };
    let options = glsl::Options {
        version: options.glsl_or_default(),
        binding_map: glsl_bindings(&shader.module),
        ..glsl::Options::default()
    };
    let policies = naga::proc::BoundsCheckPolicies::default();
    let reflection = glsl::Writer::new(&mut out, &shader.module, &shader.info, &options, &pipeline, policies)
        .and_then(|mut writer| writer.write())
        .map_err(|error| refuses(Target::Glsl)(&error))?;
    let places = glsl_places(&shader.module, &reflection);
    // The version must remain the first line.
    let line = out.find('\n').map_or(out.len(), |at| at + 1);
    out.insert_str(line, &places);
    Ok(out.into_bytes())
}

/// OpenGL has no descriptor sets: every resource keeps its binding, unless another of its kind in a different set uses
/// it; then it gets the next free one.
fn glsl_bindings(module: &naga::Module) -> naga::back::glsl::BindingMap {
    let mut taken: HashSet<(u8, u8)> = HashSet::new();
    let mut all: Vec<_> = module.global_variables.iter().map(|(_, global)| global).collect();
    all.sort_by_key(|global| global.binding);
    let mut map = naga::back::glsl::BindingMap::default();
    for global in all {
        let Some(binding) = global.binding else { continue };
        // Each kind is numbered separately.
        let kind = match (global.space, &module.types[global.ty].inner) {
            (naga::AddressSpace::Uniform, _) => 0,
            (naga::AddressSpace::Storage { .. }, _) => 1,
            (
                _,
                naga::TypeInner::Image {
                    class: naga::ImageClass::Storage { .. },
                    ..
                },
            ) => 2,
            (_, naga::TypeInner::Sampler { .. }) => 3,
            _ => 4,
        };
        let wanted = u8::try_from(binding.binding).unwrap_or(0);
        let free = (wanted..=u8::MAX)
            .chain(0..wanted)
            .find(|number| taken.insert((kind, *number)));
        if let Some(number) = free {
            map.insert(binding, number);
        }
    }
    map
}

/// A comment for each resource: the set and binding of its name in the text.
fn glsl_places(module: &naga::Module, reflection: &naga::back::glsl::ReflectionInfo) -> String {
    let place = |handle: naga::Handle<naga::GlobalVariable>| {
        let binding = module.global_variables[handle].binding?;
        Some((binding, format!("set {}, binding {}", binding.group, binding.binding)))
    };
    let mut lines = Vec::new();
    for (handle, name) in &reflection.uniforms {
        lines.extend(place(*handle).map(|(key, place)| (key, format!("// {name}: {place}\n"))));
    }
    for (name, parts) in &reflection.texture_mapping {
        let sampler = parts.sampler.and_then(place);
        let sampler = sampler.map_or(String::new(), |(_, place)| format!("; sampler: {place}"));
        lines.extend(place(parts.texture).map(|(key, place)| (key, format!("// {name}: {place}{sampler}\n"))));
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

fn spirv(shader: &Shader) -> Result<Vec<u8>> {
    let (stage, name) = (shader.stage(), shader.entry_point().name.clone());
    let words = spirv_words(&shader.module, &shader.info, stage, name)?;
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn spirv_words(
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    shader_stage: ShaderStage,
    entry_point: String,
) -> Result<Vec<u32>> {
    use naga::back::spv;
    let options = spv::Options {
        lang_version: (1, 5),
        // Vulkan's clip space is kept; names are those of the source.
        flags: spv::WriterFlags::DEBUG,
        ..Default::default()
    };
    let pipeline = spv::PipelineOptions {
        shader_stage,
        entry_point,
    };
    let words = spv::write_vec(module, info, &options, Some(&pipeline));
    marks::finish(words.map_err(|error| refuses(Target::Spirv)(&error))?)
}

/// SPIR-V 1.5 of a module's only entry point of a stage, named `main` as in VBC.
///
/// # Errors
/// Those of naga's validator and writer.
pub fn to_spirv(mut module: naga::Module, stage: ShaderStage) -> Result<Vec<u32>> {
    module.entry_points.retain(|entry| entry.stage == stage);
    let [entry] = &mut module.entry_points[..] else {
        let count = module.entry_points.len();
        let message = format!("{count} entry points of stage {stage:?}; expected one");
        return Err(ErrorKind::Entry(message).into());
    };
    entry.name = "main".into();
    deep("naga", || {
        let info = crate::validated(&module)?;
        guarded("at writing SPIR-V", || {
            spirv_words(&module, &info, stage, "main".into())
        })
    })
}
