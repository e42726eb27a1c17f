//! Rows on the processor's vector units: 512 and 256 bits of x86, NEON, and a portable form. Every operation gives each
//! lane the bits [`One`](num::lanes::One) gives.
//!
//! The types of lanes stay inside the crate, and only `dispatch!` names them: it takes a `Found`, which can be had
//! only by asking the processor, and calls functions that are compiled for each instruction set.

use std::sync::OnceLock;

/// What the processor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No vector units that are known here.
    Portable,
    /// 128 bits of an ARM processor, which all of 64 bits have.
    Neon,
    /// 256 bits, with fp16 conversion.
    Avx2,
    /// 512 bits.
    Avx512,
}

/// A level that this processor was found to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found(Level);

impl Found {
    /// The best there is.
    pub(crate) fn best() -> Self {
        Self(level())
    }

    /// The best there is, but none better than a limit.
    pub(crate) fn at_most(limit: Level) -> Self {
        match level().min(limit) {
            Level::Neon if !cfg!(target_arch = "aarch64") => Self(Level::Portable),
            level => Self(level),
        }
    }

    /// The level.
    pub(crate) fn level(self) -> Level {
        self.0
    }
}

/// The best level of this processor; detected once, because callers read it very often.
#[inline]
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(find)
}

fn find() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let foundation = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        if foundation && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
            return Level::Avx512;
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c") {
            return Level::Avx2;
        }
    }
    if cfg!(target_arch = "aarch64") {
        Level::Neon
    } else {
        Level::Portable
    }
}

/// What bytes are brought into the processor's caches for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FetchFor {
    /// They will be written soon.
    Write,
    /// They will be written, and are more than the nearest cache has room for beside what is at work there: they wait behind it.
    LaterWrite,
    /// They will be read soon.
    Read,
}

/// Brings bytes into the processor's caches.
#[inline]
pub(crate) fn fetch(bytes: &[u8], what_for: FetchFor) {
    #[cfg(target_arch = "x86_64")]
    x86::fetch(bytes, what_for);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (bytes, what_for);
}

/// Forwards operations to intrinsics.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! forward {
    ($($name:ident($($arg:ident: $type:ty),*) -> $out:ty = $body:expr;)*) => {$(
        #[inline(always)]
        fn $name($($arg: $type),*) -> $out {
            // SAFETY: the token is only used where the processor was found to have these instructions, or every
            // processor has them (see the module), and they work on values.
            unsafe { $body }
        }
    )*};
}

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
pub(crate) use num::portable::Portable;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

/// Runs a generic function with the best lanes of this processor, compiled for them.
///
/// `$body` is a function generic in [`QuadLanes`](num::lanes::QuadLanes); the arguments are its own. `$found` is a [`Found`].
/// With `256` behind it, the function is not compiled for 512 bits: the wide engine's loops are large, and where there are
/// 512 bits machine code does most of their work.
macro_rules! dispatch {
    ($body:ident($($arg:ident: $type:ty),* $(,)?) -> $out:ty, $found:expr $(,)?) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
        fn widest($($arg: $type),*) -> $out {
            $body::<$crate::simd::Avx512>($($arg),*)
        }
        let found: $crate::simd::Found = $found;
        match found.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor was found to have it, for there is no other way to such a value.
            $crate::simd::Level::Avx512 => unsafe { widest($($arg),*) },
            _ => $crate::simd::dispatch!($body($($arg: $type),*) -> $out, found, 256),
        }
    }};
    ($body:ident($($arg:ident: $type:ty),* $(,)?) -> $out:ty, $found:expr, 256) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,f16c")]
        fn wide($($arg: $type),*) -> $out {
            $body::<$crate::simd::Avx2>($($arg),*)
        }
        let found: $crate::simd::Found = $found;
        match found.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor was found to have it, for there is no other way to such a value.
            $crate::simd::Level::Avx512 | $crate::simd::Level::Avx2 => unsafe { wide($($arg),*) },
            #[cfg(target_arch = "aarch64")]
            $crate::simd::Level::Neon => $body::<$crate::simd::Neon>($($arg),*),
            _ => $body::<$crate::simd::Portable>($($arg),*),
        }
    }};
}
pub(crate) use dispatch;

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use num::lanes::{One, QuadLanes};
    use num::math;

    /// Every operation on a row, as bits.
    #[inline(always)]
    fn all<L: QuadLanes>(a: &[f32; 16], b: &[f32; 16]) -> Vec<[u32; 16]> {
        let mut out = Vec::new();
        type Binary<V> = fn(V, V) -> V;
        let binary: [Binary<L::V>; 8] = [
            L::add,
            L::sub,
            L::mul,
            L::div,
            L::min,
            L::max,
            |a, b| math::truth::<L>(L::gt(a, b)),
            |a, b| {
                L::select(
                    L::ne(a, b),
                    L::select(L::ge(a, b), a, L::neg(b)),
                    math::truth::<L>(L::eq(a, b)),
                )
            },
        ];
        let unary: [fn(L::V) -> L::V; 16] = [
            L::sqrt,
            L::floor,
            L::trunc,
            L::abs,
            L::neg,
            L::round_half,
            math::exp2::<L>,
            math::log2::<L>,
            math::sin_turns::<L>,
            math::cos_turns::<L>,
            math::saturate::<L>,
            math::sign::<L>,
            L::left,
            L::right,
            L::upper,
            L::lower,
        ];
        let mut row = |f: &dyn Fn(L::V, L::V) -> L::V| {
            let mut result = [0.0; 16];
            for at in (0..16).step_by(L::COUNT) {
                L::store(&mut result[at..], f(L::load(&a[at..]), L::load(&b[at..])));
            }
            out.push(result.map(f32::to_bits));
        };
        binary.iter().for_each(|f| row(f));
        unary.iter().for_each(|f| row(&|a, _| f(a)));
        let words: [u32; 7] = std::array::from_fn(|at| a[at].to_bits() ^ at as u32);
        for channel in 0..4 {
            row(&|a, b| {
                let whole = |a| L::min(L::floor(L::abs(a)), L::splat(3.0));
                L::texels(&words, whole(b), whole(a))[channel]
            });
        }
        row(&|a, _| L::lookup(b, L::min(L::floor(L::abs(a)), L::splat(15.0))));
        out
    }

    #[test]
    fn every_form_gives_the_same_bits() {
        let mut random = Rng::with_seed(7);
        // Miri is a thousand times as slow.
        for _ in 0..if cfg!(miri) { 2 } else { 20_000 } {
            let mut value = || match random.u32(..8) {
                0 => f32::from_bits(random.u32(..)),
                1 => random
                    .choice([
                        0.0,
                        -0.0,
                        1.0,
                        f32::INFINITY,
                        f32::NEG_INFINITY,
                        f32::NAN,
                        // A signalling one.
                        f32::from_bits(0x7fa0_0001),
                        65520.0,
                        6e-8,
                        1e-40,
                    ])
                    .unwrap(),
                _ => (random.f32() * 2.0 - 1.0) * random.choice([1.0, 100.0, 70_000.0, 1e-5]).unwrap(),
            };
            let pair: [[f32; 16]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| value()));
            let [a, b] = &pair;
            let portable = all::<Portable>(a, b);
            // The bits of a NaN are unspecified.
            let plain = |rows: &[[u32; 16]]| -> Vec<[u32; 16]> {
                let clean = |bits: u32| {
                    if f32::from_bits(bits).is_nan() {
                        0x7fc0_0000
                    } else {
                        bits
                    }
                };
                rows.iter().map(|row| row.map(clean)).collect()
            };
            for found in [Level::Neon, Level::Avx2, Level::Avx512].map(Found::at_most) {
                let rows = dispatch!(all(a: &[f32; 16], b: &[f32; 16]) -> Vec<[u32; 16]>, found);
                assert_eq!(plain(&rows), plain(&portable), "{found:?} {a:?} {b:?}");
            }
            assert_eq!(math::exp2::<One>(a[0]).to_bits(), portable[14][0]);
        }
    }
}
