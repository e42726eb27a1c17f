//! Scripts as text: every script prints as text that parses to the same model, and errors have their place.

use crate::common::{corpus, data, files};
use std::path::{Path, PathBuf};

/// Scripts below a folder: AmberScript, and VkScript under either of its two names.
fn scripts(folder: &Path) -> Vec<PathBuf> {
    files(folder, "")
        .into_iter()
        .filter(|path| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            matches!(extension, Some("amber" | "vkscript" | "shader_test"))
        })
        .collect()
}

/// Parses a file, prints it and parses it again.
fn survives(path: &Path) -> Result<(), String> {
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text);
    let model = script::parse(&text).map_err(|error| error.to_string())?;
    let again = script::parse(&model.to_string()).map_err(|error| format!("printed: {error}"))?;
    if model == again {
        Ok(())
    } else {
        Err("printed and read, it is another".to_owned())
    }
}

#[test]
fn printed_scripts_parse_to_the_same_model() {
    let mut all = scripts(&data("script"));
    assert!(!all.is_empty());
    all.extend(corpus("amber").iter().flat_map(|folder| scripts(folder)));
    // A template for a generator, not a script.
    all.retain(|path| !path.ends_with("ldexp/template.amber"));
    let broken: Vec<String> = all
        .iter()
        .filter_map(|path| survives(path).err().map(|why| format!("{}: {why}", path.display())))
        .collect();
    println!("{} scripts", all.len());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn different_scripts_are_not_equal() {
    let one = script::parse("#!amber\nBUFFER b DATA_TYPE float SIZE 1 FILL 0.0\n").expect("a script");
    let other = script::parse("#!amber\nBUFFER b DATA_TYPE float SIZE 1 FILL -0.0\n").expect("a script");
    let spaced =
        script::parse("#!amber\n\n  BUFFER b \\\n DATA_TYPE float SIZE 1 FILL 0.0 # a comment\n").expect("a script");
    assert_ne!(one, other);
    assert_eq!(one, spaced);
}

#[test]
fn errors_have_line_column_and_the_expected_item() {
    let cases = [
        ("BUFFER b", "script: line 1, column 1: expected a section"),
        ("#!amber\nBUFER b\n", "line 2, column 1: expected a statement"),
        (
            "#!amber\nCLEAR\n",
            "line 2, column 6: expected a pipeline's name, found the end of the line",
        ),
        (
            "#!amber\nCLEAR a b\n",
            "line 2, column 9: expected the end of the line, found \"b\"",
        ),
        ("#!amber\nBUFFER b DATA_TYPE float FILL 0\n", "expected SIZE"),
        (
            "#!amber\nBUFFER b DATA_TYPE vec5<float> SIZE 1 FILL 0\n",
            "column 20: expected a type",
        ),
        (
            "#!amber\nBUFFER b DATA_TYPE float DATA 1 x END\n",
            "column 33: expected a number or END, found \"x\"",
        ),
        (
            "#!amber\nBUFFER b DATA_TYPE float DATA 1\n",
            "expected END, found the end of the file",
        ),
        (
            "#!amber\nBUFFER b FORMAT R8G8B8A8\n",
            "column 17: expected an image format",
        ),
        (
            "#!amber\nSHADER vertex v GLSL\nvoid main() {}\n",
            "expected END, found the end of the file",
        ),
        (
            "#!amber\nSHADER pixel v GLSL\nEND\n",
            "line 2, column 8: expected vertex, fragment",
        ),
        ("#!amber\nSHADER fragment f PASSTHROUGH\n", "only a vertex shader"),
        (
            "#!amber\nPIPELINE graphics p\n  BIND BUFFER b AS colour LOCATION 0\nEND\n",
            "line 3, column 20: expected color",
        ),
        (
            "#!amber\nPIPELINE graphics p\n  DEPTH\n    TEST yes\n  END\nEND\n",
            "line 4, column 10: expected on or off",
        ),
        (
            "#!amber\nRUN p DRAW_RECT POS 0 0\n",
            "line 2, column 24: expected SIZE, found the end of the line",
        ),
        (
            "#!amber\nEXPECT b IDX 0 EQ\n",
            "line 2, column 18: expected a number, found the end of the line",
        ),
        ("#!amber\nREPEAT 2\nBUFFER b\nEND\n", "line 3, column 1: expected CLEAR"),
        (
            "#!amber\nREPEAT 2\nREPEAT 2\nEND\nEND\n",
            "line 3, column 1: expected CLEAR",
        ),
        (
            "[test]\nprobe all rgb 1 0\n",
            "line 2, column 18: expected a number, found the end of the line",
        ),
        ("[test]\ndraw rect 0 0 1\n", "line 2, column 16: expected a number"),
        (
            "[test]\nssbo 0 subdata vec2 0 1 2 3\n",
            "expected a multiple of 2 numbers, found 3",
        ),
        (
            "[test]\ndepthCompareOp VK_COMPARE_OP_SOMETIMES\n",
            "line 2, column 16: expected one of VK_COMPARE_OP_",
        ),
        (
            "[vertex data]\n0/R32G32_SFLOAT\n1 2\n3\n",
            "line 4, column 1: expected 2 numbers in a row, found 1",
        ),
        ("[pixel shader]\n", "line 1, column 1: expected a section"),
    ];
    for (text, wanted) in cases {
        let error = script::parse(text).expect_err(text).to_string();
        assert!(error.contains(wanted), "{text:?}\n  says: {error}\nwanted: {wanted}");
    }
}
