//! Errors of an effect.

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why creating or setting an effect failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file violates its format.
    #[error(transparent)]
    File(#[from] loader::Error),
    /// The file cannot be expressed in WGSL.
    #[error(transparent)]
    Translate(#[from] translate::Error),
    /// The file needs a feature that this plugin lacks.
    #[error("unsupported here: {0}")]
    Unsupported(String),
    /// A name, a slot or a number of values that the file does not have.
    #[error("{0}")]
    Input(String),
    /// Error of wgpu.
    #[error("wgpu: {0}")]
    Wgpu(#[source] wgpu::Error),
}
