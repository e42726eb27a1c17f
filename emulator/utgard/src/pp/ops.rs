//! The PP's operations as rows: number, name in texts, operands. Evidence in facts/mali/pp.md, sections 5, 8 and 10.

/// An operation: its number, its name, and how many operands it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// The number in the field.
    pub code: u32,
    /// Name in texts.
    pub name: &'static str,
    /// Operands, 1 or 2.
    pub operands: u8,
}

const fn op(code: u32, name: &'static str, operands: u8) -> Op {
    Op { code, name, operands }
}

/// Operations of both multipliers. Codes 1 to 7 scale the product by a power of two.
pub const MUL: &[Op] = &[
    op(0, "mul", 2),
    op(1, "mul_x2", 2),
    op(2, "mul_x4", 2),
    op(3, "mul_x8", 2),
    op(4, "mul_d16", 2),
    op(5, "mul_d8", 2),
    op(6, "mul_d4", 2),
    op(7, "mul_d2", 2),
    op(8, "not", 1),
    op(9, "and", 2),
    op(10, "or", 2),
    op(11, "xor", 2),
    op(12, "ne", 2),
    op(13, "gt", 2),
    op(14, "ge", 2),
    op(15, "eq", 2),
    op(16, "min", 2),
    op(17, "max", 2),
    op(31, "mov", 1),
];

/// Operations of both adders; `sum3` and `sum4` of the vec4 adder only.
pub const ACC: &[Op] = &[
    op(0, "add", 2),
    op(4, "fract", 1),
    op(8, "ne", 2),
    op(9, "gt", 2),
    op(10, "ge", 2),
    op(11, "eq", 2),
    op(12, "floor", 1),
    op(13, "ceil", 1),
    op(14, "min", 2),
    op(15, "max", 2),
    op(16, "sum3", 1),
    op(17, "sum4", 1),
    op(20, "dFdx", 2),
    op(21, "dFdy", 2),
    op(23, "sel", 2),
    op(31, "mov", 1),
];

/// Operations of the combine unit with a scalar result.
pub const COMBINE: &[Op] = &[
    op(0, "rcp", 1),
    op(1, "mov", 1),
    op(2, "sqrt", 1),
    op(3, "rsqrt", 1),
    op(4, "exp2", 1),
    op(5, "log2", 1),
    op(6, "sin", 1),
    op(7, "cos", 1),
];

/// Operations of the combine unit that make a vector of scalars.
pub const COMBINE_VECTOR: &[Op] = &[op(8, "atan_pt1", 1), op(9, "atan2_pt1", 2)];

/// What is done to a result before it is written: nothing, clamp to 0 and 1, clamp to 0, towards zero to an integer.
pub const MODIFIERS: [&str; 4] = ["", "sat", "pos", "int"];

/// Where the varying unit takes its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A varying of the vertices.
    Memory,
    /// A register.
    Register,
    /// A built-in input.
    Builtin,
}

/// A kind of the varying unit: number, name in texts (empty for the plain ones), source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The number in the field.
    pub code: u32,
    /// Name in texts; what is loaded stands in parentheses behind it.
    pub name: &'static str,
    /// Where the value comes from.
    pub source: Source,
}

const fn kind(code: u32, name: &'static str, source: Source) -> Kind {
    Kind { code, name, source }
}

/// The kinds of the varying unit (facts/mali/pp.md, section 5); 1, 14 and 15 are unknown and print as numbers.
pub const VARYING: [Kind; 16] = [
    kind(0, "", Source::Memory),
    kind(1, "kind1", Source::Memory),
    kind(2, "divide_z", Source::Memory),
    kind(3, "divide_w", Source::Memory),
    kind(4, "", Source::Register),
    kind(5, "kind5", Source::Register),
    kind(6, "divide_z", Source::Register),
    kind(7, "divide_w", Source::Register),
    kind(8, "cube", Source::Memory),
    kind(9, "cube", Source::Register),
    kind(10, "normalize", Source::Register),
    kind(11, "gl_FragCoord", Source::Builtin),
    kind(12, "gl_PointCoord", Source::Builtin),
    kind(13, "gl_FrontFacing", Source::Builtin),
    kind(14, "builtin14", Source::Builtin),
    kind(15, "builtin15", Source::Builtin),
];

/// The row of an operation's number.
pub fn by_code(table: &[Op], code: u32) -> Option<&Op> {
    table.iter().find(|op| op.code == code)
}

/// The row of an operation's name.
pub fn by_name<'a>(table: &'a [Op], name: &str) -> Option<&'a Op> {
    table.iter().find(|op| op.name == name)
}
