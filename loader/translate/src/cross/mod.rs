//! SPIR-V to GLSL, HLSL and MSL by Khronos' SPIRV-Cross, linked in.
//!
//! SPIRV-Cross is C++ and trusts its input: it only gets modules that our own validator has accepted. Its exceptions
//! become errors of the binding crate.

#[cfg(all(feature = "spirv-cross", not(target_family = "wasm")))]
mod linked;
#[cfg(not(all(feature = "spirv-cross", not(target_family = "wasm"))))]
#[path = "absent.rs"]
mod linked;

use crate::place::{Place, Way};
use crate::{Result, Target};
use loader::spirv::{ModuleIndex, class, decoration, model, op};
use naga::back::{glsl, hlsl};

/// Limit on calls along all paths of a module's call graph; SPIRV-Cross walks each path.
const MAX_CALLS: u64 = 1 << 16;

/// Whether this program was built with SPIRV-Cross.
pub(crate) fn is_available() -> bool {
    linked::AVAILABLE
}

/// The entry point to translate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its name in the module.
    pub name: String,
    /// Its execution model in SPIR-V.
    pub model: u32,
}

/// One version of one language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Dialect {
    Glsl(glsl::Version),
    /// GLSL for Vulkan.
    VulkanGlsl,
    Hlsl(hlsl::ShaderModel),
    Msl((u8, u8)),
}

impl Dialect {
    /// The language.
    pub(crate) fn target(self) -> Target {
        match self {
            Self::Glsl(_) | Self::VulkanGlsl => Target::Glsl,
            Self::Hlsl(_) => Target::Hlsl,
            Self::Msl(_) => Target::Msl,
        }
    }

    /// The writer of the text.
    pub(crate) fn way(self) -> Way {
        match self {
            Self::VulkanGlsl => Way::SpirvCrossVulkan,
            _ => Way::SpirvCross,
        }
    }
}

/// The text of one entry point of a module, and the places of its resources.
///
/// # Errors
/// SPIRV-Cross's error if the language cannot express the module.
pub(crate) fn write(words: &[u32], entry: &Entry, dialect: Dialect) -> Result<(String, Vec<Place>)> {
    let index = ModuleIndex::new(words)?;
    let calls = loader::spirv::work::paths(&index);
    if calls > MAX_CALLS {
        let message = format!("{calls} calls along all paths are beyond SPIRV-Cross, which follows each");
        return Err(refusal(dialect.target(), message));
    }
    if let (Dialect::Hlsl(_), Some(name)) = (dialect, initialised(&index)) {
        let message =
            format!("the initial value of the workgroup variable {name}: HLSL has none, and SPIRV-Cross drops it");
        return Err(refusal(dialect.target(), message));
    }
    if !matches!(dialect, Dialect::Msl(_)) {
        return linked::write(words, entry, dialect);
    }
    let is_of_patches = matches!(
        entry.model,
        model::TESSELLATION_CONTROL | model::TESSELLATION_EVALUATION
    );
    if let Some(id) = structures_per_vertex(&index).filter(|_| is_of_patches) {
        let name = named(&index, id);
        let message = format!("{name}: SPIRV-Cross cannot write arrays of structures for each vertex");
        return Err(refusal(Target::Msl, message));
    }
    let (text, places) = linked::write(words, entry, dialect)?;
    Ok(match metal_has_stage(entry.model) {
        true => (text, places),
        false => (
            format!("// Metal has no such stage: this text is for reading.\n{text}"),
            places,
        ),
    })
}

/// Whether Metal has a stage for an execution model. SPIRV-Cross writes others as functions of an unknown kind.
pub(crate) fn metal_has_stage(model: u32) -> bool {
    use model::{
        FRAGMENT, GL_COMPUTE, KERNEL, MESH_EXT, TASK_EXT, TESSELLATION_CONTROL, TESSELLATION_EVALUATION, VERTEX,
    };
    matches!(
        model,
        VERTEX | FRAGMENT | GL_COMPUTE | KERNEL | TASK_EXT | MESH_EXT | TESSELLATION_CONTROL | TESSELLATION_EVALUATION
    )
}

/// An input that is an array of structures for each vertex of a patch: SPIRV-Cross takes an index of the array for one of
/// a member, and reads beyond the members.
fn structures_per_vertex(index: &ModuleIndex<'_>) -> Option<u32> {
    let element = |ty: u32| index.operands(ty, op::TYPE_ARRAY).map(|[_, element, _]| element);
    let mut inputs = index
        .globals()
        .filter(|global| global.class == class::INPUT && index.decoration(global.id, decoration::PATCH).is_none());
    let is_nested = |vertices: u32| {
        let of_vertex = element(vertices).and_then(element);
        // Types of a valid module are not recursive.
        let innermost = std::iter::successors(of_vertex, |ty| element(*ty)).last();
        innermost.is_some_and(|ty| index.opcode(ty) == op::TYPE_STRUCT)
    };
    Some(inputs.find(|global| is_nested(global.pointee))?.id)
}

/// A variable's name, or its number.
fn named(index: &ModuleIndex<'_>, id: u32) -> String {
    let name = index.name(id).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| format!("%{id}"))
}

/// A workgroup variable with an initial value, by its name.
fn initialised(index: &ModuleIndex<'_>) -> Option<String> {
    let variables = index.instructions().take_while(|node| node.opcode != op::FUNCTION);
    let id = variables
        .filter(|node| node.opcode == op::VARIABLE && node.operand(2) == Some(class::WORKGROUP))
        .find(|node| node.operand(3).is_some_and(|value| index.opcode(value) != op::UNDEF))?
        .operand(1)?;
    Some(named(index, id))
}

/// The error for a module that the language cannot express.
fn refusal(target: Target, message: String) -> crate::Error {
    crate::ErrorKind::Write { target, message }.into()
}
