//! Specialisation constants as WGSL has them: scalars. What is computed from them is computed in the functions that use
//! it, and lengths of arrays have their default values.

use super::editor::{Editor, build, context, id_operands, opcode, rename};
use crate::Result;
use crate::spirv::{ModuleIndex, decoration, op};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The module without operations on specialisation constants outside of functions. A constant that an array's length
/// depends on becomes an ordinary one, as does one of a global variable's first value.
///
/// # Errors
/// Invalid for a broken module.
pub(crate) fn in_functions(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let mut module = Editor::new(&index)?;
    let start = module.functions_start();
    let is_spec = |words: &&Vec<u32>| (op::SPEC_CONSTANT_TRUE..=op::SPEC_CONSTANT_OP).contains(&opcode(words));
    let specs: HashMap<u32, Vec<u32>> = module.body[..start]
        .iter()
        .filter(is_spec)
        .map(|words| (words[2], words.clone()))
        .collect();
    if specs.is_empty() {
        return Ok(words.to_vec());
    }
    let mut open: Vec<u32> = module.body[..start]
        .iter()
        .filter_map(|words| match opcode(words) {
            op::TYPE_ARRAY => words.get(3).copied(),
            op::VARIABLE => words.get(4).copied(),
            _ => None,
        })
        .collect();
    let mut frozen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if let Some(words) = specs.get(&id).filter(|_| frozen.insert(id)) {
            match opcode(words) {
                op::SPEC_CONSTANT_OP => open.extend(&words[4..]),
                op::SPEC_CONSTANT_COMPOSITE => open.extend(&words[3..]),
                _ => {}
            }
        }
    }
    let mut known: HashMap<u32, u32> = HashMap::new();
    let mut moved: BTreeMap<u32, usize> = BTreeMap::new();
    let mut order = Vec::new();
    let is_open = |part: &u32| specs.contains_key(part) && !frozen.contains(part);
    for words in &mut module.body[..start] {
        let kind = opcode(words);
        let id = words.get(2).copied().unwrap_or(0);
        let is_frozen = frozen.contains(&id);
        let plain = match kind {
            op::SPEC_CONSTANT_TRUE => Some(op::CONSTANT_TRUE),
            op::SPEC_CONSTANT_FALSE => Some(op::CONSTANT_FALSE),
            op::SPEC_CONSTANT => Some(op::CONSTANT),
            op::SPEC_CONSTANT_COMPOSITE => Some(op::CONSTANT_COMPOSITE),
            _ => None,
        };
        match (kind, plain) {
            (op::CONSTANT, _) if words.len() == 4 => {
                known.insert(id, words[3]);
            }
            (_, Some(plain)) if is_frozen => {
                *words = build(plain, &words[1..]);
                match plain {
                    op::CONSTANT if words.len() == 4 => known.insert(id, words[3]),
                    op::CONSTANT_TRUE => known.insert(id, 1),
                    op::CONSTANT_FALSE => known.insert(id, 0),
                    _ => None,
                };
            }
            (op::SPEC_CONSTANT_OP, _) => match folded(&index, words, &known).filter(|_| is_frozen) {
                Some(value) => {
                    known.insert(id, value);
                    *words = match (index.opcode(words[1]), value) {
                        (op::TYPE_BOOL, 0) => build(op::CONSTANT_FALSE, &words[1..3]),
                        (op::TYPE_BOOL, _) => build(op::CONSTANT_TRUE, &words[1..3]),
                        _ => build(op::CONSTANT, &[words[1], id, value]),
                    };
                }
                None => {
                    moved.insert(id, order.len());
                    order.push(build(words[3] as u16, &[&words[1..3], &words[4..]].concat()));
                    words.clear();
                }
            },
            // WGSL has no composites of overrides.
            (op::SPEC_CONSTANT_COMPOSITE, _) if words[3..].iter().any(is_open) => {
                moved.insert(id, order.len());
                order.push(build(op::COMPOSITE_CONSTRUCT, &words[1..]));
                words.clear();
            }
            _ => {}
        }
    }
    if frozen.is_empty() && moved.is_empty() {
        return Ok(words.to_vec());
    }
    let outside = |id: u32| module.body[..start].iter().any(|words| uses_outside(words, id));
    if moved.keys().any(|id| outside(*id)) {
        return Ok(words.to_vec());
    }
    let gone = |words: &Vec<u32>| match (opcode(words), words.as_slice()) {
        (op::DECORATE, [_, id, decoration::SPEC_ID, ..]) => frozen.contains(id),
        (op::NAME | op::DECORATE, [_, id, ..]) => moved.contains_key(id),
        _ => false,
    };
    let context = context(&index);
    let old = std::mem::take(&mut module.body);
    let (mut body, mut function): (Vec<Vec<u32>>, Vec<Vec<u32>>) = (Vec::with_capacity(old.len()), Vec::new());
    for (at, words) in old.into_iter().enumerate() {
        if at < start {
            if !words.is_empty() && !gone(&words) {
                body.push(words);
            }
            continue;
        }
        let ends = opcode(&words) == op::FUNCTION_END;
        function.push(words);
        if ends {
            let mut needed = BTreeSet::new();
            let mut open: Vec<u32> = function
                .iter()
                .flat_map(|words| id_operands(words.as_slice()))
                .collect();
            while let Some(id) = open.pop() {
                if let Some(at) = moved.get(&id).filter(|at| needed.insert(**at)) {
                    open.extend(id_operands(order[*at].as_slice()));
                }
            }
            let ids: HashMap<u32, u32> = needed.iter().map(|at| (order[*at][2], module.fresh())).collect();
            let mut code = needed.iter().map(|at| order[*at].clone()).collect::<Vec<_>>();
            for words in code.iter_mut().chain(&mut function) {
                rename(words, &ids, &context);
            }
            let first = function
                .iter()
                .position(|words| opcode(words) == op::LABEL)
                .map_or(0, |at| at + 1);
            let is_declared = |words: &Vec<u32>| matches!(opcode(words), op::VARIABLE | op::LINE | op::NO_LINE);
            let declared = function[first..].iter().take_while(|words| is_declared(words)).count();
            let at = first + declared;
            function.splice(at..at, code);
            body.append(&mut function);
        }
    }
    body.append(&mut function);
    module.body = body;
    Ok(module.words())
}

/// Whether an instruction outside of functions needs a constant to be one.
fn uses_outside(words: &[u32], id: u32) -> bool {
    match opcode(words) {
        op::TYPE_ARRAY => words[3] == id,
        op::VARIABLE | op::EXECUTION_MODE_ID | op::DECORATE_ID => words[2..].contains(&id),
        op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE => words[3..].contains(&id),
        op::DECORATE => words[1] == id && words[2] == decoration::BUILT_IN,
        _ => false,
    }
}

/// The value of an operation on numbers of 32 bits and truth values.
fn folded(index: &ModuleIndex, words: &[u32], known: &HashMap<u32, u32>) -> Option<u32> {
    let is_word =
        |ty: u32| index.opcode(ty) == op::TYPE_BOOL || matches!(index.operands(ty, op::TYPE_INT), Some([_, 32, _]));
    if !is_word(words[1]) {
        return None;
    }
    let value = |at: usize| words.get(at).and_then(|id| known.get(id)).copied();
    let a = value(4)?;
    let b = || value(5);
    let signed = |value: u32| value.cast_signed();
    Some(match words[3] as u16 {
        op::I_ADD => a.wrapping_add(b()?),
        op::I_SUB => a.wrapping_sub(b()?),
        op::I_MUL => a.wrapping_mul(b()?),
        op::U_DIV => a.checked_div(b()?)?,
        op::U_MOD => a.checked_rem(b()?)?,
        op::S_DIV => signed(a).checked_div(signed(b()?))?.cast_unsigned(),
        op::S_REM => signed(a).checked_rem(signed(b()?))?.cast_unsigned(),
        op::SHIFT_LEFT_LOGICAL => a.checked_shl(b()?)?,
        op::SHIFT_RIGHT_LOGICAL => a.checked_shr(b()?)?,
        op::SHIFT_RIGHT_ARITHMETIC => signed(a).checked_shr(b()?)?.cast_unsigned(),
        op::BITWISE_AND | op::LOGICAL_AND => a & b()?,
        op::BITWISE_OR | op::LOGICAL_OR => a | b()?,
        op::BITWISE_XOR => a ^ b()?,
        op::NOT => !a,
        op::LOGICAL_NOT => a ^ 1,
        op::S_NEGATE => a.wrapping_neg(),
        op::I_EQUAL => u32::from(a == b()?),
        op::I_NOT_EQUAL => u32::from(a != b()?),
        op::U_GREATER_THAN => u32::from(a > b()?),
        op::S_GREATER_THAN => u32::from(signed(a) > signed(b()?)),
        op::U_LESS_THAN => u32::from(a < b()?),
        op::S_LESS_THAN => u32::from(signed(a) < signed(b()?)),
        op::SELECT => match a {
            0 => value(6)?,
            _ => b()?,
        },
        _ => return None,
    })
}
