//! Arrays of numbers and vectors in buffers whose elements are closer together than WGSL has them, as arrays of single
//! numbers, or of `vec4` in uniform buffers, where WGSL's strides are multiples of 16 bytes.

use super::declarations::Declarations;
use super::editor::{Editor, build, context, id_operands, opcode};
use crate::Result;
use crate::spirv::operand::Context;
use crate::spirv::{Grammar, ModuleIndex, class, decoration, op};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Limit on nested types; those of an invalid module may be recursive.
const MAX_DEPTH: u32 = 16;

/// A flattened array.
#[derive(Clone, Copy)]
struct Flat {
    scalar: u32,
    /// Components of an element.
    count: u32,
    /// Words from one element to the next.
    step: u32,
    /// Whether four words at a time are an element.
    in_fours: bool,
    /// The number of elements, or `None` for a runtime array.
    length: Option<u32>,
}

/// The module with such arrays flattened. It is unchanged if there is none, if one is loaded or stored as a whole, or if a
/// pointer to an element is passed to a function.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn close_arrays(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let is_uniform = |global: &crate::spirv::Located| {
        let block = index.unwrapped(global.pointee);
        let is_block = |id| index.decoration(id, decoration::BUFFER_BLOCK).is_none();
        global.class == class::UNIFORM && is_block(block) && is_block(global.pointee)
    };
    let mut in_uniforms = HashSet::new();
    for global in index.globals().filter(is_uniform) {
        inside(&index, global.pointee, 0, &mut in_uniforms);
    }
    let mut arrays: BTreeMap<u32, Flat> = BTreeMap::new();
    for node in index.instructions().take_while(|node| node.opcode != op::FUNCTION) {
        if let (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, Some(id)) = (node.opcode, node.operand(0))
            && let Some(flat) = flat(&index, id, in_uniforms.contains(&id))
        {
            arrays.insert(id, flat);
        }
    }
    let mut module = Editor::new(&index)?;
    if arrays.is_empty() || !are_followed(&module, &arrays) {
        return Ok(words.to_vec());
    }
    let mut work = Work {
        types: types_of(&module),
        declared: Declarations::of(&index, &module),
        index: &index,
        arrays,
        elements: HashMap::new(),
        code: Vec::new(),
    };
    let start = module.functions_start();
    let old = module.body.split_off(start);
    let mut body = Vec::with_capacity(old.len());
    for instruction in old {
        if work.rewrite(&mut module, instruction, &mut body).is_none() {
            return Ok(words.to_vec());
        }
    }
    module.body.append(&mut body);
    let Work { declared, arrays, .. } = work;
    retype(&mut module, &context(&index), declared, &arrays);
    Ok(module.words())
}

/// Collects the arrays and structs that a type contains.
fn inside(index: &ModuleIndex, ty: u32, depth: u32, found: &mut HashSet<u32>) {
    if depth > MAX_DEPTH {
        return;
    }
    if matches!(index.opcode(ty), op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY) {
        if let Some(element) = index
            .definition(ty)
            .and_then(|node| node.operand(1))
            .filter(|_| found.insert(ty))
        {
            inside(index, element, depth + 1, found);
        }
    } else if let Some(members) = index.members(ty).filter(|_| found.insert(ty)) {
        for member in members {
            inside(index, member, depth + 1, found);
        }
    }
}

/// How an array is flattened; `None` if WGSL has it as it is, or if its elements are no numbers of 32 bits.
fn flat(index: &ModuleIndex, id: u32, is_uniform: bool) -> Option<Flat> {
    let node = index.definition(id)?;
    let (element, stride) = (node.operand(1)?, index.decoration(id, decoration::ARRAY_STRIDE)?);
    let (scalar, count) = index.vector(element);
    if !matches!(index.opcode(scalar), op::TYPE_INT | op::TYPE_FLOAT) || index.definition(scalar)?.operand(1)? != 32 {
        return None;
    }
    let align = if count == 3 { 4 } else { count };
    let is_close = stride / 4 < align || is_uniform && stride % 16 != 0;
    let length = match node.opcode {
        op::TYPE_ARRAY => Some(index.constant(node.operand(2)?)?),
        _ => None,
    };
    let fits = length.is_none_or(|length| length.checked_mul(stride / 4).is_some());
    (is_close && fits && stride % 4 == 0 && stride / 4 >= count).then_some(Flat {
        scalar,
        count,
        step: stride / 4,
        in_fours: is_uniform,
        length,
    })
}

/// Whether no value of the array types is used as a whole.
fn are_followed(module: &Editor, arrays: &BTreeMap<u32, Flat>) -> bool {
    let row = |words: &Vec<u32>| Grammar::builtin().row(opcode(words));
    let is_whole = |words: &Vec<u32>| row(words).is_some_and(|row| row.has_type && row.has_result);
    let start = module.functions_start();
    // Values of structs with such arrays are taken apart nowhere else.
    let is_extracted = |words: &Vec<u32>| is_whole(words) && arrays.contains_key(&words[1]);
    !module.body[start..].iter().any(is_extracted)
}

fn types_of(module: &Editor) -> HashMap<u32, u32> {
    let typed = |words: &Vec<u32>| {
        let row = Grammar::builtin().row(opcode(words))?;
        (row.has_type && row.has_result).then(|| (words[2], words[1]))
    };
    module.body.iter().filter_map(typed).collect()
}

/// A pointer to an element of several components, which is no pointer any more.
#[derive(Clone)]
struct Element {
    flat: Flat,
    class: u32,
    /// The array's place: a base and indices.
    base: Vec<u32>,
    /// Its first word.
    word: u32,
}

struct Work<'i, 'a> {
    types: HashMap<u32, u32>,
    declared: Declarations,
    index: &'i ModuleIndex<'a>,
    arrays: BTreeMap<u32, Flat>,
    elements: HashMap<u32, Element>,
    code: Vec<Vec<u32>>,
}

impl Work<'_, '_> {
    fn emit(&mut self, module: &mut Editor, kind: u16, operands: &[u32]) -> u32 {
        let (uint, id) = (self.declared.uint(module), module.fresh());
        self.code.push(build(kind, &[&[uint, id], operands].concat()));
        id
    }

    /// The instructions that stand for one; `None` if a pointer is used in a way that has no replacement.
    fn rewrite(&mut self, module: &mut Editor, words: Vec<u32>, body: &mut Vec<Vec<u32>>) -> Option<()> {
        let kept = match opcode(&words) {
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => self.chain(module, words)?,
            op::LOAD if self.elements.contains_key(&words[3]) => {
                let element = self.elements[&words[3]].clone();
                let mut parts = vec![words[1], words[2]];
                for at in 0..element.flat.count {
                    let pointer = self.part(module, &element, at);
                    let id = module.fresh();
                    self.code.push(build(op::LOAD, &[element.flat.scalar, id, pointer]));
                    parts.push(id);
                }
                Some(build(op::COMPOSITE_CONSTRUCT, &parts))
            }
            op::STORE if self.elements.contains_key(&words[1]) => {
                let element = self.elements[&words[1]].clone();
                for at in 0..element.flat.count {
                    let (pointer, id) = (self.part(module, &element, at), module.fresh());
                    self.code
                        .push(build(op::COMPOSITE_EXTRACT, &[element.flat.scalar, id, words[2], at]));
                    self.code.push(build(op::STORE, &[pointer, id]));
                }
                None
            }
            op::ARRAY_LENGTH => {
                let pointee = self.index.pointee(*self.types.get(&words[3])?);
                let member = pointee.and_then(|ty| self.index.members(ty)?.nth(words[4] as usize));
                match member.and_then(|member| self.arrays.get(&member)).copied() {
                    Some(flat) => {
                        let length = self.emit(module, op::ARRAY_LENGTH, &[words[3], words[4]]);
                        let step = self.declared.number(module, flat.step);
                        Some(build(op::U_DIV, &[words[1], words[2], length, step]))
                    }
                    None => Some(words),
                }
            }
            _ if id_operands(words.as_slice()).any(|id| self.elements.contains_key(&id)) => return None,
            _ => Some(words),
        };
        body.append(&mut self.code);
        body.extend(kept);
        Some(())
    }

    /// A chain that leads into a flattened array; `Some(None)` if it ends at an element of several components.
    fn chain(&mut self, module: &mut Editor, words: Vec<u32>) -> Option<Option<Vec<u32>>> {
        let (ty, id, base, steps) = (words[1], words[2], words[3], &words[4..]);
        if let Some(element) = self.elements.get(&base).cloned() {
            let [component] = steps else { return None };
            let component = self.unsigned(module, *component)?;
            let word = self.sum(module, element.word, component);
            let chain = self.at_word(module, &element, word);
            return Some(Some(build(op::ACCESS_CHAIN, &[&[ty, id], &chain[..]].concat())));
        }
        let pointer = *self.types.get(&base)?;
        let class = self.index.definition(pointer)?.operand(1)?;
        let Some(mut of) = self.index.pointee(pointer) else {
            return Some(Some(words));
        };
        for (at, step) in steps.iter().enumerate() {
            if let Some(flat) = self.arrays.get(&of).copied() {
                let number = self.unsigned(module, *step)?;
                let element = Element {
                    flat,
                    class,
                    base: words[3..4 + at].to_vec(),
                    word: self.product(module, number, flat.step),
                };
                let word = match (&steps[at + 1..], flat.count) {
                    ([], 1) => element.word,
                    ([], _) => {
                        self.elements.insert(id, element);
                        return Some(None);
                    }
                    ([component], _) => {
                        let component = self.unsigned(module, *component)?;
                        self.sum(module, element.word, component)
                    }
                    _ => return None,
                };
                let chain = self.at_word(module, &element, word);
                return Some(Some(build(op::ACCESS_CHAIN, &[&[ty, id], &chain[..]].concat())));
            }
            of = match self.index.opcode(of) {
                op::TYPE_STRUCT => self.index.members(of)?.nth(self.index.constant(*step)? as usize)?,
                _ => match self.index.definition(of)?.operand(1) {
                    Some(element) => element,
                    None => return Some(Some(words)),
                },
            };
        }
        Some(Some(words))
    }

    /// An index as an unsigned number.
    fn unsigned(&mut self, module: &mut Editor, id: u32) -> Option<u32> {
        let ty = match self.types.get(&id) {
            Some(ty) => *ty,
            None => return None,
        };
        let [_, 32, sign] = self.index.operands(ty, op::TYPE_INT)? else {
            return None;
        };
        if let Some(value) = self.index.constant(id) {
            return Some(self.declared.number(module, value));
        }
        Some(match sign {
            0 => id,
            _ => self.emit(module, op::BITCAST, &[id]),
        })
    }

    fn product(&mut self, module: &mut Editor, a: u32, factor: u32) -> u32 {
        match (factor, self.declared.value(a)) {
            (1, _) => a,
            (_, Some(value)) => self.declared.number(module, value.wrapping_mul(factor)),
            _ => {
                let factor = self.declared.number(module, factor);
                self.emit(module, op::I_MUL, &[a, factor])
            }
        }
    }

    fn sum(&mut self, module: &mut Editor, a: u32, b: u32) -> u32 {
        match (self.declared.value(a), self.declared.value(b)) {
            (_, Some(0)) => a,
            (Some(a), Some(b)) => self.declared.number(module, a.wrapping_add(b)),
            _ => self.emit(module, op::I_ADD, &[a, b]),
        }
    }

    /// The base and indices of a word of a flattened array.
    fn at_word(&mut self, module: &mut Editor, element: &Element, word: u32) -> Vec<u32> {
        let mut chain = element.base.clone();
        if !element.flat.in_fours {
            chain.push(word);
        } else if let Some(value) = self.declared.value(word) {
            chain.extend([value / 4, value % 4].map(|value| self.declared.number(module, value)));
        } else {
            let [two, three] = [2, 3].map(|value| self.declared.number(module, value));
            chain.push(self.emit(module, op::SHIFT_RIGHT_LOGICAL, &[word, two]));
            chain.push(self.emit(module, op::BITWISE_AND, &[word, three]));
        }
        chain
    }

    /// A pointer to a component of an element.
    fn part(&mut self, module: &mut Editor, element: &Element, at: u32) -> u32 {
        let component = self.declared.number(module, at);
        let word = self.sum(module, element.word, component);
        let chain = self.at_word(module, element, word);
        let pointer = self
            .declared
            .ty(module, op::TYPE_POINTER, &[element.class, element.flat.scalar]);
        let id = module.fresh();
        self.code
            .push(build(op::ACCESS_CHAIN, &[&[pointer, id], &chain[..]].concat()));
        id
    }
}

/// Redeclares the arrays.
fn retype(module: &mut Editor, context: &Context, declared: Declarations, arrays: &BTreeMap<u32, Flat>) {
    let (mut lengths, mut ahead) = (BTreeMap::new(), BTreeMap::new());
    for (id, flat) in arrays {
        // Types and lengths stand ahead of the arrays, other declarations at the end.
        let mut own = Vec::new();
        let mut element = flat.scalar;
        if flat.in_fours {
            element = module.fresh();
            own.push(build(op::TYPE_VECTOR, &[element, flat.scalar, 4]));
        }
        if let Some(length) = flat.length {
            let words = length.saturating_mul(flat.step);
            let count = if flat.in_fours { words.div_ceil(4) } else { words };
            let (uint, number) = (module.fresh(), module.fresh());
            own.push(build(op::TYPE_INT, &[uint, 32, 0]));
            own.push(build(op::CONSTANT, &[uint, number, count]));
            lengths.insert(*id, number);
        }
        ahead.insert(*id, (element, own));
    }
    let mut body = Vec::with_capacity(module.body.len() + 4 * arrays.len());
    for mut words in std::mem::take(&mut module.body) {
        match (opcode(&words), words.get(1).and_then(|id| ahead.get(id))) {
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, Some((element, own))) => {
                body.extend(own.iter().cloned());
                words[2] = *element;
                if let Some(length) = lengths.get(&words[1]) {
                    words[3] = *length;
                }
            }
            (op::DECORATE, _) if words[2] == decoration::ARRAY_STRIDE => {
                if let Some(flat) = arrays.get(&words[1]) {
                    words[3] = if flat.in_fours { 16 } else { 4 };
                }
            }
            _ => {}
        }
        body.push(words);
    }
    module.body = body;
    declared.insert(module);
    module.join_types(context);
}
