//! SkSL programs to naga IR, and on to SPIR-V and VBC.
//!
//! A program's tree is spelled in GLSL and naga's GLSL front end makes the IR: the two languages share statements and
//! operators, so what differs is names, types, the interface and a handful of functions. Precision is lost on the way:
//! `half` is `float`. What has no GLSL (asking a child for its colour) is Unsupported by name.
//!
//! Uniforms stand in one block at set 1, binding 0, where VBC has it; samplers stand in set 0, what a subpass reads
//! (`sk_LastFragColor` too) in set 2. A colour filter's input and a blender's two colours are members of the block
//! (`sk_Color`, `sk_Dest`), as nothing else feeds them here, and so are parameters of `main` that the host fills in;
//! what `main` hands back are outputs, the result first.
//!
//! A mesh program's attributes and varyings are inputs and outputs, a location for each field. The position that the
//! vertex program gives is clip space's, the host's matrix being its own business; local coordinates that the fragment
//! program gives are an output behind its colour.

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

/// Translates a program to naga IR: one entry point `main`, of the stage [`stage`] says. Its uniform block is laid out by
/// std140.
///
/// # Errors
/// Unsupported, naming the construct, or what naga says of it.
pub fn to_naga(tree: &Tree) -> Result<naga::Module> {
    translate(tree, true)
}

/// The words of a program for a VBC, whose uniforms lie packed: arrays keep their elements' types.
///
/// # Errors
/// As [`to_naga`] and [`to_spirv`].
pub fn to_stage(tree: &Tree) -> Result<Vec<u32>> {
    to_spirv(&translate(tree, false)?, stage(tree)?)
}

fn translate(tree: &Tree, portable: bool) -> Result<naga::Module> {
    let stage = stage(tree)?;
    // The front end is not written for text it has not seen; a panic in it is its answer.
    let parse = |text: String| deep(|| parse_glsl(&text, stage));
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

/// Gives the uniform block's members their names back, which had a prefix lest they be words of GLSL.
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
/// Unsupported where naga finds the module invalid or cannot write it.
pub fn to_spirv(module: &naga::Module, stage: ShaderStage) -> Result<Vec<u32>> {
    crate::to_spirv(module.clone(), stage)
}

/// A VBC that draws a fragment program over the whole picture: three vertices, no inputs.
///
/// # Errors
/// As [`to_naga`] and [`to_spirv`]; Unsupported for a vertex program, for inputs, and for what VBC cannot describe.
pub fn to_vbc(tree: &Tree) -> Result<Vec<u8>> {
    if stage(tree)? != ShaderStage::Fragment {
        return Err(unsupported(
            "drawing a vertex program by itself: it needs a fragment stage beside it",
        ));
    }
    if let Some(input) = interface::inputs(tree).first() {
        return Err(unsupported(format!(
            "drawing a program whose input {input} nothing feeds: it needs a vertex stage beside it"
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
