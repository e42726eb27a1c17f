//! Limits on nesting and macro expansion, checked before a front end parses a text. Front ends recurse, so deep nesting
//! would overflow the stack. One scan of the tokens suffices for all languages, which share brackets, operators, `if`
//! and `else`.

use crate::{Error, ErrorKind, Language, Result};
use loader::SourceError;
use std::collections::HashMap;
use std::ops::Range;

/// Limit on nested brackets of any kind.
const MAX_DEPTH: u32 = 512;

/// Limit on prefix operators of one operand, and on `?` in one statement; statements may nest twice as deep, `else if`
/// counting as two.
const MAX_CHAIN: u32 = 256;

/// Limit on tokens in one statement.
const MAX_STATEMENT: u32 = 65_536;

/// Limit on tokens of all expanded macros in a text.
const MAX_EXPANSION: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    at: usize,
    kind: Kind,
}

impl Token<'_> {
    fn place(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

/// Tokens of a text without comments; a directive's tokens are between a `#` and the line end, which is a token there.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
    directive: bool,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        let (at, directive) = (0, false);
        Self { text, at, directive }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.chars().next()?;
            let skipped = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else if rest.starts_with("\\\n") {
                2
            } else if rest.starts_with("\\\r\n") {
                3
            } else if first == '\n' && self.directive {
                self.directive = false;
                0
            } else if first.is_whitespace() {
                first.len_utf8()
            } else {
                0
            };
            if skipped > 0 {
                self.at += skipped;
                continue;
            }
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = |is: &dyn Fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
            let (length, kind) = match first {
                c if c.is_ascii_digit() => (end(&|c| is_word(c) || c == '.'), Kind::Other),
                c if is_word(c) => (end(&is_word), Kind::Word),
                c => (c.len_utf8(), Kind::Other),
            };
            self.directive |= first == '#';
            let token = Token {
                text: &rest[..length],
                at: self.at,
                kind,
            };
            self.at += length;
            return Some(token);
        }
    }
}

/// Rejects a text that exceeds the limits.
///
/// # Errors
/// The exceeded limit, with its value and the place.
pub(crate) fn check(language: Language, text: &str) -> Result<()> {
    let refuse = |token: &Token<'_>, what: String| -> Error {
        let (error, file) = (SourceError::new(text, token.place(), &what), None);
        ErrorKind::Text { language, error, file }.into()
    };
    let mut scan = Scan::default();
    let mut macros = Macros::default();
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next() {
        if token.text == "#" {
            let line: Vec<Token<'_>> = tokens.by_ref().take_while(|token| token.text != "\n").collect();
            macros.directive(&line).map_err(|what| refuse(&token, what))?;
            continue;
        }
        scan.token(&token).map_err(|what| refuse(&token, what))?;
        macros.token(&token).map_err(|what| refuse(&token, what))?;
    }
    Ok(())
}

/// The current depths.
#[derive(Default)]
struct Scan {
    /// Open brackets.
    depth: u32,
    /// For each open brace: nested statements without braces and `else`s.
    chains: Vec<u32>,
    /// Nested statements at this brace depth.
    chain: u32,
    /// The previous statement has ended; an `else` may continue it.
    ended: bool,
    /// Brackets opened since the last brace.
    inner: u32,
    signs: u32,
    choices: u32,
    length: u32,
}

impl Scan {
    fn token(&mut self, token: &Token<'_>) -> std::result::Result<(), String> {
        let most = |what: &str, have: u32, most: u32| match have > most {
            true => Err(format!("{what} more than {most}")),
            false => Ok(()),
        };
        self.length += 1;
        most("tokens in one statement:", self.length, MAX_STATEMENT)?;
        if self.ended && token.text != "else" && token.text != "}" {
            self.chain = 0;
        }
        self.ended = false;
        self.signs = match token.text {
            "-" | "!" | "~" | "+" | "*" | "&" => self.signs + 1,
            _ => 0,
        };
        most("signs in front of each other:", self.signs, MAX_CHAIN)?;
        match token.text {
            "(" | "[" => {
                self.depth += 1;
                self.inner += 1;
            }
            ")" | "]" => {
                self.depth = self.depth.saturating_sub(1);
                self.inner = self.inner.saturating_sub(1);
            }
            "{" => {
                self.depth += 1;
                self.chains.push(self.chain);
                (self.chain, self.inner, self.length, self.choices) = (0, 0, 0, 0);
            }
            "}" => {
                self.depth = self.depth.saturating_sub(1 + self.inner);
                self.chain = self.chains.pop().unwrap_or_default();
                (self.inner, self.length, self.choices) = (0, 0, 0);
                self.ended = true;
            }
            ";" if self.inner == 0 => {
                (self.length, self.choices) = (0, 0);
                self.ended = true;
            }
            "if" | "else" | "for" | "while" | "do" | "switch" => self.chain += 1,
            "?" => self.choices += 1,
            _ => {}
        }
        most("brackets inside each other:", self.depth, MAX_DEPTH)?;
        most("statements inside each other:", self.chain, 2 * MAX_CHAIN)?;
        most("choices (?) in one statement:", self.choices, MAX_CHAIN)
    }
}

/// The sizes of macro expansions.
#[derive(Default)]
struct Macros<'a> {
    sizes: HashMap<&'a str, Size>,
    calls: Calls,
    total: u64,
}

#[derive(Clone, Copy)]
struct Size {
    own: u64,
    /// How often an argument occurs in it at most; `None` for macros without arguments.
    repeats: Option<u64>,
}

/// Open macro calls.
#[derive(Default)]
struct Calls {
    /// For each call, how often its arguments are repeated, and the parentheses open in it.
    open: Vec<(u64, u32)>,
    /// A function-like macro has just been named.
    named: Option<u64>,
}

impl Calls {
    /// How often a token occurs in the expansion; `None` for parentheses.
    fn step(&mut self, token: &Token<'_>, sizes: &HashMap<&str, Size>) -> Option<u64> {
        let named = self.named.take();
        let factor = self.open.last().map_or(1, |(factor, _)| *factor);
        match (token.text, self.open.last_mut(), named) {
            ("(", _, Some(repeats)) => self.open.push((factor.saturating_mul(repeats.max(1)), 0)),
            ("(", Some((_, inner)), None) => *inner += 1,
            (")", Some((_, 0)), _) => drop(self.open.pop()),
            (")", Some((_, inner)), _) => *inner -= 1,
            ("(" | ")", None, _) => {}
            (word, ..) => {
                self.named = sizes.get(word).and_then(|size| size.repeats);
                return Some(factor);
            }
        }
        None
    }
}

impl<'a> Macros<'a> {
    fn directive(&mut self, line: &[Token<'a>]) -> std::result::Result<(), String> {
        let [define, name, rest @ ..] = line else { return Ok(()) };
        if define.text != "define" {
            return Ok(());
        }
        let is_open = rest
            .first()
            .is_some_and(|token| token.text == "(" && token.at == name.at + name.text.len());
        let end = rest.iter().position(|token| token.text == ")").filter(|_| is_open);
        let (parameters, body) = rest.split_at(end.map_or(0, |end| end + 1));
        let mut own = 0u64;
        let mut counts: HashMap<&str, u64> = HashMap::new();
        let mut calls = Calls::default();
        for token in body {
            let Some(factor) = calls.step(token, &self.sizes) else {
                continue;
            };
            if token.kind == Kind::Word && parameters.iter().any(|parameter| parameter.text == token.text) {
                let count = counts.entry(token.text).or_default();
                *count = count.saturating_add(factor);
            } else {
                let size = self.sizes.get(token.text).map_or(1, |size| size.own);
                own = own.saturating_add(size.saturating_mul(factor));
            }
        }
        if own > MAX_EXPANSION {
            return Err(expansion());
        }
        let repeats = match end {
            Some(_) => Some(counts.values().copied().max().unwrap_or(0)),
            // It may expand to the name of a function-like macro.
            None => calls.named,
        };
        self.sizes.insert(name.text, Size { own, repeats });
        Ok(())
    }

    fn token(&mut self, token: &Token<'a>) -> std::result::Result<(), String> {
        let Some(factor) = self.calls.step(token, &self.sizes) else {
            return Ok(());
        };
        let size = self.sizes.get(token.text);
        if size.is_some() || factor > 1 {
            let own = size.map_or(1, |size| size.own);
            self.total = self.total.saturating_add(own.saturating_mul(factor));
        }
        match self.total > MAX_EXPANSION {
            true => Err(expansion()),
            false => Ok(()),
        }
    }
}

fn expansion() -> String {
    format!("macros that stand for more than {MAX_EXPANSION} tokens")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> Option<String> {
        check(Language::Glsl, text).err().map(|error| error.to_string())
    }

    #[test]
    fn deep_and_wide_texts_are_rejected_with_the_limit() {
        let many = |part: &str, count: usize| part.repeat(count);
        let doubling = |count: usize| {
            (1..count).fold("#define A0 1 1\n".to_owned(), |text, at| {
                let before = at - 1;
                text + &format!("#define A{at} A{before} A{before}\n")
            })
        };
        for (text, says) in [
            (many("(", 20_000), "brackets inside each other: more than 512"),
            (
                format!("x = {}1;", many("- ", 20_000)),
                "signs in front of each other: more than 256",
            ),
            (many("{", 20_000), "brackets inside each other: more than 512"),
            (many("if (a) ", 3000), "statements inside each other: more than 512"),
            (
                many("if (a) x = 1; else ", 3000),
                "statements inside each other: more than 512",
            ),
            (
                many("if (a) { x = 1; } else ", 3000),
                "statements inside each other: more than 512",
            ),
            (many("a[", 20_000), "brackets inside each other: more than 512"),
            (many("a ? b : ", 3000), "choices (?) in one statement: more than 256"),
            (many("a + ", 40_000), "more than 65536"),
            (doubling(40), "macros that stand for more than 1048576 tokens"),
            (
                format!("#define D(x) x x\ny = {}1{};", many("D(", 30), many(")", 30)),
                "macros that stand for more than 1048576 tokens",
            ),
            (
                format!(
                    "#define D(x) x x\n#define E(x) D(D(D(D(D(x)))))\ny = {}1{};",
                    many("E(", 6),
                    many(")", 6)
                ),
                "macros that stand for more than 1048576 tokens",
            ),
        ] {
            let error = refusal(&text).unwrap_or_else(|| panic!("taken: {says}"));
            assert!(error.contains(says), "{says}: {error}");
        }
    }

    #[test]
    fn long_texts_are_accepted() {
        let block = "if (a) { x = f(y[1], -z) ? 1 : 2; } else if (b) x = 2; else { x = 3; }\nfor (;;) { continue; }\n";
        let all = format!(
            "#define HALF(x) ((x) * 0.5)\n#define PI 3.14\nstruct S {{ float a; vec2 b, c; }};\nvoid main() {{\n{}\n}}\n{}",
            block.repeat(4000),
            "float f() { return HALF(PI) + HALF(HALF(1.0)); }\n".repeat(2000)
        );
        assert_eq!(refusal(&all), None);
        assert_eq!(
            refusal(&format!("const float t[] = {{ {} }};", "1.0, ".repeat(20_000))),
            None
        );
        assert_eq!(refusal("// (((((((\n/* ((( */ #pragma (((\n"), None);
    }
}
