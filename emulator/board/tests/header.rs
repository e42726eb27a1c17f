//! The checked-in header equals cbindgen's output.
#![allow(missing_docs)]

use skrymir_board::{Line, c};
use std::path::Path;

/// The C constants of lines equal the device's.
#[test]
fn lines_have_the_same_numbers() {
    let pairs = [
        (c::BOARD_LINE_GP, Line::Gp),
        (c::BOARD_LINE_GP_MMU, Line::GpMmu),
        (c::BOARD_LINE_PMU, Line::Pmu),
        (c::BOARD_LINE_ALL_PPS, Line::AllPps),
        (c::BOARD_LINE_PP0, Line::Pp(0)),
        (c::BOARD_LINE_PP0 + 1, Line::PpMmu(0)),
        (c::BOARD_LINE_PP0 + 2, Line::Pp(1)),
        (c::BOARD_LINES - 1, Line::PpMmu(7)),
    ];
    for (number, line) in pairs {
        assert_eq!((number, Some(line)), (line.number(), Line::from_number(number)));
    }
    assert_eq!(Line::from_number(c::BOARD_LINES), None);
}

/// `SKRYMIR_BLESS=1` updates it.
#[test]
fn the_header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    let builder = cbindgen::Builder::new()
        .with_config(config)
        .with_src(folder.join("src/c.rs"));
    let mut made = Vec::new();
    builder.generate().expect("a header").write(&mut made);
    let made = String::from_utf8(made).expect("a text");
    let path = folder.join("include/skrymir_board.h");
    if std::env::var_os("SKRYMIR_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "include/skrymir_board.h is outdated: SKRYMIR_BLESS=1 updates it"
    );
    let source = std::fs::read_to_string(folder.join("src/c.rs")).unwrap();
    let names = source
        .split("extern \"C\" fn ")
        .skip(1)
        .filter_map(|rest| rest.split('(').next());
    let names: Vec<_> = names.filter(|name| name.starts_with("skrymir")).collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        assert!(kept.contains(&format!("{name}(")), "{name}");
    }
}
