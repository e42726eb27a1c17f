//! The GP's operations as rows: number, name in text, operands and, unless each multiplier computes separately, the
//! multipliers used. Evidence in docs/spec/mali/gp.md, sections 3, 5 and 6.

use crate::field::operations;

/// The properties of an operation, except its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name in text.
    pub name: &'static str,
    /// Operands it reads.
    pub operands: usize,
    /// The multipliers that it uses.
    pub takes: Takes,
    /// Whether it writes address registers.
    pub addresses: bool,
}

/// The units of a pair that an operation uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Each unit computes independently.
    Each,
    /// The first unit; the second multiplies as usual.
    First,
    /// Both units together, with the operands of both; the first unit has the result.
    Both,
}

impl Row {
    /// A row of an operation in a single unit without side effects.
    const fn new(name: &'static str, operands: usize) -> Self {
        Self {
            name,
            operands,
            takes: Takes::Each,
            addresses: false,
        }
    }
}

operations! {
    /// Operations of both adders; `mov` in text is an addition of -0.0.
    pub enum AccOp, 3 bits, Row, else 2 {
        /// Sum.
        Add = 0, "add", 2;
        /// Rounds down.
        Floor = 1, "floor", 1;
        /// -1.0, 0.0 or 1.0.
        Sign = 2, "sign", 1;
        /// 1.0 if the first operand is greater or equal, else 0.0.
        Ge = 4, "ge", 2;
        /// 1.0 if the first operand is less, else 0.0.
        Lt = 5, "lt", 2;
        /// Minimum; the second operand if either is NaN.
        Min = 6, "min", 2;
        /// Maximum; the second operand if either is NaN.
        Max = 7, "max", 2;
    }
}

operations! {
    /// Operations of both multipliers; `mov` in text is a multiplication by 1.0.
    pub enum MulOp, 3 bits, Row, else 2 {
        /// Product.
        Mul = 0, "mul", 2;
        /// Final step of the transcendental functions.
        Complex1 = 1, "complex1", 4, takes: Takes::Both;
        /// Second step of the transcendental functions.
        Complex2 = 3, "complex2", 2, takes: Takes::First;
        /// Selects one of two operands by a third.
        Select = 4, "sel", 3, takes: Takes::Both;
    }
}

operations! {
    /// Operations of the complex unit.
    pub enum ComplexOp, 4 bits, Row, else 1 {
        /// 2 to the power of the operand, first step.
        Exp2 = 2, "exp2", 1;
        /// Logarithm to base 2, first step.
        Log2 = 3, "log2", 1;
        /// Reciprocal square root, first step.
        Rsqrt = 4, "rsqrt", 1;
        /// Reciprocal, first step.
        Rcp = 5, "rcp", 1;
        /// The operand.
        Mov = 9, "mov", 1;
        /// Writes address registers 0 and 1 from the pass unit's result.
        TempAddressPair = 10, "temp_addr_pair", 1, addresses: true;
        /// Writes address register 0, the address of temporary stores.
        TempStoreAddress = 12, "temp_store_addr", 1, addresses: true;
        /// Writes address register 1, for loads.
        TempLoadAddress1 = 13, "temp_load_addr_1", 1, addresses: true;
        /// Writes address register 2, for loads.
        TempLoadAddress2 = 14, "temp_load_addr_2", 1, addresses: true;
        /// Writes address register 3, for loads.
        TempLoadAddress3 = 15, "temp_load_addr_3", 1, addresses: true;
    }
}

impl ComplexOp {
    /// The field of an idle unit; with a source it yields zero, which no known program uses.
    pub const IDLE: Self = Self::Undocumented(0);
}

operations! {
    /// Operations of the pass unit.
    pub enum PassOp, 3 bits, Row, else 1 {
        /// The operand.
        Mov = 2, "mov", 1;
        /// Preparation of exp2's operand.
        PreExp2 = 4, "preexp2", 1;
        /// Final step of log2.
        PostLog2 = 5, "postlog2", 1;
        /// Clamps to limits from the memory load's x and y.
        Clamp = 6, "clamp", 3;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::every_code_survives;

    #[test]
    fn numbers_survive() {
        every_code_survives::<AccOp>(3);
        every_code_survives::<MulOp>(3);
        every_code_survives::<ComplexOp>(4);
        every_code_survives::<PassOp>(3);
    }

    #[test]
    fn names_are_read_back() {
        for code in 0..16 {
            let op = <ComplexOp as crate::field::Code>::from_code(code);
            assert_eq!(ComplexOp::from_name(&op.to_string()), Some(op));
        }
        assert_eq!(ComplexOp::from_name("op2"), None, "a number with a row has its name");
        assert_eq!(AccOp::from_name("op8"), None, "too large a number");
    }
}
