//! A rewritten text, and what was known of it before.

use std::collections::HashMap;
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
    /// Where the source asks a fragment program for more than it has: `highp`.
    pub highp: Vec<Range<usize>>,
    /// For each token: where it begins in the text, and its place in the source.
    pub(super) places: Vec<(usize, Range<usize>)>,
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
