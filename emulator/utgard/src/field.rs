//! Bit fields of hardware words as rows of tables: fields with name, place and type; enumerations with a row for each
//! known number. Decoding, encoding and the names in text are generated from the rows.

/// The meaning of a field's bits.
pub trait Code: Copy {
    /// The value of a number; defined for all numbers.
    fn from_code(code: u32) -> Self;

    /// The number of a value.
    fn code(self) -> u32;
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Code for $type {
            #[inline(always)]
            fn from_code(code: u32) -> Self {
                code as $type
            }

            #[inline(always)]
            fn code(self) -> u32 {
                self.into()
            }
        }
    )*};
}

numbers!(u8 u16 u32);

/// An address whose lowest `BITS` bits are zero and not stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Aligned<const BITS: u32>(pub u32);

impl<const BITS: u32> Code for Aligned<BITS> {
    #[inline(always)]
    fn from_code(code: u32) -> Self {
        Self(code << BITS)
    }

    #[inline(always)]
    fn code(self) -> u32 {
        self.0 >> BITS
    }
}

impl Code for f32 {
    #[inline(always)]
    fn from_code(code: u32) -> Self {
        Self::from_bits(code)
    }

    #[inline(always)]
    fn code(self) -> u32 {
        self.to_bits()
    }
}

impl Code for bool {
    #[inline(always)]
    fn from_code(code: u32) -> Self {
        code != 0
    }

    #[inline(always)]
    fn code(self) -> u32 {
        self.into()
    }
}

/// One row: a field's name, first bit and width in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name in this crate and in text.
    pub name: &'static str,
    /// Its lowest bit.
    pub bit: u32,
    /// Its width in bits.
    pub width: u32,
}

impl Field {
    /// The field's value in `bits`.
    pub fn of(&self, bits: u128) -> u32 {
        (bits >> self.bit) as u32 & mask(self.width)
    }

    /// `bits` with the field set to the low bits of `value`.
    pub fn put(&self, bits: u128, value: u32) -> u128 {
        let all = u128::from(mask(self.width)) << self.bit;
        bits & !all | u128::from(value & mask(self.width)) << self.bit
    }
}

/// A mask as wide as a field, at most 32 bits.
pub(crate) const fn mask(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

/// A group of bit fields.
pub trait Fields: Sized {
    /// Bits of the group, at most 128.
    const BITS: u32;

    /// Every field in bit order; together they are every bit once.
    const FIELDS: &'static [Field];

    /// Decodes bits; lossless and defined for every pattern.
    fn from_bits(bits: u128) -> Self;

    /// Encodes the fields, each truncated to its width.
    fn to_bits(&self) -> u128;
}

/// Defines a struct with a member for each row (`name: type, first bit, width`), and its [`Fields`].
macro_rules! fields {
    ($(#[$meta:meta])* pub struct $name:ident, $bits:literal bits {
        $($(#[$field_meta:meta])* $field:ident: $type:ty, $bit:literal, $width:literal;)*
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
                use $crate::field::{Code, mask};
                Self { $($field: <$type>::from_code((bits >> $bit) as u32 & mask($width)),)* }
            }

            #[inline]
            fn to_bits(&self) -> u128 {
                use $crate::field::{Code, mask};
                let mut bits = 0u128;
                $(bits |= u128::from(self.$field.code() & mask($width)) << $bit;)*
                bits
            }
        }
    };
}

/// Fields whose type wraps one byte.
macro_rules! byte_codes {
    ($($name:ty),*) => {
        $(impl $crate::field::Code for $name {
            #[inline(always)]
            fn from_code(code: u32) -> Self {
                Self(code as u8)
            }

            #[inline(always)]
            fn code(self) -> u32 {
                self.0.into()
            }
        })*
    };
}

/// Defines an enumeration with a row (`Variant = number, name`) for every known number.
///
/// `complete` ones have all numbers of their width; `open` ones keep the others as `Undocumented`, and the width limits
/// such a number. The first row is the default.
macro_rules! codes {
    ($(#[$meta:meta])* pub complete enum $name:ident, $width:literal bits {
        $(#[$first_meta:meta])* $first:ident = $first_code:literal, $first_text:literal;
        $($(#[$row_meta:meta])* $row:ident = $code:literal, $text:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[$first_meta])*
            #[default]
            $first,
            $($(#[$row_meta])* $row,)*
        }

        impl $name {
            /// All values, by number.
            pub const ALL: [Self; 1 << $width] = [Self::$first, $(Self::$row),*];

            /// The name.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::$first => $first_text,
                    $(Self::$row => $text,)*
                }
            }
        }

        impl $crate::field::Code for $name {
            #[inline(always)]
            fn from_code(code: u32) -> Self {
                Self::ALL[(code & $crate::field::mask($width)) as usize]
            }

            #[inline(always)]
            fn code(self) -> u32 {
                match self {
                    Self::$first => $first_code,
                    $(Self::$row => $code,)*
                }
            }
        }
    };
    ($(#[$meta:meta])* pub open enum $name:ident, $width:literal bits {
        $(#[$first_meta:meta])* $first:ident = $first_code:literal, $first_text:literal;
        $($(#[$row_meta:meta])* $row:ident = $code:literal, $text:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[$first_meta])*
            #[default]
            $first,
            $($(#[$row_meta])* $row,)*
            /// A number without a row.
            Undocumented(u8),
        }

        impl $name {
            /// All values with a row, in order.
            pub const ALL: &'static [Self] = &[Self::$first, $(Self::$row),*];

            /// The name; `undocumented` without a row.
            pub const fn name(self) -> &'static str {
                match self {
                    Self::$first => $first_text,
                    $(Self::$row => $text,)*
                    Self::Undocumented(_) => "undocumented",
                }
            }

            /// The name for text; a note with the number if there is no row.
            pub fn label(self) -> std::borrow::Cow<'static, str> {
                match self {
                    Self::Undocumented(code) => format!("undocumented {code:#x}").into(),
                    known => known.name().into(),
                }
            }

            /// Whether it has a row.
            pub const fn is_documented(self) -> bool {
                !matches!(self, Self::Undocumented(_))
            }
        }

        impl $crate::field::Code for $name {
            #[inline(always)]
            fn from_code(code: u32) -> Self {
                /// All values by number: a load is faster than a match.
                const NUMBERED: [$name; 1 << $width] = {
                    let mut all = [$name::$first; 1 << $width];
                    let mut code = 0;
                    while code < all.len() {
                        all[code] = match code as u32 {
                            $first_code => $name::$first,
                            $($code => $name::$row,)*
                            code => $name::Undocumented(code as u8),
                        };
                        code += 1;
                    }
                    all
                };
                NUMBERED[(code & $crate::field::mask($width)) as usize]
            }

            #[inline(always)]
            fn code(self) -> u32 {
                match self {
                    Self::$first => $first_code,
                    $(Self::$row => $code,)*
                    Self::Undocumented(code) => code.into(),
                }
            }
        }
    };
}

/// Defines the operations of a unit: an open enumeration whose rows have more columns than a name.
///
/// A row is `Variant = number, name in text, operands`, followed by columns of the instruction set's own `Row` that
/// differ from its `Row::new`. The header gives the operand count of numbers without a row.
macro_rules! operations {
    ($(#[$meta:meta])* pub enum $name:ident, $width:literal bits, $row_type:ty, else $else_operands:literal {
        $(#[$first_meta:meta])* $first:ident = $first_code:literal, $first_text:literal, $first_operands:literal
            $(, $first_column:ident: $first_value:expr)*;
        $($(#[$row_meta:meta])* $row:ident = $code:literal, $text:literal, $operands:literal
            $(, $column:ident: $value:expr)*;)*
    }) => {
        $crate::field::codes! {
            $(#[$meta])*
            pub open enum $name, $width bits {
                $(#[$first_meta])* $first = $first_code, $first_text;
                $($(#[$row_meta])* $row = $code, $text;)*
            }
        }

        impl $name {
            /// Its row; for a number without one, a row with only the operand count.
            #[inline]
            pub fn row(self) -> $row_type {
                match self {
                    Self::$first => {
                        #[allow(unused_mut)]
                        let mut row = <$row_type>::new($first_text, $first_operands);
                        $(row.$first_column = $first_value;)*
                        row
                    }
                    $(Self::$row => {
                        #[allow(unused_mut)]
                        let mut row = <$row_type>::new($text, $operands);
                        $(row.$column = $value;)*
                        row
                    })*
                    Self::Undocumented(_) => <$row_type>::new("undocumented", $else_operands),
                }
            }

            /// Operands it reads.
            pub fn operands(self) -> usize {
                self.row().operands
            }

            /// The operation with this name: of a row, or `opN` for a number without one.
            pub fn from_name(name: &str) -> Option<Self> {
                use $crate::field::Code;
                if let Some(known) = Self::ALL.iter().find(|op| op.name() == name) {
                    return Some(*known);
                }
                let code = $crate::text::number(name.strip_prefix("op")?)?;
                let code = u32::try_from(code).ok().filter(|code| code >> $width == 0)?;
                Some(Self::from_code(code)).filter(|op| !op.is_documented())
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    Self::Undocumented(code) => write!(f, "op{code}"),
                    known => f.write_str(known.name()),
                }
            }
        }
    };
}

pub(crate) use {byte_codes, codes, fields, operations};

#[cfg(test)]
pub(crate) fn every_bit_once<F: Fields>() {
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

/// Checks that every number of a width decodes to a value that encodes to the number.
#[cfg(test)]
pub(crate) fn every_code_survives<C: Code + std::fmt::Debug>(width: u32) {
    for code in 0..1 << width {
        assert_eq!(C::from_code(code).code(), code, "{:?}", C::from_code(code));
    }
}
