//! For every rule of the VBC validator, one change to a valid file violates it.

use super::samples;
use crate::common;

use loader::vbc::{self, BaseType, Model, RULES, Shape, Stage, Stages, SubpassInput, TexelRank, TexelType};
use loader::{Report, Severity, spirv};
use std::collections::BTreeSet;

/// The findings' rules, each once.
fn rules(report: &Report) -> Vec<&'static str> {
    let rules: BTreeSet<_> = report.diagnostics.iter().map(|d| d.rule).collect();
    rules.into_iter().collect()
}

#[test]
fn samples_match_the_generator() {
    for (name, made) in samples::all() {
        let path = common::data(name);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let kept = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}; BLESS=1 writes it", path.display()));
        assert!(
            kept == made,
            "{name} is not what the generator makes; BLESS=1 writes it"
        );
    }
}

#[test]
fn samples_have_only_their_expected_findings() {
    let expected: [(&str, &[&str]); 5] = [
        ("minimal.vbc", &[]),
        ("everything.vbc", &[]),
        ("five_stages.vbc", &["stage-extra"]),
        ("legacy.vbc", &["legacy-dialect"]),
        ("raw_subpass.vbc", &["subpass-records-48"]),
    ];
    for ((name, bytes), (expected_name, expected)) in std::iter::zip(samples::all(), expected) {
        assert_eq!(name, expected_name);
        let report = vbc::check(&bytes);
        assert_eq!(rules(&report), expected, "{name}: {:#?}", report.diagnostics);
        assert!(report.is_valid(), "{name}");
    }
}

#[test]
fn salvaged_samples_hold_the_same_facts() {
    let expected = samples::everything();
    for (name, bytes) in samples::all()
        .iter()
        .filter(|s| ["everything.vbc", "legacy.vbc", "raw_subpass.vbc"].contains(&s.0))
    {
        let file = vbc::read(bytes).unwrap();
        assert_eq!(file.to_model(), expected, "{name}");
    }
    let raw = samples::raw_subpass(&expected);
    assert_eq!(vbc::read(&raw).unwrap().subpass_name(1), Some(&b"input1"[..]));
}

/// A violation: a change to the model, to its code, or to the bytes.
enum Break {
    Model(fn(&mut Model)),
    /// Sets the operand of the first instruction with an opcode and an old operand, in a stage's code: two pairs of
    /// position and word.
    Code(Stage, u16, (usize, u32), (usize, u32)),
    Bytes(fn(&mut Vec<u8>)),
}

use Break::{Bytes, Code, Model as InModel};
use Stage::{Frag, Vert};

const DECORATE: u16 = 71;

/// Offsets into the bytes of the `everything` sample.
const INPUTS: usize = 25 + 4;
const OUTPUTS: usize = INPUTS + 3 * 8 + 4;

/// Makes code 65536 words longer with line instructions before the return, which have no effect.
fn overflow(code: &mut Vec<u32>) {
    let before_return = code.len() - 2;
    code.splice(
        before_return..before_return,
        std::iter::repeat_n(1 << 16 | 317, 1 << 16),
    );
}

#[rustfmt::skip]
const BREAKS: &[(&str, Break)] = &[
    ("stage-missing", InModel(|m| { *m = samples::minimal(); m.code_mut(Vert).clear(); })),
    ("code-too-short", InModel(|m| { *m = samples::minimal(); m.code_mut(Vert).truncate(4); })),
    ("spirv-magic", InModel(|m| m.code_mut(Vert)[0] = 0)),
    ("spirv-big-endian", InModel(|m| m.code_mut(Frag).iter_mut().for_each(|word| *word = word.swap_bytes()))),
    ("trailing-bytes", Bytes(|b| b.push(0))),
    ("padding", Bytes(|b| b[INPUTS + 7] = 1)),
    ("padding", Bytes(|b| b[OUTPUTS + 5] = 1)),
    ("input-count", InModel(|m| { *m = samples::minimal(); let i = samples::everything().inputs[0]; m.inputs.extend((0..17).map(|location| vbc::Variable { location, ..i })); })),
    ("input-base", InModel(|m| { let mut i = m.inputs[0]; i.location = 9; i.base = BaseType::BOOL; m.inputs.push(i); })),
    ("input-dims", InModel(|m| { let mut i = m.inputs[0]; i.location = 9; i.dims = [5, 1]; m.inputs.push(i); })),
    ("input-dims", InModel(|m| { let mut i = m.inputs[0]; i.location = 9; i.base = BaseType::INT; i.dims = [2, 2]; m.inputs.push(i); })),
    ("input-array", InModel(|m| { let mut i = m.inputs[0]; i.location = 9; i.array = 0; m.inputs.push(i); })),
    ("input-array", InModel(|m| { let mut i = m.inputs[0]; i.location = 9; i.dims = [2, 2]; i.array = 2; m.inputs.push(i); })),
    ("input-location", InModel(|m| { let mut i = m.inputs[0]; i.location = 16; m.inputs.push(i); })),
    ("input-overlap", InModel(|m| { let mut i = m.inputs[0]; i.location = 5; m.inputs.push(i); })),
    ("input-past-16", InModel(|m| { let mut i = m.inputs[0]; i.location = 15; i.array = 2; m.inputs.push(i); })),
    ("output-count", InModel(|m| { let o = m.outputs[0]; m.outputs.extend((0..7).map(|i| vbc::Variable { location: 2 + i.min(5), ..o })); })),
    ("output-base", InModel(|m| { let mut o = m.outputs[0]; o.location = 5; o.base = BaseType(99); m.outputs.push(o); })),
    ("output-dims", InModel(|m| { let mut o = m.outputs[0]; o.location = 5; o.dims = [3, 1]; m.outputs.push(o); })),
    ("output-array", InModel(|m| { let mut o = m.outputs[0]; o.location = 5; o.array = 2; m.outputs.push(o); })),
    ("output-location", InModel(|m| { let mut o = m.outputs[0]; o.location = 8; m.outputs.push(o); })),
    ("output-duplicate", InModel(|m| { let o = m.outputs[0]; m.outputs.push(o); })),
    ("binding-count", InModel(|m| {
        *m = samples::minimal();
        let used = samples::everything().bindings[0];
        m.bindings.extend((0..33).map(|slot| vbc::Binding { slot: slot.min(31), ..used }));
    })),
    ("binding-base", InModel(|m| { let mut b = m.bindings[0]; b.slot = 1; b.base = BaseType::UNIFORM; m.bindings.push(b); })),
    ("binding-stages", InModel(|m| m.bindings[1].stages.0 |= Stage::Geom.bit())),
    ("slot-range", InModel(|m| { *m = samples::minimal(); let mut b = samples::everything().bindings[0]; b.slot = 32; m.bindings.push(b); })),
    ("slot-duplicate", InModel(|m| m.bindings[1].slot = 0)),
    ("table-empty", InModel(|m| { *m = samples::minimal(); m.bindings = samples::everything().bindings; m.bindings.iter_mut().for_each(|b| b.stages = Stages::NONE); m.tables.images = 0; })),
    ("buffer-size", InModel(|m| { let mut b = m.bindings[3]; b.slot = 1; b.shape = Shape::Buffer { size: 18 }; m.bindings.push(b); })),
    ("texel-rank", InModel(|m| rank(m, TexelRank(9)))),
    ("texel-rank", InModel(|m| rank(m, TexelRank::BUFFER))),
    ("texel-type", InModel(|m| format(m, 0, TexelType(9), 4, 4))),
    ("texel-format", InModel(|m| format(m, 0, TexelType::FLOAT, 4, 2))),
    ("texel-format", InModel(|m| format(m, 2, TexelType::UNORM, 4, 4))),
    ("texel-format", InModel(|m| format(m, 2, TexelType::FLOAT, 4, 3))),
    ("uniform-size", InModel(|m| { *m = samples::minimal(); m.uniform = samples::everything().uniform; let u = m.uniform.as_mut().unwrap(); u.size = 1028; u.members[3].base = BaseType::FLOAT; u.members[3].dims = [4, 4]; u.members[3].array = 14; u.members.push(member("more", 976, 13)); })),
    ("uniform-stages", InModel(|m| m.uniform.as_mut().unwrap().stages.0 |= 0x100)),
    ("uniform-packing", InModel(|m| m.uniform.as_mut().unwrap().size += 4)),
    ("member-count", InModel(|m| { *m = samples::minimal(); let members = (0..257).map(|i| member(&format!("m{i}"), 4 * i, 1)); m.uniform = Some(vbc::UniformModel { size: 1024, stages: Stages::NONE, members: members.collect() }); })),
    ("member-name-length", InModel(|m| m.uniform.as_mut().unwrap().members[0].name = vec![b'a'; 33])),
    ("member-name-length", InModel(|m| m.uniform.as_mut().unwrap().members[0].name.clear())),
    ("member-name", InModel(|m| m.uniform.as_mut().unwrap().members[0].name = b"a-b".to_vec())),
    ("member-name", InModel(|m| m.uniform.as_mut().unwrap().members[0].name = b"1b".to_vec())),
    ("member-duplicate", InModel(|m| m.uniform.as_mut().unwrap().members[2].name = b"mvp".to_vec())),
    ("member-base", InModel(|m| unused_uniform(m, |u| u.members[1].base = BaseType::SAMPLER))),
    ("member-dims", InModel(|m| unused_uniform(m, |u| { u.members[1].base = BaseType::INT; u.members[1].dims = [1, 3]; }))),
    ("member-array", InModel(|m| unused_uniform(m, |u| { u.members[3].array = 65; u.size = 80 + 65 * 4; }))),
    ("member-extent", InModel(|m| unused_uniform(m, |u| u.size -= 4))),
    ("member-overlap", InModel(|m| unused_uniform(m, |u| { u.members[3].offset -= 4; u.members[3].array += 1; }))),
    ("member-gap", InModel(|m| unused_uniform(m, |u| { u.members[3].offset += 4; u.members[3].array -= 1; }))),
    ("subpass-count", InModel(|m| { let i = m.subpass_inputs[0]; m.subpass_inputs.extend([i; 3]); })),
    ("subpass-texel", InModel(|m| m.subpass_inputs.push(SubpassInput { texel: TexelType::FLOAT, components: 2 }))),
    ("subpass-texel", InModel(|m| m.subpass_inputs.push(SubpassInput { texel: TexelType::UNORM, components: 4 }))),
    ("spirv-malformed", InModel(|m| m.code_mut(Vert)[5] &= 0xffff)),
    ("spirv-malformed", InModel(|m| m.code_mut(Vert)[5] |= 0xffff_0000)),
    ("spirv-malformed", InModel(|m| *m.code_mut(Frag).last_mut().unwrap() = 2 << 16 | 56)),
    // Execution model and name of the entry point.
    ("entry-point", Code(Vert, 15, (0, 0), (0, 4))),
    ("entry-point", Code(Frag, 15, (0, 4), (2, u32::from_le_bytes(*b"mair")))),
    ("input-unreflected", InModel(|m| { m.inputs.remove(2); })),
    ("input-type", InModel(|m| m.inputs[0].dims = [4, 1])),
    ("input-type", InModel(|m| m.inputs[2].array = 3)),
    ("output-unreflected", InModel(|m| { m.outputs.remove(0); })),
    ("output-type", InModel(|m| m.outputs[0].base = BaseType::UINT)),
    ("push-size", InModel(|m| { let mut b = m.bindings[0]; b.slot = 10; m.bindings.push(b); })),
    // No set, another set, and an image with the other kind of `Sampled`.
    ("descriptor-unknown", Code(Vert, DECORATE, (1, 34), (1, 26))),
    ("descriptor-unknown", Code(Vert, DECORATE, (1, 34), (2, 3))),
    ("descriptor-type", Code(Frag, 25, (6, 1), (6, 2))),
    ("descriptor-type", InModel(|m| m.subpass_inputs[1].texel = TexelType::INT)),
    ("descriptor-unreflected", InModel(|m| m.bindings[1].stages = Stages::NONE)),
    ("descriptor-unreflected", InModel(|m| m.bindings[3].base = BaseType::RW_BUFFER)),
    ("descriptor-unreflected", InModel(|m| m.bindings[3].shape = Shape::Buffer { size: 24 })),
    ("descriptor-unreflected", InModel(|m| format(m, 6, TexelType::FLOAT, 4, 4))),
    ("table-size", InModel(|m| m.tables.rotexels = 4)),
    ("uniform-unreflected", InModel(|m| m.uniform = None)),
    ("uniform-unreflected", InModel(|m| m.uniform.as_mut().unwrap().stages = Stages(Vert.bit()))),
    ("uniform-layout", InModel(|m| { m.uniform.as_mut().unwrap().members[2].base = BaseType::FLOAT; })),
    ("subpass-unreflected", InModel(|m| { m.subpass_inputs.pop(); })),
    ("attachment-index", Code(Frag, DECORATE, (1, 43), (2, 3))),
];

fn member(name: &str, offset: u32, array: u8) -> vbc::UniformMember {
    vbc::UniformMember {
        name: name.into(),
        offset,
        base: BaseType::FLOAT,
        dims: [1, 1],
        array,
    }
}

/// A uniform that the code does not use, so that only the reflection's own rules apply to the change.
fn unused_uniform(model: &mut Model, change: fn(&mut vbc::UniformModel)) {
    let mut uniform = model.uniform.take().unwrap();
    change(&mut uniform);
    *model = Model {
        uniform: Some(uniform),
        ..samples::minimal()
    };
}

/// Another sampler, which the code does not use, with this rank.
fn rank(model: &mut Model, rank: TexelRank) {
    let mut binding = model.bindings[0];
    binding.slot = 1;
    let Shape::Texel { rank: old, .. } = &mut binding.shape else {
        unreachable!()
    };
    *old = rank;
    model.bindings.push(binding);
}

/// Changes a binding's texels; for the first three a slot that the code does not use, to avoid other findings.
fn format(model: &mut Model, index: usize, texel: TexelType, size: u8, components: u8) {
    let mut binding = model.bindings[index];
    let Shape::Texel { rank, .. } = binding.shape else {
        unreachable!()
    };
    binding.shape = Shape::Texel {
        rank,
        texel,
        size,
        components,
    };
    if index < 3 {
        binding.slot = 1;
        model.bindings.push(binding);
    } else {
        model.bindings[index] = binding;
    }
}

fn patch(code: &mut [u32], opcode: u16, with: (usize, u32), gets: (usize, u32)) {
    let fits = |i: &spirv::Instruction| i.opcode == opcode && i.operands().get(with.0) == Some(&with.1);
    let found = spirv::instructions(code).flatten().find(fits).map(|i| i.position);
    code[found.expect("an instruction to break") + 1 + gets.0] = gets.1;
}

/// The sample with one violation.
fn broken(change: &Break) -> Vec<u8> {
    let mut model = samples::everything();
    match change {
        InModel(change) => change(&mut model),
        Code(stage, opcode, with, gets) => patch(model.code_mut(*stage), *opcode, *with, *gets),
        Bytes(_) => {}
    }
    let mut bytes = vbc::write(&model).unwrap();
    if let Bytes(change) = change {
        change(&mut bytes);
    }
    bytes
}

#[test]
fn each_rule_is_violated_alone() {
    for (i, (rule, change)) in BREAKS.iter().enumerate() {
        let bytes = broken(change);
        let report = vbc::check(&bytes);
        assert_eq!(
            rules(&report),
            [*rule],
            "break {i} of {rule}: {:#?}",
            report.diagnostics
        );
        let worst = match *rule {
            "padding" | "input-past-16" => Severity::Warning,
            _ => Severity::Error,
        };
        assert_eq!(report.worst(), Some(worst), "break {i} of {rule}");
        for diagnostic in &report.diagnostics {
            let offset = diagnostic.offset.unwrap_or_else(|| panic!("{rule} has no offset"));
            assert!(
                offset < bytes.len() as u64,
                "{rule}: offset {offset} is outside the file"
            );
        }
    }
    println!("{} files with one thing broken, each reported as that", BREAKS.len());
}

#[test]
fn every_rule_has_a_violation() {
    // Covered by the samples, by separate tests, or both.
    let elsewhere = [
        "legacy-dialect",
        "subpass-records-48",
        "subpass-texel-lost",
        "word-count-overflow",
        "stage-extra",
        "stage-input-unwritten",
        "stage-input-type",
        "stage-primitive",
    ];
    let broken: BTreeSet<_> = BREAKS.iter().map(|b| b.0).chain(elsewhere).collect();
    let named: BTreeSet<_> = RULES.iter().map(|rule| rule.0).collect();
    assert_eq!(broken, named);
    assert_eq!(named.len(), RULES.len(), "a rule is named twice");
}

#[test]
fn offsets_point_at_the_field() {
    let report = vbc::check(&broken(&InModel(|m| m.bindings[1].stages.0 |= Stage::Geom.bit())));
    let bindings = OUTPUTS + 2 * 8 + 4;
    assert_eq!(report.diagnostics[0].offset, Some((bindings + 8 + 2) as u64));
    let report = vbc::check(&broken(&InModel(|m| m.uniform.as_mut().unwrap().stages.0 |= 0x100)));
    assert_eq!(report.diagnostics[0].offset, Some((bindings + 7 * 8 + 2) as u64));
    assert_eq!(
        report.diagnostics[0].to_string(),
        format!(
            "error[uniform-stages]: uniform: names absent stages: 0x100 (at offset {:#x})",
            bindings + 7 * 8 + 2
        )
    );
}

#[test]
fn a_lost_subpass_texel_is_named() {
    let mut model = samples::everything();
    let unused = SubpassInput {
        texel: TexelType::FLOAT,
        components: 4,
    };
    model.subpass_inputs.push(unused);
    let bytes = samples::raw_subpass(&model);
    let file = vbc::read(&bytes).unwrap();
    assert_eq!(file.to_model(), model);
    assert_eq!(
        rules(&vbc::validate(&file)),
        ["subpass-records-48", "subpass-texel-lost"]
    );
}

#[test]
fn overflowed_word_counts_are_salvaged() {
    let model = samples::everything();
    for stages in [vec![Frag], vec![Vert], vec![Vert, Frag]] {
        let mut bytes = vbc::write(&model).unwrap();
        let reflection = bytes.len() - 4 * model.code.iter().map(Vec::len).sum::<usize>();
        bytes.truncate(reflection);
        let mut long = model.clone();
        for &stage in &stages {
            overflow(long.code_mut(stage));
        }
        bytes.extend(long.code.iter().flatten().flat_map(|word| word.to_le_bytes()));
        let file = vbc::read(&bytes).unwrap();
        assert_eq!(file.to_model(), long);
        assert_eq!(rules(&vbc::validate(&file)), ["word-count-overflow"]);
        assert_eq!(file.diagnostics().len(), stages.len());
        let error = vbc::write(&long).unwrap_err();
        assert!(
            error.to_string().contains("do not fit the format's 16-bit field"),
            "{error}"
        );
        assert_eq!(error.kind(), loader::ErrorKind::Unsupported);
    }
}

#[test]
fn a_count_that_overflowed_to_zero_is_not_an_absent_stage() {
    let mut model = samples::minimal();
    let reflection = vbc::write(&model).unwrap().len() - 4 * model.code.iter().map(Vec::len).sum::<usize>();
    let code = model.code_mut(Frag);
    let (before_return, missing) = (code.len() - 2, (1 << 16) - code.len());
    code.splice(
        before_return..before_return,
        std::iter::repeat_n(1 << 16 | 317, missing),
    );
    let mut short = model.clone();
    short.code_mut(Frag).clear();
    let mut bytes = vbc::write(&short).unwrap();
    assert_eq!(bytes[13..15], [0, 0]);
    bytes.truncate(reflection);
    bytes.extend(model.code.iter().flatten().flat_map(|word| word.to_le_bytes()));
    let file = vbc::read(&bytes).unwrap();
    assert_eq!(file.to_model(), model);
    assert_eq!(rules(&vbc::validate(&file)), ["word-count-overflow"]);
}

#[test]
fn the_writer_rejects_oversized_values_by_name() {
    let refused = |change: fn(&mut Model)| {
        let mut model = samples::everything();
        change(&mut model);
        vbc::write(&model).unwrap_err().to_string()
    };
    assert_eq!(
        refused(|m| m.uniform.as_mut().unwrap().size = 65536),
        "vbc: uniform: unsupported: 65536 bytes do not fit the format's 16-bit field"
    );
    assert_eq!(
        refused(|m| m.uniform.as_mut().unwrap().size = 0),
        "vbc: uniform: unsupported: a size of 0, which means that there is no uniform"
    );
    assert_eq!(
        refused(|m| m.uniform.as_mut().unwrap().members[1].name = vec![b'a'; 256]),
        "vbc: uniform: member 1: unsupported: 256 bytes of name do not fit the format's 8-bit field"
    );
    assert_eq!(
        refused(|m| m.uniform.as_mut().unwrap().members[1].offset = 65536),
        "vbc: uniform: member 1: unsupported: 65536 bytes of offset do not fit the format's 16-bit field"
    );
    assert_eq!(
        refused(|m| m.bindings[0].shape = Shape::Buffer { size: 4 }),
        "vbc: binding 0: unsupported: a sampler binding with the other kind of shape"
    );
    assert_eq!(
        refused(|m| m.code_mut(Stage::Geom).resize(65536, 0)),
        "vbc: geom: unsupported: 65536 words do not fit the format's 16-bit field"
    );
}

#[test]
fn requirements_have_their_reasons() {
    use vbc::{DescriptorKind, Feature, Why};
    let bytes = vbc::write(&samples::everything()).unwrap();
    let needs = vbc::requirements(&vbc::read(&bytes).unwrap());
    let expected = [
        (Feature::ScalarBlockLayout, Why::Slot(3)),
        (Feature::SampledImageIndexing, Why::Slot(0)),
        (Feature::StorageImageIndexing, Why::Slot(9)),
        (Feature::StorageBufferIndexing, Why::Slot(3)),
        (Feature::UniformTexelBufferIndexing, Why::Slot(5)),
        (Feature::StorageTexelBufferIndexing, Why::Slot(6)),
        (Feature::FragmentStoresAndAtomics, Why::Slot(9)),
        (Feature::StorageImageExtendedFormats, Why::Slot(6)),
    ];
    for (feature, why) in expected {
        assert_eq!(needs.needs(feature), Some(why), "{feature}");
    }
    assert_eq!(needs.features.len(), expected.len(), "{:?}", needs.features);
    assert_eq!(needs.unknown_capabilities, []);
    let samplers = needs.descriptors[0];
    assert_eq!((samplers.count, samplers.used), (16, 2));
    assert_eq!(needs.per_stage(Vert, DescriptorKind::StorageBuffer), 4);
    assert_eq!(needs.per_stage(Vert, DescriptorKind::CombinedImageSampler), 0);
    assert_eq!(needs.per_stage(Frag, DescriptorKind::InputAttachment), 2);
    let numbers = (
        needs.push_constant_bytes,
        needs.uniform_bytes,
        needs.vertex_locations,
        needs.color_attachments,
    );
    assert_eq!(numbers, (20, 100, 6, 2));

    let bytes = vbc::write(&samples::five_stages()).unwrap();
    let needs = vbc::requirements(&vbc::read(&bytes).unwrap());
    assert_eq!(needs.needs(Feature::GeometryShader), Some(Why::Stage(Stage::Geom)));
    assert_eq!(needs.needs(Feature::TessellationShader), Some(Why::Stage(Stage::Tesc)));
    assert_eq!(needs.features.len(), 2);
}

#[test]
fn read_errors_have_their_reason() {
    let message = |change: fn(&mut Vec<u8>)| {
        let mut bytes = vbc::write(&samples::everything()).unwrap();
        change(&mut bytes);
        vbc::read(&bytes).unwrap_err().to_string()
    };
    let big_endian = |bytes: &mut Vec<u8>| {
        for count in [INPUTS - 4, OUTPUTS - 4, OUTPUTS + 2 * 8] {
            bytes[count..count + 4].reverse();
        }
    };
    let expected =
        "vbc: unsupported: the file is big endian: its compiler ran on a big-endian machine (at offset 0x19)";
    assert_eq!(message(big_endian), expected);
    assert_eq!(
        message(|b| b[0] = b'v'),
        "vbc: header: the magic is not VBC (at offset 0x0)"
    );
    assert_eq!(
        message(|b| b[3] = 2),
        "vbc: header: unsupported: version 2 (only 1 is known) (at offset 0x3)"
    );
    assert_eq!(
        message(|b| b[4] = 7),
        "vbc: header: unsupported: shader type 7 (only 1, graphics, is known) (at offset 0x4)"
    );
    assert_eq!(
        message(|b| b.truncate(20)),
        "vbc: header: binding table sizes runs past end of file (10 bytes needed, 5 left) (at offset 0xf)"
    );
    assert_eq!(
        message(|b| b.truncate(INPUTS + 20)),
        "vbc: 3 vertex inputs of 8 bytes run past end of file (20 bytes left) (at offset 0x1d)"
    );
    assert_eq!(
        message(|b| b.truncate(OUTPUTS + 2 * 8 + 4 + 7 * 8 + 8 + 5)),
        "vbc: uniform: member 0: record runs past end of file (at offset 0x8d)"
    );
    assert!(message(|b| b.truncate(b.len() - 1)).starts_with("vbc: frag: "));
}

#[test]
fn unknown_values_are_ordinary_and_print_as_numbers() {
    let mut model = samples::everything();
    model.inputs[0].base = BaseType(77);
    model.bindings[0].base = BaseType(78);
    model.bindings[2].stages = Stages(0x8010);
    rank(&mut model, TexelRank(79));
    let bytes = vbc::write(&model).unwrap();
    let file = vbc::read(&bytes).unwrap();
    assert_eq!(file.to_model(), model);
    let json = serde_json::to_value(vbc::summary(&file).unwrap()).unwrap();
    assert_eq!(json["inputs"][0]["base"], 77);
    assert_eq!(json["bindings"][0]["base"], 78);
    assert_eq!(json["bindings"][7]["rank"], 79);
    assert_eq!(json["bindings"][2]["stages"], serde_json::json!(["frag", 0x8000]));
    let text = vbc::summary(&file).unwrap().to_string();
    assert!(text.contains("in(0) 77"), "{text}");
    assert!(text.contains("frag|0x8000"), "{text}");
}
