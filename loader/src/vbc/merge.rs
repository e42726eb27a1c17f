//! Merges several uniform blocks and push constants into the one uniform that the format has.
//!
//! Blocks are placed in the order of their sets and bindings, push constants last, each at the next multiple of 16
//! bytes. Members keep the offsets of their block's layout (std140, std430), except that arrays and matrices of numbers
//! become tightly packed, because the reflection has no strides. A stage keeps only its own blocks, at the offsets
//! common to all stages.

use super::declared::{Leaf, leaves};
use super::reach::{Reach, constant, redirect, uint_type};
use super::types::Stage;
use crate::spirv::transform::{Editor, build, opcode};
use crate::spirv::{Located, ModuleIndex, class, decoration, op, operand};
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Descriptor set and binding of a block.
type Place = (u32, u32);

/// The place of push constants, after all others; the merged block is put at this unused place and moved later.
const PUSHED: Place = (u32::MAX, 0);

/// Blocks begin at multiples of this.
const ALIGNMENT: u32 = 16;

/// A block that became part of the uniform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    name: String,
    place: Place,
    base: u32,
    end: u32,
}

impl Part {
    /// A note on how the block was merged.
    pub(crate) fn note(&self) -> String {
        let (name, base, end) = (&self.name, self.base, self.end);
        format!(
            "{} is {name}.* of the uniform, bytes {base} to {end}",
            said(name, self.place)
        )
    }
}

fn said(name: &str, (set, binding): Place) -> String {
    match (set, binding) {
        PUSHED => format!("the push constants \"{name}\""),
        _ => format!("the block \"{name}\" (set {set}, binding {binding})"),
    }
}

/// A block as one stage declares it.
struct Block {
    place: Place,
    variable: Located,
    leaves: Vec<Leaf>,
    names: [Option<String>; 2],
}

/// Merges all blocks of the stages into one, and returns the parts if there were several. A single block that is the
/// same in all stages stays unchanged.
///
/// # Errors
/// Unsupported for arrays of blocks, and for members that are not numbers, vectors, matrices, or arrays or structs of
/// them.
pub(super) fn merge(stages: &mut [(Stage, &mut Vec<u32>)]) -> Result<Option<Vec<Part>>> {
    let mut all: BTreeMap<Place, Vec<Block>> = BTreeMap::new();
    for (stage, words) in stages.iter() {
        let place = |error: Error| error.within(stage);
        let index = ModuleIndex::new(words.as_slice()).map_err(place)?;
        for block in blocks(&index).map_err(place)? {
            all.entry(block.place).or_default().push(block);
        }
    }
    let same = |blocks: &Vec<Block>| blocks.windows(2).all(|pair| pair[0].leaves == pair[1].leaves);
    if all.len() <= 1 && all.values().all(same) {
        return Ok(None);
    }
    let parts = parts(&all);
    let named = parts.len() > 1;
    for (stage, words) in stages.iter_mut() {
        **words = joined(words, &parts, named).map_err(|error| error.within(*stage))?;
    }
    let parts = parts.into_values().filter(|_| named);
    Ok(Some(parts.collect()))
}

/// The offset and name of each block.
fn parts(all: &BTreeMap<Place, Vec<Block>>) -> BTreeMap<Place, Part> {
    let (mut parts, mut taken, mut end) = (BTreeMap::new(), HashSet::new(), 0u32);
    for (place, blocks) in all {
        let base = end.next_multiple_of(ALIGNMENT);
        let ends = blocks.iter().flat_map(|block| &block.leaves);
        let ends = ends.map(|leaf| leaf.offset.saturating_add(leaf.bytes()));
        end = base.saturating_add(ends.max().unwrap_or(0)).min(1 << 30);
        let names = blocks.iter().flat_map(|block| block.names.iter().flatten().cloned());
        let numbered = match *place {
            PUSHED => "push".to_owned(),
            (set, binding) => format!("set{set}_binding{binding}"),
        };
        let name = names.chain([numbered]).find(|name| !taken.contains(name));
        let name = name.unwrap_or_else(|| format!("block{}", parts.len()));
        taken.insert(name.clone());
        let place = *place;
        parts.insert(place, Part { name, place, base, end });
    }
    parts
}

/// The uniform blocks and push constants of a stage.
fn blocks(index: &ModuleIndex) -> Result<Vec<Block>> {
    let mut found = Vec::new();
    for variable in index.globals() {
        let (element, is_array) = match index.array(variable.pointee) {
            Some((element, _)) => (element, true),
            None => (variable.pointee, false),
        };
        let is_block = index.decoration(element, decoration::BLOCK).is_some();
        let place = match (variable.class, index.place(variable.id)) {
            (class::PUSH_CONSTANT, _) => PUSHED,
            (class::UNIFORM, Some(place)) if is_block => place,
            _ => continue,
        };
        let [of_variable, of_type] = [variable.id, element].map(|id| {
            let name = index.name(id).map(|name| identifier(&name));
            name.filter(|name| !name.is_empty())
        });
        let name = of_variable.clone().or(of_type.clone()).unwrap_or_default();
        let unsupported = |why: String| Error::unsupported("spirv", format!("{}: {why}", said(&name, place)));
        if is_array {
            return Err(unsupported("an array of blocks has no place in a VBC".to_owned()));
        }
        let leaves = leaves(index, variable.pointee).map_err(|path| {
            unsupported(format!(
                "{path} is not a 32-bit number, vector or matrix, and no array or struct of them"
            ))
        })?;
        found.push(Block {
            place,
            variable,
            leaves,
            names: [of_variable, of_type],
        });
    }
    Ok(found)
}

/// A name without the characters that an identifier cannot contain.
fn identifier(name: &str) -> String {
    let word = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    name.chars().filter(word).take(32).collect()
}

/// A stage whose blocks are members of one block.
fn joined(words: &[u32], parts: &BTreeMap<Place, Part>, named: bool) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut blocks = blocks(&index)?;
    if blocks.is_empty() {
        return Ok(words.to_vec());
    }
    blocks.sort_by_key(|block| block.place);
    let mut module = Editor::new(&index)?;
    tighten(&index, &mut module, &blocks);
    for words in &mut module.body {
        if opcode(words) == op::TYPE_POINTER && words[2] == class::PUSH_CONSTANT {
            words[2] = class::UNIFORM;
        }
    }
    let mut added = Vec::new();
    let uint = uint_type(&mut module, &mut added);
    let numbers: Vec<u32> = (0..blocks.len() as u32)
        .map(|number| constant(&mut module, uint, number, &mut added))
        .collect();
    let (outer, wrapper, variable) = (module.fresh(), module.fresh(), module.fresh());
    let members: Vec<u32> = blocks.iter().map(|block| block.variable.pointee).collect();
    added.push(build(op::TYPE_STRUCT, &[&[outer], members.as_slice()].concat()));
    added.push(build(op::TYPE_STRUCT, &[wrapper, outer]));
    let pointer = module.pointer_type(class::UNIFORM, wrapper, &mut added);
    let mut moved = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        let reach = Reach {
            path: vec![variable, numbers[0], numbers[at]],
            pointer: module.pointer_type(class::UNIFORM, block.variable.pointee, &mut added),
            name: said(&parts[&block.place].name, block.place),
        };
        moved.insert(block.variable.id, reach);
    }
    added.push(build(op::VARIABLE, &[pointer, variable, class::UNIFORM]));
    redirect(&mut module, &moved)?;
    module.insert(module.functions_start(), added);

    let mut annotations = vec![
        build(op::DECORATE, &[wrapper, decoration::BLOCK]),
        build(op::DECORATE, &[variable, decoration::DESCRIPTOR_SET, PUSHED.0]),
        build(op::DECORATE, &[variable, decoration::BINDING, PUSHED.1]),
        build(op::MEMBER_DECORATE, &[wrapper, 0, decoration::OFFSET, 0]),
    ];
    let mut names = Vec::new();
    for (at, block) in (0u32..).zip(&blocks) {
        let part = &parts[&block.place];
        annotations.push(build(op::MEMBER_DECORATE, &[outer, at, decoration::OFFSET, part.base]));
        if named {
            let text = operand::words_of_string(part.name.as_bytes());
            names.push(build(op::MEMBER_NAME, &[&[outer, at], text.as_slice()].concat()));
        }
    }
    for words in &mut module.body {
        if matches!((opcode(words), words.as_slice()), (op::DECORATE, [_, ty, decoration::BLOCK]) if members.contains(ty))
        {
            words.clear();
        }
    }
    module.sweep();
    module.insert(module.annotations_end(), annotations);
    module.insert(names_end(&module), names);
    let removed: HashSet<u32> = moved.into_keys().collect();
    module.replace_globals(&removed, &[variable]);
    Ok(module.words())
}

/// Position after the last name, or before the annotations if there is none.
fn names_end(module: &Editor) -> usize {
    let is_name = |words: &Vec<u32>| matches!(opcode(words), op::NAME | op::MEMBER_NAME);
    let is_annotation = |words: &Vec<u32>| (op::DECORATE..=op::GROUP_MEMBER_DECORATE).contains(&opcode(words));
    match module.body.iter().rposition(is_name) {
        Some(last) => last + 1,
        None => module.body.iter().position(is_annotation).unwrap_or(0),
    }
}

/// Gives arrays and matrices of numbers in the blocks strides without padding.
fn tighten(index: &ModuleIndex, module: &mut Editor, blocks: &[Block]) {
    let mut tight = Tight {
        index,
        seen: HashSet::new(),
        arrays: HashMap::new(),
        matrices: HashMap::new(),
    };
    let mut waiting: Vec<u32> = blocks.iter().map(|block| block.variable.pointee).collect();
    while let Some(id) = waiting.pop() {
        waiting.extend(tight.structure(id));
    }
    for words in &mut module.body {
        match (opcode(words), words.as_mut_slice()) {
            (op::DECORATE, [_, id, decoration::ARRAY_STRIDE, stride]) => {
                *stride = *tight.arrays.get(id).unwrap_or(stride);
            }
            (op::MEMBER_DECORATE, [_, id, member, decoration::MATRIX_STRIDE, stride]) => {
                *stride = *tight.matrices.get(&(*id, *member)).unwrap_or(stride);
            }
            _ => {}
        }
    }
}

struct Tight<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    seen: HashSet<u32>,
    arrays: HashMap<u32, u32>,
    matrices: HashMap<(u32, u32), u32>,
}

impl Tight<'_, '_> {
    /// Records the strides in a struct, and returns its nested structs.
    fn structure(&mut self, id: u32) -> Vec<u32> {
        let mut inner = Vec::new();
        if !self.seen.insert(id) {
            return inner;
        }
        let members: Vec<u32> = self.index.members(id).into_iter().flatten().collect();
        for (at, member) in (0u32..).zip(members) {
            let mut arrays = Vec::new();
            let mut element = member;
            while let Some((next, length)) = self.index.array(element) {
                arrays.push((element, length));
                element = next;
            }
            let Some((_, [rows, columns])) = super::declared::numeric(self.index, element) else {
                inner.push(element);
                continue;
            };
            let (rows, columns) = (u32::from(rows), u32::from(columns));
            let is_row_major = self.index.member_decoration(id, at, decoration::ROW_MAJOR).is_some();
            let stride = if is_row_major { 4 * columns } else { 4 * rows };
            self.matrices.insert((id, at), stride);
            // Only the innermost array holds numbers; the outer ones are described element by element.
            if let Some((array, _)) = arrays.last() {
                self.arrays.insert(*array, 4 * rows * columns);
            }
        }
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::super::pack::{Names, pack_with_notes};
    use super::*;
    use crate::spirv::asm::{Options, assemble};
    use crate::spirv::{Grammar, validate};

    /// A vertex stage with a camera at set 0, binding 0, and a model in push constants with padded numbers.
    const VERTEX: &str = "OpEntryPoint Vertex %main \"main\" %o
OpName %camera \"camera\"
OpName %Model \"Model\"
OpMemberName %Camera 0 \"eye\"
OpMemberName %Camera 1 \"view\"
OpMemberName %Model 0 \"tint\"
OpMemberName %Model 1 \"weights\"
OpDecorate %o BuiltIn Position
OpDecorate %Camera Block
OpMemberDecorate %Camera 0 Offset 0
OpMemberDecorate %Camera 1 Offset 16
OpMemberDecorate %Camera 1 ColMajor
OpMemberDecorate %Camera 1 MatrixStride 16
OpDecorate %camera DescriptorSet 0
OpDecorate %camera Binding 0
OpDecorate %Model Block
OpMemberDecorate %Model 0 Offset 0
OpMemberDecorate %Model 1 Offset 16
OpDecorate %floats ArrayStride 16
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%vec3 = OpTypeVector %float 3
%vec4 = OpTypeVector %float 4
%mat3 = OpTypeMatrix %vec3 3
%po = OpTypePointer Output %vec4
%o = OpVariable %po Output
%Camera = OpTypeStruct %vec3 %mat3
%pCamera = OpTypePointer Uniform %Camera
%camera = OpVariable %pCamera Uniform
%uint = OpTypeInt 32 0
%two = OpConstant %uint 2
%one = OpConstant %uint 1
%zero = OpConstant %uint 0
%floats = OpTypeArray %float %two
%Model = OpTypeStruct %vec4 %floats
%pModel = OpTypePointer PushConstant %Model
%model = OpVariable %pModel PushConstant
%pv = OpTypePointer PushConstant %vec4
%main = OpFunction %void None %fn
%start = OpLabel
%all = OpLoad %Camera %camera
%at = OpAccessChain %pv %model %zero
%value = OpLoad %vec4 %at
OpStore %o %value
OpReturn
OpFunctionEnd";

    /// A fragment stage with a light at set 1, binding 0, where another program has a texture.
    const FRAGMENT: &str = "OpEntryPoint Fragment %main \"main\" %o
OpExecutionMode %main OriginUpperLeft
OpName %light \"light\"
OpMemberName %Lamp 0 \"colour\"
OpMemberName %Lamp 1 \"power\"
OpMemberName %Light 0 \"lamps\"
OpMemberName %Light 1 \"count\"
OpDecorate %o Location 0
OpDecorate %Light Block
OpMemberDecorate %Light 0 Offset 0
OpMemberDecorate %Light 1 Offset 32
OpMemberDecorate %Lamp 0 Offset 0
OpMemberDecorate %Lamp 1 Offset 12
OpDecorate %lamps ArrayStride 16
OpDecorate %light DescriptorSet 1
OpDecorate %light Binding 0
OpDecorate %tex DescriptorSet 2
OpDecorate %tex Binding 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%vec3 = OpTypeVector %float 3
%vec4 = OpTypeVector %float 4
%po = OpTypePointer Output %vec4
%o = OpVariable %po Output
%Lamp = OpTypeStruct %vec3 %float
%int = OpTypeInt 32 1
%two = OpConstant %int 2
%one = OpConstant %int 1
%zero = OpConstant %int 0
%lamps = OpTypeArray %Lamp %two
%Light = OpTypeStruct %lamps %int
%pLight = OpTypePointer Uniform %Light
%light = OpVariable %pLight Uniform
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %image
%ptex = OpTypePointer UniformConstant %sampled
%tex = OpVariable %ptex UniformConstant
%vec2 = OpTypeVector %float 2
%half = OpConstant %float 0.5
%uv = OpConstantComposite %vec2 %half %half
%pf = OpTypePointer Uniform %float
%main = OpFunction %void None %fn
%start = OpLabel
%at = OpAccessChain %pf %light %zero %one %one
%power = OpLoad %float %at
%texture = OpLoad %sampled %tex
%texel = OpImageSampleImplicitLod %vec4 %texture %uv
%value = OpVectorTimesScalar %vec4 %texel %power
OpStore %o %value
OpReturn
OpFunctionEnd";

    fn stage(text: &str) -> Vec<u32> {
        let text = format!("OpCapability Shader\nOpMemoryModel Logical GLSL450\n{text}");
        // Entry points list inputs and outputs only.
        let options = Options {
            version: Some(0x0001_0300),
            ..Options::default()
        };
        assemble(Grammar::builtin(), &text, options).unwrap()
    }

    fn packed(stages: [(Stage, &str); 2]) -> super::super::pack::Packed {
        let stages = stages.map(|(stage_of, text)| (stage_of, stage(text)));
        for (stage, words) in &stages {
            assert_eq!(validate(words).verdict(), "valid", "{stage} as it is");
        }
        let packed = pack_with_notes(&stages, &Names::default()).unwrap();
        for (stage, _) in stages {
            let report = validate(packed.model.code(stage));
            assert_eq!(report.verdict(), "valid", "{stage}: {:?}", report.diagnostics);
        }
        let report = super::super::check(&super::super::write(&packed.model).unwrap());
        assert_eq!(report.verdict(), "valid", "{:?}", report.diagnostics);
        packed
    }

    #[test]
    fn blocks_and_push_constants_keep_their_offsets() {
        let packed = packed([(Stage::Vert, VERTEX), (Stage::Frag, FRAGMENT)]);
        let uniform = packed.model.uniform.clone().unwrap();
        let members = uniform.members.iter().map(|member| {
            let name = String::from_utf8(member.name.clone()).unwrap();
            (name, member.offset, member.dims, member.array)
        });
        let wanted = [
            ("camera.eye", 0, [3, 1], 1),
            ("_padding12", 12, [1, 1], 1),
            ("camera.view", 16, [3, 3], 1),
            ("_padding52", 52, [1, 1], 3),
            ("light.lamps[0].colour", 64, [3, 1], 1),
            ("light.lamps[0].power", 76, [1, 1], 1),
            ("light.lamps[1].colour", 80, [3, 1], 1),
            ("light.lamps[1].power", 92, [1, 1], 1),
            ("light.count", 96, [1, 1], 1),
            ("_padding100", 100, [1, 1], 3),
            ("Model.tint", 112, [4, 1], 1),
            ("Model.weights", 128, [1, 1], 2),
        ];
        let wanted = wanted.map(|(name, offset, dims, array)| (name.to_owned(), offset, dims, array));
        assert_eq!(members.collect::<Vec<_>>(), wanted);
        assert_eq!(uniform.size, 136);
        assert_eq!(packed.notes.len(), 3);
        assert!(packed.notes[2].contains("the push constants \"Model\" is Model.* of the uniform, bytes 112"));
        let code = ModuleIndex::new(packed.model.code(Stage::Frag)).unwrap();
        let classes: Vec<u32> = code.globals().map(|variable| variable.class).collect();
        assert!(classes.contains(&class::UNIFORM), "the light is read");
    }

    /// The block of one stage is a prefix of another's: both get the longer one.
    #[test]
    fn stages_may_have_less_of_a_block() {
        let shorter = FRAGMENT
            .replace("OpMemberName %Light 1 \"count\"\n", "")
            .replace("OpMemberDecorate %Light 1 Offset 32\n", "")
            .replace("OpTypeStruct %lamps %int", "OpTypeStruct %lamps");
        let longer = FRAGMENT
            .replace("Fragment %main", "Vertex %main")
            .replace("OpExecutionMode %main OriginUpperLeft\n", "")
            .replace("OpDecorate %o Location 0", "OpDecorate %o BuiltIn Position")
            .replace(
                "OpImageSampleImplicitLod %vec4 %texture %uv",
                "OpImageSampleExplicitLod %vec4 %texture %uv Lod %half",
            );
        let packed = packed([(Stage::Vert, longer.as_str()), (Stage::Frag, shorter.as_str())]);
        let uniform = packed.model.uniform.unwrap();
        let last = uniform.members.last().unwrap();
        assert_eq!(
            (last.name.as_slice(), last.offset, uniform.stages.0 & 1),
            (&b"count"[..], 32, 1)
        );
    }

    #[test]
    fn what_is_no_number_is_refused_by_its_path() {
        let wide = VERTEX
            .replace("%vec4 %floats\n", "%vec4 %floats %wide\n")
            .replace("%Model = OpType", "%wide = OpTypeInt 64 0\n%Model = OpType")
            .replace(
                "OpMemberDecorate %Model 1 Offset 16",
                "OpMemberDecorate %Model 1 Offset 16\nOpMemberDecorate %Model 2 Offset 48",
            );
        let error = pack_with_notes(&[(Stage::Vert, stage(&wide))], &Names::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains("\"Model\": member2 is not a 32-bit number"), "{error}");
    }
}
