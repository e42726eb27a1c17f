//! Runs texts through glslang.

mod align;
mod include;
mod limits;
mod log;
#[allow(unsafe_code)]
mod sys;

use super::{Diagnostic, Dialect, Module, Preprocessed, Text};
use crate::{Error, ErrorKind, Result};
use include::Includes;
use std::collections::HashMap;
use std::ffi::CString;
use sys::{Job, Program, Purpose, Shader};

pub(super) const AVAILABLE: bool = true;

/// Purposes to try, most permissive input first.
const WAYS: [Purpose; 4] = [
    Purpose::Vulkan {
        newest: false,
        relaxed: false,
    },
    Purpose::Vulkan {
        newest: true,
        relaxed: false,
    },
    Purpose::Vulkan {
        newest: false,
        relaxed: true,
    },
    Purpose::Vulkan {
        newest: true,
        relaxed: true,
    },
];

/// Lines that precede a text.
fn preamble(text: &Text<'_>) -> String {
    let defines = text.settings.defines.iter();
    let mut lines: String = defines
        .map(|(name, value)| format!("#define {name} {value}\n"))
        .collect();
    // glslang names the entry point `main`: another function of that name would be a second one, or the one used.
    if text.dialect == Dialect::Hlsl && text.entry.is_some_and(|entry| entry != "main") {
        lines += "#define main main_\n";
    }
    lines
}

/// A text with its included files inlined.
struct Whole {
    code: String,
    preamble: String,
    /// Included files by name.
    found: HashMap<String, String>,
}

/// A parsed text and its messages.
struct Read {
    shader: Shader,
    notes: Vec<Diagnostic>,
}

fn c_string(text: &Text<'_>, code: &str) -> Result<CString> {
    CString::new(code).map_err(|error| {
        let at = error.nul_position();
        crate::front::error_at(
            text.language(),
            code,
            at..at + 1,
            "a character that no text may have (code 0)",
        )
    })
}

fn failed() -> Error {
    ErrorKind::Unavailable("glslang could not be started".to_owned()).into()
}

/// The first error of a log; the whole log if there is none.
fn refusal(text: &Text<'_>, log: &str, found: &HashMap<String, String>) -> Error {
    match log::diagnostics(log).iter().find(|note| note.is_error) {
        Some(first) => {
            let included = first.file.as_ref().and_then(|file| found.get(file));
            log::error(text, first, included)
        }
        None => {
            let lines: Vec<&str> = log.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let said = match lines.is_empty() {
                true => "glslang rejects the text without a message".to_owned(),
                false => format!("glslang refuses the text: {}", lines.join("; ")),
            };
            ErrorKind::Language(format!("{}: {said}", text.language())).into()
        }
    }
}

/// Whether a line of the text may be an `#include`.
fn includes(text: &str) -> bool {
    let mut directives = text.lines().filter_map(|line| line.trim_start().strip_prefix('#'));
    directives.any(|directive| directive.trim_start().starts_with("include"))
}

fn job(text: &Text<'_>, code: &str, preamble: &str, purpose: Purpose) -> Result<Job> {
    Ok(Job {
        stage: text.stage,
        dialect: text.dialect,
        purpose,
        code: c_string(text, &without_open_quotes(code))?,
        preamble: c_string(text, preamble)?,
        // HLSL has no entry point unless one is named.
        entry: match (text.dialect, text.entry) {
            (Dialect::Hlsl, entry) => Some(entry.unwrap_or("main")),
            (Dialect::Glsl, entry) => entry.filter(|entry| *entry != "main"),
        }
        .map(|entry| c_string(text, entry))
        .transpose()?,
        version: raised(code).filter(|_| purpose != Purpose::Judge),
    })
}

/// glslang requires paired quotes even in `#pragma` and inactive groups, where a text may contain anything. An odd
/// quote in a line is replaced by an apostrophe; elsewhere that is as invalid as an open quote.
fn without_open_quotes(code: &str) -> String {
    let mut code = code.to_owned().into_bytes();
    for line in code.split_mut(|byte| *byte == b'\n') {
        let quotes = line.iter().filter(|byte| **byte == b'"').count();
        if quotes % 2 == 1
            && let Some(last) = line.iter_mut().rfind(|byte| **byte == b'"')
        {
            *last = b'\'';
        }
    }
    String::from_utf8(code).unwrap_or_default()
}

/// glslang compiles GLSL ES to SPIR-V from 3.10 on, which contains all of 3.00.
fn raised(code: &str) -> Option<i32> {
    let mut lines = code.lines().filter_map(|line| line.trim_start().strip_prefix('#'));
    let version = lines.find_map(|line| line.trim_start().strip_prefix("version"))?;
    let mut words = version.split_whitespace();
    (words.next() == Some("300") && words.next() == Some("es")).then_some(310)
}

/// Enables includes, and file names in `#line`.
const WITH_INCLUDES: &str = "#extension GL_GOOGLE_include_directive : enable\n";

/// The preprocessed text.
fn preprocessed(text: &Text<'_>, purpose: Purpose) -> Result<Whole> {
    let more = match text.dialect == Dialect::Glsl && includes(text.text) {
        true => WITH_INCLUDES,
        false => "",
    };
    let preamble = format!("{more}{}", preamble(text));
    let mut shader = Shader::new(job(text, text.text, &preamble, purpose)?).ok_or_else(failed)?;
    let mut files = Includes::new(text.path, &text.settings.folders);
    let code = shader.preprocess(&mut files);
    let found = files.found;
    // The text and each file were checked separately, but not combined.
    if let Some(code) = code.as_ref().filter(|_| !found.is_empty()) {
        crate::nesting::check(text.language(), code).map_err(|error| {
            let message = format!("{}: with what it includes: {error}", text.language());
            Error::from(ErrorKind::Language(message))
        })?;
    }
    match code {
        Some(code) => Ok(Whole {
            // The preamble's line precedes the text.
            code: code.strip_prefix(more).map(str::to_owned).unwrap_or(code),
            preamble: more.to_owned(),
            found,
        }),
        None => Err(refusal(text, &shader.log(), &found)),
    }
}

/// Only a text with includes is preprocessed separately, so that a text without any keeps glslang's positions.
fn whole(text: &Text<'_>, purpose: Purpose) -> Result<Whole> {
    if includes(text.text) {
        return preprocessed(text, purpose);
    }
    Ok(Whole {
        code: text.text.to_owned(),
        preamble: preamble(text),
        found: HashMap::new(),
    })
}

fn read(text: &Text<'_>, purpose: Purpose) -> Result<Read> {
    let whole = whole(text, purpose)?;
    let mut shader = Shader::new(job(text, &whole.code, &whole.preamble, purpose)?).ok_or_else(failed)?;
    let passed = shader.parse();
    let log = shader.log();
    let notes = log::diagnostics(&log);
    match passed {
        true => Ok(Read { shader, notes }),
        false => Err(refusal(text, &log, &whole.found)),
    }
}

pub(super) fn spirv(text: &Text<'_>) -> Result<Module> {
    let mut refused = None;
    for way in WAYS {
        match spirv_for(text, way) {
            Ok(module) => return Ok(module),
            // The last purpose accepts the most, so its error is final.
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(failed))
}

fn spirv_for(text: &Text<'_>, way: Purpose) -> Result<Module> {
    let Read { shader, mut notes } = read(text, way)?;
    let mut program = Program::link(vec![shader], way).ok_or_else(failed)?;
    let words = program.words();
    let log = program.log();
    notes.extend(log::diagnostics(&log));
    match words {
        Some(words) => Ok(Module { words, notes }),
        None => Err(refusal(text, &log, &HashMap::new())),
    }
}

pub(super) fn judge(texts: &[Text<'_>]) -> Result<Vec<Diagnostic>> {
    let (mut shaders, mut notes) = (Vec::new(), Vec::new());
    for text in texts {
        let read = read(text, Purpose::Judge)?;
        shaders.push(read.shader);
        notes.extend(read.notes);
    }
    let Some(last) = texts.last() else { return Ok(notes) };
    let program = Program::link(shaders, Purpose::Judge).ok_or_else(failed)?;
    let log = program.log();
    if !program.is_linked() {
        return Err(refusal(last, &log, &HashMap::new()));
    }
    notes.extend(log::diagnostics(&log));
    Ok(notes)
}

pub(super) fn preprocess(text: &Text<'_>) -> Result<Preprocessed> {
    let code = preprocessed(text, Purpose::Judge)?.code;
    Ok(align::aligned(text.text, code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{Dialect, Settings, Stage};
    use std::path::Path;

    #[test]
    fn a_rejection_contains_glslangs_message() {
        let path = Path::new("");
        let text = Text::new("", path, Dialect::Glsl, Stage::Fragment, Settings::NONE);
        let rejection = |log: &str| refusal(&text, log, &HashMap::new()).to_string();
        assert_eq!(rejection("\n"), "glsl: glslang rejects the text without a message");
        assert_eq!(
            rejection("Out of\n memory\n"),
            "glsl: glslang refuses the text: Out of; memory"
        );
        assert!(rejection("ERROR: 0:1:1: 'x' : undeclared identifier\n").contains("undeclared"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_failed_assertion_of_glslang_is_an_error() {
        // glslang goes back by one token for each constructor with a syntax error in it, and has room for two.
        let code = "static uint4 a = uint4(uint4(uint4(1 2)));\nfloat4 main() : SV_Target { return a; }\n";
        let path = Path::new("");
        let text = Text::new(code, path, Dialect::Hlsl, Stage::Fragment, Settings::NONE);
        for _ in 0..3 {
            let error = spirv(&text).unwrap_err();
            assert!(
                error.to_string().contains("assertion") || error.line_column().is_some(),
                "{error}"
            );
        }
        let valid = code.replace("1 2", "1");
        let text = Text { text: &valid, ..text };
        assert!(spirv(&text).is_ok());
    }
}
