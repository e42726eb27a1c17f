//! Small files of exponential size and large ones of every construct take time and memory that follow their size: four
//! times the construct takes at most eight times as long and as much memory, whatever the machine. The processor's time
//! of this thread counts, so that other work on the machine does not.

use peak_alloc::PeakAlloc;
use skrymir_loader::mbs::{self, Mbs, Program, Symbol, SymbolType};
use skrymir_loader::sksl::{self, Operator, ProgramKind, Statement};
use skrymir_loader::sl;
use skrymir_loader::spirv::{self, Grammar, ModuleIndex, TargetEnv, block, class, dis, work::Work};
use skrymir_loader::trace::{Pipe, Record, Trace};
use skrymir_loader::vbc::{self, BaseType, Model, UniformMember, UniformModel, Variable};
use std::fmt::Write;

/// What reads a file.
type Verb = (&'static str, fn(&[u8]));

/// A construct, its size, and what makes a file of that size.
type Files = (&'static str, usize, fn(usize) -> Vec<u8>);

/// Verbs and constructs of a format.
struct Format {
    name: &'static str,
    verbs: &'static [Verb],
    constructs: &'static [Files],
}

/// What reads a module.
type ModuleVerb = (&'static str, fn(&[u32]));

const MODULE_VERBS: [ModuleVerb; 7] = [
    ("check", |words| drop(spirv::validate(words))),
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

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// The least seconds that reading takes in two tries, and the most kilobytes that it allocates at a time.
fn measured(read: &dyn Fn()) -> (f64, u64) {
    let tries = (0..2).map(|_| {
        ALLOCATED.reset_peak_usage();
        let (before, allocated) = (busy().unwrap_or_default(), ALLOCATED.current_usage());
        read();
        let seconds = busy().unwrap_or_default() - before;
        (seconds, ALLOCATED.peak_usage().saturating_sub(allocated) as u64 >> 10)
    });
    tries.fold((f64::INFINITY, 0), |all, one| (all.0.min(one.0), all.1.max(one.1)))
}

/// Kilobytes that a megabyte of input may take, beside what any input takes.
const MEMORY: [u64; 2] = [64 << 10, 4 << 10];

/// Compares a construct at a quarter of its size with all of it; returns the table's cell, and what is wrong.
fn judged(bytes: usize, part: &dyn Fn(), whole: &dyn Fn()) -> (String, Option<String>) {
    let ((part, less), (whole, more)) = (measured(part), measured(whole));
    let cell = format!("{part:.2}/{whole:.2} {}M", more >> 10);
    // What a clock of hundredths, the grammar's tables and caches add.
    let is_slow = whole > 0.2 + 8.0 * part;
    let is_large = more > MEMORY[1] + 8 * less || more > MEMORY[1] + MEMORY[0] * bytes as u64 / (1 << 20);
    let wrong = format!("{part} s and {less} KiB at a quarter, {whole} s and {more} KiB for all {bytes} bytes");
    (cell, (is_slow || is_large).then_some(wrong))
}

#[test]
fn time_and_memory_follow_size() {
    if busy().is_none() {
        println!("this system does not report thread time: not measured");
        return;
    }
    modules_with_too_many_paths_are_detected();
    let mut wrong = Vec::new();
    println!("seconds at a quarter of the size and at all of it, megabytes at all of it");
    println!("SPIR-V: {}", MODULE_VERBS.map(|verb| verb.0).join(", "));
    for (name, size, make) in CONSTRUCTS {
        let (part, whole) = (make(size / 4), make(size));
        let cells = MODULE_VERBS.map(|(verb, read)| {
            let (cell, found) = judged(whole.len() * 4, &|| read(&part), &|| read(&whole));
            wrong.extend(found.map(|found| format!("{name}, {verb}: {found}")));
            cell
        });
        println!("{name:22} {size:8} {:9}  {}", whole.len() * 4, cells.join(", "));
    }
    for format in &FORMATS {
        let verbs: Vec<&str> = format.verbs.iter().map(|verb| verb.0).collect();
        println!("{}: {}", format.name, verbs.join(", "));
        for (name, size, make) in format.constructs {
            let (part, whole) = (make(size / 4), make(*size));
            let cells = format.verbs.iter().map(|(verb, read)| {
                let (cell, found) = judged(whole.len(), &|| read(&part), &|| read(&whole));
                wrong.extend(found.map(|found| format!("{}, {name}, {verb}: {found}", format.name)));
                cell
            });
            let cells: Vec<String> = cells.collect();
            println!("{name:22} {size:8} {:9}  {}", whole.len(), cells.join(", "));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The formats besides SPIR-V.
const FORMATS: [Format; 5] = [
    Format {
        name: "VBC",
        verbs: &[
            ("check", |bytes| drop(vbc::check(bytes))),
            ("summary", |bytes| {
                let file = vbc::read(bytes).expect("a VBC");
                drop(vbc::summary(&file).map(|summary| summary.to_string()));
            }),
            ("rewrite", |bytes| {
                let file = vbc::read(bytes).expect("a VBC");
                drop(vbc::write(&file.to_model()));
            }),
            ("needs", |bytes| {
                drop(vbc::requirements(&vbc::read(bytes).expect("a VBC")));
            }),
        ],
        constructs: &[
            ("members", 16_000, |n| {
                let members = (0..n).map(|at| UniformMember {
                    name: format!("m{at}").into_bytes(),
                    offset: 4 * at as u32,
                    base: BaseType::FLOAT,
                    dims: [1, 1],
                    array: 1,
                });
                let uniform = UniformModel {
                    size: 4 * n as u32,
                    members: members.collect(),
                    ..UniformModel::default()
                };
                let model = Model {
                    uniform: Some(uniform),
                    ..Model::default()
                };
                vbc::write(&model).expect("members fit")
            }),
            ("inputs", 200, |n| {
                let inputs = (0..n).map(|at| Variable {
                    location: at as u8,
                    base: BaseType::FLOAT,
                    dims: [4, 1],
                    array: 1,
                });
                let model = Model {
                    inputs: inputs.collect(),
                    ..Model::default()
                };
                vbc::write(&model).expect("inputs fit")
            }),
            ("stages", 12_000, |n| {
                let code = module(
                    "",
                    "",
                    "",
                    &format!(
                        "%x0 = OpFAdd %float %one %one\n{}",
                        lines(n, |n| format!("%x{} = OpFAdd %float %x{n} %x{n}", n + 1))
                    ),
                );
                let model = Model {
                    code: [code.clone(), code.clone(), vec![], vec![], vec![]],
                    ..Model::default()
                };
                vbc::write(&model).expect("stages fit")
            }),
        ],
    },
    Format {
        name: "MBS",
        verbs: &[
            ("check", |bytes| drop(mbs::check(bytes))),
            ("programs", |bytes| {
                drop(mbs::read(bytes).expect("an MBS").programs());
            }),
            ("summary", |bytes| {
                drop(mbs::summary(&mbs::read(bytes).expect("an MBS")))
            }),
            ("rewrite", |bytes| {
                drop(mbs::write(&mbs::read(bytes).expect("an MBS")).unwrap());
            }),
        ],
        constructs: &[
            ("nested chunks", 40_000, |n| {
                let mut bytes = Vec::new();
                for at in (0..n).rev() {
                    bytes.extend_from_slice(b"MBS1");
                    bytes.extend_from_slice(&(8 * at as u32).to_le_bytes());
                }
                bytes
            }),
            ("chunks in a row", 60_000, |n| {
                let mut bytes = [&b"MBS1"[..], &(12 * n as u32).to_le_bytes()].concat();
                for at in 0..n as u32 {
                    bytes.extend_from_slice(b"DBIN");
                    bytes.extend_from_slice(&4u32.to_le_bytes());
                    bytes.extend_from_slice(&at.to_le_bytes());
                }
                bytes
            }),
            ("symbols", 10_000, |n| {
                symbols(n, SymbolType::FLOAT, |at| (at as u16, mbs::NO_PARENT))
            }),
            ("symbols in symbols", 10_000, |n| {
                let parent = |at: usize| at.checked_sub(1).map_or(mbs::NO_PARENT, |at| at as u16);
                symbols(n, SymbolType::STRUCT, |at| (0, parent(at)))
            }),
        ],
    },
    Format {
        name: "SkSL",
        verbs: &[
            ("check", |bytes| drop(sksl::check(bytes))),
            ("print", |bytes| {
                let _ = sksl::read(bytes).map(|tree| sksl::print(&tree).unwrap());
            }),
            ("summary", |bytes| {
                let _ = sksl::read(bytes).and_then(|tree| Ok(sksl::summary(&tree)?.to_string()));
            }),
            ("rewrite", |bytes| {
                let _ = sksl::read(bytes).map(|tree| sksl::write(&tree));
            }),
            ("tree", |bytes| drop(sksl::to_tree_text(bytes))),
        ],
        constructs: &[
            ("nested sums", 380, |n| {
                program(|b| {
                    let mut sum = b.float("float", 1.0);
                    for _ in 0..n {
                        let one = b.float("float", 1.0);
                        sum = b.binary(one, Operator::PLUS, sum);
                    }
                    let (_, declared) = b.local("float", "x", Some(sum));
                    vec![declared]
                })
            }),
            ("nested blocks", 380, |n| {
                program(|b| {
                    let mut block = b.block(&[]);
                    for _ in 0..n {
                        block = b.block(&[block]);
                    }
                    vec![block]
                })
            }),
            ("statements", 20_000, |n| {
                program(|b| {
                    let (x, declared) = b.local("float", "x", None);
                    let mut all = vec![declared];
                    for _ in 0..n {
                        let (left, right) = (b.read(x), b.float("float", 2.0));
                        let product = b.binary(left, Operator::STAR, right);
                        all.push(b.assign(x, product));
                    }
                    let mut blocks = Vec::new();
                    // A block holds at most 255 statements.
                    for some in all.chunks(200) {
                        let statements = b.block(some);
                        blocks.push(statements);
                    }
                    while blocks.len() > 200 {
                        let outer: Vec<_> = blocks.chunks(200).map(<[_]>::to_vec).collect();
                        blocks = outer.iter().map(|some| b.block(some)).collect();
                    }
                    blocks
                })
            }),
        ],
    },
    Format {
        name: "SL",
        verbs: &[
            ("check", |bytes| drop(sl::check(bytes))),
            ("print", |bytes| {
                drop(sl::print(&sl::read(bytes).expect("a library")).unwrap());
            }),
            ("parse", |bytes| {
                let text = sl::print(&sl::read(bytes).expect("a library")).unwrap();
                drop(sl::parse_in(&text, "a.s0").expect("its text"));
            }),
            ("rewrite", |bytes| {
                drop(sl::write(&sl::canonical(&sl::read(bytes).expect("a library"))));
            }),
        ],
        constructs: &[
            ("statements", 6_000, |n| {
                let renames = lines(n, |at| format!("x{} = rename x{at};", at + 1));
                library(&format!(
                    "main: containing () receiving (x0) {{\n{renames}-> x{n} succeed ();\n}}\n"
                ))
            }),
            ("blocks", 6_000, |n| {
                library(&lines(n, |at| {
                    let next = (at + 1) % n;
                    format!(
                        "b{at}: containing () receiving (f) {{ c = closure containing () -> b{next}; -> c go (f); }}"
                    )
                }))
            }),
            ("names", 6_000, |n| {
                let names: Vec<String> = (0..n).map(|at| format!("n{at}")).collect();
                let names = names.join(", ");
                library(&format!(
                    "main: containing ({names}) receiving (f) {{ -> f go ({names}); }}\n"
                ))
            }),
        ],
    },
    Format {
        name: "recording",
        verbs: &[("rewrite", |bytes| {
            drop(Trace::read(bytes).expect("a recording").write());
        })],
        constructs: &[
            ("buffers", 60_000, |n| {
                trace((0..n).map(|at| Record::Buffer {
                    address: 4096 * at as u32,
                    size: 4096,
                    flags: 0,
                }))
            }),
            ("jobs", 20_000, |n| {
                trace((0..n).map(|_| Record::Submit {
                    pipe: Pipe::Gp,
                    frame: vec![0; 6],
                    objects: vec![(0, 3); 8],
                }))
            }),
        ],
    },
];

/// An MBS with a program that has `n` uniforms, each with the offset and the parent of its number.
fn symbols(n: usize, kind: SymbolType, place: impl Fn(usize) -> (u16, u16)) -> Vec<u8> {
    let symbol = |at: usize| {
        let (offset, parent) = place(at);
        Symbol {
            name: format!("u{at}").into_bytes(),
            unknown: 0,
            kind,
            components: 1,
            size: 1,
            entries: 0,
            stride: 1,
            flags: 16,
            precision: 3,
            invariant: 0,
            offset,
            parent,
            index: None,
            initial: None,
        }
    };
    let mut program = Program::new(mbs::Stage::Fragment, vec![0; 4]);
    program.uniforms = Some((0..n).map(symbol).collect());
    mbs::write(&Mbs::of(&[program])).unwrap()
}

/// A program of Skia's with one function of these statements.
fn program(statements: impl Fn(&mut sksl::Builder) -> Vec<sksl::Handle<Statement>>) -> Vec<u8> {
    let mut builder = sksl::Builder::new(ProgramKind::FRAGMENT);
    let main = builder.function("void", "main", &[]);
    let body = statements(&mut builder);
    let tree = builder.define(main, &body).finish();
    sksl::write(&tree).expect("a program")
}

/// A library of one module with these blocks.
fn library(blocks: &str) -> Vec<u8> {
    let text = format!("module a {{\n{blocks}}}\n");
    sl::write(&sl::parse_in(&text, "a.s0").unwrap_or_else(|error| panic!("{error}"))).expect("a library")
}

/// A recording of these records.
fn trace(records: impl Iterator<Item = Record<'static>>) -> Vec<u8> {
    let records = records.map(|record| (0, record)).collect();
    Trace {
        gpu: 1,
        pps: 1,
        records,
    }
    .write()
}

/// The measure of what readers by path have to do tells these modules from others.
fn modules_with_too_many_paths_are_detected() {
    let (_, size, make) = CONSTRUCTS[0];
    let words = make(size);
    let work = Work::of(&ModuleIndex::new(&words).expect("a module"));
    assert!(work.members > 1 << 59 && work.beyond(u64::MAX).is_some());
    let (_, _, calls) = CONSTRUCTS[5];
    let work = Work::of(&ModuleIndex::new(&calls(12_000)).expect("a module"));
    assert_eq!((work.calls, work.beyond(1 << 24).is_some()), (12_001 * 12_000, true));
}
