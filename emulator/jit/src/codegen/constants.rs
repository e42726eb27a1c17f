//! Constants behind the instructions.

/// Words of constants, each kept once.
#[derive(Debug, Default)]
pub(crate) struct ConstantPool(Vec<u32>);

impl ConstantPool {
    /// Byte offset of words among the constants, aligned to their count.
    pub(super) fn place(&mut self, words: &[u32], step: usize) -> usize {
        let have = (0..self.0.len())
            .step_by(step)
            .find(|at| self.0[*at..].starts_with(words));
        4 * have.unwrap_or_else(|| {
            let end = self.0.len().next_multiple_of(step);
            self.0.resize(end, 0);
            self.0.extend_from_slice(words);
            end
        })
    }

    /// All of them as bytes.
    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes())
    }
}
