//! Large adversarial modules: `check`, `dis`, the walker and the split take linear time and a bounded multiple of
//! memory.
//!
//! Each operation runs in a process of its own, whose peak memory the system reports (on Linux).

use skrymir::loader::spirv::{Bytes, Grammar, MAGIC, ModuleIndex, TargetEnv};
use skrymir::loader::spirv::{asm, block, class, dis, split_samplers, to_words, validate, validate_for};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const HEAD: &str = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n";
const TYPES: &str = "%void = OpTypeVoid\n%bool = OpTypeBool\n%true = OpConstantTrue %bool\n%fn = OpTypeFunction %void\n\
                     %float = OpTypeFloat 32\n%int = OpTypeInt 32 0\n%zero = OpConstant %int 0\n";

/// Modules of about `n` relevant instructions.
fn modules(n: usize) -> Vec<(&'static str, Vec<u32>)> {
    let function = |body: String| format!("{HEAD}{TYPES}%main = OpFunction %void None %fn\n{body}OpFunctionEnd\n");
    let mut texts = vec![];
    // Every block may branch to the last one, so its dominator is computed from all of them.
    let mut body = String::from("%b0 = OpLabel\n");
    for i in 0..n {
        write!(body, "OpSelectionMerge %m{i} None\nOpBranchConditional %true %b{} %out\n%m{i} = OpLabel\nOpUnreachable\n%b{} = OpLabel\n", i + 1, i + 1).unwrap();
    }
    texts.push(("ladder", function(body + "OpBranch %out\n%out = OpLabel\nOpReturn\n")));
    // One block with many predecessors and many phis that list few of them.
    let cases = n.min(32_000);
    let mut body = String::from("%b0 = OpLabel\nOpSelectionMerge %out None\nOpSwitch %zero %out");
    (0..cases).for_each(|i| write!(body, " {i} %c{i}").unwrap());
    (0..cases).for_each(|i| write!(body, "\n%c{i} = OpLabel\nOpBranch %out").unwrap());
    body += "\n%out = OpLabel\n";
    (0..n).for_each(|i| writeln!(body, "%p{i} = OpPhi %int %zero %c{}", i % cases).unwrap());
    texts.push(("phis", function(body + "OpReturn\n")));
    // A function of many parameters.
    let (mut list, mut body) = (String::new(), String::new());
    (0..n.min(60_000)).for_each(|i| {
        list += " %int";
        writeln!(body, "%a{i} = OpFunctionParameter %int").unwrap();
    });
    let text = format!(
        "{HEAD}{TYPES}%many = OpTypeFunction %void{list}\n%main = OpFunction %void None %many\n{body}%b = OpLabel\nOpReturn\nOpFunctionEnd\n"
    );
    texts.push(("parameters", text));
    // Entry points and modes, each with its own.
    let mut text = String::from("OpCapability Shader\nOpMemoryModel Logical GLSL450\n");
    (0..n).for_each(|i| writeln!(text, "OpEntryPoint GLCompute %main \"e{i}\"").unwrap());
    (0..n).for_each(|_| writeln!(text, "OpExecutionMode %main LocalSize 1 1 1").unwrap());
    texts.push((
        "entries",
        text + TYPES + "%main = OpFunction %void None %fn\n%b = OpLabel\nOpReturn\nOpFunctionEnd\n",
    ));
    // Names that collide, and names equal to other ids' numbers.
    let mut text = String::from(HEAD);
    (0..n).for_each(|i| {
        writeln!(
            text,
            "OpName %v{i} \"{}\"",
            if i % 2 == 0 { "x".into() } else { i.to_string() }
        )
        .unwrap()
    });
    text += TYPES;
    (0..n).for_each(|i| writeln!(text, "%v{i} = OpUndef %int").unwrap());
    texts.push(("names", text));
    // A long name with many uses: the text would be many thousand times the module's size.
    let mut text = format!("{HEAD}OpName %int \"{}\"\n{TYPES}", "n".repeat(200_000));
    (0..n).for_each(|i| writeln!(text, "%v{i} = OpUndef %int").unwrap());
    texts.push(("long name", text));
    texts.push(("nested types", nested(n / 64)));
    texts.push(("wide blocks", wide(n / 8)));
    // Imports of instruction sets.
    let mut text = String::from("OpCapability Shader\nOpCapability Linkage\n");
    (0..n).for_each(|i| writeln!(text, "%s{i} = OpExtInstImport \"NonSemantic.{i}\"").unwrap());
    text += "OpMemoryModel Logical GLSL450\n";
    text += TYPES;
    (0..n).for_each(|i| writeln!(text, "%e{i} = OpExtInst %void %s{i} 1").unwrap());
    texts.push(("imports", text));
    let mut all: Vec<_> = texts
        .into_iter()
        .map(|(name, text)| {
            (
                name,
                asm::assemble(Grammar::builtin(), &text, asm::Options::default()).expect(name),
            )
        })
        .collect();
    // Instructions of one word, and ids far apart under a huge bound.
    let mut nops = vec![MAGIC, 0x10500, 0, 1, 0];
    nops.resize(n * 8, 1 << 16);
    all.push(("nops", nops));
    let mut stray = vec![MAGIC, 0x10500, 0, u32::MAX, 0];
    (0..n as u32).for_each(|i| stray.extend([3 << 16 | 22, u32::MAX - 1 - i * 977, 32]));
    all.push(("stray ids", stray));
    all
}

/// Structs of four members, each of the previous struct, thirty deep: 4^30 paths to a scalar. Each block has its own.
fn nested(blocks: usize) -> String {
    const DEEP: usize = 30;
    let (mut decorations, mut types) = (String::new(), String::new());
    for block in 0..blocks {
        let name = |level: usize| format!("%s{block}_{level}");
        writeln!(types, "{} = OpTypeStruct %float %float %float %float", name(0)).unwrap();
        for level in 0..DEEP {
            for member in 0..4u32 {
                let offset = (member << (2 * level.min(13))) * 4;
                writeln!(decorations, "OpMemberDecorate {} {member} Offset {offset}", name(level)).unwrap();
            }
            if level > 0 {
                let inner = name(level - 1);
                writeln!(types, "{} = OpTypeStruct {inner} {inner} {inner} {inner}", name(level)).unwrap();
            }
        }
        let top = name(DEEP - 1);
        writeln!(
            decorations,
            "OpDecorate {top} Block\nOpDecorate %v{block} DescriptorSet 0\nOpDecorate %v{block} Binding {block}"
        )
        .unwrap();
        writeln!(
            types,
            "%p{block} = OpTypePointer StorageBuffer {top}\n%v{block} = OpVariable %p{block} StorageBuffer"
        )
        .unwrap();
    }
    module_of(&decorations, &types)
}

/// A block of many members, and as many variables of it.
fn wide(members: usize) -> String {
    let mut decorations = String::from("OpDecorate %array ArrayStride 16\nOpDecorate %block Block\n");
    let mut types =
        String::from("%eight = OpConstant %int 8\n%array = OpTypeArray %float %eight\n%block = OpTypeStruct");
    for member in 0..members {
        writeln!(decorations, "OpMemberDecorate %block {member} Offset {}", member * 128).unwrap();
        types += " %array";
    }
    types += "\n%to = OpTypePointer StorageBuffer %block\n";
    for variable in 0..members {
        writeln!(
            decorations,
            "OpDecorate %v{variable} DescriptorSet 0\nOpDecorate %v{variable} Binding {variable}"
        )
        .unwrap();
        writeln!(types, "%v{variable} = OpVariable %to StorageBuffer").unwrap();
    }
    module_of(&decorations, &types)
}

fn module_of(decorations: &str, types: &str) -> String {
    let head = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n";
    format!(
        "{head}{decorations}{TYPES}{types}%main = OpFunction %void None %fn\n%b = OpLabel\nOpReturn\nOpFunctionEnd\n"
    )
}

/// Reflection of blocks: their fields, and the number of components of a storage class.
fn tell_fields(words: &[u32]) {
    let index = ModuleIndex::new(words).unwrap();
    // As many as a shader has slots.
    let some = index.globals().take(32);
    let fields = some.filter_map(|v| block::fields_of(&index, v.pointee));
    let fields: usize = fields.map(|f| f.len()).sum();
    let components = block::components(&index, class::STORAGE_BUFFER, false);
    println!("{fields} fields, {components} components");
}

const ASKED: &str = "SKRYMIR_BOUNDS";

/// One operation on one file, in its own process; prints its seconds and the process' peak memory in bytes.
#[test]
fn child() {
    let Ok(asked) = std::env::var(ASKED) else { return };
    let (verb, file) = asked.split_once(' ').unwrap();
    let (bytes, grammar) = (std::fs::read(file).unwrap(), Grammar::builtin());
    let words = || to_words(&bytes).unwrap();
    let start = Instant::now();
    match verb {
        "walk" => drop(Bytes::new(&bytes).map(|b| b.instructions().count())),
        "check" => {
            let report = validate(&words());
            println!("{:?}", report.diagnostics.first().map(|d| d.to_string()));
        }
        "vulkan" => drop(validate_for(grammar, &words(), TargetEnv::named("vulkan1.3").unwrap())),
        "fields" => tell_fields(&words()),
        "dis" => drop(dis::disassemble(grammar, &words(), dis::Options::default())),
        _ => drop(split_samplers(&words())),
    }
    let time = busy().unwrap_or_else(|| start.elapsed().as_secs_f64());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
    println!("\nbounds {time} {}", peak.map_or(f64::NAN, |peak| peak * 1024.0));
}

/// CPU seconds of this process, if the system reports them: other processes do not count.
fn busy() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name, which may contain anything, fields 12 and 13 are user and system time in hundredths.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: f64 = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

/// Seconds, and peak memory of the process in bytes; NaN if the system does not report it.
fn measured(verb: &str, file: &Path) -> (f64, f64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "spirv::bounds::child", "--nocapture"])
        .env(ASKED, format!("{verb} {}", file.display()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("bounds "));
    let (time, peak) = line
        .unwrap_or_else(|| panic!("{verb}: {text}"))
        .split_once(' ')
        .unwrap();
    (time.parse().unwrap(), peak.parse().unwrap())
}

#[test]
fn large_modules_take_linear_time_and_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.spv");
    let write = |words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(&file, bytes).unwrap();
    };
    write(&[MAGIC, 0x10500, 0, 1, 0]);
    // Memory of the process and the grammar's tables.
    let (_, base) = measured("check", &file);
    for (name, words) in modules(150_000) {
        write(&words);
        let size = words.len() as f64 * 4.0;
        for verb in ["walk", "check", "vulkan", "fields", "dis", "split"] {
            let (time, peak) = measured(verb, &file);
            let times = (peak - base) / size;
            println!(
                "{name:12} {:5.1} MB {verb:6} {time:7.4} s, memory {times:5.1} times the file",
                size / 1e6
            );
            // A rule that is quadratic in any of these takes more than ten thousand million steps.
            assert!(time < 8.0, "{name}: {verb} took {time} s");
            // The file is in memory too, and all but the walk also have its words.
            let most = match (verb, name) {
                ("walk", _) => 1.5,
                // Printing stops when the text is 64 times the module; the buffer may be twice that.
                ("dis", "long name") => 200.0,
                _ => 24.0,
            };
            assert!(
                times.is_nan() || times < most,
                "{name}: {verb} took {times} times the module"
            );
        }
    }
}
