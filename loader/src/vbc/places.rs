//! Assigns the format's places to resources elsewhere: shaders written for other engines have their uniform block in
//! set 0 or in push constants, and textures in any set.
//!
//! The uniform block (already [merged](super::merge)) goes to set 1, binding 0; subpass inputs to set 2, binding =
//! index. Resources in set 0 below slot 32 stay, and all others take the free slots in the order of their sets and
//! bindings. The plan covers all stages, so that a place means the same in each of them.

use super::fit;
use super::requirements::DescriptorKind;
use super::types::Stage;
use crate::spirv::transform::{Editor, build, opcode};
use crate::spirv::{ModuleIndex, class, decoration, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Slots in a file.
const SLOTS: u32 = 32;

/// Descriptor set and binding.
type Place = (u32, u32);

const UNIFORM: Place = (1, 0);

/// The new place of each resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    moves: BTreeMap<Place, Place>,
    /// Whether push constants are the uniform block.
    push_constants: bool,
}

/// The plan for all stages together, which do not use tables.
///
/// # Errors
/// Unsupported if there are more resources than slots.
pub(super) fn plan(stages: &[(Stage, &mut Vec<u32>)]) -> Result<Plan> {
    let (mut uniforms, mut slots, mut plan) = (BTreeSet::new(), BTreeSet::new(), Plan::default());
    let mut pushes = false;
    for (stage, words) in stages {
        let index = ModuleIndex::new(words.as_slice()).map_err(|error| error.within(stage))?;
        pushes |= index.globals().any(|variable| variable.class == class::PUSH_CONSTANT);
        for resource in fit::resources(&index).map_err(|error| error.within(stage))? {
            let place = (resource.set, resource.binding);
            match resource.kind {
                DescriptorKind::UniformBuffer => drop(uniforms.insert(place)),
                DescriptorKind::InputAttachment => subpass_input(&index, place, &mut plan),
                _ => drop(slots.insert(place)),
            }
        }
    }
    plan.push_constants = pushes && uniforms.is_empty();
    plan.moves.extend(uniforms.into_iter().map(|place| (place, UNIFORM)));
    let stays = |place: &Place| place.0 == 0 && place.1 < SLOTS;
    let mut free = (0..SLOTS).filter(|slot| !slots.contains(&(0, *slot)));
    for place in slots.iter().filter(|place| !stays(place)) {
        let slot = free
            .next()
            .ok_or_else(|| Error::unsupported("spirv", format!("more than {SLOTS} textures, images and buffers")))?;
        plan.moves.insert(*place, (0, slot));
    }
    plan.moves.retain(|from, to| from != to);
    Ok(plan)
}

/// A subpass input declares its index itself.
fn subpass_input(index: &ModuleIndex, place: Place, plan: &mut Plan) {
    let mut globals = index.globals();
    let variable = globals.find(|variable| index.place(variable.id) == Some(place));
    let number = variable.and_then(|variable| index.decoration(variable.id, decoration::INPUT_ATTACHMENT_INDEX));
    plan.moves.insert(place, (2, number.unwrap_or(place.1)));
}

/// Moves one stage's resources to the places of the plan.
///
/// # Errors
/// Invalid for a broken module.
pub(super) fn moved(words: &[u32], plan: &Plan) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let to: BTreeMap<u32, Place> = index
        .globals()
        .filter_map(|variable| Some((variable.id, *plan.moves.get(&index.place(variable.id)?)?)))
        .collect();
    let pushed = index.globals().find(|variable| variable.class == class::PUSH_CONSTANT);
    let pushed = pushed.filter(|_| plan.push_constants);
    if to.is_empty() && pushed.is_none() {
        return Ok(words.to_vec());
    }
    let mut module = Editor::new(&index)?;
    for words in &mut module.body {
        let (op::DECORATE, [_, target, kind, value]) = (opcode(words), words.as_mut_slice()) else {
            continue;
        };
        match (to.get(target), *kind) {
            (Some((set, _)), decoration::DESCRIPTOR_SET) => *value = *set,
            (Some((_, binding)), decoration::BINDING) => *value = *binding,
            _ => {}
        }
    }
    if let Some(variable) = pushed {
        as_uniform(&mut module, variable.id);
    }
    Ok(module.words())
}

/// Turns push constants into a uniform block: changes their storage class, and that of all pointers into them.
fn as_uniform(module: &mut Editor, variable: u32) {
    for words in &mut module.body {
        let class = match opcode(words) {
            op::TYPE_POINTER => words.get_mut(2),
            op::VARIABLE => words.get_mut(3),
            _ => None,
        };
        if let Some(class) = class.filter(|class| **class == class::PUSH_CONSTANT) {
            *class = class::UNIFORM;
        }
    }
    let (set, binding) = UNIFORM;
    let decorations = [(decoration::DESCRIPTOR_SET, set), (decoration::BINDING, binding)];
    let added = decorations.map(|(kind, value)| build(op::DECORATE, &[variable, kind, value]));
    module.insert(module.annotations_end(), added.to_vec());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::{Grammar, asm::assemble};

    /// A stage with a block and textures at places.
    fn stage(block: &str, textures: &[Place]) -> Vec<u32> {
        let mut text = String::from("OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpDecorate %s Block\n");
        let mut variables = String::new();
        match block.split_once(' ') {
            Some((set, binding)) => {
                text += &format!("OpDecorate %u DescriptorSet {set}\nOpDecorate %u Binding {binding}\n");
                variables += "%pu = OpTypePointer Uniform %s\n%u = OpVariable %pu Uniform\n";
            }
            None if block == "pushed" => {
                variables += "%pu = OpTypePointer PushConstant %s\n%u = OpVariable %pu PushConstant\n";
            }
            None => {}
        }
        for (number, (set, binding)) in textures.iter().enumerate() {
            text += &format!("OpDecorate %t{number} DescriptorSet {set}\nOpDecorate %t{number} Binding {binding}\n");
            variables += &format!("%t{number} = OpVariable %pt UniformConstant\n");
        }
        text += "%float = OpTypeFloat 32\n%s = OpTypeStruct %float\n%i = OpTypeImage %float 2D 0 0 0 1 Unknown\n\
                 %si = OpTypeSampledImage %i\n%pt = OpTypePointer UniformConstant %si\n";
        assemble(Grammar::builtin(), &(text + &variables), Default::default()).unwrap()
    }

    fn places(words: &[u32]) -> Vec<(u32, Place)> {
        let index = ModuleIndex::new(words).unwrap();
        let globals = index.globals().collect::<Vec<_>>();
        globals.iter().map(|v| (v.class, index.place(v.id).unwrap())).collect()
    }

    fn plan_of(stages: &[(Stage, Vec<u32>)]) -> Result<Plan> {
        let mut stages = stages.to_vec();
        let stages: Vec<_> = stages.iter_mut().map(|(stage, words)| (*stage, words)).collect();
        plan(&stages)
    }

    #[test]
    fn the_block_and_the_textures_find_their_sets() {
        let stages = [
            (Stage::Vert, stage("0 0", &[])),
            (Stage::Frag, stage("0 0", &[(0, 1), (1, 0), (0, 40)])),
        ];
        let plan = plan_of(&stages).unwrap();
        assert_eq!(
            places(&moved(&stages[0].1, &plan).unwrap()),
            [(class::UNIFORM, UNIFORM)]
        );
        let texture = |slot| (class::UNIFORM_CONSTANT, (0, slot));
        assert_eq!(
            places(&moved(&stages[1].1, &plan).unwrap()),
            [(class::UNIFORM, UNIFORM), texture(1), texture(2), texture(0)]
        );
    }

    #[test]
    fn push_constants_are_a_block_where_there_is_no_other() {
        let pushed = [(Stage::Frag, stage("pushed", &[]))];
        let out = moved(&pushed[0].1, &plan_of(&pushed).unwrap()).unwrap();
        assert_eq!(places(&out), [(class::UNIFORM, UNIFORM)]);
    }

    #[test]
    fn slots_have_an_end() {
        let many: Vec<Place> = (0..33).map(|binding| (3, binding)).collect();
        let error = plan_of(&[(Stage::Frag, stage("", &many))]).unwrap_err().to_string();
        assert!(error.contains("more than 32"), "{error}");
    }
}
