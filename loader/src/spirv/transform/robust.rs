//! Bounds indices as SPIRV-Tools' `--graphics-robust-access` does: an index out of bounds becomes the last element, or the
//! first if it is negative.

use super::editor::{Editor, build, opcode, result, seal};
use crate::spirv::{Grammar, ModuleIndex, capability, op};
use crate::{Error, Result};
use std::collections::HashMap;

/// The extended instruction set that is used, and its instructions.
const SET: &str = "GLSL.std.450";
const U_MIN: u32 = 38;
const S_MAX: u32 = 42;

/// Opcode of the memory model; imports precede it.
const MEMORY_MODEL: u16 = 14;

/// The module with every index of an access chain bounded, constants included. The length of a runtime array is queried.
///
/// # Errors
/// Invalid for a broken module; Unsupported for pointers that are not computed by access chains, indices of other than
/// 32 bits, and lengths that are specialisation constants.
pub fn bounded(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let refused = |what: String| Error::unsupported("spirv", format!("bounding indices: {what}"));
    const BEYOND: [u32; 4] = [
        capability::VARIABLE_POINTERS,
        capability::VARIABLE_POINTERS_STORAGE_BUFFER,
        capability::ADDRESSES,
        capability::RUNTIME_DESCRIPTOR_ARRAY,
    ];
    if let Some(found) = index.capabilities().iter().find(|known| BEYOND.contains(known)) {
        let name = capability::TABLE.iter().find(|(number, _)| number == found);
        return Err(refused(format!("the capability {}", name.map_or("", |(_, name)| name))));
    }
    let module = Editor::new(&index)?;
    let types = module.body.iter().filter_map(|words| {
        let row = Grammar::builtin().row(opcode(words)).filter(|row| row.has_type)?;
        Some((result(words)?, words[1])).filter(|_| row.has_result)
    });
    let mut work = Bounds {
        types: types.collect(),
        index: &index,
        added: Vec::new(),
        set: None,
        uint: None,
        constants: HashMap::new(),
        module,
    };
    let start = work.module.functions_start();
    let old = work.module.body.split_off(start);
    let mut body = Vec::with_capacity(old.len());
    for words in old {
        match opcode(&words) {
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => {
                let chain = work.chain(words, &mut body).map_err(refused)?;
                body.push(chain);
            }
            _ => body.push(words),
        }
    }
    let Bounds { mut module, added, .. } = work;
    module.body.extend(added);
    module.body.append(&mut body);
    Ok(module.words())
}

struct Bounds<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    /// The declarations; the functions are built separately.
    module: Editor,
    /// The type of each value.
    types: HashMap<u32, u32>,
    /// Added types and constants.
    added: Vec<Vec<u32>>,
    set: Option<u32>,
    uint: Option<u32>,
    constants: HashMap<(u32, u32), u32>,
}

impl Bounds<'_, '_> {
    /// The unsigned type of 32 bits.
    fn uint(&mut self) -> u32 {
        if let Some(id) = self.uint {
            return id;
        }
        let is_uint = |words: &&Vec<u32>| opcode(words) == op::TYPE_INT && words[2..] == [32, 0];
        let id = match self.module.body.iter().find(is_uint) {
            Some(words) => words[1],
            None => {
                let id = self.module.fresh();
                self.added.push(build(op::TYPE_INT, &[id, 32, 0]));
                id
            }
        };
        self.uint = Some(id);
        id
    }

    fn constant(&mut self, ty: u32, value: u32) -> u32 {
        if let Some(id) = self.constants.get(&(ty, value)) {
            return *id;
        }
        let id = self.module.fresh();
        self.added.push(build(op::CONSTANT, &[ty, id, value]));
        self.constants.insert((ty, value), id);
        id
    }

    /// The extended instruction set, imported if it is missing.
    fn set(&mut self) -> u32 {
        if let Some(id) = self.set {
            return id;
        }
        let id = match self.index.imported(SET) {
            Some(id) => id,
            None => {
                let id = self.module.fresh();
                let mut words = vec![u32::from(op::EXT_INST_IMPORT), id];
                let mut bytes = SET.as_bytes().to_vec();
                bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
                words.extend(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)));
                let model = self.module.body.iter().position(|words| opcode(words) == MEMORY_MODEL);
                self.module.insert(model.unwrap_or(0), vec![seal(words)]);
                id
            }
        };
        self.set = Some(id);
        id
    }

    /// A chain with bounded indices; the instructions that compute them are appended to `code`.
    fn chain(&mut self, words: Vec<u32>, code: &mut Vec<Vec<u32>>) -> Result<Vec<u32>, String> {
        let base = words[3];
        let pointer = self.types.get(&base).copied();
        let Some(mut ty) = pointer.and_then(|pointer| self.index.pointee(pointer)) else {
            return Ok(words);
        };
        let class = pointer.and_then(|pointer| self.index.definition(pointer)?.operand(1));
        let mut out = words[..4].to_vec();
        for (step, id) in words[4..].iter().copied().enumerate() {
            let Some(node) = self.index.declaration(ty) else {
                return Ok(words);
            };
            let (Some(element), opcode) = (node.operand(1), node.opcode) else {
                return Ok(words);
            };
            let last = match opcode {
                op::TYPE_STRUCT => {
                    let member = self.index.constant(id).unwrap_or(0) as usize;
                    let Some(next) = self.index.members(ty).and_then(|mut all| all.nth(member)) else {
                        return Ok(words);
                    };
                    ty = next;
                    out.push(id);
                    continue;
                }
                op::TYPE_VECTOR | op::TYPE_MATRIX => Last::Known(node.operand(2).unwrap_or(1).saturating_sub(1)),
                op::TYPE_ARRAY => match self.index.array(ty) {
                    Some((_, length)) => Last::Known(length.saturating_sub(1)),
                    None => return Err(format!("the length of %{ty} is no constant")),
                },
                op::TYPE_RUNTIME_ARRAY => Last::Asked,
                _ => return Ok(words),
            };
            out.push(match last {
                Last::Known(last) => self.known(id, last, code)?,
                Last::Asked => self.asked(id, &words[..4 + step], class, code)?,
            });
            ty = element;
        }
        Ok(seal(out))
    }

    /// Bounds an index by a constant length.
    fn known(&mut self, id: u32, last: u32, code: &mut Vec<Vec<u32>>) -> Result<u32, String> {
        let uint = self.uint();
        if let Some(value) = self.index.constant(id) {
            let is_signed = self.is_signed(id)?;
            let bound = match is_signed && value > i32::MAX as u32 {
                true => 0,
                false => value.min(last),
            };
            return Ok(if bound == value { id } else { self.constant(uint, bound) });
        }
        let last = self.constant(uint, last);
        self.least(id, last, code)
    }

    /// Bounds an index into the runtime array at `chain`.
    fn asked(&mut self, id: u32, chain: &[u32], class: Option<u32>, code: &mut Vec<Vec<u32>>) -> Result<u32, String> {
        let Some((base, member)) = self.block(chain, class, code) else {
            return Err("an array without a length that is no member of a block".to_owned());
        };
        let uint = self.uint();
        let (length, last) = (self.module.fresh(), self.module.fresh());
        let one = self.constant(uint, 1);
        code.push(build(op::ARRAY_LENGTH, &[uint, length, base, member]));
        code.push(build(op::I_SUB, &[uint, last, length, one]));
        self.least(id, last, code)
    }

    /// The pointer to the block at the end of a chain, and the member that the chain's last index selects.
    fn block(&mut self, chain: &[u32], class: Option<u32>, code: &mut Vec<Vec<u32>>) -> Option<(u32, u32)> {
        let (base, steps) = (chain[3], chain.get(4..)?);
        let (member, before) = steps.split_last()?;
        let member = self.index.constant(*member)?;
        if before.is_empty() {
            return Some((base, member));
        }
        let mut ty = self.index.pointee(*self.types.get(&base)?)?;
        for step in before {
            ty = match self.index.opcode(ty) {
                op::TYPE_STRUCT => self.index.members(ty)?.nth(self.index.constant(*step)? as usize)?,
                _ => self.index.definition(ty)?.operand(1)?,
            };
        }
        let pointer = self.module.pointer_type(class?, ty, &mut self.added);
        let id = self.module.fresh();
        code.push(build(op::ACCESS_CHAIN, &[&[pointer, id, base], before].concat()));
        Some((id, member))
    }

    /// The smaller of an index, 0 if it is negative, and the last one.
    fn least(&mut self, id: u32, last: u32, code: &mut Vec<Vec<u32>>) -> Result<u32, String> {
        let (set, uint) = (self.set(), self.uint());
        let ty = self.types.get(&id).copied().unwrap_or(0);
        let mut number = id;
        if self.is_signed(id)? {
            let zero = self.constant(ty, 0);
            let (least, cast) = (self.module.fresh(), self.module.fresh());
            code.push(build(op::EXT_INST, &[ty, least, set, S_MAX, number, zero]));
            code.push(build(op::BITCAST, &[uint, cast, least]));
            number = cast;
        }
        let bound = self.module.fresh();
        code.push(build(op::EXT_INST, &[uint, bound, set, U_MIN, number, last]));
        Ok(bound)
    }

    /// Whether an index is signed.
    fn is_signed(&self, id: u32) -> Result<bool, String> {
        let ty = self.types.get(&id).copied().unwrap_or(0);
        match self.index.operands(ty, op::TYPE_INT) {
            Some([_, 32, sign]) => Ok(sign == 1),
            _ => Err(format!("the index %{id} has not 32 bits")),
        }
    }
}

/// The last element of an indexed composite.
enum Last {
    Known(u32),
    /// It is queried at run time.
    Asked,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::{instructions, parse, validate};

    #[test]
    fn bounded_modules_are_valid() {
        let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
            OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %s BufferBlock\nOpMemberDecorate %s 0 Offset 0\n\
            OpMemberDecorate %s 1 Offset 64\nOpDecorate %a ArrayStride 16\nOpDecorate %r ArrayStride 4\n\
            OpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
            %int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n%uint = OpTypeInt 32 0\n\
            %c4 = OpConstant %uint 4\n%c9 = OpConstant %int 9\n%c1 = OpConstant %int 1\n%c0 = OpConstant %int 0\n\
            %a = OpTypeArray %v4 %c4\n%r = OpTypeRuntimeArray %int\n%s = OpTypeStruct %a %r\n\
            %p = OpTypePointer Uniform %s\n%pf = OpTypePointer Uniform %float\n%pi = OpTypePointer Uniform %int\n\
            %v = OpVariable %p Uniform\n%main = OpFunction %void None %fn\n%l = OpLabel\n\
            %x = OpAccessChain %pi %v %c1 %c1\n%i = OpLoad %int %x\n%y = OpAccessChain %pf %v %c0 %c9 %i\n\
            %f = OpLoad %float %y\nOpStore %y %f\nOpReturn\nOpFunctionEnd\n";
        let mut words = parse(text).unwrap();
        // Later versions have no BufferBlock.
        words[1] = 0x0001_0300;
        let out = bounded(&words).unwrap();
        let report = validate(&out);
        assert!(report.is_valid(), "{report:?}");
        let count = |opcode: u16| instructions(&out).flatten().filter(|one| one.opcode == opcode).count();
        // The runtime array's length is queried once; the constant 9 becomes 3.
        assert_eq!(count(op::ARRAY_LENGTH), 1);
        assert_eq!(count(op::EXT_INST), 4);
        // The output is bounded already.
        assert!(bounded(&out).is_ok());
    }
}
