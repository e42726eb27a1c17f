//! Whole numbers as floats: exact as long as they are small enough.

use super::{Front, Walk};
use crate::error::Error;
use crate::ir::{Op, Value};
use naga::BinaryOperator;

impl Front<'_> {
    /// Quotient towards zero and remainder with the dividend's sign.
    pub(super) fn whole_division(&mut self, a: Value, b: Value) -> (Value, Value) {
        if let (Some(a), Some(b)) = (self.b.known(a), self.b.known(b)) {
            let quotient = if b == 0.0 { 0.0 } else { (a / b).trunc() };
            return (self.b.number(quotient), self.b.number(a - b * quotient));
        }
        // The reciprocal is off by little: the quotient is at most one off, which the remainder tells.
        let (a_abs, b_abs) = (self.b.op(Op::Abs, &[a]), self.b.op(Op::Abs, &[b]));
        let ratio = self.divide(a_abs, b_abs);
        let first = self.b.op(Op::Floor, &[ratio]);
        let product = self.b.op(Op::Mul, &[first, b_abs]);
        let rest = self.subtract(a_abs, product);
        let zero = self.b.number(0.0);
        let (low, high) = (self.b.op(Op::Lt, &[rest, zero]), self.b.op(Op::Ge, &[rest, b_abs]));
        let correction = self.subtract(high, low);
        let quotient = self.b.op(Op::Add, &[first, correction]);
        let (sign_a, sign_b) = (self.b.op(Op::Sign, &[a]), self.b.op(Op::Sign, &[b]));
        let sign = self.b.op(Op::Mul, &[sign_a, sign_b]);
        let quotient = self.b.op(Op::Mul, &[quotient, sign]);
        let product = self.b.op(Op::Mul, &[quotient, b]);
        let remainder = self.subtract(a, product);
        (quotient, remainder)
    }

    /// Operations on bits that are arithmetic in truth: shifts by known counts, masks in one piece.
    pub(super) fn bits(&mut self, op: BinaryOperator, a: Value, b: Value) -> Walk<Value> {
        let name = match op {
            BinaryOperator::And => "&",
            BinaryOperator::InclusiveOr => "|",
            BinaryOperator::ExclusiveOr => "^",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            _ => "?",
        };
        let refusal = || Error::unsupported(format!("bit operations ({name}) beyond constant masks and shifts"));
        if let (Some(a), Some(b)) = (self.b.known(a), self.b.known(b)) {
            let (a, b) = (a as i64, b as i64);
            let value = match op {
                BinaryOperator::And => a & b,
                BinaryOperator::InclusiveOr => a | b,
                BinaryOperator::ExclusiveOr => a ^ b,
                BinaryOperator::ShiftLeft if (0..32).contains(&b) => a << b,
                BinaryOperator::ShiftRight if (0..32).contains(&b) => a >> b,
                _ => return Err(refusal().into()),
            };
            return Ok(self.b.number(value as f32));
        }
        let (value, known) = match (self.b.known(a), self.b.known(b)) {
            (_, Some(known)) => (a, known),
            (Some(known), _) if op == BinaryOperator::And => (b, known),
            _ => return Err(refusal().into()),
        };
        let known = known as i64;
        match op {
            BinaryOperator::ShiftLeft if (0..24).contains(&known) => Ok(self.scaled(value, known as i32)),
            BinaryOperator::ShiftRight if (0..24).contains(&known) => {
                let scaled = self.scaled(value, -(known as i32));
                Ok(self.b.op(Op::Floor, &[scaled]))
            }
            BinaryOperator::And if known >= 0 => {
                let low = known.trailing_zeros().min(31) as i32;
                let ones = known >> low;
                if ones & (ones + 1) != 0 {
                    return Err(refusal().into());
                }
                let high = low + ones.trailing_ones() as i32;
                let low_part = self.modulo_power(value, low);
                let high_part = self.modulo_power(value, high);
                Ok(self.subtract(high_part, low_part))
            }
            _ => Err(refusal().into()),
        }
    }

    fn scaled(&mut self, value: Value, power: i32) -> Value {
        let factor = self.b.number(2.0f32.powi(power));
        self.b.op(Op::Mul, &[value, factor])
    }

    /// The lowest bits.
    fn modulo_power(&mut self, value: Value, bits: i32) -> Value {
        if bits == 0 {
            return self.b.number(0.0);
        }
        let scaled = self.scaled(value, -bits);
        let part = self.b.op(Op::Fract, &[scaled]);
        self.scaled(part, bits)
    }
}
