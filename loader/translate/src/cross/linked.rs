//! Calls of SPIRV-Cross.

use super::{Dialect, Entry, refusal};
use crate::front::is_word;
use crate::guard::{deep, guarded};
use crate::place::{At, Place};
use crate::{Result, Target};
use naga::back::{glsl, hlsl};
use spirv_cross2::compile::CompilableTarget;
use spirv_cross2::compile::glsl::GlslVersion;
use spirv_cross2::compile::hlsl::HlslShaderModel;
use spirv_cross2::compile::msl::MslVersion;
use spirv_cross2::handle::{Handle, VariableId};
use spirv_cross2::reflect::{AllResources, DecorationValue, Resource};
use spirv_cross2::spirv::{Decoration, ExecutionModel};
use spirv_cross2::{Compiler, Module, SpirvCrossError, targets};
use std::collections::HashSet;

pub(super) const AVAILABLE: bool = true;

type Answer<T> = std::result::Result<T, SpirvCrossError>;

pub(super) fn write(words: &[u32], entry: &Entry, dialect: Dialect) -> Result<(String, Vec<Place>)> {
    deep("SPIRV-Cross", || {
        guarded("at writing a shader by SPIRV-Cross", || {
            let written = match dialect {
                Dialect::Glsl(version) => glsl(words, entry, version),
                Dialect::VulkanGlsl => vulkan_glsl(words, entry),
                Dialect::Hlsl(model) => hlsl(words, entry, model),
                Dialect::Msl(version) => msl(words, entry, version),
            };
            written.map_err(|error| refusal(dialect.target(), cross_error(dialect.target(), &error)))
        })
    })
}

/// An error of SPIRV-Cross, without the binding crate's wrapping.
fn cross_error(target: Target, error: &SpirvCrossError) -> String {
    let said = match error {
        SpirvCrossError::InvalidSpirv(said)
        | SpirvCrossError::UnsupportedSpirv(said)
        | SpirvCrossError::InvalidArgument(said)
        | SpirvCrossError::OutOfMemory(said) => said.trim_end_matches(['.', '\n']).to_owned(),
        other => other.to_string(),
    };
    match said.is_empty() {
        true => format!("SPIRV-Cross: it cannot write this module as {target}"),
        false => format!("SPIRV-Cross: {said}"),
    }
}

/// A compiler for the module, with the entry point selected.
fn compiler<T: targets::Target>(words: &[u32], entry: &Entry) -> Answer<(Compiler<T>, AllResources<'static>)> {
    let mut compiler = Compiler::<T>::new(Module::from_words(words))?;
    let model = ExecutionModel::from_u32(entry.model).ok_or(SpirvCrossError::InvalidEnum)?;
    compiler.set_entry_point(entry.name.as_str(), model)?;
    let resources = compiler.shader_resources()?.all_resources()?;
    Ok((compiler, resources))
}

/// Kinds of resources, in the order in which a target numbers them.
fn kinds<'a>(all: &'a AllResources<'static>) -> [(&'static str, &'a [Resource<'static>]); 9] {
    [
        ("uniform-buffer", &all.uniform_buffers),
        ("storage-buffer", &all.storage_buffers),
        ("combined-image-sampler", &all.sampled_images),
        ("image", &all.separate_images),
        ("sampler", &all.separate_samplers),
        ("storage-image", &all.storage_images),
        ("input-attachment", &all.subpass_inputs),
        ("acceleration-structure", &all.acceleration_structures),
        ("push-constants", &all.push_constant_buffers),
    ]
}

fn number<T>(compiler: &Compiler<T>, id: Handle<VariableId>, kind: Decoration) -> Answer<Option<u32>> {
    Ok(compiler.decoration(id, kind)?.and_then(|value| value.as_literal()))
}

/// A resource with its place in the module; `at` is its place in the text.
fn place<T>(compiler: &Compiler<T>, kind: &'static str, resource: &Resource<'_>, at: At) -> Answer<Place> {
    let name = compiler.name(resource.id)?.map(|name| name.to_string());
    Ok(Place {
        kind,
        name: name
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| resource.name.to_string()),
        set: number(compiler, resource.id, Decoration::DescriptorSet)?,
        binding: number(compiler, resource.id, Decoration::Binding)?,
        at,
    })
}

/// Bindings for a target without descriptor sets: each resource keeps its binding unless another of its kind in a
/// different set uses it; then it gets the next free one.
#[derive(Default)]
struct Numbers {
    taken: HashSet<(u32, u32)>,
}

impl Numbers {
    fn give(&mut self, kind: u32, wanted: u32) -> u32 {
        let mut number = wanted;
        while !self.taken.insert((kind, number)) {
            number = number.wrapping_add(1);
        }
        number
    }
}

/// The numbering namespaces of OpenGL and Direct3D 11.
fn counter(kind: &str, target: Target) -> u32 {
    match (kind, target) {
        ("uniform-buffer", _) => 0,
        ("storage-buffer" | "storage-image", Target::Hlsl) => 1,
        ("storage-buffer", _) => 2,
        ("storage-image", _) => 3,
        ("sampler", _) => 4,
        _ => 5,
    }
}

/// Assigns every resource a binding that is unique without the set, in the order of sets.
fn without_sets<T>(compiler: &mut Compiler<T>, all: &AllResources<'static>, target: Target) -> Answer<Vec<Place>> {
    let mut places = Vec::new();
    for (kind, resources) in kinds(all) {
        for resource in resources {
            places.push((resource.id, place(compiler, kind, resource, At::Nowhere)?));
        }
    }
    places.sort_by_key(|(_, place)| (place.set, place.binding));
    let mut numbers = Numbers::default();
    for (id, place) in &mut places {
        let Some(binding) = place.binding else { continue };
        let mut given = numbers.give(counter(place.kind, target), binding);
        if place.kind == "combined-image-sampler" && target == Target::Hlsl {
            // A texture and a sampler share one number.
            while !numbers.taken.insert((counter("sampler", target), given)) {
                given = numbers.give(counter(place.kind, target), given);
            }
        }
        place.at = At::Binding(given);
        compiler.set_decoration(*id, Decoration::Binding, Some(DecorationValue::Literal(given)))?;
        compiler.set_decoration(*id, Decoration::DescriptorSet, Some(DecorationValue::Literal(0)))?;
    }
    Ok(places.into_iter().map(|(_, place)| place).collect())
}

fn glsl_version(version: glsl::Version) -> GlslVersion {
    match version {
        glsl::Version::Desktop(330) => GlslVersion::Glsl330,
        glsl::Version::Desktop(400) => GlslVersion::Glsl400,
        glsl::Version::Desktop(410) => GlslVersion::Glsl410,
        glsl::Version::Desktop(420) => GlslVersion::Glsl420,
        glsl::Version::Desktop(430) => GlslVersion::Glsl430,
        glsl::Version::Desktop(440) => GlslVersion::Glsl440,
        glsl::Version::Desktop(460) => GlslVersion::Glsl460,
        glsl::Version::Desktop(_) => GlslVersion::Glsl450,
        glsl::Version::Embedded { version: 100, .. } => GlslVersion::Glsl100Es,
        glsl::Version::Embedded { version: 300, .. } => GlslVersion::Glsl300Es,
        glsl::Version::Embedded { version: 310, .. } => GlslVersion::Glsl310Es,
        glsl::Version::Embedded { .. } => GlslVersion::Glsl320Es,
    }
}

fn glsl(words: &[u32], entry: &Entry, version: glsl::Version) -> Answer<(String, Vec<Place>)> {
    let (mut compiler, all) = compiler::<targets::Glsl>(words, entry)?;
    let places = without_sets(&mut compiler, &all, Target::Glsl)?;
    let dummy = compiler.create_dummy_sampler_for_combined_images()?;
    if let Some(sampler) = dummy.sampler_id {
        for kind in [Decoration::DescriptorSet, Decoration::Binding] {
            compiler.set_decoration(sampler, kind, Some(DecorationValue::Literal(0)))?;
        }
    }
    compiler.build_combined_image_samplers(dummy)?;
    let mut combined = Vec::new();
    let mut numbers = Numbers::default();
    for pair in compiler.combined_image_samplers()?.collect::<Vec<_>>() {
        let name = |id| Ok(compiler.name(id)?.map(|name| name.to_string()).unwrap_or_default());
        let (image, sampler): (String, String) = (name(pair.image_id)?, name(pair.sampler_id)?);
        let at = number(&compiler, pair.image_id, Decoration::Binding)?;
        // The module's own combined samplers keep their numbers.
        let taken = places.iter().filter(|place| place.kind == "combined-image-sampler");
        numbers.taken.extend(taken.filter_map(|place| match place.at {
            At::Binding(number) => Some((0, number)),
            _ => None,
        }));
        let at = numbers.give(0, at.unwrap_or(0));
        // A combined sampler that was split is one again.
        let joined = match sampler.is_empty() || sampler == format!("{image}_sampler") {
            true => image.clone(),
            false => format!("{image}_{sampler}"),
        };
        compiler.set_decoration(
            pair.combined_id,
            Decoration::Binding,
            Some(DecorationValue::Literal(at)),
        )?;
        compiler.set_decoration(
            pair.combined_id,
            Decoration::DescriptorSet,
            Some(DecorationValue::Literal(0)),
        )?;
        compiler.set_name(pair.combined_id, joined.as_str())?;
        combined.push((image, sampler, joined, at));
    }
    let mut options = targets::Glsl::options();
    options.version = glsl_version(version);
    // ES requires a precision, which the module lacks.
    options.es_default_float_precision_highp = true;
    let text = compiler.compile(&options)?.to_string();
    let places: Vec<Place> = places
        .into_iter()
        .map(|place| {
            let parts = combined.iter().filter(|(image, sampler, ..)| match place.kind {
                "image" => *image == place.name,
                "sampler" => *sampler == place.name,
                _ => false,
            });
            let texts: Vec<(String, u32)> = parts.map(|(_, _, joined, at)| (joined.clone(), *at)).collect();
            match place.kind {
                "image" | "sampler" => Place {
                    at: At::Combined(texts),
                    ..place
                },
                _ => place,
            }
        })
        .collect();
    let text = match version {
        glsl::Version::Embedded { version: 100, .. } => plain_uniforms(&text),
        _ => text,
    };
    Ok((with_places(&text, &places), places))
}

/// The text of GLSL ES 1.00, which has no uniform blocks, with their members as uniforms of their own instead of members
/// of a structure; a block whose members' names are taken stays.
fn plain_uniforms(text: &str) -> String {
    let mut text = text.to_owned();
    let uniforms: Vec<(String, String)> = text.lines().filter_map(uniform).collect();
    for (ty, name) in uniforms {
        text = with_plain(&text, &ty, &name).unwrap_or(text);
    }
    text
}

/// The type and name of a line that declares a uniform of one word's type.
fn uniform(line: &str) -> Option<(String, String)> {
    let (ty, name) = line.strip_prefix("uniform ")?.strip_suffix(';')?.split_once(' ')?;
    (!name.contains(' ')).then(|| (ty.to_owned(), name.to_owned()))
}

/// The declaration of a structure, and its members.
fn structure<'t>(text: &'t str, name: &str) -> Option<(&'t str, Vec<&'t str>)> {
    let start = text.find(&format!("struct {name}\n{{\n"))?;
    let declaration = &text[start..start + text[start..].find("\n};\n\n")? + "\n};\n\n".len()];
    let members = declaration.lines().filter(|line| line.starts_with("    "));
    Some((declaration, members.map(str::trim).collect()))
}

/// The text with a uniform's members as uniforms.
fn with_plain(text: &str, ty: &str, name: &str) -> Option<String> {
    let (outer, mut members) = structure(text, ty)?;
    let mut declarations = vec![outer];
    let mut access = format!("{name}.");
    // naga wraps a block's structure in another one.
    if let [member] = members[..]
        && let Some((inner, member)) = member.strip_suffix(';').and_then(|member| member.split_once(' '))
        && let Some((declaration, inner)) = structure(text, inner)
    {
        (declarations, members) = (vec![outer, declaration], inner);
        access = format!("{name}.{member}.");
    }
    let declaration = format!("uniform {ty} {name};\n");
    let mut rest = text.to_owned();
    for part in &declarations {
        rest = rest.replacen(part, "", 1);
    }
    let plain: String = members.iter().map(|member| format!("uniform {member}\n")).collect();
    let names = members.iter().map(|member| {
        let name = member.rsplit(' ').next().unwrap_or_default();
        name.split([';', '[']).next().unwrap_or_default()
    });
    if names.into_iter().any(|name| has_word(&rest, name)) {
        return None;
    }
    let rest = rest.replacen(&declaration, &plain, 1);
    let mut out = String::new();
    for (number, part) in rest.split(&access).enumerate() {
        if number > 0 && out.ends_with(|c: char| is_word(c) || c == '.') {
            out += &access;
        }
        out += part;
    }
    // The whole structure is used, as an argument or a value.
    let types = declarations
        .iter()
        .filter_map(|part| part.lines().next()?.strip_prefix("struct "));
    let mut words = types.chain([name]);
    (!words.any(|word| has_word(&out, word))).then_some(out)
}

/// What is before and behind each place of a word in a text.
fn around<'t>(text: &'t str, word: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let parts = text
        .match_indices(word)
        .map(move |(at, found)| (&text[..at], &text[at + found.len()..]));
    parts.filter(|(before, after)| !before.ends_with(is_word) && !after.starts_with(is_word))
}

/// Whether a text has a word that is not a member of anything.
fn has_word(text: &str, word: &str) -> bool {
    around(text, word).any(|(before, _)| !before.ends_with('.'))
}

/// Adds a comment with set and binding for each resource whose place the text does not state.
fn with_places(text: &str, places: &[Place]) -> String {
    let comments = places.iter().filter_map(|place| {
        let (set, binding) = (place.set?, place.binding?);
        Some(format!("// {}: set {set}, binding {binding}\n", place.name))
    });
    // The version must remain the first line.
    let line = text.find('\n').map_or(text.len(), |at| at + 1);
    let (head, rest) = text.split_at(line);
    [head, &comments.collect::<String>(), rest].concat()
}

fn vulkan_glsl(words: &[u32], entry: &Entry) -> Answer<(String, Vec<Place>)> {
    let (compiler, all) = compiler::<targets::Glsl>(words, entry)?;
    let mut places = Vec::new();
    for (kind, resources) in kinds(&all) {
        for resource in resources {
            let mut found = place(&compiler, kind, resource, At::Nowhere)?;
            if let Some(binding) = found.binding {
                found.at = At::Binding(binding);
            }
            places.push(found);
        }
    }
    let mut options = targets::Glsl::options();
    options.version = GlslVersion::Glsl460;
    options.vulkan_semantics = true;
    Ok((compiler.compile(&options)?.to_string(), places))
}

fn shader_model(model: hlsl::ShaderModel) -> HlslShaderModel {
    use hlsl::ShaderModel::*;
    match model {
        V5_0 => HlslShaderModel::ShaderModel5_0,
        V5_1 => HlslShaderModel::ShaderModel5_1,
        V6_0 => HlslShaderModel::ShaderModel6_0,
        V6_1 => HlslShaderModel::ShaderModel6_1,
        V6_2 => HlslShaderModel::ShaderModel6_2,
        V6_3 => HlslShaderModel::ShaderModel6_3,
        V6_4 => HlslShaderModel::ShaderModel6_4,
        V6_5 => HlslShaderModel::ShaderModel6_5,
        V6_6 => HlslShaderModel::ShaderModel6_6,
        V6_7 => HlslShaderModel::ShaderModel6_7,
        V6_8 | V6_9 => HlslShaderModel::ShaderModel6_8,
    }
}

/// Whether a module uses 8-bit or 16-bit numbers.
fn is_narrow(words: &[u32]) -> bool {
    // Float16, Int16, Int8, and the storage capabilities for them.
    const NARROW: [u32; 9] = [9, 22, 39, 4433, 4434, 4435, 4448, 4449, 4450];
    let index = loader::spirv::ModuleIndex::new(words);
    index.is_ok_and(|index| index.capabilities().iter().any(|known| NARROW.contains(known)))
}

fn hlsl(words: &[u32], entry: &Entry, model: hlsl::ShaderModel) -> Answer<(String, Vec<Place>)> {
    let (mut compiler, all) = compiler::<targets::Hlsl>(words, entry)?;
    // Shader model 5.0 has registers without spaces.
    let flat = model == hlsl::ShaderModel::V5_0;
    let mut places = match flat {
        true => without_sets(&mut compiler, &all, Target::Hlsl)?,
        false => Vec::new(),
    };
    compiler.remap_num_workgroups_builtin();
    let mut options = targets::Hlsl::options();
    options.shader_model = shader_model(model);
    // They need templates, which no available checker can read.
    options.enable_16bit_types = model >= hlsl::ShaderModel::V6_2 && is_narrow(words);
    options.use_entry_point_name = true;
    let written = compiler.compile(&options)?;
    let text = written.to_string();
    if !flat {
        for (kind, resources) in kinds(&all) {
            for resource in resources {
                places.push(place(&written, kind, resource, At::Nowhere)?);
            }
        }
    }
    for place in &mut places {
        place.at = registers(&text, place);
    }
    Ok((text, places))
}

/// The registers of a resource in the text: after its name, or after its sampler's.
fn registers(text: &str, place: &Place) -> At {
    let of = |name: &str| {
        text.lines().find_map(|line| {
            let (head, tail) = line.split_once(" : register(")?;
            let declared = head
                .split(['[', ' '])
                .rfind(|word| !word.is_empty() && !word.ends_with(']'))?;
            (declared == name).then(|| tail.split(')').next().unwrap_or_default().to_owned())
        })
    };
    let names = [place.name.clone(), format!("_{}_sampler", place.name)];
    At::Registers(names.iter().filter_map(|name| of(name)).collect())
}

fn msl(words: &[u32], entry: &Entry, version: (u8, u8)) -> Answer<(String, Vec<Place>)> {
    let (compiler, all) = compiler::<targets::Msl>(words, entry)?;
    let mut options = targets::Msl::options();
    options.version = MslVersion::from((u32::from(version.0), u32::from(version.1)));
    let written = compiler.compile(&options)?;
    let mut places = Vec::new();
    for (kind, resources) in kinds(&all) {
        for resource in resources {
            places.push(place(&written, kind, resource, At::Nowhere)?);
        }
    }
    let text = written.to_string();
    for place in &mut places {
        place.at = attributes(&text, &place.name);
    }
    Ok((text, places))
}

/// The indices of a resource and its sampler in an entry point's signature: `[[buffer(0)]]`.
fn attributes(text: &str, name: &str) -> At {
    let of = |name: &str| {
        around(text, name).find_map(|(_, after)| Some(after.strip_prefix(" [[")?.split("]]").next()?.to_owned()))
    };
    let names = [name.to_owned(), format!("{name}Smplr")];
    At::Registers(names.iter().filter_map(|name| of(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniforms_of_es_100_are_plain_where_their_names_are_free() {
        let text = |used: &str, other: &str| {
            format!(
                "#version 100\n\nstruct Values\n{{\n    vec4 tint;\n    float at[2];\n}};\n\nstruct _13\n{{\n    Values _m0;\n}};\n\n\
                 uniform _13 values;\n\nuniform highp sampler2D {other};\n\nvoid main()\n{{\n    gl_FragData[0] = {used};\n}}\n"
            )
        };
        let plain = plain_uniforms(&text("values._m0.tint * values._m0.at[1] + my_values._m0.x", "image"));
        let wanted = "#version 100\n\nuniform vec4 tint;\nuniform float at[2];\n\nuniform highp sampler2D image;\n\n\
                      void main()\n{\n    gl_FragData[0] = tint * at[1] + my_values._m0.x;\n}\n";
        assert_eq!(plain, wanted);
        for kept in [
            text("values._m0.tint", "tint"),
            text("f(values._m0)", "image"),
            text("g(values)", "image"),
            text("Values(vec4(0.0)).tint", "image"),
        ] {
            assert_eq!(plain_uniforms(&kept), kept);
        }
    }
}
