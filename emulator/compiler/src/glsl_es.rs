//! GLSL ES 1.00 (and 3.00, and desktop GLSL of that age) for a front end that knows modern GLSL only: the preprocessor
//! runs first, then the tokens are rewritten. Attributes, varyings, uniforms and built-in variables become plain global
//! variables, whose roles are returned beside the text. [`translate`] parses that.

mod block;
mod declaration;
mod rewriter;
mod tables;
mod uplifted;
pub mod vulkan;

use crate::error::{Error, Result};
use crate::interface::Stage;
use pp_rs::pp::Preprocessor;
use pp_rs::token::TokenValue;
use rewriter::Rewriter;
use std::path::Path;
use translate::frontend::{self, Preprocessed, Settings};
pub use uplifted::{Declared, Role, Uplifted};

/// Whether a text is of the old languages: no version, or one of theirs.
pub fn recognises(text: &str) -> bool {
    let version = text.lines().map(str::trim_start).find_map(|line| {
        let rest = line.strip_prefix('#')?.trim_start().strip_prefix("version")?;
        rest.split_whitespace().next()?.parse::<u32>().ok()
    });
    version.is_none_or(|version| version < 400 && version != 0)
}

/// Whether a source is a text of the old languages.
pub fn is_old(source: &translate::Source<'_>) -> bool {
    source.language == translate::Language::Glsl && std::str::from_utf8(source.bytes).is_ok_and(recognises)
}

/// A text with what it is compiled with.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// The text.
    pub text: &'a str,
    /// Where it is from: files are included from beside it.
    pub path: &'a Path,
    /// Names and folders.
    pub settings: &'a Settings,
}

impl<'a> Text<'a> {
    /// A text that includes nothing.
    pub fn new(text: &'a str) -> Self {
        let (path, settings) = (Path::new(""), Settings::NONE);
        Self { text, path, settings }
    }

    /// The text of a source, with what is said of that.
    pub fn of(text: &'a str, source: &translate::Source<'a>) -> Self {
        let (path, settings) = (source.path, source.settings);
        Self { text, path, settings }
    }

    /// The same for the reference front end.
    pub fn judged(&self, stage: Stage) -> frontend::Text<'a> {
        let stage = match stage {
            Stage::Vertex => frontend::Stage::Vertex,
            Stage::Fragment => frontend::Stage::Fragment,
        };
        frontend::Text::new(self.text, self.path, frontend::Dialect::Glsl, stage, self.settings)
    }
}

/// The text without directives, and where its parts come from; what the language forbids is refused. Where the reference
/// front end is not there, the text as it is.
fn preprocessed(text: &Text<'_>, stage: Stage) -> Result<Option<Preprocessed>> {
    if !frontend::is_available() {
        if *text.settings != *Settings::NONE {
            return Err(Error::unsupported(
                "names and folders: this program was built without glslang",
            ));
        }
        return Ok(None);
    }
    let judged = text.judged(stage);
    let refused = |error| crate::foreign(error, Some(text.text));
    frontend::judge(&[judged]).map_err(refused)?;
    frontend::preprocess(&judged).map(Some).map_err(refused)
}

/// A preprocessed text with spaces for the directives that are left in it, but for the version.
fn without_directives(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        match directive.is_some_and(|directive| !directive.starts_with("version")) {
            true => line.replace(|c: char| c != '\n', " "),
            false => line.to_owned(),
        }
    });
    lines.collect()
}

/// Rewrites a text.
///
/// # Errors
/// What the language forbids, and what has no place here (several colours).
pub fn uplift(text: &Text<'_>, stage: Stage) -> Result<Uplifted> {
    uplift_any(text, stage, false)
}

/// As [`uplift`], for pictures whose rows go down: derivatives along y change their sign.
pub(crate) fn uplift_for_vulkan(text: &Text<'_>, stage: Stage) -> Result<Uplifted> {
    uplift_any(text, stage, true)
}

fn uplift_any(text: &Text<'_>, stage: Stage, rows_down: bool) -> Result<Uplifted> {
    let Some(ready) = preprocessed(text, stage)? else {
        return uplift_tokens(text.text, stage, rows_down);
    };
    let mut uplifted = uplift_tokens(&without_directives(&ready.text), stage, rows_down)
        .map_err(|error| error.map_span(|span| ready.place(span)))?;
    let places = uplifted.places.iter_mut().map(|(_, place)| place);
    for place in places.chain(&mut uplifted.highp) {
        *place = ready.place(place.clone());
    }
    Ok(uplifted)
}

fn uplift_tokens(text: &str, stage: Stage, rows_down: bool) -> Result<Uplifted> {
    let mut preprocessor = Preprocessor::new(text);
    for (name, value) in [
        ("GL_ES", "1"),
        ("GL_OES_standard_derivatives", "1"),
        ("GL_EXT_shader_texture_lod", "1"),
    ] {
        // Names the preprocessor has already stay as they are.
        let _ = preprocessor.add_define(name, value);
    }
    let mut tokens = Vec::new();
    let mut modern = false;
    for token in preprocessor {
        let token = token.map_err(|(error, location)| {
            Error::invalid(format!("the preprocessor says {error:?}"))
                .at(Some(location.start as usize..location.end as usize))
        })?;
        match &token.value {
            TokenValue::Version(version) => {
                modern = version
                    .tokens
                    .iter()
                    .any(|token| matches!(&token.value, TokenValue::Integer(number) if number.value >= 130));
            }
            TokenValue::Extension(_) | TokenValue::Pragma(_) => {}
            _ => tokens.push(token),
        }
        if tokens.len() > 200_000 {
            return Err(Error::limit("a text of more than 200,000 tokens"));
        }
    }
    let mut rewriter = Rewriter::new(tokens, stage, modern, rows_down);
    rewriter.run()?;
    Ok(rewriter.finish())
}
