//! A vertex stage for standalone fragment stages.

use crate::{ErrorKind, Result, to_spirv};
use loader::spirv;

/// A vertex stage for a standalone fragment stage: one triangle over the whole picture, from three vertices without
/// inputs. The fragment stage's inputs get the position in the picture, from (0, 0) at the top left to (1, 1); a third
/// component is 0, a fourth 1; integers are 0.
///
/// # Errors
/// Unsupported for inputs that are not numbers or vectors; they need a dedicated vertex stage.
pub fn fullscreen(fragment: &[u32]) -> Result<Vec<u32>> {
    let summary = spirv::summary(fragment)?;
    let inputs = summary.entry_points.first().into_iter().flat_map(|entry| &entry.inputs);
    let (mut fields, mut values) = (String::new(), String::new());
    for input in inputs {
        let Some(location) = input.location else { continue };
        let Some((ty, value, flat)) = given(&input.ty) else {
            let message = format!("the input {input}: it needs a vertex stage of its own");
            return Err(loader::Error::unsupported(spirv::FORMAT, message).into());
        };
        let flat = if flat { "@interpolate(flat) " } else { "" };
        fields += &format!("@location({location}) {flat}v{location}: {ty},\n");
        values += &format!(", {value}");
    }
    let text = format!(
        "struct Out {{ @builtin(position) at: vec4f,\n{fields} }}
        @vertex fn main(@builtin(vertex_index) i: u32) -> Out {{
            let p = vec2f(f32(i & 1u) * 2.0, f32(i >> 1u) * 2.0);
            return Out(vec4f(p * 2.0 - 1.0, 0.0, 1.0){values});
        }}"
    );
    let module = naga::front::wgsl::parse_str(&text)
        .map_err(|error| ErrorKind::Language(format!("a vertex stage for all inputs: {}", error.message())))?;
    to_spirv(module, naga::ShaderStage::Vertex)
}

/// The value for an input of a GLSL type: the type in WGSL, its value, and whether it is flat.
fn given(ty: &str) -> Option<(&'static str, &'static str, bool)> {
    Some(match ty {
        "float" => ("f32", "p.x", false),
        "vec2" => ("vec2f", "p", false),
        "vec3" => ("vec3f", "vec3f(p, 0.0)", false),
        "vec4" => ("vec4f", "vec4f(p, 0.0, 1.0)", false),
        "int" => ("i32", "0i", true),
        "ivec2" => ("vec2i", "vec2i()", true),
        "ivec3" => ("vec3i", "vec3i()", true),
        "ivec4" => ("vec4i", "vec4i()", true),
        "uint" => ("u32", "0u", true),
        "uvec2" => ("vec2u", "vec2u()", true),
        "uvec3" => ("vec3u", "vec3u()", true),
        "uvec4" => ("vec4u", "vec4u()", true),
        _ => return None,
    })
}
