//! The arithmetic of the Mali-400: fp16 and fp32 rules, and the transcendental units, shared by every engine.
//!
//! ```
//! use skrymir_num::lanes::One;
//! use skrymir_num::{half, math};
//!
//! // Fragment registers store halves: 0.1 is rounded, and values too small for a normal half are 0.
//! assert_eq!(half::from_f32(0.1), 0x2e66);
//! assert_eq!(half::to_text(0x2e66), "0.099976");
//! assert_eq!([half::round(0.1), half::round(1e-5)], [0.099975586, 0.0]);
//!
//! // The units work on lanes, here on one. Angles are in turns.
//! assert_eq!(math::rsqrt::<One>(16.0), 0.25);
//! assert_eq!(math::exp2::<One>(3.0), 8.0);
//! assert!((math::sin_turns::<One>(1.0 / 12.0) - 0.5).abs() < 2e-7);
//! ```

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

pub mod half;
pub mod lanes;
pub mod math;
pub mod portable;
pub mod rows;
