//! Adjustments of a translation that the language alone does not decide. They are applied to the SPIR-V before it is
//! translated, so that they mean the same for every target.

use crate::{Error, ErrorKind, Result};
use loader::spirv::transform::{Editor, build, opcode};
use loader::spirv::{ModuleIndex, class, decoration, model, op, operand};

/// Conversion of a vertex stage's depth between the clip spaces of Vulkan, Direct3D, Metal and WebGPU (0 to w) and of
/// OpenGL (-w to w).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Depth {
    /// From 0 to w in the shader to -w to w in the translation.
    ToOpenGl,
    /// From -w to w in the shader to 0 to w in the translation.
    FromOpenGl,
}

/// Adjustments to a shader; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjust {
    /// New names of variables and types: (old, new).
    pub names: Vec<(String, String)>,
    /// New descriptor sets and bindings of resources: (old, new).
    pub places: Vec<([u32; 2], [u32; 2])>,
    /// New name of the entry point.
    pub entry: Option<String>,
    /// Whether to negate the y of a vertex stage's positions.
    pub flip_y: bool,
    /// Conversion of the depth of a vertex stage's positions.
    pub depth: Option<Depth>,
}

/// The built-in Position.
const POSITION: u32 = 0;

/// Opcodes of floating-point arithmetic.
const F_NEGATE: u16 = 127;
const F_ADD: u16 = 129;
const F_SUB: u16 = 131;
const F_MUL: u16 = 133;

impl Adjust {
    /// Whether there is no adjustment.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The adjusted module, and the resulting name of entry point `entry`.
    ///
    /// # Errors
    /// A name, place or position that the module lacks: every adjustment is applied or an error.
    pub(crate) fn applied(&self, words: &[u32], entry: &str, stage: u32) -> Result<(Vec<u32>, String)> {
        let index = ModuleIndex::new(words)?;
        let mut module = Editor::new(&index)?;
        for (old, new) in &self.names {
            rename(&mut module, old, new)?;
        }
        self.place(&index, &mut module)?;
        if self.flip_y || self.depth.is_some() {
            self.clip(&index, &mut module, entry, stage)?;
        }
        let name = self.entry.as_deref().unwrap_or(entry);
        for words in module.body.iter_mut().filter(|words| opcode(words) == op::ENTRY_POINT) {
            let Some((found, length)) = operand::string(&words[3..]).filter(|_| words[1] == stage) else {
                continue;
            };
            if found == entry {
                let mut operands = words[1..3].to_vec();
                operands.extend(operand::words_of_string(name));
                operands.extend(&words[3 + length..]);
                *words = build(op::ENTRY_POINT, &operands);
            }
        }
        Ok((module.words(), name.to_owned()))
    }

    fn place(&self, index: &ModuleIndex, module: &mut Editor) -> Result<()> {
        let mut moved: Vec<(u32, [u32; 2])> = Vec::new();
        for ([set, binding], new) in &self.places {
            let here = index
                .globals()
                .filter(|global| index.place(global.id) == Some((*set, *binding)));
            let before = moved.len();
            moved.extend(here.map(|global| (global.id, *new)));
            if moved.len() == before {
                return Err(wrong(format!(
                    "the shader has no resource at set {set}, binding {binding}"
                )));
            }
        }
        for words in module.body.iter_mut().filter(|words| opcode(words) == op::DECORATE) {
            let Some((_, [set, binding])) = moved.iter().find(|(id, _)| *id == words[1]) else {
                continue;
            };
            match words[2] {
                decoration::DESCRIPTOR_SET => words[3] = *set,
                decoration::BINDING => words[3] = *binding,
                _ => {}
            }
        }
        Ok(())
    }

    /// Adjusts the position before every return of the entry point.
    fn clip(&self, index: &ModuleIndex, module: &mut Editor, entry: &str, stage: u32) -> Result<()> {
        let lacks = |what: &str| {
            wrong(format!(
                "{what}: only a vertex stage's positions have y and depth adjusted"
            ))
        };
        if stage != model::VERTEX {
            return Err(lacks("the entry point is of another stage"));
        }
        let named = |words: &&Vec<u32>| {
            let is_entry = opcode(words) == op::ENTRY_POINT && words[1] == stage;
            is_entry && operand::string(&words[3..]).is_some_and(|(name, _)| name == entry)
        };
        let function = module.body.iter().find(named).map(|words| words[2]);
        let (Some(function), Some((variable, member, vec4))) = (function, position(index)) else {
            return Err(lacks("the shader has no position"));
        };
        let Some([_, float, 4]) = index.operands(vec4, op::TYPE_VECTOR) else {
            return Err(lacks("the position is not a vec4"));
        };
        let mut added = Vec::new();
        let pointer = module.pointer_type(class::OUTPUT, vec4, &mut added);
        let member = member.map(|member| constant(module, &mut added, op::TYPE_INT, None, member));
        let factor = match self.depth {
            Some(Depth::ToOpenGl) => Some(2.0f32),
            Some(Depth::FromOpenGl) => Some(0.5),
            None => None,
        };
        let factor = factor.map(|factor| constant(module, &mut added, op::TYPE_FLOAT, Some(float), factor.to_bits()));
        let start = module.functions_start();
        module.insert(start, added);
        let begin = module
            .body
            .iter()
            .position(|words| opcode(words) == op::FUNCTION && words[2] == function);
        let begin = begin.unwrap_or(module.body.len());
        let length = module.body[begin..]
            .iter()
            .position(|words| opcode(words) == op::FUNCTION_END);
        let range = begin..begin + length.unwrap_or(0);
        let returns: Vec<usize> = range.filter(|at| opcode(&module.body[*at]) == op::RETURN).collect();
        for at in returns.into_iter().rev() {
            let mut code = Vec::new();
            let place = match member {
                Some(member) => {
                    let place = module.fresh();
                    code.push(build(op::ACCESS_CHAIN, &[pointer, place, variable, member]));
                    place
                }
                None => variable,
            };
            let mut whole = module.fresh();
            code.push(build(op::LOAD, &[vec4, whole, place]));
            let part = |module: &mut Editor, code: &mut Vec<Vec<u32>>, whole: u32, at: u32| {
                let part = module.fresh();
                code.push(build(op::COMPOSITE_EXTRACT, &[float, part, whole, at]));
                part
            };
            let put = |module: &mut Editor, code: &mut Vec<Vec<u32>>, value: u32, whole: u32, at: u32| {
                let new = module.fresh();
                code.push(build(op::COMPOSITE_INSERT, &[vec4, new, value, whole, at]));
                new
            };
            if self.flip_y {
                let (y, negative) = (part(module, &mut code, whole, 1), module.fresh());
                code.push(build(F_NEGATE, &[float, negative, y]));
                whole = put(module, &mut code, negative, whole, 1);
            }
            if let (Some(depth), Some(factor)) = (self.depth, factor) {
                let (z, w) = (part(module, &mut code, whole, 2), part(module, &mut code, whole, 3));
                let (first, second) = (module.fresh(), module.fresh());
                match depth {
                    // 2 z - w
                    Depth::ToOpenGl => {
                        code.push(build(F_MUL, &[float, first, z, factor]));
                        code.push(build(F_SUB, &[float, second, first, w]));
                    }
                    // (z + w) / 2
                    Depth::FromOpenGl => {
                        code.push(build(F_ADD, &[float, first, z, w]));
                        code.push(build(F_MUL, &[float, second, first, factor]));
                    }
                }
                whole = put(module, &mut code, second, whole, 2);
            }
            code.push(build(op::STORE, &[place, whole]));
            module.insert(at, code);
        }
        Ok(())
    }
}

fn wrong(message: String) -> Error {
    ErrorKind::Entry(message).into()
}

/// Renames variables and types.
fn rename(module: &mut Editor, old: &str, new: &str) -> Result<()> {
    let mut found = false;
    for words in &mut module.body {
        let names = match opcode(words) {
            op::NAME => 2,
            op::MEMBER_NAME => 3,
            _ => continue,
        };
        if operand::string(&words[names..]).is_some_and(|(name, _)| name == old) {
            let mut operands = words[1..names].to_vec();
            operands.extend(operand::words_of_string(new));
            *words = build(opcode(words), &operands);
            found = true;
        }
    }
    match found {
        true => Ok(()),
        false => Err(wrong(format!("the shader has no variable or type named {old}"))),
    }
}

/// The variable of the position, its member index if it is one, and its type.
fn position(index: &ModuleIndex) -> Option<(u32, Option<u32>, u32)> {
    index
        .globals()
        .filter(|global| global.class == class::OUTPUT)
        .find_map(|global| {
            if index.decoration(global.id, decoration::BUILT_IN) == Some(POSITION) {
                return Some((global.id, None, global.pointee));
            }
            let mut members = (0u32..).zip(index.members(global.pointee)?);
            let (at, ty) = members
                .find(|(at, _)| index.member_decoration(global.pointee, *at, decoration::BUILT_IN) == Some(POSITION))?;
            Some((global.id, Some(at), ty))
        })
}

/// A constant of a type: of the one given, or of unsigned numbers.
fn constant(module: &mut Editor, added: &mut Vec<Vec<u32>>, kind: u16, ty: Option<u32>, word: u32) -> u32 {
    let is_uint = |words: &&Vec<u32>| opcode(words) == kind && words[2..] == [32, 0];
    let known = module
        .body
        .iter()
        .chain(added.iter())
        .find(is_uint)
        .map(|words| words[1]);
    let ty = ty.or(known).unwrap_or_else(|| {
        let id = module.fresh();
        added.push(build(kind, &[id, 32, 0]));
        id
    });
    let id = module.fresh();
    added.push(build(op::CONSTANT, &[ty, id, word]));
    id
}
