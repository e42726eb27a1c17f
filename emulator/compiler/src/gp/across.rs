//! Where values live that several blocks need: in registers, and in temporaries when those are too few.

use super::node::Arg;
use crate::edges;
use crate::ir::{Block, Function, Op, Term, Value};
use std::collections::{HashMap, HashSet};

/// Register components there are.
pub(super) const REGISTERS: u32 = 64;

/// A value through its signs: what is negated.
pub(super) fn signed(function: &Function, mut value: Value) -> (Value, bool) {
    let mut negative = false;
    while function.inst(value).op == Op::Neg {
        value = function.inst(value).args[0];
        negative = !negative;
    }
    (value, negative)
}

/// Whether a value is at hand everywhere without a register.
fn is_leaf(op: Op) -> bool {
    matches!(op, Op::Const(_) | Op::Uniform(_) | Op::Input(_))
}

/// Place of each value, register components that are taken in each block, floats of temporaries.
type Homes = (HashMap<Value, Arg>, Vec<HashSet<u32>>, u32);

/// Places for values that are read in other blocks than their own, and for phis: a register component, or a float of the
/// memory from `temporaries` on when no more than `registers` components may be taken.
pub(super) fn across(
    function: &Function,
    order: &[Block],
    home: &HashMap<Value, Block>,
    registers: u32,
    temporaries: u32,
) -> Homes {
    let number: HashMap<Block, usize> = order.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let count = order.len();
    let mut uses: Vec<HashSet<Value>> = vec![HashSet::new(); count];
    let mut wanted: HashSet<Value> = HashSet::new();
    let mut look = |at: usize, value: Value| {
        let (value, _) = signed(function, value);
        let inst = function.inst(value);
        if is_leaf(inst.op) {
            return;
        }
        if home.get(&value) != Some(&order[at]) || inst.op == Op::Phi {
            uses[at].insert(value);
            wanted.insert(value);
        }
    };
    for (at, block) in order.iter().enumerate() {
        for value in &function.block(*block).insts {
            let inst = function.inst(*value);
            if inst.op != Op::Phi {
                inst.args.iter().for_each(|arg| look(at, *arg));
            } else {
                look(at, *value);
            }
        }
        edges::copies(function, *block)
            .iter()
            .for_each(|(_, value)| look(at, *value));
        match function.block(*block).term {
            Term::Branch(value, ..) => look(at, value),
            Term::End => function.outputs.iter().for_each(|(_, value)| look(at, *value)),
            _ => {}
        }
    }
    // Live behind each block; a phi's register is written at the ends of the blocks in front.
    let mut live: Vec<HashSet<Value>> = vec![HashSet::new(); count];
    loop {
        let mut changed = false;
        for at in (0..count).rev() {
            for next in function.successors(order[at]) {
                let to = number[&next];
                let mut incoming: HashSet<Value> = live[to].iter().chain(&uses[to]).copied().collect();
                incoming.retain(|value| home.get(value) != Some(&next) || function.inst(*value).op == Op::Phi);
                for value in incoming {
                    changed |= live[at].insert(value);
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut blocks_of: Vec<(Value, Vec<usize>)> = Vec::new();
    for value in wanted {
        let there =
            |at: usize| uses[at].contains(&value) || live[at].contains(&value) || home.get(&value) == Some(&order[at]);
        blocks_of.push((value, (0..count).filter(|at| there(*at)).collect()));
    }
    // When registers are few, what stays long and is read in few blocks goes to memory.
    let reads = |value: &Value| uses.iter().filter(|uses| uses.contains(value)).count();
    let few = registers < REGISTERS;
    blocks_of.sort_by_key(|(value, blocks)| {
        let idle = blocks.len().saturating_sub(reads(value));
        (if few { idle } else { 0 }, *value)
    });
    place(blocks_of, count, registers, temporaries)
}

/// Colours values by the blocks they are alive in.
fn place(values: Vec<(Value, Vec<usize>)>, count: usize, registers: u32, temporaries: u32) -> Homes {
    let mut busy: Vec<HashSet<u32>> = vec![HashSet::new(); count];
    let mut stored: Vec<HashSet<u32>> = vec![HashSet::new(); count];
    let mut homes = HashMap::new();
    let mut floats = 0;
    for (value, blocks) in values {
        let free = |taken: &[HashSet<u32>], number: &u32| blocks.iter().all(|at| !taken[*at].contains(number));
        let home = match (0..registers).find(|number| free(&busy, number)) {
            Some(component) => {
                blocks.iter().for_each(|at| {
                    busy[*at].insert(component);
                });
                Arg::Register(component)
            }
            None => {
                let float = (0..).find(|number| free(&stored, number)).unwrap_or_default();
                blocks.iter().for_each(|at| {
                    stored[*at].insert(float);
                });
                floats = floats.max(float + 1);
                Arg::Memory(temporaries + float)
            }
        };
        homes.insert(value, home);
    }
    (homes, busy, floats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Input, Inst};

    /// Values that are alive in the same block have homes of their own: registers while there are any, then memory.
    #[test]
    fn values_of_a_block_have_different_homes() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut stored = 0;
        for _ in 0..300 {
            let (count, registers) = (random.usize(1..6), random.u32(1..8));
            let values: Vec<(Value, Vec<usize>)> = (0..random.u32(1..20))
                .map(|value| {
                    let (first, last) = (random.usize(..count), random.usize(..count));
                    (Value(value), (first.min(last)..=first.max(last)).collect())
                })
                .collect();
            let (homes, busy, floats) = place(values.clone(), count, registers, 100);
            let mut taken = vec![HashSet::new(); count];
            let mut highest = 0;
            for (value, blocks) in &values {
                let home = homes[value];
                let free = |number: &u32| blocks.iter().all(|at| !taken[*at].contains(&Arg::Register(*number)));
                match home {
                    Arg::Register(number) => {
                        assert!(number < registers && free(&number));
                        assert!((0..number).all(|lower| !free(&lower)), "the first that is free");
                    }
                    Arg::Memory(float) => {
                        assert!(float >= 100 && !(0..registers).any(|number| free(&number)));
                        highest = highest.max(float - 99);
                    }
                    _ => panic!("{home:?}"),
                }
                for at in blocks {
                    assert!(taken[*at].insert(home), "{values:?}: {home:?} twice in {at}");
                }
            }
            assert_eq!(floats, highest);
            for (taken, busy) in taken.iter().zip(&busy) {
                let taken: HashSet<u32> = taken
                    .iter()
                    .filter_map(|home| {
                        if let Arg::Register(number) = home {
                            Some(*number)
                        } else {
                            None
                        }
                    })
                    .collect();
                assert_eq!(&taken, busy);
            }
            stored += floats;
        }
        assert!(stored > 100);
    }

    #[test]
    fn signs_are_looked_through() {
        let mut function = Function::default();
        let mut add = |op: Op, args: Vec<Value>| {
            function.add(Inst {
                op,
                args,
                span: None,
                tag: 0,
            })
        };
        let plain = add(Op::Input(Input::Attribute(0)), Vec::new());
        let mut value = plain;
        let mut all = vec![plain];
        for _ in 0..4 {
            value = add(Op::Neg, vec![value]);
            all.push(value);
        }
        for (signs, value) in all.into_iter().enumerate() {
            assert_eq!(signed(&function, value), (plain, signs % 2 == 1));
        }
    }
}
