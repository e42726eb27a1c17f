//! A host that executes S₀, the language of Swanson SL libraries.
//!
//! A library's units are loaded with what they depend on, and the entry unit's value is given `$finish`. Environments are
//! strictly linear: every value is used exactly once, and a violation is a [`Error`] with the place in the
//! source. Invocations never return, so the host is a loop and no stack grows.
//!
//! Names are resolved to slots before the program runs; only branches with a glob look names up at run time. Decisions that
//! the public posts leave open are listed in docs/spec/swanson-sl.md.
//!
//! ```
//! # use loader as skrymir_loader;
//! use skrymir_s0::{Host, Outcome};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "module done {
//!   $load: containing () receiving ($loaded) {
//!     $module = closure containing () -> main;
//!     -> $loaded ($module);
//!   }
//!   main: containing () receiving ($finish) {
//!     -> $finish succeed ();
//!   }
//! }";
//! let library = skrymir_loader::sl::parse_in(text, "done.s0")?;
//! assert_eq!(Host::new(&library).with_fuel(100).run(b"done")?, Outcome::Succeeded);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod code;
mod error;
mod machine;
pub mod primitives;

pub use code::{Code, Symbol};
pub use error::{Error, ErrorKind};
pub use machine::{Host, Outcome, Trace};

use std::fmt;
use std::rc::Rc;

/// A value: used exactly once.
#[derive(Debug)]
pub enum Value {
    /// Bytes.
    Literal(Rc<[u8]>),
    /// A block and the values that it contains.
    Closure(Closure),
    /// A primitive of the host.
    Primitive(Box<dyn Primitive>),
    /// A value that has been used.
    Used,
}

impl Value {
    /// A literal.
    pub fn literal(bytes: &[u8]) -> Self {
        Self::Literal(bytes.into())
    }

    /// Its kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Literal(_) => "a literal",
            Self::Closure(_) => "a closure",
            Self::Primitive(primitive) => primitive.kind(),
            Self::Used => "nothing",
        }
    }
}

/// A block and the values that it contains.
#[derive(Debug)]
pub struct Closure {
    block: u32,
    names: code::Shape,
    values: Box<[Value]>,
}

impl Drop for Closure {
    /// Drops nested closures iteratively: a program may nest them arbitrarily deep.
    fn drop(&mut self) {
        if self.values.is_empty() {
            return;
        }
        let mut pending = std::mem::take(&mut self.values).into_vec();
        while let Some(value) = pending.pop() {
            if let Value::Closure(mut closure) = value {
                pending.extend(std::mem::take(&mut closure.values));
            }
        }
    }
}

/// A value that the host provides. Engines implement this for their own primitives.
pub trait Primitive: fmt::Debug {
    /// Its kind with an article, for messages.
    fn kind(&self) -> &'static str;

    /// Handles an invocation: takes inputs from the call and returns the continuation.
    ///
    /// # Errors
    /// [`Call::fail`], and the errors of the call's functions: inputs that are missing, left over or of another kind.
    fn invoke(self: Box<Self>, call: Call) -> Result<Next, Error>;

    /// Its number, if it is one.
    fn number(&self) -> Option<i128> {
        None
    }

    /// Its bytes, if it is a string.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
}

/// An invocation of a primitive.
#[derive(Debug)]
pub struct Call {
    /// The branch.
    pub branch: Rc<[u8]>,
    /// The inputs by name.
    pub inputs: Vec<(Rc<[u8]>, Value)>,
    /// The primitive's kind, for messages.
    pub kind: &'static str,
}

impl Call {
    /// Takes an input.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn take(&mut self, name: &[u8]) -> Result<Value, Error> {
        match self.inputs.iter().position(|(have, _)| **have == *name) {
            Some(at) => Ok(self.inputs.swap_remove(at).1),
            None => Err(self.fail(
                ErrorKind::MissingValue,
                format!("{} needs {}", self.kind, loader::sl::quote(name)),
            )),
        }
    }

    /// Takes an input that is a literal.
    ///
    /// # Errors
    /// When there is none, or it is something else.
    pub fn literal(&mut self, name: &[u8]) -> Result<Rc<[u8]>, Error> {
        match self.take(name)? {
            Value::Literal(bytes) => Ok(bytes),
            other => {
                let text = format!("{} is {}, not a literal", loader::sl::quote(name), other.kind());
                Err(self.fail(ErrorKind::WrongKind, text))
            }
        }
    }

    /// Checks that all inputs have been taken.
    ///
    /// # Errors
    /// When an input is left.
    pub fn nothing_left(&self) -> Result<(), Error> {
        match self.inputs.first() {
            None => Ok(()),
            Some((name, _)) => {
                let text = format!("{} does not take {}", self.kind, loader::sl::quote(name));
                Err(self.fail(ErrorKind::LeftOver, text))
            }
        }
    }

    /// Continues with the input `$return` and these outputs; no other input may be left.
    ///
    /// # Errors
    /// When there is no `$return`, or more than that.
    pub fn give_back(mut self, outputs: Vec<(&[u8], Value)>) -> Result<Next, Error> {
        let target = self.take(b"$return")?;
        self.nothing_left()?;
        let outputs = outputs
            .into_iter()
            .map(|(name, value)| (Rc::from(name), value))
            .collect();
        Ok(Next::Invoke {
            target,
            branch: Rc::from(&b""[..]),
            outputs,
        })
    }

    /// A hard error; the host adds the place.
    pub fn fail(&self, kind: ErrorKind, text: impl Into<String>) -> Error {
        Error::new(kind, text)
    }

    /// A branch this primitive does not have.
    pub fn unknown_branch(&self) -> Error {
        self.fail(
            ErrorKind::UnknownBranch,
            format!("{} has no branch {}", self.kind, loader::sl::quote(&self.branch)),
        )
    }
}

/// The continuation after a primitive.
#[derive(Debug)]
pub enum Next {
    /// Invoke a value.
    Invoke {
        /// The value.
        target: Value,
        /// The branch.
        branch: Rc<[u8]>,
        /// The outputs by name.
        outputs: Vec<(Rc<[u8]>, Value)>,
    },
    /// The unit is loaded; its value.
    Loaded(Value),
    /// The program has finished; whether it succeeded.
    Finished(bool),
}
