//! Rewrites GLSL with combined texture samplers (`uniform sampler2D`) for a front end that requires separate ones.
//!
//! Byte positions in the text do not change: a declaration, a parameter or a use is replaced by a word that is not
//! longer, and the word is a macro for the replacement.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// A text whose samplers are replaced by macros, and the macros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// As long as the original text.
    pub text: String,
    /// Macros by name.
    pub macros: Vec<(String, String)>,
}

/// Splits the combined samplers of a text; `None` if it has none.
///
/// A texture keeps its binding, or gets the next free one; samplers get free bindings after it. Arrays of samplers are
/// left unchanged.
pub(crate) fn split(text: &str) -> Option<Split> {
    let tokens = tokens(text);
    let mut splitter = Splitter {
        text,
        words: tokens
            .iter()
            .map(|token| &text[token.clone()])
            .filter(|word| is_word(word))
            .collect(),
        taken: bindings(text, &tokens),
        functions: functions(text, &tokens),
        out: text.as_bytes().to_vec(),
        macros: Vec::new(),
        aliases: HashMap::new(),
        globals: HashMap::new(),
        tokens,
    };
    splitter.run()?;
    (!splitter.macros.is_empty()).then(|| Split {
        text: String::from_utf8_lossy(&splitter.out).into_owned(),
        macros: splitter.macros,
    })
}

/// Words, and all other characters one by one; comments and directives are skipped.
pub(crate) fn tokens(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at, mut begins_line) = (Vec::new(), 0, true);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            b'\n' => {
                begins_line = true;
                at += 1;
                continue;
            }
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => rest
                .windows(2)
                .skip(2)
                .position(|pair| pair == b"*/")
                .map_or(rest.len(), |end| end + 4),
            b'#' if begins_line => directive(rest),
            byte if is_letter(byte) => {
                let length = rest.iter().position(|byte| !is_letter(*byte)).unwrap_or(rest.len());
                tokens.push(at..at + length);
                length
            }
            _ => {
                let more = rest[1..].iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
                tokens.push(at..at + 1 + more);
                1 + more
            }
        };
        begins_line = false;
        at += length.max(1);
    }
    tokens
}

/// Length of a directive, including continued lines.
fn directive(rest: &[u8]) -> usize {
    let mut before = 0;
    for (at, byte) in rest.iter().enumerate() {
        if *byte == b'\n' && before != b'\\' {
            return at;
        }
        before = *byte;
    }
    rest.len()
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_word(text: &str) -> bool {
    text.as_bytes()
        .first()
        .is_some_and(|byte| is_letter(*byte) && !byte.is_ascii_digit())
}

/// The texture type in a combined type, and whether it is a depth comparison: `sampler2DShadow` is `texture2D` and
/// true.
fn parts(ty: &str) -> Option<(String, bool)> {
    let at = ty.find("sampler").filter(|at| matches!(&ty[..*at], "" | "i" | "u"))?;
    let dim = &ty[at + "sampler".len()..];
    let (dim, shadow) = dim.strip_suffix("Shadow").map_or((dim, false), |dim| (dim, true));
    let known = [
        "1D",
        "2D",
        "3D",
        "Cube",
        "1DArray",
        "2DArray",
        "CubeArray",
        "2DMS",
        "2DMSArray",
    ];
    known
        .contains(&dim)
        .then(|| (format!("{}texture{dim}", &ty[..at]), shadow))
}

/// Sets and bindings in layout qualifiers.
fn bindings(text: &str, tokens: &[Range<usize>]) -> BTreeSet<(u32, u32)> {
    let layouts = (0..tokens.len()).filter(|at| &text[tokens[*at].clone()] == "layout");
    layouts.filter_map(|at| layout(text, &tokens[at..]).1).collect()
}

/// Number of tokens in a layout qualifier, and its set and binding.
fn layout(text: &str, tokens: &[Range<usize>]) -> (usize, Option<(u32, u32)>) {
    let word = |at: usize| tokens.get(at).map_or("", |token| &text[token.clone()]);
    let (mut set, mut binding, mut at) = (0, None, 0);
    while at < tokens.len() && word(at) != ")" {
        let value = || (word(at + 1) == "=").then(|| word(at + 2).parse().ok()).flatten();
        match word(at) {
            "set" => set = value().unwrap_or(set),
            "binding" => binding = value(),
            _ => {}
        }
        at += 1;
    }
    (at + 1, binding.map(|binding| (set, binding)))
}

/// Functions defined in the text: a word before an opening parenthesis and after a type.
fn functions<'t>(text: &'t str, tokens: &[Range<usize>]) -> HashSet<&'t str> {
    let word = |at: usize| &text[tokens[at].clone()];
    let mut depth = 0;
    let mut found = HashSet::new();
    for at in 0..tokens.len() {
        match word(at) {
            "{" => depth += 1,
            "}" => depth -= 1,
            "(" if depth == 0 && at > 1 && is_word(word(at - 1)) && is_word(word(at - 2)) => {
                found.insert(word(at - 1));
            }
            _ => {}
        }
    }
    found
}

struct Splitter<'t> {
    text: &'t str,
    tokens: Vec<Range<usize>>,
    /// Words of the text, and those already used for macros.
    words: HashSet<&'t str>,
    taken: BTreeSet<(u32, u32)>,
    functions: HashSet<&'t str>,
    out: Vec<u8>,
    macros: Vec<(String, String)>,
    /// Macro names by their replacement.
    aliases: HashMap<String, String>,
    /// Samplers of the text, with their types.
    globals: HashMap<&'t str, &'t str>,
}

impl<'t> Splitter<'t> {
    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| &self.text[token.clone()])
    }

    /// Processes the text; `None` if no unused word is left.
    fn run(&mut self) -> Option<()> {
        // Samplers of the current function, and names that hide global ones.
        let mut local: HashMap<&str, Option<&str>> = HashMap::new();
        // Functions whose parentheses are open.
        let mut calls: Vec<&str> = Vec::new();
        let (mut at, mut depth) = (0, 0usize);
        while at < self.tokens.len() {
            let word = self.word(at);
            match word {
                "(" => calls.push(if at > 0 { self.word(at - 1) } else { "" }),
                ")" => drop(calls.pop()),
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        local.clear();
                    }
                }
                ";" if depth == 0 && calls.is_empty() => local.clear(),
                _ => {}
            }
            if depth == 0 && calls.is_empty() && (word == "layout" || word == "uniform") {
                at = self.uniform(at)?.max(at + 1);
                continue;
            }
            let next = self.word(at + 1);
            if parts(word).is_some() && is_word(next) && depth == 0 && calls.len() == 1 {
                local.insert(next, Some(word));
                let range = self.tokens[at].start..self.tokens[at + 1].end;
                self.replace(range, &both_declared(word, next))?;
                at += 2;
                continue;
            }
            // A variable of the same name hides the sampler.
            if depth > 0
                && is_word(next)
                && is_word(word)
                && self.globals.contains_key(next)
                && word != "return"
                && word != "else"
            {
                local.insert(next, None);
            }
            let sampler = match local.get(word) {
                Some(hidden) => *hidden,
                None => self.globals.get(word).copied(),
            };
            if let Some(ty) = sampler.filter(|_| at == 0 || self.word(at - 1) != ".") {
                let alone = matches!(self.word(at - 1), "(" | ",") && matches!(next, ")" | ",");
                let handed_on = calls.last().is_some_and(|callee| self.functions.contains(callee));
                let meant = match alone && handed_on {
                    true => format!("{word}_texture, {word}_sampler"),
                    false => format!("{ty}({word}_texture, {word}_sampler)"),
                };
                self.replace(self.tokens[at].clone(), &meant)?;
            }
            at += 1;
        }
        Some(())
    }

    /// A declaration of samplers that begins here, with its layout: the index after it, or 0 for any other token.
    fn uniform(&mut self, from: usize) -> Option<usize> {
        let (mut at, mut place) = (from, None);
        if self.word(at) == "layout" {
            let (length, found) = layout(self.text, &self.tokens[at..]);
            (at, place) = (at + length, found);
        }
        if self.word(at) != "uniform" {
            return Some(0);
        }
        at += 1;
        while matches!(self.word(at), "lowp" | "mediump" | "highp") {
            at += 1;
        }
        let ty = self.word(at);
        if parts(ty).is_none() {
            return Some(0);
        }
        let mut names = Vec::new();
        while is_word(self.word(at + 1)) {
            names.push(self.word(at + 1));
            at += 2;
            if self.word(at) != "," {
                break;
            }
        }
        if self.word(at) != ";" || names.is_empty() {
            return Some(0);
        }
        let mut declared = String::new();
        for name in names {
            let (set, binding) = place.take().unwrap_or_else(|| self.free(0));
            self.taken.insert((set, binding));
            let (_, sampler) = self.free(set);
            self.taken.insert((set, sampler));
            let (texture, shadow) = parts(ty)?;
            let kind = if shadow { "samplerShadow" } else { "sampler" };
            declared += &format!(
                "layout(set={set}, binding={binding}) uniform {texture} {name}_texture; \
                 layout(set={set}, binding={sampler}) uniform {kind} {name}_sampler; "
            );
            self.globals.insert(name, ty);
        }
        let range = self.tokens[from].start..self.tokens[at].end;
        self.replace(range, &declared)?;
        Some(at + 1)
    }

    /// The first free binding of a set.
    fn free(&self, set: u32) -> (u32, u32) {
        let mut binding = 0;
        while self.taken.contains(&(set, binding)) {
            binding += 1;
        }
        (set, binding)
    }

    /// Replaces a part of the text by a macro.
    fn replace(&mut self, range: Range<usize>, meant: &str) -> Option<()> {
        let alias = match self.aliases.get(&format!("{}:{meant}", range.len())) {
            Some(alias) => alias.clone(),
            None => self.alias(range.len(), meant)?,
        };
        for (at, byte) in self.out[range.clone()].iter_mut().enumerate() {
            match alias.as_bytes().get(at) {
                Some(letter) => *byte = *letter,
                // Keep line breaks.
                None if *byte != b'\n' => *byte = b' ',
                None => {}
            }
        }
        Some(())
    }

    /// A new word of at most this many letters.
    fn alias(&mut self, length: usize, meant: &str) -> Option<String> {
        let used = |word: &str| self.words.contains(word) || self.macros.iter().any(|(name, _)| name == word);
        let alias = match length {
            1 => ('A'..='Z').chain('a'..='z').map(String::from).find(|word| !used(word)),
            2 => ('A'..='Z')
                .flat_map(|a| ('0'..='9').map(move |b| format!("{a}{b}")))
                .find(|word| !used(word)),
            _ => {
                let mut number = self.macros.len();
                let digits = |number: usize| format!("Z{number:0width$}", width = 2.min(length - 1));
                while used(&digits(number)) {
                    number += 1;
                }
                Some(digits(number)).filter(|word| word.len() <= length)
            }
        }?;
        self.macros.push((alias.clone(), meant.to_owned()));
        self.aliases.insert(format!("{length}:{meant}"), alias.clone());
        Some(alias)
    }
}

/// A parameter list entry for a texture and a sampler.
fn both_declared(ty: &str, name: &str) -> String {
    let (texture, shadow) = parts(ty).unwrap_or_default();
    let kind = if shadow { "samplerShadow" } else { "sampler" };
    format!("{texture} {name}_texture, {kind} {name}_sampler")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with its macros expanded.
    fn expanded(text: &str) -> String {
        let split = split(text).unwrap();
        assert_eq!(split.text.len(), text.len());
        let mut expanded = split.text;
        for (name, meant) in split.macros.iter().rev() {
            expanded = expanded.replace(name, meant);
        }
        expanded
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .replace(" ,", ",")
    }

    #[test]
    fn splits_textures_and_samplers() {
        let text = "#version 450\nlayout(set = 0, binding = 3) uniform sampler2D stone;\nuniform samplerCube sky; // sky\n\
                    vec4 at(sampler2D s, vec2 p) { return texture(s, p); }\n\
                    void main() { c = at(stone, uv) + texture(sky, d); }\n";
        let expanded = expanded(text);
        assert!(
            expanded.contains("layout(set=0, binding=3) uniform texture2D stone_texture;"),
            "{expanded}"
        );
        assert!(
            expanded.contains("layout(set=0, binding=0) uniform sampler stone_sampler;"),
            "{expanded}"
        );
        assert!(
            expanded.contains("layout(set=0, binding=1) uniform textureCube sky_texture;"),
            "{expanded}"
        );
        assert!(
            expanded.contains("vec4 at(texture2D s_texture, sampler s_sampler, vec2 p)"),
            "{expanded}"
        );
        assert!(
            expanded.contains("texture(sampler2D(s_texture, s_sampler), p)"),
            "{expanded}"
        );
        assert!(expanded.contains("at(stone_texture, stone_sampler, uv)"), "{expanded}");
        assert!(
            expanded.contains("texture(samplerCube(sky_texture, sky_sampler), d)"),
            "{expanded}"
        );
    }

    #[test]
    fn texts_without_samplers_are_unchanged() {
        assert_eq!(
            split("uniform texture2D a; uniform sampler b; void main() { texture(sampler2D(a, b), p); }"),
            None
        );
        assert_eq!(split("// uniform sampler2D a;\n"), None);
        let hidden = expanded("uniform sampler2D a; void main() { float a = 1.0; x = a; }");
        assert!(hidden.ends_with("{ float a = 1.0; x = a; }"), "{hidden}");
    }

    #[test]
    fn shadow_types_compare() {
        let expanded = expanded("uniform mediump sampler2DShadow depth;\nfloat f() { return texture(depth, p); }");
        assert!(expanded.contains("uniform texture2D depth_texture;"), "{expanded}");
        assert!(expanded.contains("uniform samplerShadow depth_sampler;"), "{expanded}");
        assert!(
            expanded.contains("texture(sampler2DShadow(depth_texture, depth_sampler), p)"),
            "{expanded}"
        );
    }
}
