//! Estimates the work of tools that walk a module by path: a small module may have exponentially many paths.
//!
//! This crate visits each type and function once. Other tools do not, and run only within limits.

use super::{ModuleIndex, op};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The work of walking a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Members of the largest type, counting members of members; saturating.
    pub members: u64,
    /// Functions times calls: the cost of searching the function of each call.
    pub calls: u64,
}

/// Limit on members for other tools.
pub const MAX_MEMBERS: u64 = 1 << 18;

impl Work {
    /// Measures a module in one pass over its types and one over its functions.
    pub fn of(index: &ModuleIndex) -> Self {
        let mut counts: HashMap<u32, u64> = HashMap::new();
        let (mut functions, mut calls, mut most) = (0u64, 0u64, 0);
        for node in index.instructions() {
            let members: &mut dyn Iterator<Item = u32> = match node.opcode {
                op::TYPE_STRUCT | op::TYPE_FUNCTION => &mut node.tail(1),
                op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY | op::TYPE_MATRIX | op::TYPE_VECTOR => {
                    &mut node.operand(1).into_iter()
                }
                op::FUNCTION => {
                    functions += 1;
                    continue;
                }
                op::FUNCTION_CALL => {
                    calls += 1;
                    continue;
                }
                _ => continue,
            };
            let of = |id: u32| counts.get(&id).copied().unwrap_or(1);
            let count = members.map(of).fold(1, u64::saturating_add);
            most = most.max(count);
            if let Some(id) = node.operand(0) {
                counts.insert(id, count);
            }
        }
        Self {
            members: most,
            calls: functions.saturating_mul(calls),
        }
    }

    /// The reason not to run a tool on the module, if any; `calls` is the tool's limit.
    pub fn beyond(&self, calls: u64) -> Option<String> {
        if self.members > MAX_MEMBERS {
            let members = self.members;
            return Some(format!(
                "a type has {members} members, nested ones included, too many for it"
            ));
        }
        (self.calls > calls).then(|| "the module has too many functions and calls for it".to_owned())
    }
}

/// Calls along all paths of the module's call graph from its entry points: the work of a tool that follows each call
/// anew. Saturating; recursion counts as infinite.
pub fn paths(index: &ModuleIndex) -> u64 {
    let mut callees: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut function = 0;
    for node in index.bodies() {
        match node.opcode {
            op::FUNCTION => function = node.operand(1).unwrap_or(0),
            op::FUNCTION_CALL => callees.entry(function).or_default().extend(node.operand(2)),
            _ => {}
        }
    }
    let mut counts: HashMap<u32, Option<u64>> = HashMap::new();
    let entries: Vec<u32> = index.entry_points().filter_map(|node| node.operand(1)).collect();
    let mut left: Vec<(u32, bool)> = entries.iter().map(|entry| (*entry, false)).collect();
    while let Some((function, is_done)) = left.pop() {
        let called = callees.get(&function).map_or(&[][..], Vec::as_slice);
        if is_done {
            // A call to a function that is still being counted is recursive.
            let of = |id: &u32| counts.get(id).copied().flatten().unwrap_or(u64::MAX);
            let count = called.iter().map(|id| of(id).saturating_add(1));
            let count = count.fold(0, u64::saturating_add);
            counts.insert(function, Some(count));
        } else if let Entry::Vacant(entry) = counts.entry(function) {
            entry.insert(None);
            left.push((function, true));
            left.extend(called.iter().map(|id| (*id, false)));
        }
    }
    let of = |id: &u32| counts.get(id).copied().flatten().unwrap_or(0);
    entries.iter().map(of).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_call_the_one_before_twice_double() {
        let mut text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %f40 \"main\"\n\
                        %void = OpTypeVoid\n%type = OpTypeFunction %void\n"
            .to_owned();
        for n in 0..=40 {
            text += &format!("%f{n} = OpFunction %void None %type\n%l{n} = OpLabel\n");
            if let Some(before) = (n as u32).checked_sub(1) {
                text += &format!("%a{n} = OpFunctionCall %void %f{before}\n%b{n} = OpFunctionCall %void %f{before}\n");
            }
            text += "OpReturn\nOpFunctionEnd\n";
        }
        let paths = |text: &str| {
            let words = crate::spirv::parse(text).unwrap();
            paths(&ModuleIndex::new(&words).unwrap())
        };
        assert_eq!(paths(&text), (1 << 41) - 2);
        let endless = text.replace("%a1 = OpFunctionCall %void %f0", "%a1 = OpFunctionCall %void %f40");
        assert_eq!(paths(&endless), u64::MAX);
    }

    #[test]
    fn structs_of_two_of_the_one_before_double() {
        let mut text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n%s0 = OpTypeFloat 32\n".to_owned();
        for n in 0..40 {
            text += &format!("%s{} = OpTypeStruct %s{n} %s{n}\n", n + 1);
        }
        let words = crate::spirv::parse(&text).unwrap();
        let work = Work::of(&ModuleIndex::new(&words).unwrap());
        assert_eq!((work.members, work.calls), ((1 << 41) - 1, 0));
        assert!(work.beyond(0).is_some_and(|why| why.contains("2199023255551 members")));
        let words = crate::spirv::parse(&text[..200]).unwrap();
        assert_eq!(Work::of(&ModuleIndex::new(&words).unwrap()).beyond(0), None);
    }
}
