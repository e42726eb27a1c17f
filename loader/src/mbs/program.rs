//! Programs and symbols as values.

use super::chunk::{Body, Chunk, FORMAT};
use crate::{Error, Result, open_enum};

/// A pipeline stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// For the geometry processor.
    Vertex,
    /// For the pixel processors.
    Fragment,
}

impl Stage {
    /// The stage of a program chunk; `None` for other chunks.
    pub fn of(chunk: &Chunk) -> Option<Self> {
        match &chunk.ident {
            b"CVER" => Some(Self::Vertex),
            b"CFRA" => Some(Self::Fragment),
            _ => None,
        }
    }
}

open_enum! {
    /// The processor a program is for (docs/spec/mbs.md, section 1).
    pub struct CoreVersion(u32) {
        /// Mali-200's vertex processor.
        MALI_GP2 = 2 "MaliGP2",
        /// Mali-200's fragment processor.
        MALI_200 = 5 "Mali-200",
        /// Mali-400's vertex processor.
        MALI_400_GP = 6 "Mali-400 GP",
        /// Mali-400's fragment processor.
        MALI_400_PP = 7 "Mali-400 PP",
    }
}

open_enum! {
    /// Base type of a symbol.
    pub struct SymbolType(u8) {
        /// One to four floats.
        FLOAT = 1 "float",
        /// One to four integers, kept as floats.
        INT = 2 "int",
        /// One to four booleans, kept as floats.
        BOOL = 3 "bool",
        /// A square matrix.
        MATRIX = 4 "matrix",
        /// A two-dimensional texture.
        SAMPLER_2D = 5 "sampler2D",
        /// A cube map.
        SAMPLER_CUBE = 6 "samplerCube",
        /// A structure; its members name it as their parent.
        STRUCT = 8 "struct",
        /// A texture from outside OpenGL.
        SAMPLER_EXTERNAL = 9 "samplerExternalOES",
    }
}

/// Offset of a symbol that is declared but not used.
pub const UNUSED: u16 = 0xffff;

/// Parent of a symbol outside every structure.
pub const NO_PARENT: u16 = 0xffff;

/// A variable of a program. Sizes and offsets are in floats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: Vec<u8>,
    /// First byte of the record: 2 in vendor files, 0 in others; meaning unknown.
    pub unknown: u8,
    /// Base type.
    pub kind: SymbolType,
    /// Components of the base type: columns for matrices, members for structures, dimensions for samplers.
    pub components: u16,
    /// Size of the symbol or of one array element; of one column for matrices.
    pub size: u16,
    /// Elements of an array, 0 for none.
    pub entries: u16,
    /// Distance between array elements.
    pub stride: u16,
    /// 16; plus 8 for a varying that is a texture coordinate ("dst_stride" in older descriptions).
    pub flags: u8,
    /// 1 low, 2 medium, 3 high.
    pub precision: u8,
    /// Declared `invariant`; attributes lack this field.
    pub invariant: u32,
    /// Offset in its table's space or in its structure; [`UNUSED`] if it has none.
    pub offset: u16,
    /// Index of the enclosing structure, or [`NO_PARENT`]; for attributes, the field before the offset.
    pub parent: u16,
    /// The three words that newer compilers add to uniforms (`ITDR`, `IYUV`, `IGRD`); meaning unknown.
    pub index: Option<[u32; 3]>,
    /// Initial value, as raw bits.
    pub initial: Option<Vec<u32>>,
}

impl Symbol {
    /// The name as text.
    pub fn name(&self) -> String {
        self.name.escape_ascii().to_string()
    }

    /// Whether the symbol has an offset.
    pub fn is_used(&self) -> bool {
        self.offset != UNUSED
    }

    /// Type name in GLSL, such as `vec3` or `mat4[2]`.
    pub fn type_name(&self) -> String {
        let base = match (self.kind, self.components) {
            (SymbolType::FLOAT, 1) => "float".to_owned(),
            (SymbolType::FLOAT, n) => format!("vec{n}"),
            (SymbolType::INT | SymbolType::BOOL, 1) => self.kind.to_string(),
            (SymbolType::INT, n) => format!("ivec{n}"),
            (SymbolType::BOOL, n) => format!("bvec{n}"),
            (SymbolType::MATRIX, n) => format!("mat{n}"),
            (kind, _) => kind.to_string(),
        };
        if self.entries == 0 {
            base
        } else {
            format!("{base}[{}]", self.entries)
        }
    }

    fn from_chunk(chunk: &Chunk) -> Result<Self> {
        let (name, f) = match &chunk.body {
            Body::Node { fields, children, .. } if fields.len() >= 16 => (children.first(), fields),
            _ => return Err(short(chunk)),
        };
        let name = name
            .filter(|name| name.ident == *b"STRI")
            .ok_or_else(|| short(chunk))?
            .bytes();
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let half = |at: usize| u16::from_le_bytes([f[at], f[at + 1]]);
        let is_attribute = chunk.ident == *b"VATT";
        let (invariant, offset, parent) = match f.get(12..20) {
            Some(rest) if !is_attribute => (
                u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]),
                half(16),
                half(18),
            ),
            _ => (0, half(14), half(12)),
        };
        let index = chunk.child(b"VIDX").and_then(|index| {
            let word = |ident| index.child(ident).and_then(|leaf: &Chunk| leaf.word(0));
            Some([word(b"ITDR")?, word(b"IYUV")?, word(b"IGRD")?])
        });
        let initial = chunk.child(b"VINI").map(|initial| {
            let words = initial.bytes().chunks_exact(4).skip(1);
            words
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect()
        });
        Ok(Self {
            name: name[..end].to_vec(),
            unknown: f[0],
            kind: SymbolType(f[1]),
            components: half(2),
            size: half(4),
            entries: half(6),
            stride: half(8),
            flags: f[10],
            precision: f[11],
            invariant,
            offset,
            parent,
            index,
            initial,
        })
    }

    fn to_chunk(&self, ident: &[u8; 4]) -> Chunk {
        let mut name = self.name.clone();
        name.push(0);
        name.resize(name.len().next_multiple_of(4), 0);
        let mut fields = vec![self.unknown, self.kind.0];
        for half in [self.components, self.size, self.entries, self.stride] {
            fields.extend_from_slice(&half.to_le_bytes());
        }
        fields.extend_from_slice(&[self.flags, self.precision]);
        if ident == b"VATT" {
            fields.extend_from_slice(&self.parent.to_le_bytes());
            fields.extend_from_slice(&self.offset.to_le_bytes());
        } else {
            fields.extend_from_slice(&self.invariant.to_le_bytes());
            fields.extend_from_slice(&self.offset.to_le_bytes());
            fields.extend_from_slice(&self.parent.to_le_bytes());
        }
        let mut children = vec![Chunk::leaf(b"STRI", name)];
        if let Some([a, b, c]) = self.index {
            let words = [(b"ITDR", a), (b"IYUV", b), (b"IGRD", c)];
            let leaves = words
                .iter()
                .map(|(ident, word)| Chunk::words(ident, &[*word]))
                .collect();
            children.push(Chunk::node(b"VIDX", &[], leaves));
        }
        if let Some(initial) = &self.initial {
            let words: Vec<u32> = std::iter::once(initial.len() as u32)
                .chain(initial.iter().copied())
                .collect();
            children.push(Chunk::words(b"VINI", &words));
        }
        let body = Body::Node {
            head: Vec::new(),
            fields,
            children,
            tail: Vec::new(),
        };
        Chunk {
            ident: *ident,
            offset: 0,
            body,
        }
    }
}

fn short(chunk: &Chunk) -> Error {
    Error::invalid(
        FORMAT,
        format!("chunk {} is too short for its fields", chunk.name()),
        chunk.offset,
    )
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its stage.
    pub stage: Stage,
    /// The processor it is for.
    pub version: CoreVersion,
    /// Fragment programs: size and start of the stack (`FSTA`).
    pub stack: Option<[u32; 2]>,
    /// Fragment programs: 1 if the program uses `discard` (`FDIS`).
    pub discard: Option<u32>,
    /// Fragment programs: reads and writes of colour, depth and stencil; two bytes unknown (`FBUU`).
    pub buffers: Option<[u8; 8]>,
    /// Vertex programs: unknown, instruction count, one past the last instruction that reads an attribute (`FINS`).
    pub instructions: Option<[u32; 3]>,
    /// Floats taken by uniforms and constants.
    pub uniform_space: u32,
    /// Uniforms and the compiler's constants; `None` if the table is absent.
    pub uniforms: Option<Vec<Symbol>>,
    /// Attributes of vertices.
    pub attributes: Option<Vec<Symbol>>,
    /// Outputs of vertices, inputs of fragments.
    pub varyings: Option<Vec<Symbol>>,
    /// The code.
    pub code: Vec<u32>,
}

impl Program {
    /// A program with code and no tables.
    pub fn new(stage: Stage, code: Vec<u32>) -> Self {
        let vertex = stage == Stage::Vertex;
        let fragment = !vertex;
        Self {
            stage,
            version: if vertex {
                CoreVersion::MALI_400_GP
            } else {
                CoreVersion::MALI_400_PP
            },
            stack: fragment.then_some([1, 1]),
            discard: fragment.then_some(0),
            buffers: fragment.then_some([0, 1, 0, 0, 0, 0, 0, 0]),
            instructions: vertex.then_some([0, code.len() as u32 / 4, 0]),
            uniform_space: 0,
            uniforms: None,
            attributes: None,
            varyings: None,
            code,
        }
    }

    /// Decodes a `CVER` or `CFRA` chunk; unknown chunks are ignored.
    ///
    /// # Errors
    /// If a chunk is too short for its fields.
    pub fn from_chunk(chunk: &Chunk) -> Result<Self> {
        let stage = Stage::of(chunk).ok_or_else(|| short(chunk))?;
        let version = chunk.word(0).ok_or_else(|| short(chunk))?;
        let words = |ident: &[u8; 4], count: usize| {
            let Some(leaf) = chunk.child(ident) else {
                return Ok(None);
            };
            let words: Option<Vec<u32>> = (0..count).map(|at| leaf.word(at)).collect();
            words.map(Some).ok_or_else(|| short(leaf))
        };
        let table = |ident: &[u8; 4], symbol: &[u8; 4]| -> Result<Option<Vec<Symbol>>> {
            let Some(table) = chunk.child(ident) else {
                return Ok(None);
            };
            let symbols = table.children().iter().filter(|child| child.ident == *symbol);
            symbols.map(Symbol::from_chunk).collect::<Result<_>>().map(Some)
        };
        let buffers = chunk
            .child(b"FBUU")
            .map(|leaf| leaf.bytes().try_into().map_err(|_| short(leaf)))
            .transpose()?;
        let code = chunk.child(b"DBIN").map_or(&[][..], Chunk::bytes).chunks_exact(4);
        Ok(Self {
            stage,
            version: CoreVersion(version),
            stack: words(b"FSTA", 2)?.map(|w| [w[0], w[1]]),
            discard: words(b"FDIS", 1)?.map(|w| w[0]),
            buffers,
            instructions: words(b"FINS", 3)?.map(|w| [w[0], w[1], w[2]]),
            uniform_space: chunk.child(b"SUNI").and_then(|table| table.word(1)).unwrap_or(0),
            uniforms: table(b"SUNI", b"VUNI")?,
            attributes: table(b"SATT", b"VATT")?,
            varyings: table(b"SVAR", b"VVAR")?,
            code: code
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect(),
        })
    }

    /// Encodes the program as a chunk, in the order of vendor files.
    pub fn to_chunk(&self) -> Chunk {
        let mut children = Vec::new();
        let mut words = |ident: &[u8; 4], words: Option<&[u32]>| {
            if let Some(words) = words {
                children.push(Chunk::words(ident, words));
            }
        };
        words(b"FINS", self.instructions.as_ref().map(|w| &w[..]));
        words(b"FSTA", self.stack.as_ref().map(|w| &w[..]));
        words(b"FDIS", self.discard.as_ref().map(std::slice::from_ref));
        if let Some(buffers) = &self.buffers {
            children.push(Chunk::leaf(b"FBUU", buffers.to_vec()));
        }
        let mut table = |ident: &[u8; 4], symbol: &[u8; 4], symbols: &Option<Vec<Symbol>>, space: Option<u32>| {
            if let Some(symbols) = symbols {
                let head: Vec<u32> = std::iter::once(symbols.len() as u32).chain(space).collect();
                let symbols = symbols.iter().map(|s| s.to_chunk(symbol)).collect();
                children.push(Chunk::node(ident, &head, symbols));
            }
        };
        table(b"SUNI", b"VUNI", &self.uniforms, Some(self.uniform_space));
        table(b"SATT", b"VATT", &self.attributes, None);
        table(b"SVAR", b"VVAR", &self.varyings, None);
        children.push(Chunk::words(b"DBIN", &self.code));
        let ident = if self.stage == Stage::Vertex { b"CVER" } else { b"CFRA" };
        Chunk::node(ident, &[self.version.0], children)
    }

    /// The tables with their names.
    pub fn tables(&self) -> [(&'static str, &[Symbol]); 3] {
        let of = |table: &'static str, symbols| (table, Option::as_deref(symbols).unwrap_or_default());
        [
            of("uniform", &self.uniforms),
            of("attribute", &self.attributes),
            of("varying", &self.varyings),
        ]
    }
}
