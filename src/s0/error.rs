//! The error type of this crate.

use std::fmt;

/// The rule that a program violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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

/// A violation, which halts the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HardError(Box<(Kind, String, Vec<String>)>);

impl HardError {
    /// A hard error without a place.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self(Box::new((kind, text.into(), Vec::new())))
    }

    /// What rule was broken.
    pub fn kind(&self) -> Kind {
        self.0.0
    }

    /// Adds a place: the innermost comes first.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.0.2.push(place.into());
        self
    }
}

impl fmt::Display for HardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, text, places) = &*self.0;
        write!(f, "halt and catch fire: {kind:?}: {text}")?;
        places.iter().try_for_each(|place| write!(f, "; {place}"))
    }
}

impl std::error::Error for HardError {}
