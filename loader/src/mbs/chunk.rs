//! The container format: a chunk is four letters, a length and a payload, which may hold further chunks.
//!
//! After the first header, reading does not fail: unrecognised data is kept as bytes and written back unchanged.

use crate::cursor::Cursor;
use crate::{Error, Result};

/// Name of the format in errors.
pub const FORMAT: &str = "mbs";

/// Nesting limit; vendor files nest five deep.
const MAX_DEPTH: usize = 16;

/// A chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its four letters.
    pub ident: [u8; 4],
    /// Byte offset of its header in the file it was read from; 0 in one that was built.
    pub offset: u64,
    /// What it holds.
    pub body: Body,
}

/// What a chunk holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Bytes.
    Leaf(Vec<u8>),
    /// Chunks.
    Node {
        /// Bytes before the first chunk.
        head: Vec<u8>,
        /// For symbols: the bytes between the first chunk (the name) and the others.
        fields: Vec<u8>,
        /// The chunks.
        children: Vec<Chunk>,
        /// Bytes after the last chunk that do not form a chunk.
        tail: Vec<u8>,
    },
}

/// Layout of a chunk that holds other chunks.
struct Shape {
    /// Bytes before the first chunk.
    head: usize,
    /// Bytes between the first chunk and the others.
    fields: usize,
}

/// Layout of the chunks that hold chunks (docs/spec/mbs.md, section 1: seen in vendor files).
fn shape(ident: &[u8; 4]) -> Option<Shape> {
    let (head, fields) = match ident {
        b"MBS1" | b"VIDX" => (0, 0),
        b"CFRA" | b"CVER" | b"SVAR" | b"SATT" => (4, 0),
        b"SUNI" => (8, 0),
        b"VUNI" | b"VVAR" => (0, 20),
        b"VATT" => (0, 16),
        _ => return None,
    };
    Some(Shape { head, fields })
}

impl Chunk {
    /// A chunk of bytes.
    pub fn leaf(ident: &[u8; 4], bytes: Vec<u8>) -> Self {
        Self {
            ident: *ident,
            offset: 0,
            body: Body::Leaf(bytes),
        }
    }

    /// A chunk of words.
    pub fn words(ident: &[u8; 4], words: &[u32]) -> Self {
        Self::leaf(ident, words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// A chunk of chunks behind some words.
    pub fn node(ident: &[u8; 4], head: &[u32], children: Vec<Self>) -> Self {
        let head = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        Self {
            ident: *ident,
            offset: 0,
            body: Body::Node {
                head,
                fields: Vec::new(),
                children,
                tail: Vec::new(),
            },
        }
    }

    /// Reads the chunk at the cursor.
    ///
    /// # Errors
    /// If the chunk is longer than the remaining bytes.
    pub fn read(cursor: &mut Cursor<'_>, base: u64, depth: usize) -> Result<Self> {
        let offset = base + cursor.offset();
        let ident = cursor.array::<4>("chunk name")?;
        let size = cursor.u32("chunk size")?;
        let payload = cursor.take(size as usize, &format!("chunk {}", text(&ident)))?;
        let body = shape(&ident)
            .filter(|_| depth < MAX_DEPTH)
            .and_then(|shape| node(payload, &shape, offset + 8, depth));
        Ok(Self {
            ident,
            offset,
            body: body.unwrap_or_else(|| Body::Leaf(payload.to_vec())),
        })
    }

    /// Size of the payload in bytes.
    pub fn size(&self) -> usize {
        match &self.body {
            Body::Leaf(bytes) => bytes.len(),
            Body::Node {
                head,
                fields,
                children,
                tail,
            } => head.len() + fields.len() + tail.len() + children.iter().map(|child| 8 + child.size()).sum::<usize>(),
        }
    }

    /// Appends the chunk's bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.ident);
        out.extend_from_slice(&(self.size() as u32).to_le_bytes());
        match &self.body {
            Body::Leaf(bytes) => out.extend_from_slice(bytes),
            Body::Node {
                head,
                fields,
                children,
                tail,
            } => {
                out.extend_from_slice(head);
                for (number, child) in children.iter().enumerate() {
                    child.write(out);
                    if number == 0 {
                        out.extend_from_slice(fields);
                    }
                }
                out.extend_from_slice(tail);
            }
        }
    }

    /// The chunks in this one.
    pub fn children(&self) -> &[Self] {
        match &self.body {
            Body::Leaf(_) => &[],
            Body::Node { children, .. } => children,
        }
    }

    /// The first child with this identifier.
    pub fn child(&self, ident: &[u8; 4]) -> Option<&Self> {
        self.children().iter().find(|child| child.ident == *ident)
    }

    /// The bytes of a leaf, the head of a node.
    pub fn bytes(&self) -> &[u8] {
        match &self.body {
            Body::Leaf(bytes) => bytes,
            Body::Node { head, .. } => head,
        }
    }

    /// A word of [`Chunk::bytes`].
    pub fn word(&self, number: usize) -> Option<u32> {
        let bytes = self.bytes().get(4 * number..4 * number + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The identifier as text.
    pub fn name(&self) -> String {
        text(&self.ident)
    }
}

/// Printable bytes unchanged, others escaped.
fn text(ident: &[u8; 4]) -> String {
    ident.escape_ascii().to_string()
}

/// The children of a payload; `None` if the payload does not match the layout.
fn node(payload: &[u8], shape: &Shape, base: u64, depth: usize) -> Option<Body> {
    let mut cursor = Cursor::new(FORMAT, payload);
    let head = cursor.take(shape.head, "head").ok()?.to_vec();
    let (mut fields, mut children) = (Vec::new(), Vec::new());
    if shape.fields > 0 {
        children.push(Chunk::read(&mut cursor, base, depth + 1).ok()?);
        fields = cursor.take(shape.fields, "fields").ok()?.to_vec();
    }
    // A child that runs past its parent is not a chunk: the rest is kept as bytes.
    let mut whole = cursor.offset() as usize;
    while !cursor.is_empty() {
        let Ok(child) = Chunk::read(&mut cursor, base, depth + 1) else {
            break;
        };
        children.push(child);
        whole = cursor.offset() as usize;
    }
    Some(Body::Node {
        head,
        fields,
        children,
        tail: payload[whole..].to_vec(),
    })
}

/// The root chunk of a file, and the bytes after it.
///
/// # Errors
/// If the file does not begin with an `MBS1` chunk that fits in it.
pub fn root(bytes: &[u8]) -> Result<(Chunk, Vec<u8>)> {
    if !bytes.starts_with(b"MBS1") {
        return Err(Error::invalid(FORMAT, "does not begin with MBS1", 0));
    }
    let mut cursor = Cursor::new(FORMAT, bytes);
    let root = Chunk::read(&mut cursor, 0, 0)?;
    Ok((root, bytes[cursor.offset() as usize..].to_vec()))
}
