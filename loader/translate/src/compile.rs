//! Compiles any source to the SPIR-V of one VBC stage.

use crate::adjust::Adjust;
use crate::frontend::without_lines;
use crate::read::{compiled, is_compiled, naga_stage};
use crate::{ErrorKind, Language, Result, Source, read, sksl, to_spirv};
use loader::spirv::model;
use loader::vbc::Stage;

/// The words of one stage of a VBC, with entry point `main`: SPIR-V unchanged, GLSL and HLSL by glslang, everything
/// else by naga; positions of WGSL are turned to Vulkan's clip space if [`Source::y_up`] is set. The uniforms of an SkSL program are packed, as in VBC.
///
/// # Errors
/// Those of [`read`] and [`to_spirv`]; stages other than vertex and fragment are supported from SPIR-V only.
pub fn compile(source: &Source<'_>, stage: Stage) -> Result<Vec<u32>> {
    if source.language == Language::Spirv {
        return Ok(loader::spirv::to_words(source.bytes)?);
    }
    if is_compiled(source) {
        return Ok(without_lines(&compiled(source, stage.into())?));
    }
    let Some(wanted) = naga_stage(stage) else {
        let message = format!("{}: {stage} stages are taken as SPIR-V only", source.language);
        return Err(ErrorKind::Language(message).into());
    };
    if source.language == Language::Sksl {
        let tree = loader::sksl::read(source.bytes)?;
        let own = sksl::stage(&tree)?;
        if own != wanted {
            let message = format!("sksl: a program of stage {own:?} as {stage} stage");
            return Err(ErrorKind::Language(message).into());
        }
        return sksl::to_stage(&tree);
    }
    let shader = read(&source.stage(wanted))?.fixed(&[])?;
    let mut module = shader.module;
    let entry = module.entry_points.swap_remove(shader.entry);
    module.entry_points = vec![entry];
    let words = to_spirv(module, wanted)?;
    if !source.y_up || source.language != Language::Wgsl || wanted != naga::ShaderStage::Vertex {
        return Ok(words);
    }
    let adjust = Adjust {
        flip_y: true,
        ..Adjust::default()
    };
    Ok(adjust.applied(&words, "main", model::VERTEX)?.0)
}
