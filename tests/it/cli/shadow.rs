//! Samplers that compare: a shadow look-up of a scene's depths.

use skrymir::picture::Picture;
use std::path::Path;
use std::process::{Command, Output};

const VERTEX: &str = "#version 450\nlayout(location = 0) in vec4 position;\nlayout(location = 0) out vec2 uv;\n\
                      void main() { uv = position.xy * 0.5 + 0.5; gl_Position = position; }\n";

const SHADOW: &str = "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 color;\n\
                      layout(set = 0, binding = 0) uniform sampler2DShadow shadow;\n\
                      void main() { color = vec4(texture(shadow, vec3(uv, 0.5))); }\n";

const PLAIN: &str = "#version 450\nlayout(location = 0) in vec2 uv;\nlayout(location = 0) out vec4 color;\n\
                     layout(set = 0, binding = 0) uniform sampler2D shadow;\n\
                     void main() { color = texture(shadow, uv); }\n";

/// Draws the whole picture with three depths beside each other.
fn run(folder: &Path, fragment: &str, slot: &str, arguments: &[&str]) -> Output {
    let scene = format!(
        "size = [6, 2]\n[inputs]\nposition = [[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]\n[slots.shadow]\nsize = [3, 1]\n{slot}\n"
    );
    for (name, text) in [("a.vert", VERTEX), ("a.frag", fragment), ("scene.toml", &scene)] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let fixed = ["run", "a.vert", "a.frag", "--scene", "scene.toml", "-o", "out.png"];
    Command::new(env!("CARGO_BIN_EXE_skrymir"))
        .args([&fixed, arguments].concat())
        .current_dir(folder)
        .output()
        .expect("the binary runs")
}

/// The reds of the lower row, two for each depth.
fn reds(folder: &Path, slot: &str) -> [u8; 6] {
    let output = run(folder, SHADOW, slot, &["--validation"]);
    assert!(
        output.status.success(),
        "{slot}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let picture = Picture::load(&folder.join("out.png")).unwrap();
    std::array::from_fn(|x| picture.at(x as u32, 1)[0])
}

#[test]
fn every_comparison_holds_for_its_depths() {
    let folder = tempfile::tempdir().unwrap();
    // Whether 0.5 passes beside 0.25, 0.5 and 0.75.
    for (compare, passes) in [
        ("never", [0, 0, 0]),
        ("less", [0, 0, 1]),
        ("equal", [0, 1, 0]),
        ("less-or-equal", [0, 1, 1]),
        ("greater", [1, 0, 0]),
        ("not-equal", [1, 0, 1]),
        ("greater-or-equal", [1, 1, 0]),
        ("always", [1, 1, 1]),
    ] {
        let slot = format!("texels = [0.25, 0.5, 0.75]\ncompare = '{compare}'");
        let [a, b, c] = passes.map(|passes: u8| 255 * passes);
        assert_eq!(reds(folder.path(), &slot), [a, a, b, b, c, c], "{compare}");
    }
}

/// Of neighbours, the outcomes of the comparison are mixed, on a device that filters depths.
#[test]
fn a_linear_filter_is_behind_the_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let slot = "texels = [0.25, 0.25, 1]\nwrap = 'clamp'\ncompare = 'less'";
    assert_eq!(reds(folder.path(), slot), [0, 0, 0, 0, 255, 255]);
    let linear = format!("{slot}\nfilter = 'linear'");
    let output = run(folder.path(), SHADOW, &linear, &[]);
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            error.contains("images of D32_SFLOAT as SAMPLED_IMAGE | SAMPLED_IMAGE_FILTER_LINEAR"),
            "{error}"
        );
        return;
    }
    let [.., inner, outer, last] = reds(folder.path(), &linear);
    assert!(
        inner > 32 && inner < outer && outer < last && last == 255,
        "{inner} {outer} {last}"
    );
}

#[test]
fn what_does_not_compare_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let depths = "texels = [0.25, 0.5, 0.75]\ncompare = 'less'";
    for (fragment, slot, arguments, expected) in [
        (
            SHADOW,
            "texels = [0.25, 0.5, 1.5]\ncompare = 'less'",
            &[][..],
            "a depth of 1.5",
        ),
        (
            SHADOW,
            "texels = [0, 0, 0]\nformat = 'rgba32f'\ncompare = 'less'",
            &[],
            "have no format",
        ),
        (PLAIN, depths, &["--device", "mali400"], "compare is not set up"),
    ] {
        let output = run(folder.path(), fragment, slot, arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{slot}");
        assert!(error.contains(expected), "{slot}: {error}");
    }
}
