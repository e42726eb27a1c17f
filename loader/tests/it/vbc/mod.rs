//! VBC: format, rules, fitting, packing, reflection.

mod corpus;
mod fit;
mod pack;
mod reflect;
mod robustness;
mod rules;
mod samples;
mod structs;
