//! The PP's operations as rows: number, name in text, operands, operand components read, units that have it, and
//! whether it uses the other fragments of the quad. Evidence in docs/spec/mali/pp.md, sections 5, 8 and 10.

use crate::field::{codes, operations};

/// The properties of an arithmetic operation, except its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name in text.
    pub name: &'static str,
    /// Operands it reads.
    pub operands: usize,
    /// Operand components that it reads.
    pub reads: Reads,
    /// The units that have it.
    pub units: Units,
    /// Whether it uses the neighbouring fragments of the quad.
    pub quad: bool,
    /// Whether it reads the scalar multiplier's result in addition to its operands.
    pub product: bool,
}

impl Row {
    /// A row of a component-wise operation of the vector and the scalar unit.
    const fn new(name: &'static str, operands: usize) -> Self {
        Self {
            name,
            operands,
            reads: Reads::Own,
            units: Units::Both,
            quad: false,
            product: false,
        }
    }
}

/// The operand components that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// For each component of the result, the same component.
    Own,
    /// For each component of the result, this many from the first on.
    First(u32),
}

impl Reads {
    /// Operand components that are read for a mask.
    pub const fn of(self, mask: u32) -> u32 {
        match self {
            Self::Own => mask,
            Self::First(count) => (1 << count) - 1,
        }
    }
}

/// The units that have an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Units {
    /// The vector and the scalar unit.
    Both,
    /// Only the vector unit.
    Vector,
}

operations! {
    /// Operations of both multipliers.
    pub enum MulOp, 5 bits, Row, else 2 {
        /// Product.
        Mul = 0, "mul", 2;
        /// Twice the product.
        MulX2 = 1, "mul_x2", 2;
        /// Four times the product.
        MulX4 = 2, "mul_x4", 2;
        /// Eight times the product.
        MulX8 = 3, "mul_x8", 2;
        /// A sixteenth of the product.
        MulD16 = 4, "mul_d16", 2;
        /// An eighth of the product.
        MulD8 = 5, "mul_d8", 2;
        /// A quarter of the product.
        MulD4 = 6, "mul_d4", 2;
        /// Half the product.
        MulD2 = 7, "mul_d2", 2;
        /// 1.0 if the operand is zero.
        Not = 8, "not", 1;
        /// 1.0 if both are non-zero.
        And = 9, "and", 2;
        /// 1.0 if either is non-zero.
        Or = 10, "or", 2;
        /// 1.0 if exactly one is non-zero.
        Xor = 11, "xor", 2;
        /// 1.0 if they differ.
        Ne = 12, "ne", 2;
        /// 1.0 if the first is greater.
        Gt = 13, "gt", 2;
        /// 1.0 if the first is greater or equal.
        Ge = 14, "ge", 2;
        /// 1.0 if they are equal.
        Eq = 15, "eq", 2;
        /// Minimum; the second operand if either is NaN.
        Min = 16, "min", 2;
        /// Maximum; the second operand if either is NaN.
        Max = 17, "max", 2;
        /// The operand.
        Mov = 31, "mov", 1;
    }
}

impl MulOp {
    /// The factor of a scaled product: two to the power of the number as a signed 3-bit integer. `None` for operations
    /// that are not products.
    pub const fn scale(self) -> Option<f32> {
        Some(match self {
            Self::Mul => 1.0,
            Self::MulX2 => 2.0,
            Self::MulX4 => 4.0,
            Self::MulX8 => 8.0,
            Self::MulD16 => 0.0625,
            Self::MulD8 => 0.125,
            Self::MulD4 => 0.25,
            Self::MulD2 => 0.5,
            _ => return None,
        })
    }
}

operations! {
    /// Operations of both adders.
    pub enum AccOp, 5 bits, Row, else 2 {
        /// Sum.
        Add = 0, "add", 2;
        /// Fractional part.
        Fract = 4, "fract", 1;
        /// 1.0 if they differ.
        Ne = 8, "ne", 2;
        /// 1.0 if the first is greater.
        Gt = 9, "gt", 2;
        /// 1.0 if the first is greater or equal.
        Ge = 10, "ge", 2;
        /// 1.0 if they are equal.
        Eq = 11, "eq", 2;
        /// Rounds down.
        Floor = 12, "floor", 1;
        /// Rounds up.
        Ceil = 13, "ceil", 1;
        /// Minimum; the second operand if either is NaN.
        Min = 14, "min", 2;
        /// Maximum; the second operand if either is NaN.
        Max = 15, "max", 2;
        /// Sum of the first three components.
        Sum3 = 16, "sum3", 1, reads: Reads::First(3), units: Units::Vector;
        /// Sum of all components.
        Sum4 = 17, "sum4", 1, reads: Reads::First(4), units: Units::Vector;
        /// The right fragment's first operand plus the left one's second.
        DFdx = 20, "dFdx", 2, quad: true;
        /// One row's first operand plus the other's second, depending on the frame's orientation.
        DFdy = 21, "dFdy", 2, quad: true;
        /// The first operand if the scalar multiplier's result is not zero, else the second.
        Select = 23, "sel", 2, product: true;
        /// The operand.
        Mov = 31, "mov", 1;
    }
}

operations! {
    /// Operations of the combine unit with a scalar result.
    pub enum ScalarFunction, 4 bits, Row, else 1 {
        /// Reciprocal.
        Rcp = 0, "rcp", 1;
        /// The operand.
        Mov = 1, "mov", 1;
        /// Square root.
        Sqrt = 2, "sqrt", 1;
        /// Reciprocal square root.
        Rsqrt = 3, "rsqrt", 1;
        /// 2 to the power of the operand.
        Exp2 = 4, "exp2", 1;
        /// Logarithm to base 2.
        Log2 = 5, "log2", 1;
        /// Sine; the angle is in turns.
        Sin = 6, "sin", 1;
        /// Cosine; the angle is in turns.
        Cos = 7, "cos", 1;
    }
}

operations! {
    /// Operations of the combine unit with a vector result from scalars.
    pub enum VectorFunction, 4 bits, Row, else 2 {
        /// First part of an arc tangent.
        AtanPart1 = 8, "atan_pt1", 1;
        /// First part of the angle of a vector.
        Atan2Part1 = 9, "atan2_pt1", 2;
    }
}

codes! {
    /// The modifier of a result.
    pub complete enum Modifier, 2 bits {
        /// None.
        None = 0, "";
        /// Clamped to 0 and 1.
        Saturate = 1, "sat";
        /// Clamped to at least 0.
        Positive = 2, "pos";
        /// Truncated to an integer.
        Integer = 3, "int";
    }
}

/// The varying unit's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An interpolated varying.
    Memory,
    /// A register.
    Register,
    /// A built-in input.
    Builtin,
}

/// The properties of a varying unit kind, except its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindRow {
    /// Name in text (empty for the plain ones); the loaded value follows in parentheses.
    pub name: &'static str,
    /// Operands in text.
    pub operands: usize,
    /// Its input.
    pub origin: Origin,
    /// Components that are read regardless of the mask.
    pub reads: u32,
    /// Whether its behaviour is known.
    pub known: bool,
}

impl KindRow {
    const fn new(name: &'static str, operands: usize) -> Self {
        Self {
            name,
            operands,
            origin: Origin::Memory,
            reads: 0,
            known: true,
        }
    }
}

operations! {
    /// Kinds of the varying unit (docs/spec/mali/pp.md, section 5).
    pub enum VaryingKind, 4 bits, KindRow, else 0 {
        /// An input.
        Plain = 0, "", 1;
        /// In no known program.
        Kind1 = 1, "kind1", 1, known: false;
        /// An input, divided by its z.
        DivideZ = 2, "divide_z", 1;
        /// An input, divided by its w.
        DivideW = 3, "divide_w", 1;
        /// A register.
        Register = 4, "", 1, origin: Origin::Register;
        /// In no known program.
        Kind5 = 5, "kind5", 1, origin: Origin::Register, known: false;
        /// A register, divided by its z.
        RegisterDivideZ = 6, "divide_z", 1, origin: Origin::Register, reads: 4;
        /// A register, divided by its w.
        RegisterDivideW = 7, "divide_w", 1, origin: Origin::Register, reads: 8;
        /// An input as a cube map's direction.
        Cube = 8, "cube", 1;
        /// A register as a cube map's direction.
        RegisterCube = 9, "cube", 1, origin: Origin::Register;
        /// A register's first three components, normalised.
        Normalize = 10, "normalize", 1, origin: Origin::Register, reads: 7;
        /// Window position.
        FragCoord = 11, "gl_FragCoord", 0, origin: Origin::Builtin;
        /// Position in a point sprite.
        PointCoord = 12, "gl_PointCoord", 0, origin: Origin::Builtin;
        /// Whether the front face is visible.
        FrontFacing = 13, "gl_FrontFacing", 0, origin: Origin::Builtin;
        /// In no known program.
        Builtin14 = 14, "builtin14", 0, origin: Origin::Builtin, known: false;
        /// In no known program.
        Builtin15 = 15, "builtin15", 0, origin: Origin::Builtin, known: false;
    }
}

codes! {
    /// The unit of an index.
    pub complete enum Alignment, 2 bits {
        /// Floats.
        Float = 0, "float";
        /// Pairs of floats.
        Vec2 = 1, "vec2";
        /// Four floats; in loads and stores.
        Vec4 = 2, "vec4";
        /// Four floats; in the varying unit.
        Varying4 = 3, "vec4";
    }
}

impl Alignment {
    /// Log2 of the unit in floats.
    #[inline(always)]
    pub const fn shift(self) -> u32 {
        match self {
            Self::Float => 0,
            Self::Vec2 => 1,
            Self::Vec4 | Self::Varying4 => 2,
        }
    }

    /// Number of components moved.
    #[inline(always)]
    pub const fn components(self) -> usize {
        1 << self.shift()
    }

    /// Whether whole vectors are moved, ignoring a register's component.
    pub const fn is_vector(self) -> bool {
        matches!(self, Self::Vec4 | Self::Varying4)
    }
}

codes! {
    /// Source of a load.
    pub open enum LoadSource, 2 bits {
        /// The uniforms.
        Uniform = 0, "uniform";
        /// The fragment's temporaries.
        Temporary = 3, "temporary";
    }
}

codes! {
    /// Operation of the store unit.
    pub open enum StoreMode, 2 bits {
        /// Stores.
        Store = 0, "store";
        /// Reads the tile buffer.
        ReadTile = 3, "read";
    }
}

codes! {
    /// Target of the store unit.
    pub open enum StoreTarget, 2 bits {
        /// Depth of the tile.
        Depth = 2, "depth";
        /// A temporary, or the tile's colour.
        TemporaryOrColor = 3, "temporary or colour";
    }
}

codes! {
    /// Texture type for the sampler.
    pub open enum SamplerKind, 5 bits {
        /// Most textures.
        Plain = 0, "plain";
        /// A cube map.
        Cube = 31, "cube";
    }
}

codes! {
    /// Kinds of branches.
    pub open enum BranchKind, 4 bits {
        /// Continues at the target.
        Branch = 0, "branch";
        /// Ends the fragment without output.
        Discard = 3, "discard";
    }
}

codes! {
    /// Condition of a branch: the bits greater, equal and less.
    pub complete enum Condition, 3 bits {
        /// Never.
        Never = 0, "branch.never";
        /// When the first operand is greater.
        Gt = 1, "branch.gt";
        /// When they are equal.
        Eq = 2, "branch.eq";
        /// When the first operand is greater or equal.
        Ge = 3, "branch.ge";
        /// When the first operand is less.
        Lt = 4, "branch.lt";
        /// If they differ and neither is NaN.
        Ne = 5, "branch.ne";
        /// When the first operand is less or equal.
        Le = 6, "branch.le";
        /// Always.
        Always = 7, "branch";
    }
}

impl Condition {
    /// Whether the condition includes greater.
    #[inline(always)]
    pub const fn greater(self) -> bool {
        self as u8 & 1 != 0
    }

    /// Whether the condition includes equal.
    #[inline(always)]
    pub const fn equal(self) -> bool {
        self as u8 & 2 != 0
    }

    /// Whether the condition includes less.
    #[inline(always)]
    pub const fn less(self) -> bool {
        self as u8 & 4 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::every_code_survives;

    #[test]
    fn numbers_survive() {
        every_code_survives::<MulOp>(5);
        every_code_survives::<AccOp>(5);
        every_code_survives::<ScalarFunction>(4);
        every_code_survives::<VectorFunction>(4);
        every_code_survives::<VaryingKind>(4);
        every_code_survives::<Modifier>(2);
        every_code_survives::<Alignment>(2);
        every_code_survives::<LoadSource>(2);
        every_code_survives::<StoreMode>(2);
        every_code_survives::<StoreTarget>(2);
        every_code_survives::<SamplerKind>(5);
        every_code_survives::<BranchKind>(4);
        every_code_survives::<Condition>(3);
    }

    #[test]
    fn products_are_scaled_by_their_number() {
        for op in MulOp::ALL.iter().filter(|op| op.scale().is_some()) {
            let code = crate::field::Code::code(*op) as i32;
            let power = if code > 3 { code - 8 } else { code };
            assert_eq!(op.scale(), Some(2f32.powi(power)), "{op}");
        }
    }
}
