//! Types of expressions.

use super::enums::*;
use super::tree::*;

/// Types of Skia's modules without components: docs/spec/sksl.md, section 6.
const BUILTIN: &str = " sampler sampler1D sampler2D sampler3D sampler2DRect samplerExternalOES isampler2D texture1D \
    texture2D texture3D texture2DRect textureExternalOES itexture2D subpassInput subpassInputMS shader colorFilter blender \
    $genType $genHType $genIType $genUType $genBType $mat $hmat $squareMat $squareHMat $vec $hvec $ivec $uvec $svec $usvec \
    $bvec $sk_Caps ";

/// Whether there is a built-in type of this name.
pub fn is_type(name: &str) -> bool {
    Ty::from_name(name).is_some() || (!name.contains(' ') && BUILTIN.contains(&format!(" {name} ")))
}

/// Component types. Precision (`half`, `short`, `ushort`) is kept, because overloads and printing need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // each is the SkSL type of its name
pub enum Scalar {
    Float,
    Half,
    Int,
    Short,
    Uint,
    Ushort,
    Bool,
    /// An untyped float literal (`$floatLiteral`).
    FloatLiteral,
    /// An untyped int literal (`$intLiteral`).
    IntLiteral,
}

impl Scalar {
    /// Class for comparisons: float, signed, unsigned, bool. An int literal counts as signed.
    pub fn class(self) -> u8 {
        match self {
            Self::Float | Self::Half | Self::FloatLiteral => 0,
            Self::Int | Self::Short | Self::IntLiteral => 1,
            Self::Uint | Self::Ushort => 2,
            Self::Bool => 3,
        }
    }

    /// Whether a value of `self` may be used as a `to` in a finished tree: the same type, or an untyped literal.
    pub fn stands_for(self, to: Self) -> bool {
        match self {
            Self::FloatLiteral => to.class() == 0,
            Self::IntLiteral => to != Self::Bool,
            own => own == to || matches!(to, Self::FloatLiteral | Self::IntLiteral) && to.class() == own.class(),
        }
    }

    /// Whether `self` converts to `to` without a cast in the source: same class at any precision, or a literal int.
    pub fn coerces_to(self, to: Self) -> bool {
        self.class() == to.class() || (self == Self::IntLiteral && to != Self::Bool)
    }
}

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Ty {
    Void,
    Scalar(Scalar),
    Vector(Scalar, u8),
    /// Columns, then rows.
    Matrix(Scalar, u8, u8),
    Array(Handle<Symbol>),
    Struct(Handle<Symbol>),
    /// A type without components: samplers, shader, ...
    Opaque(Str),
    /// A placeholder for several types (`$genType`), in modules only.
    Generic(Str),
    /// Unknown: a built-in whose type is not in the file.
    Unknown,
}

impl Ty {
    /// A built-in type by name.
    pub fn from_name(name: &str) -> Option<Self> {
        let scalar = |s: &str| {
            Some(match s {
                "float" => Scalar::Float,
                "half" => Scalar::Half,
                "int" => Scalar::Int,
                "short" => Scalar::Short,
                "uint" => Scalar::Uint,
                "ushort" => Scalar::Ushort,
                "bool" => Scalar::Bool,
                "$floatLiteral" => Scalar::FloatLiteral,
                "$intLiteral" => Scalar::IntLiteral,
                _ => return None,
            })
        };
        if name == "void" {
            return Some(Self::Void);
        }
        if let Some(s) = scalar(name) {
            return Some(Self::Scalar(s));
        }
        let digit = |b: u8| (b'2'..=b'4').contains(&b).then(|| b - b'0');
        let bytes = name.as_bytes();
        for (prefix, s) in [("vec", Scalar::Float), ("ivec", Scalar::Int), ("bvec", Scalar::Bool)] {
            if let Some(&[n]) = name.strip_prefix(prefix).map(str::as_bytes) {
                return digit(n).map(|n| Self::Vector(s, n));
            }
        }
        match name.strip_prefix("mat").map(str::as_bytes) {
            Some(&[n]) => return digit(n).map(|n| Self::Matrix(Scalar::Float, n, n)),
            Some(&[c, b'x', r]) => return Some(Self::Matrix(Scalar::Float, digit(c)?, digit(r)?)),
            _ => {}
        }
        if let [.., c, b'x', r] = bytes {
            let s = scalar(name.get(..name.len() - 3)?)?;
            return matches!(s, Scalar::Float | Scalar::Half).then_some(Self::Matrix(s, digit(*c)?, digit(*r)?));
        }
        let (&last, _) = bytes.split_last()?;
        let n = digit(last)?;
        let s = scalar(name.get(..name.len() - 1)?)?;
        (!matches!(s, Scalar::FloatLiteral | Scalar::IntLiteral)).then_some(Self::Vector(s, n))
    }

    /// Component type of a number, vector or matrix.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Scalar(s) | Self::Vector(s, _) | Self::Matrix(s, _, _) => Some(s),
            _ => None,
        }
    }

    /// The same shape with another component type.
    pub fn with_scalar(self, s: Scalar) -> Self {
        match self {
            Self::Scalar(_) => Self::Scalar(s),
            Self::Vector(_, n) => Self::Vector(s, n),
            Self::Matrix(_, c, r) => Self::Matrix(s, c, r),
            other => other,
        }
    }

    /// Number of components of a scalar, vector or matrix; 0 for all others.
    pub fn slots(self) -> u32 {
        match self {
            Self::Scalar(_) => 1,
            Self::Vector(_, n) => u32::from(n),
            Self::Matrix(_, c, r) => u32::from(c) * u32::from(r),
            _ => 0,
        }
    }

    /// A scalar for n = 1, else a vector.
    pub fn of(s: Scalar, n: u8) -> Self {
        if n == 1 { Self::Scalar(s) } else { Self::Vector(s, n) }
    }
}

/// Computes the type of each expression, once.
pub struct Typer<'a> {
    tree: &'a Tree,
    known: Vec<Option<Ty>>,
}

impl<'a> Typer<'a> {
    /// A typer for one tree.
    pub fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            known: vec![None; tree.expressions.len()],
        }
    }

    /// The type that a reference refers to.
    pub fn resolve(&self, reference: Ref) -> Ty {
        match reference.target() {
            Target::None => Ty::Unknown,
            Target::Builtin(name) => {
                let text = &self.tree.strings[name];
                Ty::from_name(text).unwrap_or(match text.starts_with('$') {
                    true => Ty::Generic(name),
                    false => Ty::Opaque(name),
                })
            }
            Target::Symbol(handle) => match self.tree.symbols[handle] {
                Symbol::Array { .. } => Ty::Array(handle),
                Symbol::Struct { .. } => Ty::Struct(handle),
                _ => Ty::Unknown,
            },
        }
    }

    /// Type of a variable.
    pub fn variable(&self, reference: Ref) -> Ty {
        match reference.target() {
            Target::Symbol(handle) => match self.tree.symbols[handle] {
                Symbol::Variable { ty, .. } => self.resolve(ty),
                _ => Ty::Unknown,
            },
            Target::Builtin(name) => super::builtins::variable(&self.tree.strings[name])
                .and_then(|row| Ty::from_name(row.ty))
                .unwrap_or(Ty::Unknown),
            Target::None => Ty::Unknown,
        }
    }

    /// Component type of an array.
    pub fn element(&self, array: Handle<Symbol>) -> Ty {
        match self.tree.symbols[array] {
            Symbol::Array { component, .. } => self.resolve(component),
            _ => Ty::Unknown,
        }
    }

    /// The type of an expression.
    pub fn of(&mut self, handle: Handle<Expression>) -> Ty {
        if let Some(found) = self.known[handle.index()] {
            return found;
        }
        let ty = self.work_out(handle);
        self.known[handle.index()] = Some(ty);
        ty
    }

    fn work_out(&mut self, handle: Handle<Expression>) -> Ty {
        match self.tree.expressions[handle] {
            Expression::Binary { left, op, right } => {
                let (l, r) = (self.of(left), self.of(right));
                binary(l, op, r)
            }
            Expression::Bool(_) => Ty::Scalar(Scalar::Bool),
            Expression::Float { ty, .. }
            | Expression::Int { ty, .. }
            | Expression::Constructor { ty, .. }
            | Expression::Call { ty, .. } => self.resolve(ty),
            Expression::FieldAccess { base, index, .. } => {
                let base = self.of(base);
                self.field(base, index)
                    .map_or(Ty::Unknown, |field| self.resolve(field.ty))
            }
            Expression::Index { base, .. } => match self.of(base) {
                Ty::Array(array) => self.element(array),
                Ty::Vector(s, _) => Ty::Scalar(s),
                Ty::Matrix(s, _, rows) => Ty::Vector(s, rows),
                _ => Ty::Unknown,
            },
            Expression::Prefix { operand, .. } | Expression::Postfix { operand, .. } => self.of(operand),
            Expression::Setting(_) => Ty::Unknown,
            Expression::Swizzle { base, count, .. } => self.of(base).scalar().map_or(Ty::Unknown, |s| Ty::of(s, count)),
            Expression::Ternary { then, otherwise, .. } => match self.of(then) {
                Ty::Scalar(Scalar::FloatLiteral | Scalar::IntLiteral) | Ty::Unknown => self.of(otherwise),
                ty => ty,
            },
            Expression::Variable { variable, .. } => self.variable(variable),
        }
    }

    /// A field of a struct type, or of an array's struct type.
    pub fn field(&self, ty: Ty, index: u8) -> Option<StructField> {
        let Ty::Struct(handle) = ty else { return None };
        match &self.tree.symbols[handle] {
            Symbol::Struct { fields, .. } => fields.get(usize::from(index)).copied(),
            _ => None,
        }
    }
}

/// Result type of a binary operator; the operands are assumed to match.
fn binary(left: Ty, op: Operator, right: Ty) -> Ty {
    match op {
        Operator::COMMA => right,
        Operator::EQ
        | Operator::NE
        | Operator::LT
        | Operator::GT
        | Operator::LE
        | Operator::GE
        | Operator::AND
        | Operator::OR
        | Operator::XOR => Ty::Scalar(Scalar::Bool),
        _ if op.is_assignment() => left,
        Operator::STAR => match (left, right) {
            (Ty::Matrix(s, _, rows), Ty::Vector(..)) => Ty::Vector(s, rows),
            (Ty::Vector(s, _), Ty::Matrix(_, columns, _)) => Ty::Vector(s, columns),
            (Ty::Matrix(s, _, rows), Ty::Matrix(_, columns, _)) => Ty::Matrix(s, columns, rows),
            _ => wider(left, right),
        },
        _ => wider(left, right),
    }
}

/// The operand with more components decides the shape; a typed operand decides the component type over a literal.
fn wider(left: Ty, right: Ty) -> Ty {
    let (shape, other) = if right.slots() > left.slots() {
        (right, left)
    } else {
        (left, right)
    };
    match (shape.scalar(), other.scalar()) {
        (Some(Scalar::FloatLiteral | Scalar::IntLiteral), Some(s)) => shape.with_scalar(s),
        (Some(Scalar::Half), Some(Scalar::Float)) => shape.with_scalar(Scalar::Float),
        (Some(Scalar::Short), Some(Scalar::Int)) => shape.with_scalar(Scalar::Int),
        (Some(Scalar::Ushort), Some(Scalar::Uint)) => shape.with_scalar(Scalar::Uint),
        _ => shape,
    }
}
