//! Subgroup operations that WGSL lacks, by those that it has: sums, votes, ballots and shuffles.

use super::declarations::Declarations;
use super::editor::{Editor, build, opcode};
use super::interface::{move_pointers, start_of};
use crate::Result;
use crate::spirv::{Grammar, ModuleIndex, capability, class, decoration, op, operand};
use std::collections::{BTreeMap, HashMap};

/// Numbers of built-ins.
const SUBGROUP_SIZE: u32 = 36;
const LANE: u32 = 41;
const FIRST_MASK: u32 = 4416;

/// The scope Subgroup.
const SUBGROUP: u32 = 3;

/// Group operations.
const REDUCE: u32 = 0;
const INCLUSIVE: u32 = 1;
const EXCLUSIVE: u32 = 2;
const CLUSTERED: u32 = 3;

/// Extensions and capabilities of operations that are replaced by those of SPIR-V 1.3.
const EXTENSIONS: [&str; 3] = [
    "SPV_KHR_shader_ballot",
    "SPV_KHR_subgroup_vote",
    "SPV_KHR_subgroup_rotate",
];
const CAPABILITIES: [u32; 3] = [
    capability::SUBGROUP_BALLOT_KHR,
    capability::SUBGROUP_VOTE_KHR,
    capability::GROUP_NON_UNIFORM_ROTATE_KHR,
];

/// The module with subgroup operations of WGSL only: scans of other operations than sums and products, clusters, masks,
/// bits of ballots, rotations, elections, comparisons, and the older extensions' operations are computed from ballots and
/// shuffles. Scopes other than the subgroup, and numbers of other than 32 bits, are left alone.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn computed(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let is_mask = |id: u32| {
        index
            .decoration(id, decoration::BUILT_IN)
            .is_some_and(|of| (FIRST_MASK..FIRST_MASK + 5).contains(&of))
    };
    let masks: Vec<u32> = index
        .globals()
        .map(|global| global.id)
        .filter(|id| is_mask(*id))
        .collect();
    let is_operation = |opcode: u16| {
        (op::GROUP_NON_UNIFORM_ELECT..=op::GROUP_NON_UNIFORM_QUAD_SWAP).contains(&opcode)
            || (op::SUBGROUP_BALLOT_KHR..=op::SUBGROUP_READ_INVOCATION_KHR).contains(&opcode)
            || matches!(
                opcode,
                op::GROUP_NON_UNIFORM_QUAD_ALL_KHR | op::GROUP_NON_UNIFORM_QUAD_ANY_KHR
            )
    };
    if masks.is_empty() && !index.bodies().any(|node| is_operation(node.opcode)) {
        return Ok(words.to_vec());
    }
    let mut module = Editor::new(&index)?;
    let mut work = Work {
        types: types_of(&module),
        index: &index,
        declared: Declarations::of(&index, &module),
        helpers: BTreeMap::new(),
        functions: Vec::new(),
        numbers: HashMap::new(),
        code: Vec::new(),
        changed: false,
    };
    let start = module.functions_start();
    let old = module.body.split_off(start);
    let mut body = Vec::with_capacity(old.len());
    for words in old {
        if is_operation(opcode(&words)) && work.replace(&mut module, &words).is_some() {
            work.changed = true;
            body.append(&mut work.code);
        } else {
            work.code.clear();
            body.push(words);
        }
    }
    module.body.append(&mut body);
    work.masks(&mut module, &masks);
    if !work.changed {
        return Ok(words.to_vec());
    }
    let Work {
        declared, functions, ..
    } = work;
    declared.insert(&mut module);
    module.body.extend(functions);
    module.body.retain(|words| match (opcode(words), words.as_slice()) {
        (op::CAPABILITY, [_, capability]) => !CAPABILITIES.contains(capability),
        (op::EXTENSION, [_, name @ ..]) => {
            operand::string(name).is_none_or(|(name, _)| !EXTENSIONS.contains(&name.as_str()))
        }
        _ => true,
    });
    module.require_version(0x0001_0300);
    for capability in [
        capability::GROUP_NON_UNIFORM,
        capability::GROUP_NON_UNIFORM_BALLOT,
        capability::GROUP_NON_UNIFORM_VOTE,
        capability::GROUP_NON_UNIFORM_SHUFFLE,
    ] {
        module.add_capability(capability);
    }
    Ok(module.words())
}

/// The type of each value.
fn types_of(module: &Editor) -> HashMap<u32, u32> {
    let typed = |words: &Vec<u32>| {
        let row = Grammar::builtin().row(opcode(words))?;
        (row.has_type && row.has_result).then(|| (words[2], words[1]))
    };
    module.body.iter().filter_map(typed).collect()
}

/// A number's kind, with the components of a vector.
#[derive(Clone, Copy)]
struct Shape {
    /// The scalar's type, and its opcode.
    of: u32,
    scalar: u16,
    bits: u32,
    count: u32,
}

/// A function that is added once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Helper {
    /// The bits of the lanes below a number.
    Below,
    /// A group operation over lanes: type, opcode, group operation, lanes in a cluster.
    Over(u32, u16, u32, u32),
}

struct Work<'i, 'a> {
    /// The type of each value of the module.
    types: HashMap<u32, u32>,
    index: &'i ModuleIndex<'a>,
    declared: Declarations,
    helpers: BTreeMap<Helper, u32>,
    /// The added functions.
    functions: Vec<Vec<u32>>,
    /// Unsigned numbers and vectors of them that may be added: the scalar and the components of each.
    numbers: HashMap<u32, (u32, u32)>,
    /// The instructions that are being written.
    code: Vec<Vec<u32>>,
    changed: bool,
}

impl Work<'_, '_> {
    /// Writes an instruction with a result.
    fn emit(&mut self, module: &mut Editor, kind: u16, ty: u32, operands: &[u32]) -> u32 {
        let id = module.fresh();
        self.code.push(build(kind, &[&[ty, id], operands].concat()));
        id
    }

    /// Writes an instruction with the result of the replaced one.
    fn finish(&mut self, kind: u16, ty: u32, id: u32, operands: &[u32]) {
        self.code.push(build(kind, &[&[ty, id], operands].concat()));
    }

    fn shape(&self, ty: u32) -> Option<Shape> {
        if let Some(count) = self.numbers.get(&ty) {
            let (of, count) = *count;
            return Some(Shape {
                of,
                scalar: op::TYPE_INT,
                bits: 32,
                count,
            });
        }
        let (of, count) = self.index.vector(ty);
        let scalar = self.index.opcode(of);
        let bits = match scalar {
            op::TYPE_BOOL => 1,
            op::TYPE_INT | op::TYPE_FLOAT => self.index.definition(of)?.operand(1)?,
            _ => return None,
        };
        Some(Shape {
            of,
            scalar,
            bits,
            count,
        })
    }

    fn scope(&mut self, module: &mut Editor) -> u32 {
        self.declared.number(module, SUBGROUP)
    }

    fn load(&mut self, module: &mut Editor, built_in: u32) -> u32 {
        let uint = self.declared.uint(module);
        let variable = self.declared.input(module, uint, built_in);
        self.emit(module, op::LOAD, uint, &[variable])
    }

    fn uvec4(&mut self, module: &mut Editor) -> u32 {
        let uint = self.declared.uint(module);
        self.declared.vector(module, uint, 4)
    }

    /// A call of a helper.
    fn call(&mut self, module: &mut Editor, helper: Helper, ty: u32, argument: u32) -> Option<u32> {
        let function = self.helper(module, helper)?;
        Some(self.emit(module, op::FUNCTION_CALL, ty, &[function, argument]))
    }

    /// The bits of the lanes below a number.
    fn below(&mut self, module: &mut Editor, number: u32) -> Option<u32> {
        let uvec4 = self.uvec4(module);
        self.call(module, Helper::Below, uvec4, number)
    }

    /// Unsigned numbers.
    fn numbers(&mut self, module: &mut Editor, count: u32) -> u32 {
        let uint = self.declared.uint(module);
        let ty = self.declared.vector(module, uint, count);
        self.numbers.insert(ty, (uint, count));
        ty
    }

    /// Truth values as 0 and 1.
    fn as_number(&mut self, module: &mut Editor, value: u32, count: u32) -> u32 {
        let ty = self.numbers(module, count);
        let [one, zero] = [1, 0].map(|word| {
            let number = self.declared.number(module, word);
            self.declared.splat(module, ty, count, number)
        });
        self.emit(module, op::SELECT, ty, &[value, one, zero])
    }

    /// Whether numbers are not 0, as the result of the replaced instruction.
    fn finish_truth(&mut self, module: &mut Editor, ty: u32, id: u32, value: u32, count: u32) {
        let number = self.numbers(module, count);
        let zero = self.declared.number(module, 0);
        let zero = self.declared.splat(module, number, count, zero);
        self.finish(op::I_NOT_EQUAL, ty, id, &[value, zero]);
    }

    /// Writes what stands for an instruction; `None` if it stays.
    fn replace(&mut self, module: &mut Editor, words: &[u32]) -> Option<()> {
        let (kind, &[_, ty, id, ref rest @ ..]) = (opcode(words), words) else {
            return None;
        };
        if kind >= op::SUBGROUP_BALLOT_KHR && kind != op::GROUP_NON_UNIFORM_ROTATE_KHR {
            return self.older(module, kind, ty, id, rest);
        }
        let (scope, operands) = rest.split_first()?;
        if self.index.constant(*scope) != Some(SUBGROUP) {
            return None;
        }
        let scope = *scope;
        match (kind, operands) {
            (op::GROUP_NON_UNIFORM_ELECT, []) => {
                let uint = self.declared.uint(module);
                let own = self.load(module, LANE);
                let first = self.emit(module, op::GROUP_NON_UNIFORM_BROADCAST_FIRST, uint, &[scope, own]);
                self.finish(op::I_EQUAL, ty, id, &[own, first]);
            }
            (op::GROUP_NON_UNIFORM_ALL_EQUAL, &[value]) => self.all_equal(module, ty, id, value)?,
            (
                op::GROUP_NON_UNIFORM_BROADCAST..=op::GROUP_NON_UNIFORM_BROADCAST_FIRST
                | op::GROUP_NON_UNIFORM_SHUFFLE..=op::GROUP_NON_UNIFORM_SHUFFLE_DOWN
                | op::GROUP_NON_UNIFORM_QUAD_BROADCAST
                | op::GROUP_NON_UNIFORM_QUAD_SWAP,
                &[value, ref more @ ..],
            ) => {
                let shape = self.shape(ty)?;
                // A lane that is not constant is one of a shuffle.
                let is_constant = more.iter().all(|lane| self.index.constant(*lane).is_some());
                let moved = match kind {
                    op::GROUP_NON_UNIFORM_BROADCAST if !is_constant => op::GROUP_NON_UNIFORM_SHUFFLE,
                    kind => kind,
                };
                match shape.scalar {
                    op::TYPE_BOOL => {
                        let number = self.as_number(module, value, shape.count);
                        let of = self.numbers(module, shape.count);
                        let number = self.emit(module, moved, of, &[&[scope, number], more].concat());
                        self.finish_truth(module, ty, id, number, shape.count);
                    }
                    _ if moved != kind => self.finish(moved, ty, id, &[&[scope, value], more].concat()),
                    _ => return None,
                }
            }
            (op::GROUP_NON_UNIFORM_INVERSE_BALLOT, &[value]) => {
                let lane = self.load(module, LANE);
                self.finish_bit(module, ty, id, value, lane);
            }
            (op::GROUP_NON_UNIFORM_BALLOT_BIT_EXTRACT, &[value, lane]) => {
                let lane = self.unsigned(module, lane);
                self.finish_bit(module, ty, id, value, lane);
            }
            (op::GROUP_NON_UNIFORM_BALLOT_BIT_COUNT, &[operation, value]) => {
                let of = self.lanes(module, operation)?;
                let uvec4 = self.uvec4(module);
                let value = self.emit(module, op::BITWISE_AND, uvec4, &[value, of]);
                let counts = self.emit(module, op::BIT_COUNT, uvec4, &[value]);
                self.finish_sum(module, ty, id, counts);
            }
            (op::GROUP_NON_UNIFORM_BALLOT_FIND_LSB, &[value]) => self.find(module, ty, id, value, false)?,
            (op::GROUP_NON_UNIFORM_BALLOT_FIND_MSB, &[value]) => self.find(module, ty, id, value, true)?,
            (
                op::GROUP_NON_UNIFORM_I_ADD..=op::GROUP_NON_UNIFORM_LOGICAL_XOR,
                &[operation, value, ref cluster @ ..],
            ) => {
                // Some compilers write values of the other signedness.
                let value = self.cast(module, value, ty);
                self.over(module, kind, ty, id, scope, operation, value, cluster.first().copied())?;
            }
            (op::GROUP_NON_UNIFORM_ROTATE_KHR, &[value, delta, ref cluster @ ..]) => {
                let uint = self.declared.uint(module);
                let (lane, delta) = (self.load(module, LANE), self.unsigned(module, delta));
                let size = match cluster.first() {
                    Some(cluster) => *cluster,
                    None => self.load(module, SUBGROUP_SIZE),
                };
                let one = self.declared.number(module, 1);
                // Sizes are powers of two.
                let within = self.emit(module, op::I_SUB, uint, &[size, one]);
                let outside = self.emit(module, op::NOT, uint, &[within]);
                let first = self.emit(module, op::BITWISE_AND, uint, &[lane, outside]);
                let moved = self.emit(module, op::I_ADD, uint, &[lane, delta]);
                let moved = self.emit(module, op::BITWISE_AND, uint, &[moved, within]);
                let from = self.emit(module, op::BITWISE_OR, uint, &[first, moved]);
                self.finish(op::GROUP_NON_UNIFORM_SHUFFLE, ty, id, &[scope, value, from]);
            }
            _ => return None,
        }
        Some(())
    }

    /// Operations of the extensions before SPIR-V 1.3, and votes in a quad.
    fn older(&mut self, module: &mut Editor, kind: u16, ty: u32, id: u32, operands: &[u32]) -> Option<()> {
        let scope = self.scope(module);
        match (kind, operands) {
            (op::SUBGROUP_BALLOT_KHR, &[value]) => self.finish(op::GROUP_NON_UNIFORM_BALLOT, ty, id, &[scope, value]),
            (op::SUBGROUP_FIRST_INVOCATION_KHR, &[value]) => {
                self.finish(op::GROUP_NON_UNIFORM_BROADCAST_FIRST, ty, id, &[scope, value]);
            }
            (op::SUBGROUP_ALL_KHR, &[value]) => self.finish(op::GROUP_NON_UNIFORM_ALL, ty, id, &[scope, value]),
            (op::SUBGROUP_ANY_KHR, &[value]) => self.finish(op::GROUP_NON_UNIFORM_ANY, ty, id, &[scope, value]),
            (op::SUBGROUP_ALL_EQUAL_KHR, &[value]) => self.all_equal(module, ty, id, value)?,
            (op::SUBGROUP_READ_INVOCATION_KHR, &[value, lane]) => {
                self.finish(op::GROUP_NON_UNIFORM_SHUFFLE, ty, id, &[scope, value, lane]);
            }
            (op::GROUP_NON_UNIFORM_QUAD_ALL_KHR | op::GROUP_NON_UNIFORM_QUAD_ANY_KHR, &[value]) => {
                let uint = self.declared.uint(module);
                let own = self.as_number(module, value, 1);
                let mut all = own;
                let joined = match kind {
                    op::GROUP_NON_UNIFORM_QUAD_ALL_KHR => op::BITWISE_AND,
                    _ => op::BITWISE_OR,
                };
                for lane in 0..3 {
                    let direction = self.declared.number(module, lane);
                    let other = self.emit(module, op::GROUP_NON_UNIFORM_QUAD_SWAP, uint, &[scope, own, direction]);
                    all = self.emit(module, joined, uint, &[all, other]);
                }
                self.finish_truth(module, ty, id, all, 1);
            }
            _ => return None,
        }
        Some(())
    }

    fn all_equal(&mut self, module: &mut Editor, ty: u32, id: u32, value: u32) -> Option<()> {
        let of = *self.types.get(&value)?;
        let shape = self.shape(of)?;
        let scope = self.scope(module);
        let (value, of, compare) = match shape.scalar {
            op::TYPE_BOOL => {
                let of = self.numbers(module, shape.count);
                (self.as_number(module, value, shape.count), of, op::I_EQUAL)
            }
            op::TYPE_INT => (value, of, op::I_EQUAL),
            _ => (value, of, op::F_ORD_EQUAL),
        };
        let first = self.emit(module, op::GROUP_NON_UNIFORM_BROADCAST_FIRST, of, &[scope, value]);
        let boolean = self.declared.boolean(module);
        let compared = self.declared.vector(module, boolean, shape.count);
        let mut same = self.emit(module, compare, compared, &[value, first]);
        if shape.count > 1 {
            same = self.emit(module, op::ALL, boolean, &[same]);
        }
        self.finish(op::GROUP_NON_UNIFORM_ALL, ty, id, &[scope, same]);
        Some(())
    }

    /// A number without a sign, of the same bits.
    fn unsigned(&mut self, module: &mut Editor, value: u32) -> u32 {
        let uint = self.declared.uint(module);
        self.cast(module, value, uint)
    }

    /// A value of the module with the same bits, of a type.
    fn cast(&mut self, module: &mut Editor, value: u32, ty: u32) -> u32 {
        match self.types.get(&value) {
            Some(own) if *own != ty => self.emit(module, op::BITCAST, ty, &[value]),
            _ => value,
        }
    }

    /// Whether a lane's bit is set, as the result of the replaced instruction.
    fn finish_bit(&mut self, module: &mut Editor, ty: u32, id: u32, value: u32, lane: u32) {
        let bit = self.bit(module, value, lane);
        self.finish_truth(module, ty, id, bit, 1);
    }

    /// A lane's bit.
    fn bit(&mut self, module: &mut Editor, value: u32, lane: u32) -> u32 {
        let uint = self.declared.uint(module);
        let [five, mask, one] = [5, 31, 1].map(|word| self.declared.number(module, word));
        let word = self.emit(module, op::SHIFT_RIGHT_LOGICAL, uint, &[lane, five]);
        let word = self.emit(module, op::VECTOR_EXTRACT_DYNAMIC, uint, &[value, word]);
        let place = self.emit(module, op::BITWISE_AND, uint, &[lane, mask]);
        let bit = self.emit(module, op::SHIFT_RIGHT_LOGICAL, uint, &[word, place]);
        self.emit(module, op::BITWISE_AND, uint, &[bit, one])
    }

    /// The lanes that a group operation is over, as bits.
    fn lanes(&mut self, module: &mut Editor, operation: u32) -> Option<u32> {
        let uint = self.declared.uint(module);
        let end = match operation {
            REDUCE => self.load(module, SUBGROUP_SIZE),
            INCLUSIVE => {
                let (lane, one) = (self.load(module, LANE), self.declared.number(module, 1));
                self.emit(module, op::I_ADD, uint, &[lane, one])
            }
            EXCLUSIVE => self.load(module, LANE),
            _ => return None,
        };
        self.below(module, end)
    }

    /// The sum of four numbers, as the result of the replaced instruction.
    fn finish_sum(&mut self, module: &mut Editor, ty: u32, id: u32, value: u32) {
        let uint = self.declared.uint(module);
        let [a, b, c, d] = [0, 1, 2, 3].map(|at| self.emit(module, op::COMPOSITE_EXTRACT, uint, &[value, at]));
        let first = self.emit(module, op::I_ADD, uint, &[a, b]);
        let second = self.emit(module, op::I_ADD, uint, &[c, d]);
        self.finish(op::I_ADD, ty, id, &[first, second]);
    }

    /// The number of the first or last lane with a bit.
    fn find(&mut self, module: &mut Editor, ty: u32, id: u32, value: u32, last: bool) -> Option<()> {
        let (uint, boolean, uvec4) = (
            self.declared.uint(module),
            self.declared.boolean(module),
            self.uvec4(module),
        );
        let all = self.lanes(module, REDUCE)?;
        let value = self.emit(module, op::BITWISE_AND, uvec4, &[value, all]);
        let order = if last { [0, 1, 2, 3] } else { [3, 2, 1, 0] };
        let zero = self.declared.number(module, 0);
        let (mut word, mut base) = (zero, zero);
        for at in order {
            let part = self.emit(module, op::COMPOSITE_EXTRACT, uint, &[value, at]);
            let has = self.emit(module, op::I_NOT_EQUAL, boolean, &[part, zero]);
            let number = self.declared.number(module, 32 * at);
            word = self.emit(module, op::SELECT, uint, &[has, part, word]);
            base = self.emit(module, op::SELECT, uint, &[has, number, base]);
        }
        let one = self.declared.number(module, 1);
        let counted = match last {
            // All bits below the highest.
            true => {
                for shift in [1, 2, 4, 8, 16] {
                    let shift = self.declared.number(module, shift);
                    let moved = self.emit(module, op::SHIFT_RIGHT_LOGICAL, uint, &[word, shift]);
                    word = self.emit(module, op::BITWISE_OR, uint, &[word, moved]);
                }
                self.emit(module, op::SHIFT_RIGHT_LOGICAL, uint, &[word, one])
            }
            // All bits below the lowest.
            false => {
                let others = self.emit(module, op::NOT, uint, &[word]);
                let less = self.emit(module, op::I_SUB, uint, &[word, one]);
                self.emit(module, op::BITWISE_AND, uint, &[others, less])
            }
        };
        let count = self.emit(module, op::BIT_COUNT, uint, &[counted]);
        self.finish(op::I_ADD, ty, id, &[base, count]);
        Some(())
    }

    /// A group operation over lanes.
    #[expect(clippy::too_many_arguments, reason = "the operands of one instruction")]
    fn over(
        &mut self,
        module: &mut Editor,
        kind: u16,
        ty: u32,
        id: u32,
        scope: u32,
        operation: u32,
        value: u32,
        cluster: Option<u32>,
    ) -> Option<()> {
        let shape = self.shape(ty)?;
        let cluster = match (operation, cluster) {
            (CLUSTERED, Some(cluster)) => self.index.constant(cluster)?,
            (REDUCE..=EXCLUSIVE, None) => 0,
            _ => return None,
        };
        let is_logical = shape.scalar == op::TYPE_BOOL;
        let in_wgsl = match kind {
            op::GROUP_NON_UNIFORM_I_ADD..=op::GROUP_NON_UNIFORM_F_MUL => operation != CLUSTERED,
            _ => operation == REDUCE && !is_logical,
        };
        if in_wgsl || shape.bits > 32 || !is_logical && shape.bits != 32 {
            return None;
        }
        if !is_logical {
            let number = self.call(module, Helper::Over(ty, kind, operation, cluster), ty, value)?;
            self.finish(op::COPY_OBJECT, ty, id, &[number]);
            return Some(());
        }
        let bitwise = kind - op::GROUP_NON_UNIFORM_LOGICAL_AND + op::GROUP_NON_UNIFORM_BITWISE_AND;
        let of = self.numbers(module, shape.count);
        let number = self.as_number(module, value, shape.count);
        let number = match operation {
            REDUCE => self.emit(module, bitwise, of, &[scope, REDUCE, number]),
            _ => self.call(module, Helper::Over(of, bitwise, operation, cluster), of, number)?,
        };
        self.finish_truth(module, ty, id, number, shape.count);
        Some(())
    }

    /// The id of a helper, which is written at its first use.
    fn helper(&mut self, module: &mut Editor, helper: Helper) -> Option<u32> {
        if let Some(id) = self.helpers.get(&helper) {
            return Some(*id);
        }
        let caller = std::mem::take(&mut self.code);
        let id = match helper {
            Helper::Below => Some(self.write_below(module)),
            Helper::Over(ty, kind, operation, cluster) => self.write_over(module, ty, kind, operation, cluster),
        };
        let written = std::mem::replace(&mut self.code, caller);
        self.functions.extend(written);
        self.helpers.insert(helper, id?);
        id
    }

    /// Begins a function of one argument: its id, and the argument's.
    fn begin(&mut self, module: &mut Editor, result: u32, argument: u32) -> (u32, u32) {
        let ty = self.declared.ty(module, op::TYPE_FUNCTION, &[result, argument]);
        let (function, value, label) = (module.fresh(), module.fresh(), module.fresh());
        self.code.push(build(op::FUNCTION, &[result, function, 0, ty]));
        self.code.push(build(op::FUNCTION_PARAMETER, &[argument, value]));
        self.code.push(build(op::LABEL, &[label]));
        (function, value)
    }

    fn end(&mut self, value: u32) {
        self.code.push(build(op::RETURN_VALUE, &[value]));
        self.code.push(build(op::FUNCTION_END, &[]));
    }

    fn write_below(&mut self, module: &mut Editor) -> u32 {
        let (uint, uvec4) = (self.declared.uint(module), self.uvec4(module));
        let boolean = self.declared.boolean(module);
        let bvec4 = self.declared.vector(module, boolean, 4);
        let (function, number) = self.begin(module, uvec4, uint);
        let firsts = [0, 32, 64, 96].map(|word| self.declared.number(module, word));
        let firsts = self.declared.composite(module, uvec4, &firsts);
        let [zeros, ones, words, all] = [0, 1, 32, u32::MAX].map(|word| {
            let number = self.declared.number(module, word);
            self.declared.splat(module, uvec4, 4, number)
        });
        let end = self.emit(module, op::COMPOSITE_CONSTRUCT, uvec4, &[number; 4]);
        let is_past = self.emit(module, op::U_GREATER_THAN, bvec4, &[end, firsts]);
        let past = self.emit(module, op::I_SUB, uvec4, &[end, firsts]);
        let bits = self.emit(module, op::SELECT, uvec4, &[is_past, past, zeros]);
        let is_full = self.emit(module, op::U_GREATER_THAN_EQUAL, bvec4, &[bits, words]);
        let shift = self.emit(module, op::SELECT, uvec4, &[is_full, zeros, bits]);
        let power = self.emit(module, op::SHIFT_LEFT_LOGICAL, uvec4, &[ones, shift]);
        let mask = self.emit(module, op::I_SUB, uvec4, &[power, ones]);
        let mask = self.emit(module, op::SELECT, uvec4, &[is_full, all, mask]);
        self.end(mask);
        function
    }

    /// The value of an empty group, as a constant's word; `None` for infinities.
    fn identity(kind: u16) -> Option<u32> {
        Some(match kind {
            op::GROUP_NON_UNIFORM_I_MUL => 1,
            op::GROUP_NON_UNIFORM_F_MUL => 1.0f32.to_bits(),
            op::GROUP_NON_UNIFORM_S_MIN => i32::MAX as u32,
            op::GROUP_NON_UNIFORM_U_MIN | op::GROUP_NON_UNIFORM_BITWISE_AND => u32::MAX,
            op::GROUP_NON_UNIFORM_S_MAX => i32::MIN as u32,
            op::GROUP_NON_UNIFORM_F_MIN | op::GROUP_NON_UNIFORM_F_MAX => return None,
            _ => 0,
        })
    }

    /// The operation on two values; minima and maxima are chosen by this comparison.
    fn operation(kind: u16) -> Option<(u16, bool)> {
        Some(match kind {
            op::GROUP_NON_UNIFORM_I_ADD => (op::I_ADD, false),
            op::GROUP_NON_UNIFORM_F_ADD => (op::F_ADD, false),
            op::GROUP_NON_UNIFORM_I_MUL => (op::I_MUL, false),
            op::GROUP_NON_UNIFORM_F_MUL => (op::F_MUL, false),
            op::GROUP_NON_UNIFORM_S_MIN => (op::S_LESS_THAN, true),
            op::GROUP_NON_UNIFORM_U_MIN => (op::U_LESS_THAN, true),
            op::GROUP_NON_UNIFORM_F_MIN => (op::F_ORD_LESS_THAN, true),
            op::GROUP_NON_UNIFORM_S_MAX => (op::S_GREATER_THAN, true),
            op::GROUP_NON_UNIFORM_U_MAX => (op::U_GREATER_THAN, true),
            op::GROUP_NON_UNIFORM_F_MAX => (op::F_ORD_GREATER_THAN, true),
            op::GROUP_NON_UNIFORM_BITWISE_AND => (op::BITWISE_AND, false),
            op::GROUP_NON_UNIFORM_BITWISE_OR => (op::BITWISE_OR, false),
            op::GROUP_NON_UNIFORM_BITWISE_XOR => (op::BITWISE_XOR, false),
            _ => return None,
        })
    }

    /// A loop over the subgroup's lanes, each of which hands its value to all.
    fn write_over(&mut self, module: &mut Editor, ty: u32, kind: u16, operation: u32, cluster: u32) -> Option<u32> {
        let shape = self.shape(ty)?;
        let (step, compares) = Self::operation(kind)?;
        let (uint, boolean, uvec4) = (
            self.declared.uint(module),
            self.declared.boolean(module),
            self.uvec4(module),
        );
        let chosen = self.declared.vector(module, boolean, shape.count);
        let scope = self.scope(module);
        let yes = self.declared.truth(module, true);
        let [zero, one] = [0, 1].map(|word| self.declared.number(module, word));
        let (function, value) = self.begin(module, ty, ty);
        let entry = self.code.last().map_or(0, |words| words[1]);
        let (lane, size) = (self.load(module, LANE), self.load(module, SUBGROUP_SIZE));
        let active = self.emit(module, op::GROUP_NON_UNIFORM_BALLOT, uvec4, &[scope, yes]);
        let empty = self.empty(module, ty, shape, kind, lane);
        let [head, test, body, again, behind] = [0; 5].map(|_| module.fresh());
        let [number, next, sum, result] = [0; 4].map(|_| module.fresh());
        self.code.push(build(op::BRANCH, &[head]));
        self.code.push(build(op::LABEL, &[head]));
        self.finish(op::PHI, uint, number, &[zero, entry, next, again]);
        self.finish(op::PHI, ty, sum, &[empty, entry, result, again]);
        self.code.push(build(op::LOOP_MERGE, &[behind, again, 0]));
        self.code.push(build(op::BRANCH, &[test]));
        self.code.push(build(op::LABEL, &[test]));
        let more = self.emit(module, op::U_LESS_THAN, boolean, &[number, size]);
        self.code.push(build(op::BRANCH_CONDITIONAL, &[more, body, behind]));
        self.code.push(build(op::LABEL, &[body]));
        let other = self.emit(module, op::GROUP_NON_UNIFORM_SHUFFLE, ty, &[scope, value, number]);
        let bit = self.bit(module, active, number);
        let mut takes = self.emit(module, op::I_NOT_EQUAL, boolean, &[bit, zero]);
        let within = match operation {
            INCLUSIVE => Some(self.emit(module, op::U_LESS_THAN_EQUAL, boolean, &[number, lane])),
            EXCLUSIVE => Some(self.emit(module, op::U_LESS_THAN, boolean, &[number, lane])),
            CLUSTERED => {
                let cluster = self.declared.number(module, cluster.max(1));
                let [own, of] = [lane, number].map(|lane| self.emit(module, op::U_DIV, uint, &[lane, cluster]));
                Some(self.emit(module, op::I_EQUAL, boolean, &[own, of]))
            }
            _ => None,
        };
        if let Some(within) = within {
            takes = self.emit(module, op::LOGICAL_AND, boolean, &[takes, within]);
        }
        let joined = match compares {
            true => {
                let is_other = self.emit(module, step, chosen, &[other, sum]);
                self.emit(module, op::SELECT, ty, &[is_other, other, sum])
            }
            false => self.emit(module, step, ty, &[sum, other]),
        };
        if shape.count > 1 {
            let parts = vec![takes; shape.count as usize];
            takes = self.emit(module, op::COMPOSITE_CONSTRUCT, chosen, &parts);
        }
        self.finish(op::SELECT, ty, result, &[takes, joined, sum]);
        self.code.push(build(op::BRANCH, &[again]));
        self.code.push(build(op::LABEL, &[again]));
        self.finish(op::I_ADD, uint, next, &[number, one]);
        self.code.push(build(op::BRANCH, &[head]));
        self.code.push(build(op::LABEL, &[behind]));
        self.end(sum);
        Some(function)
    }

    /// The value of an empty group.
    fn empty(&mut self, module: &mut Editor, ty: u32, shape: Shape, kind: u16, lane: u32) -> u32 {
        if let Some(word) = Self::identity(kind) {
            let number = self.declared.constant(module, shape.of, word);
            return self.declared.splat(module, ty, shape.count, number);
        }
        // WGSL has no constant that is infinite: its bits are a sum that is known at run time only.
        let infinite = match kind {
            op::GROUP_NON_UNIFORM_F_MIN => f32::INFINITY,
            _ => f32::NEG_INFINITY,
        };
        let uint = self.declared.uint(module);
        let (bits, zero) = (
            self.declared.number(module, infinite.to_bits()),
            self.declared.number(module, 0),
        );
        let nothing = self.emit(module, op::I_MUL, uint, &[lane, zero]);
        let bits = self.emit(module, op::I_ADD, uint, &[bits, nothing]);
        let number = self.emit(module, op::BITCAST, shape.of, &[bits]);
        match shape.count {
            1 => number,
            count => self.emit(module, op::COMPOSITE_CONSTRUCT, ty, &vec![number; count as usize]),
        }
    }

    /// Makes the built-in masks private variables, which entry points compute from the lane's number.
    fn masks(&mut self, module: &mut Editor, masks: &[u32]) {
        if masks.is_empty() || !move_pointers(self.index, module, masks) {
            return;
        }
        let entries: Vec<u32> = self.index.entry_points().filter_map(|node| node.operand(1)).collect();
        let uvec4 = self.uvec4(module);
        let lists_all = module.version() >= 0x0001_0400;
        module.body.retain(|words| match opcode(words) {
            op::VARIABLE => !masks.contains(&words[2]),
            op::DECORATE => !masks.contains(&words[1]),
            _ => true,
        });
        if !lists_all {
            module.leave_interface(masks);
        }
        let pointer = self.declared.ty(module, op::TYPE_POINTER, &[class::PRIVATE, uvec4]);
        for id in masks {
            self.declared.push(build(op::VARIABLE, &[pointer, *id, class::PRIVATE]));
        }
        for entry in entries {
            self.code.clear();
            for id in masks {
                let kind = self.index.decoration(*id, decoration::BUILT_IN).unwrap_or(0) - FIRST_MASK;
                if let Some(value) = self.mask(module, kind) {
                    self.code.push(build(op::STORE, &[*id, value]));
                }
            }
            if let Some(at) = start_of(module, entry) {
                let code = std::mem::take(&mut self.code);
                module.insert(at, code);
            }
        }
        self.changed = true;
    }

    /// A built-in mask: of the lanes equal to, from, above, up to and below the own one.
    fn mask(&mut self, module: &mut Editor, kind: u32) -> Option<u32> {
        let uvec4 = self.uvec4(module);
        let below = self.lanes(module, EXCLUSIVE)?;
        let up_to = self.lanes(module, INCLUSIVE)?;
        let all = self.lanes(module, REDUCE)?;
        let mut without = |value: u32, less: u32| {
            let others = self.emit(module, op::NOT, uvec4, &[less]);
            self.emit(module, op::BITWISE_AND, uvec4, &[value, others])
        };
        Some(match kind {
            0 => without(up_to, below),
            1 => without(all, below),
            2 => without(all, up_to),
            3 => up_to,
            _ => below,
        })
    }
}
