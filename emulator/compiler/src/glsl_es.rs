//! GLSL ES 1.00 (and 3.00, and desktop GLSL of that age) for a front end that knows modern GLSL only: the preprocessor
//! runs first, then the tokens are rewritten. Attributes, varyings, uniforms and built-in variables become plain global
//! variables, whose roles are told beside the text; textures and samplers are parted.

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
pub use uplifted::{Role, Uplifted};

/// Whether a text is of the old languages: no version, or one of theirs.
pub fn recognises(text: &str) -> bool {
    let version = text.lines().map(str::trim_start).find_map(|line| {
        let rest = line.strip_prefix('#')?.trim_start().strip_prefix("version")?;
        rest.split_whitespace().next()?.parse::<u32>().ok()
    });
    version.is_none_or(|version| version < 400 && version != 0)
}

/// Rewrites a text.
///
/// # Errors
/// What the preprocessor refuses, and what has no place here (several colours).
pub fn uplift(text: &str, stage: Stage) -> Result<Uplifted> {
    uplift_any(text, stage, false)
}

/// As [`uplift`], for pictures whose rows go down: derivatives along y change their sign.
pub(crate) fn uplift_for_vulkan(text: &str, stage: Stage) -> Result<Uplifted> {
    uplift_any(text, stage, true)
}

fn uplift_any(text: &str, stage: Stage, rows_down: bool) -> Result<Uplifted> {
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
