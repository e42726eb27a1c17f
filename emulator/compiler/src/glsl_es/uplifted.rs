//! A rewritten text, and what was known of it before.

use crate::Module;
use crate::error::Result;
use crate::interface::Stage;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use translate::frontend::Settings;

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

/// A global variable of the rewritten text that has a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// What it is.
    pub role: Role,
    /// Where it stands among all: interfaces have them in this order.
    pub number: usize,
    /// Where the source declares it.
    pub place: Range<usize>,
    /// A varying that is not interpolated.
    pub flat: bool,
}

/// A rewritten text.
#[derive(Clone, Debug, Default)]
pub struct Uplifted {
    /// The text.
    pub text: String,
    /// Its global variables that have a role, by name.
    pub roles: HashMap<String, Declared>,
    /// Where the source asks a fragment program for more than it has: `highp`.
    pub highp: Vec<Range<usize>>,
    /// For each token: where it begins in the text, and its place in the source.
    pub(super) places: Vec<(usize, Range<usize>)>,
}

impl Uplifted {
    /// Notes a global variable behind all others.
    pub(super) fn declare(&mut self, name: String, role: Role, place: Range<usize>) {
        let number = self.roles.len();
        let declared = Declared {
            role,
            number,
            place,
            flat: false,
        };
        self.roles.insert(name, declared);
    }

    /// The module of the text; errors have their places in the source.
    pub(crate) fn module(&self, stage: Stage) -> Result<Module> {
        let source = translate::Source {
            bytes: self.text.as_bytes(),
            language: translate::Language::Glsl,
            stage: Some(stage.of_naga()),
            entry: None,
            any_layout: false,
            y_up: false,
            settings: Settings::NONE,
            path: Path::new(""),
        };
        Module::new(&source, translate::read_open).map_err(|error| error.map_span(|span| self.place(span)))
    }

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
