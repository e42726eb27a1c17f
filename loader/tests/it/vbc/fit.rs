//! Fitting: the code of every corpus file stays valid in every mode, with the same meaning.

use crate::common;

use loader::spirv::ModuleIndex;
use loader::vbc::fit::{self, Fitted, Mode, Needs};
use loader::vbc::{self, DescriptorKind, Stage, Tables};
use std::collections::BTreeSet;

/// Fits words that are not from a file.
fn fit(words: &[u32], mode: &Mode) -> loader::Result<Fitted> {
    fit::fit(&ModuleIndex::new(words)?, mode)
}

fn needs(words: &[u32]) -> loader::Result<Needs> {
    fit::needs(&ModuleIndex::new(words)?)
}

/// The slots that code reaches.
fn slots_in_use(words: &[u32]) -> BTreeSet<u8> {
    needs(words).unwrap().slots.into_keys().collect()
}

/// Every stage of every file, with its name; including the corpus if it is present.
fn stages() -> Vec<(String, Vec<u32>)> {
    let mut stages = Vec::new();
    let folders = [Some(common::data("vbc")), common::corpus("vbc")];
    for path in folders.iter().flatten().flat_map(|folder| common::files(folder, "vbc")) {
        let bytes = std::fs::read(&path).unwrap();
        let Ok(file) = vbc::read(&bytes) else { continue };
        for stage in Stage::ALL {
            if let Some(code) = file.code(stage) {
                stages.push((
                    format!("{} {stage}", path.file_name().unwrap().to_string_lossy()),
                    code.words(),
                ));
            }
        }
    }
    stages
}

const SMALL: Mode = Mode::Cut {
    tables: Tables {
        samplers: 16,
        images: 8,
        buffers: 16,
        rotexels: 8,
        rwtexels: 8,
    },
    declare: true,
};
const MODES: [Mode; 3] = [Mode::Bindless, SMALL, Mode::Lowered];

#[test]
fn every_stage_stays_valid_in_every_mode() {
    let (mut valid, mut judged) = (0, true);
    for (name, words) in stages() {
        for mode in MODES {
            let fitted = fit(&words, &mode).unwrap_or_else(|error| panic!("{name} {mode:?}: {error}"));
            check_structure(&name, &words, &mode, &fitted);
            match loader::spirv::spirv_val::validate(&fitted.words) {
                Some(Ok(())) => valid += 1,
                Some(Err(why)) => panic!("{name} {mode:?}: {why}"),
                None => judged = false,
            }
        }
    }
    println!(
        "{valid} fitted modules are valid by spirv-val{}",
        if judged { "" } else { " (not installed)" }
    );
}

/// Must hold regardless of the validator.
fn check_structure(name: &str, words: &[u32], mode: &Mode, fitted: &Fitted) {
    let (wanted, reached) = (needs(words).unwrap(), slots_in_use(words));
    let slots: BTreeSet<u8> = fitted.resources.iter().filter_map(|resource| resource.slot).collect();
    match mode {
        Mode::Lowered => {
            assert_eq!(slots, reached, "{name}: each slot in use is a resource");
            assert_eq!(fitted.push_constant_bytes, 0, "{name}: push constants are left");
            let tables = fitted.resources.iter().filter(|resource| resource.set == 0);
            tables.for_each(|resource| {
                assert_eq!(
                    (resource.count, Some(resource.binding as u8)),
                    (1, resource.slot),
                    "{name}"
                )
            });
        }
        Mode::Cut { tables: most, .. } => {
            let within = |(binding, length): (usize, &u32)| *length <= u32::from(most.sizes()[binding]);
            assert!(
                needs(&fitted.words).unwrap().tables.iter().enumerate().all(within),
                "{name}: a table is too long"
            );
        }
        Mode::Bindless => {
            assert_eq!(
                needs(&fitted.words).unwrap(),
                wanted,
                "{name}: bindless code is as it was"
            );
        }
    }
    assert_eq!(
        accesses(&fitted.words, mode).len(),
        accesses(words, &Mode::Bindless).len(),
        "{name} {mode:?}: reads and writes"
    );
    assert_eq!(
        arithmetic(&fitted.words),
        arithmetic(words),
        "{name} {mode:?}: the rest of the code"
    );
    let mut ids = BTreeSet::new();
    for instruction in loader::spirv::instructions(&fitted.words) {
        let instruction = instruction.unwrap();
        if let Some(id) = loader::spirv::transform::result(instruction.words) {
            assert!(
                ids.insert(id) && id < fitted.words[3],
                "{name}: id {id} is twice or past the bound"
            );
        }
    }
}

/// The opcodes that are neither lookup nor memory access: the same in every mode.
fn arithmetic(words: &[u32]) -> Vec<u16> {
    const LOOKUP: [u16; 9] = [59, 61, 62, 65, 66, 83, 124, 194, 199];
    let body = loader::spirv::instructions(words)
        .flatten()
        .skip_while(|instruction| instruction.opcode != 54);
    body.map(|instruction| instruction.opcode)
        .filter(|opcode| !LOOKUP.contains(opcode))
        .collect()
}

/// The image operations and atomics, which use the chosen lookups.
fn accesses(words: &[u32], _mode: &Mode) -> Vec<u16> {
    let body = loader::spirv::instructions(words).flatten();
    body.map(|instruction| instruction.opcode)
        .filter(|opcode| (87..=107).contains(opcode))
        .collect()
}

#[test]
fn each_access_keeps_its_slot() {
    // two_samplers reads slot 0 (low half of word 0) and slot 5 (high half of word 2), in this order.
    let bytes = std::fs::read(common::data("vbc/two_samplers.vbc")).unwrap();
    let file = vbc::read(&bytes).unwrap();
    let words = file.code(Stage::Frag).unwrap().words();
    assert_eq!(slots_in_use(&words), BTreeSet::from([0, 5]));
    let fitted = fit(&words, &Mode::Lowered).unwrap();
    let found: Vec<_> = fitted
        .resources
        .iter()
        .map(|r| (r.set, r.binding, r.slot, r.kind))
        .collect();
    let sampler = DescriptorKind::CombinedImageSampler;
    assert_eq!(found, [(0, 0, Some(0), sampler), (0, 5, Some(5), sampler)]);
    assert_eq!(order_of_bindings(&fitted.words), [0, 5]);
    // Negative control: with the two lookups exchanged the order is reversed.
    let mut exchanged = words.clone();
    let indices: Vec<usize> = loader::spirv::instructions(&words)
        .flatten()
        .filter(|i| i.opcode == 65 && i.words.len() == 5 && i.words[3] == table(&words))
        .map(|i| i.position + 4)
        .collect();
    exchanged.swap(indices[0], indices[1]);
    assert_ne!(
        order_of_bindings(&fit(&exchanged, &Mode::Lowered).map_or(vec![], |f| f.words)),
        [0, 5]
    );
}

/// The variable decorated with set 0.
fn table(words: &[u32]) -> u32 {
    let decorated = loader::spirv::instructions(words)
        .flatten()
        .find(|i| i.opcode == 71 && i.words[2..] == [34, 0]);
    decorated.unwrap().words[1]
}

/// Bindings of the sampled images in the order the code loads them.
fn order_of_bindings(words: &[u32]) -> Vec<u32> {
    let all: Vec<_> = loader::spirv::instructions(words).flatten().collect();
    let binding = |id: u32| {
        all.iter()
            .find(|i| i.opcode == 71 && i.words[1..3] == [id, 33])
            .map(|i| i.words[3])
    };
    all.iter()
        .filter(|i| i.opcode == 61)
        .filter_map(|i| binding(i.words[3]))
        .collect()
}

#[test]
fn damaged_code_is_an_error_or_fits() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut fits, mut errors) = (0, 0);
    for (_, words) in stages().into_iter().filter(|(_, words)| words.len() < 2000) {
        let mut try_all = |words: &[u32]| {
            for mode in MODES {
                match fit(words, &mode) {
                    Ok(_) => fits += 1,
                    Err(_) => errors += 1,
                }
            }
        };
        for cut in (0..words.len()).step_by(7) {
            try_all(&words[..cut]);
        }
        for _ in 0..40 {
            let mut damaged = words.clone();
            let at = random.usize(..damaged.len());
            damaged[at] = match random.u32(..3) {
                0 => random.u32(..),
                1 => damaged[at] ^ 1 << random.u32(..32),
                _ => damaged[random.usize(..words.len())],
            };
            try_all(&damaged);
        }
    }
    println!("{fits} damaged modules still fit, {errors} are refused");
    assert!(fits > 0 && errors > 0);
}

/// Every one-word instruction after the header, which a pass must not mistake for a longer one.
#[test]
fn instructions_without_operands_are_no_panic() {
    let bytes = std::fs::read(common::data("vbc/two_samplers.vbc")).unwrap();
    let words = vbc::read(&bytes).unwrap().code(Stage::Frag).unwrap().words();
    for opcode in 0..=400u32 {
        let mut damaged = words.clone();
        damaged.insert(5, 1 << 16 | opcode);
        for mode in MODES {
            let _ = fit(&damaged, &mode);
        }
        let stages = [(Stage::Frag, damaged)];
        let _ = vbc::pack::pack(&stages, &vbc::pack::Names::default());
    }
}

/// An index variable that a function may change is unknown: lowering rejects it.
#[test]
fn an_index_that_escapes_is_refused() {
    let bytes = std::fs::read(common::data("vbc/rotexels.vbc")).unwrap();
    let words = vbc::read(&bytes).unwrap().code(Stage::Frag).unwrap().words();
    assert!(fit(&words, &Mode::Lowered).is_ok());
    let folder = common::corpus("vbc").map(|folder| folder.join("head_34_unoptimized.vbc"));
    let Some(bytes) = folder.and_then(|path| std::fs::read(path).ok()) else {
        return;
    };
    let words = vbc::read(&bytes).unwrap().code(Stage::Frag).unwrap().words();
    assert!(
        fit(&words, &Mode::Lowered).is_ok(),
        "a variable with one store is followed"
    );
    // The index variable is also the target of a copy: OpCopyMemory to itself represents any unknown use.
    let index = loader::spirv::instructions(&words)
        .flatten()
        .find(|i| i.opcode == 59 && i.words[3] == 7)
        .unwrap()
        .words[2];
    let store = loader::spirv::instructions(&words)
        .flatten()
        .find(|i| i.opcode == 62 && i.words[1] == index)
        .unwrap();
    let mut escaped = words.clone();
    escaped.splice(store.position..store.position, [3 << 16 | 63, index, index]);
    assert!(
        fit(&escaped, &Mode::Lowered).is_err(),
        "a variable that escapes is guessed"
    );
}

/// A fragment shader that samples a table of 4096 textures at `%index`, which the code computes from `%word`, a word of
/// the push constants.
fn looks_up(word: u32, code: &str, function: &str) -> Vec<u32> {
    looks_up_in("PushConstant", word, code, function)
}

/// The same with the words in a block of another class.
fn looks_up_in(class: &str, word: u32, code: &str, function: &str) -> Vec<u32> {
    let place = match class {
        "Uniform" => "OpDecorate %push DescriptorSet 1\nOpDecorate %push Binding 0\n",
        _ => "",
    };
    let offsets: String = (0..20)
        .map(|at| format!("OpMemberDecorate %block {at} Offset {}\n", 4 * at))
        .collect();
    let numbers: String = (0..20).map(|at| format!("%u{at} = OpConstant %uint {at}\n")).collect();
    let members = ["%uint"; 20].join(" ");
    let (variables, code): (Vec<&str>, Vec<&str>) = code.lines().partition(|line| line.contains(" = OpVariable "));
    let text = format!(
        "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %main \"main\" %out\n\
         OpExecutionMode %main OriginUpperLeft\nOpDecorate %table DescriptorSet 0\nOpDecorate %table Binding 0\n\
         OpDecorate %out Location 0\nOpDecorate %block Block\n{place}{offsets}%void = OpTypeVoid\n%fn = OpTypeFunction %void\n\
         %uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n%bool = OpTypeBool\n%float = OpTypeFloat 32\n\
         %vec2 = OpTypeVector %float 2\n%vec4 = OpTypeVector %float 4\n%at = OpConstantNull %vec2\n{numbers}\
         %all = OpConstant %uint 0xffff\n%some = OpConstant %uint 0xff\n%many = OpConstant %uint 4096\n\
         %image = OpTypeImage %float 2D 0 0 0 1 Unknown\n%sampled = OpTypeSampledImage %image\n\
         %array = OpTypeArray %sampled %many\n%to_array = OpTypePointer UniformConstant %array\n\
         %to_sampled = OpTypePointer UniformConstant %sampled\n%block = OpTypeStruct {members}\n\
         %to_block = OpTypePointer {class} %block\n%to_word = OpTypePointer {class} %uint\n\
         %local = OpTypePointer Function %uint\n%to_out = OpTypePointer Output %vec4\n%by_value = OpTypeFunction %uint %uint\n\
         %by_pointer = OpTypeFunction %uint %local\n%table = OpVariable %to_array UniformConstant\n\
         %push = OpVariable %to_block {class}\n%out = OpVariable %to_out Output\n{function}\n\
         %main = OpFunction %void None %fn\n%start = OpLabel\n{}\n%word_at = OpAccessChain %to_word %push %u{word}\n\
         %word = OpLoad %uint %word_at\n{}\n%place = OpAccessChain %to_sampled %table %index\n%both = OpLoad %sampled %place\n\
         %color = OpImageSampleImplicitLod %vec4 %both %at\nOpStore %out %color\nOpReturn\nOpFunctionEnd\n",
        variables.join("\n"),
        code.join("\n"),
    );
    let mut words = loader::spirv::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    words[1] = 0x0001_0000;
    words
}

/// A word has two slots: the lower half is the even one.
#[test]
fn lookups_are_followed_to_their_slots() {
    let even = "%index = OpBitwiseAnd %uint %word %all";
    let rows: &[(u32, &str, Option<u8>)] = &[
        (0, even, Some(0)),
        (3, even, Some(6)),
        (15, even, Some(30)),
        (3, "%index = OpBitwiseAnd %uint %all %word", Some(6)),
        (3, "%index = OpShiftRightLogical %uint %word %u16", Some(7)),
        (15, "%index = OpShiftRightLogical %uint %word %u16", Some(31)),
        (3, "%index = OpBitFieldUExtract %uint %word %u0 %u16", Some(6)),
        (3, "%index = OpBitFieldUExtract %uint %word %u16 %u16", Some(7)),
        (
            2,
            "%high = OpShiftRightLogical %uint %word %u16\n%index = OpBitwiseAnd %uint %high %all",
            Some(5),
        ),
        (
            2,
            "%low = OpBitwiseAnd %uint %word %all\n%index = OpBitwiseAnd %uint %low %all",
            Some(4),
        ),
        (
            2,
            "%same = OpShiftRightLogical %uint %word %u0\n%index = OpBitwiseAnd %uint %same %all",
            Some(4),
        ),
        (
            2,
            "%copy = OpCopyObject %uint %word\n%index = OpBitwiseAnd %uint %copy %all",
            Some(4),
        ),
        (
            2,
            "%low = OpBitwiseAnd %uint %word %all\n%index = OpBitcast %int %low",
            Some(4),
        ),
        (
            2,
            "%v = OpVariable %local Function\n%low = OpBitwiseAnd %uint %word %all\nOpStore %v %low\n%index = OpLoad %uint %v",
            Some(4),
        ),
        (
            2,
            "%v = OpVariable %local Function\nOpStore %v %word\n%copy = OpLoad %uint %v\n%index = OpShiftRightLogical %uint %copy %u16",
            Some(5),
        ),
        (
            2,
            "%v = OpVariable %local Function\n%low = OpBitwiseAnd %uint %word %all\nOpStore %v %low\nOpStore %v %low\n%index = OpLoad %uint %v",
            Some(4),
        ),
        (
            2,
            "%low = OpBitwiseAnd %uint %word %all\n%index = OpFunctionCall %uint %same_value %low",
            None,
        ),
        // What is no half of one of the first sixteen words.
        (16, even, None),
        (16, "%index = OpShiftRightLogical %uint %word %u16", None),
        (2, "%index = OpCopyObject %uint %word", None),
        (2, "%index = OpBitwiseAnd %uint %word %some", None),
        (2, "%index = OpShiftRightLogical %uint %word %u8", None),
        (2, "%index = OpBitFieldUExtract %uint %word %u8 %u16", None),
        (2, "%index = OpBitFieldUExtract %uint %word %u0 %u15", None),
        (
            2,
            "%low = OpBitwiseAnd %uint %word %all\n%index = OpIAdd %uint %low %u1",
            None,
        ),
        (
            2,
            "%v = OpVariable %local Function\n%low = OpBitwiseAnd %uint %word %all\nOpStore %v %low\nOpStore %v %u1\n%index = OpLoad %uint %v",
            None,
        ),
        (2, "%v = OpVariable %local Function\n%index = OpLoad %uint %v", None),
    ];
    let function = "%same_value = OpFunction %uint None %by_value\n%value = OpFunctionParameter %uint\n%begin = OpLabel\n\
                    OpReturnValue %value\nOpFunctionEnd";
    let mut wrong = Vec::new();
    for (word, code, want) in rows {
        let function = if code.contains("%same_value") { function } else { "" };
        let words = looks_up(*word, code, function);
        assert!(loader::spirv::validate(&words).is_valid(), "{code}");
        let have = needs(&words)
            .ok()
            .map(|needs| needs.slots.into_keys().collect::<Vec<_>>());
        let lowered = fit(&words, &Mode::Lowered);
        if have != want.map(|slot| vec![slot]) || lowered.is_ok() != want.is_some() {
            wrong.push(format!("word {word}: {code}\n  {have:?}, {lowered:?}"));
            continue;
        }
        if let (Ok(fitted), Some(slot)) = (lowered, want) {
            let found: Vec<_> = fitted
                .resources
                .iter()
                .map(|one| (one.set, one.binding, one.slot, one.count))
                .collect();
            assert_eq!(found, [(0, u32::from(*slot), Some(*slot), 1)], "{code}");
            assert!(loader::spirv::validate(&fitted.words).is_valid(), "{code}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Words of another block say nothing.
    let words = looks_up_in("Uniform", 3, even, "");
    assert!(loader::spirv::validate(&words).is_valid());
    assert!(needs(&words).is_err());
}

/// Slots that functions are passed, as values and by pointers: all calls agree on one.
#[test]
fn parameters_are_followed_to_their_slots() {
    let samples = |parameter: &str, ty: &str, index: &str| {
        format!(
            "%sample = OpFunction %uint None %{ty}\n%p = OpFunctionParameter %{parameter}\n%begin = OpLabel\n{index}\n\
             %there = OpAccessChain %to_sampled %table %i\n%s = OpLoad %sampled %there\n%c = OpImageSampleImplicitLod %vec4 %s %at\n\
             OpStore %out %c\nOpReturnValue %u0\nOpFunctionEnd"
        )
    };
    let value = samples("uint", "by_value", "%i = OpCopyObject %uint %p");
    let pointer = samples("local", "by_pointer", "%i = OpLoad %uint %p");
    let written = samples("local", "by_pointer", "%i = OpLoad %uint %p\nOpStore %p %u0");
    let even = "%index = OpBitwiseAnd %uint %word %all";
    let kept = "%v = OpVariable %local Function\n%index = OpBitwiseAnd %uint %word %all\nOpStore %v %index";
    let rows: &[(&str, String, bool)] = &[
        (
            &value,
            format!("{even}\n%r = OpFunctionCall %uint %sample %index"),
            true,
        ),
        (
            &value,
            format!("{even}\n%q = OpFunctionCall %uint %sample %index\n%r = OpFunctionCall %uint %sample %index"),
            true,
        ),
        (
            &value,
            format!(
                "{even}\n%o = OpShiftRightLogical %uint %word %u16\n%q = OpFunctionCall %uint %sample %index\n%r = OpFunctionCall %uint %sample %o"
            ),
            false,
        ),
        (&value, format!("{even}\n%r = OpFunctionCall %uint %sample %u3"), false),
        (&value, even.to_owned(), false),
        (&pointer, format!("{kept}\n%r = OpFunctionCall %uint %sample %v"), true),
        (&written, format!("{kept}\n%r = OpFunctionCall %uint %sample %v"), false),
    ];
    for (function, code, fits) in rows {
        let words = looks_up(4, code, function);
        assert!(loader::spirv::validate(&words).is_valid(), "{code}");
        let have = needs(&words)
            .ok()
            .map(|needs| needs.slots.into_keys().collect::<Vec<_>>());
        assert_eq!(have, fits.then(|| vec![8]), "{code}\n{function}");
    }
}
