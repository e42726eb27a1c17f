//! The numbers of the Mali-400 in one place: fp16 and fp32 rules, and the transcendental units, shared by every engine.

pub mod half;
pub mod lanes;
pub mod math;
