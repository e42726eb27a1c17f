//! Instruction fields as rows of a table: name, first bit, width. Decoding, encoding and the names in texts follow.

/// One row: a field's name, first bit and width in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name in this crate and in texts.
    pub name: &'static str,
    /// Its lowest bit.
    pub bit: u32,
    /// Its width in bits.
    pub width: u32,
}

impl Field {
    /// The field's value among `bits`.
    pub fn of(&self, bits: u128) -> u32 {
        (bits >> self.bit) as u32 & mask(self.width)
    }

    /// `bits` with the field set to the low bits of `value`.
    pub fn put(&self, bits: u128, value: u32) -> u128 {
        let all = u128::from(mask(self.width)) << self.bit;
        bits & !all | u128::from(value & mask(self.width)) << self.bit
    }
}

/// As many ones as a field is wide; no field is wider than 32 bits.
pub(super) const fn mask(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

/// A group of fields that are all of some number of bits.
pub trait Fields: Sized {
    /// Bits of the group, at most 128.
    const BITS: u32;

    /// Every field in bit order; together they are every bit once.
    const FIELDS: &'static [Field];

    /// Takes bits apart; total: every pattern is a value, nothing is lost.
    fn from_bits(bits: u128) -> Self;

    /// The bits again; of each field as many low bits as it is wide.
    fn to_bits(&self) -> u128;
}

/// Defines a struct with a number for each row, and its [`Fields`].
macro_rules! fields {
    ($(#[$meta:meta])* pub struct $name:ident of $type:ty, $bits:literal bits {
        $($(#[$field_meta:meta])* $field:ident: $bit:literal, $width:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $crate::field::Fields for $name {
            const BITS: u32 = $bits;

            const FIELDS: &'static [$crate::field::Field] =
                &[$($crate::field::Field { name: stringify!($field), bit: $bit, width: $width }),*];

            #[inline]
            fn from_bits(bits: u128) -> Self {
                Self { $($field: ((bits >> $bit) as u32 & $crate::field::mask($width)) as $type,)* }
            }

            #[inline]
            fn to_bits(&self) -> u128 {
                let mut bits = 0u128;
                $(bits |= u128::from(u32::from(self.$field) & $crate::field::mask($width)) << $bit;)*
                bits
            }
        }
    };
}

pub(super) use fields;

#[cfg(test)]
pub(super) fn every_bit_once<F: Fields>() {
    let mut at = 0;
    for field in F::FIELDS {
        assert_eq!(field.bit, at, "{} does not follow the field before", field.name);
        at += field.width;
    }
    assert_eq!(at, F::BITS);
    for bit in 0..F::BITS {
        assert_eq!(F::from_bits(1 << bit).to_bits(), 1 << bit, "bit {bit}");
    }
}
