//! VBC, the Vega bytecode: shader reflection followed by the SPIR-V of up to five stages.
//!
//! A file is a 25-byte header, then vertex inputs, fragment outputs, bindings, the uniform with its members, subpass
//! inputs, and last the SPIR-V words of each present stage, all packed and little-endian. The sections are described in
//! the VSL wiki's "Compiled Shader Format"; enumeration values, limits and the set/binding convention are those of the
//! compiler and the engine.
//!
//! * [`read`] returns a [`Vbc`], a view that borrows the bytes and copies nothing. It distinguishes the two dialects
//!   that share magic and version ([`Dialect`]), and recovers files damaged by two compiler bugs (48-byte subpass
//!   records, word counts that overflowed 16 bits); [`Vbc::diagnostics`] reports these.
//! * [`Vbc::to_model`] returns a [`Model`] that owns its parts; [`write()`] writes it in the current dialect.
//! * [`validate()`] checks every rule that needs no device, and the SPIR-V against the reflection.
//! * [`requirements()`] lists the device features and limits that a file needs, with reasons.
//!
//! Enumerants are open: a value without a name is an ordinary value that prints as its number. [`read`] rejects only
//! files that it cannot walk; [`validate()`] judges the values.
//!
//! ```
//! use skrymir_loader::vbc::{self, BaseType, Model, Variable};
//!
//! let position = Variable { location: 0, base: BaseType::FLOAT, dims: [3, 1], array: 1 };
//! let bytes = vbc::write(&Model { inputs: vec![position], ..Model::default() })?;
//! let file = vbc::read(&bytes)?;
//! assert_eq!(file.inputs().next(), Some(position));
//! assert!(vbc::validate(&file).has("stage-missing"));
//! # Ok::<(), skrymir_loader::Error>(())
//! ```

mod agree;
mod declared;
mod elements;
pub mod fit;
mod image;
mod interface;
mod join;
mod json;
pub mod limits;
mod merge;
mod model;
pub mod pack;
mod places;
mod primitive;
mod raise;
mod reach;
mod read;
mod requirements;
mod rules;
mod summary;
mod text;
mod types;
mod validate;
mod view;
mod write;

pub use model::{Model, UniformMember, UniformModel};
pub use primitive::{Primitive, input_primitive};
pub use read::read;
pub use requirements::{DescriptorKind, DescriptorNeed, Feature, FeatureNeed, Requirements, Why, requirements};
pub use rules::RULES;
pub use summary::{Summary, summary};
pub use types::{
    BaseType, Binding, Dialect, Shape, Stage, Stages, SubpassInput, Tables, TexelRank, TexelType, Variable,
};
pub use validate::{check, validate};
pub use view::{Code, Member, Uniform, Vbc};
pub use write::write;

/// The format's name in errors.
pub const FORMAT: &str = "vbc";

/// First bytes of every file.
pub const MAGIC: [u8; 3] = *b"VBC";

/// The only version; both dialects use it.
pub const VERSION: u8 = 1;

/// The only shader type: graphics.
pub const SHADER_TYPE_GRAPHICS: u8 = 1;

/// Bytes of the header.
pub const HEADER_BYTES: usize = 25;
