//! The GP's operations as rows: one row gives the number, the name in texts, the operands and, where a multiplier's
//! operation is not for each of the two, which it takes. Evidence in docs/spec/mali/gp.md, sections 3, 5 and 6.

use crate::field::operations;

/// What there is to know about an operation beside its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name in texts.
    pub name: &'static str,
    /// Operands it reads.
    pub operands: usize,
    /// Which multipliers it takes.
    pub takes: Takes,
    /// It writes address registers.
    pub addresses: bool,
}

/// Which units of a pair an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Each unit computes it for itself.
    Each,
    /// The first unit; the second one multiplies as ever.
    First,
    /// Both units together, with the operands of both; the result is the first unit's.
    Both,
}

impl Row {
    /// A row of an operation that takes a unit for itself and gives nothing but its result.
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
    /// Operations of both adders; in texts `mov` is an addition of -0.0.
    pub enum AccOp, 3 bits, Row, else 2 {
        /// Sum.
        Add = 0, "add", 2;
        /// Whole number below.
        Floor = 1, "floor", 1;
        /// -1.0, 0.0 or 1.0.
        Sign = 2, "sign", 1;
        /// 1.0 where the first operand is not less, else 0.0.
        Ge = 4, "ge", 2;
        /// 1.0 where the first operand is less, else 0.0.
        Lt = 5, "lt", 2;
        /// The lesser one; the second when one is no number.
        Min = 6, "min", 2;
        /// The greater one; the second when one is no number.
        Max = 7, "max", 2;
    }
}

operations! {
    /// Operations of both multipliers; in texts `mov` is a multiplication by 1.0.
    pub enum MulOp, 3 bits, Row, else 2 {
        /// Product.
        Mul = 0, "mul", 2;
        /// Last step of the transcendental functions.
        Complex1 = 1, "complex1", 4, takes: Takes::Both;
        /// Second step of the transcendental functions.
        Complex2 = 3, "complex2", 2, takes: Takes::First;
        /// One of two operands by a third.
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
        /// One by the square root, first step.
        Rsqrt = 4, "rsqrt", 1;
        /// One by the operand, first step.
        Rcp = 5, "rcp", 1;
        /// The operand.
        Mov = 9, "mov", 1;
        /// Writes address registers 0 and 1 from the pass unit's result.
        TempAddressPair = 10, "temp_addr_pair", 1, addresses: true;
        /// Writes address register 0, where temporaries are stored.
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
    /// What an idle unit's field holds; with a source it gives zero, and no known program has it so.
    pub const IDLE: Self = Self::Undocumented(0);
}

operations! {
    /// Operations of the pass unit.
    pub enum PassOp, 3 bits, Row, else 1 {
        /// The operand.
        Mov = 2, "mov", 1;
        /// What exp2 wants of its operand first.
        PreExp2 = 4, "preexp2", 1;
        /// What log2 leaves to be done to its result.
        PostLog2 = 5, "postlog2", 1;
        /// Limits from the memory load's x and y.
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
        assert_eq!(
            ComplexOp::from_name("op2"),
            None,
            "a number with a row goes by its name"
        );
        assert_eq!(AccOp::from_name("op8"), None, "too large a number");
    }
}
