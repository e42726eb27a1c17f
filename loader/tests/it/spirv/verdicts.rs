//! The verdicts of the validator, beside those of SPIRV-Tools.

use crate::common;

use loader::spirv::asm::{Options, assemble};
use loader::spirv::{Grammar, TargetEnv, validate_for};

/// SPIRV-Tools' tests of its validator, with the verdict of its newest suite or of the version in distributions.
#[test]
fn the_tests_of_spirv_tools_get_their_verdicts() {
    let Some(folder) = common::corpus("spirv") else { return };
    let folder = folder.join("validator-tests");
    let table = std::fs::read_to_string(folder.join("verdicts.tsv")).expect("the table of verdicts");
    let (mut all, mut newest, mut wrong) = (0, 0, Vec::new());
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, env, suite, installed] = fields[..] else {
            panic!("{line}")
        };
        let text = std::fs::read_to_string(folder.join(format!("{name}.spvasm"))).expect("a test of the table");
        let env = TargetEnv::named(env).expect("a known environment");
        let options = Options {
            preserve_numeric_ids: true,
            version: Some(env.version()),
            ..Options::default()
        };
        let words = assemble(Grammar::builtin(), &text, options).unwrap_or_else(|error| panic!("{name}: {error}"));
        let report = validate_for(Grammar::builtin(), &words, env);
        let verdict = if report.is_valid() { "Valid" } else { "Invalid" };
        all += 1;
        newest += usize::from(verdict == suite);
        if verdict != suite && verdict != installed {
            wrong.push(format!("{name}: {report:?}"));
        }
    }
    println!(
        "{all} tests of SPIRV-Tools, {newest} as its newest suite has them, {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// An array of four thousand million samplers takes no location: nothing counts its elements.
#[test]
fn arrays_of_what_has_no_location_are_checked_at_once() {
    let text = "OpCapability Shader\nOpMemoryModel Logical Simple\nOpEntryPoint Vertex %main \"main\" %out\n\
                OpDecorate %out Location 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%sampler = OpTypeSampler\n\
                %uint = OpTypeInt 32 0\n%many = OpConstant %uint 4294967295\n%all = OpTypeArray %sampler %many\n\
                %to = OpTypePointer Output %all\n%out = OpVariable %to Output\n%main = OpFunction %void None %fn\n\
                %entry = OpLabel\nOpReturn\nOpFunctionEnd\n";
    let words = assemble(Grammar::builtin(), text, Options::default()).unwrap();
    let start = std::time::Instant::now();
    let env = TargetEnv::named("vulkan1.3").unwrap();
    let report = validate_for(Grammar::builtin(), &words, env);
    assert!(start.elapsed().as_secs() < 3, "{report:?}");
}
