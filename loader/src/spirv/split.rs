//! Splits combined image samplers into an image and a sampler.
//!
//! For consumers that only support separate ones (naga, and so WGSL). The image keeps the variable's id and binding;
//! the sampler gets the next free binding in the same set. All combined types and values are found in the module's
//! index first, and new ids are assigned; then one pass rewrites the module.

use super::transform::{build, seal};
use super::{Grammar, HEADER_WORDS, Instruction, ModuleIndex, decoration, instructions, op};
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap};

/// The replacements of an id: one for the image (or its type, pointer or array), one for the sampler.
#[derive(Clone, Copy)]
struct Twins {
    image: u32,
    sampler: u32,
}

struct Split<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    /// Arrays and pointers of combined types; both ids are new.
    types: HashMap<u32, Twins>,
    /// Variables, parameters and access chains; the image keeps the id.
    pointers: HashMap<u32, Twins>,
    /// Loaded combined values, with the parts they are rebuilt from.
    loads: HashMap<u32, Load>,
    /// Bindings of the samplers, by the place of the combined variable.
    moved: BTreeMap<(u32, u32), u32>,
    /// Id of the sampler type.
    sampler: u32,
    next: u32,
    /// Whether the sampler type has been declared.
    declared: bool,
    /// Label of the current block.
    block: u32,
    out: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Load {
    ty: u32,
    parts: Twins,
    /// Label of its block.
    block: u32,
}

/// Splits every combined image sampler; returns the words unchanged if there is none.
///
/// # Errors
/// Unsupported, with the instruction and its offset, if a combined variable is used in a way that cannot be split (a
/// struct member, a copy, a select or phi). Invalid if the module cannot be walked.
pub fn split_samplers(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut split = Split::new(&index);
    split.find_types();
    let variables = split.find_variables();
    if variables.is_empty() {
        return Ok(words.to_vec());
    }
    split.find_bindings(&variables);
    split.find_values();
    split.out.extend_from_slice(&words[..HEADER_WORDS]);
    for instruction in instructions(words) {
        split.rewrite(&instruction?)?;
    }
    let mut out = split.out;
    out[3] = split.next;
    Ok(out)
}

impl<'i, 'a> Split<'i, 'a> {
    fn new(index: &'i ModuleIndex<'a>) -> Self {
        Self {
            index,
            types: HashMap::new(),
            pointers: HashMap::new(),
            loads: HashMap::new(),
            moved: BTreeMap::new(),
            sampler: 0,
            next: index.header()[3],
            declared: false,
            block: 0,
            out: Vec::new(),
        }
    }

    fn fresh(&mut self) -> u32 {
        // An id bound at the end of the range yields an invalid module, as the bound itself shows.
        let id = self.next;
        self.next = id.saturating_add(1);
        id
    }

    fn fresh_twins(&mut self) -> Twins {
        let (image, sampler) = (self.fresh(), self.fresh());
        Twins { image, sampler }
    }

    /// The image type of a sampled image type.
    fn image_type(&self, ty: u32) -> Option<u32> {
        let [_, image] = self.index.operands(ty, op::TYPE_SAMPLED_IMAGE)?;
        Some(image)
    }

    /// The replacements of a combined type.
    fn parts(&self, ty: u32) -> Option<Twins> {
        let of_image = |image| Twins {
            image,
            sampler: self.sampler,
        };
        self.types
            .get(&ty)
            .copied()
            .or_else(|| self.image_type(ty).map(of_image))
    }

    /// Finds the arrays of combined types and the pointers to them, and the sampler type.
    fn find_types(&mut self) {
        let mut last = None;
        for node in self.index.instructions().take_while(|node| node.opcode != op::FUNCTION) {
            let of = match node.opcode {
                op::TYPE_SAMPLER => {
                    last = node.operand(0);
                    continue;
                }
                op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY => 1,
                op::TYPE_POINTER => 2,
                _ => continue,
            };
            if let (Some(id), Some(of)) = (node.operand(0), node.operand(of))
                && (self.types.contains_key(&of) || self.image_type(of).is_some())
            {
                let twins = self.fresh_twins();
                self.types.insert(id, twins);
            }
        }
        self.sampler = match last {
            Some(id) => id,
            None => self.fresh(),
        };
    }

    /// Finds the combined variables, in module order.
    fn find_variables(&mut self) -> Vec<u32> {
        let of_type = |types: &HashMap<u32, Twins>, [ty, id]: [u32; 2]| types.contains_key(&ty).then_some(id);
        let heads = self.index.variables().filter_map(|node| node.head());
        let found: Vec<u32> = heads.filter_map(|head| of_type(&self.types, head)).collect();
        for id in &found {
            self.add_pointer(*id);
        }
        found
    }

    fn add_pointer(&mut self, id: u32) {
        let (image, sampler) = (id, self.fresh());
        self.pointers.insert(id, Twins { image, sampler });
    }

    /// Assigns the samplers' bindings. Descriptors may alias (VBC's tables do): samplers of one binding share a
    /// binding.
    fn find_bindings(&mut self, variables: &[u32]) {
        let mut free: HashMap<u32, u32> = HashMap::new();
        let all = self
            .index
            .variables()
            .filter_map(|node| self.index.place(node.operand(1)?));
        for (set, binding) in all {
            let slot = free.entry(set).or_default();
            *slot = (*slot).max(binding.saturating_add(1));
        }
        for place in variables.iter().filter_map(|id| self.index.place(*id)) {
            let slot = free.entry(place.0).or_default();
            self.moved.entry(place).or_insert_with(|| {
                *slot = slot.saturating_add(1);
                *slot - 1
            });
        }
    }

    /// Finds parameters, access chains and loads in functions.
    fn find_values(&mut self) {
        let mut block = 0;
        for node in self.index.bodies() {
            let (Some(ty), Some(id)) = (node.operand(0), node.operand(1)) else {
                block = if node.opcode == op::LABEL {
                    node.operand(0).unwrap_or(0)
                } else {
                    block
                };
                continue;
            };
            let base = node.operand(2).filter(|base| self.pointers.contains_key(base));
            match node.opcode {
                op::FUNCTION_PARAMETER if self.types.contains_key(&ty) => self.add_pointer(id),
                op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN if base.is_some() && self.types.contains_key(&ty) => {
                    self.add_pointer(id);
                }
                op::LOAD if base.is_some() && self.image_type(ty).is_some() => {
                    let parts = self.fresh_twins();
                    self.loads.insert(id, Load { ty, parts, block });
                }
                _ => {}
            }
        }
    }

    fn push(&mut self, opcode: u16, operands: &[u32]) {
        let words = build(opcode, operands);
        self.out.extend(words);
    }

    /// Before the first type: the new decorations, and the sampler type, which depends on no other type.
    fn declare(&mut self) {
        let of_pointers = self
            .pointers
            .iter()
            .map(|(id, twins)| (*id, [Some(twins.sampler), None]));
        let parts = |load: &Load| [Some(load.parts.image), Some(load.parts.sampler)];
        let of_loads = self.loads.iter().map(|(id, load)| (*id, parts(load)));
        let all: BTreeMap<u32, [Option<u32>; 2]> = of_pointers.chain(of_loads).collect();
        for (id, twins) in all {
            for node in self.index.decorations(id) {
                let mut operands: Vec<u32> = node.tail(0).collect();
                if let Some(binding) = self.index.place(id).and_then(|place| self.moved.get(&place))
                    && operands.get(1) == Some(&decoration::BINDING)
                {
                    operands[2] = *binding;
                }
                for twin in twins.into_iter().flatten() {
                    operands[0] = twin;
                    self.push(op::DECORATE, &operands);
                }
            }
        }
        self.push(op::TYPE_SAMPLER, &[self.sampler]);
        self.declared = true;
    }

    /// Writes an instruction or its replacements.
    fn rewrite(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        if !self.declared && instruction.opcode >= op::TYPE_VOID && is_type(instruction.opcode) {
            self.declare();
        }
        match (instruction.opcode, instruction.operands()) {
            (op::TYPE_SAMPLER, _) => {}
            (op::NAME | op::DECORATE | op::DECORATE_ID, [id, ..]) if self.types.contains_key(id) => {}
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, &[id, of, ref length @ ..]) if self.types.contains_key(&id) => {
                self.twice(instruction, id, &[], of, length)?;
            }
            (op::TYPE_POINTER, &[id, class, of]) if self.types.contains_key(&id) => {
                self.twice(instruction, id, &[class], of, &[])?;
            }
            (op::VARIABLE, &[ty, id, class]) if self.pointers.contains_key(&id) => {
                self.typed(instruction, ty, id, None, &[class])?;
            }
            (op::FUNCTION_PARAMETER, &[ty, id]) if self.pointers.contains_key(&id) => {
                self.typed(instruction, ty, id, None, &[])?;
            }
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, &[ty, id, base, ref rest @ ..])
                if self.pointers.contains_key(&id) =>
            {
                self.typed(instruction, ty, id, Some(base), rest)?;
            }
            (op::LOAD, &[ty, id, pointer, ..]) if self.loads.contains_key(&id) => {
                let (load, from) = (self.loads[&id], self.pointers.get(&pointer).copied());
                let (Some(image), Some(from)) = (self.image_type(ty), from) else {
                    return Err(refused(instruction));
                };
                self.push(op::LOAD, &[image, load.parts.image, from.image]);
                self.push(op::LOAD, &[self.sampler, load.parts.sampler, from.sampler]);
                self.push(op::SAMPLED_IMAGE, &[ty, id, load.parts.image, load.parts.sampler]);
            }
            (op::TYPE_FUNCTION | op::FUNCTION_CALL, operands) => {
                let both = |id: &u32| match self.types.get(id).or_else(|| self.pointers.get(id)) {
                    Some(twins) => vec![twins.image, twins.sampler],
                    None => vec![*id],
                };
                let all: Vec<u32> = operands.iter().flat_map(both).collect();
                self.push(instruction.opcode, &all);
            }
            (op::ENTRY_POINT, operands) => {
                let name = operands.get(2..).and_then(super::operand::string_words).unwrap_or(0);
                let interface = operands.get(2 + name..).unwrap_or(&[]);
                let samplers = interface.iter().filter_map(|id| Some(self.pointers.get(id)?.sampler));
                let all: Vec<u32> = operands.iter().copied().chain(samplers).collect();
                self.push(op::ENTRY_POINT, &all);
            }
            _ => self.keep(instruction)?,
        }
        Ok(())
    }

    /// Writes an array or pointer type for the image and for the sampler.
    fn twice(&mut self, instruction: &Instruction<'_>, id: u32, before: &[u32], of: u32, behind: &[u32]) -> Result<()> {
        let (ids, parts) = (self.types[&id], self.parts(of).ok_or_else(|| refused(instruction))?);
        for (id, of) in [(ids.image, parts.image), (ids.sampler, parts.sampler)] {
            self.push(instruction.opcode, &[&[id], before, &[of], behind].concat());
        }
        Ok(())
    }

    /// Writes a variable, parameter or access chain for the image and for the sampler.
    fn typed(
        &mut self,
        instruction: &Instruction<'_>,
        ty: u32,
        id: u32,
        base: Option<u32>,
        rest: &[u32],
    ) -> Result<()> {
        let known = |map: &HashMap<u32, Twins>, id| map.get(&id).copied().ok_or_else(|| refused(instruction));
        let (types, ids) = (known(&self.types, ty)?, known(&self.pointers, id)?);
        let bases = base.map(|base| known(&self.pointers, base)).transpose()?;
        let image = bases.map(|twins| twins.image);
        let sampler = bases.map(|twins| twins.sampler);
        for (ty, id, base) in [(types.image, ids.image, image), (types.sampler, ids.sampler, sampler)] {
            let operands: Vec<u32> = [ty, id].into_iter().chain(base).chain(rest.iter().copied()).collect();
            self.push(instruction.opcode, &operands);
        }
        Ok(())
    }

    /// Whether an unchanged instruction creates, uses or contains a pointer to a combined type.
    fn leads_astray(&self, instruction: &Instruction<'_>) -> bool {
        let operands = instruction.operands();
        let any = |ids: &[u32], map: &HashMap<u32, Twins>| ids.iter().any(|id| map.contains_key(id));
        match instruction.opcode {
            op::TYPE_STRUCT => {
                let combined = |id: &u32| self.parts(*id).is_some();
                operands.iter().skip(1).any(combined)
            }
            op::STORE | op::COPY_MEMORY | op::COPY_MEMORY_SIZED => {
                any(&operands[..operands.len().min(2)], &self.pointers)
            }
            opcode => {
                let row = Grammar::builtin().row(opcode).filter(|row| row.has_type);
                row.is_some() && any(&operands[..operands.len().min(1)], &self.types)
            }
        }
    }

    /// Writes an unchanged instruction. A combined value that is loaded in another block is rebuilt first:
    /// `OpSampledImage` results may only be used in their own block.
    fn keep(&mut self, instruction: &Instruction<'_>) -> Result<()> {
        let mut words = instruction.words.to_vec();
        if instruction.opcode == op::LABEL {
            self.block = words.get(1).copied().unwrap_or(0);
        }
        if instruction.opcode == op::GROUP_DECORATE {
            words.retain(|id| !self.types.contains_key(id));
            words = seal(words);
        }
        if self.leads_astray(instruction) {
            return Err(refused(instruction));
        }
        if takes_sampled_image(instruction.opcode)
            && let Some(load) = words.get(3).and_then(|id| self.loads.get(id)).copied()
            && load.block != self.block
        {
            words[3] = self.fresh();
            self.push(
                op::SAMPLED_IMAGE,
                &[load.ty, words[3], load.parts.image, load.parts.sampler],
            );
        }
        self.out.extend_from_slice(&words);
        Ok(())
    }
}

/// Whether an opcode declares a type.
fn is_type(opcode: u16) -> bool {
    let row = Grammar::builtin().row(opcode);
    row.is_some_and(|row| row.has_result && !row.has_type && row.is_type())
}

/// Whether an instruction's first operand after its result is a sampled image.
fn takes_sampled_image(opcode: u16) -> bool {
    let sparse = op::IMAGE_SPARSE_SAMPLE_IMPLICIT_LOD..op::NO_LINE;
    (op::IMAGE_SAMPLE_IMPLICIT_LOD..=op::IMAGE_DREF_GATHER).contains(&opcode)
        || sparse.contains(&opcode)
        || matches!(opcode, op::IMAGE | op::IMAGE_QUERY_LOD | op::COPY_OBJECT)
}

fn refused(instruction: &Instruction<'_>) -> Error {
    let row = Grammar::builtin().row(instruction.opcode);
    let name = row.map_or_else(|| format!("opcode {}", instruction.opcode), |row| row.name.to_string());
    let message = format!("{name} uses a combined image sampler in a way that cannot be split");
    Error::unsupported("spirv", message).at(instruction.position as u64 * 4)
}
