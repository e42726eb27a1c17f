//! Compiles shaders to Mali-400 (Utgard) machine code.
//!
//! Source text or SPIR-V goes through naga (GLSL and HLSL by way of glslang's SPIR-V, GLSL ES first through [`glsl_es`]) to
//! the compiler's own form ([`mod@front`], [`ir`]), is made shorter ([`opt`]), brought to the operations a processor has ([`lower`]), and becomes code of the
//! vertex processor ([`gp`]) or the fragment processor ([`pp`]) and an MBS program with symbols ([`emit`]).
//!
//! A pair, what it costs, and the varyings that it hands on when it runs:
//!
//! ```
//! # use emulator as skrymir_emulator;
//! use skrymir_emulator::driver::{self, Draw};
//! use skrymir_emulator::exec::wide::Wide;
//! use skrymir_emulator::gpu::Gpu;
//! use skrymir_compiler::{Input, Options, Stage, compile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let vertex = "
//!     attribute vec4 position;
//!     attribute vec2 uv;
//!     uniform float scale;
//!     varying vec2 at;
//!     void main() { gl_Position = position; at = uv * scale; }";
//! let fragment = "
//!     precision mediump float;
//!     varying vec2 at;
//!     void main() { gl_FragColor = vec4(at, 0.0, 1.0); }";
//! let vertex = compile(Input::GlslEs(vertex, Stage::Vertex), &Options::default())?;
//! let fragment = compile(Input::GlslEs(fragment, Stage::Fragment), &Options::default())?;
//! assert!(vertex.report.instructions > 0);
//! println!("{}", fragment.report);
//!
//! let mut draw = Draw::new(&vertex.program, &fragment.program, [16, 16]);
//! draw.attributes = vec![
//!     ("position".to_owned(), vec![[-1.0, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]]),
//!     ("uv".to_owned(), vec![[0.0; 4], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]),
//! ];
//! draw.uniforms = vec![("scale".to_owned(), vec![0.5])];
//! let mut gpu = Gpu::new(Box::<Wide>::default());
//! let prepared = driver::prepare(&mut gpu, &draw)?;
//! prepared.submit(&mut gpu)?;
//! assert_eq!(prepared.varying(&gpu, 1, 0, 2)?, [0.5, 0.0]);
//! assert_eq!(prepared.varying(&gpu, 2, 0, 2)?, [0.0, 0.5]);
//!
//! // An error for what the hardware lacks has its place.
//! let loops = "uniform int n; void main() { int i = 0; while (true) { i += n } gl_Position = vec4(i); }";
//! assert!(compile(Input::GlslEs(loops, Stage::Vertex), &Options::default()).unwrap_err().span().is_some());
//! # Ok(())
//! # }
//! ```

#[cfg(all(test, target_family = "wasm"))]
#[macro_use]
extern crate wasm_test;

mod debug;
mod edges;
pub mod emit;
pub mod error;
pub mod front;
pub mod glsl_es;
pub mod gp;
pub mod interface;
pub mod interp;
pub mod ir;
pub mod layout;
pub mod lower;
pub mod opt;
mod place;
pub mod pp;
pub mod report;

pub use error::{Error, ErrorKind, Result};
pub use interface::Stage;

use front::{Coordinates, Note, Shader, Source, Unroll};
use glsl_es::Text;
use loader::mbs::Program;
use report::Report;
use std::ops::Range;
use translate::{Places, ShaderStage};

/// What is compiled.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// GLSL ES 1.00, and what is like it: see [`glsl_es::recognises`].
    GlslEs(&'a str, Stage),
    /// Everything that can be read: GLSL of any version, HLSL, WGSL, SPIR-V, VBC, SkSL.
    Source(&'a translate::Source<'a>),
}

impl<'a> Input<'a> {
    /// The text that places are in, if it is one.
    fn text(&self) -> Option<&'a str> {
        match self {
            Self::GlslEs(text, _) => Some(text),
            Self::Source(source) => match source.language {
                translate::Language::Wgsl | translate::Language::Glsl | translate::Language::Hlsl => {
                    std::str::from_utf8(source.bytes).ok()
                }
                _ => None,
            },
        }
    }
}

/// How it is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Fragment programs: instructions are packed only in ways a real driver has been seen to.
    pub conservative: bool,
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program, as MBS holds it.
    pub program: Program,
    /// What it costs.
    pub report: Report,
    /// Its form before the back end.
    pub shader: Shader,
}

/// Compiles a program.
///
/// # Errors
/// What the source has wrong, what the hardware has nothing for, and budgets that are spent; with the place in the
/// source.
pub fn compile(input: Input<'_>, options: &Options) -> Result<Compiled> {
    compile_any(input, options).map_err(|error| match input {
        Input::GlslEs(..) => error,
        Input::Source(source) => place::placed(source, error),
    })
}

fn compile_any(input: Input<'_>, options: &Options) -> Result<Compiled> {
    let mut refused = None;
    let mut before = None;
    for unroll in Unroll::ALL {
        let mut shader = front(input, unroll)?;
        if before.as_ref() == Some(&shader) {
            break;
        }
        before = Some(shader.clone());
        opt::optimise(&mut shader.function);
        match back(shader, input.text(), options) {
            // Too long, or too many numbers at once: loops as they are may still fit.
            Err(error) if error.kind() == ErrorKind::Limit => refused = Some(error),
            other => return other,
        }
    }
    Err(refused.unwrap_or_else(|| Error::limit("a program that does not fit")))
}

/// The second half: from the compiler's own form on.
///
/// # Errors
/// As [`compile`].
pub fn back(shader: Shader, text: Option<&str>, options: &Options) -> Result<Compiled> {
    let main = ir::range(shader.place);
    back_any(shader, text, options).map_err(|error| error.at(main))
}

fn back_any(shader: Shader, text: Option<&str>, options: &Options) -> Result<Compiled> {
    let mut lowered = shader.function.clone();
    lower::lower(&mut lowered, shader.stage)?;
    opt::optimise_lowered(&mut lowered);
    // Folding may have made operations again that were lowered.
    lower::lower(&mut lowered, shader.stage)?;
    opt::dead(&mut lowered);
    let emitted = emit::emit(shader.stage, &lowered, &shader.interface, options.conservative)?;
    let report = report::report(&emitted, &shader, text);
    Ok(Compiled {
        program: emitted.program,
        report,
        shader,
    })
}

/// The first half: to the compiler's own form.
///
/// # Errors
/// As [`compile`]; places are those of the module that naga was given.
pub fn front(input: Input<'_>, unroll: Unroll) -> Result<Shader> {
    match input {
        Input::GlslEs(text, stage) => glsl_es(&Text::new(text), stage, unroll),
        Input::Source(source) if glsl_es::is_old(source) => {
            let text = std::str::from_utf8(source.bytes).unwrap_or_default();
            let stage = match source.stage {
                Some(ShaderStage::Vertex) => Stage::Vertex,
                Some(ShaderStage::Fragment) => Stage::Fragment,
                _ => return Err(Error::invalid("say which stage it is: vertex or fragment")),
            };
            glsl_es(&Text::of(text, source), stage, unroll)
        }
        Input::Source(source) if translate::frontend::is_available() && is_compiled(source) => compiled(source, unroll),
        Input::Source(source) => {
            // Uniforms are given by name.
            let source = translate::Source {
                any_layout: true,
                ..*source
            };
            // WGSL's `override`s have their defaults.
            let read = translate::read(&source).and_then(|shader| shader.fixed(&[]));
            let read = read.map_err(|error| foreign(error, input.text()))?;
            let coordinates = match source.language {
                translate::Language::Wgsl => Coordinates::WebGpu,
                _ => Coordinates::Vulkan,
            };
            let walked = Source {
                coordinates,
                roles: None,
                unroll,
            };
            guarded(|| front::walk(&read.module, read.entry_point(), &walked))
        }
    }
}

/// Whether a source becomes SPIR-V before it is read.
fn is_compiled(source: &translate::Source<'_>) -> bool {
    matches!(source.language, translate::Language::Glsl | translate::Language::Hlsl)
}

/// A module that was read, and where the spans in it are in the text that it is of.
pub(crate) struct Module {
    pub(crate) shader: translate::Shader,
    /// Of a text that became SPIR-V first.
    places: Option<Places>,
}

impl Module {
    /// GLSL or HLSL, read by [`translate::read`] or the like; errors have their places in the text.
    pub(crate) fn new(
        source: &translate::Source<'_>,
        read: fn(&translate::Source<'_>) -> translate::Result<translate::Shader>,
    ) -> Result<Self> {
        let text = std::str::from_utf8(source.bytes).unwrap_or_default();
        if !translate::frontend::is_available() {
            let shader = read(source).map_err(|error| foreign(error, Some(text)))?;
            return Ok(Self { shader, places: None });
        }
        let words = translate::words(source).map_err(|error| foreign(error, Some(text)))?;
        let places = Places::new(&words, text);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let module = translate::Source {
            bytes: &bytes,
            language: translate::Language::Spirv,
            entry: None,
            any_layout: false,
            ..*source
        };
        let shader = read(&module).map_err(|error| {
            let error = foreign(error, None);
            match error.span().and_then(|span| places.line(span)) {
                Some(line) => error.map_span(|_| line),
                None => error.without_place(),
            }
        })?;
        let places = Some(places);
        Ok(Self { shader, places })
    }

    /// The place in the text of a span in the module.
    fn place(&self, span: Range<usize>) -> Option<Range<usize>> {
        match &self.places {
            Some(places) => places.line(span),
            None => Some(span),
        }
    }

    /// The name of the global variable that has a span, or of its type.
    fn global(&self, span: &Range<usize>) -> Option<&str> {
        let globals = &self.shader.module.global_variables;
        let mut all = globals.iter();
        let (_, global) = all.find(|(handle, _)| globals.get_span(*handle).to_range().as_ref() == Some(span))?;
        let names = [&global.name, &self.shader.module.types[global.ty].name];
        names
            .into_iter()
            .flatten()
            .map(String::as_str)
            .find(|name| !name.is_empty())
    }

    /// Walks the module; `place` says where in the source a span of the module is.
    fn walk(&self, walked: &Source, place: impl Fn(Range<usize>) -> Option<Range<usize>>) -> Result<Shader> {
        let entry = self.shader.entry_point();
        let mut shader = guarded(|| front::walk(&self.shader.module, entry, walked)).map_err(|error| {
            match error.span().and_then(&place) {
                Some(place) => error.map_span(|_| place),
                None => error.without_place(),
            }
        })?;
        shader.map_spans(|(start, end)| {
            let place = place(start as usize..end as usize).unwrap_or_default();
            (place.start as u32, place.end as u32)
        });
        Ok(shader)
    }
}

/// A source by way of SPIR-V, whose places are lines of the source.
fn compiled(source: &translate::Source<'_>, unroll: Unroll) -> Result<Shader> {
    let text = std::str::from_utf8(source.bytes).unwrap_or_default();
    // Uniforms are given by name.
    let source = &translate::Source {
        any_layout: true,
        ..*source
    };
    let walked = Source {
        coordinates: Coordinates::Vulkan,
        roles: None,
        unroll,
    };
    let module = Module::new(source, translate::read)?;
    module.walk(&walked, |span| {
        // Modules of glslang have no lines for declarations.
        let declared = module.global(&span).and_then(|name| word(text, name));
        declared.or_else(|| module.place(span))
    })
}

/// Where a text has a name first.
fn word(text: &str, name: &str) -> Option<Range<usize>> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut all = text.match_indices(name).map(|(at, found)| at..at + found.len());
    all.find(|place| {
        let (before, behind) = (&text[..place.start], &text[place.end..]);
        !place.is_empty() && !before.ends_with(is_letter) && !behind.starts_with(is_letter)
    })
}

/// An error of the reader, with its place.
pub(crate) fn foreign(error: translate::Error, text: Option<&str>) -> Error {
    let place = error.line_column().zip(text).map(|((line, column), text)| {
        let start: usize = text
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        let start = start + column.saturating_sub(1);
        start..start + 1
    });
    let (of_module, of_file) = match error.kind() {
        translate::ErrorKind::Module { offset, .. } => (*offset, None),
        _ => (None, error.offset()),
    };
    let place = place.or(of_module.map(|at| at as usize..at as usize + 1));
    let error = Error::of_reader(error).at(place);
    match of_file {
        Some(_) => error.at_offset(of_file),
        None => error,
    }
}

fn glsl_es(text: &Text<'_>, stage: Stage, unroll: Unroll) -> Result<Shader> {
    let uplifted = glsl_es::uplift(text, stage)?;
    let module = uplifted.module(stage)?;
    let walked = Source {
        coordinates: Coordinates::OpenGl,
        roles: Some(uplifted.roles.clone()),
        unroll,
    };
    let mut shader = module.walk(&walked, |span| {
        let declared = module.global(&span).and_then(|name| uplifted.roles.get(name));
        let place = || Some(uplifted.place(module.place(span)?));
        declared.map(|declared| declared.place.clone()).or_else(place)
    })?;
    let highp = uplifted.highp.into_iter().map(|place| Note {
        message: "highp: the numbers of this processor are fp16 (steps of 1/1024, nothing beyond 65504)".to_owned(),
        span: ir::span(Some(place), 0),
    });
    shader.notes.extend(highp);
    Ok(shader)
}

/// Runs something that goes through naga's structures; panics become errors.
fn guarded<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or_else(|_| {
        Err(Error::invalid(
            "the front end gave up on this source (a fault of its own)",
        ))
    })
}
