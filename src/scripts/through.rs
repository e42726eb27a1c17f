//! Shaders by way of another compiler or language: written in it and read again as SPIR-V, so that a script, or what is in
//! buffers afterwards, says whether that changed what they mean.

use crate::args::Through as Way;
use loader::spirv::{self, ModuleIndex, decoration, op};
use script::Stage;
use script::run::{Code, Compile, CompileError, Text};
use std::path::Path;
use translate::frontend::{self, Dialect, Settings};
use translate::{Options, ShaderStage, Source, Target};

/// What another compiler makes, by way of a third.
#[derive(Clone, Copy, Debug)]
pub struct Through<C> {
    /// The other.
    pub compiler: C,
    /// What lies between.
    pub way: Way,
    /// A change of the text that is written; a control plants a mistake by it.
    pub change: fn(String) -> String,
}

impl<C> Through<C> {
    /// Without a change of what is written.
    pub fn new(compiler: C, way: Way) -> Self {
        Self {
            compiler,
            way,
            change: std::convert::identity,
        }
    }
}

impl<C: Compile> Compile for Through<C> {
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError> {
        let code = self.compiler.compile(text)?;
        let stage = match text.stage {
            Stage::Vertex => ShaderStage::Vertex,
            Stage::Fragment => ShaderStage::Fragment,
            Stage::Compute => ShaderStage::Compute,
            other => {
                return Err(CompileError::Unsupported(format!(
                    "{other} shaders through {}",
                    self.way
                )));
            }
        };
        again(&code.words, &code.entry, stage, self.way, self.change)
            .map(|(words, entry)| Code { words, entry })
            .map_err(CompileError::Unsupported)
    }
}

/// A module written another way and read again, with the entry point's name in it.
///
/// # Errors
/// Who refuses it, and why.
pub(crate) fn again(
    words: &[u32],
    entry: &str,
    stage: ShaderStage,
    way: Way,
    change: fn(String) -> String,
) -> Result<(Vec<u32>, String), String> {
    let told = |error: translate::Error| match way {
        Way::Naga => format!("naga: {error}"),
        _ => format!("through {way}: {error}"),
    };
    let bytes = spirv::write(words);
    let mut source = Source::new("shader.spv", &bytes).map_err(told)?.stage(stage);
    source.entry = Some(entry);
    let (target, dialect) = match way {
        Way::Naga => {
            let shader = translate::read(&source).map_err(told)?;
            let written = translate::write(&shader, Target::Spirv, &Options::default()).map_err(told)?;
            let made = spirv::read(&written).map_err(|error| error.to_string())?;
            return same_interface(words, made, way).map(|made| (made, entry.to_owned()));
        }
        Way::Glsl => (Target::Glsl, Some(Dialect::Glsl)),
        Way::Hlsl => (Target::Hlsl, Some(Dialect::Hlsl)),
        Way::Wgsl => (Target::Wgsl, None),
    };
    let options = Options {
        vulkan: target == Target::Glsl,
        ..Options::default()
    };
    let written = translate::translate(&source, target, &options).map_err(told)?;
    let text = String::from_utf8(written.bytes).map_err(|error| error.to_string())?;
    let text = change(text);
    let made = match dialect {
        Some(dialect) => {
            let stage = frontend::Stage::of_naga(stage).ok_or("glslang has no such stage")?;
            let text = frontend::Text {
                entry: Some(entry).filter(|_| dialect == Dialect::Hlsl),
                ..frontend::Text::new(&text, Path::new("written"), dialect, stage, Settings::NONE)
            };
            frontend::spirv(&text).map_err(told)?.words
        }
        None => {
            let source = Source::new("written.wgsl", text.as_bytes()).map_err(told)?.stage(stage);
            let shader = translate::read(&source)
                .and_then(|shader| shader.fixed(&[]))
                .map_err(told)?;
            translate::to_spirv(shader.module, stage).map_err(told)?
        }
    };
    same_interface(words, made, way).map(|made| (made, "main".to_owned()))
}

/// A module that can be bound and specialised as the one that it was made of; otherwise why not.
fn same_interface(before: &[u32], made: Vec<u32>, way: Way) -> Result<Vec<u32>, String> {
    let constants = |words: &[u32]| {
        let decorations = spirv::instructions(words).flatten();
        let is_one = |words: &[u32]| matches!(words, [_, decoration::SPEC_ID, ..]);
        decorations
            .filter(|one| one.opcode == op::DECORATE && is_one(one.operands()))
            .count()
    };
    if constants(&made) < constants(before) {
        return Err(format!(
            "through {way} specialisation constants have their values already"
        ));
    }
    match has_more(before, &made) {
        true => Err(format!(
            "{way} has samplers and images apart, which the script binds as one"
        )),
        false => Ok(made),
    }
}

/// Whether a module has resources at places where another has none. What is not used may go; nothing may come.
fn has_more(before: &[u32], after: &[u32]) -> bool {
    let places = |words: &[u32]| -> Vec<(u32, u32)> {
        let Ok(index) = ModuleIndex::new(words) else {
            return Vec::new();
        };
        let set = |id| index.decoration(id, decoration::DESCRIPTOR_SET);
        let bound = index.globals().filter(|one| set(one.id).is_some());
        bound.filter_map(|one| index.place(one.id)).collect()
    };
    let before = places(before);
    places(after).iter().any(|place| !before.contains(place))
}
