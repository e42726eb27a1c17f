//! SPIR-V modules, their text, and Khronos' grammar.

use loader::spirv::{
    Bytes, Grammar, asm, dis, for_wgsl, grammar, instructions, operand, split_interface, split_samplers, to_words,
    transform::{for_hlsl, narrow_exponents},
    validate, with_signs,
};
use translate::Target;

/// Reading: the walker, the operands in both orders, and the rules run on any bytes.
pub fn read(bytes: &[u8]) {
    let Ok(words) = to_words(bytes) else { return };
    let grammar = Grammar::builtin();
    let context = operand::Context::new(&words);
    for instruction in instructions(&words).flatten() {
        operand::operands(grammar, &context, grammar.row(instruction.opcode), &instruction).for_each(drop);
    }
    if let Ok(bytes) = Bytes::new(bytes) {
        assert_eq!(bytes.to_vec(), words);
        let context = operand::Context::of(bytes);
        for instruction in bytes.instructions().flatten() {
            operand::operands(grammar, &context, grammar.row(instruction.opcode), &instruction).for_each(drop);
        }
    }
    for finding in &validate(&words).diagnostics {
        assert!(
            finding.offset.is_none_or(|offset| offset <= bytes.len() as u64),
            "{finding}: outside the module"
        );
    }
}

/// Text: with raw ids and the exact assembler the same words result.
pub fn text(bytes: &[u8]) {
    let Ok(words) = to_words(bytes) else { return };
    let grammar = Grammar::builtin();
    let _ = dis::disassemble(grammar, &words, dis::Options::default());
    let raw = dis::Options {
        raw_id: true,
        nested: words.len() % 2 == 0,
        ..Default::default()
    };
    let Ok(text) = dis::disassemble(grammar, &words, raw) else {
        return;
    };
    let exact = asm::Options {
        exact: true,
        ..Default::default()
    };
    if !validate(&words).is_valid() {
        let _ = asm::assemble(grammar, &text, exact);
        return;
    }
    let again = asm::assemble(grammar, &text, exact).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(again == words, "other words come back\n{text}");
}

/// Any text is a module or an error with a place; an assembled module can be printed and assembled again.
pub fn assemble(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let grammar = Grammar::builtin();
    let words = match asm::assemble(grammar, text, asm::Options::default()) {
        Ok(words) => words,
        Err(error) => return drop(error.render(text, "fuzz.spvasm")),
    };
    if text.contains('!') {
        // Raw words may have any value, so the result need not be a valid module.
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        return self::text(&bytes);
    }
    let raw = dis::Options {
        raw_id: true,
        ..Default::default()
    };
    let printed = dis::disassemble(grammar, &words, raw).expect("what was assembled can be printed");
    let exact = asm::Options {
        exact: true,
        ..Default::default()
    };
    let again = asm::assemble(grammar, &printed, exact).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert!(again == words, "other words come back\n{printed}");
}

/// Use: a valid module stays valid when its samplers are split, and naga returns without a crash.
pub fn used(bytes: &[u8]) {
    let Ok(words) = to_words(bytes) else { return };
    let valid = validate(&words).is_valid();
    let Ok(split) = split_samplers(&words) else { return };
    if valid {
        let report = validate(&split);
        assert!(
            report.is_valid(),
            "splitting broke a valid module: {}",
            report.diagnostics[0]
        );
    }
}

/// Translation: any module is written or rejected in every language, and none ends the process; a valid one stays valid
/// after the passes for other languages.
pub fn translated(bytes: &[u8]) {
    let Ok(words) = to_words(bytes) else { return };
    if validate(&words).is_valid() {
        for pass in [for_wgsl, for_hlsl, narrow_exponents, with_signs, split_interface] {
            let Ok(changed) = pass(&words) else { continue };
            let report = validate(&changed);
            let first = report.diagnostics.first();
            assert!(report.is_valid(), "a pass broke a valid module: {first:?}");
        }
    }
    let source = translate::Source {
        language: translate::Language::Spirv,
        ..translate::Source::new("module.spv", bytes).expect("it has the magic number")
    };
    for target in [Target::Glsl, Target::Hlsl, Target::Msl, Target::Wgsl] {
        if let Err(error) = translate::translate(&source, target, &Default::default()) {
            assert!(!error.to_string().is_empty());
        }
    }
}

/// A small grammar.
pub const GRAMMAR: &str = r#"{"copyright":["x"],"magic_number":"0x07230203","major_version":1,"minor_version":6,"revision":1,
"instructions":[{"opname":"OpNop","opcode":0},{"opname":"OpTypeInt","opcode":21,"operands":[{"kind":"IdResult"},
{"kind":"LiteralInteger","quantifier":"?","name":"w"}],"capabilities":["Shader"]}],"operand_kinds":[
{"category":"ValueEnum","kind":"Capability","enumerants":[{"enumerant":"Shader","value":1,"parameters":[{"kind":"IdRef"}]}]},
{"category":"BitEnum","kind":"Mask","enumerants":[{"enumerant":"None","value":"0x0000"},{"enumerant":"A","value":"0x0001"}]},
{"category":"Id","kind":"IdResult","doc":"d"},{"category":"Id","kind":"IdRef"},{"category":"Literal","kind":"LiteralInteger"},
{"category":"Composite","kind":"PairIdRefIdRef","bases":["IdRef","IdRef"]}]}"#;

/// Any text is a grammar or a list of findings.
pub fn grammar(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok((model, report)) = grammar::read_json(text, None)
        && report.is_valid()
    {
        Grammar::builtin().clone().extend(&model);
    }
}

/// Initial modules: the repository's samples in text.
pub fn seeds() -> Vec<Vec<u8>> {
    let sample = |name: &str| crate::sample(&format!("tests/data/spirv/{name}"));
    let texts = ["kernel.spvasm", "numbers.spvasm", "nonsemantic.spvasm"].map(sample);
    let modules = texts.map(|text| asm::assemble(Grammar::builtin(), &text, asm::Options::default()));
    let mut seeds: Vec<Vec<u32>> = modules.into_iter().flatten().collect();
    for wgsl in ["minimal.wgsl", "sample.wgsl"].map(sample) {
        let module = translate::naga::front::wgsl::parse_str(&wgsl).expect("a sample");
        let mut validator =
            translate::naga::valid::Validator::new(Default::default(), translate::naga::valid::Capabilities::all());
        let info = validator.validate(&module).expect("a sample");
        let options = translate::naga::back::spv::Options::default();
        seeds.extend(translate::naga::back::spv::write_vec(&module, &info, &options, None));
    }
    seeds
        .into_iter()
        .map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect())
        .collect()
}
