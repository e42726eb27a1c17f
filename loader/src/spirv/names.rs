//! Friendly names of ids, as the reference disassembler derives them from OpName, built-ins and types.

use super::grammar::Grammar;
use super::ids::Ids;
use super::number::{push_literal, push_u32};
use super::operand::{Context, string};
use super::{Instruction, decoration, instructions, op};
use std::collections::HashMap;

/// Span of an id whose name is its number; nothing is stored for it.
const NUMBER: (u32, u32) = (u32::MAX, u32::MAX);

/// The name of every id, in one buffer.
pub(super) struct Names {
    text: Vec<u8>,
    spans: Ids<(u32, u32)>,
}

impl Names {
    /// The name of an id; empty if the name is its number.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &[u8] {
        let (start, end) = self.spans.get(id);
        self.text.get(start as usize..end as usize).unwrap_or(&[])
    }

    fn has(&self, id: u32) -> bool {
        self.spans.get(id) != (0, 0)
    }
}

struct Maker<'g> {
    grammar: &'g Grammar,
    names: Names,
    /// Used names, each with the next suffix to try for a duplicate.
    used: HashMap<Box<[u8]>, u32>,
    /// The same for numeric names, stored as the suffix plus one: most ids have no other name.
    numbers: Ids<u32>,
    budget: usize,
}

/// Names for all ids of a module.
///
/// Array types include their element's name, so names can double at every level: beyond 32 bytes of name per byte of
/// module, ids are printed as numbers.
pub(super) fn friendly(grammar: &Grammar, words: &[u32]) -> Names {
    let bound = words.get(3).copied().unwrap_or(0);
    let spans = Ids::new(words.len(), bound, (0, 0));
    let names = Names {
        text: Vec::with_capacity(words.len() * 2),
        spans,
    };
    let budget = (words.len() * 128 + 4096).min(1 << 30);
    let mut maker = Maker {
        grammar,
        names,
        used: HashMap::new(),
        numbers: Ids::new(words.len(), bound, 0),
        budget,
    };
    let mut context = Context::new(words);
    for instruction in instructions(words).map_while(Result::ok) {
        let row = grammar.row(instruction.opcode);
        context.note(grammar, row, &instruction);
        maker.see(&context, &instruction);
    }
    maker.names
}

impl Maker<'_> {
    fn see(&mut self, context: &Context, instruction: &Instruction<'_>) {
        let words = instruction.words;
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let id = word(1);
        let mut name = Vec::new();
        match instruction.opcode {
            op::NAME => name.extend(string(words.get(2..).unwrap_or(&[])).unwrap_or_default().0.bytes()),
            op::DECORATE if word(2) == decoration::BUILT_IN => match self.built_in(word(3)) {
                Some(text) => name.extend(text.bytes()),
                None => return,
            },
            op::TYPE_VOID => name.extend(b"void"),
            op::TYPE_BOOL => name.extend(b"bool"),
            op::TYPE_INT => {
                let root = match word(2) {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    64 => "long",
                    _ => "",
                };
                name.extend(
                    if word(3) == 0 {
                        "u"
                    } else if root.is_empty() {
                        "i"
                    } else {
                        ""
                    }
                    .bytes(),
                );
                match root {
                    "" => push_u32(&mut name, word(2)),
                    _ => name.extend(root.bytes()),
                }
            }
            op::TYPE_FLOAT => match word(2) {
                16 => name.extend(b"half"),
                32 => name.extend(b"float"),
                64 => name.extend(b"double"),
                width => {
                    name.extend(b"fp");
                    push_u32(&mut name, width);
                }
            },
            op::TYPE_VECTOR | op::TYPE_MATRIX => {
                name.extend(if instruction.opcode == op::TYPE_VECTOR {
                    &b"v"[..]
                } else {
                    b"mat"
                });
                push_u32(&mut name, word(3));
                self.push(&mut name, word(2));
            }
            op::TYPE_ARRAY => {
                name.extend(b"_arr_");
                self.push(&mut name, word(2));
                name.push(b'_');
                self.push(&mut name, word(3));
            }
            op::TYPE_RUNTIME_ARRAY => {
                name.extend(b"_runtimearr_");
                self.push(&mut name, word(2));
            }
            op::TYPE_POINTER => {
                name.extend(b"_ptr_");
                self.push_enumerant(&mut name, "StorageClass", word(2));
                name.push(b'_');
                self.push(&mut name, word(3));
            }
            op::TYPE_PIPE => {
                name.extend(b"Pipe");
                self.push_enumerant(&mut name, "AccessQualifier", word(2));
            }
            op::TYPE_EVENT => name.extend(b"Event"),
            op::TYPE_DEVICE_EVENT => name.extend(b"DeviceEvent"),
            op::TYPE_RESERVE_ID => name.extend(b"ReserveId"),
            op::TYPE_QUEUE => name.extend(b"Queue"),
            op::TYPE_PIPE_STORAGE => name.extend(b"PipeStorage"),
            op::TYPE_NAMED_BARRIER => name.extend(b"NamedBarrier"),
            op::TYPE_OPAQUE => {
                name.extend(b"Opaque_");
                let text = string(words.get(2..).unwrap_or(&[])).unwrap_or_default().0;
                name.extend(if text.is_empty() { "_" } else { &text }.bytes());
            }
            op::TYPE_STRUCT => {
                name.extend(b"_struct_");
                push_u32(&mut name, id);
            }
            op::CONSTANT_TRUE => return self.save(word(2), b"true"),
            op::CONSTANT_FALSE => return self.save(word(2), b"false"),
            op::CONSTANT => {
                self.push(&mut name, id);
                name.push(b'_');
                let from = name.len();
                push_literal(&mut name, words.get(3..).unwrap_or(&[]), context.number(id));
                name[from..].iter_mut().filter(|b| **b == b'-').for_each(|b| *b = b'n');
                return self.save(word(2), &name);
            }
            opcode => {
                let row = self.grammar.row(opcode);
                let at = row.filter(|r| r.has_result).map(|r| if r.has_type { 2 } else { 1 });
                if let Some(id) = at.and_then(|at| words.get(at)) {
                    self.number(*id);
                }
                return;
            }
        }
        if words.len() > 1 {
            self.save(id, &name);
        }
    }

    fn push(&self, out: &mut Vec<u8>, id: u32) {
        match self.names.get(id) {
            [] => push_u32(out, id),
            // A name that nearly exhausts the budget is truncated.
            name => out.extend_from_slice(&name[..name.len().min(self.budget)]),
        }
    }

    fn push_enumerant(&self, out: &mut Vec<u8>, kind: &str, value: u32) {
        match self.grammar.kind_of(kind).and_then(|k| k.value(value)) {
            Some(row) => out.extend(row.name.bytes()),
            None => out.extend(b"Unknown"),
        }
    }

    /// An id without a name reserves its number, so that no OpName can use it.
    #[inline]
    fn number(&mut self, id: u32) {
        if self.names.has(id) {
            return;
        }
        if self.numbers.get(id) == 0 {
            self.numbers.set(id, 1);
            self.names.spans.set(id, NUMBER);
        } else {
            let mut name = Vec::with_capacity(10);
            push_u32(&mut name, id);
            self.save(id, &name);
        }
    }

    fn save(&mut self, id: u32, wanted: &[u8]) {
        if self.names.has(id) {
            return;
        }
        let mut name: Vec<u8> = wanted
            .iter()
            .map(|b| if b.is_ascii_alphanumeric() { *b } else { b'_' })
            .collect();
        if name.is_empty() {
            name.push(b'_');
        }
        if name.len() * 2 + 24 > self.budget {
            return;
        }
        if let Some(mut next) = self.next_suffix(&name) {
            let base = name.clone();
            loop {
                name.truncate(base.len());
                name.push(b'_');
                push_u32(&mut name, next);
                next += 1;
                if !self.used.contains_key(name.as_slice()) {
                    break;
                }
            }
            self.claim(&base, next);
        }
        self.budget = self.budget.saturating_sub(name.len() * 2 + 24);
        let start = self.names.text.len() as u32;
        self.names.text.extend_from_slice(&name);
        self.names.spans.set(id, (start, self.names.text.len() as u32));
        self.claim(&name, 0);
    }

    /// The next suffix to try if the name is used; `None` if it is free.
    fn next_suffix(&self, name: &[u8]) -> Option<u32> {
        match as_number(name) {
            Some(number) => self.numbers.get(number).checked_sub(1),
            None => self.used.get(name).copied(),
        }
    }

    fn claim(&mut self, name: &[u8], next: u32) {
        match as_number(name) {
            Some(number) => self.numbers.set(number, next + 1),
            None => drop(self.used.insert(name.into(), next)),
        }
    }

    /// The GLSL name of a built-in, if the reference uses one.
    fn built_in(&self, value: u32) -> Option<String> {
        Some(match value {
            5 => "gl_VertexID".to_owned(),
            6 => "gl_InstanceID".to_owned(),
            7 => "gl_PrimitiveID".to_owned(),
            8 => "gl_InvocationID".to_owned(),
            18 => "gl_SampleID".to_owned(),
            24 => "gl_NumWorkGroups".to_owned(),
            25 => "gl_WorkGroupSize".to_owned(),
            26 => "gl_WorkGroupID".to_owned(),
            27 => "gl_LocalInvocationID".to_owned(),
            28 => "gl_GlobalInvocationID".to_owned(),
            0..=23 | 29 | 42 | 43 | 4425 => format!("gl_{}", self.grammar.kind_of("BuiltIn")?.value(value)?.name),
            4416..=4420 => format!("{}KHR", self.grammar.kind_of("BuiltIn")?.value(value)?.name),
            30..=41 => self.grammar.kind_of("BuiltIn")?.value(value)?.name.to_string(),
            _ => return None,
        })
    }
}

/// Parses a name that looks like an id's number.
fn as_number(name: &[u8]) -> Option<u32> {
    let digits = name.len() <= 10 && name.iter().all(u8::is_ascii_digit) && (name[0] != b'0' || name.len() == 1);
    digits.then(|| std::str::from_utf8(name).ok()?.parse().ok()).flatten()
}
