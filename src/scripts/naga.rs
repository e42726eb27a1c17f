//! Shaders of scripts by way of naga: read and written again as SPIR-V, so that a script says whether that changed them.

use loader::spirv::{ModuleIndex, decoration};
use script::Stage;
use script::run::{Code, Compile, CompileError, Text};
use translate::{ShaderStage, Source, Target};

/// What another compiler makes, through naga.
pub struct Through<C>(pub C);

impl<C: Compile> Compile for Through<C> {
    fn compile(&self, text: &Text<'_>) -> Result<Code, CompileError> {
        let code = self.0.compile(text)?;
        let stage = match text.stage {
            Stage::Vertex => ShaderStage::Vertex,
            Stage::Fragment => ShaderStage::Fragment,
            Stage::Compute => ShaderStage::Compute,
            other => return Err(CompileError::Unsupported(format!("naga has no {other} shaders"))),
        };
        let refused = |error: translate::Error| CompileError::Unsupported(format!("naga: {error}"));
        let bytes = loader::spirv::write(&code.words);
        let mut source = Source::new("shader.spv", &bytes).map_err(refused)?.stage(stage);
        source.entry = Some(&code.entry);
        let shader = translate::read(&source).map_err(refused)?;
        if !shader.module.overrides.is_empty() {
            return Err(CompileError::Unsupported(
                "naga gives specialisation constants their values".into(),
            ));
        }
        let written = translate::write(&shader, Target::Spirv, &Default::default()).map_err(refused)?;
        let words = loader::spirv::read(&written).map_err(|error| CompileError::Invalid(error.to_string()))?;
        let places = |words: &[u32]| -> Option<Vec<(u32, u32)>> {
            let index = ModuleIndex::new(words).ok()?;
            let set = |id| index.decoration(id, decoration::DESCRIPTOR_SET);
            let mut all: Vec<_> = index
                .globals()
                .filter(|one| set(one.id).is_some())
                .filter_map(|one| index.place(one.id))
                .collect();
            all.sort_unstable();
            all.dedup();
            Some(all)
        };
        // What is not used may go; nothing may come.
        let before = places(&code.words).unwrap_or_default();
        if places(&words)
            .unwrap_or_default()
            .iter()
            .any(|place| !before.contains(place))
        {
            return Err(CompileError::Unsupported(
                "naga takes samplers and images apart, which the script binds as one".into(),
            ));
        }
        Ok(Code {
            words,
            entry: code.entry,
        })
    }
}
