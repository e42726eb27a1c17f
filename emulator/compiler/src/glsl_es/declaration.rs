//! Declarations: variables that come from outside, samplers, structures.

use super::rewriter::Rewriter;
use super::tables::{ARRAY_LOOKUPS, is_precision, sampler_spelled, sampler_type};
use super::uplifted::Role;
use crate::error::{Error, Result};
use crate::interface::Stage;
use pp_rs::token::{Punct, TokenValue};
use std::fmt::Write;

/// Elements of an array of samplers at most; units are fewer.
const MAX_SAMPLER_ARRAY: u32 = 32;

impl Rewriter {
    pub(super) fn declaration(&mut self, storage: &str) -> Result<()> {
        let flat = std::mem::take(&mut self.flat);
        self.at += 1;
        while self.ident(0).is_some_and(|name| is_precision(&name)) {
            self.precision();
        }
        let mut ty_at = self.at;
        let Some(mut ty) = self.ident(0) else {
            return Err(Error::invalid(format!("`{storage}` without a type")).at(Some(self.here())));
        };
        if ty == "struct" || self.is(1, Punct::LeftBrace) {
            let block = ty != "struct";
            ty = match self.structure(block)? {
                Some(name) => name,
                None => return Ok(()),
            };
            ty_at = self.at;
        } else {
            self.at += 1;
        }
        loop {
            let Some(name) = self.ident(0) else {
                return Err(Error::invalid(format!("`{storage}` without a name")).at(Some(self.here())));
            };
            let name_at = self.at;
            self.at += 1;
            let array = self.array()?;
            if let Some(cube) = sampler_type(&ty) {
                match array {
                    Some(length) => self.sampler_array(&name, cube, &length, name_at)?,
                    None => self.sampler(&name, &name, cube, name_at),
                }
            } else {
                let own = self.own(&name);
                let role = match (storage, self.stage) {
                    ("uniform", _) => Role::Uniform(name.clone()),
                    ("attribute", _) | ("in", Stage::Vertex) => Role::Attribute(name.clone()),
                    ("varying", Stage::Vertex) | ("out", Stage::Vertex) => Role::VaryingOut(name.clone()),
                    ("out", Stage::Fragment) => Role::Color,
                    _ => Role::VaryingIn(name.clone()),
                };
                let place = self.place(name_at);
                self.out.declare(own.clone(), role, place);
                self.out
                    .roles
                    .entry(own.clone())
                    .and_modify(|declared| declared.flat = flat);
                let after = std::mem::replace(&mut self.at, ty_at);
                let spelled = self.own(&ty);
                self.emit(&spelled);
                self.at = name_at;
                self.emit(&own);
                self.at = after;
                if let Some(tokens) = array {
                    self.out.text.push_str(&tokens);
                }
                self.emit(";");
            }
            if self.is(0, Punct::Comma) {
                self.at += 1;
                continue;
            }
            if !self.is(0, Punct::Semicolon) {
                return Err(Error::invalid(format!("`;` is missing behind {name}")).at(Some(self.here())));
            }
            self.at += 1;
            return Ok(());
        }
    }

    /// `[...]` behind a name.
    fn array(&mut self) -> Result<Option<String>> {
        if !self.is(0, Punct::LeftBracket) {
            return Ok(None);
        }
        let start = self.out.text.len();
        while self.at < self.tokens.len() && !self.is(0, Punct::RightBracket) {
            match self.ident(0) {
                Some(name) => self.name(&name)?,
                None => self.other(),
            }
        }
        self.other();
        let text = self.out.text.split_off(start);
        self.out.places.retain(|(at, _)| *at < start);
        Ok(Some(text))
    }

    /// A structure of the declaration's own, written in front of it: its name; nothing when it was a block without a name,
    /// whose members are variables of their own.
    fn structure(&mut self, block: bool) -> Result<Option<String>> {
        let start = self.at;
        let named = self.ident(usize::from(!block));
        let open = start + usize::from(!block) + usize::from(named.is_some());
        let mut end = open;
        while end < self.tokens.len() && self.tokens[end].value != TokenValue::Punct(Punct::RightBrace) {
            end += 1;
        }
        let behind = self.tokens.get(end + 1).map(|token| &token.value);
        if block && behind == Some(&TokenValue::Punct(Punct::Semicolon)) {
            self.at = open + 1;
            while self.at < end {
                self.at -= 1;
                self.declaration("uniform")?;
            }
            self.at = end + 2;
            return Ok(None);
        }
        let name = named.unwrap_or_else(|| {
            self.nameless += 1;
            format!("es_structure{}", self.nameless)
        });
        self.emit("struct");
        let own = self.own(&name);
        self.emit(&own);
        self.at = open;
        while self.at <= end && self.at < self.tokens.len() {
            match self.ident(0) {
                Some(name) => self.word(&name)?,
                None => self.other(),
            }
        }
        self.emit(";");
        Ok(Some(name))
    }

    /// An array of samplers: each element, and functions that look up in one of them.
    fn sampler_array(&mut self, name: &str, cube: bool, length: &str, at: usize) -> Result<()> {
        let place = self.place(at);
        let refusal = |message: String| Err(Error::unsupported(message).at(Some(place.clone())));
        let Some(count) = self.known_length(length) else {
            return refusal(format!("{name}: an array of samplers whose length is no plain number"));
        };
        if count == 0 || count > MAX_SAMPLER_ARRAY {
            return refusal(format!("{name}: an array of {count} samplers"));
        }
        for element in 0..count {
            self.sampler(&format!("{name}_e{element}"), &format!("{name}[{element}]"), cube, at);
        }
        self.sampler_arrays.insert(name.to_owned(), count);
        let own = self.own(name);
        for (_, function, parameters, arguments) in ARRAY_LOOKUPS.iter().filter(|row| row.0 == cube) {
            let mut text = format!("vec4 es_{own}_{function}(int element, {parameters}) {{ ");
            for element in 0..count {
                if element + 1 < count {
                    let _ = write!(text, "if (element <= {element}) ");
                }
                let sampler = self.own(&format!("{name}_e{element}"));
                let _ = write!(text, "return {function}({sampler}, {arguments}); ");
            }
            let after = std::mem::replace(&mut self.at, at);
            self.emit(&format!("{text}}}"));
            self.at = after;
        }
        Ok(())
    }

    /// The number in `[...]`: a plain one, or a constant that is one.
    fn known_length(&self, length: &str) -> Option<u32> {
        let inner = length.trim().trim_start_matches('[').trim_end_matches(']').trim();
        if let Ok(number) = inner.parse() {
            return Some(number);
        }
        self.tokens
            .windows(3)
            .find_map(|tokens| match [0, 1, 2].map(|at| &tokens[at].value) {
                [
                    TokenValue::Ident(name),
                    TokenValue::Punct(Punct::Equal),
                    TokenValue::Integer(number),
                ] if name == inner => u32::try_from(number.value).ok(),
                _ => None,
            })
    }

    /// A look-up in an element of an array of samplers, the token at hand being the function.
    pub(super) fn array_lookup(&mut self, function: &str, array: &str) -> Result<()> {
        let own = self.own(array);
        self.emit(&format!("es_{own}_{function} ( int ("));
        self.at += 3;
        if !self.is(0, Punct::LeftBracket) {
            return Err(Error::unsupported(format!("{array}: an array of samplers as a whole")).at(Some(self.here())));
        }
        self.at += 1;
        let mut depth = 0;
        while self.at < self.tokens.len() && (depth > 0 || !self.is(0, Punct::RightBracket)) {
            depth += u32::from(self.is(0, Punct::LeftBracket));
            depth -= u32::from(self.is(0, Punct::RightBracket)).min(depth);
            match self.ident(0) {
                Some(name) => self.name(&name)?,
                None => self.other(),
            }
        }
        self.emit(")");
        self.at += 1;
        Ok(())
    }

    /// An element of an array of samplers as an argument; the token at hand is the array's name, and the last one then.
    pub(super) fn array_element(&mut self, name: &str, count: u32) -> Result<()> {
        let number = match self.peek(2) {
            Some(TokenValue::Integer(number)) if self.is(1, Punct::LeftBracket) && self.is(3, Punct::RightBracket) => {
                u32::try_from(number.value).ok().filter(|number| *number < count)
            }
            _ => None,
        };
        let Some(number) = number else {
            return Err(
                Error::unsupported(format!("{name}: a sampler that is chosen while running as an argument"))
                    .at(Some(self.here())),
            );
        };
        let own = self.own(&format!("{name}_e{number}"));
        self.emit(&own);
        self.at += 3;
        Ok(())
    }

    /// A sampler: its name in the text, and the one it is known by outside.
    fn sampler(&mut self, name: &str, outside: &str, cube: bool, at: usize) {
        let (own, kind, binding) = (self.own(name), sampler_spelled(cube), self.bindings);
        self.bindings += 1;
        let place = self.place(at);
        self.out.declare(own.clone(), Role::Sampler(outside.to_owned()), place);
        let after = std::mem::replace(&mut self.at, at);
        self.emit(&format!("layout(set=0,binding={binding}) uniform {kind} {own} ;"));
        self.at = after;
    }
}
