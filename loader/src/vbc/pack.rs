//! Making a file from stages of SPIR-V: the reflection is derived from the code.
//!
//! Two kinds of code are taken. Code in VBC's own convention (tables in set 0, indices in push constants) is kept as it
//! is. Code with ordinary descriptors says its slots by its bindings in set 0, and is put into tables. In both the
//! uniform block is at set 1, binding 0 and subpass inputs are in set 2, binding = index.
//!
//! Blocks are given scalar layout, which is the format's only one: front ends that lay out by other rules are
//! corrected, since offsets are decorations and no code depends on them.

use super::fit::{self, Mode};
use super::requirements::DescriptorKind;
use super::types::{BaseType, Binding, Shape, Stage, Stages, SubpassInput, Tables, TexelRank, TexelType, Variable};
use super::{Model, UniformMember, UniformModel, image, join, raise};
use crate::spirv::transform::{Module, build, opcode, seal};
use crate::spirv::{class, decoration, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, HashSet};

/// What the code cannot say, or says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of the uniform's members in order; members beyond are called as the code calls them, or `member_N`.
    pub uniform: Vec<String>,
    /// Vertex inputs that the code does not read (those it reads are derived).
    pub unused_inputs: Vec<Variable>,
    /// Table sizes.
    pub tables: Tables,
}

/// Derives a file from its stages' code.
///
/// # Errors
/// Unsupported, with the reason, for what the format cannot hold: nested structs, more than 32 slots, three-component
/// outputs, arrays of descriptors, separate samplers, other descriptor sets.
pub fn pack(stages: &[(Stage, Vec<u32>)], names: &Names) -> Result<Model> {
    let mut model = Model {
        tables: names.tables,
        ..Model::default()
    };
    let mut bindings: BTreeMap<u8, Binding> = BTreeMap::new();
    let mut lowered = Vec::new();
    for (stage, words) in stages {
        let place = |error: Error| error.within(stage);
        let in_tables = uses_tables(words).map_err(place)?;
        let words = match in_tables {
            true => words.clone(),
            false => ordinary(words).map_err(place)?,
        };
        if in_tables {
            lengths(&mut model, &fit::needs(&words).map_err(place)?);
        }
        let plain = if in_tables {
            fit::fit(&words, &Mode::Lowered).map_err(place)?.words
        } else {
            words.clone()
        };
        let module = Module::parse(&plain).map_err(place)?;
        interface(&module, *stage, &mut model).map_err(place)?;
        resources(&module, *stage, &mut model, &mut bindings, names).map_err(place)?;
        lowered.push((*stage, words, in_tables));
    }
    let push_words = bindings.keys().max().map_or(0, |slot| u32::from(*slot) / 2 + 1);
    let slots: BTreeMap<u8, usize> = bindings
        .iter()
        .filter_map(|(slot, binding)| Some((*slot, Tables::index_of(binding.base)?)))
        .collect();
    for (stage, words, in_tables) in lowered {
        let code = match in_tables {
            true => words,
            false => raise::raise(&words, &slots, &names.tables, push_words).map_err(|error| error.within(stage))?,
        };
        *model.code_mut(stage) = code;
    }
    for input in &names.unused_inputs {
        if !model.inputs.iter().any(|known| known.location == input.location) {
            model.inputs.push(*input);
        }
    }
    model.inputs.sort_by_key(|input| input.location);
    model.outputs.sort_by_key(|output| output.location);
    model.bindings = bindings.into_values().collect();
    Ok(model)
}

/// Code with ordinary descriptors as the format wants its samplers and blocks.
fn ordinary(words: &[u32]) -> Result<Vec<u32>> {
    wrap_uniform(&scalar_layout(&join::join(words)?)?)
}

/// Table sizes as code in the format's convention has them.
fn lengths(model: &mut Model, needs: &fit::Needs) {
    let mut sizes = model.tables.sizes();
    for (size, length) in sizes.iter_mut().zip(needs.tables) {
        if let Ok(length @ 1..) = u16::try_from(length) {
            *size = length;
        }
    }
    model.tables = Tables::from_sizes(sizes);
}

/// Whether the code reaches its resources through tables already: set 0 holds arrays, and there are push constants.
fn uses_tables(words: &[u32]) -> Result<bool> {
    let module = Module::parse(words)?;
    let is_array = |pointer: u32| {
        let pointee = module.pointee(pointer);
        pointee.is_some_and(|pointee| module.operands::<3>(pointee, op::TYPE_ARRAY).is_some())
    };
    let set = |id| module.decoration(id, decoration::DESCRIPTOR_SET);
    let tables = module
        .variables()
        .filter(|[pointer, id, _]| set(*id) == Some(0) && is_array(*pointer))
        .count();
    Ok(tables > 0 && module.variables().any(|[_, _, class]| class == class::PUSH_CONSTANT))
}

/// Vertex inputs and fragment outputs.
fn interface(module: &Module, stage: Stage, model: &mut Model) -> Result<()> {
    let (wanted, list) = match stage {
        Stage::Vert => (class::INPUT, &mut model.inputs),
        Stage::Frag => (class::OUTPUT, &mut model.outputs),
        _ => return Ok(()),
    };
    for [pointer, id, class] in module.variables() {
        let Some(location) = module.decoration(id, decoration::LOCATION).filter(|_| class == wanted) else {
            continue;
        };
        let number = module.pointee(pointer).and_then(|id| number(module, id));
        let unsupported = |why: &str| Error::unsupported("spirv", format!("location {location}: {why}"));
        let (base, dims, array) = number.ok_or_else(|| unsupported("not a 32-bit number, vector, matrix or array"))?;
        if stage == Stage::Frag && (dims[1] != 1 || array != 1 || dims[0] == 3) {
            return Err(unsupported("outputs have one, two or four components"));
        }
        let location = u8::try_from(location).map_err(|_| unsupported("locations end at 255"))?;
        list.push(Variable {
            location,
            base,
            dims,
            array,
        });
    }
    Ok(())
}

/// A number, vector, matrix, or array of them.
fn number(module: &Module, id: u32) -> Option<(BaseType, [u8; 2], u8)> {
    if let Some(&[_, element, length]) = module.operands(id, op::TYPE_ARRAY) {
        let (base, dims, _) = number(module, element).filter(|number| number.2 == 1)?;
        return Some((base, dims, module.constant(length)?.try_into().ok()?));
    }
    if let Some(&[_, column, columns]) = module.operands(id, op::TYPE_MATRIX) {
        let (base, [rows, _], _) = number(module, column)?;
        return Some((base, [rows, columns.try_into().ok()?], 1));
    }
    if let Some(&[_, component, rows]) = module.operands(id, op::TYPE_VECTOR) {
        let (base, ..) = number(module, component)?;
        return Some((base, [rows.try_into().ok()?, 1], 1));
    }
    let words = module.definition(id)?;
    let base = match (opcode(words), words.get(2), words.get(3)) {
        (op::TYPE_FLOAT, Some(32), _) => BaseType::FLOAT,
        (op::TYPE_INT, Some(32), Some(0)) => BaseType::UINT,
        (op::TYPE_INT, Some(32), _) => BaseType::INT,
        _ => return None,
    };
    Some((base, [1, 1], 1))
}

/// Bindings, the uniform and subpass inputs that a stage's code uses.
fn resources(
    module: &Module,
    stage: Stage,
    model: &mut Model,
    bindings: &mut BTreeMap<u8, Binding>,
    names: &Names,
) -> Result<()> {
    for resource in fit::resources(module, &BTreeMap::new())? {
        let fits = |[_, id, _]: &[u32; 3]| {
            module.decoration(*id, decoration::DESCRIPTOR_SET) == Some(resource.set)
                && module.decoration(*id, decoration::BINDING) == Some(resource.binding)
        };
        let Some([pointer, variable, _]) = module.variables().find(fits) else {
            continue;
        };
        let place = format!("set {}, binding {}", resource.set, resource.binding);
        let unsupported = |why: &str| Error::unsupported("spirv", why).within(&place);
        let Some(element) = module.pointee(pointer) else {
            continue;
        };
        match (resource.set, resource.kind) {
            (0, _) if resource.count != 1 => return Err(unsupported("an array of descriptors")),
            (0, kind) => {
                let slot = u8::try_from(resource.binding).ok().filter(|slot| *slot < 32);
                let slot = slot.ok_or_else(|| unsupported("slots go from 0 to 31"))?;
                let binding = binding(module, slot, variable, element, kind, resource.image);
                let binding = binding.ok_or_else(|| unsupported("a resource that the format has no binding for"))?;
                let known = bindings.entry(slot).or_insert(binding);
                if (known.base, known.shape) != (binding.base, binding.shape) {
                    return Err(unsupported("of another type in another stage"));
                }
                known.stages.0 |= stage.bit();
            }
            (1, DescriptorKind::UniformBuffer) => {
                let uniform = uniform(module, element, names).ok_or_else(|| {
                    unsupported("a uniform is a struct of numbers, vectors, matrices and arrays of them")
                })?;
                let known = model.uniform.get_or_insert(uniform);
                known.stages.0 |= stage.bit();
            }
            (2, DescriptorKind::InputAttachment) => {
                let index = resource.binding as usize;
                let texel = subpass_texel(module, element);
                if index >= 4 {
                    return Err(unsupported("there are four subpass inputs"));
                }
                let gap = SubpassInput {
                    texel: TexelType::FLOAT,
                    components: 4,
                };
                let length = model.subpass_inputs.len().max(index + 1);
                model.subpass_inputs.resize(length, gap);
                model.subpass_inputs[index] = SubpassInput { texel, components: 4 };
            }
            _ => return Err(unsupported("a resource outside the format's sets")),
        }
    }
    Ok(())
}

fn subpass_texel(module: &Module, element: u32) -> TexelType {
    let sampled = module
        .operands::<2>(element, op::TYPE_IMAGE)
        .map(|&[_, sampled]| sampled);
    match sampled.and_then(|sampled| number(module, sampled)) {
        Some((BaseType::INT, ..)) => TexelType::INT,
        Some((BaseType::UINT, ..)) => TexelType::UINT,
        _ => TexelType::FLOAT,
    }
}

fn binding(
    module: &Module,
    slot: u8,
    variable: u32,
    element: u32,
    kind: DescriptorKind,
    seen: Option<(TexelRank, TexelType)>,
) -> Option<Binding> {
    let read_only = || {
        let member = |words: &&Vec<u32>| {
            opcode(words) == op::MEMBER_DECORATE && words[1..4] == [element, 0, decoration::NON_WRITABLE]
        };
        module.decoration(variable, decoration::NON_WRITABLE).is_some() || module.body.iter().any(|w| member(&w))
    };
    let base = match kind {
        DescriptorKind::CombinedImageSampler => BaseType::SAMPLER,
        DescriptorKind::StorageImage => BaseType::IMAGE,
        DescriptorKind::StorageBuffer if read_only() => BaseType::RO_BUFFER,
        DescriptorKind::StorageBuffer => BaseType::RW_BUFFER,
        DescriptorKind::UniformTexelBuffer => BaseType::RO_TEXELS,
        DescriptorKind::StorageTexelBuffer => BaseType::RW_TEXELS,
        _ => return None,
    };
    let shape = if base.is_buffer() {
        Shape::Buffer {
            size: element_size(module, element)?.try_into().ok()?,
        }
    } else {
        let (rank, texel) = seen?;
        let (texel, size, components) = match base {
            BaseType::SAMPLER | BaseType::RO_TEXELS => (texel, 4, 4),
            _ => image::format(module.operands::<8>(element, op::TYPE_IMAGE)?[7])?,
        };
        Shape::Texel {
            rank,
            texel,
            size,
            components,
        }
    };
    Some(Binding {
        slot,
        base,
        stages: Stages::NONE,
        shape,
    })
}

/// Bytes of one element of a buffer: the stride of the block's runtime array.
fn element_size(module: &Module, block: u32) -> Option<u32> {
    let &[_, array] = module.operands(block, op::TYPE_STRUCT)?;
    module.operands::<2>(array, op::TYPE_RUNTIME_ARRAY)?;
    module.decoration(array, decoration::ARRAY_STRIDE)
}

fn uniform(module: &Module, block: u32, names: &Names) -> Option<UniformModel> {
    let structure = inner_struct(module, block);
    let members = module
        .definition(structure)
        .filter(|words| opcode(words) == op::TYPE_STRUCT)?
        .get(2..)?;
    let mut uniform = UniformModel::default();
    for (index, member) in members.iter().enumerate() {
        let (base, dims, array) = number(module, *member)?;
        let offset = uniform.size;
        let name = names.uniform.get(index).cloned();
        let name = name.or_else(|| member_name(module, structure, index as u32));
        let name = name.unwrap_or_else(|| format!("member_{index}")).into_bytes();
        uniform.members.push(UniformMember {
            name,
            offset,
            base,
            dims,
            array,
        });
        uniform.size += 4 * u32::from(dims[0]) * u32::from(dims[1]) * u32::from(array);
    }
    Some(uniform)
}

/// The user's struct: a block that holds one struct and nothing else is only its wrapper.
fn inner_struct(module: &Module, block: u32) -> u32 {
    match module.definition(block) {
        Some([_, _, only]) if module.operands::<1>(*only, op::TYPE_STRUCT).is_some() => *only,
        _ => block,
    }
}

fn member_name(module: &Module, structure: u32, member: u32) -> Option<String> {
    let is = |words: &&Vec<u32>| opcode(words) == op::MEMBER_NAME && words[1..].starts_with(&[structure, member]);
    let words = module.body.iter().find(is)?;
    let bytes: Vec<u8> = words[3..]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8(bytes)
        .ok()
        .filter(|name| !name.is_empty() && name.len() <= 32)
}

/// Gives every block of sets 0 and 1 scalar layout: members one after another, arrays and matrices tight.
fn scalar_layout(words: &[u32]) -> Result<Vec<u32>> {
    let mut module = Module::parse(words)?;
    let blocks: Vec<u32> = module
        .variables()
        .filter(|[_, id, class]| {
            let set = module.decoration(*id, decoration::DESCRIPTOR_SET);
            *class != class::UNIFORM_CONSTANT && matches!(set, Some(0 | 1))
        })
        .filter_map(|[pointer, ..]| {
            let pointee = module.pointee(pointer)?;
            Some(
                module
                    .operands(pointee, op::TYPE_ARRAY)
                    .map_or(pointee, |&[_, element, _]| element),
            )
        })
        .collect();
    let mut layout = Layout::default();
    for block in blocks {
        layout.size(&module, block, 0);
    }
    let laid = |words: &Vec<u32>| match (opcode(words), words.as_slice()) {
        (op::DECORATE, [_, id, decoration::ARRAY_STRIDE, ..]) => layout.strides.contains_key(id),
        (op::MEMBER_DECORATE, [_, id, _, decoration::OFFSET | decoration::MATRIX_STRIDE, ..]) => {
            layout.structs.contains(id)
        }
        _ => false,
    };
    let mut added = layout.decorations.clone();
    let stride = |(id, stride): (&u32, &u32)| build(op::DECORATE, &[*id, decoration::ARRAY_STRIDE, *stride]);
    added.extend(layout.strides.iter().map(stride));
    let old: HashSet<&Vec<u32>> = module.body.iter().filter(|words| laid(words)).collect();
    if old == added.iter().collect() {
        return Ok(words.to_vec());
    }
    module.body.retain(|words| !laid(words));
    module.sweep();
    module.insert(module.annotations_end(), added);
    Ok(module.words())
}

/// Puts a uniform block that has its members directly around a struct of them, as the compiler has it.
fn wrap_uniform(words: &[u32]) -> Result<Vec<u32>> {
    let mut module = Module::parse(words)?;
    let is_uniform = |[_, id, class]: &[u32; 3]| {
        *class == class::UNIFORM && module.decoration(*id, decoration::DESCRIPTOR_SET) == Some(1)
    };
    let Some([pointer, variable, class]) = module.variables().find(is_uniform) else {
        return Ok(words.to_vec());
    };
    let Some(block) = module
        .pointee(pointer)
        .filter(|block| inner_struct(&module, *block) == *block)
    else {
        return Ok(words.to_vec());
    };
    let is = |words: &Vec<u32>| opcode(words) == op::VARIABLE && words[2] == variable;
    let at = module.body.iter().position(is).expect("it was found above");
    let (uint, zero, wrapper, wrapper_pointer) = (module.fresh(), module.fresh(), module.fresh(), module.fresh());
    let is_uint = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words[2..] == [32, 0];
    let known = module.body[..at].iter().find(is_uint).map(|words| words[1]);
    let mut added = Vec::new();
    if known.is_none() {
        added.push(build(op::TYPE_INT, &[uint, 32, 0]));
    }
    added.push(build(op::CONSTANT, &[known.unwrap_or(uint), zero, 0]));
    added.push(build(op::TYPE_STRUCT, &[wrapper, block]));
    added.push(build(op::TYPE_POINTER, &[wrapper_pointer, class, wrapper]));
    module.body[at][1] = wrapper_pointer;
    module.insert(at, added);
    for words in &mut module.body {
        match (opcode(words), words.as_mut_slice()) {
            (op::DECORATE, [_, target, decoration::BLOCK]) if *target == block => *target = wrapper,
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, _, _, base, ..]) if *base == variable => {
                words.insert(4, zero);
                *words = seal(std::mem::take(words));
            }
            _ => {}
        }
    }
    load_through(&mut module, variable, pointer, zero);
    let offset = build(op::MEMBER_DECORATE, &[wrapper, 0, decoration::OFFSET, 0]);
    module.insert(module.annotations_end(), vec![offset]);
    Ok(module.words())
}

/// Loads of the whole variable go through its only member.
fn load_through(module: &mut Module, variable: u32, pointer: u32, zero: u32) {
    while let Some(at) = module
        .body
        .iter()
        .position(|words| opcode(words) == op::LOAD && words[3] == variable)
    {
        let inner = module.fresh();
        module.body[at][3] = inner;
        module.insert(at, vec![build(op::ACCESS_CHAIN, &[pointer, inner, variable, zero])]);
    }
}

/// Scalar layout of the types that blocks are made of.
#[derive(Default)]
struct Layout {
    structs: HashSet<u32>,
    strides: BTreeMap<u32, u32>,
    decorations: Vec<Vec<u32>>,
}

impl Layout {
    /// Bytes of a type; its decorations are noted on the way.
    fn size(&mut self, module: &Module, id: u32, depth: u32) -> u32 {
        if depth > 16 {
            return 0;
        }
        if let Some((_, [rows, columns], array)) = number(module, id).filter(|number| number.2 == 1) {
            return 4 * u32::from(rows) * u32::from(columns) * u32::from(array);
        }
        if let Some(&[_, element, length]) = module.operands(id, op::TYPE_ARRAY) {
            let stride = self.size(module, element, depth + 1);
            self.strides.insert(id, stride);
            return stride.saturating_mul(module.constant(length).unwrap_or(0));
        }
        if let Some(&[_, element]) = module.operands(id, op::TYPE_RUNTIME_ARRAY) {
            let stride = self.size(module, element, depth + 1);
            self.strides.insert(id, stride);
            return 0;
        }
        let Some(members) = module.definition(id).filter(|words| opcode(words) == op::TYPE_STRUCT) else {
            return 4;
        };
        let members = members[2..].to_vec();
        let new = self.structs.insert(id);
        let mut offset = 0u32;
        for (index, member) in (0u32..).zip(members) {
            let size = self.size(module, member, depth + 1);
            if new {
                self.decorations
                    .push(build(op::MEMBER_DECORATE, &[id, index, decoration::OFFSET, offset]));
                if let Some(stride) = matrix_stride(module, member) {
                    let words = [id, index, decoration::MATRIX_STRIDE, stride];
                    self.decorations.push(build(op::MEMBER_DECORATE, &words));
                }
            }
            offset = offset.saturating_add(size);
        }
        offset
    }
}

/// Bytes from column to column of a matrix, or of an array's matrices.
fn matrix_stride(module: &Module, id: u32) -> Option<u32> {
    let element = module
        .operands(id, op::TYPE_ARRAY)
        .map_or(id, |&[_, element, _]| element);
    module.operands::<3>(element, op::TYPE_MATRIX)?;
    number(module, element).map(|(_, [rows, _], _)| 4 * u32::from(rows))
}
