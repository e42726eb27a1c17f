//! Values and types of the SkSL interpreter.

use loader::sksl::Ref;

/// One component.
#[derive(Clone, Copy, Debug)]
pub(super) enum Num {
    F(f32),
    I(i32),
    U(u32),
    B(bool),
}

/// Class of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Float,
    Int,
    Uint,
    Bool,
}

impl Num {
    pub(super) fn float(self) -> f32 {
        match self {
            Self::F(x) => x,
            Self::I(x) => x as f32,
            Self::U(x) => x as f32,
            Self::B(x) => f32::from(u8::from(x)),
        }
    }

    pub(super) fn truth(self) -> bool {
        match self {
            Self::B(x) => x,
            Self::F(x) => x != 0.0,
            Self::I(x) => x != 0,
            Self::U(x) => x != 0,
        }
    }

    pub(super) fn int(self) -> i32 {
        match self {
            Self::F(x) => x as i32,
            Self::I(x) => x,
            Self::U(x) => x as i32,
            Self::B(x) => x.into(),
        }
    }

    pub(super) fn to(self, class: Class) -> Self {
        match class {
            Class::Float => Self::F(self.float()),
            Class::Int => Self::I(self.int()),
            Class::Uint => Self::U(match self {
                Self::F(x) => x as u32,
                other => other.int() as u32,
            }),
            Class::Bool => Self::B(self.truth()),
        }
    }

    pub(super) fn class(self) -> Class {
        match self {
            Self::F(_) => Class::Float,
            Self::I(_) => Class::Int,
            Self::U(_) => Class::Uint,
            Self::B(_) => Class::Bool,
        }
    }

    fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::I(a), Self::I(b)) => a == b,
            (Self::U(a), Self::U(b)) => a == b,
            (Self::B(a), Self::B(b)) => a == b,
            (a, b) => a.float() == b.float(),
        }
    }
}

/// A value: components in columns of `rows` (one column for vectors and numbers), or parts of an array or struct.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Nums { columns: usize, rows: usize, all: Vec<Num> },
    Parts(Vec<Value>),
    Void,
}

/// Why an evaluation stops: an unsupported node, or a discarded pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Unknown(String),
    Discarded,
}

pub(super) type Outcome<T> = Result<T, Stop>;

pub(super) fn unknown<T>(what: impl Into<String>) -> Outcome<T> {
    Err(Stop::Unknown(what.into()))
}

impl Value {
    pub(super) fn vector(all: Vec<Num>) -> Self {
        Self::Nums {
            columns: 1,
            rows: all.len(),
            all,
        }
    }

    pub(super) fn floats(all: &[f32]) -> Self {
        Self::vector(all.iter().map(|x| Num::F(*x)).collect())
    }

    pub(super) fn nums(&self) -> Outcome<&[Num]> {
        match self {
            Self::Nums { all, .. } => Ok(all),
            _ => unknown("numbers of a value that has none"),
        }
    }

    pub(super) fn num(&self) -> Outcome<Num> {
        match self.nums()? {
            [one] => Ok(*one),
            _ => unknown("a vector where a number must be"),
        }
    }

    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nums { all: a, .. }, Self::Nums { all: b, .. }) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(*b))
            }
            (Self::Parts(a), Self::Parts(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b)),
            _ => false,
        }
    }

    pub(super) fn to(&self, class: Class) -> Self {
        match self {
            Self::Nums { columns, rows, all } => Self::Nums {
                columns: *columns,
                rows: *rows,
                all: all.iter().map(|n| n.to(class)).collect(),
            },
            Self::Parts(parts) => Self::Parts(parts.iter().map(|p| p.to(class)).collect()),
            Self::Void => Self::Void,
        }
    }
}

/// The type information that values need.
pub(super) enum Type {
    Nums(Class, usize, usize),
    Array(Ref, usize),
    Struct(Vec<Ref>),
    Void,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Part(usize),
    Components(Vec<u8>),
}

pub(super) fn part(value: &Value, step: &Step) -> Outcome<Value> {
    match (value, step) {
        (Value::Parts(parts), Step::Part(i)) => parts.get(*i).cloned().map_or_else(|| unknown("an index beyond"), Ok),
        (Value::Nums { columns: 1, all, .. }, Step::Part(i)) => match all.get(*i) {
            Some(n) => Ok(Value::vector(vec![*n])),
            None => unknown("an index beyond"),
        },
        (Value::Nums { rows, all, .. }, Step::Part(i)) => match all.chunks(*rows).nth(*i) {
            Some(column) => Ok(Value::vector(column.to_vec())),
            None => unknown("an index beyond"),
        },
        (Value::Nums { all, .. }, Step::Components(components)) => {
            let picked: Option<Vec<Num>> = components.iter().map(|c| all.get(usize::from(*c)).copied()).collect();
            picked.map_or_else(|| unknown("a component beyond"), |all| Ok(Value::vector(all)))
        }
        _ => unknown("a part of something without parts"),
    }
}

/// Writes a part of a value.
pub(super) fn put(whole: &mut Value, steps: &[Step], value: Value) -> Outcome<()> {
    let Some((first, rest)) = steps.split_first() else {
        *whole = value;
        return Ok(());
    };
    let mut inner = part(whole, first)?;
    put(&mut inner, rest, value)?;
    match (whole, first) {
        (Value::Parts(parts), Step::Part(i)) => parts[*i] = inner,
        (Value::Nums { columns, rows, all }, Step::Part(i)) => {
            let new = inner.nums()?;
            let start = if *columns == 1 { *i } else { i * *rows };
            all[start..start + new.len()].copy_from_slice(new);
        }
        (Value::Nums { all, .. }, Step::Components(components)) => {
            for (component, n) in components.iter().zip(inner.nums()?) {
                all[usize::from(*component)] = *n;
            }
        }
        _ => return unknown("a part of something without parts"),
    }
    Ok(())
}

/// A builtin type by name.
pub(super) fn named(name: &str) -> Outcome<Type> {
    const BASES: [(&str, Class); 13] = [
        ("$floatLiteral", Class::Float),
        ("$intLiteral", Class::Int),
        ("float", Class::Float),
        ("half", Class::Float),
        ("ushort", Class::Uint),
        ("short", Class::Int),
        ("uint", Class::Uint),
        ("int", Class::Int),
        ("bool", Class::Bool),
        ("ivec", Class::Int),
        ("bvec", Class::Bool),
        ("vec", Class::Float),
        ("mat", Class::Float),
    ];
    if name == "void" {
        return Ok(Type::Void);
    }
    for (base, class) in BASES {
        let Some(rest) = name.strip_prefix(base) else { continue };
        let digit = |b: u8| usize::from(b.wrapping_sub(b'0'));
        return match *rest.as_bytes() {
            [] => Ok(Type::Nums(class, 1, 1)),
            [n @ b'2'..=b'4'] if base == "mat" => Ok(Type::Nums(class, digit(n), digit(n))),
            [n @ b'2'..=b'4'] => Ok(Type::Nums(class, 1, digit(n))),
            [c @ b'2'..=b'4', b'x', r @ b'2'..=b'4'] => Ok(Type::Nums(class, digit(c), digit(r))),
            _ => unknown(format!("the type {name}")),
        };
    }
    unknown(format!("the type {name}"))
}
