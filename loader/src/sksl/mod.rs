//! Skia's binary SkSL ("dehydrated" programs and modules), version 11.
//!
//! A file is a version word, a block of strings, and one node tree in depth-first order: each node is a command byte
//! and its fields. [`read`] returns a [`Tree`], [`write()`] writes the same bytes, [`print()`] prints the program as
//! Skia does, and [`check`] checks the rules of the format and the language.
//!
//! Other versions use other numbers and are rejected as Unsupported. This crate does not run programs:
//! `skrymir-translate` makes naga IR of a [`Tree`].
//!
//! A tree's nodes are in arenas and refer to each other by handles. This collects all return values of a program:
//!
//! ```
//! use skrymir_loader::sksl::{self, Element, Expression, Handle, Statement, Symbol, Tree};
//!
//! fn returns(tree: &Tree, statement: Handle<Statement>, found: &mut Vec<Handle<Expression>>) {
//!     match tree.statements[statement] {
//!         Statement::Return(Some(value)) => found.push(value),
//!         Statement::Block { statements, .. } => tree.list(statements).for_each(|inner| returns(tree, inner, found)),
//!         Statement::If { then, otherwise, .. } => {
//!             for branch in [Some(then), otherwise].into_iter().flatten() {
//!                 returns(tree, branch, found);
//!             }
//!         }
//!         _ => {}
//!     }
//! }
//!
//! # use skrymir_loader::sksl::{Builder, Command, ProgramKind};
//! # let mut b = Builder::new(ProgramKind::RUNTIME_SHADER);
//! # let at = b.parameter("float2", "p", 10009);
//! # let main = b.function("half4", "main", &[at]);
//! # let red = b.float("half", 0.5);
//! # let value = b.construct(Command::CONSTRUCTOR_SPLAT, "half4", &[red]);
//! # let value = b.statement(Statement::Return(Some(value)));
//! # let bytes = sksl::write(&b.define(main, &[value]).finish())?;
//! // half4 main(float2 p) { return half4(0.5); }
//! let tree = sksl::read(&bytes)?;
//! for element in tree.list(tree.top) {
//!     let Element::Function { declaration, body } = tree.elements[element] else { continue };
//!     let Some(Symbol::Function { name, .. }) = tree.symbol(declaration) else { continue };
//!     assert_eq!(&tree.strings[*name], "main");
//!     let mut found = Vec::new();
//!     returns(&tree, body, &mut found);
//!     let Expression::Constructor { arguments, .. } = tree.expressions[found[0]] else { panic!("a constructor") };
//!     let argument = tree.list(arguments).next().expect("one argument");
//!     assert!(matches!(tree.expressions[argument], Expression::Float { bits, .. } if f32::from_bits(bits) == 0.5));
//! }
//! # Ok::<(), skrymir_loader::Error>(())
//! ```

mod build;
mod builtins;
mod enums;
mod print;
mod read;
mod signatures;
mod summary;
mod trace;
mod tree;
mod types;
mod validate;
mod write;

pub use build::Builder;
pub use builtins::{function_names, is_function, sees_variable, variable};
pub use enums::*;
pub use print::print;
pub use read::{read, read_prefix, read_traced};
pub use summary::{Summary, summary};
pub use trace::{Silent, Trace};
pub use tree::*;
pub use types::{Scalar, Ty, Typer, is_type};
pub use validate::{check, validate};
pub use write::write;

/// Name of the format in errors.
pub const FORMAT: &str = "sksl";
/// The supported version.
pub const VERSION: u16 = 11;
/// Limit on the nesting of nodes; Skia's own compiler accepts far less.
pub const MAX_DEPTH: u32 = 400;

/// Whether the bytes look like SkSL: a version of 1 to 20 and a string table that fits, whose strings are names.
///
/// Versions other than 11 are recognised so that the read error can name them.
pub fn detect(bytes: &[u8]) -> bool {
    let Some((&[v0, v1, l0, l1], rest)) = bytes.split_first_chunk() else {
        return false;
    };
    let version = u16::from_le_bytes([v0, v1]);
    let Some(mut strings) = rest.get(..usize::from(u16::from_le_bytes([l0, l1]))) else {
        return false;
    };
    // The program follows the strings. Without strings, the only other sign is the command that opens every program of
    // the supported version.
    let Some(&command) = rest.get(strings.len()).filter(|_| (1..=20).contains(&version)) else {
        return false;
    };
    if strings.is_empty() {
        return version == VERSION && command == Command::PROGRAM.0;
    }
    while let Some((&length, after)) = strings.split_first() {
        let Some((text, next)) = after.split_at_checked(usize::from(length)) else {
            return false;
        };
        if !text.iter().all(|b| b.is_ascii_graphic() || *b == b' ') {
            return false;
        }
        strings = next;
    }
    true
}

/// The structure of a file as indented text with byte offsets: each node, each field, each string.
///
/// # Errors
/// See [`read`].
pub fn to_tree_text(bytes: &[u8]) -> crate::Result<String> {
    let mut text = trace::Text::default();
    read_traced(bytes, &mut text)?;
    Ok(text.out)
}

/// The structure of a file as nested JSON.
///
/// # Errors
/// See [`read`].
pub fn to_json(bytes: &[u8]) -> crate::Result<serde_json::Value> {
    let mut json = trace::Json::default();
    read_traced(bytes, &mut json)?;
    Ok(serde_json::Value::Array(json.done))
}
