//! Names that the texts of shaders declare, used or not.

use std::collections::BTreeSet;

/// Keywords of declarations that scenes give values to.
const KEYWORDS: [&str; 12] = [
    "uniform",
    "attribute",
    "varying",
    "in",
    "buffer",
    "cbuffer",
    "struct",
    "var",
    "sampler",
    "sampler2D",
    "Texture2D",
    "SamplerState",
];

/// The words of all declarations outside functions: inputs, uniforms, members of blocks and structures, textures. Types and
/// qualifiers are included; no scene uses them.
pub(crate) fn names(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_word = |word: &&str| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    // For each open brace, whether members are declared in it.
    let mut open: Vec<bool> = Vec::new();
    let mut statement: Vec<&str> = Vec::new();
    for token in tokens(text) {
        match token {
            "{" => {
                // Behind the parameters there may be a type (WGSL) or a semantic (HLSL).
                let ends = |sign| statement.iter().rposition(|word| *word == sign);
                let is_function = !statement.contains(&"cbuffer")
                    && (statement.contains(&"fn")
                        || statement.last() == Some(&")")
                        || ends(":") > ends(")") && ends(")").is_some());
                let is_declared = !is_function && statement.iter().any(|word| KEYWORDS.contains(word));
                // Parameters of entry points are inputs.
                let is_kept = is_declared || statement.contains(&"location");
                found.extend(
                    statement
                        .drain(..)
                        .filter(|_| is_kept)
                        .filter(is_word)
                        .map(str::to_owned),
                );
                open.push(is_declared);
            }
            "}" | ";" => {
                let inside = open.last().copied();
                let declares = inside.unwrap_or_else(|| statement.iter().any(|word| KEYWORDS.contains(word)));
                found.extend(
                    statement
                        .drain(..)
                        .filter(|_| declares)
                        .filter(is_word)
                        .map(str::to_owned),
                );
                if token == "}" {
                    open.pop();
                }
            }
            _ => statement.push(token),
        }
    }
    found
}

/// Words and signs, without comments and directives.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            let skipped = match rest.get(..2) {
                Some("//") => rest.find('\n').unwrap_or(rest.len()),
                Some("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
                _ if rest.starts_with('#') => rest.find('\n').unwrap_or(rest.len()),
                _ => break,
            };
            rest = &rest[skipped..];
        }
        let first = rest.chars().next()?;
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let length = match is_word(first) {
            true => rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        Some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn declarations_are_found_and_locals_are_not() {
        let text = "// uniform vec4 no;\n#define IN in\nuniform float amount, other;\nlayout(location = 1) in vec3 normal;\n\
                    layout(set = 1, binding = 0) uniform U { vec4 tint; } u;\nvoid main() { float local = 1.0; }\n";
        let found = names(text);
        for name in ["amount", "other", "normal", "tint"] {
            assert!(found.contains(name), "{name}: {found:?}");
        }
        let wgsl = "struct U { tint: vec4f }\n@group(0) @binding(0) var<uniform> u: U;\n\
                    @vertex fn f(@location(0) at: vec2f) -> @builtin(position) vec4f { var a = at; return u.tint; }\n";
        let hlsl = "cbuffer C : register(b0) { float4 tint; };\nfloat4 main(float4 at : POSITION) : SV_Target { float a = 1; return tint; }\n";
        for (text, kept) in [(wgsl, &["tint", "u", "at"][..]), (hlsl, &["tint"])] {
            let found = names(text);
            assert!(
                kept.iter().all(|name| found.contains(*name)) && !found.contains("a"),
                "{found:?}"
            );
        }
        for name in ["no", "local", "IN"] {
            assert!(!found.contains(name), "{name}: {found:?}");
        }
    }
}
