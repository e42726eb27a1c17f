//! The C++ example, built as its README says: its picture equals the library's, and it leaks nothing.
#![allow(missing_docs)]

use scene::{Scene, harness, picture};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of cargo's shared library.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").to_owned()
}

/// Runs a program; `None` if it is not installed, which is a failure with `SKRYMIR_NEED_CAPI` set.
fn run(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Option<Output> {
    let program = program.as_ref();
    match Command::new(program)
        .args(arguments)
        .env("LSAN_OPTIONS", "stack_trace_format='#%n %F (%m)'")
        .output()
    {
        Ok(output) => Some(output),
        Err(error) => {
            lacking(&format!("{}: {error}", program.display()));
            None
        }
    }
}

fn lacking(what: &str) {
    println!("skipped: {what}");
    assert!(std::env::var_os("SKRYMIR_NEED_CAPI").is_none(), "{what}");
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a compiler and Vulkan's headers are installed.
fn can_compile() -> bool {
    let headers = Path::new("/usr/include/vulkan/vulkan.h").exists();
    if !headers {
        lacking("Vulkan's headers (libvulkan-dev)");
    }
    headers && run("g++", &["--version"]).is_some()
}

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The C++ example, compiled.
fn compile(target: &Path, more: &[&str]) {
    compile_with("g++", "-std=c++17", "triangle.cpp", target, more);
}

/// An example, compiled.
fn compile_with(compiler: &str, language: &str, name: &str, target: &Path, more: &[&str]) {
    let include = folder().join("include");
    let source = folder().join("../../examples/capi").join(name);
    let libraries = libraries();
    let (include, source) = (include.to_str().unwrap(), source.to_str().unwrap());
    let (libraries, target) = (libraries.to_str().unwrap(), target.to_str().unwrap());
    let path = format!("-Wl,-rpath,{libraries}");
    let mut arguments = vec![language, "-O1", "-g", "-I", include, source];
    arguments.extend(WARNINGS);
    arguments.extend(["-o", target, "-L", libraries, "-lskrymir_capi", "-lvulkan", &path]);
    arguments.extend(more);
    let output = run(compiler, &arguments).expect("a compiler");
    assert!(output.status.success(), "{}", said(&output));
}

/// The pixels of a PPM picture of 256x256.
fn pixels(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    bytes.strip_prefix(b"P6\n256 256\n255\n").expect("a PPM").to_vec()
}

fn rgb(picture: &picture::Picture) -> Vec<u8> {
    picture
        .rgba
        .as_chunks::<4>()
        .0
        .iter()
        .flat_map(|p| [p[0], p[1], p[2]])
        .collect()
}

fn ours(bytes: &[u8]) -> Vec<u8> {
    ours_of(bytes, "")
}

/// What the library draws with a scene.
fn ours_of(bytes: &[u8], scene: &str) -> Vec<u8> {
    let context = vulkan::Context::new(&vulkan::Options::default()).expect("a Vulkan device");
    let scene = Scene::parse(scene, Path::new("")).unwrap();
    let drawn = harness::draw(&context, bytes, &scene).unwrap();
    rgb(&picture::Picture::of(&drawn.frame.targets[0]))
}

/// The picture of an example in C, with `tests/data/vbc/triangle.vbc`; its output names no validation message.
fn picture_of(program: &Path, more: &[&str]) -> Vec<u8> {
    let (file, picture) = (triangle_file(), program.with_extension("ppm"));
    let mut command = Command::new(program);
    command.arg(&file).arg(&picture).args(more);
    if Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json").exists() {
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
    }
    let output = command.output().expect("it runs");
    let words = said(&output);
    assert!(
        output.status.success() && !words.contains("VUID") && !words.contains("Validation"),
        "{words}"
    );
    pixels(&picture)
}

fn triangle_file() -> PathBuf {
    folder().join("../../tests/data/vbc/triangle.vbc")
}

/// The largest difference of two pictures.
fn worst(a: &[u8], b: &[u8]) -> u8 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

fn scratch(name: &str) -> PathBuf {
    let folder = libraries().join("capi");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn the_header_is_c_and_cpp() {
    if !can_compile() {
        return;
    }
    let source = scratch("header.c");
    std::fs::write(
        &source,
        "#include <skrymir.h>\nint main(void) { return skrymir_version() == 0; }\n",
    )
    .unwrap();
    let include = folder().join("include");
    for (compiler, language) in [("gcc", "-std=c99"), ("gcc", "-std=c11"), ("g++", "-std=c++11")] {
        let mut arguments = vec![language, "-fsyntax-only", "-I", include.to_str().unwrap()];
        arguments.extend(WARNINGS);
        let kind = if compiler == "g++" { "c++" } else { "c" };
        arguments.extend(["-x", kind, source.to_str().unwrap()]);
        let output = run(compiler, &arguments).expect("a compiler");
        assert!(output.status.success(), "{compiler} {language}: {}", said(&output));
    }
}

#[test]
fn the_example_draws_what_the_library_draws() {
    if !can_compile() {
        return;
    }
    let program = scratch("triangle");
    compile(&program, &[]);
    let triangle = scratch("triangle.vbc");
    std::fs::write(&triangle, scene::sample::triangle().unwrap()).unwrap();
    for file in [triangle, folder().join("tests/uniform.vbc")] {
        let picture = scratch("picture.ppm");
        let arguments = [file.to_str().unwrap(), picture.to_str().unwrap()];
        let output = run(&program, &arguments).unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let ours = ours(&std::fs::read(&file).unwrap());
        assert!(pixels(&picture) == ours, "{}: another picture", file.display());
        assert!(ours.iter().any(|byte| *byte > 100));
        // The control: a different triangle gives a different picture.
        let output = run(&program, &[arguments[0], arguments[1], "--turned"]).unwrap();
        assert!(output.status.success() && pixels(&picture) != ours, "{}", said(&output));
    }
    // A file that is not a shader is reported.
    let source = folder().join("Cargo.toml");
    let output = run(&program, &[source.to_str().unwrap(), "nothing.ppm"]).unwrap();
    assert!(
        !output.status.success() && said(&output).contains("load: vbc: "),
        "{}",
        said(&output)
    );
}

#[test]
fn draws_in_c_equal_the_librarys() {
    if !can_compile() {
        return;
    }
    let program = scratch("draw");
    compile_with("gcc", "-std=c99", "draw.c", &program, &[]);
    let scene = "samples = 4\nstencil = { front = { compare = \"equal\", pass = \"increment-and-clamp\" } }\n[inputs]\n\
                 0 = [[-0.8, -0.8], [0.4, 0], [-0.8, 0.8], [0.8, -0.8], [-0.4, 0], [0.8, 0.8]]\n\
                 1 = [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]\n";
    let file = std::fs::read(triangle_file()).unwrap();
    let drawn = picture_of(&program, &[]);
    assert!(drawn == ours_of(&file, scene), "another picture");
    let middle = (128 * 256 + 128) * 3;
    assert_eq!(drawn[middle..middle + 3], [255, 0, 0]);
    // The control: without the stencil the second triangle is in front.
    assert_eq!(picture_of(&program, &["--plain"])[middle..middle + 3], [0, 255, 0]);
}

#[test]
fn pipelines_in_c_draw_through_the_stencil() {
    if !can_compile() {
        return;
    }
    let program = scratch("pipelines");
    compile_with("gcc", "-std=c99", "pipelines.c", &program, &[]);
    // What is seen is linear, so the mask with the colours at its corners is the same picture.
    let scene = |samples: u32| {
        format!(
            "samples = {samples}\nclear = [0.1, 0.1, 0.1, 1]\n[inputs]\n0 = [[0, -0.8], [0.8, 0.8], [-0.8, 0.8]]\n\
             1 = [[0.4, 0.5, 0.1], [-0.8, 0.9, 0.9], [0, 0.1, 0.9]]"
        )
    };
    let file = std::fs::read(triangle_file()).unwrap();
    let drawn = picture_of(&program, &[]);
    assert!(worst(&drawn, &ours_of(&file, &scene(4))) <= 2);
    // The control: without samples the edges are others.
    assert!(worst(&drawn, &ours_of(&file, &scene(1))) > 20);
}

/// The leaks in a report that belong to the library or the example: allocations by them or by code compiled into them.
/// The driver keeps some until the process ends; those are in its own module, or in none once it is unloaded.
fn leaks(report: &str) -> Vec<&str> {
    let of_ours = |leak: &&str| {
        let caller = leak.lines().find(|line| line.trim_start().starts_with("#1 "));
        caller.is_some_and(|caller| caller.contains("libskrymir_capi.so") || caller.contains("capi/watched"))
    };
    let leaks = report.split("\n\n").filter(|part| part.contains(" leak of "));
    leaks.filter(of_ours).collect()
}

#[test]
fn nothing_leaks() {
    if !can_compile() {
        return;
    }
    let program = scratch("watched");
    compile(&program, &["-fsanitize=address", "-fno-omit-frame-pointer"]);
    let (file, picture) = (folder().join("tests/uniform.vbc"), scratch("watched.ppm"));
    let arguments = [file.to_str().unwrap(), picture.to_str().unwrap()];
    let words = said(&run(&program, &arguments).unwrap());
    assert!(
        words.contains("picture: ") && !words.contains("ERROR: AddressSanitizer"),
        "{words}"
    );
    assert_eq!(leaks(&words), [""; 0]);
    // The control: an intentional leak is found.
    let words = said(&run(&program, &[arguments[0], arguments[1], "--forget"]).unwrap());
    assert!(leaks(&words).len() > 3, "{words}");
}
