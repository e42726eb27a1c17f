//! Numbers, data types and image formats: what both languages share.

use std::fmt;

/// Defines an enumeration of words that scripts use.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // they are the language's words
        pub enum $name { $($(#[$of])* $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The word.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// What a word means.
            pub fn named(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }

            /// The words, for messages.
            pub fn expected() -> String {
                Self::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ")
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
pub(crate) use words;

/// A number of a script; what type it has, its context says.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// Without a fraction.
    Int(i128),
    /// With one, or infinite, or none at all.
    Float(f64),
}

impl Value {
    /// Reads decimal, hexadecimal and floating-point numbers.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if digits.starts_with(['+', '-']) {
            return None;
        }
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            if hex.starts_with(['+', '-']) {
                return None;
            }
            let number = i128::from(u64::from_str_radix(hex, 16).ok()?);
            return Some(Self::Int(if negative { -number } else { number }));
        }
        if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let number: i128 = digits.parse().ok()?;
            // Minus nought has a sign that no integer keeps.
            return Some(match (negative, number) {
                (true, 0) => Self::Float(-0.0),
                (true, _) => Self::Int(-number),
                _ => Self::Int(number),
            });
        }
        text.parse().ok().map(Self::Float)
    }

    /// As a number with a fraction.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::Float(number) => number,
        }
    }

    /// As an integer; a fraction is cut off.
    pub fn as_int(self) -> i128 {
        match self {
            Self::Int(number) => number,
            Self::Float(number) => number as i128,
        }
    }
}

/// The same bits.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => one == other,
            (Self::Float(one), Self::Float(other)) => one.to_bits() == other.to_bits(),
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
        }
    }
}

words! {
    /// A scalar type.
    Scalar {
        Int8 = "int8",
        Int16 = "int16",
        Int32 = "int32",
        Int64 = "int64",
        Uint8 = "uint8",
        Uint16 = "uint16",
        Uint32 = "uint32",
        Uint64 = "uint64",
        Float16 = "float16",
        Float = "float",
        Double = "double",
    }
}

impl Scalar {
    /// Its size.
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 | Self::Float16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float => 4,
            Self::Int64 | Self::Uint64 | Self::Double => 8,
        }
    }
}

/// What an element is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeName {
    /// One number.
    Scalar(Scalar),
    /// Two to four.
    Vector(Scalar, u8),
    /// Columns of rows.
    Matrix {
        /// What each number is.
        scalar: Scalar,
        /// How many columns.
        columns: u8,
        /// How many numbers a column has.
        rows: u8,
    },
    /// A texel.
    Format(Format),
    /// A structure by its name.
    Struct(String),
}

/// How often a type stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Array {
    /// Once.
    #[default]
    None,
    /// As often as there is room.
    Runtime,
    /// So often.
    Sized(u32),
}

/// A type of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataType {
    /// What an element is.
    pub name: TypeName,
    /// How often it stands.
    pub array: Array,
}

impl DataType {
    /// Reads a type. What is no type of the language is a structure's name.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, array) = match text.strip_suffix(']') {
            None => (text, Array::None),
            Some(rest) => {
                let (name, count) = rest.split_once('[')?;
                let array = match count {
                    "" => Array::Runtime,
                    count => Array::Sized(count.parse().ok().filter(|count| *count > 0)?),
                };
                (name, array)
            }
        };
        let name = TypeName::parse(name)?;
        Some(Self { name, array })
    }
}

impl TypeName {
    fn parse(text: &str) -> Option<Self> {
        if let Some(scalar) = Scalar::named(text) {
            return Some(Self::Scalar(scalar));
        }
        let size = |text: &str| text.parse::<u8>().ok().filter(|size| (2..=4).contains(size));
        if let Some((shape, scalar)) = text.strip_suffix('>').and_then(|text| text.split_once('<')) {
            let scalar = Scalar::named(scalar)?;
            if let Some(count) = shape.strip_prefix("vec") {
                return Some(Self::Vector(scalar, size(count)?));
            }
            let (columns, rows) = shape.strip_prefix("mat")?.split_once('x')?;
            let (columns, rows) = (size(columns)?, size(rows)?);
            return Some(Self::Matrix { scalar, columns, rows });
        }
        if let Some(format) = Format::parse(text) {
            return Some(Self::Format(format));
        }
        let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        (!text.is_empty() && text.chars().all(plain)).then(|| Self::Struct(text.to_owned()))
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => write!(f, "{scalar}"),
            Self::Vector(scalar, count) => write!(f, "vec{count}<{scalar}>"),
            Self::Matrix { scalar, columns, rows } => write!(f, "mat{columns}x{rows}<{scalar}>"),
            Self::Format(format) => write!(f, "{format}"),
            Self::Struct(name) => write!(f, "{name}"),
        }
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        match self.array {
            Array::None => Ok(()),
            Array::Runtime => write!(f, "[]"),
            Array::Sized(count) => write!(f, "[{count}]"),
        }
    }
}

/// What a component of a format is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // they are the formats' letters
pub enum Channel {
    R,
    G,
    B,
    A,
    D,
    S,
    X,
}

words! {
    /// How a component's bits are read.
    Numeric {
        Unorm = "UNORM",
        Snorm = "SNORM",
        Uscaled = "USCALED",
        Sscaled = "SSCALED",
        Uint = "UINT",
        Sint = "SINT",
        Ufloat = "UFLOAT",
        Sfloat = "SFLOAT",
        Srgb = "SRGB",
    }
}

/// A component of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// What it is for.
    pub channel: Channel,
    /// How many bits it has.
    pub bits: u8,
    /// How they are read.
    pub numeric: Numeric,
}

/// An image format, by its name in Vulkan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    name: String,
    components: Vec<Component>,
    packed: bool,
}

impl Format {
    /// Reads a name such as `B8G8R8A8_UNORM`.
    pub fn parse(name: &str) -> Option<Self> {
        let mut components = Vec::new();
        let mut packed = None;
        let mut unread = 0;
        for part in name.split('_') {
            if let Some(bits) = part.strip_prefix("PACK") {
                packed = Some(bits.parse::<u32>().ok()?);
            } else if let Some(numeric) = Numeric::named(part) {
                if unread == components.len() {
                    return None;
                }
                components[unread..]
                    .iter_mut()
                    .for_each(|one: &mut Component| one.numeric = numeric);
                unread = components.len();
            } else {
                // `X8` has no kind of number of its own; the depth behind it has.
                read_channels(part, &mut components)?;
            }
        }
        let bits: u32 = components.iter().map(|one| u32::from(one.bits)).sum();
        let whole = packed.map_or(bits.is_multiple_of(8), |packed| packed == bits);
        let read = !components.is_empty() && unread == components.len() && components.len() <= 4;
        (read && whole).then(|| Self {
            name: name.to_owned(),
            components,
            packed: packed.is_some(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its components in the order of the name.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Its components in the order of memory, the least bit first: those of packed formats are named from the most.
    pub fn in_memory(&self) -> Vec<Component> {
        let mut all = self.components.clone();
        if self.packed {
            all.reverse();
        }
        all
    }

    /// Whether a texel is one number of 8, 16 or 32 bits.
    pub fn is_packed(&self) -> bool {
        self.packed
    }

    /// The size of a texel as data, all components in a row.
    pub fn bytes(&self) -> usize {
        let bits: usize = self.components.iter().map(|one| usize::from(one.bits)).sum();
        bits.div_ceil(8)
    }

    /// Whether it has depth.
    pub fn has_depth(&self) -> bool {
        self.components.iter().any(|one| one.channel == Channel::D)
    }

    /// Whether it has stencil.
    pub fn has_stencil(&self) -> bool {
        self.components.iter().any(|one| one.channel == Channel::S)
    }

    /// Whether its texels are integers to shaders.
    pub fn is_integer(&self) -> bool {
        let integer = |one: &Component| matches!(one.numeric, Numeric::Uint | Numeric::Sint);
        !self.has_depth() && self.components.iter().all(integer)
    }
}

fn read_channels(part: &str, components: &mut Vec<Component>) -> Option<()> {
    let mut rest = part;
    while let Some(letter) = rest.chars().next() {
        let channel = match letter {
            'R' => Channel::R,
            'G' => Channel::G,
            'B' => Channel::B,
            'A' => Channel::A,
            'D' => Channel::D,
            'S' => Channel::S,
            'X' => Channel::X,
            _ => return None,
        };
        let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
        let bits = rest[1..=digits].parse().ok().filter(|bits| (1..=64).contains(bits))?;
        rest = &rest[1 + digits..];
        components.push(Component {
            channel,
            bits,
            numeric: Numeric::Unorm,
        });
    }
    (components.len() <= 4).then_some(())
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

words! {
    /// What the vertices of a draw make.
    Topology {
        PointList = "POINT_LIST",
        LineList = "LINE_LIST",
        LineListAdjacency = "LINE_LIST_WITH_ADJACENCY",
        LineStrip = "LINE_STRIP",
        LineStripAdjacency = "LINE_STRIP_WITH_ADJACENCY",
        TriangleList = "TRIANGLE_LIST",
        TriangleListAdjacency = "TRIANGLE_LIST_WITH_ADJACENCY",
        TriangleStrip = "TRIANGLE_STRIP",
        TriangleStripAdjacency = "TRIANGLE_STRIP_WITH_ADJACENCY",
        TriangleFan = "TRIANGLE_FAN",
        PatchList = "PATCH_LIST",
    }
}

words! {
    /// What a shader is for.
    Stage {
        Vertex = "vertex",
        Fragment = "fragment",
        Geometry = "geometry",
        TessellationEvaluation = "tessellation_evaluation",
        TessellationControl = "tessellation_control",
        Compute = "compute",
        RayGeneration = "ray_generation",
        AnyHit = "any_hit",
        ClosestHit = "closest_hit",
        Miss = "miss",
        Intersection = "intersection",
        Callable = "callable",
        Multi = "multi",
    }
}

impl Stage {
    /// Whether only ray tracing pipelines have it.
    pub fn is_ray_tracing(self) -> bool {
        (Self::RayGeneration..=Self::Callable).contains(&self)
    }
}

/// How far a number may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// By how much.
    pub value: f64,
    /// In percent of the number that is wanted.
    pub percent: bool,
}

impl Tolerance {
    /// Reads a number, or one with a percent sign.
    pub fn parse(text: &str) -> Option<Self> {
        let (text, percent) = match text.strip_suffix('%') {
            Some(text) => (text, true),
            None => (text, false),
        };
        let value = Value::parse(text)?.as_f64();
        (value >= 0.0).then_some(Self { value, percent })
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Value::Float(self.value), if self.percent { "%" } else { "" })
    }
}
