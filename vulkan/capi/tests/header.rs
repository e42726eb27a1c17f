//! The checked-in header equals cbindgen's output.
#![allow(missing_docs)]

use std::path::Path;

fn made() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in ["border", "shader", "context", "program", "pipeline", "draw"] {
        builder = builder.with_src(folder.join(format!("src/{source}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().expect("a header").write(&mut text);
    String::from_utf8(text).expect("a text")
}

/// `SKRYMIR_BLESS=1` updates it.
#[test]
fn the_header_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/skrymir.h");
    let made = made();
    if std::env::var_os("SKRYMIR_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == made,
        "include/skrymir.h is outdated: SKRYMIR_BLESS=1 updates it"
    );
    // The control: every function is in the header.
    let sources = ["border", "shader", "context", "program", "pipeline", "draw"].map(|name| {
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/{name}.rs"))).unwrap()
    });
    let names = sources.iter().flat_map(|text| text.split("extern \"C\" fn ").skip(1));
    let names: Vec<_> = names.filter_map(|rest| rest.split('(').next()).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(kept.contains(&format!("{name}(")), "{name}");
    }
}
