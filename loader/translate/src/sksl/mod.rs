//! Translates SkSL programs to naga IR, and further to SPIR-V and VBC.
//!
//! A program's tree is written as GLSL, and naga's GLSL front end makes the IR: the two languages share statements and
//! operators, and differ in names, types, the interface and a few functions. Precision is lost: `half` becomes `float`.
//! Constructs without a GLSL equivalent (sampling a child) are Unsupported by name.
//!
//! Uniforms are in one block at set 1, binding 0, as in VBC; samplers are in set 0, subpass inputs (including
//! `sk_LastFragColor`) in set 2. A colour filter's input and a blender's two colours are members of the block
//! (`sk_Color`, `sk_Dest`), since there is no other source for them, and so are parameters of `main` that the host
//! fills in. Values that `main` returns are outputs, the result first.
//!
//! A mesh program's attributes and varyings are inputs and outputs, with a location for each field. The position that
//! the vertex program returns is in clip space, since the host's matrix is not part of the program; local coordinates
//! that the fragment program returns are an output after its colour.

mod entry;
mod expression;
mod glsl;
mod helpers;
mod interface;
mod members;
mod outside;
mod stages;
mod textures;
mod uniforms;
mod walk;

pub use interface::{stage, to_glsl};

use crate::front::parse_glsl;
use crate::guard::deep;
use crate::{ErrorKind, Result};
use glsl::unsupported;
use loader::sksl::Tree;
use loader::vbc::{self, Stage, pack};
use naga::{ShaderStage, TypeInner};

/// Translates a program to naga IR: one entry point `main` of the stage that [`stage`] returns. Its uniform block has
/// layout std140.
///
/// # Errors
/// Unsupported, naming the construct, or naga's error.
pub fn to_naga(tree: &Tree) -> Result<naga::Module> {
    translate(tree, true)
}

/// The words of a program for a VBC, with packed uniforms: arrays keep their elements' types.
///
/// # Errors
/// See [`to_naga`] and [`to_spirv`].
pub fn to_stage(tree: &Tree) -> Result<Vec<u32>> {
    to_spirv(&translate(tree, false)?, stage(tree)?)
}

fn translate(tree: &Tree, portable: bool) -> Result<naga::Module> {
    let stage = stage(tree)?;
    // The front end may panic on unexpected text; the panic becomes an error.
    let parse = |text: String| deep("naga", || parse_glsl(&text, stage));
    let first = parse(to_glsl(tree, portable)?);
    let parsed = match first {
        Err(error) if matches!(error.kind(), ErrorKind::Text { .. }) => parse(interface::spell(tree, portable, true)?),
        other => other,
    };
    let mut module = parsed.map_err(|error| match error.kind() {
        ErrorKind::Text { error, .. } => unsupported(format!("naga's GLSL front end: {}", error.message)),
        _ => error,
    })?;
    rename_uniforms(&mut module);
    Ok(module)
}

/// Restores the names of the uniform block's members, which were prefixed to avoid GLSL keywords.
fn rename_uniforms(module: &mut naga::Module) {
    let blocks = module.global_variables.iter();
    let blocks: Vec<_> = blocks
        .filter(|(_, v)| v.name.as_deref() == Some("sk_u"))
        .map(|(_, v)| v.ty)
        .collect();
    for block in blocks {
        let mut ty = module.types[block].clone();
        if let TypeInner::Struct { members, .. } = &mut ty.inner {
            for name in members.iter_mut().filter_map(|member| member.name.as_mut()) {
                *name = name.strip_prefix("u_").unwrap_or(name).to_owned();
            }
        }
        module.types.replace(block, ty);
    }
}

/// Words of SPIR-V 1.5 of a module with one entry point `main`.
///
/// # Errors
/// Unsupported if naga finds the module invalid or cannot write it.
pub fn to_spirv(module: &naga::Module, stage: ShaderStage) -> Result<Vec<u32>> {
    crate::to_spirv(module.clone(), stage)
}

/// A VBC that draws a fragment program over the whole picture: three vertices, no inputs.
///
/// # Errors
/// Those of [`to_naga`] and [`to_spirv`]; Unsupported for a vertex program, for inputs, and for anything that VBC
/// cannot describe.
pub fn to_vbc(tree: &Tree) -> Result<Vec<u8>> {
    if stage(tree)? != ShaderStage::Fragment {
        return Err(unsupported(
            "drawing a vertex program by itself: it needs a fragment stage beside it",
        ));
    }
    if let Some(input) = interface::inputs(tree).first() {
        return Err(unsupported(format!(
            "the program has an input {input}: it needs a vertex stage"
        )));
    }
    let fragment = to_stage(tree)?;
    let vertex = crate::fullscreen(&fragment)?;
    let model = pack::pack(
        &[(Stage::Vert, vertex), (Stage::Frag, fragment)],
        &pack::Names::default(),
    )?;
    Ok(vbc::write(&model)?)
}
