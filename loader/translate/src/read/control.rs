//! Rewrites switches for naga's SPIR-V reader. It lets a case fall through only into the next listed one, and into the
//! default only from the last, and treats a branch to the end of the enclosing loop as one to the end of the switch.

use crate::{Error, ErrorKind, Language, Result};
use loader::spirv::instructions;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Opcodes of control flow.
mod op {
    pub(crate) const UNDEF: u16 = 1;
    pub(crate) const FUNCTION: u16 = 54;
    pub(crate) const LOOP_MERGE: u16 = 246;
    pub(crate) const SELECTION_MERGE: u16 = 247;
    pub(crate) const LABEL: u16 = 248;
    pub(crate) const BRANCH: u16 = 249;
    pub(crate) const BRANCH_CONDITIONAL: u16 = 250;
    pub(crate) const SWITCH: u16 = 251;
}

/// Moves undefined values out of functions. naga treats those in a function as computed there, and its validator then
/// rejects them.
pub(super) fn undefined_outside(words: &[u32]) -> Cow<'_, [u32]> {
    let all = || instructions(words).flatten();
    let Some(start) = all().find(|instruction| instruction.opcode == op::FUNCTION) else {
        return Cow::Borrowed(words);
    };
    let start = start.position;
    let is_moved = |opcode: u16, position: usize| opcode == op::UNDEF && position > start;
    if !all().any(|instruction| is_moved(instruction.opcode, instruction.position)) {
        return Cow::Borrowed(words);
    }
    let (moved, kept): (Vec<_>, Vec<_>) = all()
        .filter(|instruction| instruction.position >= start)
        .partition(|instruction| is_moved(instruction.opcode, instruction.position));
    let mut out = words[..start].to_vec();
    for instruction in moved.iter().chain(&kept) {
        out.extend_from_slice(instruction.words);
    }
    Cow::Owned(out)
}

/// Limit on cases of one switch.
const MAX_CASES: usize = 1024;

/// A block of a function.
#[derive(Default)]
struct Block {
    successors: Vec<u32>,
    /// The merge block of a selection that begins here.
    merge: Option<u32>,
    /// The switch at its end: position and words.
    switch: Option<(usize, Vec<u32>)>,
}

/// The blocks of a function, and its loops.
#[derive(Default)]
struct Flow {
    blocks: HashMap<u32, Block>,
    /// Merge and continue blocks of loops, with the loops' headers.
    behind: HashMap<u32, u32>,
    again: HashMap<u32, u32>,
}

fn refusal(position: usize, message: &str) -> Error {
    let offset = Some(position as u64 * 4);
    ErrorKind::Module {
        language: Language::Spirv,
        message: message.to_owned(),
        offset,
        unsupported: true,
    }
    .into()
}

/// Orders the switches of a module so that naga reads them as SPIR-V defines them.
///
/// # Errors
/// Unsupported: a case that leaves the loop around its switch, a default that falls through into a case.
pub(super) fn switches_in_order(words: &[u32]) -> Result<Cow<'_, [u32]>> {
    if !instructions(words)
        .flatten()
        .any(|instruction| instruction.opcode == op::SWITCH)
    {
        return Ok(Cow::Borrowed(words));
    }
    let mut changed: Vec<(usize, usize, Vec<u32>)> = Vec::new();
    for flow in flows(words) {
        for block in flow.blocks.values() {
            if let (Some((position, switch)), Some(merge)) = (&block.switch, block.merge) {
                changed.push((*position, switch.len(), flow.ordered(*position, switch, merge)?));
            }
        }
    }
    changed.sort_unstable();
    let (mut all, mut behind) = (Vec::with_capacity(words.len()), 0);
    for (position, length, switch) in changed {
        all.extend_from_slice(&words[behind..position]);
        all.extend(switch);
        behind = position + length;
    }
    all.extend_from_slice(&words[behind..]);
    Ok(Cow::Owned(all))
}

fn flows(words: &[u32]) -> Vec<Flow> {
    let mut flows: Vec<Flow> = Vec::new();
    let mut label = 0;
    for instruction in instructions(words).flatten() {
        let operands = instruction.words.get(1..).unwrap_or_default();
        if instruction.opcode == op::FUNCTION {
            flows.push(Flow::default());
        }
        let Some(flow) = flows.last_mut() else { continue };
        let block = flow.blocks.entry(label).or_default();
        match (instruction.opcode, operands) {
            (op::LABEL, [id, ..]) => {
                label = *id;
                flow.blocks.entry(label).or_default();
            }
            (op::BRANCH, [to, ..]) => block.successors.push(*to),
            (op::BRANCH_CONDITIONAL, [_, yes, no, ..]) => block.successors.extend([*yes, *no]),
            (op::SWITCH, [_, default, cases @ ..]) => {
                block.successors.push(*default);
                block.successors.extend(cases.iter().skip(1).step_by(2));
                block.switch = Some((instruction.position, instruction.words.to_vec()));
            }
            (op::SELECTION_MERGE, [merge, ..]) => block.merge = Some(*merge),
            (op::LOOP_MERGE, [merge, again, ..]) => {
                flow.behind.insert(*merge, label);
                flow.again.insert(*again, label);
            }
            _ => {}
        }
    }
    flows
}

impl Flow {
    /// The switch with falling cases before those they fall into.
    fn ordered(&self, position: usize, switch: &[u32], merge: u32) -> Result<Vec<u32>> {
        let (head, cases) = switch.split_at(3.min(switch.len()));
        let &[_, _, default] = head else {
            return Ok(switch.to_vec());
        };
        // One-word literals, the only ones that naga supports.
        if cases.len() % 2 != 0 {
            return Ok(switch.to_vec());
        }
        let mut targets: Vec<u32> = Vec::new();
        for case in cases.chunks_exact(2) {
            if !targets.contains(&case[1]) && case[1] != default {
                targets.push(case[1]);
            }
        }
        if targets.len() > MAX_CASES {
            return Err(refusal(position, &format!("a switch of more than {MAX_CASES} cases")));
        }
        let mut into = HashMap::new();
        for from in targets.iter().copied().chain([default]) {
            if from == merge {
                continue;
            }
            if let Some(to) = self.falls(position, from, merge, &targets, default)? {
                into.insert(from, to);
            }
        }
        if into.contains_key(&default) {
            return Err(refusal(position, "a default that falls through into a case"));
        }
        let entered: HashSet<u32> = into.values().copied().collect();
        let mut chains: Vec<Vec<u32>> = Vec::new();
        for first in targets.iter().filter(|target| !entered.contains(target)) {
            let mut chain = vec![*first];
            while let Some(next) = into.get(&chain[chain.len() - 1]).filter(|next| **next != default) {
                if chain.contains(next) {
                    return Err(refusal(position, "cases that fall through in a circle"));
                }
                chain.push(*next);
            }
            chains.push(chain);
        }
        let ends = |chain: &Vec<u32>| into.contains_key(&chain[chain.len() - 1]);
        if chains.iter().filter(|chain| ends(chain)).count() > 1 {
            return Err(refusal(position, "two cases that fall through into the default"));
        }
        chains.sort_by_key(ends);
        let mut ordered = head.to_vec();
        let of = |target: u32| cases.chunks_exact(2).filter(move |case| case[1] == target);
        // Cases with the default's target need not be listed.
        for target in chains.iter().flatten() {
            for case in of(*target) {
                ordered.extend(case);
            }
        }
        ordered[0] = (ordered.len() as u32) << 16 | u32::from(op::SWITCH);
        Ok(ordered)
    }

    /// The case that a case falls through into.
    fn falls(&self, position: usize, from: u32, merge: u32, targets: &[u32], default: u32) -> Result<Option<u32>> {
        let leaving = || refusal(position, "a case of a switch that leaves the loop around it");
        if self.behind.contains_key(&from) {
            return Err(leaving());
        }
        if self.again.get(&from).is_some_and(|head| *head != from) {
            return Ok(None);
        }
        let mut into = None;
        let mut inside = HashSet::from([from]);
        let mut open = vec![from];
        while let Some(label) = open.pop() {
            for to in self
                .blocks
                .get(&label)
                .iter()
                .flat_map(|block| &block.successors)
                .copied()
            {
                let leaves = |ends: &HashMap<u32, u32>| ends.get(&to).is_some_and(|head| !inside.contains(head));
                if to == merge || leaves(&self.again) {
                    continue;
                }
                if leaves(&self.behind) {
                    return Err(leaving());
                }
                if to != from && (to == default || targets.contains(&to)) {
                    into = Some(to);
                } else if inside.insert(to) {
                    open.push(to);
                }
            }
        }
        Ok(into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Source, read};

    /// A fragment program with a switch on `%n` in a loop that runs three times.
    fn module(switch: &str) -> Vec<u32> {
        let text = format!(
            "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %o\n\
             OpExecutionMode %main OriginUpperLeft\nOpDecorate %o Location 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
             %f = OpTypeFloat 32\n%int = OpTypeInt 32 1\n%bool = OpTypeBool\n%i0 = OpConstant %int 0\n%i1 = OpConstant %int 1\n\
             %i3 = OpConstant %int 3\n%f0 = OpConstant %f 0\n%f1 = OpConstant %f 1\n%f2 = OpConstant %f 2\n\
             %p = OpTypePointer Output %f\n%o = OpVariable %p Output\n%main = OpFunction %void None %fn\n%e = OpLabel\n\
             OpBranch %h\n%h = OpLabel\n%n = OpPhi %int %i0 %e %next %c\nOpLoopMerge %m %c None\nOpBranch %t\n%t = OpLabel\n\
             %lt = OpSLessThan %bool %n %i3\nOpBranchConditional %lt %b %m\n%b = OpLabel\nOpSelectionMerge %sm None\n{switch}\n\
             %sm = OpLabel\nOpBranch %c\n%c = OpLabel\n%next = OpIAdd %int %n %i1\nOpBranch %h\n%m = OpLabel\nOpReturn\nOpFunctionEnd\n"
        );
        loader::spirv::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// Literals and labels of the only switch, after its default.
    fn cases(words: &[u32]) -> Vec<u32> {
        let mut all = instructions(words).flatten();
        let switch = all.find(|instruction| instruction.opcode == op::SWITCH).unwrap();
        switch.words[3..].iter().copied().step_by(2).collect()
    }

    fn refused(switch: &str) -> String {
        switches_in_order(&module(switch)).unwrap_err().to_string()
    }

    #[test]
    fn undefined_values_move_outside() {
        let words = module("OpSwitch %n %sm 1 %a\n%a = OpLabel\n%u = OpUndef %f\nOpStore %o %u\nOpBranch %sm");
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let moved = undefined_outside(&words);
        assert_ne!(&*moved, &words);
        let mut sorted = [moved.to_vec(), words.clone()];
        sorted.iter_mut().for_each(|words| words.sort_unstable());
        assert_eq!(sorted[0], sorted[1]);
        assert!(read(&Source::new("a.spv", &bytes(&words)).unwrap()).is_ok());
        assert!(matches!(undefined_outside(&moved), Cow::Borrowed(_)));
        assert_eq!(&*undefined_outside(&words[..5]), &words[..5]);
    }

    #[test]
    fn cases_precede_those_they_fall_into() {
        let words = module(
            "OpSwitch %n %d 1 %a 2 %z 3 %a 4 %b2 5 %d\n%d = OpLabel\nOpStore %o %f0\nOpBranch %sm\n\
             %b2 = OpLabel\nOpStore %o %f1\nOpBranch %sm\n%z = OpLabel\nOpStore %o %f1\nOpBranch %d\n\
             %a = OpLabel\nOpStore %o %f2\nOpBranch %b2",
        );
        assert_eq!(cases(&switches_in_order(&words).unwrap()), [1, 3, 4, 2]);
        let plain = module("OpSwitch %n %sm 1 %a\n%a = OpLabel\nOpStore %o %f2\nOpBranch %sm");
        assert_eq!(switches_in_order(&plain).unwrap(), plain);
        assert_eq!(switches_in_order(&words[..5]).unwrap(), &words[..5]);
    }

    #[test]
    fn switches_that_naga_would_misread_are_rejected() {
        let leaves = "OpSwitch %n %d 2 %a\n%a = OpLabel\nOpStore %o %f1\nOpBranch %m\n%d = OpLabel\nOpBranch %sm";
        let error = refused(leaves);
        assert!(error.contains("leaves the loop around it"), "{error}");
        // Reading rewrites such modules first.
        let bytes: Vec<u8> = module(leaves).iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(read(&Source::new("a.spv", &bytes).unwrap()).is_ok());
        let error = refused(
            "OpSwitch %n %d 2 %a\n%d = OpLabel\nOpStore %o %f1\nOpBranch %a\n%a = OpLabel\nOpStore %o %f2\nOpBranch %sm",
        );
        assert!(error.contains("falls through into a case"), "{error}");
        // A continue does not leave the loop.
        let goes_on = module("OpSwitch %n %sm 1 %a\n%a = OpLabel\nOpStore %o %f2\nOpBranch %c");
        assert!(switches_in_order(&goes_on).is_ok());
    }
}
