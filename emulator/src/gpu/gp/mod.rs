//! Vertices: from the vertex stream of a job to positions and varyings in memory.
//!
//! In: a stream of commands that name a program, its uniforms, and arrays of attributes. Out: the arrays that the program
//! stores to, and the sizes of points for the polygon list builder.

mod outputs;
pub mod vertex;
