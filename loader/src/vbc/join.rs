//! Joins separate textures and samplers, as WGSL has them, into the format's combined image samplers.

use crate::spirv::transform::{Editor, build, opcode};
use crate::spirv::{ModuleIndex, class, decoration, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Joins each texture with the one sampler it is used with; the texture's binding stays. A module without separate
/// samplers is returned unchanged.
///
/// # Errors
/// Unsupported for a texture used with two samplers, and for textures or samplers passed to functions.
pub(super) fn join(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let samplers: HashSet<u32> = handles(&index, op::TYPE_SAMPLER);
    if samplers.is_empty() {
        return Ok(words.to_vec());
    }
    let loads = loads(&index);
    let mut partner: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    let mut sampled_types: BTreeMap<u32, u32> = BTreeMap::new();
    let mut joined: BTreeMap<u32, u32> = BTreeMap::new();
    for words in module.body.iter().filter(|words| opcode(words) == op::SAMPLED_IMAGE) {
        let &[_, ty, result, image, sampler] = words.as_slice() else {
            continue;
        };
        let (Some(texture), Some(sampler)) = (loads.get(&image), loads.get(&sampler)) else {
            return Err(Error::unsupported(
                "spirv",
                "a texture or sampler that is not a variable of its own",
            ));
        };
        partner.entry(*texture).or_default().insert(*sampler);
        sampled_types.insert(*texture, ty);
        joined.insert(result, image);
    }
    if let Some((texture, _)) = partner.iter().find(|(_, samplers)| samplers.len() != 1) {
        return Err(Error::unsupported(
            "spirv",
            format!("texture %{texture} is used with two samplers"),
        ));
    }
    retype(&mut module, &sampled_types);
    rewrite(&mut module, &loads, &sampled_types, &joined, &samplers);
    let used: HashSet<u32> = module.uses().into_keys().collect();
    let unused: HashSet<u32> = samplers.into_iter().filter(|sampler| !used.contains(sampler)).collect();
    module.replace_globals(&unused, &[]);
    Ok(module.words())
}

/// Variables whose pointee has this opcode.
fn handles(index: &ModuleIndex, wanted: u16) -> HashSet<u32> {
    let handles = index
        .globals()
        .filter(|variable| index.opcode(variable.pointee) == wanted);
    handles.map(|variable| variable.id).collect()
}

/// The global variable of each loaded value.
fn loads(index: &ModuleIndex) -> BTreeMap<u32, u32> {
    let placed = |id: u32| index.decoration(id, decoration::DESCRIPTOR_SET).is_some();
    let loads = index.bodies().filter(|node| node.opcode == op::LOAD);
    loads
        .filter_map(|node| node.head())
        .filter(|[_, _, pointer]| placed(*pointer))
        .map(|[_, loaded, pointer]| (loaded, pointer))
        .collect()
}

/// Makes the textures combined: their variables point to the sampled image type.
fn retype(module: &mut Editor, sampled_types: &BTreeMap<u32, u32>) {
    for (texture, sampled) in sampled_types {
        let mut added = Vec::new();
        let pointer = module.pointer_type(class::UNIFORM_CONSTANT, *sampled, &mut added);
        let is = |words: &Vec<u32>| opcode(words) == op::VARIABLE && words[2] == *texture;
        let at = module.body.iter().position(is).expect("a texture is a variable");
        module.body[at][1] = pointer;
        // The type may be declared after the variable, so both move to the end of the declarations.
        let variable = module.body.remove(at);
        let types = |words: &Vec<u32>| {
            matches!(opcode(words), op::TYPE_SAMPLED_IMAGE | op::TYPE_POINTER)
                && [*sampled, pointer].contains(&words[1])
        };
        let moved: Vec<Vec<u32>> = module.body.iter().filter(|words| types(words)).cloned().collect();
        module.body.retain(|words| !types(words));
        let end = module.functions_start();
        // Users of the sampled type or pointer are declared after them.
        let first = module.body[..end]
            .iter()
            .position(|words| uses_any(words, &[*sampled, pointer]))
            .unwrap_or(end);
        let mut declared = moved;
        declared.extend(added);
        module.insert(first, declared);
        let end = module.functions_start();
        module.insert(end, vec![variable]);
    }
}

/// Whether a declaration names one of these types.
fn uses_any(words: &[u32], ids: &[u32]) -> bool {
    matches!(
        opcode(words),
        op::TYPE_ARRAY | op::TYPE_POINTER | op::VARIABLE | op::TYPE_FUNCTION
    ) && words[1..].iter().any(|word| ids.contains(word))
}

/// Loads yield the combined value; uses of the image alone extract it; explicit `OpSampledImage` pairs are removed.
fn rewrite(
    module: &mut Editor,
    loads: &BTreeMap<u32, u32>,
    sampled_types: &BTreeMap<u32, u32>,
    joined: &BTreeMap<u32, u32>,
    samplers: &HashSet<u32>,
) {
    let start = module.functions_start();
    let functions = module.body.split_off(start);
    let combined: BTreeMap<u32, u32> = loads
        .iter()
        .filter(|(_, texture)| sampled_types.contains_key(texture))
        .map(|(loaded, _)| (*loaded, module.fresh()))
        .collect();
    for mut words in functions {
        match opcode(&words) {
            op::LOAD if samplers.contains(&words[3]) => continue,
            op::LOAD if combined.contains_key(&words[2]) => {
                let (image_type, image, texture) = (words[1], words[2], words[3]);
                let whole = combined[&image];
                module
                    .body
                    .push(build(op::LOAD, &[sampled_types[&texture], whole, texture]));
                module.body.push(build(op::IMAGE, &[image_type, image, whole]));
                continue;
            }
            op::SAMPLED_IMAGE => continue,
            _ => {}
        }
        // The first operand of sampling instructions is the combined value.
        if (op::IMAGE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_DREF_GATHER).contains(&opcode(&words))
            && words.len() > 3
            && let Some(image) = joined.get(&words[3])
        {
            words[3] = combined[image];
        }
        module.body.push(words);
    }
    module.sweep();
}
