//! The instruction sets that code is generated for.

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// 128 bits of a 64-bit ARM processor, thirty-two registers.
    Neon,
    /// 256 bits, sixteen registers; fused products where the processor has them.
    Avx2 {
        /// Fused multiply and add.
        fma: bool,
    },
    /// 512 bits, thirty-two registers, mask registers.
    Avx512,
}

impl Isa {
    /// All of them, the best first.
    pub const ALL: [Self; 4] = [
        Self::Avx512,
        Self::Avx2 { fma: true },
        Self::Avx2 { fma: false },
        Self::Neon,
    ];

    /// The best one that this processor has; none where no code is generated for it, or for this operating system.
    pub fn best() -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.is_supported())
    }

    /// Whether code of it can run here.
    pub fn is_supported(self) -> bool {
        #[cfg(all(target_arch = "x86_64", unix))]
        return match self {
            Self::Neon => false,
            Self::Avx2 { fma } => {
                let has_base = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c");
                has_base && (!fma || is_x86_feature_detected!("fma"))
            }
            Self::Avx512 => {
                let has_base = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
                has_base && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl")
            }
        };
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        return self == Self::Neon && cfg!(all(target_arch = "aarch64", target_os = "linux"));
    }

    /// Lanes of a register.
    pub fn lanes(self) -> usize {
        match self {
            Self::Neon => 4,
            Self::Avx2 { .. } => 8,
            Self::Avx512 => 16,
        }
    }

    /// Registers that values may be in; a machine's selection keeps the others, which are the last ones, to itself.
    pub fn registers(self) -> usize {
        match self {
            Self::Neon => 27,
            Self::Avx2 { .. } => 15,
            Self::Avx512 => 30,
        }
    }

    /// Mask registers up to the last that values may be in; the first means no mask. Without any, masks are words.
    pub fn masks(self) -> usize {
        if self.evex() { 7 } else { 0 }
    }

    /// Bytes of a register's mask in memory.
    pub fn mask_bytes(self) -> usize {
        if self.evex() { 2 } else { 4 * self.lanes() }
    }

    /// Whether there are mask registers, embedded constants and all that.
    pub fn evex(self) -> bool {
        matches!(self, Self::Avx512)
    }

    /// Products and sums in one instruction.
    pub fn fma(self) -> bool {
        !matches!(self, Self::Avx2 { fma: false, .. })
    }

    /// Whether speculative roundings are faster: with fused products they are two or three instructions instead of three to six.
    pub fn speculates(self) -> bool {
        matches!(self, Self::Avx2 { fma: true, .. } | Self::Avx512)
    }
}
