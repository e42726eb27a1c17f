//! SkSL programs to naga IR, and on to SPIR-V and VBC.
//!
//! A runtime effect's tree is spelled in GLSL and naga's GLSL front end makes the IR: the two languages share statements
//! and operators, so what differs is names, types and a handful of functions. Precision is lost on the way: `half` is
//! `float`. What has no GLSL (children, colour-space functions) is Unsupported by name.
//!
//! Uniforms stand in one block at set 1, binding 0, where VBC has it. A colour filter's input and a blender's two
//! colours are members of that block (`sk_Color`, `sk_Dest`), as nothing else feeds them here.

mod glsl;

pub use glsl::to_glsl;

use loader::sksl::{FORMAT, Tree};
use loader::vbc::{self, BaseType, Model, Stage, Stages, UniformMember, UniformModel, Variable};
use loader::{Error, Result};
use naga::{ScalarKind, ShaderStage, TypeInner};

/// Full-screen triangle; three vertices, no inputs.
const VERTEX: &str = "
@vertex
fn main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
";

fn unsupported(what: impl std::fmt::Display) -> Error {
    Error::unsupported(FORMAT, what.to_string())
}

/// Translates a runtime effect to a fragment shader in naga IR.
///
/// # Errors
/// Unsupported, naming the construct, or what naga says of it.
pub fn to_naga(tree: &Tree) -> Result<naga::Module> {
    let text = to_glsl(tree)?;
    let options = naga::front::glsl::Options::from(ShaderStage::Fragment);
    // The front end is not written for text it has not seen; a panic in it is its answer.
    let parsed = std::panic::catch_unwind(|| naga::front::glsl::Frontend::default().parse(&options, &text));
    match parsed {
        Ok(Ok(module)) => Ok(module),
        Ok(Err(errors)) => {
            let first = errors
                .errors
                .first()
                .map(|error| error.kind.to_string())
                .unwrap_or_default();
            Err(unsupported(format!("naga's GLSL front end: {first}")))
        }
        Err(_) => Err(unsupported("naga's GLSL front end panicked")),
    }
}

/// Words of SPIR-V 1.5 of a module with one entry point `main`.
///
/// # Errors
/// Unsupported where naga finds the module invalid or cannot write it.
pub fn to_spirv(module: &naga::Module, stage: ShaderStage) -> Result<Vec<u32>> {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(module)
        .map_err(|error| {
            let mut text = error.as_inner().to_string();
            let mut source = std::error::Error::source(error.as_inner());
            while let Some(inner) = source {
                text += &format!(": {inner}");
                source = inner.source();
            }
            unsupported(format!("naga's validator: {text}"))
        })?;
    let options = naga::back::spv::Options {
        lang_version: (1, 5),
        flags: naga::back::spv::WriterFlags::empty(),
        ..Default::default()
    };
    let pipeline = naga::back::spv::PipelineOptions {
        shader_stage: stage,
        entry_point: "main".into(),
    };
    naga::back::spv::write_vec(module, &info, &options, Some(&pipeline))
        .map_err(|e| unsupported(format!("naga's writer: {e}")))
}

/// A VBC that draws the effect over the whole picture: three vertices, no inputs, one `float4` output.
///
/// # Errors
/// As [`to_naga`] and [`to_spirv`]; Unsupported for uniforms VBC cannot describe.
pub fn to_vbc(tree: &Tree) -> Result<Vec<u8>> {
    let module = to_naga(tree)?;
    let output = Variable {
        location: 0,
        base: BaseType::FLOAT,
        dims: [4, 1],
        array: 1,
    };
    let mut model = Model {
        outputs: vec![output],
        uniform: uniform(&module)?,
        ..Model::default()
    };
    *model.code_mut(Stage::Frag) = to_spirv(&module, ShaderStage::Fragment)?;
    let vertex = naga::front::wgsl::parse_str(VERTEX).map_err(unsupported)?;
    *model.code_mut(Stage::Vert) = to_spirv(&vertex, ShaderStage::Vertex)?;
    vbc::write(&model)
}

/// The uniform block of the module as VBC describes one.
fn uniform(module: &naga::Module) -> Result<Option<UniformModel>> {
    let mut found = module
        .global_variables
        .iter()
        .filter(|(_, v)| v.space == naga::AddressSpace::Uniform);
    let Some((_, variable)) = found.next() else {
        return Ok(None);
    };
    let TypeInner::Struct { members, .. } = &module.types[variable.ty].inner else {
        return Err(unsupported("a uniform that is no struct"));
    };
    let mut made = UniformModel {
        size: 0,
        stages: Stages(1 << Stage::Frag.index()),
        members: Vec::new(),
    };
    for member in members {
        let (inner, array) = match &module.types[member.ty].inner {
            TypeInner::Array {
                base,
                size: naga::ArraySize::Constant(n),
                ..
            } => {
                let n = u8::try_from(n.get()).map_err(|_| unsupported("a uniform array of over 255 elements"))?;
                (&module.types[*base].inner, n)
            }
            inner => (inner, 1),
        };
        let (scalar, dims) = match *inner {
            TypeInner::Scalar(scalar) => (scalar, [1, 1]),
            TypeInner::Vector { size, scalar } => (scalar, [size as u8, 1]),
            TypeInner::Matrix { columns, rows, scalar } => (scalar, [rows as u8, columns as u8]),
            _ => return Err(unsupported("a uniform of structs")),
        };
        let base = match scalar.kind {
            ScalarKind::Float => BaseType::FLOAT,
            ScalarKind::Sint => BaseType::INT,
            ScalarKind::Uint => BaseType::UINT,
            _ => return Err(unsupported("a uniform of bools")),
        };
        // VBC's uniforms are packed without gaps; GLSL's are not where a member is aligned or an array is padded.
        let bytes = 4 * u32::from(dims[0]) * u32::from(dims[1]) * u32::from(array);
        if member.offset != made.size || module.types[member.ty].inner.size(module.to_ctx()) != bytes {
            return Err(unsupported(
                "uniforms that do not lie packed in a uniform block, which is how VBC has them",
            ));
        }
        made.size += bytes;
        let name = member.name.clone().unwrap_or_default().into_bytes();
        made.members.push(UniformMember {
            name,
            offset: member.offset,
            base,
            dims,
            array,
        });
    }
    Ok(Some(made))
}
