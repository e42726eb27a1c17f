//! The error type of this crate.

/// The rule that a program violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A name is defined that is there already.
    DuplicateName,
    /// A name is used that is not there.
    MissingValue,
    /// A value would be lost.
    LeftOver,
    /// A value of another kind is needed.
    WrongKind,
    /// A literal is invoked.
    NotInvokable,
    /// There is no such branch.
    UnknownBranch,
    /// A branch does not receive what is passed.
    ReceivingMismatch,
    /// A block does not contain what is closed over.
    ContainingMismatch,
    /// There is no such unit.
    UnknownUnit,
    /// Units depend on each other.
    DependencyCycle,
    /// A unit's first block is no loader.
    NoLoader,
    /// A number that is none, or too large.
    Number,
    /// The fuel is spent.
    Fuel,
    /// What the program or its trace writes cannot be written any further.
    Output,
}

/// A violation, with its place in the source; it halts the program. One machine word wide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Violation>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("halt and catch fire: {kind:?}: {text}{}", places.concat())]
struct Violation {
    kind: ErrorKind,
    text: String,
    places: Vec<String>,
}

impl Error {
    /// A violation without a place.
    pub fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self(Box::new(Violation {
            kind,
            text: text.into(),
            places: Vec::new(),
        }))
    }

    /// The violated rule.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Adds a place; the innermost place comes first.
    #[must_use]
    pub fn at(mut self, place: impl std::fmt::Display) -> Self {
        self.0.places.push(format!("; {place}"));
        self
    }
}
