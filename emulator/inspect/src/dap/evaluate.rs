//! Expressions over the current invocation: registers, memory and numbers, with component-wise arithmetic and
//! comparisons.

use super::invocation::Invocation;
use super::views;
use crate::error::Error;

/// Limit on the length of an expression in bytes.
const MAX_TEXT: usize = 1024;

/// Limit on nesting.
const MAX_DEPTH: u32 = 64;

/// The context of names: a thread of the current invocation.
pub(super) struct Names<'a> {
    /// The current invocation.
    pub now: &'a Invocation,
    /// The thread.
    pub thread: usize,
    /// The function of its stack whose names are meant, 0 for the innermost.
    pub depth: usize,
}

impl Names<'_> {
    /// The values of a name such as `$0`, `t[3]` or `x`, and whether they are fp16.
    fn find(&self, name: &str) -> Option<(Vec<f32>, bool)> {
        let stack = self.now.stack(self.thread);
        let stack = stack.get(self.depth..).unwrap_or_default();
        views::named(self.now, self.thread, stack, name)
    }

    /// The values of a name, or of components of one: `light.color` is a name, `light.color.rg` may be two components.
    fn value(&self, name: &str) -> Result<(Vec<f32>, bool), String> {
        let (mut name, mut components) = (name, Vec::new());
        loop {
            if let Some((values, half)) = self.find(name) {
                let values = components
                    .iter()
                    .rev()
                    .try_fold(values, |values, letters: &Vec<usize>| swizzled(&values, letters));
                return Ok((values?, half));
            }
            let undefined = || format!("{name} is not defined here");
            let (before, word) = name.rsplit_once('.').ok_or_else(undefined)?;
            components.push(letters(word).ok_or_else(undefined)?);
            name = before;
        }
    }
}

/// The components that a word names.
fn letters(word: &str) -> Option<Vec<usize>> {
    let letters: Option<Vec<usize>> = word
        .chars()
        .map(|letter| "xyzwrgba".find(letter).map(|at| at % 4))
        .collect();
    letters.filter(|letters| (1..=4).contains(&letters.len()))
}

/// Components of a vector.
fn swizzled(all: &[f32], letters: &[usize]) -> Result<Vec<f32>, String> {
    let one = |at: &usize| {
        let component = all.get(*at).copied();
        component.ok_or_else(|| "the component does not exist".to_owned())
    };
    letters.iter().map(one).collect()
}

/// A node of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f32),
    Name(String),
    Swizzle(Box<Node>, Vec<usize>),
    Call(String, Vec<Node>),
    Unary(char, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression(Node);

/// Binary operators, loosest binding first.
const LEVELS: [&[&str]; 5] = [
    &["||"],
    &["&&"],
    &["==", "!=", "<=", ">=", "<", ">"],
    &["+", "-"],
    &["*", "/"],
];

struct Parser<'a> {
    rest: &'a str,
    depth: u32,
}

impl<'a> Parser<'a> {
    fn deeper<T>(&mut self, what: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("an expression that is too deep".into());
        }
        let result = what(self);
        self.depth -= 1;
        result
    }

    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.take(token) {
            true => Ok(()),
            false => Err(format!("{token:?} is expected before {:?}", self.rest)),
        }
    }

    fn binary(&mut self, level: usize) -> Result<Node, String> {
        let Some(operations) = LEVELS.get(level) else {
            return self.unary();
        };
        let mut left = self.deeper(|parser| parser.binary(level + 1))?;
        while let Some(operation) = operations.iter().find(|operation| self.take(operation)) {
            let right = self.deeper(|parser| parser.binary(level + 1))?;
            left = Node::Binary(operation, Box::new(left), Box::new(right));
            // A left-associative chain is a tree as deep as it is long.
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err("an expression that is too long".into());
            }
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Node, String> {
        for sign in ['-', '!'] {
            if self.take(&sign.to_string()) {
                let of = self.deeper(Self::unary)?;
                return Ok(Node::Unary(sign, Box::new(of)));
            }
        }
        let mut node = self.primary()?;
        while let Some(rest) = self.rest.strip_prefix('.') {
            let word = self.word(rest)?;
            node = match (node, letters(word)) {
                // Members of structures and components differ only once the names are known.
                (Node::Name(name), _) => Node::Name(self.indexed(&format!("{name}.{word}"))?),
                (node, Some(letters)) => Node::Swizzle(Box::new(node), letters),
                _ => return Err(format!("no components: {word:?}")),
            };
        }
        Ok(node)
    }

    /// Takes the word that the rest begins with.
    fn word(&mut self, rest: &'a str) -> Result<&'a str, String> {
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        self.rest = behind;
        match word {
            "" => Err(format!("no components: {rest:?}")),
            word => Ok(word),
        }
    }

    /// A name with the indices behind it.
    fn indexed(&mut self, word: &str) -> Result<String, String> {
        let mut name = word.to_owned();
        while self.rest.starts_with('[') {
            let end = self.rest.find(']').ok_or("a [ without a ]")?;
            name += &self.rest[..=end].replace(' ', "");
            self.rest = &self.rest[end + 1..];
        }
        Ok(name)
    }

    fn primary(&mut self) -> Result<Node, String> {
        if self.take("(") {
            let node = self.deeper(|parser| parser.binary(0))?;
            self.expect(")")?;
            return Ok(node);
        }
        let is_number = self.rest.starts_with(|c: char| c.is_ascii_digit());
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '$' | '^' | '_') || is_number && c == '.';
        let end = self.rest.find(|c: char| !part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if word.is_empty() {
            return Err(match rest {
                "" => "the expression ends too early".to_owned(),
                _ => format!("{rest:?} is not understood"),
            });
        }
        if is_number {
            let bits = word.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16));
            let number = match bits {
                Some(bits) => bits.ok().map(|bits| bits as f32),
                None => word.parse().ok(),
            };
            return number
                .map(Node::Number)
                .ok_or_else(|| format!("{word:?} is not a number"));
        }
        if self.rest.starts_with('[') {
            return Ok(Node::Name(self.indexed(word)?));
        }
        if self.take("(") {
            let mut arguments = vec![self.deeper(|parser| parser.binary(0))?];
            while self.take(",") {
                arguments.push(self.deeper(|parser| parser.binary(0))?);
            }
            self.expect(")")?;
            return Ok(Node::Call(word.to_owned(), arguments));
        }
        Ok(Node::Name(word.to_owned()))
    }
}

impl Expression {
    /// Parses a text.
    ///
    /// # Errors
    /// The syntax error.
    pub(super) fn parse(text: &str) -> crate::error::Result<Self> {
        Self::parsed(text).map_err(Error::request)
    }

    fn parsed(text: &str) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("an expression of more than {MAX_TEXT} bytes"));
        }
        let mut parser = Parser { rest: text, depth: 0 };
        let node = parser.binary(0)?;
        match parser.rest.trim() {
            "" => Ok(Self(node)),
            rest => Err(format!("{rest:?} is unexpected")),
        }
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// An unknown name, or mismatched operand sizes.
    pub(super) fn evaluate(&self, names: &Names<'_>) -> crate::error::Result<Vec<f32>> {
        value(&self.0, names).map_err(Error::request)
    }

    /// Whether it is a register or memory of fp16 type.
    pub(super) fn is_half(&self, names: &Names<'_>) -> bool {
        let mut node = &self.0;
        while let Node::Swizzle(of, _) = node {
            node = of;
        }
        match node {
            Node::Name(name) => names.value(name).is_ok_and(|(_, half)| half),
            _ => false,
        }
    }
}

fn truth(value: bool) -> f32 {
    if value { 1.0 } else { 0.0 }
}

fn value(node: &Node, names: &Names<'_>) -> Result<Vec<f32>, String> {
    match node {
        Node::Number(number) => Ok(vec![*number]),
        Node::Name(name) => Ok(names.value(name)?.0),
        Node::Swizzle(of, letters) => swizzled(&value(of, names)?, letters),
        Node::Unary(sign, of) => {
            let all = value(of, names)?.into_iter();
            Ok(match sign {
                '-' => all.map(|number| -number).collect(),
                _ => all.map(|number| truth(number == 0.0)).collect(),
            })
        }
        Node::Binary(operation, a, b) => {
            let apply: fn(f32, f32) -> f32 = match *operation {
                "||" => |a, b| truth(a != 0.0 || b != 0.0),
                "&&" => |a, b| truth(a != 0.0 && b != 0.0),
                "==" => |a, b| truth(a == b),
                "!=" => |a, b| truth(a != b),
                "<=" => |a, b| truth(a <= b),
                ">=" => |a, b| truth(a >= b),
                "<" => |a, b| truth(a < b),
                ">" => |a, b| truth(a > b),
                "+" => |a, b| a + b,
                "-" => |a, b| a - b,
                "*" => |a, b| a * b,
                _ => |a, b| a / b,
            };
            each(&value(a, names)?, &value(b, names)?, apply)
        }
        Node::Call(name, arguments) => {
            let arguments: Result<Vec<_>, _> = arguments.iter().map(|argument| value(argument, names)).collect();
            call(name, &arguments?)
        }
    }
}

/// Component by component; a scalar is broadcast.
fn each(a: &[f32], b: &[f32], apply: fn(f32, f32) -> f32) -> Result<Vec<f32>, String> {
    let length = a.len().max(b.len());
    if [a, b].iter().any(|one| one.len() != length && one.len() != 1) {
        return Err(format!("{} components and {}", a.len(), b.len()));
    }
    let at = |of: &[f32], at: usize| if of.len() == 1 { of[0] } else { of[at] };
    Ok((0..length).map(|number| apply(at(a, number), at(b, number))).collect())
}

fn call(name: &str, arguments: &[Vec<f32>]) -> Result<Vec<f32>, String> {
    let one = |apply: fn(f32) -> f32| match arguments {
        [values] => Ok(values.iter().map(|value| apply(*value)).collect()),
        _ => Err(format!("{name} takes one argument")),
    };
    match (name, arguments) {
        ("abs", _) => one(f32::abs),
        ("floor", _) => one(f32::floor),
        ("sqrt", _) => one(f32::sqrt),
        ("half", _) => one(num::half::round),
        ("min", [a, b]) => each(a, b, f32::min),
        ("max", [a, b]) => each(a, b, f32::max),
        ("dot", [a, b]) => each(a, b, |a, b| a * b).map(|products| vec![products.iter().sum()]),
        ("length", [a]) => Ok(vec![a.iter().map(|value| value * value).sum::<f32>().sqrt()]),
        _ => Err(format!("{name} does not take {} arguments", arguments.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dap::invocation::{Vertex, What};

    fn evaluated(text: &str) -> Result<Vec<f32>, String> {
        let mut vertex = Vertex::default();
        vertex.registers[2] = [1.0, 2.0, 3.0, 4.0];
        vertex.memory = vec![[5.0, 6.0, 7.0, 8.0]];
        let now = Invocation {
            id: 1,
            job: 3,
            program: 0,
            names: Default::default(),
            what: What::Vertex(Box::new(vertex)),
        };
        Expression::parsed(text).and_then(|expression| {
            value(
                &expression.0,
                &Names {
                    now: &now,
                    thread: 0,
                    depth: 0,
                },
            )
        })
    }

    #[test]
    fn expressions_are_evaluated() {
        for (text, wanted) in [
            ("1 + 2 * 3", &[7.0][..]),
            ("(1 + 2) * 3", &[9.0]),
            ("$2", &[1.0, 2.0, 3.0, 4.0]),
            ("$2.wx", &[4.0, 1.0]),
            ("t[ 0 ].y == 6", &[1.0]),
            ("-$2.xy * 2", &[-2.0, -4.0]),
            ("job == 3 && !($2.x > 1)", &[1.0]),
            ("dot($2.xyz, t[0].xyz)", &[38.0]),
            ("max(0x10, 3.5)", &[16.0]),
            ("5 - 2 - 1", &[2.0]),
        ] {
            assert_eq!(evaluated(text).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn errors_are_reported() {
        let deep = "(".repeat(1000);
        let long = "1".to_owned() + &"+1".repeat(400);
        for text in [
            "",
            "1 +",
            "$99",
            "$2.q",
            "$2.xy + $2.xyz",
            "1 2",
            "(1",
            "t[0",
            "sin(1)",
            "1..2",
            "é",
            &deep,
            &long,
            &"-".repeat(1024),
            "min(1)",
            "$2.",
            "0xzz",
        ] {
            assert!(evaluated(text).is_err(), "{text}");
        }
    }
}
