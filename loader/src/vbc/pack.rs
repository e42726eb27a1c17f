//! Builds a file from SPIR-V stages: the reflection is derived from the code.
//!
//! Two kinds of code are accepted. Code in VBC's convention (tables in set 0, indices in push constants) is kept
//! unchanged. Code with ordinary descriptors, whose binding in set 0 is the slot, is rewritten to use tables. In both,
//! the uniform block is at set 1, binding 0 and subpass inputs are in set 2, binding = index; ordinary code with other
//! places is moved there (`places.rs`).
//!
//! A single block gets scalar layout, which is the format's: code from front ends with other layouts is adapted, since
//! offsets are decorations and no instruction depends on them. Several blocks, and push constants beside one, are
//! merged (`merge.rs`) and their members keep their offsets; the gaps become padding members whose names begin with
//! [`PADDING`].

use super::declared::{self, Type};
use super::elements::wrap_buffers;
use super::fit::{self, Mode};
use super::limits::MAX_MEMBER_ARRAY;
use super::reach::{Reach, constant, redirect, uint_type};
use super::requirements::DescriptorKind;
use super::text::Typed;
use super::types::{BaseType, Binding, Shape, Stage, Stages, SubpassInput, Tables, TexelRank, TexelType, Variable};
use super::{Model, UniformMember, UniformModel, image, join, merge, places, raise};
use crate::spirv::layout::{Rules, lay_out};
use crate::spirv::transform::{Editor, build, id_operands, opcode};
use crate::spirv::{Located, ModuleIndex, class, decoration, op, specialize};
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap};

/// Information that the code does not contain, or overrides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of the uniform's members in order; further members keep their names in the code, or become `memberN`.
    pub uniform: Vec<String>,
    /// Vertex inputs that the code does not read (the others are derived).
    pub unused_inputs: Vec<Variable>,
    /// Table sizes.
    pub tables: Tables,
}

/// Prefix of the names of padding members.
pub const PADDING: &str = "_padding";

/// A file, and notes on how its stages were changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The file.
    pub model: Model,
    /// Notes on resources that were moved.
    pub notes: Vec<String>,
    /// The code's name for the resource of a slot, if it has one; the file does not store these.
    pub slots: BTreeMap<u8, String>,
}

/// Derives a file from its stages' code.
///
/// # Errors
/// Unsupported for anything that the format cannot hold: more than 32 slots, three-component outputs, arrays of
/// descriptors.
pub fn pack(stages: &[(Stage, Vec<u32>)], names: &Names) -> Result<Model> {
    Ok(pack_with_notes(stages, names)?.model)
}

/// Like [`pack`], with notes on resources that were moved.
///
/// # Errors
/// See [`pack`].
pub fn pack_with_notes(stages: &[(Stage, Vec<u32>)], names: &Names) -> Result<Packed> {
    let mut model = Model {
        tables: names.tables,
        ..Model::default()
    };
    let mut bindings: BTreeMap<u8, Binding> = BTreeMap::new();
    let mut called = BTreeMap::new();
    let mut lowered = Vec::new();
    let placed = placed(stages)?;
    for (stage, words, in_tables) in placed.stages {
        let (stage, words) = (&stage, &words);
        let place = |error: Error| error.within(stage);
        let index = ModuleIndex::new(words).map_err(place)?;
        let (words, plain) = if in_tables {
            lengths(&mut model, &fit::needs(&index).map_err(place)?);
            let plain = fit::fit(&index, &Mode::Lowered).map_err(place)?.words;
            (words.clone(), plain)
        } else {
            let words = wrap_buffers(words.clone()).map_err(place)?;
            let words = match placed.merged {
                true => scalar_layout(&words, &[0]).map_err(place)?,
                false => ordinary(&words).map_err(place)?,
            };
            (words.clone(), words)
        };
        let index = ModuleIndex::new(&plain).map_err(place)?;
        interface(&index, *stage, &mut model).map_err(place)?;
        resources(&index, *stage, &mut model, &mut bindings, names).map_err(place)?;
        slot_names(&index, &mut called);
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
    if let Some(uniform) = &mut model.uniform {
        pad(uniform);
    }
    Ok(Packed {
        model,
        notes: placed.notes,
        slots: called,
    })
}

/// Stages whose resources are in the format's sets.
struct Placed {
    /// Each stage, with whether it uses tables.
    stages: Vec<(Stage, Vec<u32>, bool)>,
    /// Whether the uniform was made of several blocks.
    merged: bool,
    notes: Vec<String>,
}

/// Moves the resources of stages with ordinary descriptors to the format's sets.
fn placed(stages: &[(Stage, Vec<u32>)]) -> Result<Placed> {
    let mut all = Vec::new();
    for (stage, words) in stages {
        let place = |error: Error| error.within(stage);
        let index = ModuleIndex::new(words).map_err(place)?;
        Editor::new(&index).map_err(place)?;
        let in_tables = uses_tables(&index);
        let words = match in_tables {
            true => words.clone(),
            false => join::join(&specialize(words).map_err(place)?).map_err(place)?,
        };
        all.push((*stage, words, in_tables));
    }
    let plain = all.iter_mut().filter(|(.., in_tables)| !in_tables);
    let mut plain: Vec<(Stage, &mut Vec<u32>)> = plain.map(|(stage, words, _)| (*stage, words)).collect();
    let merged = merge::merge(&mut plain)?;
    let plan = places::plan(&plain)?;
    for (stage, words) in plain {
        *words = places::moved(words, &plan).map_err(|error| error.within(stage))?;
    }
    Ok(Placed {
        stages: all,
        merged: merged.is_some(),
        notes: merged.into_iter().flatten().map(|part| part.note()).collect(),
    })
}

/// Converts the blocks of code with ordinary descriptors to those of the format.
fn ordinary(words: &[u32]) -> Result<Vec<u32>> {
    wrap_uniform(&unwrap_uniform(&scalar_layout(words, &[0, 1])?)?)
}

/// Table sizes of code in the format's convention.
fn lengths(model: &mut Model, needs: &fit::Needs) {
    let mut sizes = model.tables.sizes();
    for (size, length) in sizes.iter_mut().zip(needs.tables) {
        if let Ok(length @ 1..) = u16::try_from(length) {
            *size = length;
        }
    }
    model.tables = Tables::from_sizes(sizes);
}

/// Whether the code already reaches its resources through tables: set 0 holds arrays, and there are push constants.
fn uses_tables(index: &ModuleIndex) -> bool {
    let set = |id| index.decoration(id, decoration::DESCRIPTOR_SET);
    let mut globals = index.globals();
    let has_tables = globals.any(|v| set(v.id) == Some(0) && index.opcode(v.pointee) == op::TYPE_ARRAY);
    has_tables && index.globals().any(|v| v.class == class::PUSH_CONSTANT)
}

/// Vertex inputs and fragment outputs.
fn interface(index: &ModuleIndex, stage: Stage, model: &mut Model) -> Result<()> {
    let (wanted, list) = match stage {
        Stage::Vert => (class::INPUT, &mut model.inputs),
        Stage::Frag => (class::OUTPUT, &mut model.outputs),
        _ => return Ok(()),
    };
    for variable in index.globals().filter(|variable| variable.class == wanted) {
        let Some(location) = index.decoration(variable.id, decoration::LOCATION) else {
            continue;
        };
        let number = number(index, variable.pointee);
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
fn number(index: &ModuleIndex, id: u32) -> Option<(BaseType, [u8; 2], u8)> {
    match declared::type_of(index, id) {
        Type::Numeric(base, dims, count) => Some((base, dims, count.try_into().ok()?)),
        Type::Other => None,
    }
}

/// Bindings, the uniform and subpass inputs that a stage's code uses.
fn resources(
    index: &ModuleIndex,
    stage: Stage,
    model: &mut Model,
    bindings: &mut BTreeMap<u8, Binding>,
    names: &Names,
) -> Result<()> {
    for resource in fit::resources(index)? {
        let place = Some((resource.set, resource.binding));
        let Some(variable) = index.globals().find(|variable| index.place(variable.id) == place) else {
            continue;
        };
        let element = variable.pointee;
        let name = index.name(variable.id).filter(|name| !name.is_empty());
        let name = name.or_else(|| index.name(element)).unwrap_or_default();
        let place = format!("\"{name}\" (set {}, binding {})", resource.set, resource.binding);
        let unsupported = |why: &str| Error::unsupported("spirv", why).within(&place);
        match (resource.set, resource.kind) {
            (0, _) if resource.count != 1 => return Err(unsupported("an array of descriptors")),
            (0, kind) => {
                let slot = u8::try_from(resource.binding).ok().filter(|slot| *slot < 32);
                let slot = slot.ok_or_else(|| unsupported("slots go from 0 to 31"))?;
                let binding = binding(index, slot, variable.id, element, kind, resource.image);
                let binding = binding.ok_or_else(|| unsupported("the format has no such resource: a buffer is an array of one struct, an image has a known format"))?;
                let known = bindings.entry(slot).or_insert(binding);
                if (known.base, known.shape) != (binding.base, binding.shape) {
                    return Err(unsupported("of another type in another stage"));
                }
                known.stages.0 |= stage.bit();
            }
            (1, DescriptorKind::UniformBuffer) => {
                let members = uniform(index, element, names).map_err(|why| unsupported(&why))?;
                let uniform = model.uniform.get_or_insert_default();
                unite(uniform, members).map_err(|why| unsupported(&why))?;
                uniform.stages.0 |= stage.bit();
            }
            (2, DescriptorKind::InputAttachment) => {
                let texel = declared::image(index, element).map_or(TexelType::FLOAT, |(_, texel)| texel);
                let index = resource.binding as usize;
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

/// Records a stage's names for its slots: the variable's name, or else its block's.
fn slot_names(index: &ModuleIndex, called: &mut BTreeMap<u8, String>) {
    for variable in index.globals() {
        let Some((0, binding)) = index.place(variable.id) else {
            continue;
        };
        let name = [variable.id, variable.pointee].into_iter();
        let name = name.filter_map(|id| index.name(id)).find(|name| !name.is_empty());
        if let (Ok(slot), Some(name)) = (u8::try_from(binding), name) {
            called.entry(slot).or_insert(name);
        }
    }
}

fn binding(
    index: &ModuleIndex,
    slot: u8,
    variable: u32,
    element: u32,
    kind: DescriptorKind,
    seen: Option<(TexelRank, TexelType)>,
) -> Option<Binding> {
    let read_only = || {
        index.decoration(variable, decoration::NON_WRITABLE).is_some()
            || index.member_decoration(element, 0, decoration::NON_WRITABLE).is_some()
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
            size: element_size(index, element)?.try_into().ok()?,
        }
    } else {
        let (rank, texel) = seen?;
        let (texel, size, components) = match base {
            BaseType::SAMPLER | BaseType::RO_TEXELS => (texel, 4, 4),
            _ => image::texel_format(index.image(element)?.format)?,
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
fn element_size(index: &ModuleIndex, block: u32) -> Option<u32> {
    let [_, array] = index.operands(block, op::TYPE_STRUCT)?;
    index.operands::<2>(array, op::TYPE_RUNTIME_ARRAY)?;
    index.decoration(array, decoration::ARRAY_STRIDE)
}

/// The members of the uniform in a stage's code.
fn uniform(index: &ModuleIndex, block: u32, names: &Names) -> Result<Vec<UniformMember>, String> {
    let structure = index.members(block).and_then(|mut members| members.next());
    let leaves = declared::leaves(index, structure.unwrap_or(block));
    let leaves = leaves.map_err(|path| {
        format!("{path} of the uniform is not a 32-bit number, vector or matrix, and no array or struct of them")
    })?;
    let member = |(at, leaf): (usize, declared::Leaf)| {
        let array = u8::try_from(leaf.count);
        let array = array.map_err(|_| format!("{} has {} elements", leaf.path, leaf.count))?;
        let given = names.uniform.get(at).cloned();
        let fits = |path: &String| path.len() <= usize::from(u8::MAX);
        let name = given
            .or(Some(leaf.path).filter(fits))
            .unwrap_or_else(|| format!("member{at}"));
        Ok(UniformMember {
            name: name.into_bytes(),
            offset: leaf.offset,
            base: leaf.base,
            dims: leaf.dims,
            array,
        })
    };
    leaves.into_iter().enumerate().map(member).collect()
}

/// Merges a stage's members of the uniform with those of earlier stages; common members must be equal.
fn unite(uniform: &mut UniformModel, members: Vec<UniformMember>) -> Result<(), String> {
    for member in members {
        let at = uniform.members.partition_point(|known| known.offset < member.offset);
        match uniform.members.get(at) {
            Some(known) if known.offset == member.offset => {
                if (known.base, known.dims, known.array) != (member.base, member.dims, member.array) {
                    return Err(format!(
                        "the uniform block is one for all stages: its member {at} is {} {} here and {} {} in a stage before",
                        Typed(&member.typed()),
                        member.name.escape_ascii(),
                        Typed(&known.typed()),
                        known.name.escape_ascii(),
                    ));
                }
            }
            _ => uniform.members.insert(at, member),
        }
    }
    Ok(())
}

/// Fills gaps between members with padding and sets the uniform's size.
fn pad(uniform: &mut UniformModel) {
    let (mut end, mut all) = (0, Vec::new());
    for member in std::mem::take(&mut uniform.members) {
        while end < member.offset {
            let words = ((member.offset - end) / 4).clamp(1, MAX_MEMBER_ARRAY.into());
            all.push(UniformMember {
                name: format!("{PADDING}{end}").into_bytes(),
                offset: end,
                base: BaseType::FLOAT,
                dims: [1, 1],
                array: words as u8,
            });
            end += 4 * words;
        }
        let numbers = u32::from(member.dims[0]) * u32::from(member.dims[1]) * u32::from(member.array);
        end = end.max(member.offset.saturating_add(4 * numbers));
        all.push(member);
    }
    uniform.members = all;
    uniform.size = end;
}

/// Gives every block of these sets scalar layout: members and elements tightly packed.
fn scalar_layout(words: &[u32], sets: &[u32]) -> Result<Vec<u32>> {
    lay_out(words, Rules::Scalar, |index, variable| {
        let set = index.decoration(variable.id, decoration::DESCRIPTOR_SET);
        variable.class != class::UNIFORM_CONSTANT && set.is_some_and(|set| sets.contains(&set))
    })
}

/// The uniform's variable.
fn uniform_of(index: &ModuleIndex) -> Option<Located> {
    let mut globals = index.globals();
    globals.find(|v| v.class == class::UNIFORM && index.decoration(v.id, decoration::DESCRIPTOR_SET) == Some(1))
}

/// Removes structs around the uniform's block beyond the one that the compiler writes. Code that uses the outermost
/// other than by access chains stays unchanged, and is rejected because of the nested struct.
fn unwrap_uniform(words: &[u32]) -> Result<Vec<u32>> {
    let mut words = words.to_vec();
    loop {
        let index = ModuleIndex::new(&words)?;
        let only = |id| index.members(id).into_iter().flatten().next();
        let wrapped = uniform_of(&index).and_then(|uniform| Some((uniform, only(uniform.pointee)?)));
        let Some((uniform, inner)) = wrapped.filter(|(uniform, inner)| {
            let structure = index.unwrapped(uniform.pointee);
            structure != uniform.pointee && structure != *inner
        }) else {
            return Ok(words);
        };
        let Some(unwrapped) = without_wrapper(&index, &uniform, inner)? else {
            return Ok(words);
        };
        words = unwrapped;
    }
}

/// Replaces the uniform's variable by one of its block's only member.
fn without_wrapper(index: &ModuleIndex, uniform: &Located, inner: u32) -> Result<Option<Vec<u32>>> {
    let mut module = Editor::new(index)?;
    let start = module.functions_start();
    for words in &mut module.body[start..] {
        match (opcode(words), words.as_slice()) {
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, ty, result, base, _, rest @ ..])
                if *base == uniform.id =>
            {
                *words = match rest {
                    [] => build(op::COPY_OBJECT, &[*ty, *result, uniform.id]),
                    _ => build(opcode(words), &[&[*ty, *result, uniform.id], rest].concat()),
                };
            }
            _ if id_operands(words.as_slice()).any(|id| id == uniform.id) => return Ok(None),
            _ => {}
        }
    }
    let is = |words: &Vec<u32>| opcode(words) == op::VARIABLE && words[2] == uniform.id;
    let Some(at) = module.body.iter().position(is) else {
        return Ok(None);
    };
    let mut variable = module.body.remove(at);
    let mut added = Vec::new();
    variable[1] = module.pointer_type(class::UNIFORM, inner, &mut added);
    added.push(variable);
    let start = module.functions_start();
    module.insert(start, added);
    for words in &mut module.body {
        if let (op::DECORATE, [_, target, decoration::BLOCK]) = (opcode(words), words.as_mut_slice())
            && *target == uniform.pointee
        {
            *target = inner;
        }
    }
    Ok(Some(module.words()))
}

/// Wraps a uniform block that has its members directly in a struct, as the compiler does.
fn wrap_uniform(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let found = uniform_of(&index).filter(|v| index.unwrapped(v.pointee) == v.pointee);
    let Some(Located {
        id: variable,
        pointee: block,
        class,
        ..
    }) = found
    else {
        return Ok(words.to_vec());
    };
    let is = |words: &Vec<u32>| opcode(words) == op::VARIABLE && words[2] == variable;
    let at = module.body.iter().position(is).expect("it was found above");
    // After all types, so that no type is declared twice.
    let mut moved = module.body.remove(at);
    let mut added = Vec::new();
    let uint = uint_type(&mut module, &mut added);
    let zero = constant(&mut module, uint, 0, &mut added);
    let wrapper = module.fresh();
    added.push(build(op::TYPE_STRUCT, &[wrapper, block]));
    let reach = Reach {
        path: vec![variable, zero],
        pointer: std::mem::replace(&mut moved[1], module.pointer_type(class, wrapper, &mut added)),
        name: "the uniform".to_owned(),
    };
    added.push(moved);
    redirect(&mut module, &HashMap::from([(variable, reach)]))?;
    module.insert(module.functions_start(), added);
    for words in &mut module.body {
        if let (op::DECORATE, [_, target, decoration::BLOCK]) = (opcode(words), words.as_mut_slice())
            && *target == block
        {
            *target = wrapper;
        }
    }
    let offset = build(op::MEMBER_DECORATE, &[wrapper, 0, decoration::OFFSET, 0]);
    module.insert(module.annotations_end(), vec![offset]);
    Ok(module.words())
}
