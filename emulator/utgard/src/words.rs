//! Structures of several words as rows of tables: fields with name, place and type. Decoding, encoding and the
//! detection of undocumented bits are generated from the rows.

/// One row: a field's name, word, first bit and width in bits. A field may extend into the next word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The field's name.
    pub name: &'static str,
    /// The word its lowest bit is in.
    pub word: usize,
    /// Its lowest bit.
    pub bit: u32,
    /// Its width in bits, at most 32.
    pub width: u32,
}

impl Place {
    /// The field's value; missing words count as zero.
    #[inline(always)]
    pub fn of(&self, words: &[u32]) -> u32 {
        let word = |at: usize| words.get(at).copied().unwrap_or(0);
        let pair = if self.bit + self.width > 32 {
            u64::from(word(self.word)) | u64::from(word(self.word + 1)) << 32
        } else {
            u64::from(word(self.word))
        };
        (pair >> self.bit) as u32 & crate::field::mask(self.width)
    }

    /// Sets the field's bits, which must be clear, to the low bits of a value.
    pub fn put(&self, words: &mut [u32], value: u32) {
        let pair = u64::from(value & crate::field::mask(self.width)) << self.bit;
        for (at, part) in [(self.word, pair as u32), (self.word + 1, (pair >> 32) as u32)] {
            if let Some(word) = words.get_mut(at) {
                *word |= part;
            }
        }
    }
}

/// Whether a word matches a code under a mask.
#[inline(always)]
pub(crate) const fn is(word: u32, mask: u32, code: u32) -> bool {
    (word ^ code) & mask == 0
}

/// Bits in no row: word index and bits.
pub(crate) fn undocumented(places: &[Place], words: &[u32], constant: &[u32]) -> Vec<(usize, u32)> {
    let mut known = vec![0; words.len()];
    for place in places {
        place.put(&mut known, u32::MAX);
    }
    let left = words.iter().zip(known).enumerate().map(|(at, (word, known))| {
        let constant = constant.get(at).copied().unwrap_or(0);
        (at, word & !known & !constant)
    });
    left.filter(|(_, bits)| *bits != 0).collect()
}

/// Defines a struct of several words with a member for each row (`name: type, word, first bit, width`).
macro_rules! words {
    ($(#[$meta:meta])* pub struct $name:ident, $count:literal words {
        $($(#[$field_meta:meta])* $field:ident: $type:ty, $word:literal, $bit:literal, $width:literal;)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $name {
            /// Number of words.
            pub const WORDS: usize = $count;

            /// Its fields.
            pub const PLACES: &'static [$crate::words::Place] = &[$($crate::words::Place {
                name: stringify!($field),
                word: $word,
                bit: $bit,
                width: $width,
            }),*];

            /// Decodes words; missing ones count as zero.
            #[inline]
            pub fn from_words(words: &[u32]) -> Self {
                let _ = words;
                Self {
                    $($field: {
                        const PLACE: $crate::words::Place = $crate::words::Place {
                            name: stringify!($field),
                            word: $word,
                            bit: $bit,
                            width: $width,
                        };
                        <$type as $crate::field::Code>::from_code(PLACE.of(words))
                    },)*
                }
            }

            /// Encodes the fields, each truncated to its width.
            pub fn to_words(&self) -> [u32; $count] {
                #[allow(unused_mut)]
                let mut words = [0; $count];
                let values: &[u32] = &[$($crate::field::Code::code(self.$field)),*];
                for (place, value) in Self::PLACES.iter().zip(values) {
                    place.put(&mut words, *value);
                }
                words
            }

            /// Every field's name and its value as text, in row order.
            pub fn named(&self) -> Vec<(&'static str, String)> {
                vec![$((stringify!($field), format!("{:?}", self.$field))),*]
            }

            /// Bits that are set but in no row: word index and bits.
            pub fn undocumented(words: &[u32]) -> Vec<(usize, u32)> {
                $crate::words::undocumented(Self::PLACES, words, &[])
            }
        }
    };
}

/// Defines the commands of a stream: pairs of words (value, operation) distinguished by some of their bits.
///
/// A row is `Variant(mask = code) { fields }` with masks and codes of both words. Rows are tried in order.
macro_rules! commands {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$row_meta:meta])* $row:ident([$low_mask:literal, $high_mask:literal] = [$low:literal, $high:literal]) {
            $($(#[$field_meta:meta])* $field:ident: $type:ty, $word:literal, $bit:literal, $width:literal;)*
        })*
    }) => {
        $(
            $crate::words::words! {
                $(#[$row_meta])*
                pub struct $row, 2 words {
                    $($(#[$field_meta])* $field: $type, $word, $bit, $width;)*
                }
            }

            impl From<$row> for $name {
                fn from(command: $row) -> Self {
                    Self::$row(command)
                }
            }
        )*

        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum $name {
            $($(#[$row_meta])* $row($row),)*
            /// Words that no row knows.
            Undocumented([u32; 2]),
        }

        impl $name {
            /// The command of two words, the value first.
            #[inline]
            pub fn decode(words: [u32; 2]) -> Self {
                let [low, high] = words;
                $(if $crate::words::is(low, $low_mask, $low) && $crate::words::is(high, $high_mask, $high) {
                    return Self::$row($row::from_words(&words));
                })*
                Self::Undocumented(words)
            }

            /// The words again, but for bits that no row knows.
            pub fn encode(self) -> [u32; 2] {
                match self {
                    $(Self::$row(command) => {
                        let [low, high] = command.to_words();
                        [low | $low, high | $high]
                    })*
                    Self::Undocumented(words) => words,
                }
            }

            /// Every field's name and its value in words.
            pub fn named(self) -> Vec<(&'static str, String)> {
                match self {
                    $(Self::$row(command) => command.named(),)*
                    Self::Undocumented(words) => vec![("words", format!("{words:x?}"))],
                }
            }

            /// The name of a command's row and its fields; none of them for words that no row knows.
            pub fn row(words: [u32; 2]) -> (&'static str, &'static [$crate::words::Place]) {
                match Self::decode(words) {
                    $(Self::$row(_) => (stringify!($row), $row::PLACES),)*
                    Self::Undocumented(_) => ("Undocumented", &[]),
                }
            }

            /// Bits of a command that are set and in no row: number of the word and the bits.
            pub fn undocumented(words: [u32; 2]) -> Vec<(usize, u32)> {
                match Self::decode(words) {
                    $(Self::$row(_) => {
                        let constant = [$low | $low_mask, $high | $high_mask];
                        $crate::words::undocumented($row::PLACES, &words, &constant)
                    })*
                    Self::Undocumented(_) => Vec::new(),
                }
            }
        }
    };
}

pub(crate) use {commands, words};

/// No bit is in two rows, and what is encoded is read back.
#[cfg(test)]
pub(crate) fn places_are_apart(places: &[Place], count: usize) {
    let mut seen = vec![0u32; count];
    for place in places {
        let mut own = vec![0u32; count + 1];
        place.put(&mut own, u32::MAX);
        assert_eq!(own[count], 0, "{} goes past the end", place.name);
        for (seen, own) in seen.iter_mut().zip(own) {
            assert_eq!(*seen & own, 0, "{} lies over another field", place.name);
            *seen |= own;
        }
    }
}
