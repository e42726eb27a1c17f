//! What subgroup operations give each lane, by the SPIR-V specification.

use super::machine::{Value, arithmetic};

/// A lane's part in a subgroup operation.
#[derive(Clone)]
pub(super) struct Operation {
    pub(super) name: &'static str,
    /// The instruction, by its result.
    pub(super) place: u32,
    pub(super) lane: u32,
    pub(super) operands: Vec<Value>,
    /// The operands as they stand in the instruction.
    pub(super) literals: Vec<u32>,
}

pub(super) fn is_operation(name: &str) -> bool {
    name.starts_with("GroupNonUniform") || name.starts_with("Subgroup")
}

/// The arithmetic of a group operation, and what it gives for nothing.
fn joined(name: &str) -> Option<(&'static str, u32)> {
    Some(match name {
        "IAdd" => ("IAdd", 0),
        "FAdd" => ("FAdd", 0),
        "IMul" => ("IMul", 1),
        "FMul" => ("FMul", 1f32.to_bits()),
        "SMin" => ("SMin", i32::MAX as u32),
        "UMin" => ("UMin", u32::MAX),
        "FMin" => ("FMin", f32::INFINITY.to_bits()),
        "SMax" => ("SMax", i32::MIN as u32),
        "UMax" => ("UMax", 0),
        "FMax" => ("FMax", f32::NEG_INFINITY.to_bits()),
        "BitwiseAnd" => ("BitwiseAnd", u32::MAX),
        "BitwiseOr" => ("BitwiseOr", 0),
        "BitwiseXor" | "LogicalXor" => ("BitwiseXor", 0),
        "LogicalAnd" => ("LogicalAnd", 1),
        "LogicalOr" => ("LogicalOr", 0),
        _ => return None,
    })
}

/// By component.
fn each(values: &[&Value], one: &dyn Fn(&[Value]) -> Value) -> Value {
    match values[0] {
        Value::Parts(parts) => {
            let at = |at: usize| values.iter().map(|value| part(value, at)).collect::<Vec<_>>();
            Value::Parts((0..parts.len()).map(|component| one(&at(component))).collect())
        }
        _ => one(&values.iter().map(|value| (*value).clone()).collect::<Vec<_>>()),
    }
}

fn part(value: &Value, at: usize) -> Value {
    match value {
        Value::Parts(parts) => parts[at].clone(),
        one => one.clone(),
    }
}

fn bits(value: &Value) -> u128 {
    let mut words = Vec::new();
    value.words(&mut words);
    words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word))
}

/// The result of each lane that takes part.
pub(super) fn results(lanes: &[Option<Operation>]) -> Vec<Option<Value>> {
    let active: Vec<&Operation> = lanes.iter().flatten().collect();
    let first = active[0];
    let size = lanes.len() as u32;
    let truth = |value: bool| Value::Word(u32::from(value));
    let name = first.name.strip_prefix("GroupNonUniform").unwrap_or(first.name);
    // The older operations, and votes in a quad, have no scope.
    let from = usize::from(first.name != name && !matches!(name, "QuadAllKHR" | "QuadAnyKHR"));
    let value = |of: &Operation, at: usize| of.operands[from + at].clone();
    let at_lane = |lane: u32, own: &Operation| {
        let there = lanes.get(lane as usize).and_then(Option::as_ref);
        value(there.unwrap_or(own), 0)
    };
    let result = |own: &Operation| -> Value {
        let lane = own.lane;
        let all = || active.iter().all(|one| value(one, 0).word() != 0);
        let any = || active.iter().any(|one| value(one, 0).word() != 0);
        let quad = || active.iter().filter(|one| one.lane / 4 == lane / 4);
        match name {
            "Elect" => truth(lane == first.lane),
            "All" | "SubgroupAllKHR" => truth(all()),
            "Any" | "SubgroupAnyKHR" => truth(any()),
            "QuadAllKHR" => truth(quad().all(|one| value(one, 0).word() != 0)),
            "QuadAnyKHR" => truth(quad().any(|one| value(one, 0).word() != 0)),
            "AllEqual" | "SubgroupAllEqualKHR" => truth(active.iter().all(|one| value(one, 0) == value(first, 0))),
            "Broadcast" | "Shuffle" | "SubgroupReadInvocationKHR" => at_lane(value(own, 1).word(), own),
            "BroadcastFirst" | "SubgroupFirstInvocationKHR" => value(first, 0),
            "Ballot" | "SubgroupBallotKHR" => {
                let mask = active.iter().map(|one| value(one, 0).word() << one.lane).sum();
                Value::Parts([mask, 0, 0, 0].map(Value::Word).to_vec())
            }
            "InverseBallot" => truth(bits(&value(own, 0)) >> lane & 1 == 1),
            "BallotBitExtract" => truth(bits(&value(own, 0)) >> value(own, 1).word() & 1 == 1),
            "BallotBitCount" => {
                let count = match own.literals[1] {
                    0 => size,
                    1 => lane + 1,
                    _ => lane,
                };
                let mask = (1u128 << count) - 1;
                Value::Word((bits(&own.operands[2]) & mask).count_ones())
            }
            "BallotFindLSB" => Value::Word(bits(&value(own, 0)).trailing_zeros()),
            "BallotFindMSB" => Value::Word(127 - bits(&value(own, 0)).leading_zeros()),
            "ShuffleXor" => at_lane(lane ^ value(own, 1).word(), own),
            "ShuffleUp" => at_lane(lane.wrapping_sub(value(own, 1).word()), own),
            "ShuffleDown" => at_lane(lane.wrapping_add(value(own, 1).word()), own),
            "QuadBroadcast" => at_lane(lane & !3 | value(own, 1).word(), own),
            "QuadSwap" => at_lane(lane ^ (value(own, 1).word() + 1), own),
            "RotateKHR" => {
                let cluster = own.operands.get(3).map_or(size, Value::word);
                let within = lane.wrapping_add(value(own, 1).word()) & (cluster - 1);
                at_lane(within + (lane & !(cluster - 1)), own)
            }
            name => {
                let (join, nothing) = joined(name).unwrap_or_else(|| panic!("{name} has no meaning here"));
                let counts = |one: &&&Operation| match own.literals[1] {
                    0 => true,
                    1 => one.lane <= lane,
                    2 => one.lane < lane,
                    _ => {
                        let cluster = own.operands[3].word();
                        one.lane / cluster == lane / cluster
                    }
                };
                let values: Vec<Value> = active
                    .iter()
                    .filter(counts)
                    .map(|one| one.operands[2].clone())
                    .collect();
                let nothing = each(&[&own.operands[2]], &|_| Value::Word(nothing));
                let join = |a: &Value, b: &Value| each(&[a, b], &|parts| arithmetic(join, parts, 32));
                match values.split_first() {
                    None => nothing,
                    Some((first, rest)) => rest.iter().fold(first.clone(), |sum, one| join(&sum, one)),
                }
            }
        }
    };
    lanes.iter().map(|lane| lane.as_ref().map(result)).collect()
}
