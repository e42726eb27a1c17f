//! Any bytes through walker, disassembler, assembler, rules and sampler split: no panic, and what prints comes back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loader::spirv::{Bytes, Grammar, asm, check, dis, operand, split_samplers, to_words};

fuzz_target!(|bytes: &[u8]| {
    let Ok(words) = to_words(bytes) else { return };
    let grammar = Grammar::builtin();
    let context = operand::Context::new(&words);
    for instruction in loader::spirv::instructions(&words).flatten() {
        operand::operands(grammar, &context, grammar.row(instruction.opcode), &instruction).for_each(drop);
    }
    if let Ok(bytes) = Bytes::new(bytes) {
        let context = operand::Context::of(bytes);
        for instruction in bytes.instructions().flatten() {
            operand::operands(grammar, &context, grammar.row(instruction.opcode), &instruction).for_each(drop);
        }
    }
    let _ = check(grammar, &words);
    let _ = split_samplers(&words);
    let _ = dis::disassemble(grammar, &words, dis::Options::default());
    if let Ok(text) = dis::disassemble(grammar, &words, dis::Options { raw_id: true, ..Default::default() }) {
        let _ = asm::assemble(grammar, &text, asm::Options { exact: true, ..Default::default() });
    }
});
