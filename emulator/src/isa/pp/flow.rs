//! What a PP program can do: its verifier.
/// later
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault;
/// later
pub fn verify(_words: &[u32]) -> Vec<Fault> {
    Vec::new()
}
