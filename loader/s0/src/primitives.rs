//! What the host gives programs.
//!
//! The convention of the public posts: a primitive is given `$return` and goes on with its branch without a name,
//! handing itself back as `$_` and results as `$0`, `$1`. Units:
//!
//! | unit | branches: inputs, then outputs |
//! |---|---|
//! | `primitive.bool` | `true`, `false`: `$return`, then `$_` and `$0`; `drop`: `$return`, then nothing |
//! | a boolean | `evaluate`: `$evaluate`, whose branch `true` or `false` goes on with nothing; `drop` |
//! | `primitive.int` | `from_literal`: `value` (decimal), `$return`, then `$_` and `$0`; `drop` |
//! | a number | `+` `-` `*`: `rhs`, `$return`, then `$_`; `copy`: `$_` and `$0`; `is_zero`: `$_` and `$0`, a boolean; `to_literal`: `$0`; `drop` |
//! | `primitive.string` | `from_literal`: `content`, `$return`, then `$_` and `$0`; `drop` |
//! | a string | `append`: `rhs` (a string), then `$_`; `copy`: `$_` and `$0`; `drop` |
//! | `primitive.console` | `write`: `content` (a literal or a string), `$return`, then `$_`; `drop` |
//! | `empty.s0` | `drop` |
//! | `$loaded` | without a name: `$module`; the unit is loaded |
//! | `$finish` | `succeed`, `fail`: nothing; the program ends |

use super::{Call, Error, ErrorKind, Next, Primitive, Value};
use std::io::Write;

/// A unit's name, and how its value is made.
type Unit = (&'static str, fn() -> Box<dyn Primitive>);

/// The units.
pub const UNITS: &[Unit] = &[
    ("primitive.bool", || Box::new(Bools)),
    ("primitive.int", || Box::new(Ints)),
    ("primitive.string", || Box::new(Strings)),
    ("primitive.console", || Box::new(Console)),
    ("empty.s0", || Box::new(Empty)),
];

fn primitive(primitive: impl Primitive + 'static) -> Value {
    Value::Primitive(Box::new(primitive))
}

/// `$loaded`.
#[derive(Debug)]
pub struct Loaded;

impl Primitive for Loaded {
    fn kind(&self) -> &'static str {
        "$loaded"
    }

    fn invoke(self: Box<Self>, mut call: Call) -> Result<Next, Error> {
        if !call.branch.is_empty() {
            return Err(call.unknown_branch());
        }
        let module = call.take(b"$module")?;
        call.nothing_left()?;
        Ok(Next::Loaded(module))
    }
}

/// `$finish`.
#[derive(Debug)]
pub struct Finish;

impl Primitive for Finish {
    fn kind(&self) -> &'static str {
        "$finish"
    }

    fn invoke(self: Box<Self>, call: Call) -> Result<Next, Error> {
        let succeeded = match &*call.branch {
            b"succeed" => true,
            b"fail" => false,
            _ => return Err(call.unknown_branch()),
        };
        call.nothing_left()?;
        Ok(Next::Finished(succeeded))
    }
}

/// The unit that makes booleans.
#[derive(Debug)]
struct Bools;

impl Primitive for Bools {
    fn kind(&self) -> &'static str {
        "primitive.bool"
    }

    fn invoke(self: Box<Self>, call: Call) -> Result<Next, Error> {
        let value = match &*call.branch {
            b"drop" => return call.give_back(Vec::new()),
            b"true" => true,
            b"false" => false,
            _ => return Err(call.unknown_branch()),
        };
        call.give_back(vec![(b"$_", Value::Primitive(self)), (b"$0", primitive(Bool(value)))])
    }
}

/// A boolean.
#[derive(Debug)]
struct Bool(bool);

impl Primitive for Bool {
    fn kind(&self) -> &'static str {
        "a boolean"
    }

    fn invoke(self: Box<Self>, mut call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            b"evaluate" => {
                let target = call.take(b"$evaluate")?;
                call.nothing_left()?;
                let branch: &[u8] = if self.0 { b"true" } else { b"false" };
                Ok(Next::Invoke {
                    target,
                    branch: branch.into(),
                    outputs: Vec::new(),
                })
            }
            _ => Err(call.unknown_branch()),
        }
    }
}

/// The unit that makes numbers.
#[derive(Debug)]
struct Ints;

impl Primitive for Ints {
    fn kind(&self) -> &'static str {
        "primitive.int"
    }

    fn invoke(self: Box<Self>, mut call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            b"from_literal" => {
                let digits = call.literal(b"value")?;
                let number = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse().ok());
                let text = || format!("{} is no whole number of 128 bits", loader::sl::quote(&digits));
                let number = number.ok_or_else(|| call.fail(ErrorKind::Number, text()))?;
                call.give_back(vec![(b"$_", Value::Primitive(self)), (b"$0", primitive(Int(number)))])
            }
            _ => Err(call.unknown_branch()),
        }
    }
}

/// A number.
#[derive(Debug)]
struct Int(i128);

impl Int {
    fn arithmetic(&self, call: &mut Call) -> Result<i128, Error> {
        let rhs = match call.take(b"rhs")? {
            Value::Primitive(other) => other.number(),
            _ => None,
        };
        let Some(rhs) = rhs else {
            return Err(call.fail(ErrorKind::WrongKind, "rhs is no number"));
        };
        let result = match &*call.branch {
            b"+" => self.0.checked_add(rhs),
            b"-" => self.0.checked_sub(rhs),
            _ => self.0.checked_mul(rhs),
        };
        result.ok_or_else(|| call.fail(ErrorKind::Number, "the result does not fit 128 bits"))
    }
}

impl Primitive for Int {
    fn kind(&self) -> &'static str {
        "a number"
    }

    fn invoke(self: Box<Self>, mut call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            b"+" | b"-" | b"*" => {
                let result = self.arithmetic(&mut call)?;
                call.give_back(vec![(b"$_", primitive(Self(result)))])
            }
            b"copy" => {
                let copy = primitive(Self(self.0));
                call.give_back(vec![(b"$_", Value::Primitive(self)), (b"$0", copy)])
            }
            b"is_zero" => {
                let zero = primitive(Bool(self.0 == 0));
                call.give_back(vec![(b"$_", Value::Primitive(self)), (b"$0", zero)])
            }
            b"to_literal" => call.give_back(vec![(b"$0", Value::literal(self.0.to_string().as_bytes()))]),
            _ => Err(call.unknown_branch()),
        }
    }

    fn number(&self) -> Option<i128> {
        Some(self.0)
    }
}

/// The unit that makes strings.
#[derive(Debug)]
struct Strings;

impl Primitive for Strings {
    fn kind(&self) -> &'static str {
        "primitive.string"
    }

    fn invoke(self: Box<Self>, mut call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            b"from_literal" => {
                let text = Text(call.literal(b"content")?.to_vec());
                call.give_back(vec![(b"$_", Value::Primitive(self)), (b"$0", primitive(text))])
            }
            _ => Err(call.unknown_branch()),
        }
    }
}

/// A string.
#[derive(Debug)]
struct Text(Vec<u8>);

impl Primitive for Text {
    fn kind(&self) -> &'static str {
        "a string"
    }

    fn invoke(mut self: Box<Self>, mut call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            b"append" => {
                match call.take(b"rhs")? {
                    Value::Primitive(other) if other.bytes().is_some() => {
                        self.0.extend_from_slice(other.bytes().unwrap_or_default());
                    }
                    other => {
                        return Err(call.fail(ErrorKind::WrongKind, format!("rhs is {}, not a string", other.kind())));
                    }
                }
                call.give_back(vec![(b"$_", Value::Primitive(self))])
            }
            b"copy" => {
                let copy = primitive(Self(self.0.clone()));
                call.give_back(vec![(b"$_", Value::Primitive(self)), (b"$0", copy)])
            }
            _ => Err(call.unknown_branch()),
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}

/// The unit that writes to standard output.
#[derive(Debug)]
struct Console;

impl Primitive for Console {
    fn kind(&self) -> &'static str {
        "primitive.console"
    }

    fn invoke(self: Box<Self>, mut call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            b"write" => {
                let bytes = match call.take(b"content")? {
                    Value::Literal(bytes) => bytes.to_vec(),
                    Value::Primitive(other) if other.bytes().is_some() => other.bytes().unwrap_or_default().to_vec(),
                    other => return Err(call.fail(ErrorKind::WrongKind, format!("{} cannot be written", other.kind()))),
                };
                let written = std::io::stdout().write_all(&bytes);
                written.map_err(|error| call.fail(ErrorKind::Output, format!("standard output: {error}")))?;
                call.give_back(vec![(b"$_", Value::Primitive(self))])
            }
            _ => Err(call.unknown_branch()),
        }
    }
}

/// A unit with nothing in it.
#[derive(Debug)]
struct Empty;

impl Primitive for Empty {
    fn kind(&self) -> &'static str {
        "empty.s0"
    }

    fn invoke(self: Box<Self>, call: Call) -> Result<Next, Error> {
        match &*call.branch {
            b"drop" => call.give_back(Vec::new()),
            _ => Err(call.unknown_branch()),
        }
    }
}
