//! Enumerants that come from files.

/// Defines an open enumerant: a newtype over an integer with named constants and one name table.
///
/// An unknown value is an ordinary value and displays as its number.
///
/// ```
/// loader_doctest::open_enum! {
///     /// Rank of a texel.
///     pub struct Rank(u8) { D1 = 0 "1d", D2 = 1 "2d" }
/// }
/// # mod loader_doctest { pub use skrymir_loader::open_enum; }
/// assert_eq!(Rank::D2.to_string(), "2d");
/// assert_eq!(Rank(77).to_string(), "77");
/// assert_eq!(Rank::from_name("1d"), Some(Rank::D1));
/// ```
#[macro_export]
macro_rules! open_enum {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($int:ty) {
        $($(#[$vmeta:meta])* $konst:ident = $value:literal $text:literal),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(pub $int);

        impl $name {
            $(#[doc = concat!("`", $text, "`, ", stringify!($value), ".")] $(#[$vmeta])* pub const $konst: Self = Self($value);)*

            /// Every named value with its name, in table order.
            pub const TABLE: &'static [(Self, &'static str)] = &[$((Self($value), $text)),*];

            /// The name of a known value.
            pub fn name(self) -> Option<&'static str> {
                Self::TABLE.iter().find(|row| row.0 == self).map(|row| row.1)
            }

            /// The value of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
            }

            /// Whether the value has a name.
            pub fn is_known(self) -> bool {
                self.name().is_some()
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => ::std::fmt::Display::fmt(&self.0, f),
                }
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }
    };
}
