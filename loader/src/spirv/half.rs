//! Rounds a module's floats to half precision after every step.
//!
//! A fragment processor that computes in fp16 produces other pictures than one with fp32. Drawing this module with
//! 32-bit floats shows how much of the difference comes from precision alone.

use super::transform::{Editor, build, opcode};
use super::{Grammar, ModuleIndex, capability, decoration, op};
use crate::{Error, Result};
use std::collections::HashMap;

const QUANTIZE: u16 = 116;
const MULTIPLY: u16 = 133;
const DIVIDE: u16 = 136;
const VECTOR_TIMES_SCALAR: u16 = 142;

/// Numbers of GLSL.std.450.
mod glsl {
    pub(super) const SIN: u32 = 13;
    pub(super) const COS: u32 = 14;
    pub(super) const POW: u32 = 26;
    pub(super) const EXP2: u32 = 29;
    pub(super) const LOG2: u32 = 30;
}

/// Adds an `OpQuantizeToF16` after every instruction that yields a 32-bit float or a vector of them. Matrices are
/// rounded when they are decomposed or multiplied. A power is three steps (logarithm, product, exponential), a quotient
/// two (reciprocal, product), and a sine takes its angle in turns, as on such processors.
///
/// # Errors
/// Invalid if the module cannot be walked; Unsupported for kernels, which have no such instruction.
pub fn half_steps(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let has = |capability| index.capabilities().contains(&capability);
    if has(capability::KERNEL) && !has(capability::SHADER) {
        return Err(Error::unsupported("spirv", "half precision of kernels"));
    }
    let mut module = Editor::new(&index)?;
    let grammar = Grammar::builtin();
    let mut rounding = Rounding {
        next: index.header()[3],
        ..Rounding::default()
    };
    let mut inside = false;
    let mut waiting = Vec::new();
    for instruction in std::mem::take(&mut module.body) {
        let code = opcode(&instruction);
        match (code, instruction.as_slice()) {
            (op::EXT_INST_IMPORT, [_, id, name @ ..]) => {
                let is_glsl = super::operand::words_of_string("GLSL.std.450") == name;
                rounding.glsl = rounding.glsl.or(is_glsl.then_some(*id));
            }
            (op::TYPE_FLOAT, [_, id, 32]) => rounding.float(*id),
            (op::TYPE_VECTOR, [_, id, component, count]) if rounding.sizes.contains_key(component) => {
                rounding.sizes.insert(*id, *count);
            }
            // The decoration is valid only on arithmetic, which no longer produces the result.
            (op::DECORATE, [_, _, decoration::NO_CONTRACTION]) => continue,
            (op::FUNCTION, _) => inside = true,
            (op::FUNCTION_END, _) => inside = false,
            _ => {}
        }
        let has_type = grammar.row(code).is_some_and(|row| row.has_type);
        let is_step = inside
            && has_type
            && !matches!(code, op::FUNCTION | op::FUNCTION_PARAMETER | op::UNDEF)
            && instruction.get(1).is_some_and(|ty| rounding.sizes.contains_key(ty));
        if !matches!(code, op::PHI | op::LINE | op::NO_LINE) {
            rounding.body.append(&mut waiting);
        }
        match (code, is_step) {
            (_, false) if code == op::TYPE_FLOAT && instruction.get(2) == Some(&32) => {
                rounding.body.push(instruction);
                rounding.constants();
            }
            (_, false) => rounding.body.push(instruction),
            // Nothing stands among the phis that a block begins with.
            (op::PHI, true) => {
                let (ty, result, exact) = (instruction[1], instruction[2], rounding.fresh());
                let mut phi = instruction;
                phi[2] = exact;
                rounding.body.push(phi);
                waiting.push(build(QUANTIZE, &[ty, result, exact]));
            }
            (_, true) => rounding.steps(&instruction),
        }
    }
    module.body = rounding.body;
    let mut words = module.words();
    words[3] = rounding.next;
    Ok(words)
}

/// The module while it is being written.
#[derive(Default)]
struct Rounding {
    next: u32,
    body: Vec<Vec<u32>>,
    /// Components of each type of 32-bit floats.
    sizes: HashMap<u32, u32>,
    /// The scalar type.
    scalar: u32,
    glsl: Option<u32>,
    /// One, a turn in radians and its reciprocal.
    one: u32,
    turn: u32,
    turns: u32,
}

impl Rounding {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn float(&mut self, id: u32) {
        self.sizes.insert(id, 1);
        self.scalar = id;
    }

    fn constants(&mut self) {
        let values = [1.0, std::f32::consts::TAU, 1.0 / std::f32::consts::TAU];
        let [one, turn, turns] = values.map(|value: f32| {
            let id = self.fresh();
            self.body.push(build(op::CONSTANT, &[self.scalar, id, value.to_bits()]));
            id
        });
        (self.one, self.turn, self.turns) = (one, turn, turns);
    }

    /// Emits an instruction, rounds its result, and returns the rounded id.
    fn step(&mut self, code: u16, ty: u32, operands: &[u32]) -> u32 {
        let rounded = self.fresh();
        self.step_to(rounded, code, ty, operands);
        rounded
    }

    fn step_to(&mut self, rounded: u32, code: u16, ty: u32, operands: &[u32]) {
        let exact = self.fresh();
        self.body.push(build(code, &[&[ty, exact], operands].concat()));
        self.body.push(build(QUANTIZE, &[ty, rounded, exact]));
    }

    /// A product with a constant.
    fn scaled(&mut self, ty: u32, value: u32, by: u32) -> u32 {
        match self.sizes.get(&ty) {
            Some(1) => self.step(MULTIPLY, ty, &[value, by]),
            _ => self.step(VECTOR_TIMES_SCALAR, ty, &[value, by]),
        }
    }

    /// A vector of ones.
    fn ones(&mut self, ty: u32) -> u32 {
        match self.sizes.get(&ty) {
            Some(count @ 2..) => {
                let operands = vec![self.one; *count as usize];
                self.step(op::COMPOSITE_CONSTRUCT, ty, &operands)
            }
            _ => self.one,
        }
    }

    /// Splits an instruction into its steps.
    fn steps(&mut self, instruction: &[u32]) {
        let (code, ty, result) = (opcode(instruction), instruction[1], instruction[2]);
        match (code, &instruction[3..]) {
            (DIVIDE, &[above, below]) => {
                let ones = self.ones(ty);
                let reciprocal = self.step(DIVIDE, ty, &[ones, below]);
                self.step_to(result, MULTIPLY, ty, &[above, reciprocal]);
            }
            (op::EXT_INST, &[set, number @ (glsl::SIN | glsl::COS), angle]) if Some(set) == self.glsl => {
                let turns = self.scaled(ty, angle, self.turns);
                // The angle in turns is rounded, not the one in radians.
                let exact = self.fresh();
                let product = match self.sizes.get(&ty) {
                    Some(1) => MULTIPLY,
                    _ => VECTOR_TIMES_SCALAR,
                };
                self.body.push(build(product, &[ty, exact, turns, self.turn]));
                self.step_to(result, op::EXT_INST, ty, &[set, number, exact]);
            }
            (op::EXT_INST, &[set, glsl::POW, base, exponent]) if Some(set) == self.glsl => {
                let logarithm = self.step(op::EXT_INST, ty, &[set, glsl::LOG2, base]);
                let product = self.step(MULTIPLY, ty, &[logarithm, exponent]);
                self.step_to(result, op::EXT_INST, ty, &[set, glsl::EXP2, product]);
            }
            (_, operands) => self.step_to(result, code, ty, operands),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::{asm, validate};

    const MODULE: &str = "OpCapability Shader
%glsl = OpExtInstImport \"GLSL.std.450\"
OpMemoryModel Logical GLSL450
OpEntryPoint Fragment %main \"main\" %in %out
OpExecutionMode %main OriginUpperLeft
OpDecorate %in Location 0
OpDecorate %out Location 0
OpDecorate %sum NoContraction
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%vec4 = OpTypeVector %float 4
%pin = OpTypePointer Input %vec4
%pout = OpTypePointer Output %vec4
%in = OpVariable %pin Input
%out = OpVariable %pout Output
%bool = OpTypeBool
%true = OpConstantTrue %bool
%main = OpFunction %void None %fn
%first = OpLabel
%a = OpLoad %vec4 %in
OpSelectionMerge %last None
OpBranchConditional %true %then %last
%then = OpLabel
%sum = OpFAdd %vec4 %a %a
%power = OpExtInst %vec4 %glsl Pow %sum %a
%sine = OpExtInst %vec4 %glsl Sin %power
%part = OpFDiv %vec4 %sine %a
OpBranch %last
%last = OpLabel
%one = OpPhi %vec4 %a %first %sum %then
%two = OpPhi %vec4 %sum %then %a %first
%all = OpFMul %vec4 %one %two
OpStore %out %all
OpReturn
OpFunctionEnd
";

    #[test]
    fn every_step_is_rounded_and_the_module_stays_valid() {
        let words = asm::assemble(Grammar::builtin(), MODULE, asm::Options::default()).expect("a module");
        let half = half_steps(&words).expect("the same in half steps");
        let index = ModuleIndex::new(&half).expect("it walks");
        let steps = Editor::new(&index).expect("it walks");
        let steps = steps.body.iter().filter(|words| opcode(words) == QUANTIZE);
        // Load, sum, three for the power, two for the sine, three for the quotient, two phis, product.
        assert_eq!(steps.count(), 13);
        let report = validate(&half);
        assert!(report.diagnostics.is_empty(), "{:?}", report.diagnostics);
    }
}
