//! VBC: format, rules, fitting, pictures.

mod canvas;
mod cli;
mod convert;
mod corpus;
mod engine;
mod fit;
mod formula;
mod fuzz;
mod pack;
mod pictures;
mod reflect;
mod robustness;
mod rules;
mod samples;
mod stages;
mod watch;
