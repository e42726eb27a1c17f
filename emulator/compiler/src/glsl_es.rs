//! GLSL ES 1.00 (and 3.00, and desktop GLSL of that age) for a front end that knows modern GLSL only: the preprocessor
//! runs first, then the tokens are rewritten. Attributes, varyings, uniforms and built-in variables become plain global
//! variables, whose roles are told beside the text; textures and samplers are parted.

use crate::error::{Error, Result};
use crate::interface::Stage;
use pp_rs::pp::Preprocessor;
use pp_rs::token::{Punct, Token, TokenValue};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::ops::Range;

/// What a global variable of the rewritten text is; with the name it had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// A uniform.
    Uniform(String),
    /// A texture with its sampler.
    Sampler(String),
    /// An attribute.
    Attribute(String),
    /// A varying of a fragment program.
    VaryingIn(String),
    /// A varying of a vertex program.
    VaryingOut(String),
    /// `gl_Position`
    Position,
    /// `gl_PointSize`
    PointSize,
    /// `gl_FragColor`
    Color,
    /// `gl_FragCoord`
    FragCoord,
    /// `gl_PointCoord`
    PointCoord,
    /// `gl_FrontFacing`
    FrontFacing,
}

/// A rewritten text.
#[derive(Clone, Debug, Default)]
pub struct Uplifted {
    /// The text.
    pub text: String,
    /// Roles of its global variables.
    pub roles: HashMap<String, Role>,
    /// For each token: where it begins in the text, and its place in the source.
    places: Vec<(usize, Range<usize>)>,
}

impl Uplifted {
    /// The place in the source of a place in the text.
    pub fn place(&self, span: Range<usize>) -> Range<usize> {
        let at = |offset: usize| {
            let next = self.places.partition_point(|(start, _)| *start <= offset);
            self.places.get(next.saturating_sub(1)).map(|(_, place)| place.clone())
        };
        match (at(span.start), at(span.end.saturating_sub(1).max(span.start))) {
            (Some(first), Some(last)) => first.start..last.end.max(first.end),
            _ => 0..0,
        }
    }
}

/// Built-in variables: name, new name, type, role.
fn variables(stage: Stage) -> Vec<(&'static str, &'static str, &'static str, Role)> {
    match stage {
        Stage::Vertex => vec![
            ("gl_Position", "es_Position", "vec4", Role::Position),
            ("gl_PointSize", "es_PointSize", "float", Role::PointSize),
        ],
        Stage::Fragment => vec![
            ("gl_FragColor", "es_FragColor", "vec4", Role::Color),
            ("gl_FragData", "es_FragColor", "vec4", Role::Color),
            ("gl_FragCoord", "es_FragCoord", "vec4", Role::FragCoord),
            ("gl_PointCoord", "es_PointCoord", "vec2", Role::PointCoord),
            ("gl_FrontFacing", "es_FrontFacing", "bool", Role::FrontFacing),
        ],
    }
}

/// Built-in constants, as on this hardware.
const CONSTANTS: [(&str, &str); 8] = [
    ("gl_MaxVertexAttribs", "16"),
    ("gl_MaxVertexUniformVectors", "256"),
    ("gl_MaxVaryingVectors", "12"),
    ("gl_MaxVertexTextureImageUnits", "0"),
    ("gl_MaxCombinedTextureImageUnits", "8"),
    ("gl_MaxTextureImageUnits", "8"),
    ("gl_MaxFragmentUniformVectors", "256"),
    ("gl_MaxDrawBuffers", "1"),
];

/// Look-ups: old name, new name.
const LOOKUPS: [(&str, &str); 14] = [
    ("texture2D", "texture"),
    ("texture2DProj", "textureProj"),
    ("texture2DLod", "textureLod"),
    ("texture2DProjLod", "textureProjLod"),
    ("texture2DLodEXT", "textureLod"),
    ("texture2DProjLodEXT", "textureProjLod"),
    ("texture2DGradEXT", "textureGrad"),
    ("textureCube", "texture"),
    ("textureCubeLod", "textureLod"),
    ("textureCubeLodEXT", "textureLod"),
    ("textureCubeGradEXT", "textureGrad"),
    ("texture", "texture"),
    ("textureProj", "textureProj"),
    ("textureLod", "textureLod"),
];

/// Words that mean something to the modern front end and nothing to the old language.
const RESERVED: &[&str] = &[
    "sample",
    "texture",
    "textureProj",
    "textureLod",
    "buffer",
    "shared",
    "patch",
    "smooth",
    "flat",
    "noperspective",
    "centroid",
    "uint",
    "double",
    "layout",
    "restrict",
    "readonly",
    "writeonly",
    "coherent",
    "volatile",
    "subroutine",
    "precise",
    "sampler",
    "samplerShadow",
    "round",
    "roundEven",
    "trunc",
    "inverse",
    "transpose",
    "determinant",
    "outerProduct",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "modf",
    "frexp",
    "ldexp",
    "isnan",
    "isinf",
    "fma",
    "switch",
    "case",
    "default",
    "in",
    "out",
    "inout",
    "image2D",
    "texture2D",
    "textureCube",
    "texture1D",
    "texture3D",
    "uvec2",
    "uvec3",
    "uvec4",
    "dvec2",
    "dvec3",
    "dvec4",
    "textureSize",
    "texelFetch",
    "bitCount",
    "findLSB",
    "findMSB",
    "bitfieldExtract",
    "bitfieldInsert",
    "floatBitsToInt",
    "intBitsToFloat",
    "f16vec2",
    "filter",
];

/// Whether a text is of the old languages: no version, or one of theirs.
pub fn recognises(text: &str) -> bool {
    let version = text.lines().map(str::trim_start).find_map(|line| {
        let rest = line.strip_prefix('#')?.trim_start().strip_prefix("version")?;
        rest.split_whitespace().next()?.parse::<u32>().ok()
    });
    version.is_none_or(|version| version < 400 && version != 0)
}

struct Rewriter {
    tokens: Vec<Token>,
    at: usize,
    stage: Stage,
    modern: bool,
    out: Uplifted,
    samplers: HashMap<String, bool>,
    parameters: HashMap<String, bool>,
    renamed: HashSet<String>,
    used: Vec<&'static str>,
    bindings: u32,
    depth: u32,
}

/// Rewrites a text.
///
/// # Errors
/// What the preprocessor refuses, and what has no place here (arrays of samplers, several colours).
pub fn uplift(text: &str, stage: Stage) -> Result<Uplifted> {
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
    let mut rewriter = Rewriter {
        renamed: renamed(&tokens),
        tokens,
        at: 0,
        stage,
        modern,
        out: Uplifted::default(),
        samplers: HashMap::new(),
        parameters: HashMap::new(),
        used: Vec::new(),
        bindings: 0,
        depth: 0,
    };
    rewriter.run()?;
    Ok(rewriter.finish())
}

/// Names of the source's own that mean something to the modern front end.
fn renamed(tokens: &[Token]) -> HashSet<String> {
    let ident = |token: &Token| match &token.value {
        TokenValue::Ident(name) => Some(name.clone()),
        _ => None,
    };
    let pairs = tokens
        .windows(2)
        .filter_map(|pair| Some((ident(&pair[0])?, ident(&pair[1])?)));
    let declared = pairs.filter(|(before, name)| {
        !matches!(
            before.as_str(),
            "return" | "else" | "precision" | "const" | "in" | "out" | "inout"
        ) && RESERVED.contains(&name.as_str())
            && !matches!(name.as_str(), "in" | "out" | "inout")
    });
    declared.map(|(_, name)| name).collect()
}

fn is_precision(name: &str) -> bool {
    matches!(name, "lowp" | "mediump" | "highp")
}

/// The texture type of a sampler type, and whether it is a cube.
fn sampler_type(name: &str) -> Option<bool> {
    match name {
        "sampler2D" | "samplerExternalOES" | "sampler2DRect" => Some(false),
        "samplerCube" => Some(true),
        _ => None,
    }
}

impl Rewriter {
    fn peek(&self, ahead: usize) -> Option<&TokenValue> {
        self.tokens.get(self.at + ahead).map(|token| &token.value)
    }

    fn ident(&self, ahead: usize) -> Option<String> {
        match self.peek(ahead) {
            Some(TokenValue::Ident(name)) => Some(name.clone()),
            _ => None,
        }
    }

    fn is(&self, ahead: usize, punct: Punct) -> bool {
        matches!(self.peek(ahead), Some(TokenValue::Punct(have)) if *have == punct)
    }

    fn here(&self) -> Range<usize> {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        let location = self.tokens.get(at).map(|token| token.location).unwrap_or_default();
        location.start as usize..location.end as usize
    }

    /// Appends words that stand for the token at hand.
    fn emit(&mut self, text: &str) {
        let place = self.here();
        self.out.places.push((self.out.text.len(), place));
        self.out.text.push_str(text);
        self.out.text.push(' ');
    }

    fn run(&mut self) -> Result<()> {
        self.out.text.push_str("#version 450\n");
        while self.at < self.tokens.len() {
            match self.ident(0) {
                Some(name) => self.word(&name)?,
                None => self.other(),
            }
        }
        Ok(())
    }

    fn other(&mut self) {
        let text = match self.peek(0) {
            Some(TokenValue::Integer(number)) if number.signed => number.value.to_string(),
            Some(TokenValue::Integer(number)) => format!("{}u", number.value),
            Some(TokenValue::Float(number)) => format!("{:?}", number.value),
            Some(TokenValue::Punct(punct)) => {
                let punct = *punct;
                match punct {
                    Punct::LeftBrace => self.depth += 1,
                    Punct::RightBrace => {
                        self.depth = self.depth.saturating_sub(1);
                        if self.depth == 0 {
                            self.parameters.clear();
                        }
                    }
                    Punct::Semicolon if self.depth == 0 => self.parameters.clear(),
                    _ => {}
                }
                spelled(punct).to_owned()
            }
            _ => String::new(),
        };
        self.emit(&text);
        self.at += 1;
    }

    fn word(&mut self, name: &str) -> Result<()> {
        match name {
            "precision" => {
                while self.at < self.tokens.len() && !self.is(0, Punct::Semicolon) {
                    self.at += 1;
                }
                self.at += 1;
            }
            _ if is_precision(name) => self.at += 1,
            "invariant" | "centroid" | "smooth" => {
                // `invariant gl_Position;` says nothing here, `invariant varying` less than what follows.
                if name == "invariant" && self.is(2, Punct::Semicolon) {
                    self.at += 3;
                } else {
                    self.at += 1;
                }
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

    fn declaration(&mut self, storage: &str) -> Result<()> {
        self.at += 1;
        while self.ident(0).is_some_and(|name| is_precision(&name)) {
            self.at += 1;
        }
        let Some(ty) = self.ident(0) else {
            return Err(Error::invalid(format!("`{storage}` without a type")).at(Some(self.here())));
        };
        if ty == "struct" || self.is(1, Punct::LeftBrace) {
            return Err(
                Error::unsupported(format!("`{storage}` with a structure or block of its own")).at(Some(self.here())),
            );
        }
        let ty_at = self.at;
        self.at += 1;
        loop {
            let Some(name) = self.ident(0) else {
                return Err(Error::invalid(format!("`{storage}` without a name")).at(Some(self.here())));
            };
            let name_at = self.at;
            self.at += 1;
            let array = self.array()?;
            if let Some(cube) = sampler_type(&ty) {
                if array.is_some() {
                    return Err(Error::unsupported(format!("{name}: arrays of samplers")).at(Some(self.here())));
                }
                self.sampler(&name, cube, name_at);
            } else {
                let own = self.own(&name);
                let role = match (storage, self.stage) {
                    ("uniform", _) => Role::Uniform(name.clone()),
                    ("attribute", _) | ("in", Stage::Vertex) => Role::Attribute(name.clone()),
                    ("varying", Stage::Vertex) | ("out", Stage::Vertex) => Role::VaryingOut(name.clone()),
                    ("out", Stage::Fragment) => Role::Color,
                    _ => Role::VaryingIn(name.clone()),
                };
                self.out.roles.insert(own.clone(), role);
                let after = std::mem::replace(&mut self.at, ty_at);
                let spelled = if self.renamed.contains(&ty) {
                    format!("{ty}_u")
                } else {
                    ty.clone()
                };
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

    fn sampler(&mut self, name: &str, cube: bool, at: usize) {
        let own = self.own(name);
        let (texture, binding) = (if cube { "textureCube" } else { "texture2D" }, self.bindings);
        self.bindings += 2;
        self.samplers.insert(name.to_owned(), cube);
        self.out.roles.insert(own.clone(), Role::Sampler(name.to_owned()));
        let after = std::mem::replace(&mut self.at, at);
        self.emit(&format!(
            "layout(set=0,binding={binding}) uniform {texture} {own} ; layout(set=0,binding={}) uniform sampler {own}_s ;",
            binding + 1
        ));
        self.at = after;
    }

    /// A name of the source's own as the text has it.
    fn own(&self, name: &str) -> String {
        if self.renamed.contains(name) || name.starts_with("es_") || name.contains("__") {
            format!("{}_u", name.replace("__", "_D_"))
        } else {
            name.to_owned()
        }
    }

    fn is_sampler(&self, name: &str) -> Option<bool> {
        self.parameters.get(name).or_else(|| self.samplers.get(name)).copied()
    }

    fn name(&mut self, name: &str) -> Result<()> {
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
            self.parameter(cube);
        } else if let Some(new) = self.lookup(name) {
            self.at += 1;
            self.emit(new);
            self.emit("(");
            if let Some((sampler, cube)) = self
                .ident(1)
                .and_then(|name| Some((name.clone(), self.is_sampler(&name)?)))
            {
                self.at += 1;
                let (own, kind) = (self.own(&sampler), if cube { "samplerCube" } else { "sampler2D" });
                self.emit(&format!("{kind} ( {own} , {own}_s )"));
            }
        } else if self.is_sampler(name).is_some() {
            // An argument: both parts go along.
            let own = self.own(name);
            self.emit(&format!("{own} , {own}_s"));
        } else {
            let own = self.own(name);
            self.emit(&own);
        }
        self.at += 1;
        Ok(())
    }

    fn lookup(&self, name: &str) -> Option<&'static str> {
        if self.renamed.contains(name) || !self.is(1, Punct::LeftParen) {
            return None;
        }
        LOOKUPS.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
    }

    /// A parameter that is a sampler.
    fn parameter(&mut self, cube: bool) {
        let texture = if cube { "textureCube" } else { "texture2D" };
        let Some(name) = self.ident(1) else {
            // A prototype without names.
            self.emit(&format!("{texture} , sampler"));
            return;
        };
        self.parameters.insert(name.clone(), cube);
        let own = self.own(&name);
        self.emit(&format!("{texture} {own} , sampler {own}_s"));
        self.at += 1;
    }

    /// The text with the built-in variables it uses in front.
    fn finish(mut self) -> Uplifted {
        let mut front = String::from("#version 450\n");
        let mut roles = Vec::new();
        for (old, new, ty, role) in variables(self.stage) {
            if self.used.contains(&old) && !roles.iter().any(|(name, _)| name == new) {
                let _ = writeln!(front, "{ty} {new};");
                roles.push((new.to_owned(), role));
            }
        }
        self.out.roles.extend(roles);
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

fn spelled(punct: Punct) -> &'static str {
    use Punct as P;
    match punct {
        P::AddAssign => "+=",
        P::SubAssign => "-=",
        P::MulAssign => "*=",
        P::DivAssign => "/=",
        P::ModAssign => "%=",
        P::LeftShiftAssign => "<<=",
        P::RightShiftAssign => ">>=",
        P::AndAssign => "&=",
        P::XorAssign => "^=",
        P::OrAssign => "|=",
        P::Increment => "++",
        P::Decrement => "--",
        P::LogicalAnd => "&&",
        P::LogicalOr => "||",
        P::LogicalXor => "^^",
        P::LessEqual => "<=",
        P::GreaterEqual => ">=",
        P::EqualEqual => "==",
        P::NotEqual => "!=",
        P::LeftShift => "<<",
        P::RightShift => ">>",
        P::LeftBrace => "{",
        P::RightBrace => "}",
        P::LeftParen => "(",
        P::RightParen => ")",
        P::LeftBracket => "[",
        P::RightBracket => "]",
        P::LeftAngle => "<",
        P::RightAngle => ">",
        P::Semicolon => ";",
        P::Comma => ",",
        P::Colon => ":",
        P::Dot => ".",
        P::Equal => "=",
        P::Bang => "!",
        P::Minus => "-",
        P::Tilde => "~",
        P::Plus => "+",
        P::Star => "*",
        P::Slash => "/",
        P::Percent => "%",
        P::Pipe => "|",
        P::Caret => "^",
        P::Ampersand => "&",
        P::Question => "?",
    }
}
