//! Input attachments and arrays of blocks, which naga lacks. SkSL programs mark both by names, and the SPIR-V that naga
//! writes is rewritten; other languages get a texture, and a block with an array in it.

use crate::Result;
use loader::spirv::operand::{string, words_of_string};
use loader::spirv::transform::{Editor, build, opcode, seal};
use loader::spirv::{ModuleIndex, capability, class, decoration, dim, instructions, op};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Name prefix of an array of blocks' struct; its only member is the array.
pub(crate) const BLOCKS: &str = "sk_blocks_";
/// Name prefix of a texture that is an input attachment, followed by its decimal index, `_` and its name.
pub(crate) const ATTACHMENT: &str = "sk_attachment";

/// Replaces marked variables; returns the words unchanged if there are none.
///
/// # Errors
/// Invalid if the words cannot be walked.
pub(crate) fn finish(words: Vec<u32>) -> Result<Vec<u32>> {
    attachments(blocks(words)?)
}

/// Ids whose names begin with `begin`, and the rest of each name. Most modules have none, and are not decoded.
fn named(words: &[u32], begin: &str) -> Vec<(u32, String)> {
    let all = instructions(words).flatten();
    let names = all
        .take_while(|node| node.opcode != op::FUNCTION)
        .filter(|node| node.opcode == op::NAME);
    let names = names.filter_map(|node| Some((node.operand(0)?, string(node.operands().get(1..)?)?.0)));
    names
        .filter_map(|(id, name)| Some((id, name.strip_prefix(begin)?.to_owned())))
        .collect()
}

/// Changes the types of variables: `ty` adds the declarations that a variable's new pointer type needs before it, and
/// returns the type.
fn retype(module: &mut Editor, mut ty: impl FnMut(&mut Editor, u32, &mut Vec<Vec<u32>>) -> Option<u32>) {
    let mut at = 0;
    while at < module.body.len() {
        let variable = match module.body[at][..] {
            [_, _, id, ..] if opcode(&module.body[at]) == op::VARIABLE => Some(id),
            _ => None,
        };
        let mut added = Vec::new();
        if let Some(pointer) = variable.and_then(|id| ty(module, id, &mut added)) {
            module.body[at][1] = pointer;
        }
        let count = added.len();
        module.insert(at, added);
        at += count + 1;
    }
}

/// Marked textures become input attachments, and fetches from them read the pixel's own texel.
fn attachments(words: Vec<u32>) -> Result<Vec<u32>> {
    let marked = named(&words, ATTACHMENT);
    if marked.is_empty() {
        return Ok(words);
    }
    let index = ModuleIndex::new(&words)?;
    let mut module = Editor::new(&index)?;
    let mut variables = HashMap::new();
    for (id, name) in marked {
        let variable = index.globals().find(|global| global.id == id);
        if let (Some(variable), Some((number, name))) = (variable, name.split_once('_'))
            && let Ok(number) = number.parse::<u32>()
        {
            variables.insert(id, (variable.pointee, number, name.to_owned()));
        }
    }
    let types = attached(&index, &mut module, &variables);
    let mut loads = HashSet::new();
    let mut nulls: HashMap<u32, u32> = HashMap::new();
    let coordinates = result_types(&module);
    for at in 0..module.body.len() {
        let mut words = std::mem::take(&mut module.body[at]);
        match opcode(&words) {
            op::LOAD if types.contains_key(&words[3]) => {
                words[1] = types[&words[3]];
                loads.insert(words[2]);
            }
            op::IMAGE_FETCH if loads.contains(&words[3]) => {
                if let Some(ty) = coordinates.get(&words[4]) {
                    let null = *nulls.entry(*ty).or_insert_with(|| module.fresh());
                    words = build(op::IMAGE_READ, &[words[1], words[2], words[3], null]);
                }
            }
            op::NAME => {
                if let Some((_, _, name)) = variables.get(&words[1]) {
                    words.truncate(2);
                    words.extend(words_of_string(name.as_str()));
                    words = seal(words);
                }
            }
            _ => {}
        }
        module.body[at] = words;
    }
    let start = module.functions_start();
    let nulls = nulls.into_iter().map(|(ty, id)| build(op::CONSTANT_NULL, &[ty, id]));
    module.insert(start, nulls.collect());
    let decorations = variables
        .iter()
        .map(|(id, (_, number, _))| build(op::DECORATE, &[*id, decoration::INPUT_ATTACHMENT_INDEX, *number]));
    let at = module.annotations_end();
    module.insert(at, decorations.collect());
    module.add_capability(capability::INPUT_ATTACHMENT);
    Ok(module.words())
}

/// Gives the variables subpass image types; returns the new image type of each.
fn attached(
    index: &ModuleIndex,
    module: &mut Editor,
    variables: &HashMap<u32, (u32, u32, String)>,
) -> HashMap<u32, u32> {
    let (mut of_image, mut types) = (HashMap::new(), HashMap::new());
    retype(module, |module, id, added| {
        let (image, _, _) = variables.get(&id)?;
        let [_, texel, ..] = index.operands::<8>(*image, op::TYPE_IMAGE)?;
        let image = *of_image.entry(*image).or_insert_with(|| {
            let id = module.fresh();
            // No depth, not an array, one sample, used without a sampler, unknown format.
            added.push(build(op::TYPE_IMAGE, &[id, texel, dim::SUBPASS_DATA, 0, 0, 0, 2, 0]));
            id
        });
        types.insert(id, image);
        Some(module.pointer_type(class::UNIFORM_CONSTANT, image, added))
    });
    types
}

/// The type of every result in functions.
fn result_types(module: &Editor) -> HashMap<u32, u32> {
    let bodies = module.body[module.functions_start()..].iter();
    let constants = module
        .body
        .iter()
        .filter(|words| matches!(opcode(words), op::CONSTANT..=op::CONSTANT_NULL));
    let typed = bodies.chain(constants).filter(|words| words.len() > 2);
    let typed = typed.filter(|words| loader::spirv::transform::result(words) == Some(words[2]));
    typed.map(|words| (words[2], words[1])).collect()
}

/// An array of blocks in naga's form: an array in a struct, possibly nested in another.
struct Blocks {
    element: u32,
    length: u32,
    /// Structs around the array.
    depth: usize,
}

/// Turns a block whose only member is the array into an array of blocks, each with a descriptor.
fn blocks(words: Vec<u32>) -> Result<Vec<u32>> {
    let marked: Vec<u32> = named(&words, BLOCKS).into_iter().map(|(id, _)| id).collect();
    if marked.is_empty() {
        return Ok(words);
    }
    let index = ModuleIndex::new(&words)?;
    let mut module = Editor::new(&index)?;
    let found = index.globals().filter_map(|global| {
        let only = |id: u32| index.members(id)?.next();
        let (mut depth, mut holder) = (1, global.pointee);
        if !marked.contains(&holder) {
            (depth, holder) = (2, only(holder)?);
        }
        let array = only(holder).filter(|_| marked.contains(&holder))?;
        let [_, element, length] = index.operands(array, op::TYPE_ARRAY)?;
        Some((global.id, Blocks { element, length, depth }))
    });
    let found: HashMap<u32, Blocks> = found.collect();
    let pointers = declare_arrays(&mut module, &found);
    let dynamic = follow(&index, &mut module, &found, &pointers);
    let elements: BTreeSet<u32> = found.values().map(|blocks| blocks.element).collect();
    let decorations = elements
        .into_iter()
        .map(|id| build(op::DECORATE, &[id, decoration::BLOCK]));
    let at = module.annotations_end();
    module.insert(at, decorations.collect());
    if dynamic {
        module.add_capability(capability::UNIFORM_BUFFER_ARRAY_DYNAMIC_INDEXING);
    }
    module.remove_unused_types();
    Ok(module.words())
}

/// Gives the variables their new types; returns the pointer type of each.
fn declare_arrays(module: &mut Editor, found: &HashMap<u32, Blocks>) -> HashMap<u32, u32> {
    let mut pointers = HashMap::new();
    retype(module, |module, id, added| {
        let Blocks { element, length, .. } = *found.get(&id)?;
        let array = module.fresh();
        added.push(build(op::TYPE_ARRAY, &[array, element, length]));
        let pointer = module.pointer_type(class::UNIFORM, array, added);
        pointers.insert(id, pointer);
        Some(pointer)
    });
    pointers
}

/// Removes the struct indices from every access chain; whether one index is dynamic.
fn follow(
    index: &ModuleIndex,
    module: &mut Editor,
    found: &HashMap<u32, Blocks>,
    pointers: &HashMap<u32, u32>,
) -> bool {
    // The variable that each pointer leads to, and the number of struct indices still to remove.
    let mut ways: HashMap<u32, (u32, usize)> = found.iter().map(|(id, blocks)| (*id, (*id, blocks.depth))).collect();
    let mut dynamic = false;
    for words in &mut module.body {
        let chain = matches!(opcode(words), op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN);
        let Some((variable, depth)) = words.get(3).filter(|_| chain).and_then(|base| ways.get(base)).copied() else {
            continue;
        };
        let left_out = depth.min(words.len() - 4);
        words.drain(4..4 + left_out);
        words[3] = variable;
        match words.get(4) {
            Some(element) => dynamic |= index.constant(*element).is_none(),
            None => {
                ways.insert(words[2], (variable, depth - left_out));
                *words = vec![u32::from(op::COPY_OBJECT), pointers[&variable], words[2], variable];
            }
        }
        *words = seal(std::mem::take(words));
    }
    dynamic
}
