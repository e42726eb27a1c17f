//! Splits inputs and outputs that are matrices, arrays or blocks into one scalar or vector per location, for readers that
//! have only these in the interface (naga, WGSL).
//!
//! The variable becomes private: the entry point assembles an input at its start, and stores an output before it returns.

use super::editor::{Editor, build, opcode, seal};
use crate::Result;
use crate::spirv::{ModuleIndex, Node, class, decoration, model, op};
use std::collections::{HashMap, HashSet};

/// Limit on locations of one variable; devices have 16 to 32 in all.
const MAX_LOCATIONS: usize = 64;

/// Decorations of a variable that each of its parts gets.
const CARRIED: [u32; 6] = [
    decoration::FLAT,
    decoration::NO_PERSPECTIVE,
    decoration::CENTROID,
    decoration::SAMPLE,
    decoration::INVARIANT,
    decoration::RELAXED_PRECISION,
];

/// A location of a split variable.
struct Part {
    variable: u32,
    ty: u32,
    location: u32,
    /// Those of [`CARRIED`] that it has.
    carried: Vec<u32>,
}

/// A split variable.
struct Split {
    variable: u32,
    ty: u32,
    class: u32,
    parts: Vec<Part>,
}

/// The module with every such variable of a vertex or fragment stage split. It is unchanged if there is none, or if one is
/// passed to a function. A block with built-ins is not split.
///
/// # Errors
/// Invalid for a broken module.
pub fn split_interface(words: &[u32]) -> Result<Vec<u32>> {
    let index = ModuleIndex::new(words)?;
    let is_known = |node: Node<'_>| matches!(node.operand(0), Some(model::VERTEX | model::FRAGMENT));
    let entries: Vec<u32> = index.entry_points().filter_map(|node| node.operand(1)).collect();
    if !index.entry_points().all(is_known) || entries.is_empty() {
        return Ok(words.to_vec());
    }
    let mut module = Editor::new(&index)?;
    let mut splits = Vec::new();
    for global in index
        .globals()
        .filter(|global| matches!(global.class, class::INPUT | class::OUTPUT))
    {
        let kind = index.opcode(global.pointee);
        if !matches!(kind, op::TYPE_MATRIX | op::TYPE_ARRAY | op::TYPE_STRUCT)
            || index.decoration(global.id, decoration::BUILT_IN).is_some()
            || index.decoration(global.id, decoration::COMPONENT).is_some()
        {
            continue;
        }
        let location = index.decoration(global.id, decoration::LOCATION);
        let carried = CARRIED
            .into_iter()
            .filter(|kind| index.decoration(global.id, *kind).is_some());
        let mut leaves = Leaves {
            index: &index,
            next: location,
            found: Vec::new(),
        };
        if leaves
            .collect(global.pointee, &carried.collect::<Vec<_>>(), 0)
            .is_none()
            || leaves.found.is_empty()
        {
            continue;
        }
        let parts = leaves.found.into_iter().map(|(ty, location, carried)| Part {
            variable: module.fresh(),
            ty,
            location,
            carried,
        });
        splits.push(Split {
            variable: global.id,
            ty: global.pointee,
            class: global.class,
            parts: parts.collect(),
        });
    }
    let variables: Vec<u32> = splits.iter().map(|split| split.variable).collect();
    if splits.is_empty() || !move_pointers(&index, &mut module, &variables) {
        return Ok(words.to_vec());
    }
    declare(&index, &mut module, &splits);
    for entry in entries {
        empty(&index, &mut module, entry, &splits);
        fill(&index, &mut module, entry, &splits);
    }
    Ok(module.words())
}

/// The locations of a type.
struct Leaves<'i, 'a> {
    index: &'i ModuleIndex<'a>,
    next: Option<u32>,
    /// Type, location and decorations of each location, in order.
    found: Vec<(u32, u32, Vec<u32>)>,
}

impl Leaves<'_, '_> {
    /// Collects the locations of a type; `None` if a part of it is not a number with a location.
    fn collect(&mut self, ty: u32, carried: &[u32], depth: u32) -> Option<()> {
        if self.found.len() > MAX_LOCATIONS || depth > 16 {
            return None;
        }
        if let Some((element, count)) = elements(self.index, ty) {
            for _ in 0..count {
                self.collect(element, carried, depth + 1)?;
            }
            return Some(());
        }
        if let Some(members) = self.index.members(ty) {
            for (at, member) in (0u32..).zip(members) {
                let of = |kind| self.index.member_decoration(ty, at, kind);
                if of(decoration::BUILT_IN).is_some() || of(decoration::COMPONENT).is_some() {
                    return None;
                }
                let own = CARRIED.into_iter().filter(|kind| of(*kind).is_some());
                let carried: Vec<u32> = carried.iter().copied().chain(own).collect();
                self.next = of(decoration::LOCATION).or(self.next);
                self.collect(member, &carried, depth + 1)?;
            }
            return Some(());
        }
        let (scalar, _) = self.index.vector(ty);
        let is_number = matches!(self.index.opcode(scalar), op::TYPE_INT | op::TYPE_FLOAT);
        // Vectors of three and four 64-bit numbers take two locations.
        let width = self.index.definition(scalar)?.operand(1)?;
        if !is_number || width > 32 {
            return None;
        }
        let location = self.next?;
        self.next = Some(location.checked_add(1)?);
        self.found.push((ty, location, carried.to_vec()));
        Some(())
    }
}

/// Type and count of a matrix's columns or an array's elements.
fn elements(index: &ModuleIndex, ty: u32) -> Option<(u32, u32)> {
    if let Some([_, column, count]) = index.operands(ty, op::TYPE_MATRIX) {
        return Some((column, count));
    }
    let [_, element, length] = index.operands(ty, op::TYPE_ARRAY)?;
    Some((element, index.constant(length).unwrap_or(u32::MAX)))
}

/// Changes pointers into the variables to private ones. False if one is passed to a function.
pub(super) fn move_pointers(index: &ModuleIndex, module: &mut Editor, variables: &[u32]) -> bool {
    let mut moved: HashSet<u32> = variables.iter().copied().collect();
    let mut added = Vec::new();
    let mut types: HashMap<u32, u32> = HashMap::new();
    for at in module.functions_start()..module.body.len() {
        let words = module.body[at].clone();
        let follows = matches!(
            opcode(&words),
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN | op::COPY_OBJECT
        );
        if follows && words.get(3).is_some_and(|base| moved.contains(base)) {
            let Some(pointee) = index.pointee(words[1]) else {
                return false;
            };
            let pointer = match types.get(&pointee) {
                Some(known) => *known,
                None => module.pointer_type(class::PRIVATE, pointee, &mut added),
            };
            types.insert(pointee, pointer);
            module.body[at][1] = pointer;
            moved.insert(words[2]);
        } else if matches!(opcode(&words), op::FUNCTION_CALL | op::EXT_INST)
            && words[3..].iter().any(|id| moved.contains(id))
        {
            // A parameter has the other storage class, and interpolation functions require an input.
            return false;
        }
    }
    let start = module.functions_start();
    module.insert(start, added);
    true
}

/// Declares the variables: the old ones private, a new one per location, all of them in the entry points' interfaces.
fn declare(index: &ModuleIndex, module: &mut Editor, splits: &[Split]) {
    let lists_all = module.version() >= 0x0001_0400;
    let structs: HashSet<u32> = splits.iter().flat_map(|split| inside(index, split.ty)).collect();
    let (mut added, mut decorations) = (Vec::new(), Vec::new());
    let is_old = |words: &Vec<u32>| match opcode(words) {
        op::VARIABLE => splits.iter().any(|split| words[2] == split.variable),
        op::DECORATE => {
            let of_variable = splits.iter().any(|split| words[1] == split.variable);
            of_variable || words[2] == decoration::BLOCK && structs.contains(&words[1])
        }
        op::MEMBER_DECORATE => {
            let kind = words[3];
            structs.contains(&words[1]) && (kind == decoration::LOCATION || CARRIED.contains(&kind))
        }
        _ => false,
    };
    module.body.retain(|words| !is_old(words));
    for split in splits {
        let pointer = module.pointer_type(class::PRIVATE, split.ty, &mut added);
        added.push(build(op::VARIABLE, &[pointer, split.variable, class::PRIVATE]));
        for part in &split.parts {
            let pointer = module.pointer_type(split.class, part.ty, &mut added);
            added.push(build(op::VARIABLE, &[pointer, part.variable, split.class]));
            decorations.push(build(
                op::DECORATE,
                &[part.variable, decoration::LOCATION, part.location],
            ));
            let carried = part.carried.iter();
            decorations.extend(carried.map(|kind| build(op::DECORATE, &[part.variable, *kind])));
        }
    }
    let start = module.functions_start();
    module.insert(start, added);
    module.insert(module.annotations_end(), decorations);
    for words in module.body.iter_mut().filter(|words| opcode(words) == op::ENTRY_POINT) {
        for split in splits {
            let named = words.iter().skip(3).position(|word| *word == split.variable);
            let Some(at) = named.map(|at| at + 3) else { continue };
            if !lists_all {
                words.remove(at);
            }
            words.extend(split.parts.iter().map(|part| part.variable));
        }
        *words = seal(std::mem::take(words));
    }
}

/// The structs that a type contains.
fn inside(index: &ModuleIndex, ty: u32) -> Vec<u32> {
    let (mut left, mut found) = (vec![ty], Vec::new());
    while let Some(ty) = left.pop() {
        if let Some((element, _)) = elements(index, ty) {
            left.push(element);
        } else if let Some(members) = index.members(ty)
            && !found.contains(&ty)
        {
            found.push(ty);
            left.extend(members);
        }
    }
    found
}

/// The instructions of an entry point's function.
fn function(module: &Editor, entry: u32) -> Option<std::ops::Range<usize>> {
    let is_entry = |words: &Vec<u32>| opcode(words) == op::FUNCTION && words[2] == entry;
    let start = module.body.iter().position(is_entry)?;
    let length = module.body[start..]
        .iter()
        .position(|words| opcode(words) == op::FUNCTION_END)?;
    Some(start..start + length)
}

/// Position of the first instruction that an entry point's function executes.
pub(super) fn start_of(module: &Editor, entry: u32) -> Option<usize> {
    let range = function(module, entry)?;
    let begins = |words: &Vec<u32>| {
        !matches!(
            opcode(words),
            op::FUNCTION | op::FUNCTION_PARAMETER | op::LABEL | op::VARIABLE | op::LINE | op::NO_LINE
        )
    };
    Some(range.start + module.body[range].iter().position(begins)?)
}

/// Assembles the inputs at the start of an entry point.
fn fill(index: &ModuleIndex, module: &mut Editor, entry: u32, splits: &[Split]) {
    let Some(at) = start_of(module, entry) else { return };
    let mut code = Vec::new();
    for input in splits.iter().filter(|split| split.class == class::INPUT) {
        let mut parts = input.parts.iter();
        let whole = assemble(index, module, input.ty, &mut parts, &mut code);
        code.push(build(op::STORE, &[input.variable, whole]));
    }
    module.insert(at, code);
}

/// Stores the outputs before every return of an entry point.
fn empty(index: &ModuleIndex, module: &mut Editor, entry: u32, splits: &[Split]) {
    let Some(range) = function(module, entry) else { return };
    let outputs: Vec<&Split> = splits.iter().filter(|split| split.class == class::OUTPUT).collect();
    if outputs.is_empty() {
        return;
    }
    let returns = range.rev().filter(|at| opcode(&module.body[*at]) == op::RETURN);
    for at in returns.collect::<Vec<_>>() {
        let mut code = Vec::new();
        for output in &outputs {
            let whole = module.fresh();
            code.push(build(op::LOAD, &[output.ty, whole, output.variable]));
            let mut parts = output.parts.iter();
            hand_out(index, module, output.ty, whole, &mut parts, &mut code);
        }
        module.insert(at, code);
    }
}

/// Assembles a value from the variables of its locations.
fn assemble<'p>(
    index: &ModuleIndex,
    module: &mut Editor,
    ty: u32,
    parts: &mut impl Iterator<Item = &'p Part>,
    code: &mut Vec<Vec<u32>>,
) -> u32 {
    let result = module.fresh();
    let members = members(index, ty);
    if members.is_empty() {
        if let Some(part) = parts.next() {
            code.push(build(op::LOAD, &[ty, result, part.variable]));
        }
        return result;
    }
    let mut operands = vec![ty, result];
    for member in members {
        operands.push(assemble(index, module, member, parts, code));
    }
    code.push(build(op::COMPOSITE_CONSTRUCT, &operands));
    result
}

/// Stores a value in the variables of its locations.
fn hand_out<'p>(
    index: &ModuleIndex,
    module: &mut Editor,
    ty: u32,
    value: u32,
    parts: &mut impl Iterator<Item = &'p Part>,
    code: &mut Vec<Vec<u32>>,
) {
    let members = members(index, ty);
    if members.is_empty() {
        if let Some(part) = parts.next() {
            code.push(build(op::STORE, &[part.variable, value]));
        }
        return;
    }
    for (at, member) in (0u32..).zip(members) {
        let part = module.fresh();
        code.push(build(op::COMPOSITE_EXTRACT, &[member, part, value, at]));
        hand_out(index, module, member, part, parts, code);
    }
}

/// Types of a composite's parts; empty for numbers and vectors.
fn members(index: &ModuleIndex, ty: u32) -> Vec<u32> {
    match elements(index, ty) {
        Some((element, count)) => vec![element; count.min(MAX_LOCATIONS as u32) as usize],
        None => index.members(ty).into_iter().flatten().collect(),
    }
}
