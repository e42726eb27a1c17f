//! Tokens of the old languages, one after the other, to text of the modern one.

use super::tables::{
    CONSTANTS, FUNCTIONS, LOOKUPS, RESERVED, is_kept, is_precision, sampler_spelled, sampler_type, spelled, variables,
};
use super::uplifted::Uplifted;
use crate::error::{Error, Result};
use crate::interface::Stage;
use pp_rs::token::{Punct, Token, TokenValue};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::ops::Range;

/// A rewriting at work.
pub(super) struct Rewriter {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) stage: Stage,
    modern: bool,
    /// Derivatives along y are those of rows that go down.
    rows_down: bool,
    pub(super) out: Uplifted,
    /// Arrays of samplers, with their elements.
    pub(super) sampler_arrays: HashMap<String, u32>,
    pub(super) renamed: HashSet<String>,
    used: Vec<&'static str>,
    pub(super) bindings: u32,
    /// Structures without a name so far.
    pub(super) nameless: u32,
    depth: u32,
    /// The declaration that comes is of something flat.
    pub(super) flat: bool,
}

/// Names of the source's own that mean something to the modern front end.
fn renamed(tokens: &[Token], modern: bool) -> HashSet<String> {
    let ident = |token: &Token| match &token.value {
        TokenValue::Ident(name) if RESERVED.contains(&name.as_str()) && !is_kept(name) => Some(name.clone()),
        _ => None,
    };
    // Words of a declaration that stand in front of its type.
    let qualifies = |name: &str| {
        is_precision(name)
            || matches!(
                name,
                "const" | "in" | "out" | "inout" | "attribute" | "varying" | "uniform" | "flat" | "smooth" | "centroid"
            )
    };
    let declares = |token: &Token| match &token.value {
        TokenValue::Ident(name) => !matches!(name.as_str(), "return" | "else" | "precision") && !qualifies(name),
        _ => false,
    };
    let called = |at: usize| {
        let next = tokens.get(at + 1).map(|token| &token.value);
        next == Some(&TokenValue::Punct(Punct::LeftParen))
    };
    let named = tokens.iter().enumerate().filter_map(|(at, token)| {
        let name = ident(token)?;
        let declared = at > 0 && declares(&tokens[at - 1]);
        // The old languages have no such words but functions of the same names.
        (declared || !modern && !called(at)).then_some(name)
    });
    named.collect()
}

impl Rewriter {
    /// Rewrites tokens; `modern` if they are of a language with `in` and `out`.
    pub(super) fn new(tokens: Vec<Token>, stage: Stage, modern: bool, rows_down: bool) -> Self {
        Self {
            renamed: renamed(&tokens, modern),
            tokens,
            at: 0,
            stage,
            modern,
            rows_down,
            out: Uplifted::default(),
            sampler_arrays: HashMap::new(),
            used: Vec::new(),
            bindings: 0,
            nameless: 0,
            depth: 0,
            flat: false,
        }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<&TokenValue> {
        self.tokens.get(self.at + ahead).map(|token| &token.value)
    }

    pub(super) fn ident(&self, ahead: usize) -> Option<String> {
        match self.peek(ahead) {
            Some(TokenValue::Ident(name)) => Some(name.clone()),
            _ => None,
        }
    }

    pub(super) fn is(&self, ahead: usize, punct: Punct) -> bool {
        matches!(self.peek(ahead), Some(TokenValue::Punct(have)) if *have == punct)
    }

    pub(super) fn here(&self) -> Range<usize> {
        self.place(self.at)
    }

    /// Bytes of the source that a token is.
    pub(super) fn place(&self, at: usize) -> Range<usize> {
        let at = at.min(self.tokens.len().saturating_sub(1));
        let location = self.tokens.get(at).map(|token| token.location).unwrap_or_default();
        location.start as usize..location.end as usize
    }

    /// Appends words that stand for the token at hand. Each token has a line of its own: a line of the text that is
    /// written is then a place in the source.
    pub(super) fn emit(&mut self, text: &str) {
        let place = self.here();
        self.out.places.push((self.out.text.len(), place));
        self.out.text.push_str(text);
        self.out.text.push('\n');
    }

    pub(super) fn run(&mut self) -> Result<()> {
        self.out.text.push_str("#version 450\n");
        while self.at < self.tokens.len() {
            match self.ident(0) {
                Some(name) => self.word(&name)?,
                None => self.other(),
            }
        }
        Ok(())
    }

    pub(super) fn other(&mut self) {
        let text = match self.peek(0) {
            Some(TokenValue::Integer(number)) if number.signed => number.value.to_string(),
            Some(TokenValue::Integer(number)) => format!("{}u", number.value),
            Some(TokenValue::Float(number)) => format!("{:?}", number.value),
            Some(TokenValue::Punct(punct)) => {
                let punct = *punct;
                match punct {
                    Punct::LeftBrace => self.depth += 1,
                    Punct::RightBrace => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                spelled(punct).to_owned()
            }
            _ => String::new(),
        };
        self.emit(&text);
        self.at += 1;
    }

    pub(super) fn word(&mut self, name: &str) -> Result<()> {
        match name {
            "precision" => {
                while self.at < self.tokens.len() && !self.is(0, Punct::Semicolon) {
                    self.precision();
                }
                self.at += 1;
            }
            // A parameter that is not written either: the modern language has no word for it.
            "const" if self.ident(1).as_deref() == Some("in") => self.at += 2,
            _ if is_precision(name) => self.precision(),
            "invariant" | "centroid" | "smooth" if !self.renamed.contains(name) => {
                // `invariant gl_Position;` says nothing here, `invariant varying` less than what follows.
                if name == "invariant" && self.is(2, Punct::Semicolon) {
                    self.at += 3;
                } else {
                    self.at += 1;
                }
            }
            "flat" if self.modern && !self.renamed.contains(name) => {
                (self.flat, self.at) = (true, self.at + 1);
            }
            "attribute" | "varying" | "uniform" if self.depth == 0 => self.declaration(name)?,
            "layout" if self.depth == 0 && self.modern => {
                while self.at < self.tokens.len() && !self.is(0, Punct::RightParen) {
                    self.at += 1;
                }
                self.at += 1;
            }
            "in" | "out" if self.depth == 0 && self.modern && self.at_statement() => self.declaration(name)?,
            _ => return self.name(name),
        }
        Ok(())
    }

    /// Leaves out a word about precision: the hardware has one for each stage.
    pub(super) fn precision(&mut self) {
        if self.stage == Stage::Fragment && self.ident(0).as_deref() == Some("highp") {
            self.out.highp.push(self.here());
        }
        self.at += 1;
    }

    /// Whether the token stands where a declaration begins.
    fn at_statement(&self) -> bool {
        let before = self
            .at
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .map(|token| &token.value);
        match before {
            None | Some(TokenValue::Punct(Punct::Semicolon | Punct::RightBrace | Punct::RightParen)) => true,
            Some(TokenValue::Ident(name)) => matches!(name.as_str(), "smooth" | "centroid" | "invariant" | "flat"),
            _ => false,
        }
    }

    /// A name of the source's own as the text has it.
    pub(super) fn own(&self, name: &str) -> String {
        if self.renamed.contains(name) || name.starts_with("es_") || name.contains("__") {
            format!("{}_u", name.replace("__", "_D_"))
        } else {
            name.to_owned()
        }
    }

    pub(super) fn name(&mut self, name: &str) -> Result<()> {
        if let Some((_, new)) = CONSTANTS.iter().find(|(old, _)| *old == name) {
            self.emit(new);
        } else if name == "gl_FragData" {
            let zero = matches!(self.peek(2), Some(TokenValue::Integer(number)) if number.value == 0);
            if !(self.is(1, Punct::LeftBracket) && zero && self.is(3, Punct::RightBracket)) {
                return Err(Error::unsupported("several colour outputs (gl_FragData)").at(Some(self.here())));
            }
            self.used.push("gl_FragData");
            self.emit("es_FragColor");
            self.at += 3;
        } else if let Some((old, new, ..)) = variables(self.stage).into_iter().find(|(old, ..)| *old == name) {
            self.used.push(old);
            self.emit(new);
        } else if name == "gl_DepthRange" {
            let value = match self.ident(2).as_deref() {
                Some("near") => "0.0",
                _ => "1.0",
            };
            self.emit(value);
            self.at += 2;
        } else if name.starts_with("gl_") {
            return Err(Error::unsupported(format!("the built-in {name}")).at(Some(self.here())));
        } else if let Some(cube) = sampler_type(name) {
            self.emit(sampler_spelled(cube));
        } else if name == "dFdy" && self.rows_down && !self.renamed.contains(name) {
            self.emit("- dFdy");
        } else if let Some((old, new, _)) = FUNCTIONS.iter().find(|(old, ..)| *old == name && self.is_built_in(old)) {
            self.used.push(old);
            self.emit(new);
        } else if let Some(new) = self.lookup(name) {
            if let Some(array) = self.ident(2).filter(|name| self.sampler_arrays.contains_key(name)) {
                return self.array_lookup(new, &array);
            }
            self.emit(new);
        } else if let Some(count) = self.sampler_arrays.get(name).copied() {
            self.array_element(name, count)?;
        } else {
            let own = self.own(name);
            self.emit(&own);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether the token at hand calls a function that the source does not declare itself.
    fn is_built_in(&self, name: &str) -> bool {
        let declares = |pair: &[Token]| match [&pair[0].value, &pair[1].value] {
            [TokenValue::Ident(ty), TokenValue::Ident(declared)] => declared == name && ty != "return" && ty != "else",
            _ => false,
        };
        self.is(1, Punct::LeftParen) && !self.tokens.windows(2).any(declares)
    }

    fn lookup(&self, name: &str) -> Option<&'static str> {
        if self.renamed.contains(name) || !self.is(1, Punct::LeftParen) {
            return None;
        }
        LOOKUPS.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
    }

    /// The text with the built-in variables it uses in front.
    pub(super) fn finish(mut self) -> Uplifted {
        let mut front = String::from("#version 450\n");
        let mut roles = Vec::new();
        for (old, new, ty, role) in variables(self.stage) {
            if self.used.contains(&old) && !roles.iter().any(|(name, _)| name == new) {
                let _ = writeln!(front, "{ty} {new};");
                roles.push((new.to_owned(), role));
            }
        }
        for (_, _, text) in FUNCTIONS.iter().filter(|(old, ..)| self.used.contains(old)) {
            front.push_str(text);
            front.push('\n');
        }
        for (name, role) in roles {
            self.out.declare(name, role, 0..0);
        }
        let head = "#version 450\n".len();
        let moved = front.len() - head;
        front.push_str(&self.out.text[head..]);
        self.out.text = front;
        for (at, _) in &mut self.out.places {
            *at += moved;
        }
        self.out
    }
}
