//! Types, constants and built-in variables that a pass needs: those of the module, or new ones.

use super::editor::{Editor, build, opcode, seal};
use crate::spirv::{ModuleIndex, class, decoration, op};
use std::collections::HashMap;

/// What a module declares, and what is added to it.
pub(super) struct Declarations {
    /// Ids by opcode and operands, the result left out.
    known: HashMap<(u16, Vec<u32>), u32>,
    added: Vec<Vec<u32>>,
    /// Decorations of added variables.
    decorations: Vec<Vec<u32>>,
    /// Added variables of the interface.
    interface: Vec<u32>,
    /// Input variables by their built-in.
    inputs: HashMap<u32, u32>,
    /// Values of unsigned constants.
    values: HashMap<u32, u32>,
}

/// Declarations that are equal if their operands are.
fn is_shared(opcode: u16) -> bool {
    matches!(
        opcode,
        op::TYPE_VOID
            | op::TYPE_BOOL
            | op::TYPE_INT
            | op::TYPE_FLOAT
            | op::TYPE_VECTOR
            | op::TYPE_POINTER
            | op::TYPE_FUNCTION
            | op::CONSTANT_TRUE
            | op::CONSTANT_FALSE
            | op::CONSTANT
            | op::CONSTANT_COMPOSITE
            | op::CONSTANT_NULL
    )
}

/// Whether the result is behind a type.
fn is_value(opcode: u16) -> bool {
    matches!(opcode, op::UNDEF | op::CONSTANT_TRUE..=op::CONSTANT_NULL)
}

impl Declarations {
    pub(super) fn of(index: &ModuleIndex, module: &Editor) -> Self {
        let mut known = HashMap::new();
        for words in module.body.iter().take_while(|words| opcode(words) != op::FUNCTION) {
            let kind = opcode(words);
            if is_shared(kind) {
                let at = 1 + usize::from(is_value(kind));
                let mut operands = words[1..].to_vec();
                operands.remove(at - 1);
                known.entry((kind, operands)).or_insert(words[at]);
            }
        }
        let inputs = index.globals().filter(|global| global.class == class::INPUT);
        let inputs = inputs.filter_map(|global| Some((index.decoration(global.id, decoration::BUILT_IN)?, global.id)));
        Self {
            known,
            added: Vec::new(),
            decorations: Vec::new(),
            interface: Vec::new(),
            inputs: inputs.collect(),
            values: HashMap::new(),
        }
    }

    fn declare(&mut self, module: &mut Editor, kind: u16, operands: &[u32]) -> u32 {
        let key = (kind, operands.to_vec());
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let id = module.fresh();
        let mut words = operands.to_vec();
        words.insert(usize::from(is_value(kind)), id);
        self.added.push(build(kind, &words));
        self.known.insert(key, id);
        id
    }

    /// A type of these operands.
    pub(super) fn ty(&mut self, module: &mut Editor, kind: u16, operands: &[u32]) -> u32 {
        self.declare(module, kind, operands)
    }

    /// The unsigned type of 32 bits.
    pub(super) fn uint(&mut self, module: &mut Editor) -> u32 {
        self.ty(module, op::TYPE_INT, &[32, 0])
    }

    pub(super) fn boolean(&mut self, module: &mut Editor) -> u32 {
        self.ty(module, op::TYPE_BOOL, &[])
    }

    /// A vector of a scalar type, or the scalar type for a count of 1.
    pub(super) fn vector(&mut self, module: &mut Editor, scalar: u32, count: u32) -> u32 {
        match count {
            1 => scalar,
            _ => self.ty(module, op::TYPE_VECTOR, &[scalar, count]),
        }
    }

    /// A number of one word.
    pub(super) fn constant(&mut self, module: &mut Editor, ty: u32, word: u32) -> u32 {
        self.declare(module, op::CONSTANT, &[ty, word])
    }

    /// A 64-bit number of an integer type.
    pub(super) fn long(&mut self, module: &mut Editor, ty: u32, value: i64) -> u32 {
        self.declare(module, op::CONSTANT, &[ty, value as u32, (value >> 32) as u32])
    }

    /// An unsigned number.
    pub(super) fn number(&mut self, module: &mut Editor, word: u32) -> u32 {
        let uint = self.uint(module);
        let id = self.constant(module, uint, word);
        self.values.insert(id, word);
        id
    }

    /// The value of an id that [`number`](Self::number) returned.
    pub(super) fn value(&self, id: u32) -> Option<u32> {
        self.values.get(&id).copied()
    }

    /// A truth value.
    pub(super) fn truth(&mut self, module: &mut Editor, value: bool) -> u32 {
        let boolean = self.boolean(module);
        let kind = if value { op::CONSTANT_TRUE } else { op::CONSTANT_FALSE };
        self.declare(module, kind, &[boolean])
    }

    /// A constant of a type with these parts.
    pub(super) fn composite(&mut self, module: &mut Editor, ty: u32, parts: &[u32]) -> u32 {
        let operands = [&[ty], parts].concat();
        self.declare(module, op::CONSTANT_COMPOSITE, &operands)
    }

    /// A value in each component of a vector; the value itself for a count of 1.
    pub(super) fn splat(&mut self, module: &mut Editor, ty: u32, count: u32, value: u32) -> u32 {
        match count {
            1 => value,
            _ => self.composite(module, ty, &vec![value; count as usize]),
        }
    }

    /// A value of a type that may be any.
    pub(super) fn undefined(&mut self, module: &mut Editor, ty: u32) -> u32 {
        self.declare(module, op::UNDEF, &[ty])
    }

    /// The input variable of a built-in.
    pub(super) fn input(&mut self, module: &mut Editor, ty: u32, built_in: u32) -> u32 {
        if let Some(id) = self.inputs.get(&built_in) {
            return *id;
        }
        let pointer = self.ty(module, op::TYPE_POINTER, &[class::INPUT, ty]);
        let id = module.fresh();
        self.added.push(build(op::VARIABLE, &[pointer, id, class::INPUT]));
        self.decorations
            .push(build(op::DECORATE, &[id, decoration::BUILT_IN, built_in]));
        self.interface.push(id);
        self.inputs.insert(built_in, id);
        id
    }

    /// Adds an instruction behind what has been declared so far.
    pub(super) fn push(&mut self, words: Vec<u32>) {
        self.added.push(words);
    }

    /// Adds the new declarations to the module.
    pub(super) fn insert(self, module: &mut Editor) {
        let at = module.functions_start();
        module.insert(at, self.added);
        let at = module.annotations_end();
        module.insert(at, self.decorations);
        if self.interface.is_empty() {
            return;
        }
        for words in module.body.iter_mut().filter(|words| opcode(words) == op::ENTRY_POINT) {
            words.extend(&self.interface);
            *words = seal(std::mem::take(words));
        }
    }
}
