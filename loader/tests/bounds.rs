//! Small modules of exponential size and large ones of every construct take time that follows their size: four times
//! the construct takes at most eight times as long, whatever the machine. The processor's time of this thread counts, so
//! that other work on the machine does not.

use skrymir_loader::spirv::{self, Grammar, ModuleIndex, TargetEnv, block, class, dis, work::Work};
use std::fmt::Write;

/// What reads a module.
type Verb = (&'static str, fn(&[u32]));

const VERBS: [Verb; 7] = [
    ("check", |words| drop(spirv::validate(Grammar::builtin(), words))),
    ("vulkan", |words| {
        let env = TargetEnv::named("vulkan1.3").expect("a known environment");
        drop(spirv::validate_for(Grammar::builtin(), words, env));
    }),
    ("dis", |words| {
        drop(dis::disassemble(Grammar::builtin(), words, dis::Options::default()))
    }),
    ("summary", |words| drop(spirv::summary(words))),
    ("split", |words| drop(spirv::split_samplers(words))),
    ("blocks", |words| {
        if let Ok(index) = ModuleIndex::new(words) {
            let some: Vec<u32> = index.globals().take(8).map(|variable| variable.pointee).collect();
            some.iter().for_each(|ty| drop(block::fields_of(&index, *ty)));
            block::components(&index, class::STORAGE_BUFFER, false);
        }
    }),
    ("work", |words| {
        if let Ok(index) = ModuleIndex::new(words) {
            Work::of(&index);
        }
    }),
];

const HEAD: &str = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                    OpExecutionMode %main LocalSize 1 1 1\n";
const TYPES: &str = "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n%uint = OpTypeInt 32 0\n\
                     %one = OpConstant %float 1\n%two = OpConstant %uint 2\n";

fn module(decorations: &str, declarations: &str, before: &str, body: &str) -> Vec<u32> {
    let text = format!(
        "{HEAD}{decorations}{TYPES}{declarations}{before}%main = OpFunction %void None %fn\n%begin = OpLabel\n{body}OpReturn\n\
         OpFunctionEnd\n"
    );
    spirv::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// A line for each number.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", line(n));
        text
    })
}

/// A construct of a size.
type Construct = (&'static str, usize, fn(usize) -> Vec<u32>);

const CONSTRUCTS: [Construct; 10] = [
    ("structs, doubling", 60, |n| {
        let offsets = lines(n, |n| {
            format!(
                "OpMemberDecorate %s{} 0 Offset 0\nOpMemberDecorate %s{} 1 Offset 4",
                n + 1,
                n + 1
            )
        });
        let decorations =
            format!("{offsets}OpDecorate %s{n} Block\nOpDecorate %v DescriptorSet 0\nOpDecorate %v Binding 0\n");
        let structs = lines(n, |n| format!("%s{} = OpTypeStruct %s{n} %s{n}", n + 1));
        let variable = format!("%to = OpTypePointer StorageBuffer %s{n}\n%v = OpVariable %to StorageBuffer\n");
        module(
            &decorations,
            &format!("%s0 = OpTypeStruct %float\n{structs}{variable}"),
            "",
            "",
        )
    }),
    ("arrays, doubling", 60, |n| {
        let arrays = lines(n, |n| format!("%a{} = OpTypeArray %a{n} %two", n + 1));
        let variable = format!("%to = OpTypePointer Private %a{n}\n%v = OpVariable %to Private\n");
        module("", &format!("%a0 = OpTypeStruct %float\n{arrays}{variable}"), "", "")
    }),
    ("constants, doubling", 60, |n| {
        let types = lines(n, |n| format!("%s{} = OpTypeStruct %s{n} %s{n}", n + 1));
        let constants = lines(n, |n| {
            format!("%c{} = OpConstantComposite %s{} %c{n} %c{n}", n + 1, n + 1)
        });
        let first = "%s0 = OpTypeStruct %float\n";
        module(
            "",
            &format!("{first}{types}%c0 = OpConstantComposite %s0 %one\n{constants}"),
            "",
            "",
        )
    }),
    ("calls, doubling", 60, |n| {
        let functions = lines(n, |n| {
            let call = |k: usize| match n {
                0 => String::new(),
                _ => format!("%r{n}_{k} = OpFunctionCall %void %f{}\n", n - 1),
            };
            let (a, b) = (call(0), call(1));
            format!("%f{n} = OpFunction %void None %fn\n%l{n} = OpLabel\n{a}{b}OpReturn\nOpFunctionEnd")
        });
        let call = format!("%r = OpFunctionCall %void %f{}\n", n - 1);
        module("", "", &functions, &call)
    }),
    ("chain of sums", 60_000, |n| {
        let sums = lines(n, |n| format!("%x{} = OpFAdd %float %x{n} %x{n}", n + 1));
        module("", "", "", &format!("%x0 = OpFAdd %float %one %one\n{sums}"))
    }),
    ("chain of calls", 12_000, |n| {
        let functions = lines(n, |n| {
            let call = match n {
                0 => String::new(),
                _ => format!("%r{n} = OpFunctionCall %void %f{}\n", n - 1),
            };
            format!("%f{n} = OpFunction %void None %fn\n%l{n} = OpLabel\n{call}OpReturn\nOpFunctionEnd")
        });
        module("", "", &functions, &format!("%r = OpFunctionCall %void %f{}\n", n - 1))
    }),
    ("chain of pointers", 40_000, |n| {
        let copies = lines(n, |n| format!("%p{} = OpCopyObject %to %p{n}", n + 1));
        let body = format!("%p0 = OpVariable %to Function\n{copies}OpStore %p{n} %one\n");
        module("", "%to = OpTypePointer Function %float\n", "", &body)
    }),
    ("fan of calls", 12_000, |n| {
        let functions = lines(n, |n| {
            format!("%f{n} = OpFunction %void None %fn\n%l{n} = OpLabel\nOpReturn\nOpFunctionEnd")
        });
        let calls = lines(n, |n| format!("%r{n} = OpFunctionCall %void %f{n}"));
        module("", "", &functions, &calls)
    }),
    ("blocks in a row", 30_000, |n| {
        let blocks = lines(n, |n| format!("OpBranch %b{n}\n%b{n} = OpLabel"));
        module("", "", "", &blocks)
    }),
    ("wide switch", 16_000, |n| {
        let cases: String = (0..n).map(|n| format!(" {n} %c{n}")).collect();
        let blocks = lines(n, |n| format!("%c{n} = OpLabel\nOpBranch %end"));
        module(
            "",
            "",
            "",
            &format!("OpSelectionMerge %end None\nOpSwitch %two %end{cases}\n{blocks}%end = OpLabel\n"),
        )
    }),
];

/// Seconds that this thread has kept a processor busy, if the system reports them.
fn busy() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    // Behind the name, which may hold anything, the 12th and 13th are user's and system's hundredths.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks: f64 = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

/// The least seconds that reading takes in three tries.
fn seconds(read: fn(&[u32]), words: &[u32]) -> f64 {
    let tries = (0..3).map(|_| {
        let before = busy().unwrap_or_default();
        read(words);
        busy().unwrap_or_default() - before
    });
    tries.fold(f64::INFINITY, f64::min)
}

#[test]
fn time_follows_size() {
    if busy().is_none() {
        println!("this system does not report thread time: not measured");
        return;
    }
    let mut wrong = Vec::new();
    println!(
        "{:22} {:>8} {:>9}  seconds at a quarter of the size and at all of it, of {}",
        "SPIR-V",
        "size",
        "bytes",
        VERBS.map(|verb| verb.0).join(", ")
    );
    for (name, size, make) in CONSTRUCTS {
        let (part, whole) = (make(size / 4), make(size));
        let times = VERBS.map(|(verb, read)| {
            let (part, whole) = (seconds(read, &part), seconds(read, &whole));
            // What a clock of hundredths, the grammar's tables and caches add.
            if whole > 0.2 + 8.0 * part {
                wrong.push(format!("{name}, {verb}: {part} s at a quarter, {whole} s for all"));
            }
            format!("{part:.2}/{whole:.2}")
        });
        println!("{name:22} {size:8} {:9}  {}", whole.len() * 4, times.join(" "));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The measure of what readers by path have to do tells these modules from others.
#[test]
fn modules_with_too_many_paths_are_detected() {
    let (_, size, make) = CONSTRUCTS[0];
    let words = make(size);
    let work = Work::of(&ModuleIndex::new(&words).expect("a module"));
    assert!(work.members > 1 << 59 && work.beyond(u64::MAX).is_some());
    let (_, _, calls) = CONSTRUCTS[5];
    let work = Work::of(&ModuleIndex::new(&calls(12_000)).expect("a module"));
    assert_eq!((work.calls, work.beyond(1 << 24).is_some()), (12_001 * 12_000, true));
}
