//! What all formats share: reading with bounds, reports, places in texts.

use loader::cursor::Cursor;
use loader::{Error, ErrorKind, Report, Severity, SourceError};

#[test]
fn cursors_end_where_the_bytes_end() {
    let bytes: Vec<u8> = (1..=8).collect();
    let mut cursor = Cursor::new("x", &bytes);
    assert_eq!(
        (cursor.u8("a"), cursor.u16("b"), cursor.u32("c")),
        (Ok(1), Ok(0x0302), Ok(0x0706_0504))
    );
    assert_eq!((cursor.offset(), cursor.remaining(), cursor.is_empty()), (7, 1, false));
    let error = cursor.u16("the size").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Invalid, Some(7)));
    assert_eq!(
        error.message(),
        "the size runs past end of file (2 bytes needed, 1 left)"
    );
    assert!(cursor.take(2, "two").is_err() && cursor.take(1, "one") == Ok(&[8][..]) && cursor.is_empty());
    assert_eq!(cursor.take(0, "none"), Ok(&[][..]));
    let mut cursor = Cursor::new("x", &bytes);
    assert_eq!(cursor.records(4, 2, "pairs").map(<[u8]>::len), Ok(8));
    let mut cursor = Cursor::new("x", &bytes);
    assert!(cursor.records(3, 3, "threes").is_err() && cursor.records(usize::MAX, 2, "many").is_err());
    assert_eq!(cursor.offset(), 0);
    assert_eq!(cursor.array::<3>("three"), Ok([1, 2, 3]));
}

#[test]
fn reports_have_the_verdict_of_the_worst_finding() {
    for (severity, verdict, name) in [
        (None, "valid", ""),
        (Some(Severity::Note), "valid", "note"),
        (Some(Severity::Warning), "valid", "warning"),
        (Some(Severity::Unsupported), "unsupported", "unsupported"),
        (Some(Severity::Error), "invalid", "error"),
    ] {
        let mut report = Report::default();
        if let Some(severity) = severity {
            report.push(Severity::Note, "first", "", "one", None);
            report.push(severity, "a-rule", "a place", "a message", Some(16));
            assert_eq!(report.diagnostics[0].to_string(), "note[first]: one");
            let text = format!("{name}[a-rule]: a place: a message (at offset 0x10)");
            assert_eq!((report.diagnostics[1].to_string(), severity.name()), (text, name));
        }
        assert_eq!((report.verdict(), report.worst()), (verdict, severity));
        assert_eq!(
            (report.is_valid(), report.has("a-rule")),
            (verdict != "invalid", severity.is_some())
        );
        let accepted = report.accept("x").map_err(|error| error.message().to_owned());
        let broken = "the file breaks its format:\nerror[a-rule]: a place: a message (at offset 0x10)";
        assert_eq!(
            accepted,
            if verdict == "invalid" {
                Err(broken.to_owned())
            } else {
                Ok(())
            }
        );
    }
    let unreadable = Report::from(&Error::invalid("x", "short", 3));
    assert!(unreadable.has("unreadable") && unreadable.diagnostics[0].offset == Some(3));
    assert_eq!(Report::from(&Error::unsupported("x", "new")).verdict(), "unsupported");
}

#[test]
fn places_in_texts_are_lines_and_columns() {
    let text = "one\ntw\u{f6} three\nfour";
    for (span, place, within) in [
        (0..3, (1, 1), 0..3),
        (3..4, (1, 4), 3..4),
        (4..8, (2, 1), 4..8),
        (9..14, (2, 5), 9..14),
        // Inside a character: at its start.
        (7..9, (2, 3), 6..9),
        (15..99, (3, 1), 15..19),
        (99..99, (3, 5), 19..19),
    ] {
        let error = SourceError::new(text, span.clone(), "wrong");
        assert_eq!(
            ((error.line, error.column), error.span.clone()),
            (place, within),
            "{span:?}"
        );
        assert_eq!(
            error.to_string(),
            format!("line {}, column {}: wrong", place.0, place.1)
        );
    }
    let shown = SourceError::new(text, 9..14, "wrong").render(text, "a.txt");
    assert!(
        shown.contains("--> a.txt:2:5") && shown.contains("2 | tw\u{f6} three") && !shown.contains("four"),
        "{shown}"
    );
    let within = SourceError::new(text, 9..14, "wrong").in_file(std::path::Path::new("a.txt"), "x", text);
    assert!(
        within.starts_with("a.txt:2:5: x: wrong\n") && within.contains("three"),
        "{within}"
    );
}
