//! Seeded random numbers for random programs, states and data: the same numbers for the same seed, everywhere.

/// A xorshift generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator; every seed gives another sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    /// A number below `end`; 0 when `end` is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(end)) >> 32) as u32
    }

    /// One of `choices`, which is not empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u32) as usize]
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    /// A number from -1 to 1.
    pub fn signed_unit(&mut self) -> f32 {
        (self.word() as f64 / f64::from(u32::MAX) * 2.0 - 1.0) as f32
    }
}
