//! SPIR-V modules for tests and benches, and the reference tools as processes.

use skrymir::loader::vbc;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A module with the source it is made from.
#[derive(Clone)]
pub(crate) struct Sample {
    pub name: String,
    pub words: Vec<u32>,
}

pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Whether a program is installed and runs.
pub(crate) fn installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

pub(crate) fn tool(program: &str, args: &[&str], files: &[&Path]) -> Output {
    Command::new(program)
        .args(args)
        .args(files)
        .output()
        .unwrap_or_else(|e| panic!("{program}: {e}"))
}

/// Runs `work` over all items, two at a time.
pub(crate) fn in_pairs<T: Sync>(items: &[T], work: impl Fn(usize, &T) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    work(at, item);
                }
            });
        }
    });
}

/// Stages of every VBC file of the corpus.
pub(crate) fn stages(corpus: &Path) -> Vec<Sample> {
    let mut found = Vec::new();
    for path in crate::common::files(corpus, "vbc") {
        let bytes = std::fs::read(&path).expect("a readable file");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Ok(file) = vbc::read(&bytes) else { continue };
        for stage in vbc::Stage::ALL {
            if let Some(code) = file.code(stage) {
                found.push(Sample {
                    name: format!("{name} {stage}"),
                    words: code.words(),
                });
            }
        }
    }
    found
}

/// Our own sources, compiled: GLSL by glslang for several targets, WGSL by naga, assembly by our assembler.
pub(crate) fn compiled(folder: &Path) -> Vec<Sample> {
    let data = crate::common::data("spirv");
    let mut jobs: Vec<(PathBuf, &[&str])> = Vec::new();
    let targets: [&[&str]; 9] = [
        &["--target-env", "vulkan1.0"],
        &["--target-env", "vulkan1.1"],
        &["--target-env", "vulkan1.2"],
        &["--target-env", "vulkan1.3"],
        &["--target-env", "spirv1.4"],
        &["--target-env", "vulkan1.0", "-g"],
        &["--target-env", "vulkan1.1", "-g"],
        &["--target-env", "vulkan1.3", "-g0"],
        &["--target-env", "vulkan1.3", "-gVS"],
    ];
    if installed("glslangValidator") {
        for ext in ["vert", "frag", "comp", "tesc", "tese", "geom"] {
            for path in crate::common::files(&data, ext) {
                jobs.extend(targets.iter().map(|target| (path.clone(), *target)));
            }
        }
    }
    let found = std::sync::Mutex::new(Vec::new());
    in_pairs(&jobs, |at, (path, target)| {
        let out = folder.join(format!("glsl{at}.spv"));
        let args: Vec<&str> = ["-V"].iter().chain(target.iter()).copied().collect();
        tool("glslangValidator", &args, &[path, Path::new("-o"), &out]);
        // Some sources need a newer target than others: those pairs yield no module.
        if let Ok(bytes) = std::fs::read(&out) {
            let name = format!(
                "{} {}",
                path.file_name().unwrap_or_default().to_string_lossy(),
                target[1..].join(" ")
            );
            let words = loader_words(&bytes);
            found.lock().unwrap().push((at, Sample { name, words }));
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by_key(|row| row.0);
    let mut all: Vec<Sample> = found.into_iter().map(|row| row.1).collect();
    all.extend(by_naga(&data));
    for path in crate::common::files(&data, "spvasm") {
        let text = std::fs::read_to_string(&path).expect("text");
        let words = skrymir::loader::spirv::asm::assemble(grammar(), &text, Default::default())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        all.push(Sample {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            words,
        });
    }
    all
}

pub(crate) fn grammar() -> &'static skrymir::loader::spirv::Grammar {
    skrymir::loader::spirv::Grammar::builtin()
}

fn loader_words(bytes: &[u8]) -> Vec<u32> {
    skrymir::loader::spirv::to_words(bytes).expect("a module")
}

fn by_naga(data: &Path) -> Vec<Sample> {
    use naga::back::spv::{Options, WriterFlags, write_vec};
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let mut all = Vec::new();
    for path in crate::common::files(data, "wgsl") {
        let text = std::fs::read_to_string(&path).expect("text");
        let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|e| panic!("{}", e.emit_to_string(&text)));
        let info = Validator::new(ValidationFlags::all(), Capabilities::all())
            .validate(&module)
            .expect("valid WGSL");
        for (version, flags) in [
            ((1, 0), WriterFlags::empty()),
            ((1, 3), WriterFlags::DEBUG),
            ((1, 5), WriterFlags::ADJUST_COORDINATE_SPACE),
        ] {
            let options = Options {
                lang_version: version,
                flags,
                ..Options::default()
            };
            let words = write_vec(&module, &info, &options, None).expect("SPIR-V");
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            all.push(Sample {
                name: format!("{name} {version:?}"),
                words,
            });
        }
    }
    all
}
