//! Compute shaders: the module, buffers and images of a scene, and read-back.

use crate::error::{Error, Result};
use crate::link::{self, File};
use loader::spirv::block::{Class, Field, fields_of};
use loader::spirv::{self, Grammar, Image, ModuleIndex, class, decoration, dim, image_format, mode, op};
use loader::vbc::TexelType;
use scene::picture::Picture;
use scene::{Filter, Format, Numbers, Scene, Slot, Wrap};
use std::collections::BTreeMap;
use std::time::Duration;
use translate::frontend::{self, Dialect};
use translate::{Language, ShaderStage, Source, Target};
use vulkan::work::{self, Binding, Element, ImageData, Resource, Stage, Task, Work};
use vulkan::{Context, TexelFormat, vk};

/// Elements of a runtime array.
const ELEMENTS: u64 = 64;

/// The most bytes of a buffer or an image.
const MOST: u64 = 1 << 30;

/// Maximum nesting of types.
const MAX_DEPTH: u32 = 16;

/// The SPIR-V of a source.
///
/// # Errors
/// The error of the source, with its line if it is a text; definitions for what is not GLSL or HLSL.
pub fn compile(file: &File<'_>, entry: Option<&str>) -> Result<Vec<u32>> {
    let (name, bytes) = (file.path.to_string_lossy(), file.bytes);
    let source = Source::new(&name, bytes).or_else(|_| Source::new("shader.comp", bytes))?;
    let mut settings = frontend::Settings {
        constants: Vec::new(),
        ..file.settings.clone()
    };
    let rendered = |error: translate::Error| match error.line_column() {
        Some(_) => Error::input(error.render(bytes, &name)),
        None => Error::from(error),
    };
    let text = matches!(source.language, Language::Glsl | Language::Hlsl);
    if !text && (!settings.defines.is_empty() || !settings.folders.is_empty()) {
        return Err(Error::usage("-D and -I are for texts of GLSL and HLSL"));
    }
    let dialect = match source.language {
        Language::Spirv => return Ok(spirv::read(bytes)?),
        Language::Glsl => Dialect::Glsl,
        Language::Hlsl => Dialect::Hlsl,
        _ => {
            settings.constants = file.settings.constants.clone();
            let mut source = source.with(file.path, &settings).stage(ShaderStage::Compute);
            source.entry = entry;
            let written = translate::read(&source)
                .and_then(|shader| translate::write(&shader, Target::Spirv, &Default::default()));
            return Ok(spirv::read(&written.map_err(rendered)?)?);
        }
    };
    if dialect == Dialect::Glsl {
        link::has_main(&Source { entry, ..source })?;
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Error::input("it is not text"))?;
    let mut text = frontend::Text::new(text, file.path, dialect, frontend::Stage::Compute, &settings);
    text.entry = entry.filter(|_| dialect == Dialect::Hlsl);
    Ok(frontend::spirv(&text).map_err(rendered)?.words)
}

/// The module with another workgroup size: the execution mode, and the `WorkgroupSize` constant.
///
/// # Errors
/// When the size is a specialisation constant.
pub fn with_local_size(words: &[u32], size: [u32; 3]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let decorated = spirv::instructions(words)
        .flatten()
        .find_map(|one| match one.operands() {
            [id, decoration::BUILT_IN, WORKGROUP_SIZE] if one.opcode == op::DECORATE => Some(*id),
            _ => None,
        });
    let composite = Grammar::builtin()
        .row_named("OpConstantComposite")
        .map(|row| row.opcode);
    let mut out = words[..spirv::HEADER_WORDS].to_vec();
    let mut next = words[3];
    let mut found = false;
    for one in spirv::instructions(words) {
        let one = one?;
        let at = out.len();
        match one.operands() {
            [_, mode::LOCAL_SIZE, ..] if one.opcode == op::EXECUTION_MODE && one.words.len() == 6 => {
                out.extend_from_slice(one.words);
                out[at + 3..at + 6].copy_from_slice(&size);
                found = true;
            }
            [vector, id, ..] if Some(*id) == decorated && Some(u32::from(one.opcode)) == composite => {
                let Some([_, number, 3]) = index.operands(*vector, op::TYPE_VECTOR) else {
                    return Err(Error::input("the size of the shader's groups is no vector of three"));
                };
                for count in size {
                    out.extend([4 << 16 | u32::from(op::CONSTANT), number, next, count]);
                    next = next
                        .checked_add(1)
                        .ok_or_else(|| Error::input("the module has no id left"))?;
                }
                out.extend([one.words[0], *vector, *id, next - 3, next - 2, next - 1]);
            }
            [_, id, ..] if Some(*id) == decorated && one.opcode != op::DECORATE => {
                found = false;
                break;
            }
            _ => out.extend_from_slice(one.words),
        }
    }
    if !found {
        return Err(Error::input(
            "the shader has the size of its groups as constants: set those by --constant",
        ));
    }
    out[3] = next;
    Ok(out)
}

/// The execution model of compute entry points in the summary.
const MODEL: &str = "GLCompute";

/// The built-in `WorkgroupSize`.
const WORKGROUP_SIZE: u32 = 25;

/// A variable with a descriptor.
pub struct Descriptor {
    /// Set and binding.
    pub place: (u32, u32),
    kind: vk::DescriptorType,
    /// Its type, behind the pointer.
    ty: u32,
    image: Option<(Image, TexelFormat)>,
}

/// A module's interface.
pub struct Shader<'a> {
    index: ModuleIndex<'a>,
    /// The entry point.
    pub entry: String,
    constants: Vec<(u32, [u8; 4])>,
    resources: Vec<Descriptor>,
    /// The block of push constants.
    push: Option<u32>,
}

impl<'a> Shader<'a> {
    /// The shader of the entry point `wanted`, or of the only one.
    ///
    /// # Errors
    /// When there is no such entry point, or a descriptor or constant is unsupported.
    pub fn new(words: &'a [u32], file: &File<'_>, wanted: Option<&str>) -> Result<Self> {
        let index = ModuleIndex::new(words)?;
        let summary = spirv::summary(words)?;
        let is_text = matches!(
            Source::new(&file.path.to_string_lossy(), &[]).map(|source| source.language),
            Ok(Language::Glsl | Language::Hlsl)
        );
        let named = summary.entry_points.iter().filter(|entry| entry.model == MODEL);
        let named: Vec<String> = named.map(|entry| entry.name.clone()).collect();
        let wanted = wanted.filter(|_| !is_text);
        let found = match wanted {
            Some(wanted) => named.iter().find(|name| *name == wanted),
            None => named.first().filter(|_| named.len() == 1),
        };
        let Some(entry) = found else {
            return Err(Error::input(format_args!(
                "expected one compute entry point{}, found {}",
                wanted.map_or(String::new(), |name| format!(" of the name {name}")),
                match named.is_empty() {
                    true => "none".to_owned(),
                    false => named.join(", "),
                }
            )));
        };
        let constants = match file.path.extension().is_some_and(|ending| ending == "wgsl") {
            true => Vec::new(),
            false => constants(&summary, &file.settings.constants)?,
        };
        let mut resources = Vec::new();
        for variable in index.globals() {
            if let Some(place) = index.place(variable.id) {
                resources.push(bound(&index, place, variable.class, variable.pointee)?);
            }
        }
        let push = index.globals().find(|variable| variable.class == class::PUSH_CONSTANT);
        let (entry, push) = (entry.clone(), push.map(|variable| variable.pointee));
        Ok(Self {
            index,
            entry,
            constants,
            resources,
            push,
        })
    }
}

/// Values of specialisation constants by id or name.
fn constants(summary: &spirv::Summary, given: &[(String, String)]) -> Result<Vec<(u32, [u8; 4])>> {
    let one = |(name, value): &(String, String)| {
        let is_meant = |constant: &&spirv::SpecConstant| {
            constant.id.is_some_and(|id| id.to_string() == *name) || constant.name.as_deref() == Some(name)
        };
        let constant = summary.spec_constants.iter().find(is_meant);
        let Some((constant, id)) = constant.and_then(|constant| Some((constant, constant.id?))) else {
            let known: Vec<String> = summary
                .spec_constants
                .iter()
                .filter_map(|one| Some(one.id?.to_string()))
                .collect();
            return Err(Error::usage(format_args!(
                "--constant: the shader has no constant {name}; it has {}",
                match known.is_empty() {
                    true => "none".to_owned(),
                    false => known.join(", "),
                }
            )));
        };
        let bytes = match constant.ty.as_str() {
            "bool" => match value.as_str() {
                "true" | "1" => Some(1u32.to_le_bytes()),
                "false" | "0" => Some([0; 4]),
                _ => None,
            },
            "int" => value.parse::<i32>().ok().map(i32::to_le_bytes),
            "uint" => value.parse::<u32>().ok().map(u32::to_le_bytes),
            "float" => value.parse::<f32>().ok().map(f32::to_le_bytes),
            _ => None,
        };
        let wrong = || Error::usage(format_args!("--constant {name}: {value} is no {}", constant.ty));
        Ok((id, bytes.ok_or_else(wrong)?))
    };
    given.iter().map(one).collect()
}

/// The descriptor of a variable.
fn bound(index: &ModuleIndex<'_>, place: (u32, u32), storage: u32, ty: u32) -> Result<Descriptor> {
    use vk::DescriptorType as T;
    let (set, binding) = place;
    let unsupported = |what: &str| Error::input(format_args!("unsupported: set {set} binding {binding}: {what}"));
    let mut image = None;
    let kind = match (storage, index.opcode(ty)) {
        (_, op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) => return Err(unsupported("arrays of descriptors")),
        (class::STORAGE_BUFFER, _) => T::STORAGE_BUFFER,
        (class::UNIFORM, _) if index.decoration(ty, decoration::BUFFER_BLOCK).is_some() => T::STORAGE_BUFFER,
        (class::UNIFORM, _) => T::UNIFORM_BUFFER,
        (_, op::TYPE_SAMPLER) => T::SAMPLER,
        (_, opcode) => {
            let combined = index
                .operands(ty, op::TYPE_SAMPLED_IMAGE)
                .map(|[_, image]: [u32; 2]| image);
            let found = index.image(combined.unwrap_or(ty));
            let found = found.filter(|_| [op::TYPE_SAMPLED_IMAGE, op::TYPE_IMAGE].contains(&opcode));
            let found = found.ok_or_else(|| unsupported("what is neither buffer, image nor sampler"))?;
            if found.arrayed != 0 || found.multisampled != 0 {
                return Err(unsupported("images of several layers or samples"));
            }
            let format = texel(index, &found).ok_or_else(|| unsupported("images of this format"))?;
            image = Some((found, format));
            match (found.is_buffer(), found.sampled) {
                (true, Image::STORAGE) => T::STORAGE_TEXEL_BUFFER,
                (true, _) => T::UNIFORM_TEXEL_BUFFER,
                (false, Image::STORAGE) => T::STORAGE_IMAGE,
                (false, _) if combined.is_some() => T::COMBINED_IMAGE_SAMPLER,
                (false, _) => T::SAMPLED_IMAGE,
            }
        }
    };
    Ok(Descriptor { place, kind, ty, image })
}

/// SPIR-V formats of storage images that scenes can fill.
const FORMATS: [(u32, TexelType, u8, u8); 15] = [
    (image_format::RGBA32F, TexelType::FLOAT, 4, 4),
    (image_format::RG32F, TexelType::FLOAT, 4, 2),
    (image_format::R32F, TexelType::FLOAT, 4, 1),
    (image_format::RGBA32I, TexelType::INT, 4, 4),
    (image_format::RG32I, TexelType::INT, 4, 2),
    (image_format::R32I, TexelType::INT, 4, 1),
    (image_format::RGBA32UI, TexelType::UINT, 4, 4),
    (image_format::RG32UI, TexelType::UINT, 4, 2),
    (image_format::R32UI, TexelType::UINT, 4, 1),
    (image_format::RGBA8, TexelType::UNORM, 1, 4),
    (image_format::RG8, TexelType::UNORM, 1, 2),
    (image_format::R8, TexelType::UNORM, 1, 1),
    (image_format::RGBA8_SNORM, TexelType::SNORM, 1, 4),
    (image_format::RGBA16, TexelType::UNORM, 2, 4),
    (image_format::RGBA16_SNORM, TexelType::SNORM, 2, 4),
];

/// The format of an image's texels: the declared one, or four components of the sampled type.
fn texel(index: &ModuleIndex<'_>, image: &Image) -> Option<TexelFormat> {
    if image.format != image_format::UNKNOWN {
        let row = FORMATS.iter().find(|row| row.0 == image.format)?;
        let (_, class, bytes, components) = *row;
        return Some(TexelFormat {
            class,
            bytes,
            components,
        });
    }
    let node = index.declaration(image.sampled_type)?;
    let class = match (node.opcode, node.operand(2)) {
        (op::TYPE_FLOAT, _) if image.sampled == Image::STORAGE || image.is_buffer() => TexelType::FLOAT,
        (op::TYPE_FLOAT, _) => TexelType::UNORM,
        (_, Some(0)) => TexelType::UINT,
        _ => TexelType::INT,
    };
    Some(TexelFormat::wide(class))
}

/// The shader's resources.
pub struct Data {
    bindings: Vec<Binding>,
    resources: Vec<Resource>,
    /// The resource of each variable of the shader, in order.
    slots: Vec<Option<usize>>,
    push: Vec<u8>,
}

impl Data {
    /// The resources of a scene; those that it lacks are zero. Images have the picture's `size` by default.
    ///
    /// # Errors
    /// A scene that does not fit the shader.
    pub fn new(shader: &Shader<'_>, scene: &Scene, size: Option<[u32; 2]>) -> Result<Self> {
        use vk::DescriptorType as T;
        reject_draw_keys(scene)?;
        let mut this = Self {
            bindings: Vec::new(),
            resources: Vec::new(),
            slots: Vec::new(),
            push: Vec::new(),
        };
        let name = |place: (u32, u32)| match place {
            (0, binding) => binding.to_string(),
            (set, binding) => format!("{set}.{binding}"),
        };
        let known: Vec<String> = shader.resources.iter().map(|one| name(one.place)).collect();
        if let Some(slot) = scene.slots.keys().find(|slot| !known.contains(slot)) {
            let hint = scene::nearest::hint(slot, known.iter().cloned());
            return Err(Error::scene(format_args!("the shader has no slot {slot}{hint}")));
        }
        let mut unused: Vec<&String> = scene.uniform.keys().collect();
        let size = size.or(scene.size).unwrap_or([256, 256]);
        for one in &shader.resources {
            let name = name(one.place);
            let none = Slot::default();
            let slot = scene.slots.get(&name).unwrap_or(&none);
            let in_slot = |error: Error| error.within(format_args!("slot {name}"));
            let resource = match one.kind {
                T::SAMPLER => None,
                T::UNIFORM_BUFFER | T::STORAGE_BUFFER => {
                    let mut bytes = block(&shader.index, one.ty).map_err(in_slot)?;
                    if one.kind == T::UNIFORM_BUFFER {
                        members(&shader.index, one.ty, scene, &mut bytes, &mut unused)?;
                    }
                    fill(&mut bytes, slot).map_err(in_slot)?;
                    Some(Resource::Buffer(bytes))
                }
                T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => {
                    let format = one.image.map_or(TexelFormat::RGBA8, |(_, format)| format);
                    let bytes = match &slot.texels {
                        Some(numbers) => texels(format, numbers).map_err(in_slot)?,
                        None => vec![0; ELEMENTS as usize * format.size()],
                    };
                    Some(Resource::Buffer(bytes))
                }
                _ => match &one.image {
                    Some((image, format)) => Some(Resource::Image(
                        self::image(image, *format, slot, scene, size).map_err(in_slot)?,
                    )),
                    None => None,
                },
            };
            let sampled = [T::SAMPLER, T::COMBINED_IMAGE_SAMPLER].contains(&one.kind);
            let resource = resource.map(|resource| {
                this.resources.push(resource);
                this.resources.len() - 1
            });
            this.slots.push(resource);
            let format = match one.kind {
                T::UNIFORM_TEXEL_BUFFER | T::STORAGE_TEXEL_BUFFER => {
                    one.image.map(|(_, format)| format.vk()).transpose()?
                }
                _ => None,
            };
            this.bindings.push(Binding {
                set: one.place.0,
                binding: one.place.1,
                kind: one.kind,
                elements: vec![Element {
                    resource,
                    sampler: sampled.then(|| sampler(slot)),
                    format: format.unwrap_or_default(),
                    ..Element::default()
                }],
            });
        }
        if let Some(ty) = shader.push {
            this.push = block(&shader.index, ty)?;
            this.push.resize(this.push.len().next_multiple_of(4), 0);
            members(&shader.index, ty, scene, &mut this.push, &mut unused)?;
        }
        match unused.first() {
            Some(name) => Err(Error::scene(format_args!(
                "no block of the shader has a member \"{name}\""
            ))),
            None => Ok(this),
        }
    }
}

impl Data {
    /// The shader's descriptors with their resources.
    pub fn resources<'s>(&'s self, shader: &'s Shader<'_>) -> impl Iterator<Item = (&'s Descriptor, &'s Resource)> {
        let found = shader.resources.iter().zip(&self.slots);
        found.filter_map(move |(one, at)| Some((one, &self.resources[(*at)?])))
    }

    /// The contents of all resources.
    pub fn contents(&self, shader: &Shader<'_>) -> Contents {
        let bytes = |resource: &Resource| match resource {
            Resource::Buffer(bytes) => bytes.clone(),
            Resource::Image(image) => image.planes.iter().flat_map(|plane| plane.bytes.clone()).collect(),
        };
        let all = self.resources(shader);
        all.map(|(one, resource)| (one.place, bytes(resource))).collect()
    }
}

impl Descriptor {
    /// The resource as a picture, if it is an image; the layers of a volume are stacked.
    pub fn picture(&self, resource: &Resource) -> Option<Picture> {
        let (Resource::Image(image), Some((_, format))) = (resource, &self.image) else {
            return None;
        };
        let bytes = image.planes.first().map_or(&[][..], |plane| &plane.bytes);
        let scale = if format.is_integer() { 1.0 } else { 255.0 };
        let byte = |value: f64| (value * scale).clamp(0.0, 255.0).round() as u8;
        let texels = bytes.chunks_exact(format.size());
        Some(Picture {
            width: image.size[0],
            height: image.size[1] * image.size[2],
            rgba: texels.flat_map(|texel| format.decode(texel).map(byte)).collect(),
        })
    }
}

/// The bytes of a resource: of an image, those of its first plane.
pub fn bytes(resource: &Resource) -> &[u8] {
    match resource {
        Resource::Buffer(bytes) => bytes,
        Resource::Image(image) => image.planes.first().map_or(&[][..], |plane| &plane.bytes),
    }
}

/// Rejects a scene's keys for draws.
fn reject_draw_keys(scene: &Scene) -> Result<()> {
    let keys = [
        ("vertices", scene.vertices.is_some()),
        ("instances", scene.instances.is_some()),
        ("draws", scene.draws.is_some()),
        ("topology", scene.topology.is_some()),
        ("patch-points", scene.patch_points.is_some()),
        ("cull", scene.cull.is_some()),
        ("blend", scene.blend.is_some()),
        ("clear", scene.clear.is_some()),
        ("target", scene.target.is_some()),
        ("depth", scene.depth.is_some()),
        ("inputs", !scene.inputs.is_empty()),
        ("subpass", !scene.subpass.is_empty()),
    ];
    let given = keys.iter().find(|(_, given)| *given).map(|(key, _)| *key);
    match given.or_else(|| scene.pipeline_key(&[])) {
        Some(key) => Err(Error::scene(format_args!("{key} means nothing to a compute shader"))),
        None => match scene.slots.values().find_map(|slot| slot.sampler_key(&[])) {
            Some(key) => Err(Error::scene(format_args!("unsupported: {key} for a compute shader"))),
            None => Ok(()),
        },
    }
}

/// The bytes of a block, all zero; runtime arrays have [`ELEMENTS`].
fn block(index: &ModuleIndex<'_>, ty: u32) -> Result<Vec<u8>> {
    match bytes_of(index, ty, 0, 0) {
        Some(size @ 1..=MOST) => Ok(vec![0; size as usize]),
        Some(size) => Err(Error::input(format_args!("a block of {size} bytes"))),
        None => Err(Error::input("a block of unknown size")),
    }
}

/// Size in bytes of a type with a layout; `stride` is that of the matrices in it.
fn bytes_of(index: &ModuleIndex<'_>, ty: u32, stride: u32, depth: u32) -> Option<u64> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let node = index.declaration(ty)?;
    let of = |ty: u32| bytes_of(index, ty, stride, depth + 1);
    Some(match (node.opcode, node.operand(1)?) {
        (op::TYPE_INT | op::TYPE_FLOAT, width) => u64::from(width / 8),
        (op::TYPE_VECTOR, element) => of(element)?.saturating_mul(node.operand(2)?.into()),
        (op::TYPE_MATRIX, column) => {
            // The matrix may be row-major: the larger size of the two is sufficient.
            let rows = index
                .operands(column, op::TYPE_VECTOR)
                .map_or(4, |[_, _, rows]: [u32; 3]| rows);
            u64::from(stride).saturating_mul(node.operand(2)?.max(rows).into())
        }
        (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, element) => {
            let count = match node.opcode {
                op::TYPE_ARRAY => index.array(ty)?.1.into(),
                _ => ELEMENTS,
            };
            let step = index.decoration(ty, decoration::ARRAY_STRIDE);
            let step = step.map_or_else(|| of(element), |step| Some(step.into()))?;
            step.saturating_mul(count)
        }
        (op::TYPE_STRUCT, _) => {
            let mut size = 0;
            for (member, of_member) in (0u32..).zip(index.members(ty)?) {
                let get = |kind| index.member_decoration(ty, member, kind).unwrap_or(0);
                let own = bytes_of(index, of_member, get(decoration::MATRIX_STRIDE), depth + 1)?;
                size = own.saturating_add(get(decoration::OFFSET).into()).max(size);
            }
            size
        }
        _ => return None,
    })
}

/// Sets a block's members by name, and removes those names from `unused`.
fn members(index: &ModuleIndex<'_>, ty: u32, scene: &Scene, bytes: &mut [u8], unused: &mut Vec<&String>) -> Result<()> {
    let fields = fields_of(index, ty).unwrap_or_default();
    let ty = index.unwrapped(ty);
    for member in 0..index.members(ty).map_or(0, |all| all.len()) as u32 {
        let Some(name) = index.member_name(ty, member) else {
            continue;
        };
        let Some(numbers) = scene.uniform.get(&name) else {
            continue;
        };
        unused.retain(|one| **one != name);
        let offset = index.member_decoration(ty, member, decoration::OFFSET).unwrap_or(0);
        let Some(field) = fields.iter().find(|field| field.offset == offset) else {
            return Err(Error::scene(format_args!("the member \"{name}\" is not numeric")));
        };
        let numbers = numbers.flat();
        let wanted = field.rows as usize * field.columns as usize * field.count as usize;
        if numbers.len() != wanted {
            return Err(Error::scene(format_args!(
                "the member \"{name}\" takes {wanted} numbers, {} are given",
                numbers.len()
            )));
        }
        for (at, number) in numbers.iter().enumerate() {
            let place = place_of(field, at as u32);
            if let Some(place) = bytes.get_mut(place..place + 4) {
                place.copy_from_slice(&word(class_of(field.class), *number));
            }
        }
    }
    Ok(())
}

/// Byte offset of a number of a field; matrices are column-major.
fn place_of(field: &Field, at: u32) -> usize {
    let (row, column) = (at % field.rows, at / field.rows % field.columns);
    let element = at / field.rows / field.columns;
    let all = [
        field.offset,
        row * 4,
        column * field.matrix_stride,
        element.saturating_mul(field.array_stride),
    ];
    all.into_iter().fold(0u32, u32::saturating_add) as usize
}

fn class_of(class: Class) -> TexelType {
    match class {
        Class::Int => TexelType::INT,
        Class::Uint => TexelType::UINT,
        Class::Float => TexelType::FLOAT,
    }
}

/// Encodes a number in four bytes.
fn word(class: TexelType, number: f64) -> [u8; 4] {
    match class {
        TexelType::INT => (number as i32).to_le_bytes(),
        TexelType::UINT => (number as u32).to_le_bytes(),
        _ => (number as f32).to_le_bytes(),
    }
}

/// Writes a scene's numbers into a buffer, which grows as needed.
fn fill(bytes: &mut Vec<u8>, slot: &Slot) -> Result<()> {
    let images = [
        slot.image.is_some(),
        slot.fill.is_some(),
        slot.texels.is_some(),
        slot.size.is_some(),
        slot.layers.is_some(),
        slot.levels.is_some(),
        slot.format.is_some(),
        slot.filter.is_some(),
        slot.wrap.is_some(),
        slot.sampler_key(&[]).is_some(),
    ];
    if images.contains(&true) {
        return Err(Error::scene("a buffer takes floats, ints or uints"));
    }
    let words = [
        (TexelType::FLOAT, &slot.floats),
        (TexelType::INT, &slot.ints),
        (TexelType::UINT, &slot.uints),
    ];
    for (class, numbers) in words {
        let Some(numbers) = numbers else { continue };
        let given: Vec<u8> = numbers.flat().iter().flat_map(|number| word(class, *number)).collect();
        let end = slot.at.saturating_add(given.len());
        if end as u64 > MOST {
            return Err(Error::scene(format_args!("a buffer of {end} bytes")));
        }
        bytes.resize(bytes.len().max(end), 0);
        bytes[slot.at..end].copy_from_slice(&given);
    }
    Ok(())
}

/// Encodes a scene's numbers as texels.
fn texels(format: TexelFormat, numbers: &Numbers) -> Result<Vec<u8>> {
    let (numbers, components) = (numbers.flat(), usize::from(format.components));
    if numbers.is_empty() || !numbers.len().is_multiple_of(components) {
        return Err(Error::scene(format_args!(
            "{} numbers are not whole texels of {components} components",
            numbers.len()
        )));
    }
    let texel = |texel: &[f64]| {
        let mut all = [0.0; 4];
        all[..components].copy_from_slice(texel);
        format.encode(all)
    };
    Ok(numbers.chunks_exact(components).flat_map(texel).collect())
}

/// The scene's image, or zeros of the picture's size.
fn image(image: &Image, format: TexelFormat, slot: &Slot, scene: &Scene, size: [u32; 2]) -> Result<ImageData> {
    let format = match slot.format {
        Some(Format::Rgba8) if image.sampled != Image::STORAGE && !format.is_integer() => TexelFormat::RGBA8,
        Some(Format::Rgba32f) if image.sampled != Image::STORAGE && !format.is_integer() => TexelFormat::RGBA32F,
        Some(_) => return Err(Error::scene("a format is for sampled images of floats")),
        None => format,
    };
    if slot.layers.is_some()
        || slot.levels.is_some()
        || slot.floats.is_some()
        || slot.ints.is_some()
        || slot.uints.is_some()
    {
        return Err(Error::scene(
            "an image of a compute shader takes image, fill, texels, size, format, filter, wrap",
        ));
    }
    let (dimension, axes) = match image.dim {
        dim::D1 => (vk::ImageType::TYPE_1D, 1),
        dim::D2 => (vk::ImageType::TYPE_2D, 2),
        dim::D3 => (vk::ImageType::TYPE_3D, 3),
        _ => return Err(Error::input("unsupported: images other than 1D, 2D and 3D")),
    };
    let mut extent = [size[0], size[1], 1];
    extent[axes.min(2)..2].fill(1);
    let mut bytes = None;
    if let Some(path) = &slot.image {
        let picture = Picture::load(&scene.folder.join(path)).map_err(Error::from)?;
        extent = [picture.width, picture.height, 1];
        let scale = if format.is_integer() { 1.0 } else { 1.0 / 255.0 };
        let pixels = picture.rgba.as_chunks::<4>().0.iter();
        bytes = Some(
            pixels
                .flat_map(|pixel| format.encode(pixel.map(|v| f64::from(v) * scale)))
                .collect(),
        );
    } else if let Some(size) = &slot.size {
        if size.is_empty() || size.len() > axes || size.iter().any(|n| *n == 0 || *n > 1 << 15) {
            return Err(Error::scene(format_args!(
                "a size is one to {axes} numbers from 1 to 32768"
            )));
        }
        extent = [1; 3];
        extent[..size.len()].copy_from_slice(size);
    }
    let count = extent.iter().fold(1u64, |all, one| all.saturating_mul((*one).into()));
    if count.saturating_mul(format.size() as u64) > MOST {
        return Err(Error::scene(format_args!("an image of {count} texels")));
    }
    if let Some(numbers) = &slot.texels {
        bytes = Some(texels(format, numbers)?);
    } else if let Some(numbers) = &slot.fill {
        bytes = Some(texels(format, numbers)?.repeat(count as usize));
    }
    let mut data = ImageData::new(format.vk()?, dimension, extent, 1, 1, format.size());
    if let (Some(bytes), Some(plane)) = (bytes, data.planes.first_mut()) {
        if bytes.len() != plane.bytes.len() {
            return Err(Error::scene(format_args!(
                "{} texels are given, the image has {count}",
                bytes.len() / format.size()
            )));
        }
        plane.bytes = bytes;
    }
    Ok(data)
}

fn sampler(slot: &Slot) -> work::Sampler {
    let filter = match slot.filter {
        Some(Filter::Linear) => vk::Filter::LINEAR,
        _ => vk::Filter::NEAREST,
    };
    let address = match slot.wrap {
        Some(Wrap::Clamp) => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        _ => vk::SamplerAddressMode::REPEAT,
    };
    work::Sampler {
        mag: filter,
        min: filter,
        address: [address; 3],
        border: vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        lod: [0.0, 0.0],
        unnormalized: false,
        compare: None,
    }
}

/// Runs a shader on a device with `groups` workgroups; returns the device time if `timed`.
///
/// # Errors
/// The device's error.
pub fn execute(
    context: &Context,
    groups: [u32; 3],
    words: &[u32],
    shader: &Shader<'_>,
    data: &mut Data,
    timed: bool,
) -> Result<Option<Duration>> {
    let work = Work {
        stages: vec![Stage {
            stage: vk::ShaderStageFlags::COMPUTE,
            words,
            entry: &shader.entry,
            constants: shader.constants.clone(),
            full_subgroups: false,
            varying_subgroups: false,
            subgroup_size: None,
        }],
        bindings: std::mem::take(&mut data.bindings),
        push: &data.push,
        task: Task::Compute(groups),
        timed,
    };
    Ok(work::execute(context, &work, &mut data.resources)?)
}

/// Contents of a shader's buffers and images by set and binding.
pub type Contents = BTreeMap<(u32, u32), Vec<u8>>;

/// The first difference between two results; resources that one of them lacks were optimised out.
pub fn difference(first: &Contents, other: &Contents) -> Option<String> {
    other.iter().find_map(|((set, binding), bytes)| {
        let wanted = first.get(&(*set, *binding))?;
        let differ = wanted.iter().zip(bytes).filter(|(one, other)| one != other).count();
        let at = wanted.iter().zip(bytes).position(|(one, other)| one != other)?;
        let text = format!(
            "{}, not {}; {differ} of {} bytes differ",
            bytes[at],
            wanted[at],
            wanted.len()
        );
        Some(format!("set {set} binding {binding}: byte {at} is {text}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_contents_are_reported_with_their_place() {
        let contents = |bytes: &[u8]| Contents::from([((0, 1), bytes.to_vec()), ((1, 0), vec![7; 4])]);
        let first = contents(&[1, 2, 3, 4]);
        assert_eq!(difference(&first, &first), None);
        let found = difference(&first, &contents(&[1, 9, 3, 9]));
        assert_eq!(
            found.as_deref(),
            Some("set 0 binding 1: byte 1 is 9, not 2; 2 of 4 bytes differ")
        );
    }
}
