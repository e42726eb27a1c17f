//! Names for ids, as the reference disassembler makes them: from OpName, built-ins and types.

use super::grammar::Grammar;
use super::ids::Ids;
use super::number::{push_literal, push_u32};
use super::operand::{Context, string};
use super::{Instruction, instructions};
use std::collections::HashMap;

/// The name of every id, in one buffer.
pub(super) struct Names {
    text: Vec<u8>,
    spans: Ids<(u32, u32)>,
}

impl Names {
    /// The name of an id; empty where there is none: the number is its name then.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &[u8] {
        let (start, end) = self.spans.get(id);
        &self.text[start as usize..end as usize]
    }
}

struct Maker<'g> {
    grammar: &'g Grammar,
    names: Names,
    used: HashMap<Box<[u8]>, u32>,
    budget: usize,
}

/// Names for all ids of a module.
///
/// Array types name their element, so names can double at every step: from 32 bytes of name per byte of module on,
/// ids keep their numbers.
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
            5 => name.extend(string(words.get(2..).unwrap_or(&[])).unwrap_or_default().0.bytes()),
            71 if word(2) == 11 => match self.built_in(word(3)) {
                Some(text) => name.extend(text.bytes()),
                None => return,
            },
            19 => name.extend(b"void"),
            20 => name.extend(b"bool"),
            21 => {
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
            22 => match word(2) {
                16 => name.extend(b"half"),
                32 => name.extend(b"float"),
                64 => name.extend(b"double"),
                width => {
                    name.extend(b"fp");
                    push_u32(&mut name, width);
                }
            },
            23 | 24 => {
                name.extend(if instruction.opcode == 23 { &b"v"[..] } else { b"mat" });
                push_u32(&mut name, word(3));
                self.push(&mut name, word(2));
            }
            28 => {
                name.extend(b"_arr_");
                self.push(&mut name, word(2));
                name.push(b'_');
                self.push(&mut name, word(3));
            }
            29 => {
                name.extend(b"_runtimearr_");
                self.push(&mut name, word(2));
            }
            32 => {
                name.extend(b"_ptr_");
                self.push_enumerant(&mut name, "StorageClass", word(2));
                name.push(b'_');
                self.push(&mut name, word(3));
            }
            38 => {
                name.extend(b"Pipe");
                self.push_enumerant(&mut name, "AccessQualifier", word(2));
            }
            34 => name.extend(b"Event"),
            35 => name.extend(b"DeviceEvent"),
            36 => name.extend(b"ReserveId"),
            37 => name.extend(b"Queue"),
            322 => name.extend(b"PipeStorage"),
            327 => name.extend(b"NamedBarrier"),
            31 => {
                name.extend(b"Opaque_");
                let text = string(words.get(2..).unwrap_or(&[])).unwrap_or_default().0;
                name.extend(if text.is_empty() { "_" } else { &text }.bytes());
            }
            30 => {
                name.extend(b"_struct_");
                push_u32(&mut name, id);
            }
            41 => return self.save(word(2), b"true"),
            42 => return self.save(word(2), b"false"),
            43 => {
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
            // A name near the budget is not worth repeating.
            name => out.extend_from_slice(&name[..name.len().min(self.budget)]),
        }
    }

    fn push_enumerant(&self, out: &mut Vec<u8>, kind: &str, value: u32) {
        match self.grammar.kind_of(kind).and_then(|k| k.value(value)) {
            Some(row) => out.extend(row.name.bytes()),
            None => out.extend(b"Unknown"),
        }
    }

    /// An id without a name of its own claims its number, so that no OpName can take it.
    fn number(&mut self, id: u32) {
        if self.names.get(id).is_empty() {
            let mut name = Vec::with_capacity(10);
            push_u32(&mut name, id);
            self.save(id, &name);
        }
    }

    fn save(&mut self, id: u32, wanted: &[u8]) {
        if !self.names.get(id).is_empty() {
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
        if self.used.contains_key(name.as_slice()) {
            let base = name.clone();
            let mut next = self.used[base.as_slice()];
            loop {
                name.truncate(base.len());
                name.push(b'_');
                push_u32(&mut name, next);
                next += 1;
                if !self.used.contains_key(name.as_slice()) {
                    break;
                }
            }
            self.used.insert(base.into(), next);
        }
        self.budget = self.budget.saturating_sub(name.len() * 2 + 24);
        let start = self.names.text.len() as u32;
        self.names.text.extend_from_slice(&name);
        self.names.spans.set(id, (start, self.names.text.len() as u32));
        self.used.insert(name.into(), 0);
    }

    /// The GLSL name of a built-in where the reference has one.
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
            30..=41 => self.grammar.kind_of("BuiltIn")?.value(value)?.name.clone(),
            _ => return None,
        })
    }
}
